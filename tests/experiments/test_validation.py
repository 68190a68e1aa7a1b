"""A config is refused before anything runs, with file, line and a hint."""

import textwrap

import pytest

from mmc.experiments.config import bundled
from mmc.experiments.errors import ConfigError
from mmc.experiments.grids import points
from mmc.experiments.validation import load
from mmc.experiments.values import check_values

GOOD = """\
title: a study
datasets:
  pima:
split: {kind: stratified-kfold, folds: 3}
methods:
  A: {method: error-rate}
grid:
  - {eta_pos: 0.9, eta_neg: 0.9}
table: {rows: [eta_pos], columns: [method]}
"""


def write(tmp_path, text):
    path = tmp_path / "study.yaml"
    path.write_text(textwrap.dedent(text), "utf-8")
    return path


def test_a_good_config_loads(tmp_path):
    config = load(write(tmp_path, GOOD))
    assert config.name == "study"
    assert config.experiment.datasets["pima"].name == "pima"
    assert config.experiment.points_of("A") == [{"eta_pos": 0.9, "eta_neg": 0.9}]


@pytest.mark.parametrize(
    ("old", "new", "line", "words"),
    [
        ("title: a study\n", "", 1, "title is missing"),
        ("title:", "tittle:", 1, "did you mean 'title'?"),
        ("folds: 3", "fold: 3", 4, "unknown key 'fold': did you mean 'folds'?"),
        ("folds: 3", "folds: 1", 4, "greater than or equal to 2"),
        ("folds: 3", "folds: three", 4, "valid integer"),
        ("stratified-kfold", "stratified-kfolds", 4, "did you mean 'stratified-kfold'?"),
        ("kind: stratified-kfold, ", "", 4, "needs a 'kind'"),
        ("  pima:", "  pimma:", 3, "unknown data set 'pimma': did you mean 'pima'?"),
        ("error-rate", "error-rat", 6, "unknown method 'error-rat': did you mean 'error-rate'?"),
        ("{method: error-rate}", "{method: error-rate, solver: seculr}", 6, "did you mean 'secular'?"),
        ("{method: error-rate}", "{method: error-rate, kernle: rbf}", 6, "did you mean 'kernel'?"),
        ("{method: error-rate}", "{method: error-rate, kernel: rbf}", 6, "needs 'gamma', its width"),
        ("eta_neg: 0.9", "eta_neq: 0.9", 8, "did you mean 'eta_neg'?"),
        ("rows: [eta_pos]", "rows: [eta_poss]", 9, "did you mean 'eta_pos'?"),
        ("  pima:", "  mine: {file: x.csv}", 3, "needs 'target'"),
        ("folds: 3", "folds: 3, redraw: true", 4, "not a generated set"),
        ("error-rate}", "svm, tune: {grid: {C_pos: [1]}, first: {pimma: 5}}}", 6, "did you mean 'pima'?"),
        ("error-rate}", "svm, tune: {grid: {C_pos: [1]}, first: 0}}", 6, "tune.first: input should be greater than"),
        ("error-rate}", "svm, grid: {C_pos: {from: 1}}}", 6, "unknown key 'from': valid: linspace, logspace"),
        ("title: a study", "title: a study\ntitle: again", 2, "given twice"),
        ("title: a study", "title: [a", 2, "not valid YAML"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(tmp_path, old, new, line, words):
    assert old in GOOD
    path = write(tmp_path, GOOD.replace(old, new))
    with pytest.raises(ConfigError) as caught:
        check_values(load(path))
    message = str(caught.value)
    assert any(part.startswith(f"{path}:{line}: ") and words in part for part in message.splitlines()), message


def test_all_problems_are_told_at_once(tmp_path):
    path = write(tmp_path, GOOD.replace("folds: 3", "folds: 1").replace("title:", "tittle:"))
    with pytest.raises(ConfigError) as caught:
        load(path)
    assert len(str(caught.value).splitlines()) == 3


def test_numbers_may_be_written_with_an_exponent(tmp_path):
    config = load(write(tmp_path, GOOD.replace("{method: error-rate}", "{method: error-rate, ridge: 1e-6}")))
    assert config.experiment.methods["A"].params == {"ridge": 1e-6}


@pytest.mark.parametrize("text", ["", "just words", "- a list"])
def test_a_file_that_is_no_config(tmp_path, text):
    with pytest.raises(ConfigError):
        load(write(tmp_path, text))


def test_a_missing_file_and_an_unknown_name():
    with pytest.raises(ConfigError, match="no such file"):
        load("nowhere/study.yaml")
    with pytest.raises(ConfigError, match="did you mean 'breast_cancer'"):
        load("breast_cance")


def test_grids_are_spelled_out(tmp_path):
    config = load(
        write(
            tmp_path,
            GOOD.replace(
                "grid:\n  - {eta_pos: 0.9, eta_neg: 0.9}",
                "grid: {eta_pos: {linspace: [0.1, 0.3, 3]}, eta_neg: [0.5, 0.9]}",
            ),
        )
    )
    grid = points(config.experiment.grid)
    assert len(grid) == 6
    assert grid[0] == {"eta_pos": 0.1, "eta_neg": 0.5}
    assert grid[-1] == {"eta_pos": 0.3, "eta_neg": 0.9}


@pytest.mark.parametrize("name", bundled())
def test_every_bundled_config_loads(name):
    assert load(name).name == name
