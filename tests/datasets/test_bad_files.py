"""Every bad file gets one message that says what is wrong, where, and what to do."""

import gzip
import sys

import pyarrow as pa
import pytest
from pyarrow import parquet

from mmc.datasets import DataError, load_file

GOOD = "a,b,kind\n1,2,x\n3,4,y\n"
ARFF = "@relation r\n@attribute a real\n@attribute kind {x,y}\n@data\n"

CASES = {
    "empty": ("t.csv", "", {}, r"t\.csv is empty; its first line must hold the column names"),
    "blank": ("t.csv", "\n  \n", {}, r"t\.csv is empty"),
    "byte order mark only": ("t.csv", b"\xef\xbb\xbf", {}, r"t\.csv is empty"),
    "empty gzip": ("t.csv.gz", gzip.compress(b""), {}, r"t\.csv\.gz is empty"),
    "empty arff": ("t.arff", "", {}, r"t\.arff is empty; an ARFF file declares"),
    "empty libsvm": ("t.svm", "# nothing\n", {}, r"t\.svm is empty; a libsvm file has one row per line"),
    "header only": ("t.csv", "a,b,kind\n", {}, r"t\.csv: no rows below the column names"),
    "short row": ("t.csv", GOOD + "\n5,x\n", {}, r"t\.csv:5: 2 cells where the header has 3 columns; add or"),
    "long row": ("t.csv", "a,kind\n1,x\n2,y,z\n", {}, r"t\.csv:3: 3 cells where the header has 2 columns"),
    "row after a cell of two lines": ("t.csv", 'a,kind\n1,"x\ny"\n5\n', {}, r"t\.csv:4: 1 cells where the header"),
    "open quote": ("t.csv", 'a,kind\n1,x\n2,"y\n', {}, r"t\.csv:3: not a well-formed row .*check its quotes"),
    "text feature": (
        "t.csv",
        "a,colour,kind\n1,2,x\n3,red,y\n",
        {},
        r"t\.csv:3: column 'colour': 'red' is not a number; encode the column as numbers, or list .* `features`",
    ),
    "text after a missing cell": ("t.csv", "a,kind\n?,x\n1 2,y\n", {}, r"t\.csv:3: column 'a': '1 2' is not a number"),
    "decimal comma": ("t.tsv", "a\tkind\n1,5\tx\n2\ty\n", {}, r"t\.tsv:2: column 'a': '1,5' is not a number"),
    "digit groups": ("t.csv", "a,kind\n1_000,x\n2,y\n", {}, r"t\.csv:2: column 'a': '1_000' is not a number"),
    "other digits": ("t.csv", "a,kind\n١,x\n2,y\n", {}, r"t\.csv:2: column 'a': '١' is not a number"),
    "hexadecimal": ("t.csv", "a,kind\n0x1F,x\n2,y\n", {}, r"'0x1F' is not a number"),
    "inf": ("t.csv", "a,kind\n1,x\n-inf,y\n", {}, r"t\.csv:3: column 'a': '-inf' is not a finite number; correct it"),
    "too large": ("t.csv", "a,kind\n1,x\n1e999,y\n", {}, r"t\.csv:3: column 'a': '1e999' is not a finite number"),
    "nan": (
        "t.csv",
        "a,kind\n1,x\nNaN,y\n",
        {"missing": "error"},
        r"t\.csv:3: column 'a': the value is missing, as in 1 of 2",
    ),
    "empty label": (
        "t.csv",
        "a,kind\n1,x\n2,\n3,y\n",
        {"missing": "error"},
        r"t\.csv:3: column 'kind': .* 1 of 3 rows; fill them in, or set missing='drop'",
    ),
    "missing misspelt": ("t.csv", GOOD, {"missing": "dorp"}, r"missing='dorp' is no way to treat missing cells"),
    "all rows incomplete": ("t.csv", "a,kind\n?,x\n,y\n", {}, r"every one of the 2 rows has a missing cell; fill"),
    "no target": ("t.csv", GOOD, {"target": "kinds"}, r"no target column 'kinds' among the 3 columns: .*mean 'kind'\?"),
    "no target at all": ("t.csv", GOOD, {"target": "zz"}, r"no target column 'zz' .*: valid: a, b, kind"),
    "no positive": ("t.csv", GOOD, {"positive": "z"}, r"column 'kind' has no positive label 'z'; .* are 'x', 'y'"),
    "one class": ("t.csv", "a,kind\n1,x\n2,x\n", {}, r"'kind' has only one class, 'x', in its 2 complete rows; .* two"),
    "one class left": ("t.csv", "a,kind\n1,x\n?,y\n", {}, r"'kind' has only one class, 'x', in its 1 complete rows"),
    "one class in two spellings": ("t.csv", "a,kind\n1,1\n2,1.0\n", {}, r"has only one class, '1'"),
    "same name twice": ("t.csv", "a,a,kind\n1,2,x\n", {}, r"two columns are called 'a'; rename or remove one"),
    "no name": ("t.csv", ",a,kind\n0,1,x\n", {}, r"column 1 has no name; name it, .* index=False"),
    "no features": ("t.csv", "kind\nx\ny\n", {}, r"no feature columns beside the target 'kind'; at least one"),
    "no features chosen": ("t.csv", GOOD, {"features": []}, r"no feature columns beside the target 'kind'"),
    "unknown feature": (
        "t.csv",
        "age,kind\n1,x\n",
        {"features": ["aged"]},
        r"no feature column 'aged': .*mean 'age'\?",
    ),
    "target as feature": ("t.csv", GOOD, {"features": ["a", "kind"]}, r"'kind' cannot be a feature too; take it out"),
    "feature twice": ("t.csv", GOOD, {"features": ["a", "a"]}, r"`features` names 'a' twice; name it once"),
    "bad gzip": ("t.csv.gz", GOOD, {}, r"t\.csv\.gz is not a complete gzip file .*copy it again"),
    "cut gzip": ("t.csv.gz", gzip.compress(GOOD.encode())[:-9], {}, r"t\.csv\.gz is not a complete gzip file"),
    "damaged gzip": ("t.csv.gz", gzip.compress(GOOD.encode())[:10] + b"\xff" * 20, {}, r"is not a complete gzip file"),
    "not text": ("t.csv", b"a,kind\n1,x\n2,\xff\n", {}, r"t\.csv:3: byte 0xff is not UTF-8 text; save the file as"),
    "unknown ending": ("t.xls", GOOD, {}, r"t\.xls: the ending '\.xls' .*`format`: one of arff, csv, libsvm, p"),
    "no ending": ("data", GOOD, {}, r"data: the ending '' does not tell the format"),
    "unknown format": ("t.csv", GOOD, {"format": "csvv"}, r"t\.csv: there is no format 'csvv': did you mean 'csv'\?"),
    "libsvm token": ("t.svm", "1 1:2\n2 1=3\n", {}, r"t\.svm:2: '1=3' is not of the form index:value, like 3:0\.5"),
    "libsvm value": ("t.svm", "1 1:2\n\n2 1:x\n", {}, r"t\.svm:3: '1:x' is not of the form index:value"),
    "libsvm index": ("t.svm", "1 -1:2\n2 1:2\n", {}, r"t\.svm:1: '-1:2' is not of the form index:value"),
    "libsvm order": ("t.svm", "1 2:1 1:2\n2 1:2\n", {}, r"t\.svm:1: index 1 follows index 2; indices must ascend"),
    "libsvm twice": ("t.svm", "1 2:1 2:2\n2 1:2\n", {}, r"t\.svm:1: index 2 follows index 2"),
    "libsvm ranking": ("t.svm", "1 qid:3 1:2\n2 1:2\n", {}, r"t\.svm:1: 'qid:3': query ids are for ranking; remove"),
    "libsvm without label": ("t.svm", "1:2 2:3\n", {}, r"t\.svm:1: the row starts with '1:2'; its label must come"),
    "libsvm too wide": ("t.svm", "1 99999999999:2\n2 1:2\n", {}, r"2 rows of 99999999999 features would fill 1600 GB"),
    "libsvm without features": ("t.svm", "1\n2\n", {}, r"no feature columns beside the target 'kind'"),
    "libsvm inf": ("t.svm", "1 1:2\n2 1:inf\n", {}, r"t\.svm:2: column 'x1': 'inf' is not a finite number"),
    "arff sparse": ("t.arff", ARFF + "{0 1, 1 x}\n", {}, r"t\.arff:5: sparse ARFF is not supported; write the rows"),
    "arff ragged": ("t.arff", ARFF + "1,x\n\n1\n", {}, r"t\.arff:7: 1 cells where the header declares 2 attributes"),
    "arff undeclared": ("t.arff", ARFF + "1,z\n", {}, r"t\.arff:5: column 'kind': 'z' is not one of its declared"),
    "arff text": ("t.arff", ARFF + "1,x\nq,y\n", {}, r"t\.arff:6: column 'a': 'q' is not a number"),
    "arff quote": ("t.arff", ARFF + "1,'x\n", {}, r"t\.arff:5: \"'x\": a quote is not closed, or is misplaced"),
    "arff type": (
        "t.arff",
        "@attribute a reel\n@data\n",
        {},
        r"t\.arff:1: attribute 'a' .*'reel': did you mean 'real'",
    ),
    "arff relational": (
        "t.arff",
        "@attribute a relational\n",
        {},
        r"t\.arff:1: attribute 'a' is relational, .*flatten",
    ),
    "arff attribute": (
        "t.arff",
        "@attribute a\n",
        {},
        r"t\.arff:1: '@attribute a' is not of the form: @attribute name",
    ),
    "arff word": ("t.arff", "@relation r\n1,2\n", {}, r"t\.arff:2: '1,2' is not an ARFF declaration"),
    "arff without data": ("t.arff", "@attribute a real\n", {}, r"t\.arff: there is no @data line"),
    "arff without attributes": ("t.arff", "@relation r\n@data\n", {}, r"t\.arff has no @attribute"),
    "arff nominal feature": (
        "t.arff",
        "@attribute a {red,1}\n@attribute kind {x,y}\n@data\n1,x\nred,y\n",
        {},
        r"t\.arff:5: column 'a': 'red' is not a number; encode the column as numbers",
    ),
    "not parquet": ("t.parquet", "PAR1 no", {}, r"t\.parquet is not a readable Parquet file: "),
    "empty parquet": ("t.parquet", "", {}, r"t\.parquet is not a readable Parquet file: "),
}


@pytest.mark.parametrize("case", CASES)
def test_message(put, case):
    name, content, options, message = CASES[case]
    with pytest.raises(DataError, match=message) as caught:
        load_file(put(name, content), **{"target": "kind", **options})
    assert "\n" not in str(caught.value)


def test_no_such_file(tmp_path):
    for name in ("none.csv", "none.parquet"):
        with pytest.raises(DataError, match=rf"{name}: there is no such file \(looked for it in "):
            load_file(tmp_path / name, target="kind")


def test_a_folder_is_not_a_file(tmp_path):
    for name in ("folder.csv", "folder.parquet"):
        (tmp_path / name).mkdir()
        with pytest.raises(DataError, match=rf"{name} cannot be read: Is a directory"):
            load_file(tmp_path / name, target="kind")


def test_parquet_needs_pyarrow(put, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(DataError, match=r"need pyarrow, which is not installed; .*pip install pyarrow"):
        load_file(put("t.parquet", "x"), target="kind")


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (["red", "2"], r"t\.parquet:1: column 'a': 'red' is not a number"),
        ([1.0, float("inf")], r"t\.parquet:2: column 'a': 'inf' is not a finite number"),
        ([[1], [2]], r"t\.parquet:1: column 'a': 'list<.*int64>' is not a number"),
    ],
)
def test_bad_parquet_cells(tmp_path, column, message):
    parquet.write_table(pa.table({"a": column, "kind": ["x", "y"]}), tmp_path / "t.parquet")
    with pytest.raises(DataError, match=message):
        load_file(tmp_path / "t.parquet", target="kind")


def test_a_message_stays_readable_whatever_the_file_holds(put):
    names = ",".join(f"column_{j}" for j in range(5000))
    cells = ",".join("1" for _ in range(5000))
    with pytest.raises(DataError, match="no target column") as caught:
        load_file(put("wide.csv", f"{names}\n{cells}\n"), target="zz")
    assert len(str(caught.value)) < 600
    with pytest.raises(DataError, match="is not a number") as caught:
        load_file(put("long.csv", f"a,kind\n{'z' * 9999},x\n2,y\n"), target="kind")
    assert len(str(caught.value)) < 600
