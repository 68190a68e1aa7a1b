"""What a check says where a method has gone wrong."""

from dataclasses import replace

from mmc.cli import check_verb
from mmc.cli.choices import Places, Power, Selection
from mmc.methods.solvers import libsvm

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


def update(study):
    return check_verb.update(Selection((str(study),)), places(study), Power(1))


def check(study):
    return check_verb.check(Selection((str(study),)), places(study), Power(1))


def places(study):
    return Places(study.parent / "runs", study.parent / "results")


def test_a_sign_that_is_flipped_in_one_solver_is_found_in_the_cells_of_its_method(tmp_path, monkeypatch, capsys):
    """The bias of the SVM with the wrong sign: the check fails, and points at the SVM and nothing else."""
    study = tmp_path / "small.yaml"
    study.write_text(STUDY)
    assert update(study) == 0
    assert check(study) == 0
    right = libsvm.solve

    def wrong(*args, **kwargs):
        answer = right(*args, **kwargs)
        return replace(answer, primal=replace(answer.primal, b=-answer.primal.b))

    monkeypatch.setattr(libsvm, "solve", wrong)
    capsys.readouterr()
    assert check(study) == 1
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
    assert update(study) == 0
    reference_file = tmp_path / "results" / "small" / "reference.csv"
    reference_file.write_text(reference_file.read_text().replace("SVM", "SVC"))
    monkeypatch.setenv("COLUMNS", "60")
    assert check(study) == 1
    printed = " ".join(capsys.readouterr().out.split())
    assert "2 of 3 cells moved" in printed
    assert "dataset=gamma_synthetic method=SVM error: before absent, after" in printed
    assert "dataset=gamma_synthetic method=SVC error: before" in printed


def test_a_reference_that_is_written_anew_says_what_moved(tmp_path, capsys):
    study = tmp_path / "small.yaml"
    study.write_text(STUDY)
    assert update(study) == 0
    assert "moved" not in capsys.readouterr().out
    reference_file = tmp_path / "results" / "small" / "reference.csv"
    reference_file.write_text(reference_file.read_text().replace("SVM", "SVC"))
    assert update(study) == 0
    assert "small: 2 of 3 cells moved" in capsys.readouterr().out
    assert update(study) == 0
    assert "small: 3 cells, none moved" in capsys.readouterr().out
