"""A file appears whole, or what was there before stays."""

import pytest

from mmc.experiments import files
from mmc.experiments.errors import StoreError


def test_a_link_is_replaced_not_followed(tmp_path):
    (tmp_path / "secret").write_text("mine")
    (tmp_path / "table.md").symlink_to(tmp_path / "secret")
    files.write(tmp_path / "table.md", "table")
    assert (tmp_path / "secret").read_text() == "mine"
    assert (tmp_path / "table.md").read_text() == "table"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["secret", "table.md"]


def test_a_folder_that_cannot_be_made_is_said(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="cannot write to"):
        files.write(tmp_path / "file" / "table.md", "table")
