"""Newton's equations of an interior point method for `solvers/interior_point.py`, factorised in two ways.

    H d_λ + A d_v + z d_b = h,     A'd_λ - D d_v = g,     z'd_λ = t,     H > 0,  D ≥ 0 diagonal

`Reduced` is quick. Its matrix has the square of the condition: where D⁻¹ and H⁻¹ are large together, it loses what G'λ must be exact to.
`Indefinite` factorises the equations as they are. It takes three times as long and keeps the digits.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg.blas import dsyrk, ssyrk
from scipy.linalg.lapack import dpotrf, dpotrs, dsytrf, dsytrs, spotrf, spotrs

from mmc.methods.numerics.kernels import Array

Step = tuple[Array, float, Array]  # d_v, d_b, d_λ
_BLOCK = 64  # columns that LAPACK treats at once


class Reduced:
    """A'H⁻¹A + D by Cholesky, damped where rounding makes it indefinite, with a border for b.

    In ``single`` precision the factor takes half of the time and memory, and one refinement more makes up for it,
    until the condition is too large.
    """

    def __init__(self, A: Array, z: Array, single: bool = False):
        self.A, self.z, self.single = A, z, single
        self.type = np.dtype(np.float32 if single else np.float64)
        self.syrk, self.potrf, self.potrs = (ssyrk, spotrf, spotrs) if single else (dsyrk, dpotrf, dpotrs)
        self.work = np.empty(A.shape, dtype=self.type)
        self.factor = np.empty((A.shape[1], A.shape[1]), dtype=self.type, order="F")

    def factorise(self, H: Array, D: Array) -> None:
        A, z = self.A, self.z
        self.W, self.D = 1 / H, D
        np.multiply(A, np.sqrt(self.W)[:, None], out=self.work, casting="same_kind")
        self.unit = 1 / np.sqrt(np.maximum(np.einsum("ji,ji->i", self.work, self.work) + D, 1e-300))
        self.work *= self.unit.astype(self.type)
        damp, failed = 1e-7 if self.single else 1e-15, 1
        while failed:  # in the memory of the last factor: new memory costs as much as a third of the arithmetic
            self.factor = self.syrk(1.0, self.work.T, lower=1, c=self.factor, overwrite_c=1)
            np.fill_diagonal(self.factor, 1.0 + damp)
            self.factor, failed = self.potrf(self.factor, lower=1, overwrite_a=1)
            damp *= 100
        self.Az = A.T @ (self.W * z)
        self.border = self._inverse(self.Az)
        if self.single:
            left = self.Az - A.T @ (self.W * (A @ self.border)) - D * self.border
            self.border += self._inverse(left)
        whole = float(z @ (self.W * z))
        self.pivot = max(whole - float(self.Az @ self.border), 1e-15 * whole)  # rounding may leave nothing

    def solve(self, h: Array, g: Array, t: float, refinements: int) -> Step:
        A, z, W = self.A, self.z, self.W
        d_v, d_b = self._solve(A.T @ (W * h) - g, float(z @ (W * h)) - t)
        d_dual = W * (h - A @ d_v - z * d_b)
        for _ in range(refinements + self.single):  # of A'd_λ: where H is small, h - A d_v lacks digits
            more_v, more_b = self._solve(A.T @ d_dual - self.D * d_v - g, float(z @ d_dual) - t)
            d_v, d_b = d_v + more_v, d_b + more_b
            d_dual -= W * (A @ more_v + z * more_b)
        return d_v, d_b, d_dual

    def _solve(self, x: Array, y: float) -> tuple[Array, float]:
        inner = self._inverse(x)
        d_b = (y - float(self.Az @ inner)) / self.pivot
        return inner - self.border * d_b, d_b

    def _inverse(self, x: Array) -> Array:
        x = self.unit * x
        size = float(np.abs(x).max()) or 1.0  # single precision has a short range
        solution: Array = self.unit * size * self.potrs(self.factor, (x / size).astype(self.type), lower=1)[0]
        return solution


class Indefinite:
    """[H A; A' -D], scaled to ±1 on its diagonal, by Bunch and Kaufman's factors, with a border for b; D > 0."""

    def __init__(self, A: Array, z: Array):
        self.A, self.z = A, z
        self.factor = np.empty((sum(A.shape), sum(A.shape)), order="F")
        self.border_side = np.concatenate([z, np.zeros(A.shape[1])])

    def factorise(self, H: Array, D: Array) -> None:
        m = len(H)
        self.H, self.D = H, D
        self.unit = 1 / np.sqrt(np.concatenate([H, D]))
        np.multiply(self.A.T, self.unit[m:, None], out=self.factor[m:, :m])
        self.factor[m:, :m] *= self.unit[:m]
        self.factor[:m, :m] = 0.0
        self.factor[m:, m:] = 0.0
        np.fill_diagonal(self.factor, np.repeat([1.0, -1.0], [m, len(D)]))
        size = _BLOCK * len(self.unit)
        self.factor, self.pivots, _ = dsytrf(self.factor, lower=1, lwork=size, overwrite_a=1)
        self.border = self._inverse(self.border_side)
        self.pivot = float(self.border_side @ self.border)

    def solve(self, h: Array, g: Array, t: float, refinements: int) -> Step:
        d_v, d_b, d_dual = self._solve(h, g, t)
        for _ in range(refinements):
            left = h - self.H * d_dual - self.A @ d_v - self.z * d_b, g - self.A.T @ d_dual + self.D * d_v
            more = self._solve(*left, t - float(self.z @ d_dual))
            d_v, d_b, d_dual = d_v + more[0], d_b + more[1], d_dual + more[2]
        return d_v, d_b, d_dual

    def _solve(self, h: Array, g: Array, t: float) -> Step:
        y = self._inverse(np.concatenate([h, g]))
        d_b = (float(self.border_side @ y) - t) / self.pivot
        y -= self.border * d_b
        return y[len(h) :], d_b, y[: len(h)]

    def _inverse(self, x: Array) -> Array:
        solution: Array = self.unit * dsytrs(self.factor, self.pivots, self.unit * x, lower=1)[0]
        return solution
