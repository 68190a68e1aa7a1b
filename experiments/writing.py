"""Writes files in one step: a reader finds the old file or the new one, never half of it."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from mmc.experiments.errors import StoreError

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)


def write_file(path: Path, content: str | bytes) -> None:
    """Write a file, and its folder if that is not there; raise StoreError where that cannot be done.

    A link that lies at the path is replaced, never written through.
    """
    data = content.encode("utf-8") if isinstance(content, str) else content
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_name(f".{path.name}.{secrets.token_hex(8)}.partial")
        with os.fdopen(os.open(partial, _NEW, 0o666), "wb") as file:
            file.write(data)
        try:
            partial.replace(path)
        except BaseException:
            partial.unlink()
            raise
    except OSError as error:
        raise StoreError(f"cannot write {path}: {error.strerror}") from None
