"""The store: keeps what was committed, and says clearly what is wrong with a file that it cannot use."""

import multiprocessing
import os
import sqlite3
import tempfile
from pathlib import Path

import pytest

from mmc.experiments import store as module
from mmc.experiments.errors import StoreError
from mmc.experiments.records import Record
from mmc.experiments.store import Store
from mmc.methods.solution import Status
from tests.experiments.flat import made

FORKS = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")


def records(n):
    return [made({"wrong_pos": i}, f"key{i}") for i in range(n)]


def test_what_was_put_comes_back_after_reopening(tmp_path):
    with Store(tmp_path / "store.sqlite") as store:
        store.put(records(1200))
    with Store(tmp_path / "store.sqlite") as store:
        found = store.get([f"key{i}" for i in range(0, 2400, 2)])
    assert len(found) == 600
    assert found["key10"] == made({"wrong_pos": 10}, "key10")


def test_the_same_key_twice_is_one_record(tmp_path):
    with Store(tmp_path / "store.sqlite") as store:
        store.put(records(2))
        store.put([Record("key1", Status.INFEASIBLE)])
        assert {key: r.status for key, r in store.get(["key0", "key1"]).items()} == {
            "key0": "solved",
            "key1": "infeasible",
        }


def test_a_damaged_store_is_named_and_not_touched(tmp_path):
    path = tmp_path / "store.sqlite"
    path.write_bytes(b"this is not a database, but somebody may want it" * 100)
    before = path.read_bytes()
    with pytest.raises(StoreError, match="is damaged"):
        Store(path)
    assert path.read_bytes() == before


def test_a_store_damaged_in_the_middle(tmp_path):
    path = tmp_path / "store.sqlite"
    with Store(path) as store:
        store.put(records(5000))
    size = path.stat().st_size
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(os.urandom(size - 4096))
    with pytest.raises(StoreError, match="is damaged"), Store(path) as store:
        store.get([f"key{i}" for i in range(5000)])


def test_a_store_of_another_version_is_refused(tmp_path):
    path = tmp_path / "store.sqlite"
    Store(path).close()
    db = sqlite3.connect(path)
    db.execute("PRAGMA user_version = 99")
    db.close()
    with pytest.raises(StoreError, match=r"format 99.*reads format 3 \(a newer mmc made it\).*--results"):
        Store(path)


def test_somebody_elses_database_is_refused(tmp_path):
    path = tmp_path / "store.sqlite"
    db = sqlite3.connect(path)
    db.execute("CREATE TABLE mine (x)")
    db.commit()
    db.close()
    with pytest.raises(StoreError, match="not mmc's"):
        Store(path)


def test_a_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="cannot write to the results folder"):
        Store(tmp_path / "file" / "store.sqlite")


@pytest.mark.parametrize("there", [True, False])
def test_a_link_is_no_store(tmp_path, there):
    outside, folder = tmp_path / "outside.sqlite", tmp_path / "results"
    folder.mkdir()
    if there:
        Store(outside).close()
    before = outside.read_bytes() if there else None
    (folder / "store.sqlite").symlink_to(outside)
    with pytest.raises(StoreError, match="is a link, not a file"):
        Store(folder / "store.sqlite")
    assert (outside.read_bytes() if there else None) == before
    assert outside.exists() == there


def test_two_runs_can_use_one_store(tmp_path):
    with Store(tmp_path / "store.sqlite") as one, Store(tmp_path / "store.sqlite") as other:
        one.put(records(3))
        other.put([Record("mine", Status.SOLVED)])
        other.commit()
        one.commit()
        assert set(other.get(["key0", "key1", "key2", "mine"])) == {"key0", "key1", "key2", "mine"}


@pytest.mark.parametrize("version", [1, 2])
def test_an_older_store_is_refused_and_not_touched(tmp_path, version):
    path = tmp_path / "store.sqlite"
    db = sqlite3.connect(path)
    db.executescript(
        "CREATE TABLE records (key TEXT PRIMARY KEY, status TEXT NOT NULL, record TEXT NOT NULL) WITHOUT ROWID;"
        f"PRAGMA application_id = {0x6D6D6331}; PRAGMA user_version = {version};"
    )
    db.close()
    before = path.read_bytes()
    for readonly in (False, True):
        with pytest.raises(StoreError, match=rf"format {version}.*an older mmc made it.*Move the file away"):
            Store(path, readonly=readonly)
    assert path.read_bytes() == before


def _open_behind(barrier, path, number, said):
    barrier.wait()
    try:
        with Store(path) as store:
            store.put([Record(f"key{number}", Status.SOLVED)])
        said.put("")
    except Exception as error:
        said.put(f"{type(error).__name__}: {error}")


@FORKS
def test_many_processes_that_create_a_store_at_once(tmp_path):
    """All of them succeed, and no record is lost."""
    context = multiprocessing.get_context("fork")
    count = 8
    for attempt in range(6):
        path = tmp_path / str(attempt) / "store.sqlite"
        barrier, said = context.Barrier(count), context.Queue()
        crowd = [context.Process(target=_open_behind, args=(barrier, path, i, said)) for i in range(count)]
        for process in crowd:
            process.start()
        assert [said.get(timeout=60) for _ in crowd] == [""] * count
        for process in crowd:
            process.join()
        with Store(path) as store:
            assert len(store.get(f"key{i}" for i in range(count))) == count


@pytest.mark.parametrize("column", ["record", "checksum"])
def test_a_flipped_bit_is_found_and_said(tmp_path, column, caplog):
    path = tmp_path / "store.sqlite"
    with Store(path) as store:
        store.put(records(10))
    db = sqlite3.connect(path)
    (text,) = db.execute(f"SELECT {column} FROM records WHERE key = 'key3'").fetchone()
    place = text.index("3") if column == "record" else 0
    db.execute(
        f"UPDATE records SET {column} = ? WHERE key = 'key3'",
        (text[:place] + chr(ord(text[place]) ^ 1) + text[place + 1 :],),
    )
    db.execute("UPDATE records SET record = CAST(x'ff00fe' AS TEXT) WHERE key = 'key5'")
    db.execute("UPDATE records SET record = 17 WHERE key = 'key7'")
    db.commit()
    db.close()
    with Store(path) as store:
        found = store.get(f"key{i}" for i in range(10))
        assert set(found) == {f"key{i}" for i in (0, 1, 2, 4, 6, 8, 9)}
        assert "3 of its records are damaged" in caplog.text
        caplog.clear()
        store.put(records(10))
        assert len(store.get(f"key{i}" for i in range(10))) == 10
    assert not caplog.text


def test_a_record_under_another_key_is_damaged(tmp_path):
    path = tmp_path / "store.sqlite"
    with Store(path) as store:
        store.put(records(1))
    db = sqlite3.connect(path)
    db.execute("UPDATE records SET key = 'other'")
    db.commit()
    db.close()
    with Store(path) as store:
        assert store.get(["key0", "other"]) == {}


def test_damaged_provenance_is_none(tmp_path):
    path = tmp_path / "store.sqlite"
    with Store(path) as store:
        store.set_provenance("me", {"config": "small", "seconds": 1.0})
        assert store.provenance("me") == {"config": "small", "seconds": 1.0}
        assert store.provenance("other") is None
    db = sqlite3.connect(path)
    db.execute("UPDATE runs SET provenance = replace(provenance, '1.0', '2.0')")
    db.commit()
    db.close()
    with Store(path) as store:
        assert store.provenance("me") is None


def test_a_locked_store_is_one_message(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "_PATIENCE", 0.1)
    path = tmp_path / "store.sqlite"
    with Store(path) as store:
        store.put(records(1))
        store.commit()
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreError, match="in use by another run"):
            store.set_provenance("me", {"config": "small"})
        store.put(records(2))
        with pytest.raises(StoreError, match="in use by another run"):
            store.commit()
        with pytest.raises(StoreError, match="in use by another run"):
            Store(path)
        with Store(path, readonly=True) as reader:
            assert reader.provenance("me") is None
        other.execute("COMMIT")
        other.execute("PRAGMA locking_mode = EXCLUSIVE")
        other.close()


def test_provenance_of_a_store_that_is_locked_for_all(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "_PATIENCE", 0.1)
    path = tmp_path / "store.sqlite"
    with Store(path) as store:
        store._db.execute("PRAGMA journal_mode = DELETE")
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(StoreError, match="in use by another run"):
            store.provenance("me")
        other.execute("COMMIT")
        other.close()


def _read_as_somebody(path, said):
    if os.getuid() == 0:  # root may write anywhere
        os.setuid(65534)
    try:
        with Store(path, readonly=True) as store:
            said.put((len(store.get(["key0", "key1", "key2"])), store.provenance("me")))
    except Exception as error:
        said.put(repr(error))


@FORKS
def test_reading_needs_no_right_to_write():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = folder / "store.sqlite"
        with Store(path) as store:
            store.put(records(3))
            store.set_provenance("me", {"config": "small"})
        path.chmod(0o444)
        folder.chmod(0o555)
        context = multiprocessing.get_context("fork")
        said = context.Queue()
        reader = context.Process(target=_read_as_somebody, args=(path, said))
        reader.start()
        assert said.get(timeout=60) == (3, {"config": "small"})
        reader.join()
        assert os.listdir(folder) == ["store.sqlite"]
        folder.chmod(0o755)
