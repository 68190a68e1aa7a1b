"""The tolerance of a cell, and what a check says where a method has gone wrong."""

import csv
import io
from dataclasses import replace

import pytest

from mmc.cli.verbs import check
from mmc.experiments import render
from mmc.experiments.cells import Cell, Table
from mmc.experiments.check import compare
from mmc.methods.solvers import libsvm

VALUES = (99.99987654, 99.99987655, 99.99987656)


def table(values, **kwargs):
    cell = Cell({"dataset": "d", "method": "m"}, "bound_pos", tuple(values), trials=3, **kwargs)
    return Table("t", "t", ("dataset",), ("method",), ("bound_pos",), (cell,), {})


def reference(of):
    rows = list(csv.DictReader(io.StringIO(render.to_csv(of))))
    return {f"dataset={row['dataset']} method={row['method']} {row['metric']}": row for row in rows}


def test_the_same_numbers_never_move():
    assert compare(table(VALUES), reference(table(VALUES))) == []
    assert compare(table((0.7891234,)), reference(table((0.7891234,)))) == []


@pytest.mark.parametrize(("shift", "moved"), [(0.5, False), (1.5, True)])
def test_the_tolerance_is_the_standard_error(shift, moved):
    values = (10.0, 12.0, 14.0)
    error = 2.0 / 3**0.5
    assert bool(compare(table([v + shift * error for v in values]), reference(table(values)))) == moved


def test_one_test_point_may_flip():
    assert compare(table((5.1, 5.1, 5.1)), reference(table((5.0, 5.0, 5.0), resolution=0.2))) == []


@pytest.mark.parametrize(("after", "moved"), [(6.0e-7, False), (1.1e-5, True)])
def test_no_number_is_known_better_than_fits_are_certified(after, moved):
    assert bool(compare(table((after,)), reference(table((8.0e-11,))))) == moved


def test_feasibility_must_not_change():
    (change,) = compare(table((5.0, 5.0), infeasible=1), reference(table((5.0, 5.0))))
    assert "bound_pos" in str(change)


def test_cells_that_appear_or_vanish_are_told():
    assert len(compare(table(VALUES), {})) == 1
    empty = Table("t", "t", ("dataset",), ("method",), ("bound_pos",), (), {})
    assert len(compare(empty, reference(table(VALUES)))) == 1


STUDY = """\
title: small
datasets:
  gamma_synthetic: {options: {n_pos: 30, n_neg: 30, test_pos: 5, test_neg: 5}}
scale: none
methods:
  LDA: {method: lda}
  SVM: {method: svm}
  MPM: {method: mpm}
split: {kind: stratified-kfold, folds: 3, repetitions: 2}
table: {rows: [method], columns: [], metrics: [error]}
"""


def test_a_sign_that_is_flipped_in_one_solver_is_found_in_the_cells_of_its_method(tmp_path, monkeypatch, capsys):
    """The bias of the SVM with the wrong sign: the check fails, and points at the SVM and nothing else."""
    study = tmp_path / "small.yaml"
    study.write_text(STUDY)
    arguments = ([str(study)], False, 1)
    assert check(*arguments, True, tmp_path, None) == 0
    assert check(*arguments, False, tmp_path, None) == 0
    right = libsvm.solve

    def wrong(*args, **kwargs):
        answer = right(*args, **kwargs)
        return replace(answer, primal=replace(answer.primal, b=-answer.primal.b))

    monkeypatch.setattr(libsvm, "solve", wrong)
    capsys.readouterr()
    assert check(*arguments, False, tmp_path, None) == 1
    printed = capsys.readouterr().out
    assert "small: 1 of 3 cells moved" in printed
    lines = [line.split() for line in printed.splitlines()]
    assert [line[:2] for line in lines if "±" in line] == [["SVM", "error"]]
    assert "LDA (lda, solver closed-form): none moved" in printed
    assert "SVM (svm, solver libsvm): 1 of 1 cells moved" in printed
    assert "`mmc check small --update`" in printed


def test_where_a_table_does_not_fit_each_cell_has_a_line(tmp_path, monkeypatch, capsys):
    study = tmp_path / "small.yaml"
    study.write_text(STUDY)
    assert check([str(study)], False, 1, True, tmp_path, None) == 0
    reference_file = tmp_path / "small" / "reference.csv"
    reference_file.write_text(reference_file.read_text().replace("SVM", "SVC"))
    monkeypatch.setenv("COLUMNS", "60")
    assert check([str(study)], False, 1, False, tmp_path, None) == 1
    printed = " ".join(capsys.readouterr().out.split())
    assert "2 of 3 cells moved" in printed
    assert "dataset=gamma_synthetic method=SVM error: before absent, after" in printed
    assert "dataset=gamma_synthetic method=SVC error: before" in printed
