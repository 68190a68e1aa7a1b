"""The regression of measured numbers: a table run anew against the reference that is committed."""

from __future__ import annotations

import csv
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mmc.experiments import render
from mmc.experiments.errors import ConfigError, StoreError
from mmc.experiments.tables import Cell, Table

REFERENCE = "reference.csv"
_NUMBERS = ("mean", "std", "infeasible", "failed", "repetitions", "resolution")


@dataclass(frozen=True)
class Change:
    """A cell that moved beyond its tolerance."""

    where: str
    before: str
    after: str
    reported: str
    tolerance: float

    def __str__(self) -> str:
        reported = f", reported {self.reported}" if self.reported else ""
        return f"{self.where}: before {self.before}, after {self.after} (tolerance {self.tolerance:.2g}){reported}"


def write_reference(table: Table, folder: Path) -> None:
    """Keep a table as the reference of later checks."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / REFERENCE).write_text(render.to_csv(table), "utf-8")
    except OSError as error:
        raise StoreError(f"cannot write to the results folder {folder}: {error.strerror}") from None


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
    names = list(dict.fromkeys(["dataset", "method", *table.rows, *table.columns]))
    for cell in table.cells:
        where = _where({name: str(cell.keys.get(name, "")) for name in names}, cell.metric)
        seen.add(where)
        before = reference.get(where)
        if before is None:
            changes.append(Change(where, "absent", render.measured(cell), cell.reported or "", 0.0))
        elif (tolerance := _moved(cell, before)) is not None:
            changes.append(Change(where, _text(before), render.measured(cell), cell.reported or "", tolerance))
    changes += [
        Change(w, _text(row), "absent", row.get("reported", ""), 0.0) for w, row in reference.items() if w not in seen
    ]
    return changes


def _moved(cell: Cell, before: dict[str, str]) -> float | None:
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
    """Return what the reference's own rounding to six significant digits may hide, in the mean and in its tolerance."""
    return 10.0 ** (math.floor(math.log10(abs(written))) - 5) if written else 1e-9


def _where(row: dict[str, Any], metric: str) -> str:
    skip = {*render.CSV_FIELDS, "chosen"}
    return " ".join(f"{key}={value}" for key, value in row.items() if key not in skip) + f" {metric}"


def _text(row: dict[str, str]) -> str:
    if not row["mean"]:
        return "×" if int(row["infeasible"]) else "–"
    return f"{float(row['mean']):.2f} ± {float(row['std']):.2f}"
