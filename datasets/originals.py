"""The large sets: files in the formats of their public originals, which do not come with the package.

Text has one row per line, its numbers separated by blanks (usps, where the label is the first of them) or commas
(isolet, where it is the last). IDX (mnist) is a magic number (two zero bytes, 8 for unsigned bytes, the number of
dimensions), the dimensions as big-endian 32-bit integers, then one byte per value; images and labels are two files.

Numbers, not files, are what the registry knows the hashes of: a set is the same however its files were compressed. Bytes
stay bytes (uint8) in memory: as floats MNIST would need 440 MB in every worker.
"""

from __future__ import annotations

import gzip
import json
import os
import struct
import warnings
import zlib
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mmc.datasets.dataset import DataError, DataSet
from mmc.datasets.registry import Entry, Part

VARIABLE = "MMC_DATA_DIR"


def read(entry: Entry, data_dir: Path | None) -> DataSet:
    """Return a large set; raise DataError if a file is missing or is not what the registry says."""
    X, y = _assemble(entry, [_part(entry, part, data_dir) for part in entry.parts])
    names = tuple(f"x{number}" for number in range(1, X.shape[1] + 1))
    dataset = DataSet(entry.name, X, y, names, entry.positive, entry.n_train)
    vars(dataset)["content_hash"] = entry.content_hash  # it follows from the parts' hashes; computing it takes a second
    return dataset


def find(entry: Entry, part: Part, data_dir: Path | None) -> Path | None:
    """Return where a file of a set lies, None if it is not on this machine."""
    for place in places(entry, data_dir):
        for name in (part.file, *part.also):
            for ending in ("", ".gz"):
                path = place / (name + ending)
                if path.is_file():
                    return path
    return None


def places(entry: Entry, data_dir: Path | None) -> list[Path]:
    """Return the folders in which the files of a set are looked for."""
    if data_dir is None and os.environ.get(VARIABLE):
        data_dir = Path(os.environ[VARIABLE])
    return [] if data_dir is None else [data_dir / entry.name, data_dir]


def _part(entry: Entry, part: Part, data_dir: Path | None) -> NDArray[Any]:
    path = find(entry, part, data_dir)
    if path is None:
        raise DataError(f"data set {entry.name!r}: {part.file} is not on this machine")
    return decode(entry, part, path.read_bytes(), str(path))


def decode(entry: Entry, part: Part, data: bytes, path: str) -> NDArray[Any]:
    """Return the numbers in a file; raise DataError unless they are those of the original."""
    if data[:2] == b"\x1f\x8b":
        try:
            data = gzip.decompress(data)
        except (OSError, EOFError, zlib.error) as error:
            raise DataError(f"{path} is not a complete gzip file ({error})") from None
    numbers = _idx(data, path) if entry.layout == "idx" else _text(data, path, part)
    if numbers.shape != part.shape:
        raise DataError(f"{path} holds {_times(numbers.shape)} numbers, but the original {_times(part.shape)}")
    found = digest(numbers)
    if found != part.sha256:
        raise DataError(f"{path} holds other numbers than the original: their sha256 is {found}, not {part.sha256}")
    return numbers


def digest(numbers: NDArray[Any]) -> str:
    """Return the SHA-256 of shape and values, the same on every platform."""
    values = numbers.astype(numbers.dtype.newbyteorder("<"), copy=False)
    return sha256(json.dumps(numbers.shape).encode() + values.tobytes()).hexdigest()


def _text(data: bytes, path: str, part: Part) -> NDArray[np.float64]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", DeprecationWarning)  # how older versions of numpy report unmatched text
            numbers = np.fromstring(data.replace(b",", b" "), sep=" ")
    except (ValueError, DeprecationWarning):
        raise DataError(f"{path} is not a text of numbers") from None
    width = part.shape[1]
    if len(numbers) % width:
        raise DataError(f"{path} holds {len(numbers)} numbers, which is no multiple of {width}, the length of a row")
    return numbers.reshape(-1, width)


def _idx(data: bytes, path: str) -> NDArray[np.uint8]:
    if len(data) < 4 or data[:3] != b"\0\0\x08":
        raise DataError(f"{path} is not an IDX file of bytes: it begins with {data[:4].hex(' ')}, not with 00 00 08")
    start = 4 + 4 * data[3]
    shape = struct.unpack(f">{data[3]}I", data[4:start]) if len(data) >= start else ()
    if not shape or len(data) - start != np.prod(shape, dtype=object):
        raise DataError(f"{path} is cut off or has a tail: {len(data)} bytes do not hold {_times(shape)} values")
    return np.frombuffer(data, np.uint8, offset=start).reshape(shape)


def _assemble(entry: Entry, parts: list[NDArray[Any]]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return features and labels, the training part first."""
    if entry.layout == "idx":
        X = np.concatenate([images.reshape(len(images), -1) for images in parts[::2]])
        labels = np.concatenate(parts[1::2])
    else:
        rows = np.concatenate(parts)
        first = entry.layout == "label-first"
        X = np.ascontiguousarray(rows[:, 1:] if first else rows[:, :-1])
        labels = rows[:, 0 if first else -1].astype(int)
    return X, np.array([str(label) for label in labels.tolist()])


def _times(shape: tuple[int, ...]) -> str:
    return " × ".join(map(str, shape))
