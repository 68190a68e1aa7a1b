"""Verdicts: each reported number beside its cell, and whether the paper's own protocol could have printed it."""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import TypeAlias

from mmc.experiments.cells import DIFFERS, INFEASIBLE, KNOWN, MATCH, NOT_RUN, Cell, Keys
from mmc.experiments.config import Deviation, Reported
from mmc.experiments.errors import ConfigError
from mmc.experiments.records import Json

CONFIDENCE = 0.99
RESERVED = ("metric", "value", "std")  # columns of a file of reported numbers that are no keys

Row: TypeAlias = dict[str, str | float]


def read_reported(path: Path, where: Keys) -> list[Row]:
    """Return the published numbers that belong to a table, their keys as numbers where they are numbers."""
    try:
        with path.open(newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise ConfigError(f"the reported numbers {path} cannot be read: {error}") from None
    for number, row in enumerate(rows, 2):
        _check_row(f"{path}:{number}", row)
    found: list[Row] = [{k: v if k in RESERVED else _number(v) for k, v in row.items()} for row in rows]
    return [row for row in found if matches(where, row)]


def _check_row(where: str, row: Mapping[str | None, str | None]) -> None:
    if None in row or None in row.values():
        raise ConfigError(f"{where}: this line has more or fewer fields than the heading")
    for name in ("metric", "value"):
        if name not in row:
            raise ConfigError(f"{where}: reported numbers need a column {name!r}")
    value = str(row["value"])
    if value != INFEASIBLE and not isinstance(_number(value), float):
        raise ConfigError(f"{where}: the value {value!r} is neither a number nor {INFEASIBLE}")


def _number(text: str) -> str | float:
    try:
        return float(text)
    except ValueError:
        return text


def compare(
    cells: Sequence[Cell],
    reported: Reported,
    datasets: Sequence[str],
    folder: Path,
    beside: Mapping[str, str] = MappingProxyType({}),
) -> list[Cell]:
    """Put each reported number beside its cell and judge it; a number without a cell is listed as not run.

    ``beside`` names methods that show the number of another one without being judged: other readings of the paper.
    """
    rows = read_reported(folder / "reported" / reported.file, reported.where)
    rows = [row for row in rows if "dataset" not in row or row["dataset"] in datasets]
    known = {*RESERVED, *reported.where}
    used: set[int] = set()
    out = []
    for cell in cells:
        method = cell.keys.get("method")
        wanted = {**cell.keys, "method": beside.get(str(method), method)}
        for index, row in enumerate(rows):
            keys = {k: v for k, v in row.items() if k not in known and v != ""}
            if row["metric"] == cell.metric and matches(keys, wanted):
                cell = replace(cell, reported=str(row["value"]), reported_std=str(row.get("std") or "") or None)
                if method not in beside:
                    used.add(index)
                    cell = _judged(cell, reported.repetitions, reported.deviations)
                break
        out.append(cell)
    for index, row in enumerate(rows):
        if index not in used:
            keys = {k: v for k, v in row.items() if k not in known}
            out.append(Cell(keys, str(row["metric"]), reported=str(row["value"]), verdict=NOT_RUN))
    return out


def _judged(cell: Cell, repetitions: int, deviations: Sequence[Deviation]) -> Cell:
    verdict = judge(cell, repetitions)
    if verdict == DIFFERS:
        for deviation in deviations:
            if matches(deviation.where, {**cell.keys, "metric": cell.metric}):
                return replace(cell, verdict=KNOWN, reason=deviation.reason, see=deviation.see)
    return replace(cell, verdict=verdict)


def judge(cell: Cell, repetitions: int) -> str:
    """Would the paper's protocol, with as many repetitions as the paper made, plausibly have printed its number?"""
    if cell.trials == 0 or cell.missing or cell.failed == cell.trials:
        return NOT_RUN
    if cell.reported == INFEASIBLE:
        return MATCH if cell.infeasible == cell.trials else DIFFERS
    if cell.difference is None:
        return DIFFERS
    return MATCH if abs(cell.difference) <= half_width(cell, repetitions) else DIFFERS


def half_width(cell: Cell, repetitions: int) -> float:
    """Return half the width of the prediction interval for the printed number, its rounding included.

    Of a single run it is the confidence interval of the measured number. Where the paper counted errors on the same test
    points that is generous: two fits of one problem differ on few of them.
    """
    from scipy.special import stdtrit

    n = len(cell.by_repetition)
    rounding = 0.5 * 10.0**-cell.decimals
    if n < 2:
        return float(stdtrit(cell.df, 0.5 + CONFIDENCE / 2)) * cell.sampling + rounding
    quantile = float(stdtrit(n - 1, 0.5 + CONFIDENCE / 2))
    return quantile * cell.std * math.sqrt(1 / repetitions + 1 / n) + rounding


def matches(wanted: Keys, given: Keys) -> bool:
    """Whether the given keys have every wanted value; a list means any of its items."""
    return all(key in given and _same(value, given[key]) for key, value in wanted.items())


def _same(a: Json, b: Json) -> bool:
    if isinstance(a, list):
        return any(_same(x, b) for x in a)
    if isinstance(a, (str, int, float)) and isinstance(b, (str, int, float)):
        try:
            return math.isclose(float(a), float(b), rel_tol=1e-9)
        except ValueError:
            pass
    return str(a) == str(b)
