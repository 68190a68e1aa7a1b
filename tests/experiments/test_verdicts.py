"""Would the paper's protocol have printed its number?"""

import numpy as np
import pytest

from mmc.experiments.cells import Cell, Verdict
from mmc.experiments.config import Constructed, Deviation, Elsewhere, FittedSetting, Repeated, Reported
from mmc.experiments.errors import ConfigError
from mmc.experiments.layout import sign
from mmc.experiments.verdicts import compare, judge, read_reported

KEYS = {"dataset": "pima", "method": "A"}


def cell(values=(), **kwargs):
    defaults = {"trials": 3 * len(values), "keys": KEYS, "metric": "error_pos"}
    return Cell(by_repetition=tuple(values), **{**defaults, **kwargs})


def judged(values=(), runs=1, **kwargs):
    return judge(cell(values, runs=runs, **kwargs))


@pytest.mark.parametrize("runs", [1, 3, 10])
def test_the_interval_holds_99_of_100_papers(runs):
    """Papers that followed the same protocol are judged to match about 99 times in 100."""
    rng = np.random.default_rng(0)
    inside = 0
    papers = 4000
    for _ in range(papers):
        printed = f"{rng.normal(10, 2, size=runs).mean():.4f}"
        inside += judged(rng.normal(10, 2, size=10), runs, reported=printed) is not Verdict.DIFFERS
    assert inside / papers == pytest.approx(0.99, abs=3 * (0.99 * 0.01 / papers) ** 0.5)


def test_rounding_alone_explains_half_a_unit():
    same = (4.16, 4.16, 4.16)
    assert judged(same, reported="4.2") is Verdict.MATCH
    assert judged(same, reported="4.1") is Verdict.DIFFERS


def test_infeasible_must_be_infeasible_everywhere():
    assert judged(trials=30, infeasible=30, reported="×") is Verdict.INFEASIBLE
    assert judged((1.0,), trials=30, infeasible=29, reported="×") is Verdict.DIFFERS
    assert judged(trials=30, infeasible=30, reported="3.1") is Verdict.DIFFERS
    assert judged(trials=30, failed=30, reported="3.1") is Verdict.NOT_RUN


# -- what a match is worth ----------------------------------------------------------------------------------------------
def test_a_wide_interval_is_a_weak_match():
    """67.3 ± 25.8 "matches" 94.9, and would match anything."""
    rng = np.random.default_rng(0)
    values = rng.normal(67.3, 25.8, size=100)
    assert judged(values, reported="94.9", percent=True, perfect=100) is Verdict.WEAK


@pytest.mark.parametrize(("error", "verdict"), [(20.0, Verdict.MATCH), (2.0, Verdict.WEAK)])
def test_half_of_the_error_is_the_yardstick(error, verdict):
    values = error + np.tile([0.3, -0.3], 5)
    assert judged(values, reported=f"{error:.1f}", percent=True) is verdict
    accuracy = 100 - values
    assert judged(accuracy, reported=f"{100 - error:.1f}", percent=True, perfect=100) is verdict


def test_five_points_are_too_many_however_large_the_error():
    values = 50 + np.tile([2.5, -2.5], 5)
    assert judged(values, reported="50.0", percent=True) is Verdict.WEAK
    assert judged(values, reported="50.0", percent=False) is Verdict.MATCH


def test_no_error_at_all_is_a_match_not_a_weak_one():
    """Its interval is the rounding alone, and one test point more would lie outside."""
    assert judged((0.0, 0.0, 0.0), reported="0.00", percent=True, resolution=0.1) is Verdict.MATCH


def test_two_fits_on_the_same_points_are_compared_by_where_they_disagree():
    """55 errors and a printed 47: the binomial error √55 says nothing, but our own methods differ on six points only."""
    single = {"sampling": 7.3, "resolution": 1.0, "whole": True, "reported": "47", "trials": 1}
    assert judged((55.0,), **single) is Verdict.MATCH
    assert judged((55.0,), discordant=6, **single) is Verdict.DIFFERS
    assert judged((50.0,), discordant=6, **single) is Verdict.MATCH


PRINTED = """\
dataset,eta_pos,method,metric,value
pima,0.3,SOCP,error_pos,10.0
pima,0.3,ITER,error_pos,10.0
pima,0.5,SOCP,error_pos,9.0
pima,0.5,ITER,error_pos,9.5
pima,0.1,SOCP,error_pos,×
pima,0.1,SOCP,error_neg,×
pima,0.1,ITER,error_pos,×
sonar,0.3,SOCP,error_pos,1
"""


def compared(tmp_path, datasets=("pima",), shift=0.0, cells=None, **reported):
    (tmp_path / "reported").mkdir(exist_ok=True)
    (tmp_path / "reported" / "t.csv").write_text(PRINTED)
    found = [] if cells is None else cells
    for line in PRINTED.splitlines()[1:] if cells is None else ():
        dataset, eta, method, metric, value = line.split(",")
        keys = {"dataset": dataset, "method": method, "eta_pos": float(eta), "solver": method.lower()}
        if value == "×":
            found.append(cell(keys=keys, metric=metric, trials=9, infeasible=9))
        else:
            values = float(value) + shift + np.array([-0.1, 0.0, 0.1])
            found.append(cell(tuple(values), keys=keys, metric=metric))
    return compare(found, Reported(file="t.csv", source="Table 9", **reported), list(datasets), tmp_path)


def test_each_reported_number_finds_its_cell(tmp_path):
    cells = compared(tmp_path)
    assert [c.reported for c in cells] == ["10.0", "10.0", "9.0", "9.5", "×", "×", "×", None]
    assert [c.verdict for c in cells] == [Verdict.MATCH] * 4 + [Verdict.INFEASIBLE] * 3 + [Verdict.NONE]


def test_a_deviation_needs_its_reason(tmp_path):
    deviation = Deviation(where={"eta_pos": 0.5}, reason="the moon", see="moon")
    cells = compared(tmp_path, shift=3.0, deviations=[deviation])
    assert [c.verdict for c in cells[:4]] == [Verdict.DIFFERS] * 2 + [Verdict.KNOWN] * 2
    assert (cells[2].reason, cells[2].see) == ("the moon", "moon")


def test_a_fitted_setting_and_a_construction_are_no_evidence(tmp_path):
    cells = compared(
        tmp_path,
        fitted=[FittedSetting(where={"eta_pos": 0.3}, setting="max_iter", sweep="caps", note="5000 fits best")],
        by_construction=[Constructed(where={"method": "ITER", "eta_pos": 0.5}, reason="it is told")],
    )
    assert [c.verdict for c in cells[:4]] == [Verdict.FITTED, Verdict.FITTED, Verdict.MATCH, Verdict.CONSTRUCTED]
    assert cells[0].reason == "max_iter was chosen with the printed number in sight: 5000 fits best"
    assert cells[0].see == "caps"


def test_what_was_fitted_and_still_differs_differs(tmp_path):
    cells = compared(tmp_path, shift=3.0, fitted=[FittedSetting(where={}, setting="max_iter")])
    assert {c.verdict for c in cells[:4]} == {Verdict.DIFFERS}


def test_a_number_without_a_cell_is_listed_never_dropped(tmp_path):
    cells = compared(tmp_path, ["pima", "sonar"], cells=[])
    assert len(cells) == 8
    assert {c.verdict for c in cells} == {Verdict.NOT_RUN}


def test_a_number_that_another_config_judges_is_shown_without_a_verdict(tmp_path):
    other = Elsewhere(where={"eta_pos": 0.5, "method": "ITER"}, config="better", reason="another reading")
    cells = compared(tmp_path, shift=3.0, elsewhere=[other])
    assert [c.verdict for c in cells[:4]] == [Verdict.DIFFERS] * 3 + [Verdict.NONE]
    assert (cells[3].reported, cells[3].reason, cells[3].see) == ("9.5", "another reading", "better")
    nothing = compared(tmp_path, cells=[], elsewhere=[Elsewhere(where={"dataset": "pima"}, config="better", reason="")])
    assert nothing == []


def test_of_a_list_only_the_rows_named_are_looked_at(tmp_path):
    """``where`` with a list keeps its column as a key: SOCP's number is not ITER's."""
    cells = compared(tmp_path, where={"method": ["ITER"]})
    assert [c.reported for c in cells] == [None, "10.0", None, "9.5", None, None, "×", None]


def test_numbers_that_repeat_others_are_marked(tmp_path):
    """× of one metric is × of the other; a second algorithm repeats the first where the paper prints both equal."""
    cells = compared(tmp_path, duplicates=[Repeated(where={"method": "ITER"}, of={"method": "SOCP"})])
    assert [c.same_as for c in cells[:7]] == ["", "SOCP", "", "", "", "error_pos", "SOCP"]


def test_a_total_follows_from_its_parts(tmp_path):
    total = Repeated(where={"metric": "error_neg"}, of={"metric": ["error_pos"]})
    cells = [c for c in compared(tmp_path, duplicates=[total]) if c.metric == "error_neg"]
    assert [c.same_as for c in cells] == ["error_pos"]


def test_a_cell_of_some_draws_says_so():
    some = cell((1.0, 2.0), draws=20, verdict=Verdict.MATCH, reported="1.5")
    assert sign(some) == "✓ 2/20 draws"
    assert sign(cell((1.0, 2.0), draws=2, verdict=Verdict.MATCH)) == "✓"


def test_a_weak_match_shows_what_it_could_not_have_told_apart():
    weak = cell((1.0, 2.0), draws=2, verdict=Verdict.WEAK, half_width=25.83, reported="94.9")
    assert sign(weak) == "(✓ ±25.8)"


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
