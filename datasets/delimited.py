"""CSV and TSV: column names in the first line, quoted cells as RFC 4180 has them."""

from __future__ import annotations

import csv
import io

from mmc.datasets.dataset import DataError
from mmc.datasets.table import Table


def read(text: str, path: str, delimiter: str = ",") -> Table:
    """Return the table in the text; raise DataError for a row that does not fit the header."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    rows: list[list[str]] = []
    lines: list[int] = []
    end = 0
    try:
        for row in reader:
            start, end = end + 1, reader.line_num  # a quoted cell may run over several lines
            if not row or (len(row) == 1 and not row[0].strip()):
                continue
            if rows and len(row) != len(rows[0]):
                raise DataError(
                    f"{path}:{start}: {len(row)} cells where the header has {len(rows[0])} columns; add or remove "
                    "cells, or quote the cell that contains the separator"
                )
            rows.append(row)
            lines.append(start)
    except csv.Error as error:
        raise DataError(f"{path}:{end + 1}: not a well-formed row ({error}); check its quotes") from None
    if not rows:
        raise DataError(f"{path} is empty; its first line must hold the column names")
    names = [name.strip() for name in rows[0]]
    columns = list(zip(*rows[1:], strict=True)) if len(rows) > 1 else [()] * len(names)
    return Table(path, names, columns, lines[1:])
