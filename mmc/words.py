"""Hints for misspelt words, in every room's messages."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def nearest(word: object, words: Iterable[str]) -> str:
    """Return a hint for a misspelt word: the nearest valid one, or all of them."""
    words = list(words)
    close = get_close_matches(str(word), words, n=1, cutoff=0.6)
    return f"did you mean {close[0]!r}?" if close else f"valid: {', '.join(sorted(words)) or 'none'}"
