"""Refusal by size, before the work: how much it needs, how much there is, and what would do."""

from __future__ import annotations

import psutil

from mmc.methods.solution import FitError

_SMALL = 2**28  # bytes for which it is not worth asking the system
_UNITS = ("B", "kB", "MB", "GB", "TB", "PB")


def require(needed: float, what: str, instead: str) -> None:
    """Raise FitError if ``needed`` bytes for ``what`` are more than there are; ``instead`` says what would do."""
    if needed < _SMALL:
        return
    free = psutil.virtual_memory().available
    if needed > free:
        raise FitError(f"{what} would take {amount(needed)} of memory, and {amount(free)} are free: {instead}")


def amount(size: float) -> str:
    """Return a number of bytes as people say it."""
    power = 0
    while size >= 1000 and power < len(_UNITS) - 1:
        size, power = size / 1000, power + 1
    return f"{size:.3g} {_UNITS[power]}"
