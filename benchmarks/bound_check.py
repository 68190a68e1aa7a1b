"""The check of a bound: how often `fit` warns of bounds that hold, or is silent about broken ones, and what the check costs.

See `_bound_simulation`. Not part of ``make bench``; it takes some ten minutes and writes results/bound_check/.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks._bound_report import verdict, write
from benchmarks._bound_simulation import METHODS, SETTINGS, gaussian, simulate
from benchmarks._shared import quickest, row
from mmc.methods.estimated_moments import MomentMethod
from mmc.methods.numerics.kernels import Array

FOLDER = Path(__file__).parent.parent / "results" / "bound_check"


def run() -> Iterator[dict[str, Any]]:
    """Yield the time of a fit beside that of the same fit without the check, after all files are written."""
    rows = list(simulate())
    write(rows, FOLDER)
    y = np.repeat([0, 1], 100)
    X = np.vstack([gaussian(np.random.default_rng(0), label, 100, 8) for label in (0, 1)])
    for name, make in METHODS.items():
        for setting in ("linear, auto", "rbf, auto"):
            model = make(**SETTINGS[setting])
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                checked = quickest(partial(model.fit, X, y), 9, time.process_time)[0]
                alone = quickest(partial(_unchecked, model, X, y), 9, time.process_time)[0]
            yield row(f"{name}, {setting}, 200 points", "the same without the check", None, checked, alone)
    wrong = [one for one in rows if verdict(one, rows) != "ok"]
    if wrong:
        raise AssertionError(f"too many false alarms in {len(wrong)} situations: see {FOLDER / 'simulation.md'}")


def _unchecked(model: MomentMethod, X: Array, y: NDArray[np.int64]) -> None:
    """Fit as in a grid, where nothing is checked."""
    list(model.fit_path(X, y, [{}]))
