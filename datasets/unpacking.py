"""The plain content of a file that may be compressed. Its first bytes decide, not its name: browsers change names."""

from __future__ import annotations

import gzip
import io
import zipfile
import zlib
from collections.abc import Sequence
from pathlib import PurePosixPath

from mmc.datasets import lzw
from mmc.datasets.dataset import DataError
from mmc.datasets.finding import ENDINGS


def unpack(data: bytes, path: str, names: Sequence[str]) -> bytes:
    """Return the content of plain, gzip or compress data; of a zip archive, that of the member with one of the names."""
    try:
        if data.startswith(b"\x1f\x8b"):
            return gzip.decompress(data)
        if data.startswith(lzw.MAGIC):
            return lzw.decompress(data)
        if data.startswith(b"PK\3\4"):
            return _member(data, path, names)
    except (OSError, EOFError, ValueError, zlib.error, zipfile.BadZipFile) as error:
        if isinstance(error, DataError):
            raise
        raise DataError(f"{path} is damaged or cut off and cannot be decompressed ({error})") from None
    return data


def _member(data: bytes, path: str, names: Sequence[str]) -> bytes:
    wanted = {name + ending for name in names for ending in ENDINGS}
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for member in archive.namelist():
            if PurePosixPath(member).name in wanted:
                return unpack(archive.read(member), f"{path}, {member}", names)
    raise DataError(
        f"{path} has no {' or '.join(names)} (or with an ending {' or '.join(filter(None, ENDINGS))}) inside"
    )
