"""The regression of measured numbers: a table run anew against the reference that is committed."""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from mmc.experiments import files
from mmc.experiments.cells import Cell, Table
from mmc.experiments.errors import ConfigError
from mmc.experiments.escape import spreadsheet
from mmc.experiments.layout import measured
from mmc.experiments.render import CSV_FIELDS, to_csv

REFERENCE = "reference.csv"
_NOT_KEYS = {*CSV_FIELDS, "chosen"}
_NUMBERS = ("mean", "std", "infeasible", "failed", "repetitions", "resolution")
_CERTIFIED = 1e-6  # the gap that solvers are asked for: what is read off a fit is known no better


@dataclass(frozen=True)
class Change:
    """A cell that moved beyond its tolerance: by how much, where there are two means to compare."""

    keys: Mapping[str, str]
    metric: str
    before: str
    after: str
    tolerance: float = 0.0
    moved: float | None = None
    reported: str = ""

    def __str__(self) -> str:
        reported = f", reported {self.reported}" if self.reported else ""
        where = _where(self.keys, self.metric)
        return f"{where}: before {self.before}, after {self.after} (tolerance {self.tolerance:.2g}){reported}"


def write_reference(table: Table, folder: Path) -> None:
    """Keep a table as the reference of later checks."""
    files.write(folder / REFERENCE, to_csv(table))


def read_reference(folder: Path) -> dict[str, dict[str, str]]:
    """Return the reference of a config by cell; raise ConfigError if there is none."""
    path = folder / REFERENCE
    try:
        with path.open(newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
    except OSError:
        hint = f"`mmc check {folder.name} --update` makes it from what is measured now"
        raise ConfigError(f"{path}: there is no reference to compare with; {hint}") from None
    for number, row in enumerate(rows, 2):
        if missing := [name for name in (*_NUMBERS, "metric") if name not in row]:
            raise ConfigError(f"{path}:{number}: no column {missing[0]!r}; make it anew with --update")
    return {_where(row, row["metric"]): row for row in rows}


def compare(table: Table, reference: dict[str, dict[str, str]]) -> list[Change]:
    """Return the cells that moved, appeared or vanished.

    The tolerance of a cell is the standard error of its mean (how far the number is uncertain anyway), and at least
    one test point's worth of rounding: what another machine's arithmetic may flip. Feasibility must not change.
    """
    changes = []
    seen = set()
    for cell in table.cells:
        keys = {name: spreadsheet(str(cell.keys.get(name, ""))) for name in table.keys}
        where = _where(keys, cell.metric)
        seen.add(where)
        before = reference.get(where)
        after = measured(cell)
        if before is None:
            changes.append(Change(keys, cell.metric, "absent", after, reported=cell.reported or ""))
        elif (tolerance := _exceeded(cell, before)) is not None:
            old = float(before["mean"]) if before["mean"] else None
            moved = None if old is None or cell.mean is None else cell.mean - old
            text = _text(before, cell.decimals)
            changes.append(Change(keys, cell.metric, text, after, tolerance, moved, cell.reported or ""))
    for where, row in reference.items():
        if where not in seen:
            keys = {name: value for name, value in row.items() if name not in _NOT_KEYS}
            changes.append(Change(keys, row["metric"], _text(row), "absent", reported=row.get("reported", "")))
    return changes


def _exceeded(cell: Cell, before: dict[str, str]) -> float | None:
    """Return the tolerance that a cell has exceeded, or None."""
    count = max(int(before["repetitions"]), 1)
    tolerance = max(float(before["std"] or 0) / math.sqrt(count), float(before["resolution"]))
    old = float(before["mean"]) if before["mean"] else None
    if (old is None) != (cell.mean is None):
        return tolerance
    if (cell.infeasible, cell.failed) != (int(before["infeasible"]), int(before["failed"])):
        return tolerance
    if old is not None and cell.mean is not None and abs(cell.mean - old) > tolerance + _rounding(old):
        return tolerance
    return None


def _rounding(written: float) -> float:
    """Return what the reference's own rounding to six significant digits may hide, and at least what a solver may."""
    return max(10.0 ** (math.floor(math.log10(abs(written))) - 5) if written else 0.0, _CERTIFIED)


def _where(row: Mapping[str, str], metric: str) -> str:
    return " ".join(f"{key}={value}" for key, value in row.items() if key not in _NOT_KEYS) + f" {metric}"


def _text(row: dict[str, str], decimals: int = 2) -> str:
    """Return a row of the reference as ``measured`` writes a cell."""
    infeasible, failed, trials = (int(row.get(name) or 0) for name in ("infeasible", "failed", "trials"))
    if not row["mean"]:
        return "×" + (f" {infeasible}/{trials}" if infeasible < trials else "") if infeasible else "–"
    text = f"{float(row['mean']):.{decimals}f} ± {float(row['std']):.{decimals}f}"
    text += f" (× {infeasible}/{trials})" if infeasible else ""
    text += f" (! {failed}/{trials})" if failed else ""
    return text + ("†" if int(row.get("capped") or 0) else "")
