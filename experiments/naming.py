"""Names of files. The one function that makes them of what a user has written."""

from __future__ import annotations

import hashlib
import re

_LONGEST = 100
_OTHER = re.compile(r"[^\w .,=+()-]")


def safe_name(text: str) -> str:
    """Return a text as the name of a file that stays in its folder: no path, no dot in front, not too long.

    A text that has to be changed gets a part of its hash at the end, so that two different texts never share a name.
    """
    name = _OTHER.sub("_", text).strip(". ")
    while len(name.encode()) > _LONGEST:
        name = name[:-1]
    if name == text and name:
        return name
    return f"{name or 'unnamed'}-{hashlib.sha256(text.encode(errors='surrogatepass')).hexdigest()[:8]}"
