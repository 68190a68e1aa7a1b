"""What a reader is: the formats that it knows, and a function from the bytes of a file to a table."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from mmc.datasets.bounds import Limit
from mmc.datasets.cells import Notation
from mmc.datasets.dataset import DataError, reason
from mmc.datasets.table import Table

_ROWS_AT_ONCE = 4096
_LONGEST = 1 << 26  # bytes of a line
_BYTES_PER_CELL = 64  # of a short text in Python, with a reference to it


@dataclass(frozen=True)
class Source:
    """A file as a reader gets it: its plain bytes, and what the caller said of it.

    ``path`` is for messages. ``target`` is the column of the labels.
    """

    path: str
    data: bytes
    target: str
    separator: str | None = None
    encoding: str | None = None
    notation: Notation = field(default_factory=Notation)
    limit: Limit = field(default_factory=Limit)

    def lines(self, newline: str | None = None) -> Iterator[str]:
        """Yield the lines of a text, UTF-8 unless another encoding is stated; ``newline`` as ``open`` has it."""
        for start in range(0, len(self.data) - _LONGEST, _LONGEST):  # such a line would be in memory three times
            if all(self.data.find(end, start, start + _LONGEST) < 0 for end in (b"\n", b"\r")):
                raise DataError(f"{self.path} has a line of more than {_LONGEST >> 20} MiB; is it a table?")
        try:
            yield from io.TextIOWrapper(io.BytesIO(self.data), self.encoding or "utf-8-sig", newline=newline)
        except (LookupError, ValueError):
            self._explain()
            raise

    def check_cells(self, rows: int, cells: int) -> None:
        """Raise DataError if so many cells of text would fill too much memory; looks at every 4096th row only."""
        if rows % _ROWS_AT_ONCE == 0:
            self.limit.check(_BYTES_PER_CELL * (rows + cells), self.path)

    def _explain(self) -> None:
        """Raise the DataError that says why the bytes are not text, and on which line."""
        try:
            self.data.decode(self.encoding or "utf-8")
        except UnicodeDecodeError as error:
            line = self.data.count(b"\n", 0, error.start) + 1
            raise DataError(
                f"{self.path}:{line}: byte {self.data[error.start]:#04x} is not {self._encoding} text; {self._advice}, or "
                "check that its format is the one it claims"
            ) from None
        except (LookupError, ValueError) as error:
            raise DataError(
                f"{self.path}: encoding={self.encoding!r} does not work ({reason(error)}); the usual ones are utf-8, cp1252 and utf-16"
            ) from None

    @property
    def _encoding(self) -> str:
        return self.encoding or "UTF-8"

    @property
    def _advice(self) -> str:
        likely = "utf-16" if self.data[:2] in (b"\xff\xfe", b"\xfe\xff") else "cp1252"
        return f"save the file as UTF-8, or set encoding={likely!r} if it is of that kind"


@dataclass(frozen=True)
class Reader:
    """A format: its name, how to read it, and the endings of its files (the name is one too).

    ``options`` are those of "separator", "decimal" and "encoding" that make sense for it; ``target`` is the name of the labels'
    column where the format has no names and the caller gives none.
    """

    name: str
    read: Callable[[Source], Table]
    endings: tuple[str, ...] = ()
    options: frozenset[str] = frozenset()
    target: str = ""
