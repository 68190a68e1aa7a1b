"""MMRM by column generation against the whole linear program, and against libsvm's SVM, on pairs of letters.

Every time goes from X and y to a fitted rule, in seconds of the processor: others may share the machine. The SVM and MMRM
have the same kernel and C = 10. Both linear programs are solved to a certified gap of 1e-6 and must agree. An SVM is the
other classifier that a user would train: there the ratio says what MMRM costs.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from sklearn.svm import SVC

from benchmarks._shared import quickest, row
from mmc.datasets import load
from mmc.methods import MMRM
from mmc.methods.numerics.kernels import Array

PAIRS = {500: "OQ", 1000: "BR", 2000: "GCOQ"}  # a letter has fewer than 900 rows: two against two at n = 2000
GAP = 1e-6
MOST = {500: 6, 1000: 8, 2000: 10}  # times the SVM


def run() -> Iterator[dict[str, Any]]:
    """Yield one row per comparison: seconds of ours and of the alternative, their ratio and the target."""
    for n, letters in PAIRS.items():
        X, sign = _letters(letters, n)
        same = {"kernel": "rbf", "gamma": 1 / X.shape[1], "C": 10.0}
        generated, whole = (
            MMRM(C_unit="absolute", solver=solver, solver_options={"gap": GAP}, **same)
            for solver in ("column-generation", "lp")
        )
        ours, _ = quickest(partial(generated.fit, X, sign), 3, time.process_time)
        theirs, _ = quickest(partial(whole.fit, X, sign), 1, time.process_time)
        one, other = generated.solution_, whole.solution_
        apart = abs(other.objective - one.objective) / other.objective
        if apart > 2 * GAP:
            raise AssertionError(f"the answers differ: {other.objective} and {one.objective}")
        name = f"MMRM, letters {letters[: len(letters) // 2]} and {letters[len(letters) // 2 :]}, n = {n}"
        note = f"n = {n}: certified gaps {one.gap:.1e} (ours) and {other.gap:.1e}, objectives {apart:.1e} apart"
        yield row(name, "whole program, HiGHS", 2, ours, theirs, note)
        theirs, _ = quickest(partial(SVC(**same).fit, X, sign), 3, time.process_time)
        yield row(name, "SVM, libsvm", 1 / MOST[n], ours, theirs)


def _letters(letters: str, n: int) -> tuple[Array, Array]:
    data = load("letter")
    half = len(letters) // 2
    side = np.array([letters.find(label) for label in data.y])
    rows = np.random.default_rng(0).permutation(np.flatnonzero(side >= 0))[:n]
    X = np.asarray(data.X, dtype=float)[rows]
    return (X - X.mean(axis=0)) / X.std(axis=0), np.where(side[rows] < half, 1.0, -1.0)
