"""Files of Unix ``compress`` (.Z), in which the UCI repository keeps its older sets and which Python cannot read.

After the magic number 1f 9d a byte holds the largest width of a code and, as its highest bit, whether code 256 clears
the table. Codes are packed from the lowest bit on, nine bits wide at first; a code one bit wider begins when the table
has outgrown the width. A width ends, as does the input before a clear, on a whole group of eight codes.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

MAGIC = b"\x1f\x9d"
_CLEAR = 256
_PIECE = 1 << 20
_CODES_AT_ONCE = 1 << 16  # a multiple of eight


def decompress(data: bytes) -> bytes:
    """Return the content; raise ValueError if the data are damaged. There is no checksum: a cut may go unnoticed."""
    return b"".join(pieces(data))


def pieces(data: bytes) -> Iterator[bytes]:
    """Yield the content piece by piece, so that the caller can stop before it fills the memory."""
    if data[:2] != MAGIC or len(data) < 3 or not 10 <= data[2] & 31 <= 16:
        raise ValueError("not a file of compress, with codes of 10 to 16 bits")
    widest, clears = data[2] & 31, bool(data[2] & 128)
    full = 1 << widest
    position, width = 3, 9
    table = _fresh(clears)
    last = b""
    while position < len(data):
        room = (1 << width) - len(table) + (not last)  # the first code after a clear adds no entry
        codes = _codes(data, position, width, room if width < widest else _CODES_AT_ONCE)
        if not codes:  # the data end inside a code
            return
        clear = codes.index(_CLEAR) if clears and _CLEAR in codes else None
        content: list[bytes] = []
        size = 0
        for code in codes[:clear]:
            if code < len(table):
                entry = table[code]
            elif code == len(table) and last:
                entry = last + last[:1]
            else:
                raise ValueError(f"code {code} before its turn")
            if last and len(table) < full:
                table.append(last + entry[:1])
            last = entry
            content.append(entry)
            size += len(entry)
            if size > _PIECE:
                yield b"".join(content)
                content, size = [], 0
        yield b"".join(content)
        read = len(codes) if clear is None else clear + 1
        position += -(-read // 8) * width
        if clear is not None:
            table, width, last = _fresh(clears), 9, b""
        elif width < widest and len(table) == 1 << width:
            width += 1


def _fresh(clears: bool) -> list[bytes]:
    return [bytes([value]) for value in range(256)] + [b""] * clears


def _codes(data: bytes, start: int, width: int, wanted: int) -> list[int]:
    """Return at most so many codes; fewer where the data end."""
    raw = data[start : start + -(-wanted // 8) * width]
    offsets = np.arange(min(wanted, len(raw) * 8 // width)) * width
    octets = np.frombuffer(raw + b"\0\0", np.uint8).astype(np.uint32)
    at = offsets >> 3
    three = octets[at] | octets[at + 1] << 8 | octets[at + 2] << 16
    codes: list[int] = (three >> (offsets & 7).astype(np.uint32) & ((1 << width) - 1)).tolist()
    return codes
