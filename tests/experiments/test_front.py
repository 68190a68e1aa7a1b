"""The front door for Python: frames, HTML, figures, results of an earlier run."""

import math
import shutil
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from typer.testing import CliRunner

import mmc
from mmc.cli import app
from mmc.experiments.errors import ConfigError

ROOT = Path(__file__).parents[2]
STUDY = """\
title: "<b>front</b>"
datasets:
  two_norm: {options: {n_pos: 30, n_neg: 40}}
split: {kind: stratified-kfold, folds: 2, repetitions: 3}
methods:
  "=SVM": {method: svm, grid: {"C_pos, C_neg": [0.1, 1]}}
  tree: {method: sklearn.tree.DecisionTreeClassifier, tune: {grid: {max_depth: [1, 2]}, folds: 2}}
table: {rows: [method], columns: [C_pos], metrics: [error, risk]}
figures: {plane: {kind: boundaries}}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("front")
    (place / "front.yaml").write_text(STUDY)
    return place


@pytest.fixture(scope="module")
def study(folder):
    return mmc.run(folder / "front.yaml", jobs=1, results=folder / "runs")


def test_the_table_is_tidy(study):
    frame = study.table.to_frame()
    assert len(frame) == len(study.table.cells) == 6
    assert {"dataset", "method", "C_pos", "metric", "mean", "std", "se", "reported", "verdict"} <= set(frame)
    cell = study.table.cells[0]
    assert frame["mean"][0] == pytest.approx(cell.mean)
    assert frame["se"][0] == pytest.approx(frame["std"][0] / math.sqrt(3))
    assert frame["reported"].isna().all()


def test_a_printed_number_stands_in_its_row():
    known = mmc.load_results(ROOT / "results" / "breast_cancer")
    frame = known.table.to_frame()
    assert (frame["verdict"] == "match").any()
    row = frame[frame["reported"].notna() & frame["mean"].notna()].iloc[0]
    assert row["difference"] == pytest.approx(row["mean"] - row["reported"])
    assert len(known.records) == 0
    assert known.figures == {}


def test_the_records_have_one_row_a_trial(study):
    frame = study.records.to_frame()
    assert len(frame) == len(study.records) == 3 * 2 * 3
    svm = frame[frame["method"] == "=SVM"]
    assert set(svm["C_pos"]) == {0.1, 1.0}
    assert set(svm["certificate"]) == {"gap"}
    assert svm["gap"].max() < 1e-6
    tree = frame[frame["method"] == "tree"]
    assert set(tree["certificate"]) == {"none"}
    assert tree["gap"].isna().all()
    assert set(tree["max_depth"]) <= {1, 2}
    wrong = (frame["wrong_pos"] + frame["wrong_neg"]) / (frame["n_pos"] + frame["n_neg"])
    assert (frame["error"] - 100 * wrong).abs().max() < 1e-9


def test_the_frames_agree(study):
    records = study.records.to_frame()
    ours = records[(records["method"] == "=SVM") & (records["C_pos"] == 1)]
    sums = ours.groupby("repetition")[["n_pos", "n_neg", "wrong_pos", "wrong_neg"]].sum()
    error = 100 * (sums["wrong_pos"] + sums["wrong_neg"]) / (sums["n_pos"] + sums["n_neg"])
    frame = study.table.to_frame()
    cell = frame[(frame["method"] == "=SVM") & (frame["C_pos"] == 1) & (frame["metric"] == "error")]
    assert cell["mean"].item() == pytest.approx(error.mean())


def test_a_notebook_shows_it_and_runs_nothing(study):
    html = study._repr_html_()
    assert "&lt;b&gt;front&lt;/b&gt;" in html
    assert "<b>front</b>" not in html
    assert f"{study.table.cells[0].mean:.2f}" in html
    assert "18 trials" in repr(study)


def test_figures_are_matplotlibs(study):
    from matplotlib.figure import Figure

    assert study.figures
    assert all(isinstance(figure, Figure) for figure in study.figures.values())


def test_the_results_of_an_earlier_run(study, folder):
    again = mmc.load_results(folder / "runs" / "front")
    pd.testing.assert_frame_equal(again.table.to_frame(), study.table.to_frame())
    assert len(again.records) == len(study.records)


def test_nothing_is_written_without_a_folder(folder, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    found = mmc.run(folder / "front.yaml", jobs=1, results=None)
    assert len(found.records) == 18
    assert not list(tmp_path.iterdir())


def test_a_folder_without_results_is_told(tmp_path, folder, study):
    with pytest.raises(ConfigError, match="there are no results"):
        mmc.load_results(tmp_path)
    copy = tmp_path / "runs" / "front"
    shutil.copytree(folder / "runs" / "front", copy)
    with pytest.raises(ConfigError, match="not there any more"):
        mmc.load_results(copy)


def test_the_methods_are_listed():
    frame = mmc.list_methods()
    assert {"svm", "mpm"} <= set(frame["key"])
    assert "libsvm" in frame.set_index("key").loc["svm", "solvers"]


@pytest.mark.parametrize("form", ["csv", "parquet", "xlsx", "latex", "markdown"])
def test_export(study, folder, tmp_path, form):
    out = tmp_path / f"table.{form}"
    words = ["export", str(folder / "front.yaml"), "--format", form, "--out", str(out)]
    done = CliRunner().invoke(app, [*words, "--results", str(folder / "runs")])
    assert done.exit_code == 0, done.output
    readers = {"csv": pd.read_csv, "parquet": pd.read_parquet, "xlsx": pd.read_excel}
    if form in readers:
        frame = readers[form](out)
        assert frame["mean"].tolist() == pytest.approx(study.table.to_frame()["mean"].tolist(), rel=1e-5)
        assert frame["method"][0] == ("=SVM" if form == "parquet" else "'=SVM")  # no formula in a spreadsheet
    else:
        assert "SVM" in out.read_text()


def test_export_of_records_and_what_it_refuses(study, folder, tmp_path):
    words = ["export", str(folder / "front.yaml"), "--results", str(folder / "runs")]
    out = tmp_path / "records.csv"
    done = CliRunner().invoke(app, [*words, "--format", "csv", "--records", "--out", str(out)])
    assert done.exit_code == 0, done.output
    assert len(pd.read_csv(out)) == 18
    done = CliRunner().invoke(app, [*words, "--format", "latex", "--records"])
    assert "csv, parquet or xlsx" in str(done.exception)
    done = CliRunner().invoke(app, [*words, "--format", "word"])
    assert "no format 'word'" in str(done.exception)


def test_a_study_says_what_was_not_run(study):
    assert "not run" not in repr(study)
    some = dict(list(study.outcome.records.items())[:11])
    part = replace(study, outcome=replace(study.outcome, records=some))
    assert "11 trials, 7 not run" in repr(part)
