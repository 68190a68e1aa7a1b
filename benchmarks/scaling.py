"""Time and memory of the kernel methods, and of libsvm's SVM, over the number of points.

One hard pair of MNIST, 4 against 9, in the first 80 principal components of the training part, grey values from 0 to 1,
γ = 2⁻⁵, C = 10; MMRM is certified to 1e-4. MMRM and M4 are there twice: as they are fitted now, and by the program that they
were first solved with, as far as that goes. The points are nested random parts of the pair, up to all of it. Every fit
has a process of its own, and its memory is what the process's peak grew by after all was loaded and a few points had been
fitted. Times are seconds of the processor: others may share the machine.

Not part of ``make bench``; it writes results/scaling/ (see `_scaling`).
"""

from __future__ import annotations

import multiprocessing
import resource
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from benchmarks._scaling import Fit, write
from benchmarks._shared import need, quickest, row
from mmc.datasets import load
from mmc.experiments.preparation import projected
from mmc.methods import BMPM, M4, MMRM, RMM, BinaryMethod, ErrorRateClassifier
from mmc.methods.numerics.kernels import Array

FOLDER = Path(__file__).parent.parent / "results" / "scaling"
KERNEL = {"kernel": "rbf", "gamma": 2**-5}
RATIO = partial(MMRM, C=10.0, C_unit="absolute", solver_options={"gap": 1e-4}, **KERNEL)
SCATTER = partial(M4, C=0.1, ridge=0.01, **KERNEL)
MODELS = {
    "MMRM, column generation": RATIO(solver="column-generation"),
    "MMRM, whole program": RATIO(solver="lp"),
    "RMM": RMM(C=10.0, B=1.2, **KERNEL),
    "M4, Newton": SCATTER(solver="newton"),
    "M4, cone programs": SCATTER(solver="sequential-socp"),
    "error-rate": ErrorRateClassifier(ridge=1e-3, **KERNEL),
    "BMPM": BMPM(ridge=1e-3, **KERNEL),
    "SVM, libsvm": SVC(C=10.0, **KERNEL),
}
SIZES = (500, 1000, 2000, 4000, 8000, 11791)
# twice as many points would take minutes
MOST = {"MMRM, whole program": 2000, "M4, Newton": 4000, "M4, cone programs": 1000}


def run() -> Iterator[dict[str, Any]]:
    """Yield column generation beside the two others at every size, then write the files."""
    need("mnist")
    # A fork server: a process that it starts does not inherit the peak of this one's memory, as others do.
    context = multiprocessing.get_context("forkserver")
    fits: list[Fit] = []
    with ProcessPoolExecutor(1, mp_context=context, max_tasks_per_child=1) as fresh:
        X, y = fresh.submit(_pair).result()
        for n in SIZES:
            ours, *others = (
                fresh.submit(measure, name, X[:n], y[:n]).result() for name in MODELS if n <= MOST.get(name, n)
            )
            fits += [ours, *others]
            for fit in others:
                yield row(f"MMRM, column generation, n = {n}", fit.model, None, ours.seconds, fit.seconds)
    write(fits, FOLDER)


def measure(name: str, X: Array, y: Array) -> Fit:
    """Fit a model in this process, which has done nothing before."""
    model = MODELS[name]
    with threadpool_limits(1):
        model.fit(X[:100], y[:100])
        before = _peak()
        seconds, _ = quickest(partial(model.fit, X, y), 1, time.process_time)
        memory = _peak() - before
        if seconds < 2:
            seconds, _ = quickest(partial(model.fit, X, y), 3, time.process_time)
    return Fit(name, len(y), seconds, memory / 1e6, model.solution_.gap if isinstance(model, BinaryMethod) else None)


def _pair() -> tuple[Array, Array]:
    data = load("mnist")
    train, y = data.X[: data.n_train] / 255, data.y[: data.n_train]
    X, _ = projected(80, train, train[:0])
    rows = np.random.default_rng(0).permutation(np.flatnonzero(np.isin(y, ["4", "9"])))
    return X[rows], y[rows]


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
