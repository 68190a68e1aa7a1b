"""From the cells of a table to a data set: every check that does not depend on the file's format.

Labels are text. They are kept exactly as they stand (without surrounding blanks), with one exception: where every
label of the column is a number, it is written in its plain form, so that 1, +1, 1.0 and 1e0 are the same label "1" in
every format. The positive label is compared after the same step.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mmc.datasets.dataset import DataError, DataSet
from mmc.words import nearest

MISSING = frozenset({"", "?", "na", "nan"})

_log = logging.getLogger("mmc.datasets")


@dataclass(frozen=True)
class Table:
    """The columns of a file: text cells, or floats with NaN where a cell is missing.

    ``lines`` says where each row stands in the file, so that an error can name it.
    """

    path: str
    names: Sequence[str]
    columns: Sequence[Sequence[str] | NDArray[np.float64]]
    lines: Sequence[int]

    def at(self, row: int, name: str) -> str:
        """Return the place of a cell as an error names it."""
        return f"{self.path}:{self.lines[row]}: column {name!r}"


def hint(word: str, words: Sequence[str]) -> str:
    """Return the nearest valid word, or as many of the valid ones as fit into a message."""
    return brief(nearest(word, words))


def brief(text: str, length: int = 300) -> str:
    """Return the text, cut where it would fill the screen."""
    return text if len(text) <= length else text[:length] + " …"


def build(
    table: Table,
    *,
    name: str,
    target: str,
    positive: str | None = None,
    missing: str = "drop",
    features: Sequence[str] | None = None,
    n_train: int | None = None,
) -> DataSet:
    """Return the data set that a table holds; raise DataError where it holds none."""
    _check_names(table)
    if target not in table.names:
        raise DataError(
            f"{table.path}: there is no target column {target!r} among the {len(table.names)} columns: "
            f"{hint(target, table.names)}"
        )
    chosen = _choose(table, target, features)
    if not len(table.lines):
        raise DataError(f"{table.path}: no rows below the column names; the file needs at least two classes of rows")

    by_name = dict(zip(table.names, table.columns, strict=True))
    labels = [str(cell).strip() for cell in by_name[target]]
    X = np.column_stack([_numbers(table, feature, by_name[feature]) for feature in chosen])
    gaps = np.isnan(X)
    unlabelled = np.array([label.lower() in MISSING for label in labels])
    keep = ~(gaps.any(axis=1) | unlabelled)
    dropped = int(len(keep) - keep.sum())
    if dropped and missing == "error":
        row = int(np.argmin(keep))
        column = target if unlabelled[row] else chosen[int(np.argmax(gaps[row]))]
        raise DataError(
            f"{table.at(row, column)}: the value is missing, as in {dropped} of {len(keep)} rows; fill them in, or set "
            "missing='drop' to leave these rows out"
        )
    if dropped:
        _log.info("%s: left out %d of %d rows that have missing cells", name, dropped, len(keep))
    if not keep.any():
        raise DataError(
            f"{table.path}: every one of the {len(keep)} rows has a missing cell; fill them in, or choose fewer "
            "columns with `features`"
        )
    y, positive = _plain([label for label, kept in zip(labels, keep, strict=True) if kept], positive)
    classes = sorted(set(y))
    if len(classes) < 2:
        raise DataError(
            f"{table.path}: column {target!r} has only one class, {classes[0]!r}, in its {len(y)} complete rows; "
            "a classifier needs two"
        )
    if positive is not None and positive not in classes:
        raise DataError(
            f"{table.path}: column {target!r} has no positive label {positive!r}; its labels are "
            + brief(", ".join(map(repr, classes)))
        )
    return DataSet(name, np.ascontiguousarray(X[keep]), np.array(y), tuple(chosen), positive, n_train, dropped)


def _check_names(table: Table) -> None:
    seen: set[str] = set()
    for number, column in enumerate(table.names, 1):
        if not column:
            raise DataError(
                f"{table.path}: column {number} has no name; name it, or leave it out (pandas writes its index like "
                "this unless told index=False)"
            )
        if column in seen:
            raise DataError(f"{table.path}: two columns are called {column!r}; rename or remove one of them")
        seen.add(column)


def _choose(table: Table, target: str, features: Sequence[str] | None) -> list[str]:
    if features is None:
        features = [column for column in table.names if column != target]
    for index, feature in enumerate(features):
        if feature not in table.names:
            raise DataError(f"{table.path}: there is no feature column {feature!r}: {hint(feature, table.names)}")
        if feature == target:
            raise DataError(f"{table.path}: the target {target!r} cannot be a feature too; take it out of `features`")
        if feature in features[:index]:
            raise DataError(f"{table.path}: `features` names {feature!r} twice; name it once")
    if not features:
        raise DataError(f"{table.path}: no feature columns beside the target {target!r}; at least one is needed")
    return list(features)


def _numbers(table: Table, name: str, cells: Sequence[str] | NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a column as floats, NaN where a cell is missing."""
    if isinstance(cells, np.ndarray):
        values = cells
    else:
        values = np.array(_fast(cells) or [_cell(table, name, row, cell) for row, cell in enumerate(cells)])
    infinite = np.isinf(values)
    if infinite.any():
        row = int(np.argmax(infinite))
        raise DataError(
            f"{table.at(row, name)}: {str(cells[row]).strip()!r} is not a finite number; correct it, or leave the "
            "cell empty if the value is missing"
        )
    return values


def _fast(cells: Sequence[str]) -> list[float] | None:
    """Return the cells of a plain column as floats at once, None if one of them needs a closer look."""
    whole = "".join(cells)
    if "_" in whole or not whole.isascii():  # float() takes 1_000 and other scripts' digits, a data file does not
        return None
    try:
        return list(map(float, cells))
    except ValueError:
        return None


def _cell(table: Table, name: str, row: int, cell: str) -> float:
    cell = cell.strip()
    if cell.lower() in MISSING:
        return math.nan
    value = _number(cell)
    if value is None:
        raise DataError(
            f"{table.at(row, name)}: {brief(cell, 60)!r} is not a number; encode the column as numbers, or list the "
            "columns to use under `features`"
        )
    return value


def _number(text: str) -> float | None:
    if "_" in text or not text.isascii():
        return None
    try:
        return float(text)
    except ValueError:
        return None


def _plain(labels: list[str], positive: object) -> tuple[list[str], str | None]:
    """Return labels and positive label, numbers in their plain form if all labels are numbers."""
    plain = {label: _plain_number(label) for label in set(labels)}
    positive = None if positive is None else str(positive).strip()
    if any(number is None for number in plain.values()):
        return labels, positive
    if positive is not None:
        positive = _plain_number(positive) or positive
    return [plain[label] or label for label in labels], positive


def _plain_number(text: str) -> str | None:
    value = _number(text)
    if value is None or not math.isfinite(value):
        return None
    if text.lstrip("+-").isdigit():
        return str(int(text))  # not through float: a long identifier keeps all its digits
    return str(int(value)) if value.is_integer() else repr(value)
