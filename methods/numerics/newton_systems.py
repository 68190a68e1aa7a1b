"""Newton's equations of an interior point method for `solvers/interior_point.py`, factorised in two ways.

    H d_λ + A d_v + z d_b = h,     A'd_λ - D d_v = g,     z'd_λ = t,     H > 0,  D ≥ 0 diagonal

`Reduced` is quick. Its matrix has the square of the condition: where D⁻¹ and H⁻¹ are large together, it loses what G'λ must be exact to.
`Indefinite` eliminates what can do no harm and factorises the rest as it is. It takes up to twice as long and keeps the digits.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg.blas import dsyrk, dtrsm, ssyrk
from scipy.linalg.lapack import dpotrf, dpotrs, dsytrf, dsytrs, dtrtrs, spotrf, spotrs

from mmc.methods.numerics.kernels import Array

Step = tuple[Array, float, Array]  # d_v, d_b, d_λ
_BLOCK = 64  # columns that LAPACK treats at once
_SHORT = 1e13  # squared length, beside a diagonal of 1, of what can be eliminated: rounding may change a tenth of the answer, which refining mends


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
    """[H A; A' -D], scaled to ±1 on its diagonal, with a border for b; D > 0.

    The scaled A is B. A row of B that is short is eliminated at once, as all are in `Reduced`: what it adds to -I has rounding errors that
    are small beside 1. Then so is a column that is short in the rows that are left. What is left, the long rows s and the
    long columns e, goes to Bunch and Kaufman: with M = I + Br'Br of the short rows, Mcc = LL' of the short columns,

        F = L⁻¹[Bsc'  -Mce],     [I Bse; Bse' -Mee] + F'F.
    """

    def __init__(self, A: Array, z: Array):
        self.A, self.z, self.squares = A, z, A * A
        self.border_side = np.concatenate([z, np.zeros(A.shape[1])])

    def factorise(self, H: Array, D: Array) -> None:
        self.H, self.D = H, D
        self.unit = 1 / np.sqrt(np.concatenate([H, D]))
        self._divide()
        r, s, c, e = self.parts
        rows = np.concatenate([r, s])
        B = self.A.take(rows, axis=0)
        B *= self.unit[rows, None]
        B *= self.unit[len(H) :]
        if len(e):
            B = B.take(np.concatenate([c, e]), axis=1)
        self.short, long = B[: len(r)], B[len(r) :]
        M = dsyrk(1.0, self.short.T, lower=1)
        M.T.ravel()[:: len(M) + 1] += 1.0
        left = np.zeros((len(s) + len(e), len(s) + len(e)), order="F")
        left.T.ravel()[:: len(left) + 1] = 1.0
        left[len(s) :, : len(s)] = long[:, len(c) :].T
        left[len(s) :, len(s) :] = -M[len(c) :, len(c) :]
        F = np.empty((len(c), len(left)), order="F")
        F[:, : len(s)] = long[:, : len(c)].T
        F[:, len(s) :] = -M[len(c) :, : len(c)].T
        self.L, _ = dpotrf(M[: len(c), : len(c)], lower=1)
        self.F = dtrsm(1.0, self.L, F, lower=1, overwrite_b=1)
        left = dsyrk(1.0, self.F, trans=1, beta=1.0, c=left, lower=1, overwrite_c=1)
        self.factor, self.pivots, _ = dsytrf(left, lower=1, lwork=_BLOCK * len(left), overwrite_a=1)
        self.border = self._inverse(self.border_side)
        self.pivot = float(self.border_side @ self.border)

    def _divide(self) -> None:
        """Choose the short and the long rows, then the short and the long columns; none is empty but for the last."""
        length = (self.squares @ (1 / self.D)) / self.H
        order = np.argsort(length)
        short = min(max(int(np.sum(length <= _SHORT)), 1), len(length) - 1)
        r, s = order[:short], order[short:]
        length = ((1 / self.H[s]) @ self.squares[s]) / self.D
        order = np.argsort(length)
        short = max(int(np.sum(length <= _SHORT)), 1)
        self.parts = np.sort(r), np.sort(s), np.sort(order[:short]), np.sort(order[short:])

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

    def _inverse(self, right: Array) -> Array:
        r, s, c, e = self.parts
        x: Array = self.unit * right
        c, e = c + len(self.H), e + len(self.H)
        columns = np.concatenate([c, e])
        x[columns] -= x[r] @ self.short
        w = dtrtrs(self.L, x[c], lower=1)[0]
        both = np.concatenate([s, e])
        x[both] = dsytrs(self.factor, self.pivots, x[both] + w @ self.F, lower=1)[0]
        x[c] = dtrtrs(self.L, self.F @ x[both] - w, lower=1, trans=1)[0]
        x[r] -= self.short @ x[columns]
        x *= self.unit
        return x
