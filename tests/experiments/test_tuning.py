"""Tuning, in both readings: the best cross-validated number itself, and nested inside each training part."""

import numpy as np
import pytest

from mmc.experiments import render, trials
from mmc.experiments.engines import engine
from mmc.experiments.plan import plan
from mmc.experiments.run import run
from mmc.experiments.store import Store
from mmc.experiments.validation import load
from tests.experiments.flat import flat

STUDY = """\
title: tuned
seed: 5
datasets:
  two_norm: {options: {n_pos: 60, n_neg: 60, n_features: 3}}
split: {kind: stratified-kfold, folds: 3, repetitions: 2}
costs: {pos: 2, neg: 1}
methods:
  all: {method: svm, grid: &grid {C_pos: [0.01, 1, 100], C_neg: [0.01, 1, 100]}}
  best: {method: svm, grid: *grid, best: risk}
  nested: {method: svm, tune: {grid: *grid, folds: 3, metric: risk}, beside: best}
  rates: {method: error-rate, tune: {grid: {eta_pos: [0.02, 0.5], eta_neg: [0.02, 0.5]}, folds: 3}}
table: {rows: [method, C_pos], columns: [C_neg], metrics: [risk, error]}
"""


@pytest.fixture(scope="module")
def outcome(tmp_path_factory):
    path = tmp_path_factory.mktemp("tuning") / "tuned.yaml"
    path.write_text(STUDY)
    with Store(None) as store:
        return run(load(path), store, engine(1))


def cells(outcome, method, name="risk"):
    return [c for c in outcome.table.cells if c.keys["method"] == method and c.metric == name]


def test_best_is_the_smallest_number_of_the_grid(outcome):
    (best,) = cells(outcome, "best")
    assert best.mean == min(c.mean for c in cells(outcome, "all"))
    chosen = [c for c in cells(outcome, "all") if all(c.keys[k] == v for k, v in best.chosen.items())]
    assert chosen[0].by_repetition == best.by_repetition


def test_nested_chooses_inside_each_training_part(outcome):
    records = [outcome.records[t.key] for u in outcome.units if u.label == "nested" for t in u.trials]
    assert len(records) == 2 * 3
    for record in records:
        assert set(flat(record)["chosen"]) == {"C_pos", "C_neg"}
        assert flat(record)["inner_score"] >= 0
    (best,), (nested,) = cells(outcome, "best"), cells(outcome, "nested")
    assert nested.trials == best.trials == 6


def test_a_point_that_is_infeasible_inside_is_never_chosen(outcome):
    records = [outcome.records[t.key] for u in outcome.units if u.label == "rates" for t in u.trials]
    assert all(record.status == "solved" for record in records)
    assert all(flat(record)["chosen"] != {"eta_pos": 0.02, "eta_neg": 0.02} for record in records)


def test_the_test_part_has_no_say(outcome, monkeypatch):
    """Turning the labels of a test part around must not change what was chosen for it."""
    unit = next(u for u in outcome.units if u.label == "nested")
    (before,) = trials.run_unit(unit)
    turned = trials.signs(unit.where)
    turned[trials.prepared(unit.where).rows.test] *= -1
    monkeypatch.setattr(trials, "signs", lambda where: turned)
    (after,) = trials.run_unit(unit)
    assert flat(before)["chosen"] == flat(after)["chosen"]
    assert flat(before)["wrong_pos"] != flat(after)["wrong_pos"]


FIRST = """\
title: tuned first
seed: 5
datasets:
  two_norm: {options: {n_pos: 40, n_neg: 40, n_features: 3}}
  ring_norm: {options: {n_pos: 40, n_neg: 40}}
split: {kind: partitions, train: 0.7, repetitions: 6}
methods:
  own: {method: svm, tune: {grid: &grid {C_pos: [0.01, 1, 100], C_neg: [0.01, 1]}, folds: 3}}
  led: {method: svm, tune: {grid: *grid, folds: 3, first: {two_norm: 2}}}
table: {rows: [dataset], columns: [method], metrics: [accuracy], spread: both}
"""


@pytest.fixture
def first(tmp_path):
    path = tmp_path / "first.yaml"
    path.write_text(FIRST)
    return load(path)


def taken(outcome, method, dataset):
    units = [u for u in outcome.units if (u.label, u.source.label) == (method, dataset)]
    return [flat(outcome.records[u.trials[0].key]) for u in units]


def test_later_repetitions_take_what_the_first_ones_found_best(first):
    with Store(None) as store:
        outcome = run(first, store, engine(1))
    own, led = (taken(outcome, method, "two_norm") for method in ("own", "led"))
    assert [v["inner_scores"] for v in led[:2]] == [v["inner_scores"] for v in own[:2]]
    total = np.sum([v["inner_scores"] for v in own[:2]], axis=0)
    grid = [{"C_pos": p, "C_neg": n} for p in (0.01, 1, 100) for n in (0.01, 1)]
    assert [v["chosen"] for v in led[2:]] == 4 * [grid[int(np.argmin(total))]]
    assert [v["chosen"] for v in led[:2]] == [v["chosen"] for v in own[:2]]
    assert any(v["chosen"] != led[-1]["chosen"] for v in own[2:]), "the data must tell the two ways apart"
    assert all("inner_scores" in v for v in taken(outcome, "led", "ring_norm")), "only the named set is led"


def test_led_units_resume_after_every_unit(first):
    """Stopped after each unit in turn, the run ends with the same choices as an undisturbed one."""

    class Stop(Exception):
        pass

    def one(units):
        yield next(engine(1)(units))
        raise Stop

    with Store(None) as store:
        whole = run(first, store, engine(1))
    with Store(None) as store:
        for _ in whole.records:
            with pytest.raises(Stop):
                run(first, store, one)
        resumed = run(first, store, None)
    assert resumed.missing == 0
    for dataset in ("two_norm", "ring_norm"):
        chosen = [[v["chosen"] for v in taken(o, "led", dataset)] for o in (whole, resumed)]
        assert chosen[0] == chosen[1]
    assert [c.by_repetition for c in whole.table.cells] == [c.by_repetition for c in resumed.table.cells]


def test_the_keys_of_the_led_are_made_of_what_leads_them(first, tmp_path):
    def keys(old, new):
        path = tmp_path / "first.yaml"
        path.write_text(FIRST.replace(old, new))
        units = [u for u in plan(load(path)) if (u.label, u.source.label) == ("led", "two_norm")]
        return [u.trials[0].key for u in units]

    before = keys("", "")
    assert keys("title: tuned first", "title: other") == before
    more = keys("{two_norm: 2}", "3")
    assert more[:2] == before[:2]
    assert not set(more[2:]) & set(before)
    assert not set(keys("folds: 3, first", "folds: 4, first")) & set(before)


def test_where_no_point_can_be_fitted_the_led_say_so(tmp_path):
    path = tmp_path / "none.yaml"
    grid = "{grid: {eta_pos: [0.01], eta_neg: [0.01]}, folds: 3, first: 1}"
    path.write_text(
        "title: none\ndatasets:\n  ring_norm: {options: {n_pos: 40, n_neg: 40}}\n"
        "split: {kind: partitions, train: 0.7, repetitions: 3}\n"
        f"methods:\n  led: {{method: error-rate, tune: {grid}}}\n"
    )
    with Store(None) as store:
        table = run(load(path), store, engine(1)).table
    assert [c.infeasible for c in table.cells] == [3, 3]


def test_the_table_says_who_was_tuned_on_the_first_only(first):
    with Store(None) as store:
        table = run(first, store, engine(1)).table
    (cell,) = [c for c in table.cells if c.tuned_first]
    text = f"{cell.mean:.2f} ± {cell.std:.2f} (SE {cell.std / 6**0.5:.2f})‡"
    assert (cell.keys["method"], cell.keys["dataset"]) == ("led", "two_norm")
    assert text in render.to_markdown(table)
    assert text.replace("±", r"$\pm$").replace("‡", r"$\ddagger$") in render.to_latex(table)
    assert "‡ led on two_norm: tuned by cross-validation inside each of the first 2 repetitions" in render.to_markdown(
        table
    )
    header, *rows = (line.split(",") for line in render.to_csv(table).splitlines())
    assert float(rows[0][header.index("se")]) == pytest.approx(float(rows[0][header.index("std")]) / 6**0.5, rel=1e-5)
