"""How often RateGuarantee breaks its promise, over 2,000 calibration samples of each kind, the truth being known.

The score of an example is drawn directly, so the true errors of a rule have a closed form. Two more situations refit a
classifier in every repetition: its true errors are exact for Gaussian classes, and counted on a million points for skewed ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from math import sqrt
from typing import Protocol

import numpy as np
from scipy.stats import binom, expon, lognorm, norm
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from mmc.methods import InfeasibleProblem, RateGuarantee
from mmc.methods.numerics.kernels import Array
from mmc.methods.order_statistics import interval, kept_with, needed, ranks
from mmc.methods.rate_thresholds import Limits, best_cut, place

ONE, TWO, ABSTAIN = "one limit", "two limits", "two limits, abstaining"
RATES, CONFIDENCES, REPETITIONS = (0.01, 0.05, 0.1), (0.9, 0.95, 0.99), 2000
SIZES = {"smallest": 1.0, "just above": 1.2, "far above": 10.0}
POINTS = 1_000_000  # to count the errors on where they have no closed form


class Distribution(Protocol):
    """What is used of scipy's frozen distributions."""

    def cdf(self, x: Array) -> Array:
        """Return the share at or below x."""

    def sf(self, x: Array) -> Array:
        """Return the share above x."""

    def ppf(self, q: float) -> float:
        """Return the quantile."""

    def rvs(self, size: tuple[int, int], random_state: np.random.Generator) -> Array:
        """Return random draws."""

    def isf(self, q: float) -> float:
        """Return the quantile from above."""


@dataclass(frozen=True)
class Population:
    """The scores of two classes, the second moved by ``shift``; rounded down to multiples of ``step`` unless it is 0."""

    name: str
    zero: Distribution
    one: Distribution
    shift: float
    step: float = 0.0
    room: float = 1.5

    def draw(self, rng: np.random.Generator, shape: tuple[int, int]) -> tuple[Array, Array]:
        """Return scores of each class."""
        zero, one = self.zero.rvs(shape, random_state=rng), self.shift + self.one.rvs(shape, random_state=rng)
        return (
            (self.step * np.floor(zero / self.step), self.step * np.floor(one / self.step))
            if self.step
            else (zero, one)
        )

    def above(self, cut: Array) -> tuple[Array, Array]:
        """Return the share of each class above a cut."""
        if self.step:  # a rounded score is above a cut if its cell starts above it
            cut = self.step * (np.floor(cut / self.step) + 1)
        return self.zero.sf(cut), self.one.sf(cut - self.shift)

    def apart(self, rate: float) -> Population:
        """Return it with the second class moved so that both could keep ``rate``, with ``room`` between the quantiles."""
        return replace(self, shift=float(self.zero.isf(rate) - self.one.ppf(rate)) + self.room)


TIGHT = Population("Gaussian, little room", norm(), norm(), 0.0, room=0.5)
POPULATIONS = (
    Population("Gaussian", norm(), norm(), 2.0),
    Population("skewed", expon(), lognorm(0.6, scale=np.exp(0.6)), 1.0),
    Population("Gaussian, rounded", norm(), norm(), 2.0, 0.25),
)


@dataclass(frozen=True)
class Row:
    """One situation: what was promised, how often it was broken, and what it cost. nan: does not apply."""

    kind: str
    scores: str
    rate: float
    confidence: float
    size: str
    n: int  # calibration examples of each class
    repetitions: int
    no_rule: int  # repetitions with InfeasibleProblem
    broken: int  # repetitions in which a true error exceeds the rate
    predicted: float  # the share of them that theory predicts, where it is exact
    error: float  # mean true error of the limited classes
    other: float  # mean true error of the class without a limit
    other_known: float  # the same with the threshold that one would take if the distributions were known
    undecided: float  # mean true share left undecided
    covered: float  # how often the interval of that share covers it, of both classes

    @property
    def share(self) -> float:
        """The share of broken promises."""
        return self.broken / self.repetitions

    @property
    def p_value(self) -> float:
        """The probability of so many broken promises or more if the promise holds."""
        return float(binom.sf(self.broken - 1, self.repetitions, 1 - self.confidence))


def simulate(repetitions: int = REPETITIONS) -> Iterator[Row]:
    """Yield every situation."""
    for kind in (ONE, TWO, ABSTAIN):
        for population in POPULATIONS:
            for rate in RATES:
                for confidence in CONFIDENCES:
                    least = needed([rate], [0], confidence if kind == ONE else sqrt(confidence))[0]
                    for size, times in SIZES.items():
                        yield situation(kind, population, rate, confidence, size, round(times * least), repetitions)
    yield situation(TWO, TIGHT, 0.05, 0.95, "smallest", needed([0.05], [0], sqrt(0.95))[0], repetitions)
    yield from refitted(repetitions)


def situation(
    kind: str, population: Population, rate: float, confidence: float, size: str, n: int, repetitions: int
) -> Row:
    """Draw calibration samples of n scores per class, place the thresholds, and compare with the truth."""
    rng = np.random.default_rng([*f"{kind} {population.name} {rate} {confidence} {n}".encode()])
    population = population.apart(rate) if kind == TWO else population
    zero, one = population.draw(rng, (repetitions, n))
    if kind == ONE:
        (k,) = ranks([n], [rate], confidence)
        low = high = _below(one, k)
        kept = kept_with(k, n, rate)
    else:
        first, k = ranks([n, n], [rate, rate], confidence)
        low, high = _below(one, k), -_below(-zero, first)
        kept = kept_with(k, n, rate) * kept_with(first, n, rate)
        for i in np.flatnonzero(high <= low).tolist():
            low[i] = high[i] = best_cut((zero[i], one[i]), high[i], low[i])
    for i in range(5):
        _check(kind, rate, confidence, zero[i], one[i], low[i], high[i])
    ruled = (low == high) | (kind == ABSTAIN)
    alarms, missed = population.above(high)[0], 1 - population.above(low)[1]
    worst = missed if kind == ONE else np.maximum(alarms, missed)
    known = np.asarray(population.shift + population.one.ppf(rate))
    row = Row(
        kind=kind,
        scores=population.name,
        rate=rate,
        confidence=confidence,
        size=size,
        n=n,
        repetitions=repetitions,
        no_rule=int((~ruled).sum()),
        broken=int((worst > rate)[ruled].sum()),
        predicted=np.nan if population.step or kind == TWO else 1 - kept,
        error=float((missed if kind == ONE else (alarms + missed) / 2)[ruled].mean()) if ruled.any() else np.nan,
        other=float(alarms.mean()) if kind == ONE else np.nan,
        other_known=float(population.above(known)[0]) if kind == ONE and not population.step else np.nan,
        undecided=np.nan,
        covered=np.nan,
    )
    return row if kind != ABSTAIN else _with_undecided(row, population, (zero, one), low, high)


def _below(scores: Array, k: int) -> Array:
    """Return the cuts just below the k-th smallest score of every row."""
    edges: Array = np.nextafter(np.partition(scores, k - 1, axis=1)[:, k - 1], -np.inf)
    return edges


def _check(kind: str, rate: float, confidence: float, zero: Array, one: Array, low: float, high: float) -> None:
    """Refuse to simulate another rule than the estimator's."""
    limits = Limits((None if kind == ONE else rate, rate), confidence)
    try:
        rule = place((zero, one), limits, ("0", "1"), undecided=kind == ABSTAIN)
    except InfeasibleProblem:
        same = kind == TWO and low < high
    else:
        same = np.allclose([rule.low, rule.high], [low, high], rtol=1e-6, atol=1e-6)
    if not same:
        raise AssertionError(f"{kind}: the simulated rule is not that of RateGuarantee")


def _with_undecided(row: Row, population: Population, scores: tuple[Array, Array], low: Array, high: Array) -> Row:
    """Return the row with the true share left undecided, and how often its interval covers it."""
    shares, covered = [], []
    for drawn, above_low, above_high in zip(scores, population.above(low), population.above(high), strict=True):
        share = np.where(low < high, above_low - above_high, 0.0)
        counts = ((drawn > low[:, None]) & (drawn <= high[:, None])).sum(axis=1)
        different, places = np.unique(counts, return_inverse=True)
        ends = np.array([interval(int(count), row.n, row.confidence) for count in different])[places]
        shares.append(share)
        covered.append((ends[:, 0] <= share) & (share <= ends[:, 1]))
    return replace(row, undecided=float(np.mean(shares)), covered=float(np.mean(covered)))


# -- with a classifier that is fitted anew each time ---------------------------------------------------------------------


def refitted(repetitions: int, points: int = POINTS) -> Iterator[Row]:
    """Yield LDA behind RateGuarantee: 140 examples of each class to fit, the smallest sample to calibrate."""
    fresh = np.random.default_rng(99)
    yield _refitted("Gaussian, LDA refitted", gaussian, _gaussian_errors, {1: 0.05}, repetitions)
    many = tuple(skewed(fresh, label, points).astype(np.float32) for label in (0, 1))

    def counted(w: Array, low: float, high: float) -> tuple[float, float]:
        zero, one = (X @ w.astype(np.float32) for X in many)
        return float(np.mean(zero > high)), float(np.mean(one <= low))

    yield _refitted("skewed, LDA refitted", skewed, counted, {0: 0.05, 1: 0.05}, repetitions)


Draw = Callable[[np.random.Generator, int, int], Array]
Truth = Callable[[Array, float, float], tuple[float, float]]


def _refitted(name: str, draw: Draw, truth: Truth, limits: dict[int, float], repetitions: int) -> Row:
    rng, rate = np.random.default_rng(98), limits[1]
    n = needed(list(limits.values()), [0] * len(limits), 0.95)[0]
    y = np.repeat([0, 1], 140 + n)
    model = RateGuarantee(
        LinearDiscriminantAnalysis(),
        limits,
        abstain=None if len(limits) == 1 else -1,
        calibration=2 * n,
        random_state=0,
    )
    errors = []
    for _ in range(repetitions):
        model.fit(np.vstack([draw(rng, label, 140 + n) for label in (0, 1)]), y)
        w, b = model.estimator_.coef_[0], model.estimator_.intercept_[0]
        errors.append(truth(w, *(model.thresholds_ - b)))
    alarms, missed = np.transpose(errors)
    worst = missed if len(limits) == 1 else np.maximum(alarms, missed)
    kept = np.prod([entry.exact_confidence for entry in model.guarantee_ if entry.exact_confidence is not None])
    return Row(
        kind=ONE if len(limits) == 1 else ABSTAIN,
        scores=name,
        rate=rate,
        confidence=0.95,
        size="smallest",
        n=n,
        repetitions=repetitions,
        no_rule=0,
        broken=int((worst > rate).sum()),
        predicted=1 - float(kept),
        error=float((missed if len(limits) == 1 else (alarms + missed) / 2).mean()),
        other=float(alarms.mean()) if len(limits) == 1 else np.nan,
        other_known=np.nan,
        undecided=np.nan,
        covered=np.nan,
    )


def gaussian(rng: np.random.Generator, label: int, n: int) -> Array:
    """Return n points of one of two Gaussian classes in the plane."""
    return rng.normal(label * np.array([1.5, 1.0]), size=(n, 2))


def _gaussian_errors(w: Array, low: float, high: float) -> tuple[float, float]:
    spread = np.linalg.norm(w)
    return float(norm.sf(high / spread)), float(norm.cdf((low - w @ [1.5, 1.0]) / spread))


def skewed(rng: np.random.Generator, label: int, n: int) -> Array:
    """Return n points of one of two skewed classes in the plane: exponential or lognormal."""
    return rng.exponential(size=(n, 2)) if label == 0 else rng.lognormal(1.0, 0.6, size=(n, 2))
