"""What would have been feasible, where a cell has no classifier: the pair of rates nearest to the one asked for.

The distance of an infeasible pair is p − 1: it asks for p times what the data allow. With κ(η) = √((1 − η) / η) divided by p in
both classes it is just feasible, so that η becomes p²η / (p²η + 1 − η).
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from mmc.experiments.cells import Cell, Table

_SHOWN = 12


def nearest_pair(cell: Cell) -> tuple[float, float] | None:
    """Return the nearest rates that the data allow on average over the splits, rounded up; None where there are none."""
    asked = cell.keys.get("eta_pos"), cell.keys.get("eta_neg")
    if not cell.infeasible or cell.distance is None or not math.isfinite(cell.distance):
        return None
    if not all(isinstance(rate, (int, float)) for rate in asked):
        return None
    pos, neg = (_eased(float(str(rate)), 1 + cell.distance) for rate in asked)
    return pos, neg


def _eased(rate: float, times: float) -> float:
    eased = times**2 * rate / (times**2 * rate + 1 - rate)
    return min(math.ceil(eased * 100 - 1e-9) / 100, 1.0)


def feasible_instead(table: Table) -> Iterator[str]:
    """Yield for each infeasible pair of rates the nearest feasible one, methods with the same one together."""
    found: dict[tuple[str, str], list[str]] = {}
    for cell in table.cells:
        pair = nearest_pair(cell)
        if pair is None or cell.metric != table.metrics[0]:
            continue
        asked = _words(table, float(str(cell.keys["eta_pos"])), float(str(cell.keys["eta_neg"])))
        asked += f" on {cell.keys['dataset']}" if len({c.keys["dataset"] for c in table.cells}) > 1 else ""
        found.setdefault((asked, _words(table, *pair)), []).append(str(cell.keys["method"]))
    for (asked, instead), methods in list(found.items())[:_SHOWN]:
        yield f"Nearest to {asked} that the data allow, on average over the infeasible splits: {instead} ({', '.join(methods)})."
    if len(found) > _SHOWN:
        yield f"… and {len(found) - _SHOWN} more infeasible pairs."


def _words(table: Table, pos: float, neg: float) -> str:
    return f"{table.label('eta_pos')} = {pos:g}, {table.label('eta_neg')} = {neg:g}"
