"""How much memory a file may fill once it is unpacked: a small file can hold gigabytes, by chance or by intent."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from errno import EINVAL
from io import BytesIO
from pathlib import Path
from stat import S_ISDIR, S_ISREG
from typing import Protocol

from mmc.datasets.dataset import DataError

VARIABLE = "MMC_MAX_BYTES"
SHARE = 0.5  # of the memory that is available, unless the variable says how many bytes
_HARMLESS = 1 << 26  # fits everywhere; most files stay below, and need not ask how much memory there is
_LARGE, _TIMES = 1 << 30, 200  # above so many bytes, a table that was packed to less than one in so many is none
_PIECE = 1 << 20


@dataclass(frozen=True)
class Limit:
    """The most bytes that the content of one file may fill; None asks the variable, then the machine."""

    most: int | None = None
    advice: str = f"read a smaller part, or, if you trust the file, allow more bytes with the variable {VARIABLE}"

    def check(self, size: int, path: str, packed: int | None = None) -> None:
        """Raise DataError if so many bytes, or so many from what was ``packed`` into fewer, are too many."""
        most = self._most(size, packed)
        if size > most:
            raise DataError(
                f"{path} would fill {_words(size)} of memory or more, and {_words(most)} are allowed; {self.advice}"
            )

    def _most(self, size: int, packed: int | None) -> int:
        if self.most is not None:
            return self.most
        stated = os.environ.get(VARIABLE)
        if stated:
            if not (stated.isascii() and stated.isdigit() and len(stated) < 20):
                raise DataError(f"{VARIABLE}={stated!r} is not a whole number of bytes, like 8000000000")
            return int(stated)
        if size <= _HARMLESS:
            return _HARMLESS
        import psutil

        most = max(_HARMLESS, int(SHARE * psutil.virtual_memory().available))
        return most if packed is None else min(most, max(_LARGE, _TIMES * packed))


class Readable(Protocol):
    """Any stream of bytes."""

    def read(self, size: int, /) -> bytes: ...


def check_plain(path: Path) -> None:
    """Raise OSError for a path that is no file: a device never ends, and a pipe may never begin."""
    kind = path.stat().st_mode
    if not (S_ISREG(kind) or S_ISDIR(kind)):  # a folder has an error of its own
        raise OSError(EINVAL, "it is a device or a pipe, not a file")


def collect(pieces: Iterable[bytes], limit: Limit, path: str, packed: int | None = None) -> bytes:
    """Return the joined pieces, of so many ``packed`` bytes; stop with DataError as soon as they are too many."""
    content = BytesIO()
    for piece in pieces:
        limit.check(content.tell() + len(piece), path, packed)
        content.write(piece)
    return content.getvalue()


def pieces(stream: Readable) -> Iterator[bytes]:
    """Yield what is in a stream, a megabyte at a time."""
    return iter(lambda: stream.read(_PIECE), b"")


def _words(size: int) -> str:
    for unit, name in ((10**9, "GB"), (10**6, "MB"), (10**3, "kB")):
        if size >= unit:
            return f"{size / unit:.0f} {name}"
    return f"{size} bytes"
