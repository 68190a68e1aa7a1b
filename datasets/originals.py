"""The large sets: files in the formats of their public originals, which do not come with the package.

Text has one row per line, its numbers separated by blanks (usps, where the label is the first of them) or commas
(isolet, where it is the last). IDX (mnist) is a magic number (two zero bytes, 8 for unsigned bytes, the number of
dimensions), the dimensions as big-endian 32-bit integers, then one byte per value; images and labels are two files.

Numbers, not files, are what the registry knows the hashes of: a set is the same however its files were compressed. Bytes
stay bytes (uint8) in memory: as floats MNIST would need 440 MB in every worker.
"""

from __future__ import annotations

import json
import math
import struct
import warnings
from hashlib import sha256
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mmc.datasets.bounds import Limit
from mmc.datasets.dataset import DataError, DataSet, Features
from mmc.datasets.finding import find
from mmc.datasets.registry import Entry, Part
from mmc.datasets.unpacking import unpack

_BYTES_PER_NUMBER, _BYTES_BESIDE = 32, 1 << 16  # more than any way to write a number takes


def read(entry: Entry, data_dir: Path | None) -> DataSet:
    """Return a large set whose files are here; raise DataError if it is not what the registry says."""
    X, y = _assemble(entry, [read_part(entry, part, find(entry, part, data_dir)) for part in entry.parts])
    names = tuple(f"x{number}" for number in range(1, X.shape[1] + 1))
    dataset = DataSet(entry.name, X, y, names, entry.positive, entry.n_train)
    vars(dataset)["content_hash"] = entry.content_hash  # it follows from the parts' hashes; computing it takes a second
    return dataset


def read_part(entry: Entry, part: Part, path: Path | None) -> Features:
    """Return the numbers in a file of a set; raise DataError unless they are those of the original."""
    if path is None:
        raise DataError(f"data set {entry.name!r}: {part.file} was there a moment ago and is gone; try again")
    try:
        data = path.read_bytes()
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or error}") from None
    try:
        return decode(entry, part, content(part, data, str(path)), str(path))
    except DataError as error:
        advice = f"remove it and run `mmc data fetch {entry.name}`, or replace it by the original, {part.url}"
        raise DataError(f"data set {entry.name!r}: {error}; {advice}") from None


def content(part: Part, data: bytes, path: str) -> bytes:
    """Return the plain content of a file of a set; raise DataError if it is damaged, or longer than the original's can be."""
    most = _BYTES_PER_NUMBER * math.prod(part.shape) + _BYTES_BESIDE
    limit = Limit(most, f"the original holds only {_times(part.shape)} numbers")
    return unpack(data, path, (part.file, *part.also), limit)


def decode(entry: Entry, part: Part, plain: bytes, path: str) -> Features:
    """Return the numbers in the plain content of a file; raise DataError unless they are those of the original."""
    numbers = _idx(plain, path) if entry.layout == "idx" else _text(plain, path, part)
    if numbers.shape != part.shape:
        raise DataError(f"{path} holds {_times(numbers.shape)} numbers, but the original {_times(part.shape)}")
    found = digest(numbers)
    if found != part.sha256:
        raise DataError(f"{path} holds other numbers than the original: their sha256 is {found}, not {part.sha256}")
    return numbers


def digest(numbers: Features) -> str:
    """Return the SHA-256 of shape and values, the same on every platform."""
    values = numbers.astype(numbers.dtype.newbyteorder("<"), copy=False)
    return sha256(json.dumps(numbers.shape).encode() + values.tobytes()).hexdigest()


def _text(content: bytes, path: str, part: Part) -> NDArray[np.float64]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", DeprecationWarning)  # how older versions of numpy report unmatched text
            numbers = np.fromstring(content.replace(b",", b" "), sep=" ")
    except (ValueError, DeprecationWarning):
        raise DataError(f"{path} is not a text of numbers: it begins with {content[:20]!r}") from None
    width = part.shape[1]
    if len(numbers) % width:
        raise DataError(f"{path} holds {len(numbers)} numbers, which is no multiple of {width}, the length of a row")
    return numbers.reshape(-1, width)


def _idx(content: bytes, path: str) -> NDArray[np.uint8]:
    if len(content) < 4 or content[:3] != b"\0\0\x08":
        raise DataError(f"{path} is not an IDX file of bytes: it begins with {content[:20]!r}, not with 00 00 08")
    start = 4 + 4 * content[3]
    shape = struct.unpack(f">{content[3]}I", content[4:start]) if len(content) >= start else ()
    if not shape or len(content) - start != np.prod(shape, dtype=object):
        raise DataError(f"{path} is cut off or has a tail: {len(content)} bytes do not hold {_times(shape)} values")
    return np.frombuffer(content, np.uint8, offset=start).reshape(shape)


def _assemble(entry: Entry, parts: list[Features]) -> tuple[Features, NDArray[np.str_]]:
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
    return " × ".join(map(str, shape)) or "any"
