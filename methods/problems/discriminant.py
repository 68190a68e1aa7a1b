"""Fisher's discriminant (Gu & Guo, section 2.1): the largest distance between the means for the scatter within the classes.

    max  (w'd)² / w'S w ,   d = x̄ - ȳ,  S = Σx + Σy

The dual asks for the smallest t with t S ⪰ dd', which is d'S⁻¹d: (w'd)² ≤ (w'S w)(d'S⁻¹d) for every w. With the residual
r = d - S y of any y, and μ > 0 the smallest eigenvalue of S, t = 2 y'd - y'S y + ‖r‖²/μ is large enough: y is the dual point.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import sqrt

import numpy as np

from mmc.methods.numerics.blur import EPS
from mmc.methods.numerics.kernels import Array
from mmc.methods.problems import Certificate, Judged, Problem
from mmc.methods.problems.delivered import HARD, Delivered, Verdict
from mmc.methods.solution import FitError


@dataclass(frozen=True)
class Axes:
    """The directions in which something varies, in features of unit scatter: ``vectors``, with S's ``values`` there.

    ``scale`` is what the features were divided by, ``difference`` is d in the scaled features, within these directions.
    """

    scale: Array
    values: Array
    vectors: Array
    difference: Array


@dataclass(frozen=True)
class Discriminant(Problem[Judged[Array, Array, Certificate]]):
    """The difference of the means d and the scatter within the classes S."""

    difference: Array
    scatter: Array

    @cached_property
    def axes(self) -> Axes:
        """The problem without the directions in which nothing varies.

        Raises FitError if the means differ in one of these: the ratio is infinite there.
        """
        d, scale = self.difference, np.sqrt(self.scatter.diagonal())
        apart = np.abs(d)
        scale = np.where(scale > 1e-13 * apart, scale, apart)  # below is what rounding leaves of no scatter
        scale[scale == 0] = 1.0
        S, d = self.scatter / (scale[:, None] * scale), d / scale
        values, vectors = np.linalg.eigh(S)
        flat = values <= 10 * len(values) * EPS
        if flat[0]:  # they are in order
            if np.linalg.norm(d @ vectors[:, flat]) > 1e-6 * np.linalg.norm(d):
                raise FitError("the classes have no scatter in a direction that separates them: use a ridge > 0")
            values, vectors = values[~flat], vectors[:, ~flat]
        return Axes(scale, values, vectors, vectors @ (d @ vectors))


def certify(problem: Discriminant, w: Array, y: Array) -> Certificate:
    """Return the ratio of w and how much larger, relative to the bound, that of any other direction could be."""
    axes = problem.axes
    d, w, y = axes.difference, axes.scale * w, axes.scale * y
    if not d.any():
        return Certificate(0.0, 0.0)
    along, within = float(w @ d), float(axes.values @ (w @ axes.vectors) ** 2)
    objective = along**2 / within if within > 0 else 0.0
    Sy = axes.vectors @ (axes.values * (y @ axes.vectors))
    residual = d - Sy
    bound = 2 * float(y @ d) - float(y @ Sy) + float(residual @ residual) / float(axes.values[0])
    return Certificate(objective, max(bound - objective, 0.0) / bound)


def judge(rule: Delivered, proof: Certificate, ridge: float, counts: tuple[float, float]) -> Verdict:
    """Return the ratio of the delivered rule beside the bound that ``proof`` has; its threshold is half-way between the means.

    ``counts`` are the sizes of the classes.
    """
    pos, neg = rule.means
    along = pos - neg
    within = counts[0] * rule.variances[0] + counts[1] * rule.variances[1] + ridge * rule.norm2
    bound = proof.objective / (1 - proof.gap) if proof.gap < 1 else np.inf
    if bound == 0 and along == 0:
        return Verdict(0.0, 0.0)
    objective = along**2 / within if within > 0 else 0.0
    blur = float(rule.noise.max())
    middle = abs(pos + neg) <= HARD * along or abs(pos + neg) <= 4 * blur
    moved = sum(count * blur * (2 * sqrt(square) + blur) for count, square in zip(counts, rule.variances, strict=True))
    rounding = 4 * blur / along + moved / within if along > 0 and within > 0 else np.inf
    return Verdict(objective, max(bound - objective, 0.0) / bound + rounding if middle else np.inf)
