"""The same table in every format is the same table, whole or in parts."""

import datetime
import time
from zipfile import ZipFile

import pandas as pd
import pytest

from mmc.experiments.own import reading
from mmc.experiments.own.columns import Column, converted, frame_of, labels_of, looks_like_id, new_categories, recognise
from mmc.experiments.own.errors import TableError
from tests.experiments.own.making import parts


def write(table, path):
    kind = path.suffix
    if kind == ".parquet":
        dates = pd.to_datetime(table["made"], format="%d.%m.%Y")
        table.assign(made=dates).to_parquet(path)
    elif kind == ".xlsx":
        table.to_excel(path, index=False)
    else:
        table.to_csv(path, index=False, sep={".csv": ",", ".tsv": "\t", ".txt": ";"}[kind])


@pytest.mark.parametrize("kind", [".csv", ".tsv", ".txt", ".parquet", ".xlsx"])
def test_every_format_holds_the_same(tmp_path, kind):
    table = parts(60)
    write(table, tmp_path / f"parts{kind}")
    found = reading.read(tmp_path / f"parts{kind}")
    columns = [recognise(str(name), found[name]) for name in found.columns]
    kinds = {column.name: column.kind for column in columns}
    assert kinds == {
        "part_id": "text", "made": "date", "machine": "text", "alloy": "text", "weight": "number",
        "roughness": "number", "plant": "text", "verdict": "text",
    }  # fmt: skip
    frame = frame_of(found, columns, "parts")
    assert frame["weight"].to_numpy() == pytest.approx(table["weight"].to_numpy(), nan_ok=True)
    assert (frame["made"] == pd.to_datetime(table["made"], format="%d.%m.%Y")).all()
    assert frame["alloy"].isna().equals(table["alloy"].isna())
    assert set(frame["alloy"].dropna()) == set(table["alloy"].dropna())


@pytest.mark.parametrize("kind", [".csv", ".parquet", ".xlsx"])
def test_parts_of_a_table_make_the_whole(tmp_path, kind):
    write(parts(50), tmp_path / f"parts{kind}")
    pieces = list(reading.chunks(tmp_path / f"parts{kind}", rows=7))
    assert [len(piece) for piece in pieces] == [7] * 7 + [1]
    whole = reading.read(tmp_path / f"parts{kind}")
    pd.testing.assert_frame_equal(pd.concat(pieces), whole, check_dtype=False, check_index_type=False)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("absent.csv", None, "no such file"),
        ("empty.csv", b"", "is empty"),
        ("header.csv", b"a,b\n", "has no rows"),
        ("twice.csv", b"a,a\n1,2\n", "two columns are called 'a'"),
        ("long.csv", b"a,b\n1,2\n1,2,3\n", "does not fit the header"),
        ("longer.csv", b"a,b\n1,2,3\n1,2,3\n", "does not fit the header"),
        ("latin.csv", "a,b\nü,1\n".encode("latin-1"), "not UTF-8"),
        ("table.json", b"{}", "what kind of table"),
        ("broken.parquet", b"PAR1 and no more", "not a Parquet file"),
        ("broken.xlsx", b"PK\3\4 and no more", "not an Excel file"),
    ],
)
def test_what_is_no_table_is_refused(tmp_path, name, content, message):
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(TableError, match=message):
        reading.read(tmp_path / name)


def test_a_hidden_giant_is_not_unpacked(tmp_path, monkeypatch):
    monkeypatch.setattr(reading, "_LARGEST_SHEET", 1000)
    with ZipFile(tmp_path / "giant.xlsx", "w") as archive:
        archive.writestr("xl/workbook.xml", "0" * 2000)
    with pytest.raises(TableError, match="unpacks to more"):
        reading.read(tmp_path / "giant.xlsx")


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        (["1", "2.5", None], "number"),
        (["1e3", "-4"], "number"),
        (["2024-01-31", None, "2023-12-01"], "date"),
        (["31.01.2024", "01.12.2023"], "date"),
        ([datetime.date(2024, 1, 31), None], "date"),
        ([True, False], "text"),
        (["1", "two"], "text"),
        (["2024-01-31", "later"], "text"),
    ],
)
def test_what_a_column_holds(cells, kind):
    assert recognise("a", pd.Series(cells)).kind == kind


def test_a_cell_of_another_kind_is_named_with_its_row():
    number, date = Column(name="weight", kind="number"), Column(name="made", kind="date", format="%d.%m.%Y")
    with pytest.raises(TableError, match=r"'weight' must hold finite numbers, but row 3 has 'heavy'"):
        converted(pd.Series(["1", None, "heavy"]), number, "new.csv")
    with pytest.raises(TableError, match=r"row 1 has 'inf'"):
        converted(pd.Series(["inf"]), number, "new.csv")
    with pytest.raises(TableError, match=r"dates like '31.12.2024', but row 2 has '2024-01-02'"):
        converted(pd.Series(["01.02.2024", "2024-01-02"]), date, "new.csv")
    with pytest.raises(TableError, match="finite numbers"):
        converted(pd.Series([pd.Timestamp("2024-01-01")]), number, "new.parquet")


def test_text_that_became_numbers_is_refused_unless_they_are_categories():
    alloy = Column(name="alloy", kind="text", categories=("A1", "7"))
    with pytest.raises(TableError, match="held text when the model was fitted"):
        converted(pd.Series(["1", "2"]), alloy, "new.csv")
    with pytest.raises(TableError, match="held text"):
        converted(pd.Series([1.0, 2.0]), alloy, "new.parquet")
    assert converted(pd.Series(["7", None]), alloy, "new.csv").iloc[0] == "7"
    assert new_categories(pd.Series(["A1", "Z9", None, "7"]), alloy) == 1


def test_a_missing_column_is_named_with_the_nearest():
    with pytest.raises(TableError, match="no column 'weight', which the model uses: did you mean 'wieght'"):
        frame_of(pd.DataFrame({"wieght": ["1"]}), [Column(name="weight", kind="number")], "new.csv")


def test_labels_are_text_whatever_the_format():
    for cells in (["1", "0", "1"], [1, 0, 1], [1.0, 0.0, 1.0], ["1.0", "0.0", "1.0"]):
        assert labels_of(pd.Series(cells), "y", "t").tolist() == ["1", "0", "1"]


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        (["a", None, "b"], "missing in 1 of 3 rows .first: row 2"),
        (["a", "a"], "one class only"),
        (["a", "b", "c"], "3 different labels"),
    ],
)
def test_targets_that_are_not_two_classes(cells, message):
    with pytest.raises(TableError, match=message):
        labels_of(pd.Series(cells), "y", "t")


def test_what_looks_like_an_id():
    def is_id(name, cells):
        cells = pd.Series(cells)
        return looks_like_id(recognise(name, cells), cells)

    assert is_id("part", [f"P{i}" for i in range(30)])
    assert is_id("anything", [float(i) for i in range(5, 35)])
    assert is_id("patient_id", [float(i * i) for i in range(30)])
    assert not is_id("weight", [float(i * i) for i in range(30)])
    assert not is_id("note", [f"note {i}" for i in range(30)])
    assert not is_id("part", ["P1"] + [f"P{i}" for i in range(29)])
    assert not is_id("weight", [i + 0.5 for i in range(30)])


def test_a_hundred_thousand_names_take_no_time_to_speak_of(tmp_path):
    path = tmp_path / "wide.csv"
    path.write_text(",".join(f"x{j}" for j in range(100_000)) + "\n")
    start = time.process_time()
    assert len(reading.header(path)[0]) == 100_000
    assert time.process_time() - start < 5
