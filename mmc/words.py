"""Words in every room's messages: hints for misspelt ones, shares in per cent."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import ROUND_HALF_EVEN, Context
from difflib import get_close_matches


def nearest(word: object, words: Iterable[str]) -> str:
    """Return a hint for a misspelt word: the nearest valid one, or all of them."""
    words = list(words)
    close = get_close_matches(str(word), words, n=1, cutoff=0.6)
    return f"did you mean {close[0]!r}?" if close else f"valid: {', '.join(sorted(words)) or 'none'}"


def nearest_registered(word: object, words: Iterable[str]) -> str:
    """Return a hint for the name of a method or data set: where none is alike, it may be that of a plugin."""
    hint = nearest(word, words)
    plugin = "; if a package of yours brings it, install it or use --plugin FILE.py"
    return hint if hint.startswith("did you mean") else hint + plugin


def near_file(name: str, names: Iterable[str]) -> str:
    """Return a hint for a misspelt file among those that are there; nothing where none is alike."""
    close = get_close_matches(name, list(names), n=1, cutoff=0.6)
    return f"; did you mean {close[0]!r}?" if close else ""


def percent(share: float, rounding: str = ROUND_HALF_EVEN) -> str:
    """Return a share in per cent with up to three digits. Round a bound up and a confidence down: both stay true."""
    return f"{Context(prec=3, rounding=rounding).create_decimal(100 * share).normalize():f} %"
