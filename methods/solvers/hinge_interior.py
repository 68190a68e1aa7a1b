"""Support vector problems in few coordinates by an interior point method, finished by Newton steps.

The sum of hinges of `mmc.methods.problems.hinges`, with slacks and K = XX', X centred (Σβ = 0, so that b takes up the difference):

    min_{w,b}  ½‖w‖² + C'ξ     s.t.  s_k (x_k'w + b) + ξ_k − σ_k = s_k t_k,    ξ, σ ≥ 0.

With multipliers 0 ≤ a ≤ C of the rows, and q = C − a, its optimality conditions are w = X'β, Σβ = 0 and σ a = ξ q = 0.
Newton's equations for σ a = ξ q = μ reduce to one positive definite matrix of the features' size and a border for b,

    I + X'DX,     D_i = Σ a_k q_k / (σ_k q_k + ξ_k a_k)  over the hinges of point i,

whose Cholesky factor serves Mehrotra's predictor and his corrector: O(n d²) a step, and 10 to 30 steps whatever C is,
where libsvm's iterations grow with C. That tells which multipliers are at a bound; Newton steps (`active_set`) do the rest.
A linear kernel has the features of the data; of any other one X is a pivoted Cholesky factor, which pays where it has few columns.
"""

from __future__ import annotations

import numpy as np
import scipy
from scipy.linalg.blas import dsyrk
from scipy.linalg.lapack import dpotrf, dpotrs

from mmc.methods.numerics.cholesky import pivoted_cholesky
from mmc.methods.numerics.gram import LazyGram
from mmc.methods.numerics.kernels import Array
from mmc.methods.numerics.memory import require
from mmc.methods.numerics.steps import room
from mmc.methods.problems.hinges import HingeProblem, Hinges, MachineAnswer
from mmc.methods.solvers import Capabilities, active_set

CAN = Capabilities(rows=True)
VERSION = f"scipy {scipy.__version__}"
_ENOUGH = 1e-6  # relative gap at which the Newton steps take over
_NEAR = 0.99  # of the way to the boundary
_RANK = 1e-13  # of the largest k(x, x): what is left of K after its pivoted Cholesky factor

Step = tuple[Array, float, Array, Array, Array]  # of w, b, a, σ and ξ


def solve(problem: HingeProblem, *, tol: float = 1e-6, max_iter: int = 100) -> MachineAnswer:
    """Return the machine to a relative duality gap of ``tol``, or raise NotConverged.

    ``max_iter`` bounds the steps of the interior point method.
    """
    hinges = problem.hinges
    at, steps = _Iterate(hinges), 0
    while steps < max_iter and not at.near() and at.advance():
        steps += 1
    a, more = active_set.solve(hinges, hinges.feasible(at.multipliers()), tol=tol)
    return problem.answer(a, tol, steps + more, VERSION)


def _features(K: Array | LazyGram) -> Array:
    """Return X with K = XX'."""
    if isinstance(K, LazyGram):
        if K.spec.kernel == "linear":
            return K.X
        require(
            24.0 * len(K) ** 2,
            f"the Gram matrix of {len(K):,} points and its factor",
            "take solver='libsvm', or Nystroem",
        )
        K = K.spec(K.X, K.X)
    if not np.all(np.isfinite(K)):
        raise ValueError("the kernel matrix contains NaN or infinity")
    X = pivoted_cholesky(K, _RANK).rows
    return X if X.shape[1] else np.zeros((len(K), 1))


class _Iterate:
    """Where the method is: w, b, σ, ξ of the primal, a and q of the dual, in units in which targets are about 1."""

    def __init__(self, hinges: Hinges):
        X = _features(hinges.K)
        X = X - X.mean(axis=0)
        # in units in which targets, and multipliers that are free, are about 1
        unit = float(np.min(np.abs(hinges.target)))
        size = np.sqrt(np.einsum("ij,ij", X, X) / len(X)) or 1.0
        X /= size
        self.hinges, self.X, self.unit = hinges, X, unit / size**2
        self.kept = np.flatnonzero(hinges.C)
        self.point, self.side = hinges.point[self.kept], hinges.side[self.kept]
        self.C = hinges.C[self.kept] * (size**2 / unit)
        self.e = e = self.side * hinges.target[self.kept] / unit
        self.w, self.b = np.zeros(X.shape[1]), 0.0
        self.a = np.minimum(self.C / 2, 1.0)
        self.q = self.C - self.a
        self.xi = np.maximum(e, 0.0) + 1.0
        self.sigma = self.xi - e
        self.work = np.empty_like(X)

    def near(self) -> bool:
        """Compute the residuals; return whether the point is near enough for the Newton steps."""
        w, e = self.w, self.e
        self.short = e - self._rows(w, self.b)
        self.r = self._columns(self.a) - w
        self.total = -float(self.side @ self.a)
        self.mu = float(self.sigma @ self.a + self.xi @ self.q) / (2 * len(e))
        value = float(w @ w) / 2 + float(self.C @ np.maximum(self.short, 0.0))
        wrong = 2 * len(e) * self.mu + float(np.linalg.norm(self.r) * np.linalg.norm(w)) + abs(self.total * self.b)
        return wrong <= _ENOUGH * value

    def advance(self) -> bool:
        """Make a step; False if rounding leaves none: the certificate will judge."""
        self._factorise()
        a, q, sigma, xi = self.a, self.q, self.sigma, self.xi
        step = self._direction(-sigma * a, -xi * q)
        length = min(1.0, self._room(step))
        _, _, d_a, d_sigma, d_xi = step
        after = (sigma + length * d_sigma) @ (a + length * d_a) + (xi + length * d_xi) @ (q - length * d_a)
        target = (float(after) / (2 * len(self.e)) / self.mu) ** 3 * self.mu
        step = self._direction(target - sigma * a - d_sigma * d_a, target - xi * q + d_xi * d_a)
        length = min(1.0, _NEAR * self._room(step))
        if not length > 1e-8:
            return False
        d_w, d_b, d_a, d_sigma, d_xi = step
        self.w, self.b = self.w + length * d_w, self.b + length * d_b
        self.a, self.q = a + length * d_a, q - length * d_a
        self.sigma, self.xi = sigma + length * d_sigma, xi + length * d_xi
        return True

    def multipliers(self) -> Array:
        """Return the multipliers of all hinges, those that seem to be at a bound exactly there."""
        small, bound = np.minimum(self.C, 1.0), self.hinges.C[self.kept]
        free = np.minimum(self.a * self.unit, bound)
        a = np.zeros(len(self.hinges.C))
        a[self.kept] = np.where(self.a < small * self.sigma, 0.0, np.where(self.q < small * self.xi, bound, free))
        return a

    def _rows(self, w: Array, b: float) -> Array:
        values: Array = self.X @ w + b
        return self.side * values[self.point]

    def _columns(self, a: Array) -> Array:
        total: Array = self.X.T @ np.bincount(self.point, self.side * a, len(self.X))
        return total

    def _factorise(self) -> None:
        """Factorise I + X'DX by Cholesky, and eliminate b."""
        self.W = 1 / (self.sigma / self.a + self.xi / self.q)
        D = np.bincount(self.point, self.W, len(self.X))
        np.multiply(self.X, np.sqrt(D)[:, None], out=self.work)
        matrix = dsyrk(1.0, self.work.T, lower=1)
        matrix[np.diag_indices(len(matrix))] += 1.0
        self.factor, _ = dpotrf(matrix, lower=1, overwrite_a=1)
        self.border = D @ self.X
        self.across = dpotrs(self.factor, self.border, lower=1)[0]
        self.pivot = max(float(D.sum() - self.border @ self.across), 1e-15 * float(D.sum()))

    def _direction(self, to_sigma: Array, to_xi: Array) -> Step:
        """Return the step that changes σ a and ξ q by these amounts, and removes the residuals."""
        left = self.short + self.sigma - self.xi
        h = self.W * (left + to_sigma / self.a - to_xi / self.q)
        y = dpotrs(self.factor, self._columns(h) + self.r, lower=1)[0]
        d_b = (float(self.side @ h) - self.total - float(self.border @ y)) / self.pivot
        d_w = y - self.across * d_b
        d_a = h - self.W * self._rows(d_w, d_b)
        return d_w, d_b, d_a, (to_sigma - self.sigma * d_a) / self.a, (to_xi + self.xi * d_a) / self.q

    def _room(self, step: Step) -> float:
        _, _, d_a, d_sigma, d_xi = step
        return room((self.a, d_a), (self.q, -d_a), (self.sigma, d_sigma), (self.xi, d_xi))
