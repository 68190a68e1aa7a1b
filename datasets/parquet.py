"""Parquet, through pyarrow, which is imported only here."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mmc.datasets.dataset import DataError
from mmc.datasets.table import Table

_PANDAS_INDEX = re.compile(r"__index_level_\d+__")


def read(file: Path, path: str, target: str) -> Table:
    """Return the table in the file; rows are counted from 1. A pandas index without a name is not a column."""
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError:
        raise DataError(
            f"{path}: Parquet files need pyarrow, which is not installed; install it with: pip install pyarrow, "
            "or save the file as CSV"
        ) from None
    try:
        with file.open("rb") as stream:
            table = parquet.ParquetFile(stream).read()
    except pa.ArrowException as error:
        raise DataError(f"{path} is not a readable Parquet file: {str(error).splitlines()[0]}") from None

    names: list[str] = []
    columns: list[list[str] | NDArray[np.float64]] = []
    for name, column in zip(table.column_names, table.columns, strict=True):
        if _PANDAS_INDEX.fullmatch(name):
            continue
        kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
        numeric = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)
        values = column.to_pylist()
        if numeric and name != target:
            columns.append(np.array([np.nan if value is None else value for value in values], dtype=np.float64))
        else:
            columns.append(["" if value is None else str(value) for value in values])
        names.append(name)
    return Table(path, names, columns, range(1, table.num_rows + 1))
