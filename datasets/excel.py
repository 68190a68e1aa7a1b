"""Excel's .xlsx, through openpyxl: the first sheet, column names in its first row that is not empty."""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from mmc.datasets.dataset import DataError, reason
from mmc.datasets.reader import Reader, Source
from mmc.datasets.table import Column, Table

if TYPE_CHECKING:
    from openpyxl.worksheet._read_only import ReadOnlyWorksheet

_MOST_ROWS = 1 << 20  # of a sheet, by the format
_BYTES_PER_CELL = 64


def read(source: Source) -> Table:
    """Return the table in the file; formulas count by the values that Excel saved with them."""
    import zipfile

    try:
        with zipfile.ZipFile(io.BytesIO(source.data)) as archive:
            source.limit.check(sum(member.file_size for member in archive.infolist()), source.path)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # openpyxl tells of every feature of Excel that it leaves out
            numbered = list(_rows(source))
    except DataError:
        raise
    except Exception as error:  # openpyxl has no errors of its own: a damaged file raises whatever it runs into
        raise DataError(
            f"{source.path} is not a readable .xlsx file ({reason(error)}); open it in Excel and save it anew, or save it as CSV"
        ) from None
    if not numbered:
        raise DataError(f"{source.path} is empty; the first row of its first sheet must hold the column names")
    names = ["" if name is None else str(name).strip() for name in numbered[0][1]]
    for number, row in numbered:
        if len(row) > len(names):
            raise DataError(
                f"{source.path}:{number}: {len(row)} cells where the header has {len(names)} columns; name the columns, or "
                "remove the cells"
            )
    rows = [(*row, *[None] * (len(names) - len(row))) for _, row in numbered[1:]]
    columns = [
        _column(column, name == source.target) for name, column in zip(names, zip(*rows, strict=True), strict=False)
    ]
    return Table(source.path, names, columns or [()] * len(names), [number for number, _ in numbered[1:]])


def _rows(source: Source) -> Iterator[tuple[int, tuple[object, ...]]]:
    """Yield each row that is not empty with its number, without the empty cells at its end."""
    from openpyxl import load_workbook

    book = load_workbook(io.BytesIO(source.data), read_only=True, data_only=True)
    sheet: ReadOnlyWorksheet = book.worksheets[0]
    sheet.reset_dimensions()  # what it says of its size may be wrong
    cells = 0
    for number, row in enumerate(sheet.iter_rows(values_only=True), 1):
        if number > _MOST_ROWS:
            raise DataError(f"{source.path} has a row beyond number {_MOST_ROWS}, the last that Excel knows; remove it")
        width = max((index for index, cell in enumerate(row, 1) if cell is not None and cell != ""), default=0)
        if width:
            cells += width
            source.limit.check(_BYTES_PER_CELL * cells, source.path)
            yield number, tuple(row[:width])


def _column(cells: Sequence[object], is_target: bool) -> Column:
    """Return a column of numbers as floats, any other and the target as text."""
    numbers = [cell for cell in cells if isinstance(cell, (int, float))]
    if len(numbers) == len(cells) - cells.count(None) and not is_target:
        return np.array([cell if isinstance(cell, (int, float)) else np.nan for cell in cells], dtype=np.float64)
    return ["" if cell is None else str(cell) for cell in cells]


READERS = (Reader("xlsx", read, ("xlsm",)),)
