"""RMM and MMRM against libsvm's SVM on all 45 pairs of MNIST digits, with the kernel, C and B of Table 2.

80 principal components of the grey values, as in `mmrm_mnist`. Every time goes from X and y to a fitted rule, in seconds of the
processor: others may share the machine. All three are fitted to a pair, one after the other, before the next pair comes.
RMM is certified to 1e-6, MMRM to 1e-4. It takes some ten minutes.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
from sklearn.svm import SVC

from benchmarks._shared import need, quickest, row
from mmc.datasets import load
from mmc.experiments.preparation import projected
from mmc.methods import MMRM, RMM

SAME = {"kernel": "rbf", "gamma": 2.0**-21, "C": 10.0}
RATIO = MMRM(C_unit="absolute", solver="column-generation", solver_options={"gap": 1e-4}, **SAME)
MACHINES = {"SVM": SVC(**SAME), "RMM": RMM(B=1.2, **SAME), "MMRM": RATIO}


def run() -> Iterator[dict[str, Any]]:
    """Yield the rows of RMM and of MMRM."""
    need("mnist")
    data = load("mnist")
    train, y = np.asarray(data.X[: data.n_train], dtype=float), data.y[: data.n_train]
    X, _ = projected(80, train, train[:0])
    few = np.flatnonzero(np.isin(y, ["0", "1"]))[:200]
    for machine in MACHINES.values():
        machine.fit(X[few], y[few])  # loads and compiles what is needed on first use
    seconds, gaps, pairs = dict.fromkeys(MACHINES, 0.0), dict.fromkeys(MACHINES, 0.0), 0
    for pair in combinations(sorted(data.classes), 2):
        rows, pairs = np.isin(y, pair), pairs + 1
        for name, machine in MACHINES.items():
            seconds[name] += quickest(partial(machine.fit, X[rows], y[rows]), 1, time.process_time)[0]
            gaps[name] = max(gaps[name], machine.solution_.gap) if name != "SVM" else 0.0
    for name in ("RMM", "MMRM"):
        note = f"{name}: largest certified gap {gaps[name]:.1e}"
        yield row(f"{name}, MNIST, {pairs} pairs", "SVM, libsvm", 1 / 6, seconds[name], seconds["SVM"], note)
