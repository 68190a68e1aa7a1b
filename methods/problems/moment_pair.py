"""The moments of two classes as the minimax machines see them: what can be solved in which coordinates, and what cannot."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import cho_factor, cho_solve, eigh

from mmc.methods.numerics.kernels import Array
from mmc.methods.problems.trade_off import TradeOff
from mmc.methods.solution import FitError, Status

_EPS = float(np.finfo(float).eps)
Factor = tuple[Array, bool]  # of scipy's cho_factor


class SingularCovariance(FitError):
    """Without a ridge the covariances leave the answer open, or make it 100 %."""

    status = Status.SINGULAR


@dataclass(frozen=True)
class MomentPair:
    """The two classes as the problem sees them: d = x̄ - ȳ and the covariances, both positive definite."""

    d: Array
    Sx: Array
    Sy: Array

    @classmethod
    def definite(cls, d: Array, Sx: Array, Sy: Array, ridge: tuple[float, float]) -> MomentPair:
        """Return the pair of covariances to which the ridges were added; raise SingularCovariance if rounding lost them."""
        pair = cls(d, Sx, Sy)
        try:
            pair.factors  # noqa: B018
        except np.linalg.LinAlgError:
            raise SingularCovariance(
                f"ridge={min(ridge):g} is lost in rounding: the covariances are still singular with it. Set a larger one"
            ) from None
        return pair

    @cached_property
    def spectrum(self) -> tuple[TradeOff, Array, Array]:
        """Return the curve of all trade-offs, V and c."""
        ell, V = eigh(self.Sx, self.Sx + self.Sy)
        c = V.T @ self.d
        tiny = np.finfo(float).eps
        return TradeOff(np.clip(ell, tiny, 1 - tiny), c * c), V, c

    @cached_property
    def factors(self) -> tuple[Factor, Factor]:
        """Return the Cholesky factors of Σx and Σy."""
        return cho_factor(self.Sx), cho_factor(self.Sy)

    @cached_property
    def start(self) -> Array:
        """Return the a that is best for y alone: it satisfies the constraints of every feasible κ(γ)."""
        a: Array = cho_solve(self.factors[1], self.d)
        return a / (a @ self.d)

    @cached_property
    def largest(self) -> float:
        """Return the κ(β) that ``start`` reaches, where κ(α) = 0: a κ(γ) is feasible if it is smaller."""
        return 1 / self.spreads(self.start)[1]

    def largest_beside(self, kappa: float) -> float:
        """Return the largest κ(β) where κ(α) must be at least ``kappa``; 0 if it cannot."""
        return self.largest if kappa == 0 else self.spectrum[0].mirrored.beside(kappa)

    def spreads(self, a: Array) -> tuple[float, float]:
        """Return √(a'Σx a) and √(a'Σy a)."""
        return float(np.sqrt(a @ self.Sx @ a)), float(np.sqrt(a @ self.Sy @ a))

    def ratio(self, a: Array, kappa: float) -> float:
        """Return the κ(α) of a where κ(β) is ``kappa``: the fractional objective of (12)."""
        sx, sy = self.spreads(a)
        return (1 - kappa * sy) / sx


def shared_range(d: Array, Sx: Array, Sy: Array) -> Array:
    """Return a basis of the range of Σx + Σy, in which that sum is I; refuse where a class lacks variance in it."""
    scale = np.sqrt(np.diag(Sx) + np.diag(Sy))
    scale = np.where(scale > 0, scale, 1.0)
    values, Q = eigh((Sx + Sy) / np.outer(scale, scale))
    kept = values > 10 * len(d) * _EPS * max(values[-1], _EPS)
    outside = np.linalg.norm(Q[:, ~kept].T @ (d / scale))
    if outside > 1e-8 * np.linalg.norm(d / scale):
        raise SingularCovariance(
            "the class means differ along a direction in which neither class has any variance: the worst-case "
            "bound is 100 % for both classes, whatever the future data. Set ridge > 0 to regularise the covariances"
        )
    if not kept.any():
        raise SingularCovariance(
            "no feature varies in either class, and the means are equal: there is nothing to tell them apart by"
        )
    basis: Array = Q[:, kept] / np.sqrt(values[kept]) / scale[:, None]
    lowest, highest = eigh(basis.T @ Sx @ basis, eigvals_only=True)[[0, -1]]
    for name, variance in (("positive", lowest), ("negative", 1 - highest)):
        if variance < 1e-10:
            raise SingularCovariance(
                f"the {name} class has no variance along a direction in which the other one has: its covariance is "
                "singular. Set ridge > 0 to regularise the covariances"
            )
    return basis
