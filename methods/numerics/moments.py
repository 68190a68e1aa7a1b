"""Means and covariances of the two classes, divided by the class sizes m_i as the papers do."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from mmc.methods.numerics.kernels import Array
from mmc.methods.numerics.shrinkage import Spread


@dataclass(frozen=True)
class Moments:
    """First and second moments: the rows are (x_j - mean)/√m_i, so that cov = rows'rows of a class.

    ``member`` marks in its columns the rows of the positive class, which come first, and of the negative one.
    """

    mean_pos: Array
    mean_neg: Array
    rows: Array
    member: Array
    split: int

    @classmethod
    def of(cls, X: Array, positive: NDArray[np.bool_]) -> Moments:
        """Return the moments of the rows of X; ``positive`` marks those of the positive class."""
        rows, split = X.take(np.argsort(~positive, kind="stable"), axis=0), int(np.count_nonzero(positive))
        member = np.zeros((len(X), 2))
        member[:split, 0] = member[split:, 1] = 1.0
        means = []
        for part in (rows[:split], rows[split:]):
            means.append(part.sum(axis=0) / len(part))
            part -= means[-1]
            part *= 1 / sqrt(len(part))
        return cls(means[0], means[1], rows, member, split)

    def shrunk_rows(self, pos: float, neg: float) -> Array:
        """Return the rows of the covariances times 1 - ``pos`` and 1 - ``neg``."""
        return self.rows if pos == neg == 0 else self.rows * np.sqrt(self.member @ [[1 - pos], [1 - neg]])

    @cached_property
    def spreads(self) -> tuple[Spread, Spread]:
        """What the rule of shrinkage asks of both classes."""
        return Spread.of(self.rows[: self.split]), Spread.of(self.rows[self.split :])

    @cached_property
    def cov_pos(self) -> Array:
        """The covariance of the positive class."""
        rows = self.rows[: self.split]
        return rows.T @ rows

    @cached_property
    def cov_neg(self) -> Array:
        """The covariance of the negative class."""
        rows = self.rows[self.split :]
        return rows.T @ rows
