"""How many runs a printed mean is of, at least: what its digits say.

One run counts k errors on N points, so that it can print 100 k / N only. 82.5 % of 270 points is no whole count: the paper
averaged over several runs. A few numbers may be misprinted: 16 of 137 points are 11.68 %, and Table 1 of Nath & Bhattacharyya has
11.69 among its whole counts of one run. So a tenth of the numbers may break the rule.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence

from mmc.experiments.cells import Cell
from mmc.experiments.config import Reported

_MOST = 100
_MISPRINTED = 0.1


def possible(printed: str, points: int) -> bool:
    """Whether some whole count of so many points is printed like this, in %."""
    value, half = float(printed), 0.5 * 10.0 ** -len(printed.partition(".")[2])
    slack = 1e-9 * points
    return math.ceil((value - half) * points / 100 - slack) <= math.floor((value + half) * points / 100 + slack)


def fewest_runs(printed: Sequence[tuple[str, int]], least: int = 1) -> int | None:
    """Return the smallest number of runs that can print nine in ten of these (number, points of one run).

    None: not even a hundred runs can.
    """
    for runs in range(least, _MOST + 1):
        wrong = sum(not possible(number, runs * points) for number, points in printed)
        if wrong <= _MISPRINTED * len(printed):
            return runs
    return None


def runs_of(cells: Sequence[Cell], reported: Reported) -> Mapping[tuple[str, str], int]:
    """Return for each data set and metric how many runs the printed means are of.

    The config states at least so many; the digits of a data set's rates, which are of the same runs, may ask for more.
    """
    rates: dict[str, dict[str, tuple[str, int]]] = defaultdict(dict)
    for cell in cells:  # a sweep shows every printed number several times
        if cell.percent and cell.by_repetition and cell.printed is not None and 0 < cell.worth <= 100:
            place = f"{cell.keys if not cell.place else cell.place} {cell.metric}"
            rates[_dataset(cell)][place] = str(cell.reported), round(100 / cell.worth)
    found = {}
    for cell in cells:
        stated = reported.repetitions
        least = stated if isinstance(stated, int) else stated.get(cell.metric, 1)
        found[_dataset(cell), cell.metric] = fewest_runs(list(rates[_dataset(cell)].values()), least) or least
    return found


def _dataset(cell: Cell) -> str:
    return str(cell.keys.get("dataset", ""))
