"""Are the printed numbers of a table plausible together?

Each cell alone may lie inside its interval while all of them lie on one side. Let x be our mean over n repetitions, y the
printed vector, a mean of r runs, and s the standard deviations over repetitions. The statistic is

    Q = Σ_j (x_j − y_j)² / (s_j² (1/n + 1/r)),

each difference less what rounding explains. Cells of one table depend on each other, often more of them than there are
repetitions, so that Hotelling's T² does not exist. The distribution of Q is therefore simulated: repetitions and the
paper's run are drawn from a normal distribution with the covariance of our repetitions, and Q is computed from them anew. With
few repetitions this errs on the side of the paper.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from mmc.experiments.cells import Cell, Joint, Verdict
from mmc.experiments.records import Json

_DRAWS, _BLOCK = 4000, 250
_NUMBERS = (Verdict.MATCH, Verdict.WEAK, Verdict.FITTED, Verdict.DIFFERS)


def joint_tests(cells: Sequence[Cell], sweep: Collection[str] = ()) -> Iterator[Joint]:
    """Yield a test for every data set with at least two numbers that can be used.

    In a sweep over readings every reading has its own test: ``sweep`` are the keys that tell readings apart.
    """
    groups: dict[tuple[str, ...], list[Cell]] = defaultdict(list)
    for cell in cells:
        if cell.verdict and cell.verdict is not Verdict.NOT_RUN:
            reading = (_worded(key, cell.keys[key]) for key in sweep if key in cell.keys)
            groups[str(cell.keys.get("dataset", "")), *reading].append(cell)
    for place, judged in groups.items():
        used, unused = _usable(judged)
        if len(used) > 1:
            values = np.array([cell.by_repetition for cell in used]).T
            gaps = np.array([max(abs(cell.difference or 0.0) - 0.5 * 10.0**-cell.decimals, 0.0) for cell in used])
            runs = np.array([cell.runs for cell in used], dtype=float)
            yield Joint(place, p_value(values, gaps, runs), len(used), tuple(unused.items()))


def _worded(key: str, value: Json) -> str:
    return f"{key} = {value:g}" if isinstance(value, (int, float)) else str(value)


def _usable(cells: Sequence[Cell]) -> tuple[list[Cell], Mapping[str, int]]:
    """Return the cells that a joint test can use, and how many it cannot, by reason."""
    most = max(len(cell.by_repetition) for cell in cells)
    used: list[Cell] = []
    unused: dict[str, int] = defaultdict(int)
    for cell in cells:
        if cell.verdict not in _NUMBERS:
            unused[str(cell.verdict)] += 1
        elif cell.same_as:
            unused["repeated"] += 1
        elif len(cell.by_repetition) < max(most, 2):
            unused["of fewer draws"] += 1
        elif cell.std == 0:
            unused["without spread"] += 1
        else:
            used.append(cell)
    return used, unused


def p_value(values: NDArray[np.float64], gaps: NDArray[np.float64], runs: NDArray[np.float64]) -> float:
    """Return how often Q is at least as large as observed; ``values`` has a row per repetition, ``gaps`` is x − y."""
    n = len(values)
    root = (values - values.mean(axis=0)) / np.sqrt(n - 1)
    observed = float(np.sum(gaps**2 / (np.var(values, axis=0, ddof=1) * (1 / n + 1 / runs))))
    rng = np.random.default_rng(0)
    beyond = 0
    for _ in range(_DRAWS // _BLOCK):
        ours = rng.standard_normal((_BLOCK, n, n)) @ root
        theirs = rng.standard_normal((_BLOCK, n)) @ root / np.sqrt(runs)
        variance = np.maximum(ours.var(axis=1, ddof=1), np.finfo(float).tiny)
        q = np.sum((ours.mean(axis=1) - theirs) ** 2 / (variance * (1 / n + 1 / runs)), axis=1)
        beyond += int(np.sum(q >= observed))
    return (beyond + 1) / (_DRAWS + 1)
