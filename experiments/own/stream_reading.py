"""A CSV or Parquet file in batches of bounded size, with the bytes that were read: no row is kept."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as csv
import pyarrow.parquet as pq

from mmc.experiments.own.columns import Column
from mmc.experiments.own.errors import TableError

_BLOCK = 2**21  # bytes of a CSV file; pyarrow reads a dozen of them ahead
_ROWS = 2**15  # of a Parquet file
_BUFFER = 2**16
_MISSING = ["", "?", "NA", "N/A", "NaN", "nan", "null", "NULL", "None", "n/a", "<NA>", "#N/A"]


def batches(
    path: Path, columns: Sequence[Column] | None = None, target: str | None = None
) -> Iterator[tuple[pa.RecordBatch, int]]:
    """Yield batches and the bytes read so far: of all columns, or of known ones and the target.

    Cells of text files stay text, but for the numbers of known columns.
    """
    names = None if columns is None else [*(column.name for column in columns), *([] if target is None else [target])]
    try:
        if path.suffix.lower() == ".parquet":
            yield from _parquet(path, names)
        else:
            yield from _delimited(path, names, {column.name for column in columns or () if column.kind == "number"})
    except (pa.ArrowException, UnicodeDecodeError) as error:
        raise TableError(f"{path} cannot be read on: {str(error).splitlines()[0]}") from None


def _delimited(path: Path, names: list[str] | None, numbers: set[str]) -> Iterator[tuple[pa.RecordBatch, int]]:
    with path.open(encoding="utf-8-sig", newline="") as text:
        head = text.readline()
    tab = path.suffix.lower() == ".tsv"
    separator = "\t" if tab else max(",;\t|", key=lambda mark: (head.count(mark), mark == ","))
    with path.open("rb") as file:
        # a first look for the names: types are ours to say, not for pyarrow to guess from one block
        known = csv.open_csv(path, _read(), csv.ParseOptions(delimiter=separator)).schema.names
        kinds = {name: pa.float64() if name in numbers else pa.string() for name in known}
        reader = csv.open_csv(
            file,
            _read(),
            csv.ParseOptions(delimiter=separator),
            csv.ConvertOptions(
                column_types=kinds, null_values=_MISSING, strings_can_be_null=True, include_columns=names
            ),
        )
        for batch in reader:
            yield batch, file.tell()


def _read() -> csv.ReadOptions:
    return csv.ReadOptions(block_size=_BLOCK, use_threads=False)


def _parquet(path: Path, names: list[str] | None) -> Iterator[tuple[pa.RecordBatch, int]]:
    size = path.stat().st_size
    with pq.ParquetFile(path, pre_buffer=False, buffer_size=_BUFFER) as file:
        done, rows = 0, file.metadata.num_rows
        for field in file.schema_arrow:
            if pa.types.is_nested(field.type):
                raise TableError(f"{path}: column {field.name!r} holds {field.type}; each cell must hold one value")
        for batch in file.iter_batches(_ROWS, columns=names, use_threads=False):
            done += batch.num_rows
            yield batch, size * done // max(rows, 1)
