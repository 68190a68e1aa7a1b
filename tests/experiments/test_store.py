"""The store: keeps what was committed, and says clearly what is wrong with a file that it cannot use."""

import os
import sqlite3

import pytest

from mmc.experiments.errors import StoreError
from mmc.experiments.records import Record
from mmc.experiments.store import Store
from mmc.methods.solution import Status
from tests.experiments.flat import made


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
    with pytest.raises(StoreError, match=r"format 99.*reads format 2.*--results"):
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


def test_two_runs_can_use_one_store(tmp_path):
    with Store(tmp_path / "store.sqlite") as one, Store(tmp_path / "store.sqlite") as other:
        one.put(records(3))
        other.put([Record("mine", Status.SOLVED)])
        other.commit()
        one.commit()
        assert set(other.get(["key0", "key1", "key2", "mine"])) == {"key0", "key1", "key2", "mine"}
