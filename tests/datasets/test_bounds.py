"""Files that would fill the memory, hang the reader, or are not what they claim: refused with what to do."""

import gzip
import io
import zipfile

import numpy as np
import openpyxl
import pyarrow as pa
import pytest
from pyarrow import parquet

from mmc.datasets import REGISTRY, DataError, bounds, delimited, load, load_file, reader

from .tiny import compress, make

MEGABYTES = 1 << 24
BOMB = b"a,kind\n1,x\n2,y\n" + b"\n" * MEGABYTES


def _zip(name, content):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, content)
    return stream.getvalue()


def _encrypted():
    """A zip archive whose headers say that its member is encrypted."""
    data = bytearray(_zip("t.csv", b"a,kind\n"))
    for start, flags in ((b"PK\3\4", 6), (b"PK\1\2", 8)):
        data[data.index(start) + flags] |= 1
    return bytes(data)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("t.csv", BOMB),
        ("t.csv.gz", gzip.compress(BOMB)),
        ("t.csv.Z", compress(b"a,kind\n1,x\n" + b"\n" * 2_000_000)),
        ("t.csv.zip", _zip("t.csv", BOMB)),
        ("t.csv.zip", _zip("t.csv.gz", gzip.compress(BOMB))),
        ("t.svm", "1 99999:2\n2 1:2\n"),
    ],
)
@pytest.mark.parametrize("way", ["parameter", "variable"])
def test_a_bomb_is_refused(put, monkeypatch, name, content, way):
    path = put(name, content)
    if way == "variable":
        monkeypatch.setenv("MMC_MAX_BYTES", "1000000")
    with pytest.raises(
        DataError, match=r"would fill \d+ MB of memory or more, and 1 MB are allowed; .*MMC_MAX_BYTES"
    ) as caught:
        load_file(path, target="kind", max_bytes=1_000_000 if way == "parameter" else None)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize("large", [0, float("inf")])
@pytest.mark.parametrize("name", ["t.csv", "t.arff", "t.svm"])
def test_cells_count_by_what_they_take_in_memory(put, monkeypatch, name, large):
    """A cell of one character takes many times as much room as text in Python."""
    monkeypatch.setattr(delimited, "LARGE", large)
    monkeypatch.setattr(delimited, "FEW", 0)
    head = {"t.csv": "a,kind\n", "t.arff": "@attribute a real\n@attribute kind {1,2}\n@data\n", "t.svm": ""}[name]
    row = "1 1:1\n" if name == "t.svm" else "1,1\n"
    with pytest.raises(DataError, match=r"would fill \d+ kB of memory or more, and 200 kB are allowed"):
        load_file(put(name, head + row * 30_000), target="kind", max_bytes=200_000)


def test_what_unpacks_to_many_times_its_size_is_no_table(put, monkeypatch):
    """Half of the memory may be gigabytes: zeros would be unpacked for a minute."""
    monkeypatch.setattr(bounds, "_HARMLESS", 1000)
    monkeypatch.setattr(bounds, "_LARGE", 100_000)
    with pytest.raises(DataError, match="would fill"):
        load_file(put("t.csv.gz", gzip.compress(BOMB)), target="kind")
    rows = "".join(f"{number},{'xy'[number % 2]}\n" for number in range(30_000))
    assert len(load_file(put("u.csv.gz", gzip.compress(f"a,kind\n{rows}".encode())), target="kind").y) == 30_000


def test_unpacking_stops_at_the_limit(put, monkeypatch):
    kept = []
    monkeypatch.setattr(bounds, "BytesIO", lambda: kept.append(io.BytesIO()) or kept[-1])
    with pytest.raises(DataError, match="would fill"):
        load_file(put("t.csv.gz", gzip.compress(BOMB)), target="kind", max_bytes=3_000_000)
    assert max(stream.tell() for stream in kept) <= 3_000_000


def test_half_of_the_available_memory_is_the_default(put, monkeypatch):
    monkeypatch.delenv("MMC_MAX_BYTES", raising=False)
    monkeypatch.setattr("psutil.virtual_memory", lambda: type("Memory", (), {"available": 160_000_000}))
    limit = bounds.Limit()
    limit.check(80_000_000, "t.csv")
    with pytest.raises(DataError, match=r"t\.csv would fill 81 MB .* and 80 MB are allowed"):
        limit.check(81_000_000, "t.csv")


@pytest.mark.parametrize("value", ["lots", "-1", "1e9", "٣"])
def test_the_variable_is_a_number_of_bytes(put, monkeypatch, value):
    monkeypatch.setenv("MMC_MAX_BYTES", value)
    with pytest.raises(DataError, match=r"MMC_MAX_BYTES=.* is not a whole number of bytes"):
        load_file(put("t.csv", "a,kind\n1,x\n2,y\n"), target="kind")


@pytest.mark.parametrize("kind", ["numbers", "texts"])
def test_a_parquet_bomb(tmp_path, kind):
    """Equal values take almost no room in the file."""
    rows = 1_000_000
    values = (
        np.zeros(rows) if kind == "numbers" else pa.DictionaryArray.from_arrays(np.zeros(rows, np.int32), ["z" * 9])
    )
    parquet.write_table(pa.table({"a": values, "kind": values}), tmp_path / "t.parquet")
    assert (tmp_path / "t.parquet").stat().st_size < 100_000
    with pytest.raises(DataError, match=r"t\.parquet would fill 32 MB of memory or more, and 5 MB are allowed"):
        load_file(tmp_path / "t.parquet", target="kind", max_bytes=5_000_000)


def test_a_long_text_in_parquet_is_kept_once(tmp_path):
    rows = 20_000
    labels = pa.DictionaryArray.from_arrays(
        np.arange(rows, dtype=np.int32) % 2, ["y" * 1_000_000, "x"]
    )  # as text: 10 GB
    parquet.write_table(pa.table({"a": np.arange(rows), "kind": labels}), tmp_path / "t.parquet")
    data = load_file(tmp_path / "t.parquet", target="kind", max_bytes=50_000_000)
    assert len({id(label) for label in data.y.tolist()}) == 2


def test_an_excel_bomb(tmp_path):
    workbook = openpyxl.Workbook()
    for row in [["a", "kind"], *[[1, "x"]] * 5000]:
        workbook.active.append(row)
    workbook.save(tmp_path / "t.xlsx")
    with pytest.raises(DataError, match=r"t\.xlsx would fill .* and 100 kB are allowed"):
        load_file(tmp_path / "t.xlsx", target="kind", max_bytes=100_000)


def test_an_excel_row_far_below(tmp_path):
    """A sheet may claim a row that no sheet has; the rows between are not made one by one."""
    workbook = openpyxl.Workbook()
    for row in [["a", "kind"], [1, "x"], [2, "y"]]:
        workbook.active.append(row)
    workbook.save(tmp_path / "t.xlsx")
    with zipfile.ZipFile(tmp_path / "t.xlsx") as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    sheet = "xl/worksheets/sheet1.xml"
    files[sheet] = files[sheet].replace(b'r="3"', b'r="99999999999"').replace(b"A3", b"A9").replace(b"B3", b"B9")
    with zipfile.ZipFile(tmp_path / "far.xlsx", "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    with pytest.raises(DataError, match=r"far\.xlsx has a row beyond number 1048576"):
        load_file(tmp_path / "far.xlsx", target="kind")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("t.csv.zip", _encrypted(), r"t\.csv\.zip, t\.csv is encrypted; unpack it yourself"),
        ("t.zip", _zip("readme", b"x"), r"must hold one file with a table, and holds 0 among 'readme'; unpack it"),
        ("t.csv.zip", b"PK\3\4 and no more", r"t\.csv\.zip is not a complete zip file .*copy it again"),
        ("t.csv.zip", b"a,kind\n", r"is not a complete zip file \(it does not begin like one\); .*ending \.zip"),
        ("t.csv.zip", _zip("t.csv", b"a,kind\n").replace(b"\x08\0", b"\x63\0"), r"is not a complete zip file"),
        ("t.csv.Z", b"a,kind\n", r"is not a complete compress file"),
        ("t.csv.Z", compress(b"a,kind\n1,x\n2,y\n")[:5], r"t\.csv\.Z: "),
        ("t.xlsx", b"a,kind\n", r"t\.xlsx is not a readable \.xlsx file .*save it as CSV"),
        ("t.xlsx", _zip("t.csv", b"x"), r"t\.xlsx is not a readable \.xlsx file"),
    ],
)
def test_odd_archives(put, name, content, message):
    with pytest.raises(DataError, match=message):
        load_file(put(name, content), target="kind")


def test_an_archive_inside_an_archive_is_not_opened(put):
    """One that contains itself would never end."""
    with pytest.raises(DataError, match=r"is not UTF-8|not a well-formed|no target column"):
        load_file(put("t.zip", _zip("t.csv", _zip("t.csv", b"a,kind\n1,x\n2,y\n"))), target="kind")


def test_a_download_longer_than_the_original_is_refused(server, tmp_path, monkeypatch):
    entry, files, _, _ = make("idx", server.url)
    monkeypatch.setitem(REGISTRY, "tiny", entry)
    monkeypatch.delenv("MMC_DATA_DIR", raising=False)
    for module in ("finding", "fetching"):
        monkeypatch.setattr(f"mmc.datasets.{module}.cache", lambda: tmp_path / "cache")
    server.files = {f"{file}.gz": gzip.compress(content) for file, content in files.items()}
    server.files["one-train-labels.gz"] = gzip.compress(bytes(MEGABYTES))
    with pytest.raises(DataError, match=r"one-train-labels\.gz would fill .*; the original holds only 7 numbers"):
        load("tiny")


def test_spaces_in_arff_take_no_time_to_speak_of(put):
    """They took the cube of their number."""
    blanks = " " * 1_000_000
    head = (
        f"@relation r\n@attribute{blanks}a{blanks}real{blanks}\n@attribute kind{blanks}{{x{blanks},{blanks}y}}\n@data\n"
    )
    data = load_file(put("t.arff", f"{head}1{blanks},{blanks}x\n{blanks}2,{blanks}y{blanks}\n"), target="kind")
    assert data.X.tolist() == [[1], [2]]
    for line in (f"@attribute a{blanks}%", f"@attribute{blanks}", f"@attribute a{blanks}{{x{blanks}"):
        with pytest.raises(DataError, match=r"t\.arff:1: "):
            load_file(put("t.arff", f"{line}\n@data\n"), target="kind")
    with pytest.raises(DataError, match=r"1 cells where the header declares 2"):
        load_file(put("t.arff", f"{head}1{blanks}x\n"), target="kind")


def test_long_words_do_not_stall_the_hint(put):
    """difflib takes the square of their length."""
    long = "ab" * 50_000
    with pytest.raises(DataError, match="there is no target column"):
        load_file(put("t.csv", f"{long},b\n1,x\n2,y\n"), target=long[1:])
    with pytest.raises(DataError, match="is not one of its declared values") as caught:
        load_file(
            put("t.arff", f"@attribute a real\n@attribute kind {{{long},x}}\n@data\n1,{long[1:]}\n"), target="kind"
        )
    assert len(str(caught.value)) < 600


def test_control_characters_of_a_file_do_not_reach_the_message(put):
    with pytest.raises(DataError, match="there is no target column") as caught:
        load_file(put("t.csv", "a\x1b[31m,kind\n1,x\n2,y\n"), target="z")
    assert str(caught.value).isprintable()


def test_labels_of_thousands_of_digits(put):
    data = load_file(put("t.csv", f"a,kind\n1,{'0' * 5000}1\n2,2\n"), target="kind")
    assert data.y.tolist() == ["1", "2"]


def test_an_option_beyond_all_floats():
    with pytest.raises(DataError, match=r"'n_pos' .* must be a positive whole number"):
        load("two_norm", n_pos=10**400)


def test_a_line_that_never_ends_is_refused_before_it_is_text(put, monkeypatch):
    """A gigabyte of zeros without an end of line took three in memory."""
    monkeypatch.setattr(reader, "_LONGEST", 1000)
    with pytest.raises(DataError, match=r"t\.csv has a line of more than"):
        load_file(put("t.csv", "a,kind\n1,x\n" + "0" * 3000), target="kind")
    assert len(load_file(put("t.csv", "a,kind\n" + "1,x\n2,y\n" * 1000), target="kind").X) == 2000
