"""Arrays in a ``.npz`` file: nothing in it can run code, and whatever is wrong with it is one ValueError."""

from __future__ import annotations

import os
from pathlib import Path
from zipfile import BadZipFile, ZipFile
from zlib import error as ZlibError

import numpy as np
from numpy.typing import NDArray

Arrays = dict[str, NDArray[np.generic]]
_FORMAT = 1
_LARGEST = 2**32  # bytes unpacked


def write_arrays(path: str | Path, kind: str, arrays: Arrays) -> None:
    """Write the arrays, whole or not at all: to another name first."""
    path = Path(path)
    new = path.with_name(path.name + ".new")
    with new.open("wb") as file:
        np.savez(file, allow_pickle=False, **{"kind": np.array(kind), "format": np.array(_FORMAT), **arrays})
    os.replace(new, path)


def read_arrays(path: str | Path, kind: str) -> Arrays:
    """Return the arrays of a file of that kind."""
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"{path}: no such file")
    try:
        with ZipFile(path) as archive:
            if sum(member.file_size for member in archive.infolist()) > _LARGEST:
                raise ValueError(f"{path} unpacks to more than 4 GiB: these are no moments")
        with np.load(path, allow_pickle=False) as file:
            arrays: Arrays = {name: file[name] for name in file.files}
    except (BadZipFile, EOFError, KeyError, OSError, ZlibError):
        raise ValueError(f"{path} is no file of moments, or is damaged") from None
    found = str(arrays.pop("kind", ""))
    if found != kind:
        raise ValueError(f"{path} holds {found!r}, not {kind!r}" if found else f"{path} is no file of moments")
    written = arrays.pop("format", np.array(0))
    if written.shape != () or written.dtype.kind not in "iu" or int(written) > _FORMAT:
        raise ValueError(f"{path} was written by a newer mmc, or is damaged")
    return arrays
