"""A straight line through points by least squares, and how far it can be trusted."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mmc.experiments.student import quantile

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Line:
    """y = slope·x + intercept, with the usual standard errors: normal residuals of one size.

    ``slope_of`` and ``intercept_of`` are the weights of the y_i in the two: both are linear in y.
    """

    slope: float
    intercept: float
    slope_of: Array
    intercept_of: Array
    residual: float
    df: int
    middle: float
    square: float

    @classmethod
    def through(cls, x: Array, y: Array) -> Line | None:
        """Return the line of least squares; None for fewer than three points, or if all x are equal."""
        n = len(x)
        if n < 3 or np.ptp(x) == 0:
            return None
        middle = float(np.mean(x))
        square = float(np.sum((x - middle) ** 2))
        slope_of = (x - middle) / square
        intercept_of = 1 / n - middle * slope_of
        slope, intercept = float(slope_of @ y), float(intercept_of @ y)
        residual = math.sqrt(float(np.sum((y - slope * x - intercept) ** 2)) / (n - 2))
        return cls(slope, intercept, slope_of, intercept_of, residual, n - 2, middle, square)

    @property
    def slope_se(self) -> float:
        return self.residual * float(np.linalg.norm(self.slope_of))

    @property
    def intercept_se(self) -> float:
        return self.residual * float(np.linalg.norm(self.intercept_of))

    def quantile(self, confidence: float) -> float:
        """Return how many standard errors the interval of this confidence reaches to either side."""
        return quantile(self.df, 0.5 + confidence / 2)

    def band(self, x: Array, confidence: float) -> Array:
        """Return half the width of the confidence band of the line itself at x."""
        spread = np.sqrt(1 / (self.df + 2) + (x - self.middle) ** 2 / self.square)
        return self.quantile(confidence) * self.residual * spread
