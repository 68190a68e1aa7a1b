"""From the held-out scores of two classes to the thresholds that keep the rates asked for, or why there are none.

A score is high for class 1. Class 1 keeps its limit if everything from its k-th smallest score upwards is given to it;
class 0 likewise from its k-th largest score downwards. A score equal to the threshold is on the side of the class that has
the limit: ties can make that class's error smaller, never larger.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR
from math import ceil

import numpy as np

from mmc.methods.numerics.kernels import Array
from mmc.methods.order_statistics import kept_with, needed, ranks, upper_bound
from mmc.methods.solution import InfeasibleProblem
from mmc.words import percent

Pair = tuple[Array, Array]
Names = tuple[str, str]
_ROUNDING = 1e-9  # scores this close, relative to their usual size, count as tied: another batch may round otherwise
_STEPS = 1000  # rates that could be had are told in steps of 0.1 %


@dataclass(frozen=True)
class Limits:
    """What is asked: the largest error rate of class 0 and of class 1 (None: no limit), together with ``confidence``."""

    rates: tuple[float | None, float | None]
    confidence: float

    @property
    def asked(self) -> dict[int, float]:
        """The limited classes and their rates."""
        return {i: rate for i, rate in enumerate(self.rates) if rate is not None}


@dataclass(frozen=True)
class Thresholds:
    """The rule: class 1 above ``high``, class 0 below ``low``, undecided between. Equal: class 0 up to and with it.

    ``ranks`` are those of the order statistics; None for a class without a limit.
    """

    low: float
    high: float
    ranks: tuple[int | None, int | None]


def place(scores: Pair, limits: Limits, names: Names, *, undecided: bool = False) -> Thresholds:
    """Return the thresholds that keep the limits; raise InfeasibleProblem where there are none.

    One limit: the other class's error is the smallest that the limit allows. Two limits that leave a gap: the cut inside it
    with the fewest errors. Two limits that cross: an undecided zone if that is allowed.
    """
    asked = limits.asked
    chosen = dict(zip(asked, _ranks_of(scores, limits), strict=True))
    if 0 in chosen.values():
        raise _too_few(scores, limits, names)
    both = (chosen.get(0), chosen.get(1))
    cuts = {i: _cut(scores, i, k) for i, k in chosen.items()}
    if len(cuts) == 1:
        (cut,) = cuts.values()
        return Thresholds(cut, cut, both)
    if cuts[0] <= cuts[1]:
        cut = best_cut(scores, cuts[0], cuts[1])
        return Thresholds(cut, cut, both)
    if undecided:
        return Thresholds(cuts[1], cuts[0], both)
    raise _crossed(scores, limits, names)


def feasible_up_to(scores: Pair, limits: Limits) -> float:
    """Return the largest confidence, to 1e-6, at which one cut keeps both limits; at least the one that was asked for."""
    low, high = limits.confidence, 1.0
    while high - low > 1e-6:
        middle = (low + high) / 2
        ranked = _ranks_of(scores, Limits(limits.rates, middle))
        if 0 not in ranked and _cut(scores, 0, ranked[0]) <= _cut(scores, 1, ranked[1]):
            low = middle
        else:
            high = middle
    return low


def _ranks_of(scores: Pair, limits: Limits, times: int = 1) -> tuple[int, ...]:
    asked = limits.asked
    return ranks([times * len(scores[i]) for i in asked], list(asked.values()), limits.confidence)


def _cut(scores: Pair, i: int, k: int) -> float:
    """Return the cut that has k − 1 scores of class i on its wrong side, and the k-th safely on the right one."""
    sign = 2 * i - 1
    edge = np.partition(sign * scores[i], k - 1)[k - 1]
    slack = _ROUNDING * np.median(np.abs(np.concatenate(scores)))
    return float(sign * min(edge - slack, np.nextafter(edge, -np.inf)))


def best_cut(scores: Pair, low: float, high: float) -> float:
    """Return the cut from ``low`` to ``high`` with the smallest sum of both error shares; of equal ones the widest gap."""
    zero, one = (np.sort(s[(s > low) & (s < high)]) for s in scores)
    edges = np.concatenate([[low], np.sort(np.concatenate([zero, one])), [high]])
    middles = edges[:-1] / 2 + edges[1:] / 2
    # over all cuts the sum changes by what each class has below them
    missed, saved = np.searchsorted(one, middles, side="right"), np.searchsorted(zero, middles, side="right")
    errors = missed / len(scores[1]) - saved / len(scores[0])
    return float(middles[np.lexsort((-np.diff(edges), errors))[0]])


def _too_few(scores: Pair, limits: Limits, names: Names) -> InfeasibleProblem:
    """Say which class needs how many more examples, and what those there are could promise."""
    asked = limits.asked
    sizes = [len(scores[i]) for i in asked]
    rows, distance = [], 0.0
    for i, n, least in zip(asked, sizes, needed(list(asked.values()), sizes, limits.confidence), strict=True):
        if n < least:
            rate, confidence = upper_bound(0, n, limits.confidence), kept_with(1, n, asked[i])
            rows.append(
                f"class {names[i]} has {n} calibration example{'' if n == 1 else 's'} and needs {least}, {least - n} more"
                f" (those it has can promise {percent(rate, ROUND_CEILING)}, or the rate asked for at {percent(confidence, ROUND_FLOOR)} "
                "confidence)"
            )
            distance = max(distance, least / max(n, 1) - 1)
    return InfeasibleProblem(f"too few examples to promise {_words(limits, names)}: {'; '.join(rows)}", distance)


def _crossed(scores: Pair, limits: Limits, names: Names) -> InfeasibleProblem:
    """Say what could be had instead: each limit kept with the best of the other, the nearest pair, more examples."""

    def possible(rates: tuple[float, float], times: int = 1) -> bool:
        """Whether these rates have a cut, with that many times the examples if their scores are spread alike."""
        found = _ranks_of(scores, Limits(rates, limits.confidence), times)
        zero, one = ((k - 1) // times + 1 for k in found)
        return 0 not in found and _cut(scores, 0, zero) <= _cut(scores, 1, one)

    zero, one = limits.asked.values()
    steps = [step / _STEPS for step in range(1, _STEPS)]
    factors = np.geomspace(1, steps[-1] / min(zero, one), _STEPS)
    scaled = [(min(_up(zero * factor), steps[-1]), min(_up(one * factor), steps[-1])) for factor in factors]
    had, distance = [], float("inf")
    for words, candidates in (
        ("", [(zero, rate) for rate in steps]),
        ("", [(rate, one) for rate in steps]),
        ("nearest to both: ", scaled),
    ):
        at = bisect_left(candidates, True, key=possible)  # the one that it returns was tried, or none was possible
        if at < len(candidates):
            had.append(words + " with ".join(f"{names[i]} at {percent(rate)}" for i, rate in enumerate(candidates[at])))
            distance = float(factors[at]) - 1 if words else distance
    times = 2 + bisect_left(range(2, _STEPS), True, key=lambda factor: possible((zero, one), factor))
    more = (
        f"{times} times as many calibration examples of both classes would do if their scores are spread alike"
        if times < _STEPS
        else "Going by these scores, more calibration examples would not help: the two classes overlap too much"
    )
    return InfeasibleProblem(
        f"no threshold keeps {_words(limits, names)}. Possible: {'; '.join(had) or 'nothing with these scores'}. "
        f"{more}. With abstain=LABEL the examples between the two thresholds stay undecided and both limits hold",
        distance,
    )


def _words(limits: Limits, names: Names) -> str:
    rates = " and ".join(f"{percent(rate)} for class {names[i]}" for i, rate in limits.asked.items())
    return f"errors of at most {rates} at {percent(limits.confidence)} confidence"


def _up(rate: float) -> float:
    return ceil(rate * _STEPS) / _STEPS
