"""A user's own file: the same content gives the same data set in every format."""

import gzip

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from pyarrow import parquet

from mmc.datasets import DataSet, load, load_file
from tests.datasets.writing import write

FORMATS = ("csv", "tsv", "csv.gz", "arff", "libsvm", "parquet")

_finite = st.floats(allow_nan=False, allow_infinity=False, width=64)
_text = st.text(st.characters(codec="utf-8", categories=("L", "N", "P", "S", "Zs")), min_size=1, max_size=8)
_missing = {"", "?", "na", "nan"}


def _usable(text):
    return text == text.strip() and text.lower() not in _missing


_name = _text.filter(lambda text: _usable(text) and text != "target")
# A libsvm label ends at a blank, and a comment starts at "#".
_label = _text.filter(lambda t: _usable(t) and len(t.split()) == 1 and not set(t) & set(":#"))
_X = hnp.arrays(np.float64, st.tuples(st.integers(2, 8), st.integers(1, 5)), elements=_finite | st.just(0.0))


@st.composite
def tables(draw):
    X = draw(_X)
    # 1 and 01 would be the same label
    distinct = st.lists(_label, min_size=2, max_size=3, unique_by=lambda t: float(t) if _is_number(t) else t)
    labels = draw(distinct)
    y = [*labels[:2], *draw(st.lists(st.sampled_from(labels), min_size=len(X) - 2, max_size=len(X) - 2))]
    return X, y, draw(st.lists(_name, min_size=X.shape[1], max_size=X.shape[1], unique=True))


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(table=tables())
def test_a_table_survives_every_format(tmp_path, table):
    X, y, names = table
    numeric = all(_is_number(label) for label in y)
    for format in FORMATS:
        data = load_file(write(tmp_path, format, X, y, names), target="target", positive=y[0])
        np.testing.assert_array_equal(data.X, X)
        assert data.X.flags.c_contiguous
        assert data.feature_names == tuple(names if format != "libsvm" else [f"x{j + 1}" for j in range(len(names))])
        if not numeric:
            assert data.y.tolist() == y
            assert data.positive == y[0]
            assert data.content_hash == DataSet("t", X, np.array(y), tuple(names)).content_hash


def _is_number(text):
    try:
        return np.isfinite(float(text))
    except ValueError:
        return False


@pytest.mark.parametrize("name", ["sonar", "heart_statlog"])
def test_the_hash_does_not_depend_on_where_the_bytes_came_from(tmp_path, name):
    data = load(name)
    for format in FORMATS:
        path = write(tmp_path, format, data.X, data.y.tolist(), data.feature_names)
        assert load_file(path, target="target").content_hash == data.content_hash


def test_the_hash_depends_on_all_of_the_content():
    X, y = np.arange(6.0).reshape(3, 2), np.array(["a", "b", "ab"])
    base = DataSet("t", X, y, ("p", "q")).content_hash
    assert DataSet("other", np.asfortranarray(X), y.astype("U9"), ("r", "s"), "a").content_hash == base
    assert DataSet("t", X.astype(">f8"), y, ("p", "q")).content_hash == base
    assert DataSet("t", np.where(X == 0, -0.0, X), y, ("p", "q")).content_hash == base
    assert DataSet("t", X + 1e-12 * (X == 3), y, ("p", "q")).content_hash != base
    assert DataSet("t", X.reshape(2, 3), y[:2], ("p", "q", "r")).content_hash != base
    assert DataSet("t", X, np.array(["aa", "b", "b"]), ("p", "q")).content_hash != base
    assert DataSet("t", X[::-1], y, ("p", "q")).content_hash != base


def test_a_plain_file(put):
    data = load_file(put("my.data.csv", "a,b,kind\n1,2.5,x\n-3e2,+.5,y\n"), target="kind", positive="y")
    assert data.name == "my.data"
    assert data.X.tolist() == [[1.0, 2.5], [-300.0, 0.5]]
    assert data.y.tolist() == ["x", "y"]
    assert data.feature_names == ("a", "b")
    assert (data.positive, data.n_train, data.dropped) == ("y", None, 0)
    assert load_file(put("t.CSV.GZ", gzip.compress(b"a,b\n1,x\n2,y\n")), target="b").name == "t"


@pytest.mark.parametrize(
    "content",
    [
        b"\xef\xbb\xbfa,b,kind\n1,2,x\n3,4,y\n",
        b"a,b,kind\r\n1,2,x\r\n3,4,y\r\n",
        b"a,b,kind\r1,2,x\r3,4,y",
        b'"a","b","kind"\n"1","2","x"\n"3","4","y"\n',
        b"a,b,kind\n1,2,x\n3,4,y\n\n\n   \n",
        b"a,b,kind\n\n1,2,x\n\n3,4,y",
        b" a , b, kind \n 1, 2 ,x \n3 ,4, y\n",
    ],
    ids=["byte order mark", "CRLF", "CR", "quotes", "blank lines at the end", "blank lines inside", "blanks"],
)
def test_ways_to_write_the_same_csv(put, content):
    data = load_file(put("t.csv", content), target="kind")
    assert data.X.tolist() == [[1, 2], [3, 4]]
    assert data.y.tolist() == ["x", "y"]
    assert data.feature_names == ("a", "b")


def test_a_label_may_contain_anything_when_quoted(put):
    data = load_file(put("t.csv", 'a,kind\n1,"x, ""y""\nz"\n2,w\n'), target="kind")
    assert data.y.tolist() == ['x, "y"\nz', "w"]


@pytest.mark.parametrize("cell", ["", "?", "NA", "na", "NaN", "nan", " ", '"?"'])
def test_missing_cells_are_dropped(put, caplog, cell):
    text = f"a,b,kind\n1,2,x\n{cell},4,y\n5,6,y\n7,8,{cell}\n"
    with caplog.at_level("INFO", "mmc.datasets"):
        data = load_file(put("t.csv", text), target="kind")
    assert data.X.tolist() == [[1, 2], [5, 6]]
    assert data.dropped == 2
    assert "t: left out 2 of 4 rows" in caplog.text
    assert load_file(put("t.csv", text), target="kind", features=["b"]).dropped == 1  # a column that is not used


def test_missing_cells_in_the_other_formats(put, tmp_path):
    arff = "@relation r\n@attribute a real\n@attribute kind {x,y}\n@data\n1,x\n?,y\n3,y\n"
    table = pa.table({"a": [1.0, None, 3.0, float("nan")], "b": [1, 2, 3, None], "kind": ["x", "y", "y", "y"]})
    parquet.write_table(table, tmp_path / "t.parquet")
    assert load_file(put("t.arff", arff), target="kind").dropped == 1
    assert load_file(put("t.svm", "1 1:1\n2 1:nan\n2 1:3\n"), target="").dropped == 1
    assert load_file(tmp_path / "t.parquet", target="kind").dropped == 2


def test_numeric_labels_are_the_same_in_every_way_to_write_them(put, tmp_path):
    parquet.write_table(pa.table({"a": [1, 2, 3], "kind": [1.0, -1.0, 1.0]}), tmp_path / "float.parquet")
    parquet.write_table(pa.table({"a": [1, 2, 3], "kind": [1, -1, 1]}), tmp_path / "int.parquet")
    paths = [
        put("plain.csv", "a,kind\n1,1\n2,-1\n3,1\n"),
        put("mixed.csv", "a,kind\n1,1.0\n2,-1\n3,+1\n"),
        put("t.libsvm", "+1 1:1\n-1 1:2\n1e0 1:3\n"),
        tmp_path / "float.parquet",
        tmp_path / "int.parquet",
    ]
    for path in paths:
        for positive in ("1", "+1", "1.0", 1, 1.0):
            data = load_file(path, target="kind", positive=positive)
            assert data.y.tolist() == ["1", "-1", "1"]
            assert data.positive == "1"
    assert len({load_file(path, target="kind").content_hash for path in paths}) == 1


def test_labels_that_are_not_all_numbers_are_kept_exactly(put):
    data = load_file(put("t.csv", "a,kind\n1,1\n2,1.0\n3,one\n"), target="kind", positive="1.0")
    assert data.y.tolist() == ["1", "1.0", "one"]
    data = load_file(put("t.csv", "a,kind\n1,0.50\n2,12345678901234567890\n3,12345678901234567891\n"), target="kind")
    assert data.y.tolist() == ["0.5", "12345678901234567890", "12345678901234567891"]


def test_features_can_be_chosen(put):
    path = put("t.csv", "id,a,kind,b\nrow one,1,x,2\nrow two,3,y,4\n")
    data = load_file(path, target="kind", features=["b", "a"])
    assert data.feature_names == ("b", "a")
    assert data.X.tolist() == [[2, 1], [4, 3]]


def test_the_format_can_be_given(put):
    assert load_file(put("t.txt", "a\tkind\n1\tx\n2\ty\n"), target="kind", format="tsv").X.tolist() == [[1], [2]]
    for format in ("svm", "libsvm", "svmlight"):
        data = load_file(put("t.data", "1 1:2\n2 1:3 # note\n\n# note\n"), target="label", format=format)
        assert data.X.tolist() == [[2], [3]]


def test_libsvm_indices_count_from_zero_if_a_zero_occurs(put):
    from_one = load_file(put("one.svm", "1 1:5 3:7\n2 2:6\n"), target="y")
    from_zero = load_file(put("zero.svm", "1 0:5 2:7\n2 1:6\n"), target="y")
    assert from_one.X.tolist() == [[5, 0, 7], [0, 6, 0]]
    assert from_one.content_hash == from_zero.content_hash
    assert (from_one.feature_names, from_zero.feature_names) == (("x1", "x2", "x3"), ("x0", "x1", "x2"))


def test_arff_as_weka_writes_it(put):
    text = """% comment
@RELATION 'a relation'

@ATTRIBUTE 'sepal length' REAL
@attribute "it's" integer % in centimetres
@Attribute code {0, 1 ,2}   % nominal numbers are numbers
@attribute note string
@attribute when date "yyyy-MM-dd"
@attribute kind{ 'Iris setosa' ,Iris\\'s, "c,d"}

@DATA
% comment
5.1, 3 ,0, 'a, \\'b\\'', "2020-01-01", 'Iris setosa'
4.9,2,2,?,?,"c,d"
"""
    data = load_file(put("t.arff", text.replace("Iris\\'s", "other")), target="kind", positive="c,d",
                     features=["sepal length", "it's", "code"])  # fmt: skip
    assert data.X.tolist() == [[5.1, 3, 0], [4.9, 2, 2]]
    assert data.y.tolist() == ["Iris setosa", "c,d"]


def test_parquet_columns_of_every_numeric_kind(tmp_path):
    from decimal import Decimal

    table = pa.table(
        {
            "int": pa.array([1, 2], pa.int8()),
            "float": pa.array([0.5, 1.5], pa.float32()),
            "bool": [True, False],
            "decimal": [Decimal("1.25"), Decimal("2.5")],
            "text": ["3", " 4.5"],
            "category": pa.array([7, 8]).dictionary_encode(),
            "kind": pa.array(["x", "y"]).dictionary_encode(),
            "__index_level_0__": [10, 11],
        }
    )
    parquet.write_table(table, tmp_path / "t.parquet")
    data = load_file(tmp_path / "t.parquet", target="kind")
    assert data.feature_names == ("int", "float", "bool", "decimal", "text", "category")
    assert data.X.tolist() == [[1, 0.5, 1, 1.25, 3, 7], [2, 1.5, 0, 2.5, 4.5, 8]]


def test_files_as_other_libraries_write_them(tmp_path):
    import pandas as pd
    from sklearn.datasets import dump_svmlight_file

    data = load("heart_statlog")
    frame = pd.DataFrame(data.X, columns=list(data.feature_names)).assign(kind=data.y)
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.to_csv(tmp_path / "t.tsv.gz", index=False, sep="\t")
    frame.to_parquet(tmp_path / "t.parquet")
    frame[::-1][::-1].astype({"kind": "category"}).set_index(frame.index + 5).to_parquet(tmp_path / "category.parquet")
    for name in ("t.csv", "t.tsv.gz", "t.parquet", "category.parquet"):
        read = load_file(tmp_path / name, target="kind", positive="disease")
        assert read.content_hash == data.content_hash
        assert read.feature_names == data.feature_names
    codes = np.where(data.y == "disease", 1, -1)
    for zero_based in (True, False):
        dump_svmlight_file(data.X, codes, str(tmp_path / "t.svm"), zero_based=zero_based, comment="by scikit-learn")
        read = load_file(tmp_path / "t.svm", target="", positive="1")
        np.testing.assert_array_equal(read.X, data.X)
        assert (read.y == "1").tolist() == (data.y == "disease").tolist()
