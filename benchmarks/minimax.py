"""BMPM: many levels from one decomposition, and a kernel against the paper's own algorithm.

The first row's alternative is what a user would write: the parametric method around a cone program, stated once in
cvxpy with λ and κ(γ) as parameters and solved by ECOS. The others' is the ``fractional`` solver of the paper, told to
stop as soon as α is right to 1e-8: with its default tolerance it would lose by far more. The covariances are given.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import cvxpy as cp
import numpy as np
from sklearn.datasets import load_breast_cancer

from benchmarks._shared import quickest, row
from mmc.methods.numerics.kernels import Array, KernelSpec
from mmc.methods.problems.minimax import Minimax
from mmc.methods.problems.moment_pair import MomentPair
from mmc.methods.solvers import fractional, frontier


def run() -> Iterator[dict[str, Any]]:
    """Yield one row per comparison: seconds of ours and of the alternative, their ratio and the target."""
    yield row("BMPM, 99 levels, n = 30", "cvxpy + ECOS, parametric", 1000, *_levels())
    for factor, ours, theirs in _kernel():
        target = 5 if factor == "cholesky" else None
        yield row(f"BMPM, one level, kernel, N = 1000, {factor}", "iterative least squares", target, ours, theirs)


def _levels() -> tuple[float, float]:
    X, y = load_breast_cancer(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    pair = _pair(X[y == 0], X[y == 1])
    best = pair.largest**2 / (1 + pair.largest**2)
    levels = best * np.linspace(0.01, 0.99, 99)
    kappas = np.sqrt(levels / (1 - levels))
    ours, directions = quickest(lambda: frontier.solve_levels(MomentPair(pair.d, pair.Sx, pair.Sy), kappas), 20)
    theirs, others = quickest(lambda: _cvxpy(pair, kappas), 2)
    _same(pair, zip(kappas, directions, others, strict=True))
    return ours, theirs


def _kernel(N: int = 1000) -> Iterator[tuple[str, float, float]]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 10))
    X[: N // 2] += 0.5
    K = KernelSpec("rbf", 0.05)(X, X)
    pair = _pair(K[: N // 2], K[N // 2 :], ridge=1e-5)
    theirs, other = quickest(lambda: fractional.solve(Minimax(MomentPair(pair.d, pair.Sx, pair.Sy), 1.0), tol=1e-4), 3)
    for factor in ("cholesky", "eigen"):
        solve = partial(frontier.solve, factor=factor)
        ours, one = quickest(lambda solve=solve: solve(Minimax(MomentPair(pair.d, pair.Sx, pair.Sy), 1.0)), 3)  # type: ignore[misc]
        _same(pair, [(1.0, one.primal, other.primal)])
        yield factor, ours, theirs


def _cvxpy(pair: MomentPair, kappas: Array) -> list[Array]:
    a, lam, kappa = cp.Variable(len(pair.d)), cp.Parameter(nonneg=True), cp.Parameter(nonneg=True)
    Cx, Cy = (np.linalg.cholesky(S).T for S in (pair.Sx, pair.Sy))
    problem = cp.Problem(cp.Minimize(lam * cp.norm(Cx @ a) + kappa * cp.norm(Cy @ a)), [pair.d @ a == 1])
    found = []
    for kappa.value in kappas:
        best, before = pair.start, -1.0
        while (value := pair.ratio(best, kappa.value)) > before * (1 + 1e-6):
            lam.value = before = value
            problem.solve(solver=cp.ECOS)
            found_a = np.asarray(a.value)
            best = found_a / (pair.d @ found_a)
        found.append(best)
    return found


def _pair(X: Array, Y: Array, ridge: float = 0.0) -> MomentPair:
    Sx, Sy = (np.cov(Z.T, bias=True) + ridge * np.eye(Z.shape[1]) for Z in (X, Y))
    return MomentPair(X.mean(axis=0) - Y.mean(axis=0), Sx, Sy)


def _same(pair: MomentPair, answers: Any) -> None:
    """Refuse to compare times of answers that differ."""
    for kappa, one, other in answers:
        a, b = (pair.ratio(z, kappa) for z in (one, other))
        if not np.isclose(a, b, rtol=1e-4):
            raise AssertionError(f"the answers differ at κ = {kappa}: {a} and {b}")
