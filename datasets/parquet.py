"""Parquet, through pyarrow, a few thousand rows at a time."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from mmc.datasets.dataset import DataError, reason
from mmc.datasets.reader import Reader, Source
from mmc.datasets.table import Column, Table

if TYPE_CHECKING:
    import pyarrow as pa

_PANDAS_INDEX = re.compile(r"__index_level_\d+__")
_ROWS_AT_ONCE = 4096
_BYTES_PER_CELL = 16  # of a number here and in the matrix, or of a reference to a text
# What pyarrow raises for damaged files; its own errors are ValueError, OSError, LookupError or MemoryError too.
_DAMAGE = (ValueError, OSError, LookupError, TypeError, RuntimeError, ArithmeticError, MemoryError)


def read(source: Source) -> Table:
    """Return the table in the file; rows are counted from 1. A pandas index without a name is not a column."""
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        raise DataError(
            f"{source.path}: Parquet files need pyarrow, which is not installed; install it with: pip install pyarrow, "
            "or save the file as CSV"
        ) from None
    try:
        return _read(source)
    except _DAMAGE as error:
        if isinstance(error, DataError):
            raise
        raise DataError(
            f"{source.path} is not a readable Parquet file: {reason(error)}; copy it again, or write it anew"
        ) from None


def _read(source: Source) -> Table:
    import pyarrow as pa
    from pyarrow.parquet import ParquetFile

    fields = ParquetFile(pa.BufferReader(source.data)).schema_arrow
    texts = [field.name for field in fields if pa.types.is_string(field.type) or pa.types.is_large_string(field.type)]
    file = ParquetFile(pa.BufferReader(source.data), read_dictionary=texts)  # a text that occurs often is kept once
    groups = [file.metadata.row_group(group) for group in range(file.metadata.num_row_groups)]
    rows = sum(group.num_rows for group in groups)
    size = sum(group.total_byte_size for group in groups) + _BYTES_PER_CELL * rows * len(fields)
    source.limit.check(size, source.path)  # values that repeat take almost no room in the file, but in memory

    kinds = {field.name: field.type for field in fields if not _PANDAS_INDEX.fullmatch(field.name)}
    names = [name for name in fields.names if name in kinds]
    parts: dict[str, list[Column]] = {name: [] for name, kind in kinds.items() if not pa.types.is_nested(kind)}
    shared: dict[str, str] = {}
    read = 0
    for batch in file.iter_batches(_ROWS_AT_ONCE, columns=list(parts)):
        read += batch.nbytes
        source.limit.check(read, source.path)
        for name, column in zip(batch.schema.names, batch.columns, strict=True):
            if name in parts:
                parts[name].append(_cells(column, name == source.target, shared))
    columns = [_joined(parts[name]) if name in parts else [str(kinds[name])] * rows for name in names]
    return Table(source.path, names, columns, range(1, rows + 1))


def _cells(column: pa.Array, is_target: bool, shared: dict[str, str]) -> Column:
    """Return numbers as floats, anything else and the target as text; a text that was read before is the same object."""
    import pyarrow as pa

    coded = pa.types.is_dictionary(column.type)
    kind = column.type.value_type if coded else column.type
    if not is_target and (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)):
        values: NDArray[np.float64] = column.cast(kind).cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
        return values
    if coded:
        words = [
            "" if word is None else shared.setdefault(str(word), str(word)) for word in column.dictionary.to_pylist()
        ]
        return ["" if code is None else words[code] for code in column.indices.to_pylist()]
    return ["" if value is None else str(value) for value in column.to_pylist()]


def _joined(parts: list[Column]) -> Column:
    numbers = [part for part in parts if isinstance(part, np.ndarray)]
    return np.concatenate(numbers) if numbers else [cell for part in parts for cell in part]


READERS = (Reader("parquet", read, ("pq",)),)
