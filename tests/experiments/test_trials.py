"""The worker: it makes its split again, refuses what was not planned, and is safe with several threads."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest

from mmc.experiments import preparation
from mmc.experiments.errors import TrialError
from mmc.experiments.kept import Kept
from mmc.experiments.plan import plan
from mmc.experiments.preparation import prepared, signs
from mmc.experiments.trials import run_unit
from mmc.experiments.validation import load

STUDY = """\
title: own
datasets:
  mine: {file: mine.csv, target: kind}
split: {kind: stratified-kfold, folds: 3, repetitions: 4}
methods:
  SVM: {method: svm, kernel: rbf, gamma: 0.1}
  LDA: {method: lda}
table: {metrics: [error]}
"""


@pytest.fixture
def units(tmp_path):
    """Ten rows of class 2, twenty of class 10."""
    rng = np.random.default_rng(0)
    rows = [f"{x:.4f},{y:.4f},{2 if i % 3 == 0 else 10}" for i, (x, y) in enumerate(rng.normal(size=(30, 2)))]
    (tmp_path / "mine.csv").write_text("a,b,kind\n" + "\n".join(rows))
    (tmp_path / "own.yaml").write_text(STUDY)
    return plan(load(tmp_path / "own.yaml"))


def counts(records):
    return [(record.key, record.status, record.counts) for record in records]


def test_of_labels_2_and_10_the_positive_class_is_10(units):
    """As numbers, not as text: in the plan, in the trials and in the signs alike."""
    for unit in units[:6]:
        (record,) = run_unit(unit)
        assert (record.counts.n_pos + record.counts.n_neg) == 10
        assert record.counts.n_pos in (6, 7)
    data = units[0].source.load()
    assert data.positive_class == "10"
    np.testing.assert_array_equal(signs(units[0].where) > 0, data.y == "10")


def test_another_split_than_the_planned_one_is_refused(units):
    where = units[0].where
    wrong = replace(units[0], where=replace(where, split=replace(where.split, digest="0" * 64)))
    with pytest.raises(
        TrialError, match=r"'mine', repetition 1, fold 1: the split made here \(\w+\) is not the planned"
    ):
        run_unit(wrong)


def test_other_data_than_the_planned_ones_are_refused(units):
    wrong = replace(units[0], where=replace(units[0].where, content="0" * 64))
    with pytest.raises(TrialError, match="'mine' has changed since the run was planned"):
        run_unit(wrong)


def test_several_threads_make_the_same_records(units, monkeypatch):
    """Twelve splits over six threads, and room for one split: each thread still gets its own."""
    alone = [counts(run_unit(unit)) for unit in units]
    for size in (1, 3):
        monkeypatch.setattr(preparation, "_prepared", Kept(size))
        with ThreadPoolExecutor(6) as pool:
            together = list(pool.map(run_unit, units))
        assert [counts(records) for records in together] == alone
        assert len(preparation._prepared) <= size


def test_methods_of_a_split_share_its_features(units, monkeypatch):
    made = []
    once = preparation.scaled
    monkeypatch.setattr(preparation, "scaled", lambda *args: made.append(1) or once(*args))
    monkeypatch.setattr(preparation, "_prepared", Kept(1))
    for unit in units:
        prepared(unit.where)
    assert len(units) == 24
    assert len(made) == 12


def test_a_trial_that_cannot_be_fitted_is_named(units):
    bad = replace(units[0], task=replace(units[0].task, params={"C_pos": -1}))
    with pytest.raises(TrialError, match=r"SVM on mine, repetition 1, fold 1: The 'C_pos' parameter"):
        run_unit(bad)


def test_facts_of_a_record_are_what_the_fit_left_and_no_parameters(units):
    (record,) = run_unit(units[0])  # an SVM with a Gaussian kernel
    assert "gamma" not in record.facts
    assert record.facts["n_iter"] > 0
