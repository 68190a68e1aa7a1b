"""Verdicts: each reported number beside its cell, and whether the paper's own protocol could have printed it."""

from __future__ import annotations

import csv
import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import TypeAlias

from mmc.datasets.bounds import check_plain
from mmc.experiments.cells import INFEASIBLE, Cell, Keys, Verdict
from mmc.experiments.config import Elsewhere, Repeated, Reported
from mmc.experiments.errors import ConfigError
from mmc.experiments.places import fixed_by, matches
from mmc.experiments.runs import runs_of
from mmc.experiments.student import quantile

CONFIDENCE = 0.99
_POINTS = 5.0  # a wider interval than this hardly tells two percentages apart
RESERVED = ("metric", "value", "std")  # columns of a file of reported numbers that are no keys

Row: TypeAlias = dict[str, str | float]


def read_reported(path: Path, where: Keys) -> list[Row]:
    """Return the published numbers that belong to a table, their keys as numbers where they are numbers."""
    try:
        check_plain(path)
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

    ``beside`` names methods that show the number of another one without being judged: other readings of the paper. Numbers
    that another config judges are shown without a verdict, too.
    """
    rows = read_reported(folder / "reported" / reported.file, reported.where)
    rows = [row for row in rows if "dataset" not in row or row["dataset"] in datasets]
    found, rest = _beside(cells, rows, reported, beside)
    mine = [
        cell.reported is not None and cell.keys.get("method") not in beside and _elsewhere(cell, reported) is None
        for cell in found
    ]
    runs = runs_of([cell for cell, own in zip(found, mine, strict=True) if own], reported)
    out = []
    for cell, own in zip(found, mine, strict=True):
        if own:
            key = str(cell.keys.get("dataset", "")), cell.metric
            cell = _judged(replace(cell, runs=runs[key]), reported)
        elif cell.keys.get("method") not in beside and (other := _elsewhere(cell, reported)):
            cell = replace(cell, reason=other.reason, see=other.config)
        out.append(cell)
    rest = [cell for cell in rest if not _elsewhere(cell, reported)]
    return _repeated([*out, *rest], reported.duplicates)


def _elsewhere(cell: Cell, reported: Reported) -> Elsewhere | None:
    """Return which other config judges the number of a cell, if one does."""
    if cell.reported is None:
        return None
    place = {**reported.where, **cell.place, "metric": cell.metric}
    return next((other for other in reported.elsewhere if matches(other.where, place)), None)


def _beside(
    cells: Sequence[Cell], rows: Sequence[Row], reported: Reported, beside: Mapping[str, str]
) -> tuple[list[Cell], list[Cell]]:
    """Return the cells with the reported numbers that belong to them, and cells for numbers that belong to none."""
    known = {*RESERVED, *fixed_by(reported.where)}
    used: set[int] = set()
    out = []
    for cell in cells:
        method = cell.keys.get("method")
        wanted = {**cell.keys, "method": beside.get(str(method), method)}
        for index, row in enumerate(rows):
            keys = {k: v for k, v in row.items() if k not in known and v != ""}
            if row["metric"] == cell.metric and matches(keys, wanted):
                std = str(row.get("std") or "") or None
                cell = replace(cell, reported=str(row["value"]), reported_std=std, place=keys)
                if method not in beside:
                    used.add(index)
                break
        out.append(cell)
    rest = []
    for index, row in enumerate(rows):
        if index not in used:
            keys = {k: v for k, v in row.items() if k not in known}
            cell = Cell(keys, str(row["metric"]), reported=str(row["value"]), place=keys, verdict=Verdict.NOT_RUN)
            rest.append(cell)
    return out, rest


def _judged(cell: Cell, reported: Reported) -> Cell:
    """Return a cell with its verdict, and what the config says of it."""
    verdict = judge(cell)
    if cell.difference is not None:
        cell = replace(cell, half_width=half_width(cell))
    place = {**cell.keys, "metric": cell.metric}
    if verdict is Verdict.DIFFERS:
        for deviation in reported.deviations:
            if matches(deviation.where, place):
                return replace(cell, verdict=Verdict.KNOWN, reason=deviation.reason, see=deviation.see)
    elif verdict in (Verdict.MATCH, Verdict.WEAK):
        for constructed in reported.by_construction:
            if matches(constructed.where, place):
                return replace(cell, verdict=Verdict.CONSTRUCTED, reason=constructed.reason)
        for fitted in reported.fitted:
            if matches(fitted.where, place):
                reason = f"{fitted.setting} was chosen with the printed number in sight"
                reason += f": {fitted.note}" if fitted.note else ""
                return replace(cell, verdict=Verdict.FITTED, reason=reason, see=fitted.sweep)
    return replace(cell, verdict=verdict)


def judge(cell: Cell) -> Verdict:
    """Would the paper's protocol, with as many runs as the paper made, plausibly have printed its number?

    A match is weak if the interval is so wide that it hardly could have told: its half-width is more than 5 points, or more
    than half the error (the printed one, the measured one or one test point, whichever is the largest).
    """
    if cell.trials == 0 or cell.missing or cell.failed == cell.trials:
        return Verdict.NOT_RUN
    if cell.reported == INFEASIBLE:
        return Verdict.INFEASIBLE if cell.infeasible == cell.trials else Verdict.DIFFERS
    if cell.difference is None or cell.mean is None or cell.printed is None:
        return Verdict.DIFFERS
    wide = half_width(cell)
    if abs(cell.difference) > wide:
        return Verdict.DIFFERS
    error = max(abs(cell.printed - cell.perfect), abs(cell.mean - cell.perfect), cell.worth)
    return Verdict.WEAK if wide > error / 2 or (cell.percent and wide > _POINTS) else Verdict.MATCH


def half_width(cell: Cell) -> float:
    """Return half the width of the interval around the measured number in which the printed one matches.

    Over repetitions it is the prediction interval for a mean of the paper's runs. A single run was counted on the paper's own
    test points, where two fits of one problem differ on few: the yardstick is the number of points on which the most similar
    other method decides otherwise, or the standard error where there is none. The rounding of the printed number is added.
    """
    n = len(cell.by_repetition)
    rounding = 0.5 * 10.0**-cell.decimals
    if n >= 2:
        reach = quantile(n - 1, 0.5 + CONFIDENCE / 2)
        return reach * cell.std * math.sqrt(1 / cell.runs + 1 / n) + rounding
    if cell.discordant is not None:
        return quantile(math.inf, 0.5 + CONFIDENCE / 2) * math.sqrt(cell.discordant) * cell.worth + rounding
    return quantile(cell.df, 0.5 + CONFIDENCE / 2) * cell.sampling + rounding


def _repeated(cells: Sequence[Cell], declared: Sequence[Repeated]) -> list[Cell]:
    """Mark the cells whose reported number says nothing that another one does not."""
    out = []
    for index, cell in enumerate(cells):
        if cell.verdict is Verdict.INFEASIBLE and (
            twin := next((c for c in cells[:index] if c.place == cell.place and c.verdict is cell.verdict), None)
        ):
            cell = replace(cell, same_as=twin.metric)
        for repeated in declared if cell.verdict and not cell.same_as else ():
            if matches(repeated.where, _place(cell)):
                cell = replace(cell, same_as=_origin(cell, cells, repeated.of))
        out.append(cell)
    return out


def _origin(cell: Cell, cells: Sequence[Cell], of: Keys) -> str:
    """Return the names of the cells that a cell repeats, or nothing if it does not: they must be there, and printed equal."""
    follows = any(isinstance(value, list) for value in of.values())
    choices = list(itertools.product(*(value if isinstance(value, list) else [value] for value in of.values())))
    for values in choices:
        wanted = {**_place(cell), **dict(zip(of, values, strict=True))}
        twins = [twin for twin in cells if twin.verdict and _place(twin) == wanted]
        if not twins or not (follows or twins[0].reported == cell.reported):
            return ""
    return " and ".join(" ".join(map(str, values)) for values in choices)


def _place(cell: Cell) -> Keys:
    return {**cell.place, "metric": cell.metric}
