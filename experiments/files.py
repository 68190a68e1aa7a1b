"""Files that appear whole or not at all."""

from __future__ import annotations

import secrets
from pathlib import Path

from mmc.experiments.errors import StoreError


def write(path: Path, content: str | bytes) -> None:
    """Write a file in one step, and its folder if need be; raise StoreError where that cannot be done.

    A link in its place is replaced, never followed.
    """
    partial = path.with_name(f".{secrets.token_hex(8)}.partial")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with partial.open("xb") as file:
                file.write(content.encode("utf-8") if isinstance(content, str) else content)
            partial.replace(path)
        finally:
            partial.unlink(missing_ok=True)
    except OSError as error:
        raise StoreError(f"cannot write to {path.parent}: {error.strerror}") from None
