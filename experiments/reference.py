"""The committed results of a config: written as CSV, and read back as the table that they are."""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

from mmc.datasets.bounds import check_plain
from mmc.experiments import files
from mmc.experiments.cells import Cell, Keys, Table
from mmc.experiments.config import Config
from mmc.experiments.data_facts import DataFacts, parse
from mmc.experiments.data_used import registered
from mmc.experiments.errors import ConfigError
from mmc.experiments.escape import spreadsheet
from mmc.experiments.folders import REFERENCE, last_run
from mmc.experiments.records import Json
from mmc.experiments.render import CSV_FIELDS, to_csv
from mmc.experiments.tables import cells_of, lay_out

_NOT_KEYS = {*CSV_FIELDS, "chosen"}

Line: TypeAlias = Mapping[str, str]


def write_reference(table: Table, folder: Path) -> None:
    """Keep a table as the reference of later checks."""
    files.write(folder / REFERENCE, to_csv(table))


def read_reference(folder: Path) -> dict[str, Line]:
    """Return the reference of a config by cell; raise ConfigError if there is none."""
    path = folder / REFERENCE
    hint = f"`mmc check {folder.name} --update` makes it from what is measured now"
    try:
        check_plain(path)
        with path.open(newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
    except OSError:
        raise ConfigError(f"{path}: there is no reference to compare with; {hint}") from None
    except (UnicodeDecodeError, csv.Error):
        raise ConfigError(f"{path}: the reference is damaged; {hint}") from None
    for number, row in enumerate(rows, 2):
        if missing := [name for name in CSV_FIELDS if row.get(name) is None]:
            raise ConfigError(f"{path}:{number}: no column {missing[0]!r}; make it anew with --update")
    return {where(row, row["metric"]): row for row in rows}


def kept_table(config: Config, folder: Path) -> Table:
    """Return the table of a folder of committed results."""
    return table_of(config, read_reference(folder), parse(last_run(folder).get("rows")))


def where(keys: Line, metric: str) -> str:
    """Return the name of a cell: its keys and its metric."""
    return " ".join(f"{key}={value}" for key, value in keys.items() if key not in _NOT_KEYS) + f" {metric}"


def keys_of(table: Table, cell: Cell) -> dict[str, str]:
    """Return the keys of a cell as a reference writes them."""
    return {spreadsheet(name): spreadsheet(str(cell.keys.get(name, ""))) for name in table.keys}


def table_of(config: Config, reference: Mapping[str, Line], facts: Sequence[DataFacts] = ()) -> Table:
    """Return the table that a reference holds, judged anew. Comparisons of methods need records: it has none.

    ``facts`` are those of its data where its run.json has them; of the registry's sets the classes are known without.
    """
    cells: Sequence[Cell] = list(cells_of(config.experiment, [], {}))
    layout = lay_out(config, cells)
    filled = [_filled(cell, reference.get(where(keys_of(layout, cell), cell.metric))) for cell in cells]
    return lay_out(config, filled, facts or registered(config))


def _filled(cell: Cell, line: Line | None) -> Cell:
    """Return a cell with the numbers of its line."""
    if line is None:
        return cell
    n = int(line["repetitions"])
    return replace(
        cell,
        by_repetition=_spread(float(line["mean"]), float(line["std"] or 0), n) if line["mean"] else (),
        draws=int(line["draws"]),
        trials=int(line["trials"]),
        infeasible=int(line["infeasible"]),
        failed=int(line["failed"]),
        missing=0,
        capped=int(line["capped"]),
        resolution=float(line["resolution"]),
        chosen=_chosen(line["chosen"]),
        distance=float(line["distance"]) if line["distance"] else None,
        sampling=float(line["se"]) if n == 1 and line["se"] else 0.0,
        df=float(line["df"]) if line["df"] else math.inf,
        discordant=int(line["discordant"]) if line["discordant"] else None,
    )


def _spread(mean: float, std: float, n: int) -> tuple[float, ...]:
    """Return n numbers with this mean and this standard deviation."""
    if n < 2:
        return (mean,) * n
    reach = std * (math.sqrt((n - 1) / n) if n % 2 == 0 else 1.0)
    sides = [mean + reach, mean - reach] * (n // 2)
    return tuple(sides if n % 2 == 0 else [*sides, mean])


def _chosen(text: str) -> Keys:
    """Return the grid point that was best, from "name=value name=value"."""
    return {name: _value(value) for name, _, value in (part.partition("=") for part in text.split())}


def _value(text: str) -> Json:
    try:
        return float(text)
    except ValueError:
        return text
