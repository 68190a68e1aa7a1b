"""The large sets' formats on little files; the real ones where they are on this machine."""

import gzip
import io
import subprocess
import sys
import zipfile
from dataclasses import replace

import numpy as np
import pytest

from mmc.datasets import REGISTRY, DataError, load, verify
from mmc.datasets.finding import absent

from .tiny import compress, make

LAYOUTS = ("label-first", "label-last", "idx")
PACKINGS = {
    "plain": ("", lambda content: content),
    "gzip": (".gz", gzip.compress),
    "compress": (".Z", compress),
    "gzip without its ending": ("", gzip.compress),
    "plain with an ending": (".gz", lambda content: content),
}

# Counted in the originals, independently of the registry: training rows, all rows, features, training rows by class.
ORIGINALS = {
    "usps": (7291, 9298, 256, [1194, 1005, 731, 658, 652, 556, 664, 645, 542, 644]),
    "mnist": (60000, 70000, 784, [5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949]),
    "isolet": (6238, 7797, 617, [*[240] * 5, 238, *[240] * 20]),
}


@pytest.fixture(autouse=True)
def _nowhere(tmp_path, monkeypatch, request):
    """Neither a data directory nor a cache of this machine's user, nor a network."""
    if "real" not in request.keywords:
        monkeypatch.delenv("MMC_DATA_DIR", raising=False)
        monkeypatch.setattr("mmc.datasets.finding.cache", lambda: tmp_path / "cache")
        monkeypatch.setattr("mmc.datasets.fetching._RETRIES", 0)


@pytest.fixture
def tiny(tmp_path, monkeypatch):
    """Register a little set of a layout and write its files; return (entry, files, X, y, folder)."""

    def _tiny(layout, packing="gzip", inside="data/tiny"):
        entry, files, X, y = make(layout)
        monkeypatch.setitem(REGISTRY, "tiny", entry)
        folder = tmp_path / inside
        folder.mkdir(parents=True, exist_ok=True)
        ending, pack = PACKINGS[packing]
        for file, content in files.items():
            (folder / (file + ending)).write_bytes(pack(content))
        return entry, files, X, y, folder

    return _tiny


@pytest.mark.parametrize("packing", PACKINGS)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout_in_every_packing(tiny, tmp_path, layout, packing):
    entry, _, X, y, _ = tiny(layout, packing)
    data = load("tiny", data_dir=tmp_path / "data")
    assert data.X.dtype == (np.uint8 if layout == "idx" else np.float64)
    np.testing.assert_array_equal(data.X, X)
    assert data.y.tolist() == y
    assert (data.n_train, data.positive, len(data.feature_names)) == (7, None, 4)
    assert replace(data).content_hash == data.content_hash == entry.content_hash  # found anew, and as the reader set it
    verify("tiny", tmp_path / "data")


@pytest.mark.parametrize("inside", ["data/tiny", "data", "cache/tiny"])
def test_every_place(tiny, tmp_path, monkeypatch, inside):
    *_, X, _, _ = tiny("idx", inside=inside)
    np.testing.assert_array_equal(load("tiny", data_dir=tmp_path / "data").X, X)
    monkeypatch.setenv("MMC_DATA_DIR", str(tmp_path / "data"))
    np.testing.assert_array_equal(load("tiny").X, X)
    if inside != "cache/tiny":
        assert absent(REGISTRY["tiny"], tmp_path / "elsewhere")  # the option replaces the variable


def test_the_data_directory_comes_before_the_cache(tiny, tmp_path):
    *_, folder = tiny("idx", inside="cache/tiny")
    (folder / "one-train-labels.gz").write_bytes(b"bad")
    tiny("idx", inside="data/tiny")
    load("tiny", data_dir=tmp_path / "data")
    with pytest.raises(DataError, match="one-train-labels"):
        load("tiny")


def test_other_names_and_archives(tiny, tmp_path, monkeypatch):
    entry, files, X, _, folder = tiny("idx", "plain")
    (folder / "one-test-images").rename(folder / "one.test.images")
    np.testing.assert_array_equal(load("tiny", data_dir=tmp_path / "data").X, X)
    for path in folder.iterdir():
        path.unlink()
    with zipfile.ZipFile(folder / "all.zip", "w") as archive:
        archive.writestr("readme", "x")
        for file, content in files.items():
            archive.writestr(f"inner/{file}.Z", compress(content))
    parts = tuple(replace(part, url="http://127.0.0.1:9/all.zip") for part in entry.parts)
    monkeypatch.setitem(REGISTRY, "tiny", replace(entry, parts=parts))
    np.testing.assert_array_equal(load("tiny", data_dir=tmp_path / "data").X, X)


def _empty_zip():
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("readme", "x")
    return stream.getvalue()


@pytest.mark.parametrize(
    ("layout", "file", "damage", "message"),
    [
        ("idx", "one-train-images", lambda c: gzip.compress(c)[:-9], r"damaged or cut off .*end-of-stream"),
        (
            "idx",
            "one-train-images",
            lambda c: b"\0\0\x0d\x03" + c[4:],
            r"not an IDX file of bytes: it begins with b'.*'",
        ),
        ("idx", "one-train-images", lambda c: c[:-1], r"cut off or has a tail: 43 bytes do not hold 7 × 2 × 2"),
        ("idx", "one-train-images", lambda c: c[:6], r"cut off or has a tail"),
        ("idx", "one-train-images", lambda c: b"", r"not an IDX file of bytes: it begins with b''"),
        ("idx", "one-train-labels", lambda c: b"\0\0\x08\x01\0\0\0\x01a", r"holds 1 numbers, but the original 7"),
        (
            "idx",
            "one-test-labels",
            lambda c: c[:-1] + b"\x63",
            r"other numbers than the original: .* sha256 is \w{64}, not",
        ),
        ("idx", "one-test-labels", lambda c: _empty_zip(), r"has no one-test-labels or one.test.labels .*inside"),
        ("idx", "one-test-labels", lambda c: b"PK\3\4rest", r"damaged or cut off"),
        ("idx", "one-test-labels", lambda c: b"\x1f\x9d\x90" + b"\xff" * 9, r"damaged or cut off .*before its turn"),
        ("label-first", "one-train", lambda c: c.replace(b"9.0000", b"9.0001", 1), r"other numbers than the original"),
        ("label-first", "one-train", lambda c: c[: len(c) // 2], r"no multiple of 5|holds 3 × 5|other numbers"),
        (
            "label-first",
            "one-train",
            lambda c: c[: c.rindex(b"\n", 0, -1)],
            r"holds 6 × 5 numbers, but the original 7 × 5",
        ),
        ("label-last", "one-test", lambda c: b"<!doctype html>", r"not a text of numbers: it begins with b'<!doctype"),
        ("label-last", "one-test", lambda c: c + b"1, 2", r"holds 27 numbers, which is no multiple of 5"),
    ],
)
def test_a_bad_file_is_refused(tiny, tmp_path, layout, file, damage, message):
    _, files, _, _, folder = tiny(layout, "plain")
    (folder / file).write_bytes(damage(files[file]))
    advice = rf"; remove it and run `mmc data fetch tiny`, or replace it by the original, http://\S+/{file}\.gz$"
    with pytest.raises(DataError, match=rf"'tiny': {folder / file}.*{message}.*{advice}"):
        load("tiny", data_dir=tmp_path / "data")


def test_a_missing_file_is_explained(tiny, tmp_path):
    *_, folder = tiny("idx")
    (folder / "one-test-images.gz").unlink()
    with pytest.raises(DataError) as caught:
        load("tiny", data_dir=tmp_path / "data")
    text = str(caught.value)
    assert "'tiny' is not on this machine, and http://127.0.0.1:9/one-test-images.gz could not be downloaded" in text
    assert "\n  one-test-images or one.test.images\n" in text
    assert "one-train" not in text  # it is there
    for place in (folder, tmp_path / "data", f"{tmp_path / 'cache' / 'tiny'} (there is no such folder)"):
        assert f"\n  {place}\n" in text
    assert "ending .gz or .Z" in text
    assert "FOLDER/tiny or FOLDER" in text
    assert "--data-dir FOLDER or MMC_DATA_DIR=FOLDER" in text
    with pytest.raises(DataError, match=r"\(--data-dir was not given, and MMC_DATA_DIR is not set\)"):
        load("tiny")


def test_verify_notices_a_wrong_registry(tiny, tmp_path, monkeypatch):
    entry, *_ = tiny("idx")
    monkeypatch.setitem(REGISTRY, "tiny", replace(entry, content_hash="0" * 64))
    with pytest.raises(DataError, match=r"the registry says 0{64}"):
        verify("tiny", tmp_path / "data")


def test_bytes_are_scaled_as_numbers():
    from mmc.experiments.preparation import scaled

    train, test = np.array([[5], [9]], np.uint8), np.array([[1]], np.uint8)
    assert scaled("minmax", train, test)[1].tolist() == [[-1.0]]
    assert scaled("none", train, test)[0].dtype == np.float64


def test_every_large_set_is_counted_here():
    assert set(ORIGINALS) == {name for name, entry in REGISTRY.items() if entry.kind == "large"}


@pytest.mark.real
@pytest.mark.parametrize("name", ORIGINALS)
def test_the_originals(name):
    if absent(REGISTRY[name], None):
        pytest.skip(f"{name} is neither in MMC_DATA_DIR nor in the cache; `mmc data fetch {name}` downloads it")
    verify(name)
    data, (n_train, rows, features, counts) = load(name), ORIGINALS[name]
    assert (data.n_train, data.X.shape, data.positive) == (n_train, (rows, features), None)
    labels = sorted(data.classes, key=int)
    assert labels == [str(k) for k in (range(1, 27) if name == "isolet" else range(10))]
    assert [int(np.sum(data.y[:n_train] == label)) for label in labels] == counts
    assert (data.X.min(), data.X.max()) == ((0, 255) if name == "mnist" else (-1, 1))
    for fact in ("description", "source", "licence", "citation"):
        assert getattr(REGISTRY[name], fact)


def test_looking_for_files_imports_nothing_heavy():
    script = (
        "import sys; from mmc.datasets.finding import absent; from mmc.datasets import REGISTRY;"
        "absent(REGISTRY['mnist'], None); print([m for m in ('numpy', 'pooch', 'requests') if m in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
