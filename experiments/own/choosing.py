"""Which classifier to take: by its cross-validated scores inside the training part, at the rates that are promised."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator
from sklearn.metrics import auc, roc_curve
from sklearn.model_selection import StratifiedKFold
from threadpoolctl import threadpool_limits

from mmc.experiments.own.candidates import KERNEL_ROWS, Family, Labels, Training
from mmc.experiments.own.model_file import unsaveable
from mmc.experiments.own.preparing import preparation
from mmc.methods.held_out import scores_of
from mmc.methods.numerics.kernels import Array

Watch = Callable[[int, int, str], None]  # done, of how many, what is at work
_FOLDS = 5
_THREADS = 5_000  # training rows below which several threads take longer than one
_SMALL, _REPETITIONS = 400, 2  # a small training part is folded several times


@dataclass(frozen=True)
class Curve:
    """The trade-off of a score: the share of wrong examples of the first and of the second class at every threshold."""

    first: Array
    second: Array

    @classmethod
    def of(cls, y: Labels, scores: Array) -> Curve:
        """Return the curve of scores that are high for the second class."""
        alarms, hits, _ = roc_curve(y == np.unique(y)[1], scores, drop_intermediate=True)
        return cls(alarms, 1 - hits)

    @property
    def area(self) -> float:
        """The area between the curve and 1: 1 is a perfect score, 0.5 a useless one."""
        return float(auc(self.first, 1 - self.second))

    def left(self, limits: Sequence[float | None]) -> float:
        """Return the error that the limits leave: of the other class, or the mean of both classes where both are limited.

        Two limits that no threshold keeps leave the mean of what each leaves to the other class. That is more than the mean
        of the limits, so a score that keeps both always comes first.
        """
        first, second = (1.0 if limit is None else limit for limit in limits)
        if None in limits:
            other = self.second[self.first <= first] if limits[0] is not None else self.first[self.second <= second]
            return float(other.min())
        both = (self.first <= first) & (self.second <= second)
        if both.any():
            return float((self.first + self.second)[both].min() / 2)
        return float(self.second[self.first <= first].min() + self.first[self.second <= second].min()) / 2


@dataclass
class Tried:
    """A classifier that was tried, with its out-of-fold curves; or why it was not."""

    name: str
    family: Family
    curves: list[Curve] = field(default_factory=list)
    problem: str = ""

    @property
    def area(self) -> float:
        """The mean area of its curves."""
        return float(np.mean([curve.area for curve in self.curves]))

    def curve(self, limited: int) -> tuple[Array, Array]:
        """Return rates of one class (0 or 1), and the mean error that a limit at each leaves to the other class."""
        rates = np.linspace(0, 1, 201)
        limits = [(rate, None) if limited == 0 else (None, rate) for rate in rates.tolist()]
        return rates, np.array([self.left(pair) for pair in limits])

    def left(self, limits: Sequence[float | None]) -> float:
        """Return the mean error that the limits leave."""
        return float(np.mean([curve.left(limits) for curve in self.curves]))


def left_out(families: Sequence[Family], rows: int) -> list[Tried]:
    """Return the families that are not tried unasked on so many training rows."""
    why = f"left out: {rows:,} training rows are many for it; --methods asks for it"
    return [Tried(family.name, family, problem=why) for family in families if family.all_pairs and rows > KERNEL_ROWS]


def tried(
    frame: pd.DataFrame, y: Labels, positive: str, families: Sequence[Family], seed: int, watch: Watch
) -> list[Tried]:
    """Return every classifier of the families with its cross-validated curves, those that failed with the reason.

    Each fold prepares the table anew, from its own training rows.
    """
    repetitions = _REPETITIONS if len(y) < _SMALL else 1
    folds = min(_FOLDS, *np.unique(y, return_counts=True)[1].tolist())
    found: dict[str, Tried] = {}
    total, done = repetitions * folds * len(families), 0
    for repetition in range(repetitions):
        scores: dict[str, Array] = {}
        splitter = StratifiedKFold(folds, shuffle=True, random_state=seed + repetition)
        for train, rest in splitter.split(frame, y):
            prepare = preparation()
            with quiet():
                X = np.asarray(prepare.fit_transform(frame.iloc[train], y[train]), dtype=np.float64)
                X_rest = np.asarray(prepare.transform(frame.iloc[rest]), dtype=np.float64)
            training = Training(X, y[train], positive)
            for family in families:
                watch(done, total, family.name)
                for name, estimator, problem in fitted(family, training):
                    entry = found.setdefault(name, Tried(name, family))
                    entry.problem = entry.problem or problem
                    if estimator is not None:
                        scores.setdefault(name, np.full(len(y), np.nan))[rest] = scores_of(estimator, X_rest)
                done += 1
        for name, of_all in scores.items():
            if np.isnan(of_all).any():
                found[name].problem = found[name].problem or "could not be fitted in every fold"
            else:
                found[name].curves.append(Curve.of(y, of_all))
    watch(total, total, "")
    return list(found.values())


def fitted(family: Family, training: Training) -> Iterator[tuple[str, BaseEstimator | None, str]]:
    """Yield the classifiers of a family by name, fitted; None with the reason where one cannot be."""
    threads = 1 if len(training.y) < _THREADS else None
    try:
        with quiet():
            made: Mapping[str, BaseEstimator] = family.make(training)
    except (ValueError, np.linalg.LinAlgError) as error:
        yield family.name, None, brief(error)
        return
    for name, estimator in made.items():
        problem = ""
        try:
            with quiet(), threadpool_limits(threads):
                estimator.fit(training.X, training.y)
                scores_of(estimator, training.X[:1])  # raises where it has none
                problem = unsaveable(estimator) if family.outside else ""
        except (ValueError, np.linalg.LinAlgError) as error:
            problem = brief(error)
        yield name, None if problem else estimator, problem


def ranking(found: Sequence[Tried], limits: Sequence[float | None] | None) -> list[Tried]:
    """Return those that can be chosen, the best first: by the error left, then by the area, then as listed."""
    able = [entry for entry in found if entry.curves and not entry.problem]
    return sorted(able, key=lambda entry: ((entry.left(limits) if limits else 0.0), -entry.area))


def brief(error: Exception) -> str:
    """Return the first sentence of an error."""
    return str(error).splitlines()[0].split(". ")[0][:120]


def quiet() -> warnings.catch_warnings[None]:
    """Silence warnings of libraries: what matters of them is told in our own words."""
    return warnings.catch_warnings(action="ignore")
