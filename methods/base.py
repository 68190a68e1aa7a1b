"""What every method shares: validation, labels, kernels, the decision rule, and fits that share their work.

A subclass declares its parameters and supplies its mathematics in one function, :meth:`BinaryMethod._fit`.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from math import isfinite
from typing import ClassVar, Never, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from mmc.labels import are_words, positive_label
from mmc.methods import entry_of
from mmc.methods.fitted import Fitted, Judged, Later, PathFitter, Rule, Step
from mmc.methods.numerics.kernels import Array
from mmc.methods.numerics.left_out import Held
from mmc.methods.pairs import SeveralClasses, fit_pairs, pair_decisions, votes
from mmc.methods.problems.delivered import Verdict
from mmc.methods.solution import FitError, Solution, warn_of_positive
from mmc.methods.stored import StoredRule
from mmc.methods.training import COPIES, FEWER, Training
from mmc.methods.unweighted import RefusesWeights

__all__ = ["COPIES", "FEWER", "Array", "BinaryMethod", "Fitted", "PathFitter", "Rule", "Step", "Training"]
_OF_LABELS = ("n_features_in_", "feature_names_in_", "classes_", "pos_label_", "_flip")
_DISCRETE = "biuUS"  # the kinds of labels that cannot be continuous
_WHOLE = "biu"  # and those whose order is that of numbers


class BinaryMethod(RefusesWeights, ClassifierMixin, StoredRule):
    """Base of all methods: a scikit-learn classifier with a certificate. More than two classes are fitted in pairs.

    Examples
    --------
    >>> from mmc.methods import CATALOGUE, BinaryMethod
    >>> all(issubclass(entry.load(), BinaryMethod) for entry in CATALOGUE.values())
    True
    """

    pos_label: object
    decision_function_shape: str = "ovr"

    _needs_definite: ClassVar[bool] = True  # whether the problem is convex only for a positive semi-definite kernel
    _pair_rows: (
        list[NDArray[np.intp]] | None
    )  # with more than two classes: the rows of each pair of a precomputed kernel

    classes_: NDArray[np.generic]
    estimators_: list[BinaryMethod]

    # -- what a subclass supplies ---------------------------------------------------------------------------
    def _fit_ahead(self, train: Training, variants: Sequence[Self]) -> Mapping[int, Judged]:
        """Hook: do together, into ``train.work``, what is cheaper together for a whole grid of variants.

        Rules that are certified already are returned by the places of their variants.
        """
        return {}

    def _look_at(self, train: Training) -> None:
        """Hook: find out about the points first what this method has a quicker way to."""

    # -- scikit-learn ---------------------------------------------------------------------------------------
    def fit(self, X: ArrayLike, y: ArrayLike, **given: Never) -> Self:
        """Fit the classifier; raise InfeasibleProblem or NotConverged where there is no certified answer.

        Nothing else may be ``given``: a ``sample_weight`` is refused with the names of the methods that take it.
        """
        self._refuse(given)
        try:
            train = self._training(X, y)
        except SeveralClasses as several:
            found = several
        else:
            return self._fit_one(train, examined=True)
        fit_pairs(self, found)
        return self

    def decision_function(self, X: ArrayLike) -> Array:
        """Return the signed decision values: > 0 means ``classes_[1]``.

        With more than two classes there is one column for each class, or with ``decision_function_shape="ovo"`` one for each
        pair of classes, where > 0 means the first of the two; both as in scikit-learn's SVC.
        """
        check_is_fitted(self)
        points: Array = validate_data(self, X, dtype=np.float64, reset=False)
        if "estimators_" not in vars(self):
            return self._decide(points)
        return votes(self, points) if self.decision_function_shape == "ovr" else -pair_decisions(self, points)

    def predict(self, X: ArrayLike) -> NDArray[np.generic]:
        """Return the predicted labels."""
        if "estimators_" in vars(self):
            points: Array = validate_data(self, X, dtype=np.float64, reset=False)
            most: NDArray[np.intp] = np.argmax(votes(self, points), axis=1)
            return self.classes_.take(most)
        later = self.decision_function(X) > 0
        return self.classes_.take(later.astype(int))

    @property
    def n_iter_(self) -> int:
        """The iterations of the solver, of all pairs together if there are more than two classes."""
        return self.solution_.iterations

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags

    @property
    def _solvers(self) -> Mapping[str, str]:
        return entry_of(type(self)).solvers

    # -- a whole grid on one training set -------------------------------------------------------------------
    def fit_path(
        self,
        X: ArrayLike,
        y: ArrayLike,
        grid: Sequence[Mapping[str, object]],
        X_test: ArrayLike | None = None,
        **extra: object,
    ) -> Iterator[Step]:
        """Fit every point of ``grid`` on the same data and yield the steps in order.

        Moments, Gram matrices, factorisations and starting points are made once. ``seconds`` of the first step
        include what all share.
        """
        start = time.perf_counter()
        train = self._training(X, y, **extra)
        variants, common = [], self.get_params(deep=False)
        labels = {name: vars(self)[name] for name in _OF_LABELS if name in vars(self)}
        for point in grid:
            variant = type(self)(**{**common, **point})
            variant._check_params()
            variant.__dict__.update(labels)
            variant._resolve_gamma(train.X)
            variants.append(variant)
        spaces = [train.seen_by(variant._kernel) for variant in variants]
        ready: dict[int, Judged] = {}
        for space in {id(seen): seen for seen in spaces}.values():
            places = [place for place, seen in enumerate(spaces) if seen is space]
            found = variants[places[0]]._fit_ahead(space, [variants[place] for place in places])
            ready |= {places[place]: judged for place, judged in found.items()}
        shared_seconds = (time.perf_counter() - start) / max(len(ready), 1)
        X_test = None if X_test is None else validate_data(self, X_test, dtype=np.float64, reset=False)
        for place, (point, variant, space) in enumerate(zip(grid, variants, spaces, strict=True)):
            if place in ready and X_test is None:
                make = partial(variant._take, ready[place], space, shared_seconds)
                now = time.perf_counter()
                yield Step(point, now - start, Later(make))
                start = time.perf_counter()
                continue
            try:
                if place in ready:
                    variant._take(ready[place], space, shared_seconds)
                else:
                    variant._fit_one(train)
            except FitError as error:
                now = time.perf_counter()
                yield Step(point, now - start, error=error)
            else:
                # a kernel between all points is only made where several grid points may share it
                shared = space if len(variants) > 1 else None
                decision = None if X_test is None else variant._decide(X_test, shared)
                now = time.perf_counter()
                yield Step(point, now - start, variant, decision)
            start = time.perf_counter()

    # -- the training set -----------------------------------------------------------------------------------
    def _training(self, X: ArrayLike, y: ArrayLike, **extra: object) -> Training:
        self._check_params()
        points, labels = self._validated(X, y)
        if labels.dtype.kind not in _DISCRETE:
            check_classification_targets(labels)
        if self.kernel == "precomputed":
            _check_gram(points)
        self._resolve_gamma(points)
        classes = _different(labels)
        if len(classes) > 2:
            self.classes_ = classes
            raise SeveralClasses(type(self).__name__, points, labels, len(classes))
        self._set_classes(classes)
        sign = (labels == self.pos_label_) * 2.0
        sign -= 1.0
        train = Training(points, sign, extra=extra)
        self._look_at(train)
        return train

    def _set_classes(self, classes: NDArray[np.generic], pos_label: object = None) -> None:
        """Set the two labels, which are sorted, and which of them is positive: by default the parameter decides it."""
        self.classes_ = classes
        if len(self.classes_) < 2:
            raise ValueError(f"{type(self).__name__} needs two classes, got {len(self.classes_)} class")
        known = self.classes_.tolist()
        stated = self.pos_label if pos_label is None else pos_label
        numbers = self.classes_.dtype.kind in _WHOLE
        positive = stated if stated is not None else known[1] if numbers else positive_label(known)
        if positive not in known:
            raise ValueError(f"pos_label={positive!r} is not a label of y: {known}")
        self.pos_label_ = self.classes_[known.index(positive)]
        self._flip = 1.0 if positive == known[1] else -1.0
        if stated is None and not numbers and are_words(known) and self._names_a_class:
            warn_of_positive(positive, "pos_label=LABEL", stacklevel=5)

    def _validated(self, X: ArrayLike, y: ArrayLike) -> tuple[Array, NDArray[np.generic]]:
        """Return X and y as arrays, checked as scikit-learn does."""
        if _plain(X, y):  # all that validate_data would do, and it is dearer than a small fit
            points, labels = np.asarray(X), np.asarray(y)
            self.n_features_in_ = points.shape[1]
            self.__dict__.pop("feature_names_in_", None)
        else:
            points, labels = validate_data(self, X, y, dtype=np.float64, order="C")
        return points, labels

    def _fit_one(self, train: Training, examined: bool = False) -> Self:
        start = time.perf_counter()
        spec = self._kernel
        space = train.seen_by(spec)
        if spec.unsure and self._needs_definite:
            space.check_definite(spec)
        with np.errstate(all="ignore"):  # whatever comes of it, the last word is the certificate's
            fitted = self._attempt(space)
            self._store(fitted, space)
            verdict = self._judged(fitted, space)
            self._conclude(fitted, verdict, time.perf_counter() - start)
            if examined and fitted.held_out is not None:
                self._examine(fitted.held_out())
        return self

    def _take(self, judged: Judged, space: Training, seconds: float) -> Self:
        """Become the estimator of a rule that was found and judged together with others."""
        fitted, verdict = judged()
        self._store(fitted, space)
        self._conclude(fitted, verdict, seconds)
        return self

    def _conclude(self, fitted: Fitted, verdict: Verdict, seconds: float) -> None:
        if verdict.errors is not None:
            self.worst_case_error_ = np.array(verdict.errors[:: -int(self._flip)])
        for name, fact in verdict.facts.items():
            setattr(self, name, fact)
        self.solution_ = Solution(
            fitted.status,
            float(verdict.objective),
            float(verdict.gap),
            int(fitted.iterations),
            seconds,
            self.solver,
            fitted.version,
        )

    def _examine(self, held_out: tuple[Held, Held]) -> None:
        """Hook: what left-out points say of the bounds of (positive, negative)."""


def _different(labels: NDArray[np.generic]) -> NDArray[np.generic]:
    """Return the different labels, sorted; of whole numbers it is known at once that there are only two."""
    if labels.dtype.kind in _WHOLE:
        other = labels != labels[0]
        first, second = 0, int(other.argmax())
        if second and np.count_nonzero(labels == labels[second]) == np.count_nonzero(other):
            return labels[[first, second] if labels[first] < labels[second] else [second, first]]
    return np.unique(labels)


def _check_gram(K: Array) -> None:
    """Raise ValueError if a precomputed kernel is no symmetric matrix of all training points."""
    if K.shape[0] != K.shape[1]:
        raise ValueError(f"kernel='precomputed' needs a square matrix between all training points, got {K.shape}")
    if np.abs(K - K.T).max() > 1e-8 * np.abs(K).max():
        raise ValueError("kernel='precomputed' needs a symmetric matrix between all training points")


def _plain(X: object, y: object) -> bool:
    """Whether X and y are arrays that validation would return as they are."""
    return (
        type(X) is np.ndarray
        and type(y) is np.ndarray
        and X.dtype == np.float64
        and X.ndim == 2
        and y.shape == X.shape[:1]
        and y.dtype.kind in _DISCRETE
        and X.size > 0
        and X.flags.c_contiguous
        and isfinite(np.vdot(X, X))
    )
