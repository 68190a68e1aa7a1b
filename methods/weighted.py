"""Weights of rows and of classes, for the methods whose problem has a cost for every point: a weight multiplies it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Never, Self, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.class_weight import compute_class_weight

from mmc.methods._sklearn import StrOptions, checked_weights
from mmc.methods.base import BinaryMethod, Training
from mmc.methods.numerics.kernels import Array
from mmc.methods.pairs import SeveralClasses, fit_pairs


class WeightedMethod(BinaryMethod):
    """Base of the methods with ``class_weight`` and ``sample_weight``."""

    class_weight: Mapping[object, float] | str | None

    _parameter_constraints: ClassVar[dict[str, list[object]]] = {
        **BinaryMethod._parameter_constraints,
        "class_weight": [StrOptions({"balanced"}), dict, None],
    }

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None, **given: Never) -> Self:
        """Fit the classifier; raise InfeasibleProblem or NotConverged where there is no certified answer.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The points.
        y : array-like of shape (n_samples,)
            Their labels.
        sample_weight : array-like of shape (n_samples,) or None, default None
            What multiplies the cost of each point: one of weight 2 counts as two equal points, one of weight 0 is left out.
        **given : dict
            Nothing else is taken.

        Returns
        -------
        self
            The fitted classifier.
        """
        self._refuse(given)
        try:
            train = self._training(X, y)
        except SeveralClasses as several:
            found = several
        else:
            return self._fit_weighted(train, sample_weight)
        weight = _checked(sample_weight, found.points)
        if self.class_weight is not None:  # as in SVC, of all classes together
            weight = weight * _of_classes(self.class_weight, self.classes_, found.labels)
        fit_pairs(self, found, {"class_weight": None}, sample_weight=weight)
        return self

    def _fit_weighted(self, train: Training, sample_weight: ArrayLike | None) -> Self:
        if sample_weight is None:
            return self._fit_one(train)
        weight = _checked(sample_weight, train.X)
        kept = np.flatnonzero(weight)
        if len(np.unique(train.sign[kept])) < 2:
            raise ValueError("all rows of a class have weight 0: two classes are needed")
        points = train.X[np.ix_(kept, kept)] if self.kernel == "precomputed" else train.X[kept]
        self._fit_one(Training(points, train.sign[kept], extra={"weight": weight[kept]}))
        self.support_ = kept[self.support_]
        for name in self._per_row:
            whole = np.zeros(len(weight))
            whole[kept] = getattr(self, name)
            setattr(self, name, whole)
        for name in self._row_numbers:
            setattr(self, name, kept[getattr(self, name)])
        return self

    _per_row: ClassVar[tuple[str, ...]] = ()  # attributes with a number for each training point
    _row_numbers: ClassVar[tuple[str, ...]] = ()  # attributes that number training points

    def _weights(self, train: Training) -> Array | None:
        """Return the weight of every training point, of its row and of its class together; None if all are 1."""
        weight = cast("Array | None", train.extra.get("weight"))
        if self.class_weight is None:
            return weight
        other = self.classes_[self.classes_ != self.pos_label_][0]
        labels = np.where(train.sign > 0, self.pos_label_, other)
        of_classes = _of_classes(self.class_weight, self.classes_, labels)
        return of_classes if weight is None else weight * of_classes

    def _expected_failed_checks(self) -> dict[str, str]:
        """Return the check of scikit-learn that its own SVC does not pass with this kernel."""
        checks = ("check_class_weight_classifiers",) if self.kernel == "poly" else ()
        return dict.fromkeys(checks, "a quadratic kernel bends around points of the heavy class, in SVC too")


def _checked(sample_weight: ArrayLike | None, X: Array) -> Array:
    weight: Array = checked_weights(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
    return weight


def _of_classes(
    class_weight: Mapping[object, float] | str, classes: NDArray[np.generic], labels: NDArray[np.generic]
) -> Array:
    """Return the weight of every row's class."""
    weights: Array = compute_class_weight(class_weight, classes=classes, y=labels)
    if not (np.isfinite(weights) & (weights > 0)).all():
        raise ValueError(f"class_weight must be above 0 for every class, got {class_weight}")
    return weights[np.searchsorted(classes, labels)]
