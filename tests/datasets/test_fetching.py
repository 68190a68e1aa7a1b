"""Downloads, from a server on this machine that breaks off, lies, or is not there."""

import gzip
import io
import zipfile
from dataclasses import replace

import numpy as np
import pytest

from mmc.datasets import REGISTRY, DataError, fetch, load

from .tiny import compress, make


@pytest.fixture
def tiny(server, tmp_path, monkeypatch):
    """Register a little set that the server has, with an empty cache; return (X, y)."""
    entry, files, X, y = make("idx", server.url)
    monkeypatch.setitem(REGISTRY, "tiny", entry)
    monkeypatch.delenv("MMC_DATA_DIR", raising=False)
    for module in ("finding", "fetching"):
        monkeypatch.setattr(f"mmc.datasets.{module}.cache", lambda: tmp_path / "cache")
    monkeypatch.setattr("pooch.core.time.sleep", lambda seconds: None)
    server.files = {f"{file}.gz": gzip.compress(content) for file, content in files.items()}
    return X, y


class Bar:
    """What a display is told."""

    def __init__(self):
        self.total, self.done = 0, 0

    def update(self, size):
        self.done += size

    def reset(self):
        self.done = 0

    def close(self):
        assert self.done == self.total > 0


def test_loading_downloads_what_is_missing_once(tiny, server, tmp_path, caplog):
    X, y = tiny
    with caplog.at_level("INFO", "mmc.datasets"):
        data = load("tiny")
    np.testing.assert_array_equal(data.X, X)
    assert data.y.tolist() == y
    assert len(server.asked) == 4
    assert f"downloaded one-train-images to {tmp_path / 'cache' / 'tiny' / 'one-train-images.gz'}" in caplog.text
    load("tiny")
    assert len(server.asked) == 4


def test_fetch_tells_what_is_where(tiny, server, tmp_path):
    cache, mine = tmp_path / "cache" / "tiny", tmp_path / "mine"
    mine.mkdir()
    (mine / "one-test-labels.gz").write_bytes(server.files["one-test-labels.gz"])
    bars = {}
    found = {file: (path, new) for file, path, new in fetch("tiny", mine, lambda file: bars.setdefault(file, Bar()))}
    assert found.pop("one-test-labels") == (mine / "one-test-labels.gz", False)
    assert found == {
        file: (cache / f"{file}.gz", True) for file in ("one-train-images", "one-train-labels", "one-test-images")
    }
    assert sorted(bars) == sorted(server.asked) == sorted(f"{file}.gz" for file in found)
    assert sorted(path.name for path in cache.iterdir()) == sorted(f"{file}.gz" for file in found)  # nothing half-done
    assert not any(new for _, _, new in fetch("tiny", mine))


def test_an_interrupted_download_is_tried_again(tiny, server):
    server.broken = 2
    np.testing.assert_array_equal(load("tiny").X, tiny[0])
    assert server.asked[:3] == ["one-train-images.gz"] * 3


def test_a_download_that_keeps_breaking_keeps_what_is_complete(tiny, server, tmp_path):
    steps = fetch("tiny")
    assert next(steps)[0] == "one-train-images"
    server.broken = 100
    with pytest.raises(
        DataError, match=r"one-train-labels.gz could not be downloaded \(IncompleteRead\(.*\)\)\n(.|\n)*MMC_DATA_DIR"
    ):
        next(steps)
    assert [path.name for path in (tmp_path / "cache" / "tiny").iterdir()] == ["one-train-images.gz"]
    server.broken = 0
    server.asked.clear()
    load("tiny")
    assert len(server.asked) == 3


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"<html>Log in to this network</html>", r"/one-train-labels\.gz is not an IDX file .*<html>"),
        (
            gzip.compress(b"\0\0\x08\x01\0\0\0\x07aaaaaaa"),
            r"/one-train-labels\.gz holds other numbers than the original",
        ),
        (gzip.compress(b"\0\0\x08\x01")[:-4], r"/one-train-labels\.gz is damaged or cut off"),
        (None, r"/one-train-labels\.gz could not be downloaded \(404 Client Error"),
    ],
    ids=["another page", "other numbers", "cut off", "nothing"],
)
def test_a_wrong_answer_is_not_kept(tiny, server, tmp_path, body, message):
    if body is None:
        del server.files["one-train-labels.gz"]
    else:
        server.files["one-train-labels.gz"] = body
    with pytest.raises(DataError, match=message + r"(.|\n)*missing files(.|\n)*  one-train-labels or"):
        load("tiny")
    assert [path.name for path in (tmp_path / "cache" / "tiny").iterdir()] == ["one-train-images.gz"]


def test_an_archive_is_downloaded_once_and_kept_in_a_quick_form(tiny, server, tmp_path, monkeypatch):
    entry = REGISTRY["tiny"]
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, packed in server.files.items():
            archive.writestr(name.replace(".gz", ".Z"), compress(gzip.decompress(packed)))
    server.files = {"all.zip": stream.getvalue()}
    parts = tuple(replace(part, url=f"{server.url}all.zip") for part in entry.parts)
    monkeypatch.setitem(REGISTRY, "tiny", replace(entry, parts=parts))
    np.testing.assert_array_equal(load("tiny").X, tiny[0])
    assert server.asked == ["all.zip"]
    assert {path.suffix for path in (tmp_path / "cache" / "tiny").iterdir()} == {".gz"}


def test_a_cache_that_cannot_be_written(tiny, tmp_path):
    (tmp_path / "cache").write_text("in the way")
    with pytest.raises(DataError, match=r"one-train-images.gz cannot be written: "):
        load("tiny")


def test_bad_files_that_are_here_are_not_passed_over(tiny, tmp_path):
    (tmp_path / "one-train-images").write_bytes(b"bad")
    with pytest.raises(DataError, match=r"one-train-images is not an IDX file.*; remove it"):
        list(fetch("tiny", tmp_path))


def test_unknown_sets():
    with pytest.raises(DataError, match=r"no data set 'mnits': did you mean 'mnist'\?"):
        fetch("mnits")
    assert list(fetch("sonar")) == []
