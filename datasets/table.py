"""From the cells of a table to a data set: every check that does not depend on the file's format."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from itertools import compress
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

import mmc.datasets.categories as categories
from mmc.datasets.bounds import Limit
from mmc.datasets.cells import Notation, label_array, plain_labels
from mmc.datasets.dataset import DataError, DataSet
from mmc.labels import ordered
from mmc.words import nearest

Column = Sequence[str] | NDArray[np.float64]

_log = logging.getLogger("mmc.datasets")


class Lines(Protocol):
    """The line of each row."""

    def __len__(self) -> int: ...
    def __getitem__(self, row: int, /) -> int: ...


@dataclass(frozen=True)
class Table:
    """The columns of a file: text cells, or floats with NaN where a cell is missing.

    ``lines`` says where each row stands in the file, so that an error can name it.
    """

    path: str
    names: Sequence[str]
    columns: Sequence[Column]
    lines: Lines

    def at(self, row: int, name: str) -> str:
        """Return the place of a cell as an error names it."""
        return f"{self.path}:{self.lines[row]}: column {name!r}"


@dataclass(frozen=True)
class Wanted:
    """What a caller wants of a table; see ``load_file``."""

    target: str
    positive: object = None
    features: Sequence[str] | None = None
    drop: Collection[str] = ()
    missing: str = "drop"
    encode: bool | Collection[str] = False
    notation: Notation = field(default_factory=Notation)
    limit: Limit = field(default_factory=Limit)


def hint(word: str, words: Collection[str], longest: int = 60) -> str:
    """Return the nearest valid word, or as many of the valid ones as fit into a message."""
    printable = [word if word.isprintable() else repr(word) for word in words]
    short = [word for word in printable if len(word) <= longest]  # comparing long ones takes very long
    return brief(nearest(word[:longest], short or printable[:1]))


def brief(text: str, length: int = 300) -> str:
    """Return the text, cut where it would fill the screen."""
    return text if len(text) <= length else text[:length] + " …"


def build(table: Table, name: str, wanted: Wanted, n_train: int | None = None) -> DataSet:
    """Return the data set that a table holds; raise DataError where it holds none."""
    _check_names(table)
    target, path = wanted.target, table.path
    if target not in table.names:
        raise DataError(
            f"{path}: there is no target column {brief(target, 60)!r} among the {len(table.names)} columns: "
            f"{hint(target, table.names)}"
        )
    chosen = _choose(table, wanted)
    if not len(table.lines):
        raise DataError(f"{path}: no rows below the column names; the file needs at least two classes of rows")

    by_name = dict(zip(table.names, table.columns, strict=True))
    labels = [str(cell).strip() for cell in by_name[target]]
    encoded = [(feature, _encode(table, feature, by_name[feature], wanted)) for feature in chosen]
    origins = [feature for feature, columns in encoded for _ in columns]
    names = tuple(column for _, columns in encoded for column in columns)
    X = _matrix(table, [values for _, columns in encoded for values in columns.values()], wanted.limit)
    gaps = np.isnan(X)
    keep = _complete(table, labels, gaps, origins, wanted)
    dropped = len(keep) - int(keep.sum())
    if dropped:
        _log.info("%s: left out %d of %d rows that have missing cells", name, dropped, len(keep))
        X, gaps = X[keep], gaps[keep]
    imputed = _impute(path, X, gaps, origins)
    if imputed:
        _log.info("%s: filled in %d missing cells by the mean of their column", name, imputed)
    y, positive = _labels(table, list(compress(labels, keep)), wanted)
    return DataSet(name, X, label_array(y), names, positive, n_train, dropped, imputed=imputed)


def _check_names(table: Table) -> None:
    seen: set[str] = set()
    for number, column in enumerate(table.names, 1):
        if not column:
            raise DataError(
                f"{table.path}: column {number} has no name; name it, or leave it out (pandas writes its index like "
                "this unless told index=False)"
            )
        if column in seen:
            raise DataError(f"{table.path}: two columns are called {brief(column, 60)!r}; rename or remove one of them")
        seen.add(column)


def _choose(table: Table, wanted: Wanted) -> list[str]:
    """Return the columns that become features."""
    known, target = set(table.names), wanted.target
    features = [column for column in table.names if column != target] if wanted.features is None else wanted.features
    encode = () if isinstance(wanted.encode, bool) else wanted.encode
    for option, columns in (("features", features), ("drop", wanted.drop), ("encode", encode)):
        for column, count in Counter(columns).items():
            if column not in known:
                what = "feature column" if option == "features" else f"column to {option}:"
                raise DataError(f"{table.path}: there is no {what} {column!r}: {hint(column, table.names)}")
            if column == target:
                what = (
                    "cannot be a feature too" if option == "features" else f"is needed for the labels, not to {option}"
                )
                raise DataError(f"{table.path}: the target {target!r} {what}; take it out of `{option}`")
            if count > 1:
                raise DataError(f"{table.path}: `{option}` names {column!r} twice; name it once")
    left_out = set(wanted.drop)
    for column in wanted.features or ():
        if column in left_out:
            raise DataError(f"{table.path}: {column!r} is in `features` and in `drop`; take it out of one of them")
    chosen = [column for column in features if column not in left_out]
    if not chosen:
        raise DataError(f"{table.path}: no feature columns beside the target {target!r}; at least one is needed")
    return chosen


def _encode(table: Table, name: str, cells: Column, wanted: Wanted) -> dict[str, NDArray[np.float64]]:
    """Return a column of the file as columns of floats, NaN where a cell is missing: itself, or one per category."""
    notation = wanted.notation
    values = cells if isinstance(cells, np.ndarray) else notation.numbers(cells)
    asked = not isinstance(wanted.encode, bool) and name in wanted.encode
    if asked or (isinstance(values, int) and wanted.encode is True):
        texts = [str(cell).removesuffix(".0") for cell in cells.tolist()] if isinstance(cells, np.ndarray) else cells
        return categories.encode(f"{table.path}: column {name!r}", name, texts, notation)
    if isinstance(values, int):
        cell = str(cells[values]).strip()
        raise DataError(
            f"{table.at(values, name)}: {brief(cell, 60)!r} is not a number; {notation.advice(brief(cell, 60))}"
        )
    infinite = np.isinf(values)
    if infinite.any():
        row = int(np.argmax(infinite))
        raise DataError(
            f"{table.at(row, name)}: {brief(str(cells[row]).strip(), 60)!r} is not a finite number; correct it, or leave "
            "the cell empty if the value is missing"
        )
    codes = notation.codes
    return {name: np.where(np.isin(values, codes), np.nan, values) if codes else values}


def _matrix(table: Table, columns: Sequence[NDArray[np.float64]], limit: Limit) -> NDArray[np.float64]:
    """Return the columns side by side."""
    if not columns:
        raise DataError(f"{table.path}: every feature column has the same text in all its rows; at least one must vary")
    limit.check(8 * len(table.lines) * len(columns), f"{table.path} as a table of numbers")
    X = np.empty((len(table.lines), len(columns)))
    for index, values in enumerate(columns):
        X[:, index] = values
    return X


def _complete(
    table: Table, labels: Sequence[str], gaps: NDArray[np.bool_], origins: Sequence[str], wanted: Wanted
) -> NDArray[np.bool_]:
    """Return which rows are used: those with a label and, unless gaps are filled in, without a gap."""
    absent = {label for label in set(labels) if wanted.notation.absent(label)}
    unlabelled = np.array([label in absent for label in labels])
    keep = ~unlabelled if wanted.missing == "impute" else ~(unlabelled | gaps.any(axis=1))
    if wanted.missing == "error" and not keep.all():
        row = int(np.argmin(keep))
        column = wanted.target if unlabelled[row] else origins[int(np.argmax(gaps[row]))]
        raise DataError(
            f"{table.at(row, column)}: the value is missing, as in {int((~keep).sum())} of {len(keep)} rows; fill them in, "
            "or set missing='drop' to leave these rows out, or missing='impute' to fill in the column's mean"
        )
    if not keep.any():
        raise DataError(
            f"{table.path}: every one of the {len(keep)} rows has a missing cell; fill them in, or choose fewer "
            "columns with `features`"
        )
    return keep


def _impute(path: str, X: NDArray[np.float64], gaps: NDArray[np.bool_], origins: Sequence[str]) -> int:
    """Fill in the mean of each column where it has gaps; return how many cells of the file these are."""
    cells = {}
    for index in np.flatnonzero(gaps.any(axis=0)).tolist():
        gap, values = gaps[:, index], X[:, index]
        present = values[~gap]
        if not len(present):
            raise DataError(
                f"{path}: column {origins[index]!r} has no value that its missing cells could be filled in with; leave it "
                "out with `drop`"
            )
        values[gap] = np.sum(present / len(present))  # divided first: the sum of large numbers may be infinite
        cells[origins[index]] = int(gap.sum())
    return sum(cells.values())


def _labels(table: Table, labels: Sequence[str], wanted: Wanted) -> tuple[list[str], str | None]:
    """Return labels and positive label; raise DataError unless there are two classes, and one of them is positive."""
    y, positive = plain_labels(labels, wanted.positive)
    classes = ordered(y)
    if len(classes) < 2:
        raise DataError(
            f"{table.path}: column {wanted.target!r} has only one class, {brief(classes[0], 60)!r}, in its {len(y)} complete "
            "rows; a classifier needs two"
        )
    if positive is not None and positive not in classes:
        raise DataError(
            f"{table.path}: column {wanted.target!r} has no positive label {positive!r}; its labels are "
            + brief(", ".join(map(repr, classes)))
        )
    return y, positive
