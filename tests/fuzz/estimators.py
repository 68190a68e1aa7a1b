"""Degenerate data sets: whatever they are, a fit ends with a certificate that holds or with one clear error, in bounded time.

    python -m tests.fuzz.estimators --count 1650 --fits 7 --seed 0

makes data sets that number and seed decide (constant, repeated and tiny columns, points of both classes in one place, features at
1e12, classes far apart, fewer points than features, …), and fits several methods with parameters from usual to extreme to each, in
worker processes. It prints how many fits ended cleanly: solved with a certificate that a recomputation from `decision_function`
confirms (`tests.fuzz.recomputed`), or refused with a message of our own. The others end with another exception, a message
of numpy's or scipy's, a warning that leaks, a certificate that is denied, a dead process, or not within the time limit.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import re
import sys
import traceback
import warnings
from collections import Counter
from multiprocessing.connection import Connection
from typing import Any
from unittest.mock import patch

import numpy as np
import psutil

from mmc.methods import CATALOGUE
from tests.fuzz.recomputed import WORTH, denied

SECONDS = 40.0
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
_OBSCURE = re.compile(
    r"infs? or nans?|singular matrix|leading minor|positive definite matrix|zero-size|divi(sion|de) by zero|math domain|out of bounds|"
    r"could not broadcast|convert float|SVD did not|illegal value|object has no|NoneType|unpack|eigenvalues did not",
    re.IGNORECASE,
)
_KERNELS = ({}, {}, {"kernel": "rbf"}, {"kernel": "poly", "degree": 2})


def make(number: int, seed: int) -> tuple[Any, Any, str]:
    """Return the data set of a number, and what was done to it."""
    draw = np.random.default_rng([seed, number])
    n, d = int(draw.integers(3, 40)), int(draw.integers(1, 9))
    y = np.repeat([0, 1], [n, int(draw.integers(1, 40)) if draw.random() < 0.2 else n])
    X = draw.normal(size=(len(y), d)) + draw.choice([0.0, 0.7, 2.0]) * y[:, None]
    names = [str(draw.choice(list(DAMAGE))) for _ in range(int(draw.integers(0, 4)))]
    for name in names:
        X = DAMAGE[name](draw, X, y)
    return np.ascontiguousarray(X), y, " + ".join(names) or "plain"


def _column(change: Any) -> Any:
    def apply(draw: Any, X: Any, y: Any) -> Any:
        X, j = X.copy(), int(draw.integers(X.shape[1]))
        X[:, j] = change(draw, X[:, j], y)
        return X

    return apply


def _repeat(draw: Any, X: Any, y: Any) -> Any:
    return X[draw.integers(0, len(X), len(X))] if draw.random() < 0.5 else X[np.arange(len(X)) % max(1, len(X) // 4)]


DAMAGE = {
    "constant column": _column(lambda draw, x, y: np.full_like(x, draw.choice([0.0, 1.0, 0.1, 1e9]))),
    "constant in a class": _column(lambda draw, x, y: np.where(y == 1, 1.0, x)),
    "the label itself": _column(lambda draw, x, y: y.astype(float)),
    "subnormal column": _column(lambda draw, x, y: 1e-310 * x),
    "tiny column": _column(lambda draw, x, y: 1e-150 * x),
    "huge column": _column(lambda draw, x, y: draw.choice([1e8, 1e60, 1e160]) * x),
    "column far away": _column(lambda draw, x, y: x + draw.choice([1e7, 1e9, 1e12, 1e15])),
    "outlier": _column(lambda draw, x, y: np.where(np.arange(len(x)) == 0, 1e7, x)),
    "whole numbers": _column(lambda draw, x, y: np.round(x)),
    "repeated column": lambda draw, X, y: np.hstack([X, X[:, :1]]),
    "repeated points": _repeat,
    "the same points in both classes": lambda draw, X, y: X[np.minimum(np.arange(len(X)) % np.sum(y == 0), len(X) - 1)],
    "one place per class": lambda draw, X, y: np.where(y[:, None] == 1, X[-1], X[0]),
    "one place": lambda draw, X, y: np.tile(X[0], (len(X), 1)),
    "all far away": lambda draw, X, y: X + draw.choice([1e7, 1e9, 1e12]),
    "all small": lambda draw, X, y: X * draw.choice([1e-6, 1e-12, 1e-200]),
    "all large": lambda draw, X, y: X * draw.choice([1e6, 1e12]),
    "classes far apart": lambda draw, X, y: X + 20.0 * y[:, None],
    "more features than points": lambda draw, X, y: (
        np.hstack([X] * 6) + 1e-3 * draw.normal(size=(len(X), 6 * X.shape[1]))
    ),
    "uneven scales": lambda draw, X, y: X * 10.0 ** draw.integers(-6, 7, X.shape[1]),
}


def chosen(number: int, seed: int, fit: int) -> Any:
    """Return the estimator of one fit."""
    draw = np.random.default_rng([seed, number, fit])
    entry = CATALOGUE[str(draw.choice([key for key, entry in CATALOGUE.items() if entry.name in WORTH]))]
    cls = entry.load()
    known = entry.parameters()
    params: dict[str, Any] = {}
    if "kernel" in known:
        params.update(_KERNELS[int(draw.integers(len(_KERNELS)))])
    if params:
        params["gamma"] = float(draw.choice([0.01, 0.3, 3.0, 1e-6, 1e3]))
    solvers = [
        name
        for name in entry.solvers
        if name != "cvxpy" and (not params or name != "socp" or cls.__name__ not in ("HMEM", "SMEM"))
    ]
    params["solver"] = str(draw.choice(solvers))
    extreme = draw.random() < 0.3
    costs = [1e-8, 1e-3, 1e5, 1e9, 1e14] if extreme else [0.1, 1.0, 10.0, 100.0]
    for name in ("C", "C1", "C2", "C_pos", "C_neg"):
        if name in known and draw.random() < 0.7:
            params[name] = float(draw.choice(costs))
    if cls.__name__ == "MMRM":
        params["C"] = float(draw.choice([1.0, 2.0, 10.0, 1e6 if extreme else 5.0, np.inf]))
    if cls.__name__ == "M4" and draw.random() < 0.2:
        params["C"] = np.inf
    moments = cls.__name__ in ("ErrorRateClassifier", "MPM", "BMPM")  # their own choice would have to be made once more
    if "ridge" in known and (moments or draw.random() < 0.5):
        params["ridge"] = float(draw.choice([0.0, 1e-12, 1e-4, 1.0, 1e6 if extreme else 0.1]))
    for name in ("eta_pos", "eta_neg", "min_accuracy_neg"):
        if name in known and (cls.__name__ != "BMPM" or draw.random() < 0.7):
            params[name] = float(draw.choice([0.3, 0.5, 0.8, 0.95, 1e-6 if extreme else 0.6]))
    if "slack" in known:
        params["slack"] = str(draw.choice(["point", "shared"]))
    return cls(**params)


def attempt(number: int, seed: int, fit: int) -> str:
    """Return how one fit ends: "clean: …", or what is wrong with it."""
    X, y, _ = make(number, seed)
    model = chosen(number, seed, fit)
    with warnings.catch_warnings(record=True) as leaked:
        warnings.simplefilter("always")
        try:
            model.fit(X, y)
            found = denied(model, X, y)
        except ValueError as error:
            ours = any(
                frame.name in ("_fit_one", "_training", "_store") for frame in traceback.extract_tb(error.__traceback__)
            )
            obscure = not ours or _OBSCURE.search(str(error)) or len(str(error)) < 20
            return f"obscure: {error}" if obscure else f"clean: {type(error).__name__}"
        except Exception as error:
            where = traceback.extract_tb(error.__traceback__)[-1]
            return f"traceback: {type(error).__name__}: {error} ({where.filename.rsplit('/', 1)[-1]}:{where.lineno})"
    if found:
        return f"denied: {found}"
    loud = [w for w in leaked if issubclass(w.category, RuntimeWarning)]
    return f"warning: {loud[0].message}" if loud else "clean: solved"


def _work(connection: Connection, seed: int) -> None:
    while True:
        number, fit = connection.recv()
        connection.send(attempt(number, seed, fit))


class Worker:
    """A process that fits, and is replaced when it hangs or dies."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._start()

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._connection, far = context.Pipe()
        self._process = context.Process(target=_work, args=(far, self._seed), daemon=True)
        with patch.dict(os.environ, ONE_THREAD):  # threads that wait for each other would count as work
            self._process.start()
        far.close()

    def fit(self, number: int, fit: int, seconds: float = SECONDS) -> str:
        """Return how a fit ends; "hang" or "crash" where the process did not tell. Seconds of work: a busy machine makes no hang."""
        try:
            self._connection.send((number, fit))
            end = self._worked() + seconds
            while not (told := self._connection.poll(1.0)) and self._worked() < end:
                pass
            ended: str = self._connection.recv() if told else f"hang: over {seconds:g} s"
        except (EOFError, OSError):
            self._process.join(5)
            ended = f"crash: the process died ({self._process.exitcode})"
        if ended.startswith(("hang", "crash")):
            self.close()
            self._start()
        return ended

    def _worked(self) -> float:
        try:
            times = psutil.Process(self._process.pid).cpu_times()
        except psutil.NoSuchProcess:
            return float("inf")
        return float(times.user + times.system)

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.join()
        self._connection.close()


def run(numbers: range, fits: int, seed: int) -> dict[tuple[int, int], str]:
    """Return how every fit of the numbered data sets ended."""
    worker = Worker(seed)
    try:
        worker.fit(0, 0, 120)  # the first one waits for imports
        return {(number, fit): worker.fit(number, fit) for number in numbers for fit in range(fits)}
    finally:
        worker.close()


def main(arguments: list[str] | None = None) -> int:
    """Print the counts; return 1 if a fit did not end cleanly."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.estimators", description="Fit degenerate data sets.")
    parser.add_argument("--count", type=int, default=1650, help="how many data sets")
    parser.add_argument("--start", type=int, default=0, help="the number of the first one, for runs in pieces")
    parser.add_argument("--fits", type=int, default=7, help="how many fits of each")
    parser.add_argument("--seed", type=int, default=0, help="decides data and parameters")
    given = parser.parse_args(arguments)
    ended = run(range(given.start, given.start + given.count), given.fits, given.seed)
    counts = Counter(text.split(":")[0] for text in ended.values())
    words = ("clean", "traceback", "obscure", "warning", "denied", "hang", "crash")
    print(
        f"{len(ended)} fits of {given.count} data sets from {given.start}, seed {given.seed}, at most {SECONDS:g} s each"
    )
    print(", ".join(f"{counts[word]} {word}" for word in words))
    print(
        ", ".join(
            f"{count} {text[7:]}" for text, count in Counter(t for t in ended.values() if t.startswith("clean")).items()
        )
    )
    for (number, fit), text in ended.items():
        if not text.startswith("clean"):
            print(f"  {number}.{fit} {chosen(number, given.seed, fit)} on {make(number, given.seed)[2]}: {text}")
    return int(counts["clean"] < len(ended))


if __name__ == "__main__":
    sys.exit(main())
