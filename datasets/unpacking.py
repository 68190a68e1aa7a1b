"""The plain content of a file that may be compressed. Its first bytes decide, not its name: browsers change names."""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Callable, Sequence
from pathlib import PurePosixPath

import mmc.datasets.lzw as lzw
from mmc.datasets.bounds import Limit, collect, pieces
from mmc.datasets.dataset import DataError, reason
from mmc.datasets.finding import ENDINGS

GZIP, ZIP = b"\x1f\x8b", b"PK\3\4"
DAMAGE = (OSError, EOFError, ValueError, zlib.error)  # what damaged files raise

Choose = Callable[[list[str]], str]  # the member of an archive to read, from the names of all; raises DataError


def unpack(data: bytes, path: str, names: Sequence[str], limit: Limit) -> bytes:
    """Return the content of plain, gzip or compress data; of a zip archive, that of the member with one of the names."""

    def choose(members: list[str]) -> str:
        wanted = {name + ending for name in names for ending in ENDINGS}
        for member in members:
            if PurePosixPath(member).name in wanted:
                return member
        endings = " or ".join(filter(None, ENDINGS))
        raise DataError(f"{path} has no {' or '.join(names)} (or with an ending {endings}) inside")

    try:
        if data.startswith(ZIP):
            member, data = unzip(data, path, choose, limit)
            path = f"{path}, {member}"
        return inflate(data, path, limit)
    except DAMAGE as error:
        if isinstance(error, DataError):
            raise
        raise DataError(f"{path} is damaged or cut off and cannot be decompressed ({reason(error)})") from None


def inflate(data: bytes, path: str, limit: Limit) -> bytes:
    """Return the content of gzip or compress data, and other data as they are; raise one of DAMAGE if they are damaged."""
    if data.startswith(GZIP):
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as stream:
            return collect(pieces(stream), limit, path, len(data))
    if data.startswith(lzw.MAGIC):
        return collect(lzw.pieces(data), limit, path, len(data))
    return data


def unzip(data: bytes, path: str, choose: Choose, limit: Limit) -> tuple[str, bytes]:
    """Return one member of an archive, its name and its content; raise one of DAMAGE if it is damaged."""
    import lzma
    import struct
    import zipfile

    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            member = choose(archive.namelist())
            if archive.getinfo(member).flag_bits & 1:
                raise DataError(f"{path}, {member} is encrypted; unpack it yourself and give the plain file")
            with archive.open(member) as stream:
                return member, collect(pieces(stream), limit, f"{path}, {member}", len(data))
    # RuntimeError: an unknown method of compression
    except (zipfile.BadZipFile, lzma.LZMAError, struct.error, RuntimeError, LookupError, OverflowError) as error:
        raise ValueError(reason(error)) from None
