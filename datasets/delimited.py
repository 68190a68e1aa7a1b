"""CSV and TSV: column names in the first line, quoted cells as RFC 4180 has them.

Python's csv module decides what a file holds and where an error is. A large file is read by pyarrow, faster and in less
memory; whatever pyarrow refuses is left to Python.
"""

from __future__ import annotations

import csv
import logging
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from mmc.datasets.dataset import DataError, reason
from mmc.datasets.reader import Reader, Source
from mmc.datasets.table import Column, Table

LARGE = 1 << 22  # bytes; below, importing pyarrow takes longer than reading
FEW = 200  # rows; below, pyarrow takes longer for many columns, and without end for millions of them
_SEPARATORS = (",", ";", "\t", "|")

_log = logging.getLogger("mmc.datasets")


@dataclass(frozen=True)
class LinesOnDemand:
    """The lines on which the rows of a large file begin, looked up when an error needs one."""

    source: Source
    separator: str
    count: int

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, row: int) -> int:
        return next(islice(_rows(self.source, self.separator), row + 1, None))[0]  # the first is the header


def read(source: Source, usual: str = ",") -> Table:
    """Return the table in the file; raise DataError for a row that does not fit the header."""
    separator = _separator(source, usual)
    if len(source.data) >= max(LARGE, FEW * (source.data.find(b"\n") + 1 or len(source.data))):
        import mmc.datasets.quick_csv as quick_csv

        names = _header(source, separator)
        quick = quick_csv.read(source, separator, names)
        if quick and _well_formed(source, separator):
            return Table(source.path, names, quick, LinesOnDemand(source, separator, len(quick[0])))
    lines: list[int] = []
    rows: list[list[str]] = []
    for line, row in _rows(source, separator):
        lines.append(line)
        rows.append(row)
        source.check_cells(len(rows), len(rows) * len(row))
    if not rows:
        raise DataError(f"{source.path} is empty; its first line must hold the column names")
    names = [name.strip() for name in rows[0]]
    columns: list[Column] = list(zip(*rows[1:], strict=True))
    return Table(source.path, names, columns or [()] * len(names), lines[1:])


def _rows(source: Source, separator: str) -> Iterator[tuple[int, list[str]]]:
    """Yield each row that is not blank with the line it begins on; raise DataError for one that does not fit the first."""
    reader = csv.reader(source.lines(newline=""), delimiter=separator, strict=True)
    width = end = 0
    try:
        for row in reader:
            start, end = end + 1, reader.line_num  # a quoted cell may run over several lines
            if not row or (len(row) == 1 and not row[0].strip()):
                continue
            width = width or len(row)
            if len(row) != width:
                raise DataError(
                    f"{source.path}:{start}: {len(row)} cells where the header has {width} columns; add or remove "
                    "cells, or quote the cell that contains the separator"
                )
            yield start, row
    except csv.Error as error:
        raise DataError(f"{source.path}:{end + 1}: not a well-formed row ({reason(error)}); check its quotes") from None


def _well_formed(source: Source, separator: str) -> bool:
    """Return True if Python agrees that every quote is in its place, which pyarrow does not check; raise DataError if not."""
    return b'"' not in source.data or all(True for _ in _rows(source, separator))


def _separator(source: Source, usual: str) -> str:
    """Return the stated separator, else the one that finds the target in the first line, the usual one before all others."""
    if source.separator is not None:
        stated = source.separator.replace("\\t", "\t")
        if len(stated) != 1 or stated in '"\r\n\0':
            raise DataError(f"separator={source.separator!r} is no separator; it is one character, like ';' or '\\t'")
        if stated == source.notation.decimal:
            raise DataError(f"separator and decimal sign cannot both be {stated!r}; change one of them")
        return stated
    headers = {separator: _header(source, separator) for separator in (usual, *_SEPARATORS)}
    found = [separator for separator, names in headers.items() if source.target in names]
    if not found and len(headers[usual]) < 2:
        found = [max(headers, key=lambda separator: len(headers[separator]))]
    if not found or found[0] == usual:
        return usual
    _log.info("%s: taking %r as the separator of its cells", source.path, found[0])
    return found[0]


def _header(source: Source, separator: str) -> list[str]:
    """Return the names in the first line, none if there is no such line."""
    try:
        return [name.strip() for name in next(_rows(source, separator), (0, []))[1]]
    except DataError:
        return []


_OPTIONS = frozenset({"separator", "decimal", "encoding"})
READERS = (
    Reader("csv", read, options=_OPTIONS),
    Reader("tsv", lambda source: read(source, "\t"), options=_OPTIONS),
)
