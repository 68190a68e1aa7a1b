"""Tables as people have them: other separators, decimal commas, encodings, gaps, categories, dates, Excel."""

import gzip
import io
import zipfile
from datetime import date

import numpy as np
import openpyxl
import pyarrow as pa
import pytest
from pyarrow import parquet

from mmc.datasets import DataError, load, load_file, verify

from .tiny import compress


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("t.csv", "a;b;kind\n1;2;x\n3;4;y\n"),
        ("t.csv", "a\tb\tkind\n1\t2\tx\n3\t4\ty\n"),
        ("t.tsv", "a,b,kind\n1,2,x\n3,4,y"),
    ],
)
def test_the_separator_is_found_by_the_target(put, caplog, name, content):
    with caplog.at_level("INFO", "mmc.datasets"):
        assert load_file(put(name, content), target="kind").X.tolist() == [[1, 2], [3, 4]]
    assert "as the separator of its cells" in caplog.text


def test_a_name_may_hold_another_separator(put):
    data = load_file(put("t.csv", '"weight, kg";kind\n1;x\n2;y\n'), target="kind")
    assert data.feature_names == ("weight, kg",)
    assert load_file(put("t.csv", "a;b,kind\n1,x\n2,y\n"), target="kind").feature_names == ("a;b",)


def test_separator_decimal_and_encoding(put):
    text = "größe;art\n1,5;süß\n-2e3;herb\n"
    data = load_file(put("t.csv", text.encode("cp1252")), target="art", decimal=",", encoding="cp1252", separator=";")
    assert data.X.tolist() == [[1.5], [-2000]]
    assert data.y.tolist() == ["süß", "herb"]
    assert data.feature_names == ("größe",)
    data = load_file(
        put("t.txt", "a|kind\n1|x\n2|y\n".encode("utf-16")), target="kind", encoding="utf-16", format="csv"
    )
    assert data.X.tolist() == [[1], [2]]


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        ("a;kind\n1,5;x\n2;y\n", {}, r"t\.csv:2: column 'a': '1,5' is not a number; .* decimal sign, set decimal=','"),
        ("a;kind\n1.5;x\n2;y\n", {"decimal": ","}, r"t\.csv:2: column 'a': '1\.5' is not a number"),
        ("a,kind\n1,x\nn/a,y\n", {}, r"'n/a' is not a number; .*missing, set missing_values=\['n/a'\]"),
        ("a,kind\n1,x\nred,y\n", {}, r"'red' is not a number; .*set encode=True"),
        ("a,kind\n1,x\n", {"separator": ";;"}, r"separator=';;' is no separator; it is one character"),
        ("a,kind\n1,x\n", {"separator": ",", "decimal": ","}, r"separator and decimal sign cannot both be ','"),
        ("a,kind\n1,x\n", {"decimal": "·"}, r"decimal='·' is no decimal sign"),
        ("a,kind\n1,x\n", {"encoding": "latin-17"}, r"encoding='latin-17' does not work .*usual ones are utf-8"),
        ("a,kind\n1,x\n", {"encoding": "rot13"}, r"encoding='rot13' does not work"),
        ("a,kind\n1,x\né,y\n".encode("utf-16"), {}, r"t\.csv:1: byte 0xff is not UTF-8 text; .*set encoding='utf-16'"),
        ("a,kind\n1,x\né,y\n".encode("cp1252"), {}, r"t\.csv:3: byte 0xe9 is not UTF-8 text; .*set encoding='cp1252'"),
        ("a;kind\n1;x\n", {"target": "art"}, r"no target column 'art' among the 2 columns: valid: a, kind"),
        ("a,kind\n1,x\n", {"drop": ["b"]}, r"no column to drop: 'b': valid: a, kind"),
        ("a,kind\n1,x\n", {"drop": ["kind"]}, r"the target 'kind' is needed for the labels, not to drop; take it out"),
        ("a,kind\n1,x\n", {"drop": ["a"]}, r"no feature columns beside the target"),
        ("a,b,kind\n1,2,x\n", {"drop": ["a"], "features": ["a", "b"]}, r"'a' is in `features` and in `drop`"),
        ("a,kind\n1,x\n", {"encode": ["b"]}, r"no column to encode: 'b'"),
        ("a,kind\n?,x\n?,y\n", {"missing": "impute"}, r"column 'a' has no value that its missing .*`drop`"),
        ("a,kind\nu,x\nu,y\n", {"encode": True}, r"every feature column has the same text in all its rows"),
    ],
)
def test_the_message_says_what_to_write(put, content, options, message):
    with pytest.raises(DataError, match=message):
        load_file(put("t.csv", content), **{"target": "kind", **options})


def test_an_option_of_another_format_is_refused(put, tmp_path):
    parquet.write_table(pa.table({"a": [1, 2], "kind": ["x", "y"]}), tmp_path / "t.parquet")
    with pytest.raises(DataError, match=r"the format parquet has no `separator`; leave it out"):
        load_file(tmp_path / "t.parquet", target="kind", separator=";")
    with pytest.raises(DataError, match=r"the format libsvm has no `decimal`"):
        load_file(put("t.svm", "1 1:2\n2 1:3\n"), target="kind", decimal=",")


def test_columns_can_be_left_out(put):
    data = load_file(put("t.csv", "id,a,note,kind\n7,1,p,x\n8,2,q,y\n"), target="kind", drop=["id", "note"])
    assert data.feature_names == ("a",)


def test_gaps_are_filled_in_by_the_mean(put, caplog):
    text = "a,b,kind\n1,10,x\n?,20,y\n4,NA,y\n9,,\n"
    with caplog.at_level("INFO", "mmc.datasets"):
        data = load_file(put("t.csv", text), target="kind", missing="impute")
    assert data.X.tolist() == [[1, 10], [2.5, 20], [4, 15]]  # the row without a label counts for nothing
    assert (data.dropped, data.imputed) == (1, 2)
    assert "filled in 2 missing cells by the mean" in caplog.text
    huge = load_file(put("t.csv", "a,kind\n1.7e308,x\n1.7e308,y\n,y\n"), target="kind", missing="impute")
    assert huge.X[2, 0] == pytest.approx(1.7e308)


def test_a_registered_set_with_all_its_rows():
    data, complete = load("breast_cancer_wisconsin", missing="impute"), load("breast_cancer_wisconsin")
    assert data.X.shape == (699, 9)
    assert (data.dropped, data.imputed) == (0, 16)
    column = data.feature_names.index("bare_nuclei")
    rows = {tuple(x) for x in complete.X.tolist()}
    filled = [x for x in data.X.tolist() if tuple(x) not in rows]
    assert len(filled) == 16
    assert [x[column] for x in filled] == pytest.approx([complete.X[:, column].mean()] * 16)
    assert load("sonar", missing="impute").content_hash == load("sonar").content_hash
    verify("breast_cancer_wisconsin")


def test_words_and_numbers_for_missing(put, tmp_path):
    text = "a,b,kind\n1,-999,x\nnull,2,y\n-,3,y\n4,5,y\n6,-999.0,n/a\n7,8,x\n"
    words = ["N/A", "null", "-", -999]
    data = load_file(put("t.csv", text), target="kind", missing_values=words)
    assert data.X.tolist() == [[4, 5], [7, 8]]
    assert data.dropped == 4
    parquet.write_table(pa.table({"a": [1.0, -999.0, 3.0], "kind": ["x", "y", "y"]}), tmp_path / "t.parquet")
    assert load_file(tmp_path / "t.parquet", target="kind", missing_values=["-999"]).X.tolist() == [[1], [3]]


TABLE = (
    "colour,when,n,code,kind\nred,2020-01-02,1,10,x\nblue,1970-01-01,2,20,y\n?,1969-12-31T12:00,3,10,y\nred,,4,30,x\n"
)


def test_categories_and_dates_become_numbers(put):
    data = load_file(put("t.csv", TABLE), target="kind", encode=True)
    assert data.feature_names == ("colour=red", "when", "n", "code")
    assert data.X.tolist() == [[1, 18263, 1, 10], [0, 0, 2, 20]]
    filled = load_file(put("t.csv", TABLE), target="kind", encode=True, missing="impute")
    assert filled.X[2].tolist() == [pytest.approx(2 / 3), -0.5, 3, 10]  # the share of red
    assert filled.imputed == 2
    with pytest.raises(DataError, match=r"t\.csv:4: column 'colour': the value is missing, as in 2 of 4 rows"):
        load_file(put("t.csv", TABLE), target="kind", encode=True, missing="error")


def test_numbers_can_be_categories(put, tmp_path):
    data = load_file(put("t.csv", TABLE), target="kind", features=["n", "code"], encode=["code"])
    assert data.feature_names == ("n", "code=20", "code=30")
    assert data.X.tolist() == [[1, 0, 0], [2, 1, 0], [3, 0, 0], [4, 0, 1]]
    parquet.write_table(pa.table({"code": [2, 10, 2], "kind": ["x", "y", "y"]}), tmp_path / "t.parquet")
    assert load_file(tmp_path / "t.parquet", target="kind", encode=["code"]).feature_names == ("code=10",)


def test_days_with_points(put):
    data = load_file(put("t.csv", "day,kind\n02.01.1970,x\n31.12.1969,y\n"), target="kind", encode=True)
    assert data.X.tolist() == [[1], [-1]]


def test_an_identifier_is_no_category(put):
    text = "id,a,kind\n" + "".join(f"p{i},{i},{'xy'[i % 2]}\n" for i in range(200))
    with pytest.raises(DataError, match=r"column 'id' has 200 different texts, .* leave it out with drop=\['id'\]"):
        load_file(put("t.csv", text), target="kind", encode=True)
    assert load_file(put("t.csv", text), target="kind", encode=True, drop=["id"]).X.shape == (200, 1)


@pytest.fixture
def book(tmp_path):
    """Write rows to the first sheet of a workbook and return its path."""

    def _book(rows):
        workbook = openpyxl.Workbook()
        for row in rows:
            workbook.active.append(row)
        workbook.create_sheet("other").append(["nothing"])
        workbook.save(tmp_path / "t.xlsx")
        return tmp_path / "t.xlsx"

    return _book


def test_excel(book):
    path = book(
        [["a", "day", "kind"], [1, date(1970, 1, 3), 1], [2.5, date(1970, 1, 4), 2], [], [None, None, 2], [3, None]]
    )
    data = load_file(path, target="kind", encode=True)
    assert data.X.tolist() == [[1, 2], [2.5, 3]]
    assert data.y.tolist() == ["1", "2"]
    assert data.dropped == 2
    with pytest.raises(DataError, match=r"t\.xlsx:5: column 'a': the value is missing"):
        load_file(path, target="kind", features=["a"], missing="error")


def test_excel_with_text_and_without_names(book):
    with pytest.raises(DataError, match=r"t\.xlsx:3: column 'a': 'red' is not a number"):
        load_file(book([["a", "kind"], [1, "x"], ["red", "y"]]), target="kind")
    with pytest.raises(DataError, match=r"t\.xlsx:2: 3 cells where the header has 2 columns"):
        load_file(book([["a", "kind"], [1, "x", 5]]), target="kind")
    with pytest.raises(DataError, match=r"t\.xlsx is empty"):
        load_file(book([]), target="kind")
    with pytest.raises(DataError, match=r"no rows below the column names"):
        load_file(book([["a", "kind"]]), target="kind")


def test_excel_is_the_same_as_csv(tmp_path):
    import pandas as pd

    data = load("heart_statlog")
    frame = pd.DataFrame(data.X, columns=list(data.feature_names)).assign(kind=data.y)
    frame.to_excel(tmp_path / "t.xlsx", index=False)
    assert load_file(tmp_path / "t.xlsx", target="kind").content_hash == data.content_hash


def _zip(**files):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name.replace("__", "."), content)
    return stream.getvalue()


TEXT = b"a,kind\n1,x\n2,y\n"


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("t.csv.gz", gzip.compress(TEXT, mtime=0)),
        ("t.csv.Z", compress(TEXT)),
        ("t.csv.zip", _zip(t__csv=TEXT)),
        ("t.zip", _zip(readme="x", t__csv=TEXT)),
        ("t.zip", _zip(t__csv__gz=gzip.compress(TEXT, mtime=0))),
        ("t.csv", gzip.compress(TEXT, mtime=0)),  # browsers take endings away
    ],
)
def test_compressed_files(put, name, content):
    data = load_file(put(name, content), target="kind")
    np.testing.assert_array_equal(data.X, [[1], [2]])
    assert data.name == "t"
