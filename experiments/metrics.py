"""Metrics: what a table, a tuning and a figure read off the records of a trial.

A metric is an object. It knows its label, its formula, whether less or more of it is better, how it is pooled over the folds of
one repetition, how much a single test point can change it, and what is uncertain about a single run.

`COUNTED` are read off the errors of the two classes, `VOTED` off the votes of several classes one against one. Every
other number that a fit leaves is a `Fact`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Protocol

from mmc.experiments.records import Counts, Record
from mmc.words import nearest


class Better(Enum):
    """Which way a metric improves."""

    LESS = 1
    MORE = -1
    NEITHER = 0


@dataclass(frozen=True)
class Costs:
    """What an error of each class costs."""

    pos: float = 1.0
    neg: float = 1.0


@dataclass(frozen=True)
class VoteCounts:
    """The test points of several classes, how many were wrong, and on how many several classes had most votes."""

    n: int = 0
    wrong: int = 0
    ties: int = 0

    def __add__(self, other: VoteCounts) -> VoteCounts:
        return VoteCounts(self.n + other.n, self.wrong + other.wrong, self.ties + other.ties)


class Voted(Protocol):
    """What all pairs of classes say together on one split."""

    @property
    def votes(self) -> VoteCounts: ...

    def fact(self, name: str) -> float | None: ...

    def uncertainty(self, name: str) -> Uncertainty: ...

    def worth(self, name: str) -> float: ...


@dataclass(frozen=True)
class Uncertainty:
    """The standard error of a single run, with its degrees of freedom."""

    se: float = 0.0
    df: float = math.inf


@dataclass(frozen=True)
class Metric:
    """A number that is recorded as it is: the mean over folds, unless ``over`` says otherwise.

    ``machine`` marks what no two runs need agree on, such as a time.
    """

    name: str
    label: str
    meaning: str
    better: Better = Better.NEITHER
    over: Callable[[Sequence[float]], float] = lambda values: math.fsum(values) / len(values)
    across: Callable[[Sequence[float]], float] | None = None  # joins all repetitions; None: a table shows their mean
    machine: bool = False
    whole: bool = False  # a number of points, not a share
    form: str = ""  # how it is printed, where its digits do not follow the table's
    perfect: float = 0.0  # the number that no error gives
    percent: bool = False
    jump: float = 0.0  # what one test point can change in one fold

    def pooled(self, folds: Sequence[Record | Voted], costs: Costs) -> float | None:
        """Return the metric of one repetition, from all its folds; None if a fold does not have it."""
        values = [fold.fact(self.name) for fold in folds]
        known = [value for value in values if value is not None]
        return float(self.over(known)) if known and len(known) == len(values) else None

    def worth(self, folds: Sequence[Record | Voted], costs: Costs) -> float:
        """Return how much one test point can change the metric of a repetition."""
        if self.machine:
            return math.inf
        voted = [fold.worth(self.name) for fold in folds if not isinstance(fold, Record)]
        return max(voted, default=self.jump / max(len(folds), 1))

    def uncertainty(self, folds: Sequence[Record | Voted]) -> Uncertainty:
        """Return what is uncertain about a single run."""
        if len(folds) == 1 and not isinstance(folds[0], Record):
            return folds[0].uncertainty(self.name)
        return Uncertainty()


@dataclass(frozen=True)
class CountMetric(Metric):
    """A metric of the errors of two classes."""

    formula: Callable[[Counts, Costs], float] = lambda counts, costs: math.nan
    of: Callable[[Counts], float] = lambda counts: counts.n_pos + counts.n_neg  # the points that it is a share of

    def value(self, counts: Counts, costs: Costs) -> float:
        """Return the metric of counts; nan where the class that it is about has no test point."""
        return float(self.formula(counts, costs)) if self.of(counts) else math.nan

    def score(self, counts: Counts, costs: Costs) -> float:
        """Return the metric as something to minimise, for tuning."""
        return (self.better.value or 1) * self.value(counts, costs)

    def pooled(self, folds: Sequence[Record | Voted], costs: Costs) -> float | None:
        counts = [fold.counts for fold in folds if isinstance(fold, Record) and fold.counts is not None]
        return self.value(sum(counts, Counts()), costs) if counts and len(counts) == len(folds) else None

    def worth(self, folds: Sequence[Record | Voted], costs: Costs) -> float:
        total = sum((fold.counts for fold in folds if isinstance(fold, Record) and fold.counts), Counts())
        if not self.of(total):
            return 0.0
        return max(costs.pos, costs.neg) if self.whole else 100 / self.of(total)

    def uncertainty(self, folds: Sequence[Record | Voted]) -> Uncertainty:
        return Uncertainty()


@dataclass(frozen=True)
class VoteMetric(Metric):
    """A metric of the votes of several classes."""

    formula: Callable[[VoteCounts], float] = lambda votes: math.nan
    sampled: bool = True  # a count of errors, with the binomial standard error of one

    def score(self, votes: VoteCounts) -> float:
        """Return the metric as something to minimise, for tuning."""
        return (self.better.value or 1) * float(self.formula(votes))

    def pooled(self, folds: Sequence[Record | Voted], costs: Costs) -> float | None:
        total = _votes(folds)
        return float(self.formula(total)) if total.n else None

    def worth(self, folds: Sequence[Record | Voted], costs: Costs) -> float:
        total = _votes(folds)
        return 1.0 if self.whole else 100 / total.n if total.n else 0.0

    def uncertainty(self, folds: Sequence[Record | Voted]) -> Uncertainty:
        """Return the binomial standard error of k errors on n test points, √(k (1 − k/n)), in the unit of the metric."""
        total = _votes(folds)
        if not (self.sampled and total.n):
            return Uncertainty()
        return Uncertainty(math.sqrt(total.wrong * (1 - total.wrong / total.n)) * (1 if self.whole else 100 / total.n))


def _votes(folds: Iterable[Record | Voted]) -> VoteCounts:
    return sum((fold.votes for fold in folds if not isinstance(fold, Record)), VoteCounts())


def _share_wrong(
    side: str, label: str, whose: str, wrong: Callable[[Counts], float], of: Callable[[Counts], float]
) -> Iterator[CountMetric]:
    """Yield the share of errors and the accuracy of one class, or of both."""
    yield CountMetric(
        f"error{side}",
        f"{label}err %",
        f"% errors{whose}",
        Better.LESS,
        percent=True,
        formula=lambda c, _: 100 * wrong(c) / of(c),
        of=of,
    )
    yield CountMetric(
        f"accuracy{side}",
        f"{label}acc %",
        f"% accuracy{whose}",
        Better.MORE,
        percent=True,
        perfect=100,
        formula=lambda c, _: 100 - 100 * wrong(c) / of(c),
        of=of,
    )


_LESS, _MORE = Better.LESS, Better.MORE

COUNTED: Mapping[str, CountMetric] = {
    metric.name: metric
    for metric in (
        *_share_wrong("_pos", "+ve ", " of the positive class", lambda c: c.wrong_pos, lambda c: c.n_pos),
        *_share_wrong("_neg", "−ve ", " of the negative class", lambda c: c.wrong_neg, lambda c: c.n_neg),
        *_share_wrong("", "", "", lambda c: c.wrong_pos + c.wrong_neg, lambda c: c.n_pos + c.n_neg),
        CountMetric(
            "risk",
            "risk",
            "cost-weighted number of errors",
            _LESS,
            whole=True,
            formula=lambda c, costs: costs.pos * c.wrong_pos + costs.neg * c.wrong_neg,
        ),
        CountMetric(
            "risk_swapped",
            "risk, swapped",
            "cost-weighted number of errors, the costs of the two classes exchanged",
            _LESS,
            whole=True,
            formula=lambda c, costs: costs.neg * c.wrong_pos + costs.pos * c.wrong_neg,
        ),
    )
}

VOTED: Mapping[str, VoteMetric] = {
    metric.name: metric
    for metric in (
        VoteMetric("errors", "errors", "number of errors", _LESS, whole=True, formula=lambda v: v.wrong),
        VoteMetric("error", "err %", "% errors", _LESS, percent=True, formula=lambda v: 100 * v.wrong / v.n),
        VoteMetric(
            "accuracy",
            "acc %",
            "% accuracy",
            _MORE,
            percent=True,
            perfect=100,
            formula=lambda v: 100 - 100 * v.wrong / v.n,
        ),
        VoteMetric(
            "ties",
            "ties",
            "number of points on which several classes had most votes",
            whole=True,
            formula=lambda v: v.ties,
            sampled=False,
        ),
    )
}

# What every fit leaves; bounds only where a method has them.
FITTED: Mapping[str, Metric] = {
    metric.name: metric
    for metric in (
        Metric("fit_seconds", "fit and test s", "seconds of fit and test, all folds", over=sum, machine=True),
        Metric("train_seconds", "training s", "seconds of the fits, all folds", over=sum, machine=True),
        Metric("gap", "largest gap", "largest relative duality gap", over=max, across=max, machine=True, form=".1e"),
        Metric("objective", "objective", "value of the method's optimisation problem"),
        Metric("iterations", "iterations", "steps of the solver"),
        Metric("n_support", "support vectors", "number of training points in the decision rule"),
    )
}
BOUNDS: Mapping[str, Metric] = {
    metric.name: metric
    for metric in (
        Metric(
            "bound_pos",
            "+ve bound %",
            "worst-case accuracy of the positive class on the training moments",
            percent=True,
            perfect=100,
        ),
        Metric(
            "bound_neg",
            "−ve bound %",
            "worst-case accuracy of the negative class on the training moments",
            percent=True,
            perfect=100,
        ),
        Metric(
            "held_pos",
            "+ve held %",
            "% of splits where the bound of the positive class held on the test part",
            jump=100,
            percent=True,
            perfect=100,
        ),
        Metric(
            "held_neg",
            "−ve held %",
            "% of splits where the bound of the negative class held on the test part",
            jump=100,
            percent=True,
            perfect=100,
        ),
    )
}
LINE: Mapping[str, Metric] = {
    metric.name: metric
    for metric in (
        Metric("slope", "slope", "slope of test accuracy over margin ratio, over all pairs of classes"),
        Metric("intercept", "intercept", "intercept of the same line"),
    )
}


def fact(name: str) -> Metric:
    """Return the metric of a number that a method or a measure leaves under this name."""
    return {**FITTED, **BOUNDS, **LINE}.get(name) or Metric(name, name, name)


def find(name: str, multiclass: bool, facts: Collection[str]) -> Metric:
    """Return a metric by name; raise KeyError with a hint where neither counts, votes nor ``facts`` have it."""
    counted: Mapping[str, Metric] = VOTED if multiclass else COUNTED
    if name in counted:
        return counted[name]
    if name in facts or name in FITTED:
        return fact(name)
    if multiclass and name in COUNTED:
        raise KeyError(f"{name} is for two classes: {nearest(name, VOTED)}")
    raise KeyError(f"no metric {name!r}: {nearest(name, {*counted, *FITTED, *facts})}")
