"""Tuning, in both readings: the best cross-validated number itself, and nested inside each training part."""

import numpy as np
import pytest

from mmc.experiments.config import load
from mmc.experiments.engine import engine
from mmc.experiments.metrics import metric
from mmc.experiments.run import run
from mmc.experiments.store import Store

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
        assert set(record.values["chosen"]) == {"C_pos", "C_neg"}
        assert record.values["inner_score"] >= 0
    (best,), (nested,) = cells(outcome, "best"), cells(outcome, "nested")
    assert nested.trials == best.trials == 6


def test_a_point_that_is_infeasible_inside_is_never_chosen(outcome):
    records = [outcome.records[t.key] for u in outcome.units if u.label == "rates" for t in u.trials]
    assert all(record.status == "solved" for record in records)
    assert all(record.values["chosen"] != {"eta_pos": 0.02, "eta_neg": 0.02} for record in records)


def test_the_test_part_has_no_say(outcome, tmp_path):
    """Turning the labels of a test part around must not change what was chosen for it."""
    from mmc.experiments.trials import run_unit

    unit = next(u for u in outcome.units if u.label == "nested")
    data = unit.source.load()
    turned = data.y.copy()
    turned[unit.split.test] = np.where(data.y[unit.split.test] == "pos", "neg", "pos")

    class Turned:
        label = unit.source.label

        def load(self):
            return type(data)(data.name, data.X, turned, data.feature_names, data.positive)

    from dataclasses import replace

    (before,), (after,) = run_unit(unit), run_unit(replace(unit, source=Turned()))
    assert before.values["chosen"] == after.values["chosen"]
    assert before.values["wrong_pos"] != after.values["wrong_pos"]


def test_risk_counts_errors_by_their_cost():
    counts = {"n_pos": 10, "n_neg": 20, "wrong_pos": 3, "wrong_neg": 4}
    assert metric("risk", counts, {"pos": 2, "neg": 1}) == 10
    assert metric("error", counts, {}) == pytest.approx(100 * 7 / 30)
