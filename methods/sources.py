"""Tables larger than memory, batch by batch: files through pyarrow's scanner, and data frames."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from mmc.methods.numerics.kernels import Array
from mmc.methods.numerics.moments import ClassMoments, of_rows, tree_sum
from mmc.methods.numerics.scatter import Room
from mmc.words import nearest

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.dataset as ds

Source = str | Path | Sequence[str | Path] | object  # or a data frame
CELLS = 2**20  # of a batch: 8 MiB
_BLOCK = 2**24  # bytes of a CSV file that become one batch
_BUFFER = 2**16  # bytes of a column of a Parquet file that are read in one go
_room = Room()
_KINDS = {".parquet": "parquet", ".csv": "csv", ".tsv": "csv"}


class Client(Protocol):
    """What is used of a dask.distributed.Client."""

    def submit(self, function: object, *args: object, pure: bool) -> object:
        """Run a function on a worker."""

    def compute(self, collection: object) -> object:
        """Run a delayed call on a worker."""

    def gather(self, futures: object) -> object:
        """Bring results here."""


@dataclass(frozen=True)
class Wanted:
    """The columns of a scan: features, labels, weights."""

    target: str
    columns: tuple[str, ...]
    weight: str | None = None

    @property
    def all(self) -> list[str]:
        """Return the names of all columns that are read."""
        return [*self.columns, self.target, *([] if self.weight is None else [self.weight])]

    @property
    def rows(self) -> int:
        """Return the number of rows of a batch."""
        return max(1024, CELLS // len(self.columns))


@dataclass(frozen=True)
class RowGroup:
    """A part of a Parquet file."""

    path: str
    group: int


def scan(
    source: Source, target: str, columns: Sequence[str] | None, weight: str | None, cluster: object
) -> ClassMoments:
    """Return the moments of each class; see `Moments.scan`."""
    pieces, schema = _pieces(source)
    wanted = _wanted(schema, target, columns, weight)
    if cluster is not None:
        return _on_workers(cast(Client, cluster), pieces, wanted)
    total = tree_sum(summed(batch, wanted) for piece in pieces for batch in _batches(piece, wanted))
    if not total:
        raise ValueError("the table has no rows")
    return total


def summed(batch: pa.RecordBatch, wanted: Wanted) -> ClassMoments:
    """Return the moments of each class of one batch."""
    import pyarrow as pa

    labels = batch.column(wanted.target)
    if labels.null_count:
        raise ValueError(f"column {wanted.target!r} has {labels.null_count} rows without a label")
    coded = labels if pa.types.is_dictionary(labels.type) else labels.dictionary_encode()
    codes, known = coded.indices.to_numpy(zero_copy_only=False), coded.dictionary.to_pylist()
    weight = None if wanted.weight is None else numbers(batch, [wanted.weight])[:, 0]
    if weight is not None and not (weight >= 0).all():
        raise ValueError(f"column {wanted.weight!r} has a negative weight")
    counted = [np.flatnonzero(codes == c if weight is None else (codes == c) & (weight > 0)) for c in range(len(known))]
    order = np.concatenate(counted) if counted else np.arange(0)
    room = _room.rows(len(order), len(wanted.columns), columns_first=True)
    X = numbers(batch, wanted.columns, order, room)  # class by class: then each is summed up as it lies
    start, found = 0, {}
    for label, rows in zip(known, counted, strict=True):
        part = slice(start, start + len(rows))
        if len(rows):
            found[label] = of_rows(X[part], None if weight is None else weight[rows], wanted.columns)
        start = part.stop
    return ClassMoments(found)


def numbers(
    batch: pa.RecordBatch, columns: Sequence[str], order: NDArray[np.intp] | None = None, out: Array | None = None
) -> Array:
    """Return columns of a batch as an array in Fortran order, as they lie in memory already; or the rows in another order.

    They are written to ``out``, by default to new memory.
    """
    found = np.empty((batch.num_rows if order is None else len(order), len(columns)), order="F") if out is None else out
    for row, name in zip(found.T, columns, strict=True):
        column = batch.column(name)
        if column.null_count:
            raise ValueError(
                f"column {name!r} has {column.null_count} missing cells in a batch of {len(column)} rows: fill them in, or leave "
                "the rows out"
            )
        cells = column.to_numpy(zero_copy_only=False)
        if order is None or cells.dtype != np.float64:
            row[:] = cells if order is None else cells.take(order)
        else:
            np.take(cells, order, out=row, mode="clip")  # the other modes make a copy first
    return found


def _on_workers(client: Client, pieces: Iterable[object], wanted: Wanted) -> ClassMoments:
    """Sum up each piece where it is read, and merge pair by pair on the workers: only moments travel."""
    futures = [_sent(client, piece, wanted) for piece in pieces]
    if not futures:
        raise ValueError("the table has no rows")
    while len(futures) > 1:
        pairs = zip(futures[::2], futures[1::2], strict=False)
        merged = [client.submit(ClassMoments.__add__, a, b, pure=False) for a, b in pairs]
        futures = merged + ([futures[-1]] if len(futures) % 2 else [])
    return cast(ClassMoments, client.gather(futures[0]))


def _sent(client: Client, piece: object, wanted: Wanted) -> object:
    """Let a worker sum up a piece. A partition of dask is made by the same worker, where it stays."""
    if not hasattr(piece, "compute"):
        return client.submit(_piece_moments, piece, wanted, pure=False)
    from dask import delayed

    return client.compute(delayed(_piece_moments, pure=False)(piece, wanted))


def _piece_moments(piece: object, wanted: Wanted) -> ClassMoments:
    return tree_sum(summed(batch, wanted) for batch in _batches(piece, wanted))


# -- pieces: fragments of files, or frames ------------------------------------------------------------------
def _pieces(source: Source) -> tuple[list[object], pa.Schema]:
    """Return what is read one after the other, or by different workers, and the types of the columns."""
    import pyarrow as pa
    import pyarrow.dataset as ds

    kind = type(source).__module__.split(".")[0]
    if kind in ("dask", "dask_expr"):
        frame = cast("_Dask", source)
        return list(frame.to_delayed()), pa.Schema.from_pandas(frame._meta, preserve_index=False)
    if kind == "pandas":
        return [source], pa.Schema.from_pandas(cast("_Sliced", source).iloc[:1000], preserve_index=False)
    if kind == "polars":
        return [source], cast("_Polars", source).head(0).to_arrow().schema
    paths = [source] if isinstance(source, (str, Path)) else source
    if not isinstance(paths, Sequence) or not paths or not all(isinstance(path, (str, Path)) for path in paths):
        raise TypeError(
            f"a scan takes paths of files or folders, or a pandas, polars or dask DataFrame, not {source!r}"
        )
    found = dataset(list(map(Path, paths)))
    pieces: list[object] = []
    for fragment in found.get_fragments():
        if isinstance(fragment, ds.ParquetFileFragment):
            pieces += [RowGroup(fragment.path, group) for group in range(fragment.num_row_groups)]
        else:
            pieces.append((fragment, found.schema))
    return pieces, found.schema


def dataset(paths: Sequence[Path]) -> ds.Dataset:
    """Return CSV or Parquet files, or those in folders, as one table."""
    import pyarrow as pa
    import pyarrow.dataset as ds

    files = sorted(file for path in paths for file in (path.rglob("*") if path.is_dir() else [path]))
    files = [file for file in files if file in paths or (file.is_file() and file.suffix.lower() in _KINDS)]
    for file in files:
        if not file.is_file():
            raise FileNotFoundError(f"{file}: no such file")
    kinds = {_KINDS.get(file.suffix.lower()) for file in files}
    if len(kinds) != 1 or None in kinds:
        raise ValueError(
            f"{', '.join(map(str, paths))}: a scan takes files of one kind, CSV (.csv, .tsv) or Parquet (.parquet)"
        )
    try:
        return ds.dataset([str(file) for file in files], format=_format(files[0]))
    except pa.ArrowException as error:
        raise ValueError(f"{files[0]} cannot be read: {str(error).splitlines()[0]}") from None


def _format(file: Path) -> ds.FileFormat:
    import pyarrow.csv as csv
    import pyarrow.dataset as ds

    if _KINDS[file.suffix.lower()] == "parquet":
        return ds.ParquetFileFormat()
    with file.open(encoding="utf-8", errors="replace") as text:
        head = text.readline()
    separator = (
        "\t" if file.suffix.lower() == ".tsv" else max(",;|\t", key=lambda mark: (head.count(mark), mark == ","))
    )
    return ds.CsvFileFormat(
        parse_options=csv.ParseOptions(delimiter=separator), read_options=csv.ReadOptions(block_size=_BLOCK)
    )


def _wanted(schema: pa.Schema, target: str, columns: Sequence[str] | None, weight: str | None) -> Wanted:
    import pyarrow as pa

    known = list(schema.names)
    named = [target, *(columns or ()), *([] if weight is None else [weight])]
    for name in named:
        if name not in known:
            raise ValueError(f"the table has no column {name!r}: {nearest(name, known)}")
    if columns is None:
        columns = [name for name in known if name not in named]
    if not columns or target in columns:
        raise ValueError(f"a scan needs columns besides the target {target!r}")
    types = pa.types
    for name in columns:
        kind = schema.field(name).type
        if not (types.is_floating(kind) or types.is_integer(kind) or types.is_boolean(kind)):
            raise ValueError(f"column {name!r} holds {kind}, not numbers: name the columns to use with columns=[…]")
    return Wanted(target, tuple(columns), weight)


def _batches(piece: object, wanted: Wanted) -> Iterator[pa.RecordBatch]:
    import pyarrow as pa

    if isinstance(piece, RowGroup):
        yield from _row_group(piece, wanted)
        return
    if isinstance(piece, tuple):
        fragment, schema = piece
        yield from _scanned(fragment, schema, wanted)
        return
    if hasattr(piece, "compute"):  # a partition of dask
        piece = piece.compute()
    if type(piece).__module__.startswith("polars"):
        frame = cast("_Polars", piece).select(wanted.all)
        for start in range(0, len(frame), wanted.rows):
            yield from frame.slice(start, wanted.rows).to_arrow().to_batches()
        return
    rows = cast("_Sliced", piece)
    for start in range(0, len(rows), wanted.rows):
        part = rows.iloc[start : start + wanted.rows]
        yield pa.RecordBatch.from_pandas(part[wanted.all], preserve_index=False)


def _row_group(piece: RowGroup, wanted: Wanted) -> Iterator[pa.RecordBatch]:
    """Yield batches of a row group without holding it: a dataset's scanner would read the whole group, often 100s of MB."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(piece.path, pre_buffer=False, buffer_size=_BUFFER) as file:
            yield from file.iter_batches(wanted.rows, [piece.group], columns=wanted.all, use_threads=False)
    except pa.ArrowException as error:
        raise ValueError(f"{piece.path}: {str(error).splitlines()[0]}") from None


def _scanned(fragment: ds.Fragment, schema: pa.Schema, wanted: Wanted) -> Iterator[pa.RecordBatch]:
    """Yield the batches of a CSV file, one at a time: nothing is read ahead of need."""
    import pyarrow as pa
    import pyarrow.dataset as ds

    options = None
    if isinstance(fragment.format, ds.CsvFileFormat):
        import pyarrow.csv as csv

        known = {name: pa.float64() for name in wanted.all if name != wanted.target}
        kinds = {**known, wanted.target: schema.field(wanted.target).type}
        options = ds.CsvFragmentScanOptions(
            convert_options=csv.ConvertOptions(column_types=kinds, strings_can_be_null=True),
            read_options=csv.ReadOptions(block_size=_BLOCK),
        )
        schema = pa.schema([(name, kinds.get(name, schema.field(name).type)) for name in schema.names])
    try:
        yield from fragment.to_batches(
            schema=schema,
            columns=wanted.all,
            batch_size=wanted.rows,
            batch_readahead=1,
            fragment_readahead=1,
            use_threads=False,
            fragment_scan_options=options,
        )
    except pa.ArrowException as error:
        raise ValueError(f"{getattr(fragment, 'path', 'the table')}: {str(error).splitlines()[0]}") from None


class _Sliced(Protocol):
    """What is used of a pandas DataFrame."""

    iloc: _Sliced

    def __getitem__(self, key: object) -> _Sliced: ...
    def __len__(self) -> int: ...


class _Polars(Protocol):
    """What is used of a polars DataFrame."""

    def select(self, names: list[str]) -> _Polars: ...
    def slice(self, start: int, rows: int) -> _Polars: ...
    def head(self, rows: int) -> _Polars: ...
    def to_arrow(self) -> pa.Table: ...
    def __len__(self) -> int: ...


class _Dask(Protocol):
    """What is used of a dask DataFrame."""

    _meta: object

    def to_delayed(self) -> list[object]: ...
