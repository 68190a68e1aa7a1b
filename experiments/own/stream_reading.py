"""A CSV or Parquet file in batches of bounded size, with the bytes that were read: no row is kept."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as csv
import pyarrow.parquet as pq

from mmc.experiments.own.columns import Column
from mmc.experiments.own.errors import TableError
from mmc.experiments.own.reading import MISSING, header

_BLOCK = 2**21  # bytes of a CSV file; pyarrow reads a dozen of them ahead
_ROWS = 2**15  # of a batch: what is done with it takes a while, however few its rows are
_BUFFER = 2**16


def batches(
    path: Path, columns: Sequence[Column] | None = None, other: str | None = None, rows: int | None = None
) -> Iterator[tuple[pa.RecordBatch, int]]:
    """Yield batches and the bytes read so far: of all columns, or of known ones and another one, such as the target.

    Cells of text files stay text, but for the numbers of known columns.
    """
    names = None if columns is None else [*(column.name for column in columns), *([] if other is None else [other])]
    try:
        if path.suffix.lower() == ".parquet":
            yield from _parquet(path, names, rows or _ROWS)
        else:
            numbers = {column.name for column in columns or () if column.kind == "number"}
            yield from _grouped(_delimited(path, names, numbers), rows or _ROWS)
    except (pa.ArrowException, UnicodeDecodeError) as error:
        raise TableError(f"{path} cannot be read on: {str(error).splitlines()[0]}") from None


def _delimited(path: Path, names: list[str] | None, numbers: set[str]) -> Iterator[tuple[pa.RecordBatch, int]]:
    known, separator, lines = header(path)
    # types are ours to say, not for pyarrow to guess from one block
    kinds = {name: pa.float64() if name in numbers else pa.string() for name in known}
    with path.open("rb") as file:
        reader = csv.open_csv(
            file,
            csv.ReadOptions(block_size=_BLOCK, use_threads=False, column_names=known, skip_rows=lines),
            csv.ParseOptions(delimiter=separator, newlines_in_values=True),
            csv.ConvertOptions(
                column_types=kinds, null_values=MISSING, strings_can_be_null=True, include_columns=names
            ),
        )
        for batch in reader:
            yield batch, file.tell()


def _grouped(blocks: Iterator[tuple[pa.RecordBatch, int]], rows: int) -> Iterator[tuple[pa.RecordBatch, int]]:
    """Yield batches of so many rows, the last one with what is left."""
    held, read = [], 0
    for block, read in blocks:
        held.append(block)
        if sum(part.num_rows for part in held) >= rows:
            table = pa.Table.from_batches(held)
            for start in range(0, table.num_rows - rows + 1, rows):
                yield table.slice(start, rows).combine_chunks().to_batches()[0], read
            held = table.slice(table.num_rows - table.num_rows % rows).to_batches()
    if held:
        yield pa.Table.from_batches(held).combine_chunks().to_batches()[0], read


def _parquet(path: Path, names: list[str] | None, rows: int) -> Iterator[tuple[pa.RecordBatch, int]]:
    size = path.stat().st_size
    with pq.ParquetFile(path, pre_buffer=False, buffer_size=_BUFFER) as file:
        done, total = 0, file.metadata.num_rows
        for field in file.schema_arrow:
            if pa.types.is_nested(field.type):
                raise TableError(f"{path}: column {field.name!r} holds {field.type}; each cell must hold one value")
        for batch in file.iter_batches(rows, columns=names, use_threads=False):
            done += batch.num_rows
            yield batch, size * done // max(total, 1)
