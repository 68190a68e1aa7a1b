"""MMRM by column generation against the whole linear program, and against libsvm's SVM, on pairs of letters.

The Gram matrix is given to all three; the SVM and MMRM have the same C = 10. Both linear programs are solved to a certified
gap of 1e-6 and must agree. An SVM is the other classifier that a user would train: there the ratio says what MMRM costs.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from sklearn.svm import SVC

from mmc.datasets import load
from mmc.methods.kernels import Array, KernelSpec
from mmc.methods.solvers import column_generation, lp
from mmc.methods.solvers.lp import RatioLP, dense

PAIRS = {500: "OQ", 1000: "BR", 2000: "GCOQ"}  # a letter has fewer than 900 rows: two against two at n = 2000


def run() -> Iterator[dict[str, Any]]:
    """Yield one row per comparison: seconds of ours and of the alternative, their ratio and the target."""
    for n, letters in PAIRS.items():
        X, sign = _letters(letters, n)
        K = KernelSpec("rbf", 1 / X.shape[1])(X, X)
        problem = _problem(K, sign)
        ours, answer = _best(lambda p=problem: column_generation.solve(p), 3)
        theirs, whole = _best(lambda p=problem: lp.solve(p), 1)
        if abs(whole.objective - answer.objective) > 2e-6 * whole.objective:
            raise AssertionError(f"the answers differ: {whole.objective} and {answer.objective}")
        name = f"MMRM, letters {letters[: len(letters) // 2]} and {letters[len(letters) // 2 :]}, n = {n}"
        yield _row(name, "whole program, HiGHS", 2, ours, theirs)
        theirs, _ = _best(lambda K=K, sign=sign: SVC(C=10.0, kernel="precomputed").fit(K, sign), 3)
        yield _row(name, "SVM, libsvm", None, ours, theirs)


def _letters(letters: str, n: int) -> tuple[Array, Array]:
    data = load("letter")
    half = len(letters) // 2
    side = np.array([letters.find(label) for label in data.y])
    rows = np.random.default_rng(0).permutation(np.flatnonzero(side >= 0))[:n]
    X = np.asarray(data.X, dtype=float)[rows]
    return (X - X.mean(axis=0)) / X.std(axis=0), np.where(side[rows] < half, 1.0, -1.0)


def _problem(K: Array, sign: Array) -> RatioLP:
    G = K * np.outer(sign, sign)
    weight = np.where(sign > 0, 1 / np.sum(sign > 0), 1 / np.sum(sign < 0))
    return RatioLP(dense(G), len(sign), sign, weight, 10.0, True)


def _best(work: Callable[[], Any], times: int) -> tuple[float, Any]:
    seconds = []
    for _ in range(times):
        start = time.perf_counter()
        answer = work()
        seconds.append(time.perf_counter() - start)
    return min(seconds), answer


def _row(name: str, against: str, target: float | None, ours: float, theirs: float) -> dict[str, Any]:
    return {"name": name, "against": against, "ours": ours, "theirs": theirs, "ratio": theirs / ours, "target": target}
