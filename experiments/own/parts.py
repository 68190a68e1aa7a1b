"""The three parts of a table: training, calibration and test, disjoint and with the same share of each class.

Nested: for one seed, a larger calibration part takes its rows from the training part only. So what was shown of a small
training part never showed a row of the calibration part.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil, floor

import numpy as np
from numpy.typing import NDArray

from mmc.experiments.own.errors import RequestError, TableError
from mmc.methods.order_statistics import needed, ranks
from mmc.words import percent

Rows = NDArray[np.intp]
USUAL, MOST = 0.3, 0.5  # of all rows for calibration, where nobody states a share
_TRAIN, _TEST, _CALIBRATION = 10, 5, 5  # examples of each class without which a part says nothing


@dataclass(frozen=True)
class Goal:
    """What is asked: the largest error rate of each limited class, all together with this confidence."""

    rates: Mapping[str, float]
    confidence: float


@dataclass(frozen=True)
class Shares:
    """The share of all rows for the test part and for the calibration part."""

    test: float
    calibration: float

    def sizes(self, n: int) -> tuple[int, int, int]:
        """Return how many of n rows train, calibrate and test."""
        test, calibration = round(self.test * n), ceil(self.calibration * n - 1e-9)
        return n - test - calibration, calibration, test


@dataclass(frozen=True)
class Parts:
    """The rows of each part."""

    train: Rows
    calibration: Rows
    test: Rows


def shares(counts: Mapping[str, int], goal: Goal, test: float, calibration: float | None) -> Shares:
    """Return shares with which the goal can be kept; raise TableError with the number of rows that it needs.

    If no calibration share is stated, it is as large as the rates need it, within bounds. It depends on the sizes of the
    classes only, so the promise stays valid.
    """
    for name, share in (("--test-size", test), ("--calibration", calibration)):
        if share is not None and not 0 < share < 1:
            raise RequestError(f"{name} must be a share of the rows between 0 and 1, got {share:g}")
    if test + (MOST if calibration is None else calibration) >= 1:
        raise RequestError(
            f"--test-size {test:g} and --calibration {calibration or MOST:g} leave nothing to train on; lower one of them"
        )
    most = Shares(test, calibration or MOST)
    if not _can_keep(goal, counts, most):
        raise TableError(_too_few(counts, goal, most))
    steps = np.arange(USUAL, MOST, 0.01).tolist() if goal.rates and calibration is None else []
    fitting = (Shares(test, share) for share in steps if _can_keep(goal, counts, Shares(test, share)))
    chosen = next(fitting, most)  # without rates the most: a row that may calibrate later is not looked at
    enough = _enough(chosen)
    for label, n in counts.items():
        if n < enough:
            raise TableError(
                f"class {label!r} has {n} rows, too few to train, calibrate and test on; it needs at least {enough}"
            )
    return chosen


def split(y: NDArray[np.str_], shares: Shares, seed: int) -> Parts:
    """Return the parts; the seed decides them."""
    draw = np.random.default_rng(seed)
    found: tuple[list[Rows], list[Rows], list[Rows]] = ([], [], [])
    for label in np.unique(y):
        rows = draw.permutation(np.flatnonzero(y == label))
        train, calibration, _ = shares.sizes(len(rows))
        ends = len(rows) - train - calibration, len(rows) - train
        for part, some in zip(found, (rows[ends[1] :], rows[ends[0] : ends[1]], rows[: ends[0]]), strict=True):
            part.append(some)
    return Parts(*(np.sort(np.concatenate(part)) for part in found))


def rows_needed(rate: float, confidence: float, calibration: float) -> int:
    """Return how many rows of a class a table must have for a limit on its error."""
    return _total(needed([rate], [0], confidence)[0], calibration)


def _total(least: int, share: float) -> int:
    """Return the smallest number of rows of which that share, rounded up, is enough."""
    return floor((least - 1) / share + 1e-9) + 1


def _can_keep(goal: Goal, counts: Mapping[str, int], shares: Shares) -> bool:
    """Whether the calibration part is large enough for the rates."""
    sizes = [shares.sizes(counts[label])[1] for label in goal.rates]
    return not goal.rates or 0 not in ranks(sizes, list(goal.rates.values()), goal.confidence)


def _enough(shares: Shares) -> int:
    """Return the smallest class of which every part has examples."""
    n = _TRAIN + _TEST + _CALIBRATION
    while any(size < least for size, least in zip(shares.sizes(n), (_TRAIN, _CALIBRATION, _TEST), strict=True)):
        n += 1
    return n


def _too_few(counts: Mapping[str, int], goal: Goal, most: Shares) -> str:
    """Say of which class there are too few rows, how many it needs, and what those that there are can promise."""
    sizes = {label: most.sizes(counts[label])[1] for label in goal.rates}
    least = dict(zip(sizes, needed(list(goal.rates.values()), list(sizes.values()), goal.confidence), strict=True))
    label = next(label for label, size in sizes.items() if size < least[label])
    total, n = _total(least[label], most.calibration), counts[label]
    rates = (step / 1000 for step in range(1, 1000))
    possible = (rate for rate in rates if _can_keep(Goal({**goal.rates, label: rate}, goal.confidence), counts, most))
    could = next(possible, None)
    return (
        f"too few rows of class {label!r}: to promise {_words(goal)}, {least[label]} of them must be in the calibration part, "
        f"which takes at most {percent(most.calibration)} of the rows. It needs {total} rows of this class; there are {n}, "
        f"{total - n} too few{'' if could is None else f'. With these rows {percent(could)} can be promised'}"
    )


def _words(goal: Goal) -> str:
    rates = " and ".join(f"{percent(rate)} for {label!r}" for label, rate in goal.rates.items())
    return f"{rates} at {percent(goal.confidence)} confidence"
