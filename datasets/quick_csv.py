"""Large CSV files by pyarrow, block by block: columns of numbers never exist as text all at once."""

from __future__ import annotations

import codecs
from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import compute, csv

from mmc.datasets.cells import Notation
from mmc.datasets.reader import Source
from mmc.datasets.table import Column

_BLOCK = 1 << 22  # bytes; a row must fit into it
_LARGEST = 1 << 30
_ROWS = 200  # at least so many as long as the first are read at once: each column of a block takes its time


def read(source: Source, separator: str, names: Sequence[str]) -> list[Column] | None:
    """Return the columns below the first line, None where pyarrow cannot read them.

    The target stays text, and so does every column with a cell that is neither a finite number nor missing.
    """
    data = source.data if source.encoding is None else "".join(source.lines(newline="")).encode()
    if not separator.isascii() or not names or data.lstrip(codecs.BOM_UTF8)[:1].isspace():  # blank before the names
        return None
    every = range(len(names))
    numbers: dict[int, list[NDArray[np.float64]]] = {index: [] for index in every if names[index] != source.target}
    texts: dict[int, list[str]] = {index: [] for index in every if index not in numbers}
    rows = 0
    try:
        for batch in _batches(data, separator, len(names), every, source.notation):
            rows += batch.num_rows
            source.limit.check(8 * rows * len(names), f"{source.path} as a table of numbers")
            for index in list(numbers):
                values = _floats(batch.column(index), source.notation)
                if values is None:
                    del numbers[index]
                else:
                    numbers[index].append(values)
            for index in texts:
                texts[index] += _texts(batch.column(index))
        rest = [index for index in every if index not in numbers and index not in texts]
        texts |= {index: [] for index in rest}
        for batch in _batches(data, separator, len(names), rest, source.notation) if rest else ():
            for index, column in zip(rest, batch.columns, strict=True):
                texts[index] += _texts(column)
    except pa.ArrowException:
        return None
    return [texts[index] if index in texts else np.concatenate([np.empty(0), *numbers.pop(index)]) for index in every]


def _texts(column: pa.StringArray) -> list[str]:
    return ["" if cell is None else cell for cell in column.to_pylist()]


def _batches(
    data: bytes, separator: str, width: int, wanted: Sequence[int], notation: Notation
) -> Iterator[pa.RecordBatch]:
    """Yield the wanted columns as text, null where a cell is missing."""
    names = [str(index) for index in range(width)]
    words = {spelt for word in notation.missing for spelt in (word, word.upper(), word.capitalize())} | {"NaN"}
    block = min(max(_BLOCK, _ROWS * (data.find(b"\n") + 1)), _LARGEST)
    reader = csv.open_csv(
        pa.BufferReader(data),
        csv.ReadOptions(block_size=block, column_names=names, skip_rows_after_names=1),
        csv.ParseOptions(
            delimiter=separator,
            newlines_in_values=True,
            invalid_row_handler=lambda row: "error" if row.text.strip() else "skip",
        ),
        csv.ConvertOptions(
            column_types=dict.fromkeys(names, pa.string()),
            null_values=sorted(words),
            strings_can_be_null=True,
            include_columns=[names[index] for index in wanted],
        ),
    )
    yield from reader


def _floats(column: pa.StringArray, notation: Notation) -> NDArray[np.float64] | None:
    """Return a column as floats, None if a cell needs a closer look."""
    if notation.decimal == ",":
        if compute.any(compute.match_substring(column, ".")).as_py():
            return None
        column = compute.replace_substring(column, ",", ".")
    try:
        values: NDArray[np.float64] = compute.cast(column, pa.float64()).to_numpy(zero_copy_only=False)
    except pa.ArrowInvalid:
        try:
            values = compute.cast(compute.utf8_trim_whitespace(column), pa.float64()).to_numpy(zero_copy_only=False)
        except pa.ArrowInvalid:
            return None
    gaps = int(np.isnan(values).sum())
    return values if gaps == column.null_count and not np.isinf(values).any() else None
