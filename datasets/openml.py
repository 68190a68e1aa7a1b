"""Data sets of OpenML by number: fetched once with scikit-learn, kept as Parquet in the user's cache, read like any file.

A copy is looked for first, as ``openml/31.parquet`` or ``31.parquet`` in the folder of large data sets, then in the cache. The target is the
last column unless the user names another one.
"""

from __future__ import annotations

import os
import socket
import tempfile
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from mmc.datasets.dataset import DataError, DataSet, reason
from mmc.datasets.finding import VARIABLE, cache

if TYPE_CHECKING:
    from pandas import DataFrame

_SECONDS = 30.0  # without an answer


def places(number: int, data_dir: Path | None) -> list[Path]:
    """Return where a copy of a data set is looked for, in this order."""
    if data_dir is None and os.environ.get(VARIABLE):
        data_dir = Path(os.environ[VARIABLE])
    given = [] if data_dir is None else [data_dir / "openml", data_dir]
    return [folder / f"{number}.parquet" for folder in (*given, cache() / "openml")]


def find(number: int, data_dir: Path | None) -> Path | None:
    """Return the copy of a data set on this machine, None if there is none."""
    return next((path for path in places(number, data_dir) if path.is_file()), None)


def load(number: int, data_dir: Path | None, given: Mapping[str, object]) -> DataSet:
    """Return a data set, fetched if need be; ``given`` are the keys of a file in a config. Raise DataError."""
    from pyarrow.parquet import read_schema

    from mmc.datasets.files import load_file

    path = find(number, data_dir) or fetch(number, data_dir)
    read: Callable[..., DataSet] = load_file  # what the config gives was checked
    try:
        target = given.get("target") or read_schema(path).names[-1]
    except (OSError, ValueError) as error:
        raise DataError(f"{path} is no copy of OpenML's set {number} ({reason(error)}); remove it") from None
    return read(path, **{**given, "target": target})


def fetch(number: int, data_dir: Path | None = None) -> Path:
    """Download a data set into the cache and return its file; raise DataError where that fails."""
    from sklearn.datasets import fetch_openml

    before = socket.getdefaulttimeout()
    socket.setdefaulttimeout(_SECONDS)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = fetch_openml(data_id=number, as_frame=True, cache=False, n_retries=1, delay=0.5, parser="pandas")
    except (OSError, ValueError, KeyError) as error:  # all errors of the network are OSErrors
        looked = "\n".join(f"  {path}" for path in places(number, data_dir))
        raise DataError(
            f"OpenML's data set {number} is not on this machine, and could not be fetched from openml.org ({reason(error)}).\n"
            f"Without a network, put a Parquet copy, its target last, into one of these places:\n{looked}"
        ) from None
    finally:
        socket.setdefaulttimeout(before)
    names = found.target_names or []
    if len(names) > 1:
        raise DataError(f"OpenML's data set {number} has several targets, {', '.join(names[:5])}: mmc needs one")
    frame = found.frame if not names else found.frame[[*(c for c in found.frame.columns if c not in names), *names]]
    return _keep(number, frame)


def _keep(number: int, frame: DataFrame) -> Path:
    path = cache() / "openml" / f"{number}.parquet"
    for name in frame.columns:
        if frame[name].dtype.kind not in "iuf":  # categories, text and truth values are read as text
            frame = frame.assign(**{name: frame[name].astype(object).map(str, na_action="ignore")})
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=path.parent) as folder:
            partial = Path(folder) / path.name
            frame.to_parquet(partial, index=False)
            partial.replace(path)
    except OSError as error:
        raise DataError(f"{path} cannot be written: {error.strerror or error}") from None
    return path
