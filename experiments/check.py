"""The regression of measured numbers: a table run anew against the reference that is committed.

The splits are the same, so that every number is the same but for what another processor's rounding flips. Eight tables, 500
cells of all papers, were run under OpenBLAS's kernels for Sandybridge, Haswell, Zen and SkylakeX (OPENBLAS_CORETYPE): not one
test point was classified otherwise, and what is read off fits moved by less than 1e-6. One point is allowed for the rest.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from mmc.experiments.cells import Cell, Table
from mmc.experiments.layout import measured
from mmc.experiments.reference import Line, keys_of, where

FLIPS = 1  # test points that may be classified otherwise, over all repetitions of a cell
_CERTIFIED = 1e-6  # the gap that solvers are asked for: what is read off a fit is known no better
_ONE_SIDED = 1e-3  # cells that move to one side with less than this probability are no rounding
_EVERYWHERE = "all"


@dataclass(frozen=True)
class Change:
    """A cell that is not as it was: ``what`` of it, and by how much, where there are two means to compare."""

    keys: Mapping[str, str]
    metric: str
    before: str
    after: str
    tolerance: float = 0.0
    moved: float | None = None
    reported: str = ""
    what: str = "mean"

    def __str__(self) -> str:
        reported = f", reported {self.reported}" if self.reported else ""
        place = where(self.keys, self.metric)
        return f"{place}: before {self.before}, after {self.after} (tolerance {self.tolerance:.2g}){reported}"


def compare(table: Table, reference: Mapping[str, Line]) -> list[Change]:
    """Return the cells that moved, appeared or vanished, and metrics whose cells moved to one side together.

    A mean may move by what ``FLIPS`` test points change, its spread accordingly. Feasibility, the chosen grid point, the
    number of capped fits and the verdict must not change.
    """
    changes = []
    seen = set()
    drifts: dict[str, list[float]] = defaultdict(list)
    for cell in table.cells:
        keys = keys_of(table, cell)
        place = where(keys, cell.metric)
        seen.add(place)
        before = reference.get(place)
        if before is None:
            changes.append(Change(keys, cell.metric, "absent", measured(cell), reported=cell.reported or ""))
            continue
        changes += list(_moved(keys, cell, before))[:1]
        if (
            cell.mean is not None and before["mean"] and 0 < cell.resolution < math.inf
        ):  # no two runs take the same time
            drifts[cell.metric].append(_beyond(cell.mean - float(before["mean"]), _rounding(float(before["mean"]))))
    for place, row in reference.items():
        if place not in seen:
            keys = {name: row.get(name, "") for name in table.keys}
            changes.append(Change(keys, row["metric"], _text(row), "absent", reported=row["reported"]))
    return changes + list(_drifted(table, drifts))


def _moved(keys: Mapping[str, str], cell: Cell, before: Line) -> Iterator[Change]:
    """Yield what is different about a cell, the most telling first."""
    reported = cell.reported or ""
    old = float(before["mean"]) if before["mean"] else None
    allowed = FLIPS * float(before["resolution"])
    n = max(int(before["repetitions"]), 1)
    shown = _text(before, cell.decimals), measured(cell)
    counts = {name: (before[name], str(getattr(cell, name))) for name in ("infeasible", "failed", "draws")}
    if (old is None) != (cell.mean is None) or any(was != now for was, now in counts.values()):
        yield Change(keys, cell.metric, *shown, allowed, None, reported, "feasibility")
    if old is not None and cell.mean is not None:
        moved = cell.mean - old
        if abs(moved) > allowed + _rounding(old):
            yield Change(keys, cell.metric, *shown, allowed, moved, reported)
        spread, was = allowed * math.sqrt(n), float(before["std"] or 0)
        if abs(cell.std - was) > spread + _rounding(was):
            yield Change(keys, cell.metric, *shown, spread, None, reported, "spread")
    for what, now in (("capped", str(cell.capped)), ("chosen", _chosen(cell)), ("verdict", str(cell.verdict))):
        if before[what] != now:
            yield Change(keys, cell.metric, f"{what}: {before[what] or '–'}", now or "–", 0.0, None, reported, what)


def _drifted(table: Table, drifts: Mapping[str, list[float]]) -> Iterator[Change]:
    """Yield the metrics whose cells moved to one side together, each perhaps by less than it may (a sign test)."""
    from scipy.special import bdtr

    for metric, moves in drifts.items():
        up, down = sum(move > 0 for move in moves), sum(move < 0 for move in moves)
        p = min(1.0, 2 * float(bdtr(min(up, down), up + down, 0.5))) if up + down else 1.0
        if p < _ONE_SIDED:
            keys = dict.fromkeys(table.keys, _EVERYWHERE)
            after = f"{up} cells up, {down} down"
            yield Change(keys, metric, f"sign test: p = {p:.1g}", after, _ONE_SIDED, None, "", "sign test")


def _beyond(move: float, rounding: float) -> float:
    """Return a move, or 0 if the digits of the reference may hide it."""
    return move if abs(move) > rounding else 0.0


def _rounding(written: float) -> float:
    """Return what the reference's own rounding to six significant digits may hide, and at least what a solver may."""
    return max(10.0 ** (math.floor(math.log10(abs(written))) - 5) if written else 0.0, _CERTIFIED)


def _chosen(cell: Cell) -> str:
    return " ".join(f"{key}={value}" for key, value in cell.chosen.items())


def _text(row: Line, decimals: int = 2) -> str:
    """Return a row of the reference as ``measured`` writes a cell."""
    infeasible, failed, trials = (int(row[name] or 0) for name in ("infeasible", "failed", "trials"))
    if not row["mean"]:
        return "×" + (f" {infeasible}/{trials}" if infeasible < trials else "") if infeasible else "–"
    text = f"{float(row['mean']):.{decimals}f} ± {float(row['std']):.{decimals}f}"
    text += f" (× {infeasible}/{trials})" if infeasible else ""
    text += f" (! {failed}/{trials})" if failed else ""
    return text + ("†" if int(row["capped"] or 0) else "")
