"""The store: SQLite, one writer, every record by its key. Killed at any moment, it keeps what was committed."""

from __future__ import annotations

import hashlib
import json
import logging
import sqlite3
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Self, cast

from mmc.experiments.errors import StoreError
from mmc.experiments.provenance import Provenance
from mmc.experiments.records import Record, dump, parse

FORMAT = 3
_APPLICATION = 0x6D6D6331  # "mmc1"
_SCHEMA = (
    "CREATE TABLE IF NOT EXISTS records (key TEXT PRIMARY KEY, record TEXT NOT NULL, checksum TEXT NOT NULL) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS runs (identity TEXT PRIMARY KEY, config TEXT NOT NULL, provenance TEXT NOT NULL,"
    " checksum TEXT NOT NULL) WITHOUT ROWID",
    f"PRAGMA application_id = {_APPLICATION}",
    f"PRAGMA user_version = {FORMAT}",
)
_PATIENCE = 30.0  # seconds that a store may be locked by another process
_log = logging.getLogger("mmc")


class Store:
    """Records, and the provenance of runs. Every row carries a checksum: a damaged one counts as absent."""

    def __init__(self, path: Path | None, *, readonly: bool = False):
        """Open or create a store; ``None`` keeps it in memory. Raise StoreError where that cannot be done.

        ``readonly`` needs no right to write, neither to the file nor to its folder.
        """
        self.path = path
        self._waiting: list[tuple[str, str, str]] = []
        self._last = time.monotonic()
        try:
            if path is None or not readonly:
                self._db = self._writable(path)
            else:
                self._db = self._readable(path)
        except OSError as error:
            raise StoreError(f"cannot write to the results folder {path and path.parent}: {error.strerror}") from None
        except (sqlite3.Error, ValueError, OverflowError) as error:
            raise self._trouble(error) from None

    def _writable(self, path: Path | None) -> sqlite3.Connection:
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            if path.is_symlink():  # it could lead out of the results folder
                raise StoreError(f"{path} is a link, not a file: delete it, or give its folder with --results")
        db = sqlite3.connect(":memory:" if path is None else path, timeout=_PATIENCE, isolation_level=None)
        until = time.monotonic() + _PATIENCE
        while True:
            try:
                self._create(db)
                return db
            except sqlite3.OperationalError as error:  # SQLite does not wait for every lock by itself
                if "locked" not in str(error) or time.monotonic() > until:
                    raise
                time.sleep(0.02)

    def _create(self, db: sqlite3.Connection) -> None:
        """Make the tables if there are none, refuse a file of another kind. Others may do the same at the same moment."""
        with _transaction(db):
            if not self._check(db):
                for statement in _SCHEMA:
                    db.execute(statement)
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = NORMAL")

    def _readable(self, path: Path) -> sqlite3.Connection:
        uri = path.resolve().as_uri()
        try:
            db = sqlite3.connect(f"{uri}?mode=ro", uri=True, timeout=_PATIENCE, isolation_level=None)
            self._check(db)
        except sqlite3.OperationalError:  # it may lack its auxiliary files, and a folder where they could be made
            log = path.with_name(f"{path.name}-wal")
            if log.exists() and log.stat().st_size:
                raise
            db = sqlite3.connect(f"{uri}?immutable=1", uri=True, isolation_level=None)
            self._check(db)
        return db

    def _check(self, db: sqlite3.Connection) -> bool:
        """Whether there is a store in the file yet; raise StoreError if there is something else."""
        (application,) = db.execute("PRAGMA application_id").fetchone()
        (version,) = db.execute("PRAGMA user_version").fetchone()
        if not db.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone():
            return False
        if application != _APPLICATION:
            raise StoreError(
                f"{self.path} is not mmc's: another program made it. Move it away, or give another folder with --results"
            )
        if version != FORMAT:
            age = (
                "an older mmc made it, and its records are of older code" if version < FORMAT else "a newer mmc made it"
            )
            raise StoreError(
                f"{self.path} is a store of format {version}; this mmc reads format {FORMAT} ({age}). "
                "Move the file away, or give another folder with --results"
            )
        return True

    def _trouble(self, error: Exception) -> StoreError:
        text = str(error)
        if "locked" in text:
            return StoreError(
                f"{self.path} is in use by another run; wait for it, or give another folder with --results"
            )
        if any(word in text for word in ("readonly", "unable to open", "disk I/O", "disk is full")):
            return StoreError(f"cannot use the store {self.path}: {text}")
        return StoreError(
            f"{self.path} is damaged ({text}). Nothing was changed. Move the file away and run again: "
            "what it held is computed anew"
        )

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, ValueError, OverflowError) as error:
            raise self._trouble(error) from None

    def get(self, keys: Iterable[str]) -> dict[str, Record]:
        """Return the records that are there, by key. A damaged one is left out, and said."""
        self.commit()
        found: dict[str, Record] = {}
        damaged = 0
        wanted = list(keys)
        with self._guarded():
            for start in range(0, len(wanted), 500):
                part = wanted[start : start + 500]
                marks = ",".join("?" * len(part))
                query = f"SELECT key, CAST(record AS BLOB), CAST(checksum AS BLOB) FROM records WHERE key IN ({marks})"
                for key, record, checksum in self._db.execute(query, part):
                    text = _intact(key, record, checksum)
                    if text is None:
                        damaged += 1
                    else:
                        found[key] = parse(key, text)
        if damaged:
            _log.warning("%s: %d of its records are damaged and count as not there", self.path, damaged)
        return found

    def put(self, records: Iterable[Record]) -> None:
        """Add records; they are safe on disk a moment later, or at the next ``commit``.

        They wait in memory, not in an open transaction, so that another run can use the same store meanwhile.
        """
        for record in records:
            text = dump(record)
            self._waiting.append((record.key, text, _checksum(record.key, text)))
        if time.monotonic() - self._last > 0.25:
            self.commit()

    def commit(self) -> None:
        """Make everything so far safe."""
        if self._waiting:
            with self._guarded(), _transaction(self._db):
                self._db.executemany("INSERT OR REPLACE INTO records VALUES (?, ?, ?)", self._waiting)
            self._waiting = []
        self._last = time.monotonic()

    def provenance(self, identity: str) -> Provenance | None:
        """Return the provenance of the last run of an experiment that fitted anything."""
        query = "SELECT CAST(provenance AS BLOB), CAST(checksum AS BLOB) FROM runs WHERE identity = ?"
        with self._guarded():
            row = self._db.execute(query, (identity,)).fetchone()
        text = None if row is None else _intact(identity, *row)
        return None if text is None else cast(Provenance, json.loads(text))

    def set_provenance(self, identity: str, provenance: Provenance) -> None:
        """Keep the provenance of a run under the identity of its experiment."""
        text = json.dumps(dict(provenance), allow_nan=False)
        row = (identity, str(provenance["config"]), text, _checksum(identity, text))
        with self._guarded(), _transaction(self._db):
            self._db.execute("INSERT OR REPLACE INTO runs VALUES (?, ?, ?, ?)", row)

    def close(self) -> None:
        """Commit and close."""
        try:
            self.commit()
        finally:
            self._db.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@contextmanager
def _transaction(db: sqlite3.Connection) -> Iterator[None]:
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise
    db.execute("COMMIT")


def _checksum(key: str, text: str) -> str:
    return hashlib.sha256(f"{key}\0{text}".encode()).hexdigest()[:16]


def _intact(key: object, text: object, checksum: object) -> str | None:
    """Return the text of a row as it was written, or None if it or its checksum has changed since."""
    if not (isinstance(key, str) and isinstance(text, bytes) and isinstance(checksum, bytes)):
        return None
    try:
        written = text.decode("utf-8")
        return written if checksum.decode("ascii") == _checksum(key, written) else None
    except UnicodeDecodeError:
        return None
