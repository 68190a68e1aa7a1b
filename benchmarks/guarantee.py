"""The promise of RateGuarantee: how often it is broken, and MAPIE and scikit-learn on the same data.

The first part simulates calibration samples whose true errors are known (see `_guarantee_simulation`), the second compares with
what else sets a threshold under a floor of recall (see `_guarantee_peers`). Not part of ``make bench``; it takes some
three minutes and writes results/guarantee/.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks._guarantee_peers import compare
from benchmarks._guarantee_report import verdict, write
from benchmarks._guarantee_simulation import simulate
from benchmarks._shared import row

FOLDER = Path(__file__).parent.parent / "results" / "guarantee"


def run() -> Iterator[dict[str, Any]]:
    """Yield the time to calibrate beside that of the others, after all files are written."""
    rows, results = list(simulate()), list(compare())
    write(rows, results, FOLDER)
    broken = [one for one in rows if verdict(one, rows) != "kept"]
    ours = {(result.data, result.n): result for result in results if result.peer == "RateGuarantee"}
    for result in results:
        if result.peer != "RateGuarantee":
            mine = ours[result.data, result.n]
            yield row(f"{result.data}, n = {result.n}", result.peer, None, mine.seconds, result.seconds)
    if broken:
        raise AssertionError(f"the promise is broken in {len(broken)} situations: see {FOLDER / 'simulation.md'}")
