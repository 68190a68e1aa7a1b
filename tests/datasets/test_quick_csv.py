"""Large CSV files are read by pyarrow, and say what Python's csv module says: the same cells, the same errors."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mmc.datasets import DataError, delimited, load_file, quick_csv

CELLS = [
    *("1", "-2.5", "+.5", "1e3", "007", " 4 ", "\t5", "0x1F", "1_000", "1,5", "١", "-0", "1e-400", "5e-324", "nan(1)"),
    *("", " ", "?", "NA", "nA", "NaN", "-nan", "inf", "Infinity", "1e999", "n/a", "-999", "-999.0"),
    *("x", "a b", "true", "2020-01-01", "é", '"', '""', '"1"', '"x,y"', '"a""b"', '"2', 'q"q', '"x"y', '"line\nbreak"'),
]
LABELS = ["x", "y", "1", "1.0", "", "NA", "?", '"x"', '"x\ny"', " x"]
HEADERS = ["a,b,kind", "a;b;kind", '"a","b","kind"', "\na,b,kind", "a,b", "kind,a,a", ",b,kind"]


@st.composite
def files(draw):
    usual = draw(st.sampled_from([["1", "-2.5", "3e7"], CELLS]))
    comma = draw(st.sampled_from([",", ",", ",", ";"]))
    row = st.tuples(st.sampled_from(usual), st.sampled_from(usual), st.sampled_from(LABELS))
    lines = [comma.join(cells) for cells in draw(st.lists(row, max_size=6))]
    for line in draw(st.lists(st.sampled_from(["", "  ", '""', "1", "1,2,3,4"]), max_size=1)):
        lines.insert(draw(st.integers(0, len(lines))), line)
    end = draw(st.sampled_from(["\n", "\r\n", "\r"]))
    return end.join([draw(st.sampled_from(HEADERS)), *lines]) + draw(st.sampled_from(["", end, end + end]))


def _outcome(path, **options):
    try:
        data = load_file(path, target="kind", **options)
    except DataError as error:
        return str(error)
    return data.X.tolist(), data.y.tolist(), data.feature_names, data.dropped, data.imputed, data.content_hash


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    text=files(),
    options=st.fixed_dictionaries(
        {},
        optional={
            "missing": st.sampled_from(["error", "impute"]),
            "decimal": st.just(","),
            "missing_values": st.just(["n/a", -999]),
            "encode": st.just(True),
        },
    ),
)
def test_both_readers_agree(put, text, options):
    path = put("t.csv", text)
    outcomes = []
    for large in (float("inf"), 0):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(delimited, "LARGE", large)
            patch.setattr(delimited, "FEW", 0)
            outcomes.append(_outcome(path, **options))
    assert outcomes[0] == outcomes[1]


@pytest.fixture
def always(monkeypatch):
    """Read every file as if it were large; return how often pyarrow could."""
    counts = {"read": 0, "refused": 0}
    read = quick_csv.read

    def counted(*arguments):
        columns = read(*arguments)
        counts["refused" if columns is None else "read"] += 1
        return columns

    monkeypatch.setattr(delimited, "LARGE", 0)
    monkeypatch.setattr(delimited, "FEW", 0)
    monkeypatch.setattr(quick_csv, "read", counted)
    return counts


def test_usual_files_are_read_by_pyarrow(put, always):
    for text in ("a,kind\n1,x\n?,y\n2,y\n", "a;kind\n1;x\n   \n2;y\n", '"a","kind"\n"1","x"\n"2","y, z"\n'):
        assert len(load_file(put("t.csv", text), target="kind").X) == 2
    data = load_file(
        put("t.csv", "a;kind\n1,5;é\n2;y\n".encode("cp1252")), target="kind", encoding="cp1252", decimal=","
    )
    assert data.X.tolist() == [[1.5], [2]]
    assert data.y.tolist() == ["é", "y"]
    assert always == {"read": 4, "refused": 0}


def test_an_error_far_down_names_its_line(put, always):
    rows = [f'{i},"two\nlines",{"xy"[i % 2]}\n' for i in range(3000)]
    rows[2500] = "oops,z,x\n"
    with pytest.raises(DataError, match=r"t\.csv:5002: column 'a': 'oops' is not a number"):
        load_file(put("t.csv", "a,note,kind\n" + "".join(rows)), target="kind", features=["a"])
    assert always["read"] == 1


def test_one_long_label_does_not_make_the_others_long(put):
    rows = 50_000
    text = "a,kind\n" + f"1,{'z' * 100_000}\n" + "2,y\n" * rows  # as numpy's text: 20 GB
    data = load_file(put("t.csv", text), target="kind", positive="y")
    assert data.y.nbytes == 8 * (rows + 1)
    assert data.sign().sum() == rows - 1
    assert set(map(len, data.classes)) == {1, 100_000}


@pytest.mark.parametrize("large", [0, float("inf")])
def test_many_columns(put, monkeypatch, large):
    monkeypatch.setattr(delimited, "LARGE", large)
    monkeypatch.setattr(delimited, "FEW", 0)
    X = np.arange(60_000.0).reshape(2, 30_000)
    names = ",".join(f"x{j}" for j in range(30_000))
    text = f"{names},kind\n" + "".join(f"{','.join(map(str, x))},{label}\n" for x, label in zip(X, "ab", strict=True))
    np.testing.assert_array_equal(load_file(put("t.csv", text), target="kind").X, X)


@pytest.mark.parametrize(("columns", "rows", "by_pyarrow"), [(20_000, 50, 0), (500, 1000, 1)])
def test_a_file_that_is_wider_than_long_is_not_for_pyarrow(put, monkeypatch, columns, rows, by_pyarrow):
    """Each column of each block takes its time there: 100,000 columns and 40 rows took 23 s, five million names no end."""
    monkeypatch.setattr(delimited, "LARGE", 0)
    text = ",".join(f"x{j}" for j in range(columns)) + ",kind\n"
    text += "".join("1.5," * columns + "ab"[i % 2] + "\n" for i in range(rows))
    used = []
    read = quick_csv.read
    monkeypatch.setattr(quick_csv, "read", lambda *arguments: used.append(1) or read(*arguments))
    assert load_file(put("t.csv", text), target="kind").X.shape == (rows, columns)
    assert len(used) == by_pyarrow
