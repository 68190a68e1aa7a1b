"""A user's own file: which format it has, how its bytes become text, and which reader takes it from there."""

from __future__ import annotations

import gzip
import os
import zlib
from collections.abc import Sequence
from pathlib import Path

from mmc.datasets import arff, delimited, libsvm, parquet
from mmc.datasets.dataset import DataError, DataSet, check_missing
from mmc.datasets.table import Table, build
from mmc.words import nearest

FORMATS = {
    "csv": "csv",
    "tsv": "tsv",
    "parquet": "parquet",
    "pq": "parquet",
    "arff": "arff",
    "libsvm": "libsvm",
    "svm": "libsvm",
    "svmlight": "libsvm",
}


def load_file(
    path: str | os.PathLike[str],
    *,
    target: str,
    positive: str | None = None,
    format: str | None = None,
    missing: str = "drop",
    features: Sequence[str] | None = None,
) -> DataSet:
    """Return the data set in a CSV, TSV, Parquet, ARFF or libsvm file; the text formats may be gzipped (.gz).

    ``target`` is the column of the labels (in a libsvm file, which has no names, any name for it or ""), ``features``
    the columns to use, all others by default. An empty cell, ``?``, ``NA`` and ``NaN`` are missing: ``missing="drop"``
    leaves such rows out, ``missing="error"`` refuses them. Raises DataError for everything that cannot be read.
    """
    check_missing(missing)
    file = Path(path)
    kind, name = _format(file, format)
    if kind == "libsvm":
        target = target or "label"
    table = read_table(file, kind, target)
    return build(table, name=name, target=target, positive=positive, missing=missing, features=features)


def read_table(file: Path, kind: str, target: str) -> Table:
    """Return the cells of a file of a known format."""
    path = str(file)
    try:
        if kind == "parquet":
            return parquet.read(file, path, target)
        text = _text(file.read_bytes(), path)
    except FileNotFoundError:
        raise DataError(f"{path}: there is no such file (looked for it in {Path.cwd()})") from None
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or error}") from None
    if kind == "arff":
        return arff.read(text, path)
    if kind == "libsvm":
        return libsvm.read(text, path, target)
    return delimited.read(text, path, "\t" if kind == "tsv" else ",")


def _format(file: Path, format: str | None) -> tuple[str, str]:
    """Return the file's format, and its name without the endings that say so."""
    inner = file.with_suffix("") if file.suffix.lower() == ".gz" else file
    if format is not None:
        if format not in FORMATS:
            raise DataError(f"{file}: there is no format {format!r}: {nearest(format, FORMATS)}")
        return FORMATS[format], inner.stem
    extension = inner.suffix.lower().lstrip(".")
    if extension not in FORMATS:
        raise DataError(
            f"{file}: the ending {inner.suffix!r} does not tell the format; rename the file, or give `format`: one of "
            f"{', '.join(sorted(set(FORMATS.values())))}"
        )
    return FORMATS[extension], inner.stem


def _text(data: bytes, path: str) -> str:
    if path.lower().endswith(".gz"):
        try:
            data = gzip.decompress(data)
        except (OSError, EOFError, zlib.error) as error:
            raise DataError(
                f"{path} is not a complete gzip file ({error}); copy it again, or take away the ending .gz if it is "
                "plain text"
            ) from None
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise DataError(
            f"{path}:{line}: byte {data[error.start]:#04x} is not UTF-8 text; save the file as UTF-8, or check "
            "that its format is the one it claims"
        ) from None
