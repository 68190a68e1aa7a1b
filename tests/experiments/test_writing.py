"""Files appear in one step, and links are never written through."""

import os

import pytest

from mmc.experiments import writing
from mmc.experiments.errors import StoreError
from mmc.experiments.writing import write_file


def test_a_planted_link_is_replaced_and_what_it_points_to_stays(tmp_path):
    precious = tmp_path / "precious"
    precious.write_text("precious")
    folder = tmp_path / "runs"
    folder.mkdir()
    for name in ("table.md", ".table.md.partial"):
        (folder / name).symlink_to(precious)
    write_file(folder / "table.md", "new")
    assert precious.read_text() == "precious"
    assert (folder / "table.md").read_text() == "new"
    assert not (folder / "table.md").is_symlink()


def test_a_link_at_the_very_name_of_the_partial_file_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(writing.secrets, "token_hex", lambda n: "guessed")
    precious = tmp_path / "precious"
    precious.write_text("precious")
    (tmp_path / ".table.md.guessed.partial").symlink_to(precious)
    with pytest.raises(StoreError, match="cannot write"):
        write_file(tmp_path / "table.md", "new")
    assert precious.read_text() == "precious"


def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path):
    (tmp_path / "table.md").mkdir()
    with pytest.raises(StoreError, match="cannot write"):
        write_file(tmp_path / "table.md", b"new")
    assert os.listdir(tmp_path) == ["table.md"]


def test_folders_are_made(tmp_path):
    write_file(tmp_path / "a" / "b" / "c.txt", "ü")
    assert (tmp_path / "a" / "b" / "c.txt").read_bytes() == "ü".encode()
