"""Records gathered into a table."""

from dataclasses import replace

import pytest

from mmc.experiments.layout import measured
from mmc.experiments.plan import plan
from mmc.experiments.records import Counts, Proof, Record
from mmc.experiments.tables import gather
from mmc.experiments.validation import load
from mmc.methods.solution import Status

STUDY = """\
title: t
datasets: {two_norm: {options: {n_pos: 20, n_neg: 20}}}
split: {kind: stratified-kfold, folds: 2, repetitions: 2}
methods:
  L: {method: svm}
table: {metrics: [error, fit_seconds, train_seconds, gap, iterations]}
"""


@pytest.fixture
def cells(tmp_path):
    (tmp_path / "t.yaml").write_text(STUDY)
    config = load(tmp_path / "t.yaml")
    units = plan(config)
    records = {
        unit.trials[0].key: Record(
            unit.trials[0].key,
            Status.SOLVED,
            seconds=1.0 + i,
            train_seconds=0.5,
            counts=Counts(10, 10, i, 0),
            proof=Proof(1.0, 10.0 ** -(9 - i), 10 * i),
        )
        for i, unit in enumerate(units)
    }
    return {cell.metric: cell for cell in gather(config, units, records).cells}


def test_times_are_summed_over_the_folds_of_a_repetition(cells):
    assert cells["fit_seconds"].by_repetition == (1.0 + 2.0, 3.0 + 4.0)
    assert cells["train_seconds"].by_repetition == (1.0, 1.0)


def test_the_largest_gap_is_the_largest_of_all_fits_not_a_mean(cells):
    assert cells["gap"].mean == 1e-6
    assert measured(cells["gap"]) == "1.0e-06"


def test_errors_are_pooled_over_folds_and_steps_averaged(cells):
    assert cells["error"].by_repetition == (2.5, 12.5)
    assert cells["iterations"].by_repetition == (5.0, 25.0)


def test_a_repetition_with_a_failed_fold_does_not_count(tmp_path):
    (tmp_path / "t.yaml").write_text(STUDY)
    config = load(tmp_path / "t.yaml")
    units = plan(config)
    solved = Record("", Status.SOLVED, counts=Counts(10, 10, 1, 1))
    records = {unit.trials[0].key: replace(solved, key=unit.trials[0].key) for unit in units}
    last = units[-1].trials[0].key
    records[last] = Record(last, Status.INFEASIBLE, distance=0.25)
    cell = next(cell for cell in gather(config, units, records).cells if cell.metric == "error")
    assert (cell.by_repetition, cell.infeasible, cell.trials, cell.distance) == ((10.0,), 1, 4, 0.25)
