"""A plain scikit-learn classifier, which knows nothing of mmc."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import validate_data


class Centroids(ClassifierMixin, BaseEstimator):
    """The class whose centre is nearer, by the mean or the median of its rows."""

    _parameter_constraints: ClassVar[dict[str, list[object]]] = {"centre": [StrOptions({"mean", "median"})]}

    def __init__(self, centre="mean"):
        self.centre = centre

    def fit(self, X, y):
        """Find the centre of each class."""
        self._validate_params()
        X, y = validate_data(self, X, y)
        self.classes_ = np.unique(y)
        middle = np.mean if self.centre == "mean" else np.median
        self.centres_ = np.array([middle(X[y == label], axis=0) for label in self.classes_])
        return self

    def predict(self, X):
        """Return the label of the nearest centre."""
        X = validate_data(self, X, reset=False)
        distances = np.linalg.norm(X[:, None, :] - self.centres_, axis=2)
        return self.classes_[np.argmin(distances, axis=1)]
