"""`mmc data`: what is here, what is not, and what to do about it."""

import os
import subprocess
import sys

import pytest

from mmc.cli import catalogue
from mmc.datasets import REGISTRY
from tests.datasets.tiny import make


@pytest.fixture
def large(server, tmp_path, monkeypatch):
    """A registry with one large set, which the server has."""
    entry, files, _, _ = make("label-last", server.url)
    monkeypatch.delenv("MMC_DATA_DIR", raising=False)
    for module in ("finding", "fetching"):
        monkeypatch.setattr(f"mmc.datasets.{module}.cache", lambda: tmp_path / "cache")
    for name in REGISTRY.copy():
        monkeypatch.delitem(REGISTRY, name)
    monkeypatch.setitem(REGISTRY, "tiny", entry)
    server.files = {f"{file}.gz": content for file, content in files.items()}
    return tmp_path / "cache" / "tiny"


def test_a_set_is_fetched_once(large, capsys):
    catalogue.show("datasets")
    assert "large, not here" in capsys.readouterr().out
    assert catalogue.verify(None, None) == 0
    assert "tiny: not on this machine; `mmc data fetch tiny`" in capsys.readouterr().out
    catalogue.show_dataset("tiny", None)
    assert "one-train, not here: http://127.0.0.1:" in capsys.readouterr().out

    catalogue.fetch(None, None)
    told = capsys.readouterr()
    assert f"tiny: one-train fetched to {large / 'one-train.gz'}\n" in told.out
    assert told.err.split() == ["downloading", "one-train.gz", "downloading", "one-test.gz"]
    catalogue.fetch(["tiny"], None)
    assert f"tiny: one-test is here already: {large / 'one-test.gz'}\n" in capsys.readouterr().out

    catalogue.show("datasets")
    assert "large, here" in capsys.readouterr().out
    catalogue.show_dataset("tiny", None)
    assert f"{large / 'one-test.gz'}\n" in capsys.readouterr().out
    assert catalogue.verify(None, None) == 0
    assert "✓ tiny" in capsys.readouterr().out


def test_a_damaged_set_does_not_verify(large, tmp_path, capsys):
    catalogue.fetch(["tiny"], None)
    (tmp_path / "one-test").write_bytes(b"1 2 3")
    capsys.readouterr()
    assert catalogue.verify(["tiny"], tmp_path) == 1
    assert "✗ tiny: data set 'tiny': " in capsys.readouterr().out


def test_bars_follow_a_download_that_begins_anew():
    from mmc.cli.downloads import Downloads

    with Downloads() as bars:
        bar = bars("file")
        assert bar.total is None
        for _ in range(2):  # the second time after an interruption
            bar.total = 100
            bar.update(60)
        (task,) = bars._bars.tasks
        assert (bar.total, task.completed) == (100, 60)
        bar.reset()
        bar.update(100)
        bar.close()
        assert task.finished


def test_without_files_or_network_the_command_says_what_to_do(tmp_path):
    entry_point = (
        "import dataclasses, mmc.datasets.fetching as f; from mmc.datasets import REGISTRY; f._RETRIES = 0\n"
        "parts = tuple(dataclasses.replace(p, url='http://127.0.0.1:9/x.gz') for p in REGISTRY['usps'].parts)\n"
        "REGISTRY['usps'] = dataclasses.replace(REGISTRY['usps'], parts=parts)\nfrom mmc.cli import main; main()"
    )
    env = {**os.environ, "XDG_CACHE_HOME": str(tmp_path), "MMC_DATA_DIR": str(tmp_path / "variable")}
    words = [["data", "fetch", "usps"], ["data", "fetch", "usps", "--data-dir", str(tmp_path / "option")]]
    for call, place in zip(words, ("variable", "option"), strict=True):
        done = subprocess.run([sys.executable, "-c", entry_point, *call], capture_output=True, text=True, env=env)
        assert done.returncode == 2
        assert "Traceback" not in done.stderr
        assert f"\n  {tmp_path / place / 'usps'} (there is no such folder)\n" in done.stderr
        assert "\n  zip.train\n  zip.test\n" in done.stderr
        assert "MMC_DATA_DIR=FOLDER" in done.stderr
