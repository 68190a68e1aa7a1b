"""The classifiers that compete: a few of ours, and those of scikit-learn that people would take instead."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.utils import all_estimators

from mmc.experiments.own.errors import RequestError
from mmc.methods import BMPM, SVM, ErrorRateClassifier
from mmc.methods.numerics.kernels import Array
from mmc.methods.outside import parameters_of, required_of
from mmc.methods.registry import METHODS
from mmc.words import nearest

Labels = NDArray[np.str_]
KERNEL_ROWS = 2_000  # training rows up to which methods that compare all pairs of rows are tried unasked
_RIDGE = {"linear": 0.05, "rbf": 0.01}  # of variances that are 1, and of a feature space in which they sum up to 1
_SPOTS = {"tight on {pos}": 0.1, "in between": 0.4, "tight on {neg}": 0.8}
_SLACK = 0.2  # of the way from the edge of what is feasible to 1


@dataclass(frozen=True)
class Training:
    """Prepared numbers, their labels, and the class that counts as positive: the one whose error is limited."""

    X: Array
    y: Labels
    positive: str

    @property
    def negative(self) -> str:
        """The other class."""
        return next(str(label) for label in np.unique(self.y) if label != self.positive)


@dataclass(frozen=True)
class Family:
    """Classifiers that are made together: ``make`` returns them by name, ready to be fitted on a training set."""

    name: str
    make: Callable[[Training], Mapping[str, BaseEstimator]]
    all_pairs: bool = False  # its time grows with the square of the rows, or faster
    outside: bool = False  # not in the portfolio: it may turn out that it cannot be saved


def portfolio(names: Sequence[str], seed: int) -> list[Family]:
    """Return the families to try: those named, or the usual ones."""
    usual = _usual(seed)
    if not names:
        return usual
    chosen: list[Family] = []
    for name in dict.fromkeys(names):
        own = [family for family in usual if family.name.split(",")[0] == name]
        chosen += own or [_named(name, seed)]
    return chosen


def _usual(seed: int) -> list[Family]:
    def single(name: str, make: Callable[[], BaseEstimator]) -> Family:
        return Family(name, lambda training: {name: make()})

    return [
        single("LogisticRegression", partial(LogisticRegression, max_iter=2000)),
        Family("error-rate, linear", partial(_error_rate, kernel="linear")),
        Family("error-rate, rbf", partial(_error_rate, kernel="rbf"), all_pairs=True),
        Family("bmpm", _bmpm),
        Family("svm", _svm, all_pairs=True),
        single("HistGradientBoostingClassifier", partial(HistGradientBoostingClassifier, random_state=seed)),
        single("RandomForestClassifier", partial(RandomForestClassifier, 100, min_samples_leaf=3, random_state=seed)),
    ]


def _error_rate(training: Training, kernel: str) -> dict[str, BaseEstimator]:
    """Return classifiers along the edge of the rates that can be bounded. Only their direction counts: the threshold moves."""
    X, y, pos, neg = training.X, training.y, training.positive, training.negative
    options = {"kernel": kernel, "gamma": _gamma(X), "ridge": _RIDGE[kernel]}
    lowest = ErrorRateClassifier(pos_label=neg, **options).feasible_eta_neg(X, y, [1.0])[0]
    rates = {name: lowest + spot * (1 - lowest) for name, spot in _SPOTS.items()}
    edges = ErrorRateClassifier(pos_label=pos, **options).feasible_eta_neg(X, y, list(rates.values()))
    return {
        f"error-rate, {kernel}, {name.format(pos=pos, neg=neg)}": ErrorRateClassifier(
            float(rate), float(edge + _SLACK * (1 - edge)), pos_label=pos, **options
        )
        for (name, rate), edge in zip(rates.items(), edges, strict=True)
    }


def _bmpm(training: Training) -> dict[str, BaseEstimator]:
    return {
        f"bmpm, {level:.0%} of {training.negative} kept": BMPM(
            min_accuracy_neg=level, ridge=_RIDGE["linear"], pos_label=training.positive
        )
        for level in (0.1, 0.4)
    }


def _svm(training: Training) -> dict[str, BaseEstimator]:
    share = float(np.mean(training.y == training.positive))
    costs = {"C_pos": 0.5 / share, "C_neg": 0.5 / (1 - share)}  # both classes weigh the same
    return {
        f"svm, {kernel}": SVM(**costs, kernel=kernel, gamma=_gamma(training.X), pos_label=training.positive)
        for kernel in ("linear", "rbf")
    }


def _gamma(X: Array) -> float:
    """Return the width of a kernel for features whose variances are about 1."""
    return 1 / max(1, int(X.shape[1]))


def _named(name: str, seed: int) -> Family:
    """Return a method of the registry or a public classifier of scikit-learn, with its defaults."""
    found = {key: kind for key, kind in all_estimators("classifier") if kind.__module__.startswith("sklearn.")}
    if name in found:
        return _with_defaults(name, found[name], seed)
    if problem := METHODS.problem(name):
        hint = problem if "." in name else nearest(name, [*METHODS, *found]) if name else "name one"
        raise RequestError(f"--methods {name!r} is neither a method of mmc nor a classifier of scikit-learn: {hint}")
    kind = METHODS[name].load()
    if "pos_label" not in METHODS[name].parameters():
        return _with_defaults(name, kind, seed)
    return Family(name, lambda training: {name: kind(pos_label=training.positive)}, outside=True)


def _with_defaults(name: str, kind: type[BaseEstimator], seed: int) -> Family:
    """Return a classifier from outside, with a seed where it takes one."""
    if required := required_of(kind):
        raise RequestError(f"--methods {name!r} cannot stand by itself: it is built around {required[0]!r}")
    seeded = {"random_state": seed} if "random_state" in parameters_of(kind) else {}
    return Family(name, lambda training: {name: kind(**seeded)}, outside=True)
