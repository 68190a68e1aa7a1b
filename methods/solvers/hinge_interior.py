"""Support vector problems in few coordinates by an interior point method, finished by Newton steps.

The sum of hinges of ``libsvm.py``, with slacks and K = XX', X centred (Σβ = 0, so that b takes up the difference):

    min_{w,b}  ½‖w‖² + C'ξ     s.t.  s_k (x_k'w + b) + ξ_k − σ_k = s_k t_k,    ξ, σ ≥ 0.

With multipliers 0 ≤ a ≤ C of the rows, and q = C − a, its optimality conditions are w = X'β, Σβ = 0 and σ a = ξ q = 0.
Newton's equations for σ a = ξ q = μ reduce to one positive definite matrix of the features' size and a border for b,

    I + X'DX,     D_i = Σ a_k q_k / (σ_k q_k + ξ_k a_k)  over the hinges of point i,

whose Cholesky factor serves Mehrotra's predictor and his corrector: O(n d²) a step, and 10 to 30 steps whatever C is,
where libsvm's iterations grow with C. That tells which multipliers are at a bound; the Newton steps do the rest.
A linear kernel has the features of the data; of any other one X is a pivoted Cholesky factor, which pays where it has few columns.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy
from scipy.linalg.blas import dsyrk
from scipy.linalg.lapack import dpotrf, dpotrs, dpstrf

from mmc.methods.banded import BandedProblem
from mmc.methods.numerics.gram import Gram
from mmc.methods.numerics.kernels import Array
from mmc.methods.solvers.libsvm import Hinges, SvmProblem, finish

VERSION = f"scipy {scipy.__version__}"
_ENOUGH = 1e-6  # relative gap at which the Newton steps take over
_NEAR = 0.99  # of the way to the boundary
_RANK = 1e-13  # of the largest k(x, x): what is left of K after its pivoted Cholesky factor


def solve(problem: SvmProblem | BandedProblem, *, tol: float = 1e-6, max_iter: int = 100) -> Any:
    """Return the machine to a relative duality gap of ``tol``, or raise NotConverged.

    ``max_iter`` bounds the steps of the interior point method.
    """
    hinges = problem.hinges
    a, steps = _near(hinges, max_iter)
    a, more = finish(hinges, hinges.feasible(a), tol)
    return problem.answer(a, tol, steps + more, VERSION)


def _features(K: Array | Gram) -> Array:
    """Return X with K = XX'."""
    if isinstance(K, Gram):
        if K.spec.kernel == "linear":
            return K.X
        K = K.spec(K.X, K.X)
    if not np.all(np.isfinite(K)):
        raise ValueError("the kernel matrix contains NaN or infinity")
    factor, order, rank, _ = dpstrf(K.T, tol=_RANK * float(np.max(np.diag(K))), lower=1)
    X = np.zeros((len(K), max(rank, 1)))
    X[order - 1, :rank] = np.tril(factor[:, :rank])
    return X


def _near(hinges: Hinges, max_iter: int) -> tuple[Array, int]:
    """Return multipliers near the optimum, those at a bound exactly there, and the steps taken."""
    X = _features(hinges.K)
    X = X - X.mean(axis=0)
    # in units in which targets, and multipliers that are free, are about 1
    unit = float(np.min(np.abs(hinges.target)))
    size = np.sqrt(np.einsum("ij,ij", X, X) / len(X)) or 1.0
    X /= size
    kept = np.flatnonzero(hinges.C)
    point, side, C = hinges.point[kept], hinges.side[kept], hinges.C[kept] * (size**2 / unit)
    e = side * hinges.target[kept] / unit
    n, d = X.shape

    def rows(w: Array, b: float) -> Array:
        return side * (X @ w + b)[point]

    def columns(a: Array) -> Array:
        return X.T @ np.bincount(point, side * a, n)

    def direction(to_sigma: Array, to_xi: Array) -> tuple[Array, float, Array, Array, Array]:
        """Return the step that changes σ a and ξ q by these amounts, and removes the residuals."""
        h = W * (left + to_sigma / a - to_xi / q)
        y = dpotrs(factor, columns(h) + r, lower=1)[0]
        d_b = (float(side @ h) - total - float(border @ y)) / pivot
        d_w = y - across * d_b
        d_a = h - W * rows(d_w, d_b)
        return d_w, d_b, d_a, (to_sigma - sigma * d_a) / a, (to_xi + xi * d_a) / q

    w, b = np.zeros(d), 0.0
    a = np.minimum(C / 2, 1.0)
    q = C - a
    xi = np.maximum(e, 0.0) + 1.0
    sigma = xi - e
    work = np.empty_like(X)
    steps = 0
    while steps < max_iter:
        short = e - rows(w, b)
        r = columns(a) - w
        total = -float(side @ a)
        mu = float(sigma @ a + xi @ q) / (2 * len(e))
        value = float(w @ w) / 2 + float(C @ np.maximum(short, 0.0))
        wrong = 2 * len(e) * mu + float(np.linalg.norm(r) * np.linalg.norm(w)) + abs(total * b)
        if wrong <= _ENOUGH * value:
            break
        W = 1 / (sigma / a + xi / q)
        D = np.bincount(point, W, n)
        np.multiply(X, np.sqrt(D)[:, None], out=work)
        matrix = dsyrk(1.0, work.T, lower=1)
        matrix[np.diag_indices(d)] += 1.0
        factor, _ = dpotrf(matrix, lower=1, overwrite_a=1)
        border = D @ X
        across = dpotrs(factor, border, lower=1)[0]
        pivot = max(float(D.sum() - border @ across), 1e-15 * float(D.sum()))
        left = short + sigma - xi
        d_w, d_b, d_a, d_sigma, d_xi = direction(-sigma * a, -xi * q)
        length = min(1.0, _room((a, d_a), (q, -d_a), (sigma, d_sigma), (xi, d_xi)))
        after = (sigma + length * d_sigma) @ (a + length * d_a) + (xi + length * d_xi) @ (q - length * d_a)
        target = (float(after) / (2 * len(e)) / mu) ** 3 * mu
        d_w, d_b, d_a, d_sigma, d_xi = direction(target - sigma * a - d_sigma * d_a, target - xi * q + d_xi * d_a)
        length = min(1.0, _NEAR * _room((a, d_a), (q, -d_a), (sigma, d_sigma), (xi, d_xi)))
        if not length > 1e-8:  # rounding leaves no step: the certificate will judge
            break
        w, b, a, q = w + length * d_w, b + length * d_b, a + length * d_a, q - length * d_a
        sigma, xi = sigma + length * d_sigma, xi + length * d_xi
        steps += 1
    small = np.minimum(C, 1.0)
    answer = np.zeros(len(hinges.C))
    answer[kept] = np.where(
        a < small * sigma, 0.0, np.where(q < small * xi, hinges.C[kept], np.minimum(a * unit / size**2, hinges.C[kept]))
    )
    return answer, steps


def _room(*pairs: tuple[Array, Array]) -> float:
    """Return how far every x + t d stays positive."""
    fastest = max(float(np.max(-d / x)) for x, d in pairs)
    return 1 / fastest if fastest > 0 else np.inf
