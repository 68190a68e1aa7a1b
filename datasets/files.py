"""A user's own file: which format it has, how its bytes are unpacked, and which reader takes it from there."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path, PurePath
from typing import TypeVar

from mmc.datasets.bounds import Limit, collect, pieces
from mmc.datasets.cells import Notation
from mmc.datasets.dataset import DataError, DataSet, check_missing, reason
from mmc.datasets.lzw import MAGIC
from mmc.datasets.reader import Reader, Source
from mmc.datasets.table import Table, Wanted, brief, build
from mmc.datasets.unpacking import DAMAGE, GZIP, ZIP, inflate, unzip
from mmc.words import nearest

_MODULES = ("arff", "delimited", "excel", "libsvm", "parquet")  # each has its READERS
_PACKED = {".gz": ("gzip", GZIP), ".z": ("compress", MAGIC), ".zip": ("zip", ZIP)}  # how such a file begins
_AnyPath = TypeVar("_AnyPath", bound=PurePath)


@cache
def formats() -> dict[str, Reader]:
    """Return the readers by the endings of their files."""
    readers: list[Reader] = [
        reader for module in _MODULES for reader in import_module(f"mmc.datasets.{module}").READERS
    ]
    return {ending: reader for reader in readers for ending in (reader.name, *reader.endings)}


def load_file(
    path: str | os.PathLike[str],
    *,
    target: str,
    positive: str | None = None,
    format: str | None = None,
    missing: str = "drop",
    features: Sequence[str] | None = None,
    drop: Collection[str] = (),
    missing_values: Iterable[object] = (),
    encode: bool | Collection[str] = False,
    separator: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    max_bytes: int | None = None,
) -> DataSet:
    """Return the data set in a CSV, TSV, Excel (.xlsx), Parquet, ARFF or libsvm file; raise DataError if it holds none.

    The file may be compressed (.gz, .Z, or .zip with one such file inside).

    Parameters
    ----------
    target : the column of the labels; in a libsvm file, which has no names, any name for it or "".
    positive : the label of the positive class.
    format : the format, where the file's ending does not say it.
    missing : what becomes of rows with missing cells: "drop" leaves them out, "error" refuses them, "impute" fills in
        the mean of the column. The mean is that of all labelled rows, those that are tested on later too. A row
        without a label is left out also then.
    features : the columns to use, all others than the target by default.
    drop : columns to leave out.
    missing_values : words or numbers that mean "missing", beside an empty cell, ``?``, ``NA`` and ``NaN``.
    encode : True makes numbers of all columns of text: days since 1970 of dates, a column of 0 and 1 for each category
        but the first. A list names columns that are encoded, even if they hold numbers.
    separator : what separates the cells of a CSV or TSV file; found by the first line if not given.
    decimal : the decimal sign of a CSV or TSV file, "." or ",".
    encoding : the encoding of a text file, UTF-8 if not given.
    max_bytes : the most memory that the file's content may fill; by default the environment variable MMC_MAX_BYTES, else
        half of what is available.
    """
    check_missing(missing)
    limit = Limit(max_bytes)
    notation = Notation.of(missing_values, "." if decimal is None else decimal)
    file = Path(path)
    if format is not None and format not in formats():
        raise DataError(f"{file}: there is no format {format!r}: {nearest(format, formats())}")
    inner, data = _content(file, format, limit)
    reader = formats()[format] if format is not None else _by_ending(file, inner)
    for option, value in {"separator": separator, "decimal": decimal, "encoding": encoding}.items():
        if value is not None and option not in reader.options:
            raise DataError(f"{file}: a file of the format {reader.name} has no `{option}`; leave it out")
    target = target or reader.target
    source = Source(str(file), data, target, separator, encoding, notation, limit)
    wanted = Wanted(target, positive, features, drop, missing, encode, notation, limit)
    try:
        return build(reader.read(source), _plain(file).stem, wanted)
    except MemoryError:
        raise DataError(f"{file} does not fit into the memory of this machine; choose fewer rows or columns") from None


def read_csv(file: Path, target: str) -> Table:
    """Return the cells of a CSV file, which may be gzipped."""
    from mmc.datasets.delimited import read

    return read(Source(str(file), _content(file, "csv", Limit())[1], target))


def _content(file: Path, format: str | None, limit: Limit) -> tuple[str, bytes]:
    """Return the unpacked content of a file, and the name that says its format."""
    path, ending = str(file), file.suffix.lower()
    try:
        limit.check(file.stat().st_size, path)
        with file.open("rb") as stream:
            data = collect(pieces(stream), limit, path)
    except FileNotFoundError:
        raise DataError(f"{path}: there is no such file (looked for it in {Path.cwd()})") from None
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or error}") from None
    try:
        if ending in _PACKED and not data.startswith(_PACKED[ending][1]):
            raise ValueError("it does not begin like one")
        if ending == ".zip":
            member, data = unzip(data, path, lambda members: _choose(path, members, format), limit)
            return _plain(PurePath(member)).name, inflate(data, path, limit)
        return _plain(file).name, inflate(data, path, limit)
    except DAMAGE as error:
        if isinstance(error, DataError):
            raise
        kind = _PACKED[ending][0] if ending in _PACKED else "compressed"
        raise DataError(
            f"{path} is not a complete {kind} file ({reason(error)}); copy it again, or take away the ending "
            f"{file.suffix} if it is plain text"
        ) from None


def _choose(path: str, members: list[str], format: str | None) -> str:
    """Return the only member of an archive that is a table."""
    files = [name for name in members if not name.endswith("/") and not name.startswith("__MACOSX/")]
    known = [name for name in files if format is not None or _plain(PurePath(name)).suffix.lower()[1:] in formats()]
    if len(known) != 1:
        raise DataError(
            f"{path} must hold one file with a table, and holds {len(known)} among {brief(', '.join(map(repr, files)))}; "
            "unpack it and give the file itself"
        )
    return known[0]


def _plain(file: _AnyPath) -> _AnyPath:
    """Return the name of a file without an ending for compression."""
    return file.with_suffix("") if file.suffix.lower() in _PACKED else file


def _by_ending(file: Path, name: str) -> Reader:
    suffix = PurePath(name).suffix
    reader = formats().get(suffix.lower().lstrip("."))
    if reader is None:
        raise DataError(
            f"{file}: the ending {suffix!r} does not tell the format; rename the file, or give `format`: one of "
            f"{', '.join(sorted({reader.name for reader in formats().values()}))}"
        )
    return reader
