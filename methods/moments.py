"""Means and covariances of the two classes, divided by the class sizes m_i as the papers do."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from mmc.methods.base import Training
from mmc.methods.kernels import Array


@dataclass(frozen=True)
class Moments:
    """First and second moments: row j of ``rows_*`` is (x_j - mean)/√m_i, so that cov = rows'rows."""

    mean_pos: Array
    mean_neg: Array
    rows_pos: Array
    rows_neg: Array

    @cached_property
    def cov_pos(self) -> Array:
        return self.rows_pos.T @ self.rows_pos

    @cached_property
    def cov_neg(self) -> Array:
        return self.rows_neg.T @ self.rows_neg


def moments(train: Training) -> Moments:
    """Return the moments of the training set in feature space, made once."""
    return train.work.once("moments", lambda: _moments(train.X, train.sign > 0))


def _moments(X: Array, positive: NDArray[np.bool_]) -> Moments:
    parts = [X[positive], X[~positive]]
    means = [part.mean(axis=0) for part in parts]
    rows = [(part - mean) / np.sqrt(len(part)) for part, mean in zip(parts, means, strict=True)]
    return Moments(*means, *rows)
