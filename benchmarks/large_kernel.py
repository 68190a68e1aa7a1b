"""Kernel error-rate and BMPM at 20,000 points, certified without the Gram matrix, against libsvm's SVM.

Two normal classes in 20 dimensions, γ = 1/20, ridge 1e-3. The certificates are those of the whole problem: 1e-8 for the
error-rate classifier, 1e-6 for BMPM. Every fit has a process of its own; its memory is what the process's peak grew by. Times are
seconds of the processor.
"""

from __future__ import annotations

import multiprocessing
import resource
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from typing import Any

import numpy as np
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from benchmarks._shared import quickest, row
from mmc.methods import BMPM, ErrorRateClassifier
from mmc.methods.numerics.kernels import Array

SAME = {"kernel": "rbf", "gamma": 0.05}
MODELS = {
    "SVM, libsvm": SVC(C=1.0, **SAME),
    "error-rate": ErrorRateClassifier(0.8, 0.7, ridge=1e-3, **SAME),
    "BMPM": BMPM(0.3, ridge=1e-3, **SAME),
}
SLOWER = 10  # times libsvm's seconds, at most


def run(n: int = 20_000) -> Iterator[dict[str, Any]]:
    """Yield one row for each method; the notes say memory, passes over the kernel and gap."""
    # A fork server: a process that it starts does not inherit the peak of this one's memory, as others do.
    context = multiprocessing.get_context("forkserver")
    theirs = 0.0
    with ProcessPoolExecutor(1, mp_context=context, max_tasks_per_child=1) as fresh:
        for name in MODELS:
            seconds, memory, told = fresh.submit(measure, name, n).result()
            if name == "SVM, libsvm":
                theirs = seconds
                continue
            note = f"{name}: {memory / 1e6:.0f} MB, {told}"
            yield row(f"{name}, kernel, N = {n:,}", "SVM, libsvm", 1 / SLOWER, seconds, theirs, note)


def measure(name: str, n: int) -> tuple[float, float, str]:
    """Fit a model in this process, which has done nothing before; return seconds, bytes, and what the fit tells."""
    X, y = _points(n)
    model = MODELS[name]
    with threadpool_limits(1):
        model.fit(X[:: n // 100], y[:: n // 100])
        before = _peak()
        seconds, _ = quickest(partial(model.fit, X, y), 1, time.process_time)
        memory = _peak() - before
    told = "" if isinstance(model, SVC) else f"{model.n_iter_} passes, gap {model.solution_.gap:.1e}"
    return seconds, memory, told


def _points(n: int) -> tuple[Array, Array]:
    X = np.random.default_rng(0).normal(size=(n, 20))
    y = (np.arange(n) < n // 2).astype(int)
    X[y == 1, :2] += 1.2
    return X, y


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
