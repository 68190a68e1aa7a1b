"""The store: SQLite, one writer, every record by its key. Killed at any moment, it keeps what was committed."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Self

from mmc.experiments.errors import StoreError
from mmc.experiments.records import Record, dump, parse

FORMAT = 2
_APPLICATION = 0x6D6D6331  # "mmc1"
_SCHEMA = """
CREATE TABLE records (key TEXT PRIMARY KEY, status TEXT NOT NULL, record TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE runs (config TEXT PRIMARY KEY, provenance TEXT NOT NULL) WITHOUT ROWID;
"""


class Store:
    """Records and the provenance of each config's last run."""

    def __init__(self, path: Path | None):
        """Open or create a store; ``None`` keeps it in memory. Raise StoreError where that cannot be done."""
        self.path = path
        self._waiting: list[tuple[str, str, str]] = []
        self._last = time.monotonic()
        try:
            if path is not None:
                path.parent.mkdir(parents=True, exist_ok=True)
            self._db = sqlite3.connect(":memory:" if path is None else path, timeout=30)
            self._prepare()
        except OSError as error:
            raise StoreError(f"cannot write to the results folder {path and path.parent}: {error.strerror}") from None
        except sqlite3.DatabaseError as error:
            raise self._trouble(error) from None

    def _prepare(self) -> None:
        (application,) = self._db.execute("PRAGMA application_id").fetchone()
        (version,) = self._db.execute("PRAGMA user_version").fetchone()
        empty = not self._db.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone()
        if not empty and (application != _APPLICATION or version != FORMAT):
            what = f"of format {version}" if application == _APPLICATION else "not mmc's"
            raise StoreError(
                f"{self.path} is a store {what}; this mmc reads format {FORMAT}. "
                "Move the file away, or give another folder with --results"
            )
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.execute("PRAGMA synchronous = NORMAL")
        if empty:
            self._db.executescript(
                f"BEGIN; {_SCHEMA} PRAGMA application_id = {_APPLICATION}; PRAGMA user_version = {FORMAT}; COMMIT;"
            )

    def _trouble(self, error: Exception) -> StoreError:
        text = str(error)
        if "locked" in text:
            return StoreError(
                f"{self.path} is in use by another run; wait for it, or give another folder with --results"
            )
        if any(word in text for word in ("readonly", "unable to open", "disk I/O", "disk is full")):
            return StoreError(f"cannot write to the store {self.path}: {text}")
        return StoreError(
            f"{self.path} is damaged ({text}). Nothing was changed. Move the file away and run again: "
            "what it held is computed anew"
        )

    def get(self, keys: Iterable[str]) -> dict[str, Record]:
        """Return the records that are there, by key."""
        self.commit()
        found = {}
        keys = list(keys)
        try:
            for start in range(0, len(keys), 500):
                part = keys[start : start + 500]
                marks = ",".join("?" * len(part))
                rows = self._db.execute(f"SELECT key, status, record FROM records WHERE key IN ({marks})", part)
                found.update({key: parse(key, record) for key, _, record in rows})
        except (sqlite3.DatabaseError, ValueError) as error:
            raise self._trouble(error) from None
        return found

    def put(self, records: Iterable[Record]) -> None:
        """Add records; they are safe on disk a moment later, or at the next ``commit``.

        They wait in memory, not in an open transaction, so that another run can use the same store meanwhile.
        """
        self._waiting += [(r.key, str(r.status), dump(r)) for r in records]
        if time.monotonic() - self._last > 0.25:
            self.commit()

    def commit(self) -> None:
        """Make everything so far safe."""
        try:
            with self._db:
                self._db.executemany("INSERT OR REPLACE INTO records VALUES (?, ?, ?)", self._waiting)
        except sqlite3.DatabaseError as error:
            raise self._trouble(error) from None
        self._waiting = []
        self._last = time.monotonic()

    def provenance(self, config: str) -> dict[str, Any] | None:
        """Return the provenance of a config's last run that fitted anything."""
        row = self._db.execute("SELECT provenance FROM runs WHERE config = ?", (config,)).fetchone()
        return json.loads(row[0]) if row else None

    def set_provenance(self, config: str, provenance: dict[str, Any]) -> None:
        """Keep the provenance of a run, once."""
        with self._db:
            self._db.execute("INSERT OR REPLACE INTO runs VALUES (?, ?)", (config, json.dumps(provenance)))

    def close(self) -> None:
        """Commit and close."""
        self.commit()
        self._db.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
