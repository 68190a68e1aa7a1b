"""Parquet, through pyarrow."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from mmc.datasets.dataset import DataError
from mmc.datasets.reader import Reader, Source
from mmc.datasets.table import Column, Table

if TYPE_CHECKING:
    import pyarrow as pa
    from pyarrow.parquet import ParquetFile

_PANDAS_INDEX = re.compile(r"__index_level_\d+__")
_BYTES_PER_CELL = 16  # of a number here and in the matrix, or of a reference to a text
# What pyarrow raises for damaged files; its own errors are ValueError, OSError, LookupError or MemoryError too.
_DAMAGE = (ValueError, OSError, LookupError, TypeError, RuntimeError, ArithmeticError, MemoryError)


def read(source: Source) -> Table:
    """Return the table in the file; rows are counted from 1. A pandas index without a name is not a column."""
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError:
        raise DataError(
            f"{source.path}: Parquet files need pyarrow, which is not installed; install it with: pip install pyarrow, "
            "or save the file as CSV"
        ) from None
    try:
        file = parquet.ParquetFile(pa.BufferReader(source.data))
        _check_size(source, file)
        texts = [field.name for field in file.schema_arrow if _is_text(field.type)]
        file = parquet.ParquetFile(pa.BufferReader(source.data), read_dictionary=texts)
        table = file.read()
        names = [name for name in table.column_names if not _PANDAS_INDEX.fullmatch(name)]
        columns = [_column(table.column(table.column_names.index(name)), name == source.target) for name in names]
    except _DAMAGE as error:
        if isinstance(error, DataError):
            raise
        lines = str(error).splitlines() or [type(error).__name__]
        raise DataError(
            f"{source.path} is not a readable Parquet file: {lines[0]}; copy it again, or write it anew"
        ) from None
    return Table(source.path, names, columns, range(1, table.num_rows + 1))


def _check_size(source: Source, file: ParquetFile) -> None:
    """Raise DataError if the file says that it holds too much. A value that occurs often takes almost no room in it."""
    size = 0
    for group in range(file.metadata.num_row_groups):
        facts = file.metadata.row_group(group)
        for number in range(facts.num_columns):
            column = facts.column(number)
            size += column.total_uncompressed_size + _BYTES_PER_CELL * column.num_values
    source.limit.check(size, source.path)


def _is_text(kind: pa.DataType) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_binary(kind))


def _column(column: pa.ChunkedArray, is_target: bool) -> Column:
    """Return a column of numbers as floats, any other and the target as text."""
    import pyarrow as pa

    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    numeric = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)
    if numeric and not is_target:
        values: NDArray[np.float64] = column.cast(kind).cast(pa.float64(), safe=False).to_numpy()
        return values
    texts: list[str] = []
    for chunk in column.chunks:
        if pa.types.is_dictionary(chunk.type):  # a text that occurs often is one object
            words = ["" if word is None else str(word) for word in chunk.dictionary.to_pylist()]
            texts += ["" if code is None else words[code] for code in chunk.indices.to_pylist()]
        else:
            texts += ["" if value is None else str(value) for value in chunk.to_pylist()]
    return texts


READERS = (Reader("parquet", read, ("pq",)),)
