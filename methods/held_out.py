"""A classifier's scores for examples that it was not fitted on."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from mmc.methods._sklearn import rows_of_params, safe_split
from mmc.methods.numerics.kernels import Array
from mmc.methods.solution import BoundWarning
from mmc.words import nearest

Rows = NDArray[np.intp]
Labels = NDArray[np.generic]
Seed = int | np.random.RandomState | None
_LARGE = 1e300  # stands for infinity, which has no neighbours to put a threshold between
_TINY = np.finfo(np.float64).tiny


@runtime_checkable
class Splitter(Protocol):
    """A splitter as scikit-learn has them."""

    def split(
        self, X: ArrayLike, y: ArrayLike | None = None, groups: ArrayLike | None = None
    ) -> Iterator[tuple[Rows, Rows]]:
        """Yield the rows to train on and the rows held out."""


Calibration = float | str | Splitter


@dataclass(frozen=True)
class HeldOut:
    """A fitted classifier, and the scores and labels of held-out examples. Not ``exact``: the scores are other fits'."""

    estimator: BaseEstimator
    scores: Array
    y: Labels
    exact: bool = True

    def of(self, labels: Labels) -> tuple[Array, Array]:
        """Return the scores of each of two classes."""
        return self.scores[self.y == labels[0]], self.scores[self.y == labels[1]]


@dataclass(frozen=True)
class Sample:
    """Labelled examples with what else the classifier's ``fit`` and the splitter's ``split`` are to get."""

    X: ArrayLike
    y: Labels
    to_fit: Mapping[str, object]
    to_split: Mapping[str, ArrayLike]

    def fitted(self, estimator: BaseEstimator, rows: Rows) -> BaseEstimator:
        """Return a fresh fit on some rows."""
        X, y = safe_split(estimator, self.X, self.y, rows)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", BoundWarning)  # another threshold is coming, which needs no moments
            return clone(estimator).fit(X, y, **rows_of_params(self.X, self.to_fit, rows))

    def apart(self, estimator: BaseEstimator, train: Rows, rest: Rows) -> tuple[BaseEstimator, Array]:
        """Return a fit on some rows and the scores that it gives to others."""
        fit = self.fitted(estimator, train)
        return fit, scores_of(fit, safe_split(estimator, self.X, self.y, rest, train)[0])


def held_out(estimator: BaseEstimator, sample: Sample, calibration: Calibration, seed: Seed) -> HeldOut:
    """Return held-out scores, in the way that ``calibration`` says; see RateGuarantee."""
    if isinstance(calibration, str):
        if calibration != "prefit":
            raise ValueError(f"calibration={calibration!r} is not known: {nearest(calibration, ['prefit'])}")
        check_is_fitted(estimator)
        return HeldOut(estimator, scores_of(estimator, sample.X), sample.y)
    if isinstance(calibration, Splitter):
        return _out_of_fold(estimator, sample, calibration)
    _check_size(calibration, len(sample.y))
    if get_tags(estimator).input_tags.pairwise:
        raise ValueError('a precomputed kernel cannot be calibrated on a share; use calibration="prefit" or a splitter')
    split = StratifiedShuffleSplit(n_splits=1, test_size=calibration, random_state=seed)
    train, rest = next(split.split(np.zeros(len(sample.y)), sample.y))
    fit, scores = sample.apart(estimator, train, rest)
    return HeldOut(fit, scores, sample.y[rest])


def scores_of(estimator: BaseEstimator, X: ArrayLike) -> Array:
    """Return one finite score per example, high for the second class: ``decision_function``, or the log odds."""
    if hasattr(estimator, "decision_function"):
        scores = np.asarray(estimator.decision_function(X), dtype=np.float64)
    elif hasattr(estimator, "predict_proba"):
        # both logarithms: near 1 a probability is too coarse to rank by
        logs = np.log(np.maximum(np.asarray(estimator.predict_proba(X), dtype=np.float64), _TINY))
        scores = logs[:, 1] - logs[:, 0]
    else:
        raise ValueError(
            f"{type(estimator).__name__} has neither decision_function nor predict_proba, so it has no scores"
        )
    if np.isnan(scores).any():
        raise ValueError(f"{type(estimator).__name__} gave NaN as a score; no threshold can be set on it")
    return np.clip(scores.reshape(len(scores)), -_LARGE, _LARGE)


def _out_of_fold(estimator: BaseEstimator, sample: Sample, splitter: Splitter) -> HeldOut:
    n = len(sample.y)
    scores, times = np.empty(n), np.zeros(n, dtype=int)
    for train, rest in splitter.split(sample.X, sample.y, **sample.to_split):
        scores[rest] = sample.apart(estimator, train, rest)[1]
        times[rest] += 1
    if not (times == 1).all():
        raise ValueError(f"calibration={splitter!r} must hold out every example once, as StratifiedKFold does")
    return HeldOut(sample.fitted(estimator, np.arange(n)), scores, sample.y, exact=False)


def _check_size(calibration: float, n: int) -> None:
    if isinstance(calibration, Integral) and not isinstance(calibration, bool):
        if not 0 < calibration < n:
            raise ValueError(
                f"calibration={calibration} examples cannot be held out of {n}: give 1 to {n - 1}, or a share"
            )
    elif not isinstance(calibration, Real) or isinstance(calibration, bool) or not 0 < calibration < 1:
        raise ValueError(
            f"calibration={calibration!r} must be a share between 0 and 1, a number of examples, a splitter, or 'prefit'"
        )
