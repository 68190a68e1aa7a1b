"""Would the paper's protocol have printed its number?"""

import numpy as np
import pytest

from mmc.experiments.cells import DIFFERS, KNOWN, MATCH, NOT_RUN, Cell, Table
from mmc.experiments.config import Deviation, Reported
from mmc.experiments.errors import ConfigError
from mmc.experiments.verdicts import compare, judge, read_reported

KEYS = {"dataset": "pima", "method": "A"}


def cell(values=(), **kwargs):
    defaults = {"trials": 3 * len(values), "keys": KEYS, "metric": "error_pos"}
    return Cell(by_repetition=tuple(values), **{**defaults, **kwargs})


@pytest.mark.parametrize("repetitions", [1, 3, 10])
def test_the_verdict_accepts_99_of_100_papers(repetitions):
    """Papers that followed the same protocol are judged to match about 99 times in 100."""
    rng = np.random.default_rng(0)
    matches = 0
    papers = 4000
    for _ in range(papers):
        ours = cell(tuple(rng.normal(10, 2, size=10)))
        printed = f"{rng.normal(10, 2, size=repetitions).mean():.4f}"
        matches += judge(Cell(**{**vars_of(ours), "reported": printed}), repetitions) == MATCH
    assert matches / papers == pytest.approx(0.99, abs=3 * (0.99 * 0.01 / papers) ** 0.5)


def vars_of(c):
    return {name: getattr(c, name) for name in Cell.__dataclass_fields__}


def test_rounding_alone_explains_half_a_unit():
    same = (4.16, 4.16, 4.16)
    assert judge(cell(same, reported="4.2"), 1) == MATCH
    assert judge(cell(same, reported="4.1"), 1) == DIFFERS


def test_infeasible_must_be_infeasible_everywhere():
    assert judge(cell(trials=30, infeasible=30, reported="×"), 1) == MATCH
    assert judge(cell((1.0,), trials=30, infeasible=29, reported="×"), 1) == DIFFERS
    assert judge(cell(trials=30, infeasible=30, reported="3.1"), 1) == DIFFERS
    assert judge(cell(trials=30, failed=30, reported="3.1"), 1) == NOT_RUN


@pytest.fixture
def table(tmp_path):
    (tmp_path / "reported").mkdir()
    (tmp_path / "reported" / "t.csv").write_text(
        "dataset,eta_pos,method,metric,value\n"
        "pima,0.3,A,error_pos,10.0\npima,0.30,B,error_pos,×\npima,0.5,A,error_pos,9.0\nsonar,0.3,A,error_pos,1\n"
    )
    cells = [
        cell((9.0, 10.0, 11.0), keys={**KEYS, "eta_pos": 0.3}),
        cell(trials=9, infeasible=9, keys={"dataset": "pima", "method": "B", "eta_pos": 0.3}),
        cell((20.0, 20.1), keys={**KEYS, "eta_pos": 0.5}),
        cell((2.0, 2.1), trials=9, infeasible=1, capped=3, keys={"dataset": "pima", "method": "B", "eta_pos": 0.5}),
    ]
    reported = Reported(
        file="t.csv", source="Table 9", deviations=[Deviation(where={"eta_pos": 0.5}, reason="the moon", see="moon")]
    )
    return Table(
        "t",
        "a title",
        ("eta_pos",),
        ("method",),
        ("error_pos",),
        tuple(compare(cells, reported, ["pima"], tmp_path)),
        {},
    )


def test_each_reported_number_finds_its_cell(table):
    assert [c.verdict for c in table.cells] == [MATCH, MATCH, KNOWN, ""]
    assert table.cells[2].reason == "the moon"
    assert table.counts() == {MATCH: 2, KNOWN: 1, DIFFERS: 0, NOT_RUN: 0}


def test_a_number_without_a_cell_is_listed_never_dropped(tmp_path, table):
    reported = Reported(file="t.csv", source="Table 9")
    cells = compare([], reported, ["pima", "sonar"], tmp_path)
    assert len(cells) == 4
    assert {c.verdict for c in cells} == {NOT_RUN}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("dataset,value\npima,1\n", ":2: reported numbers need a column 'metric'"),
        ("dataset,metric,value\npima,error\n", ":2: this line has more or fewer fields"),
        ("dataset,metric,value\npima,error,1\npima,error,two\n", ":3: the value 'two' is neither a number nor ×"),
    ],
)
def test_a_file_of_reported_numbers_that_is_wrong_is_refused_with_its_line(tmp_path, text, words):
    (tmp_path / "r.csv").write_text(text)
    with pytest.raises(ConfigError, match=words):
        read_reported(tmp_path / "r.csv", {})
