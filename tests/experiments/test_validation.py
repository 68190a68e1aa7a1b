"""A config is refused before anything runs, with file, line and a hint."""

import textwrap

import pytest

from mmc.experiments.config import bundled
from mmc.experiments.errors import ConfigError
from mmc.experiments.grids import points
from mmc.experiments.plan import plan
from mmc.experiments.validation import check_figures, load
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
        ("{method: error-rate}", "{method: error-rate, kernel: precomputed}", 6, "for Python only"),
        ("{method: error-rate}", "{method: error-rate, kernel: rbf, gamma: scal}", 6, "'gamma' parameter"),
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


# -- what a run would refuse is refused first ----------------------------------------------------------------------
STUDY = """\
title: a study
datasets:
  two_norm: {options: {n_pos: 40, n_neg: 40, n_features: 3}}
split: {kind: stratified-kfold, folds: 3}
costs: {pos: 2}
methods:
  L: {method: error-rate, grid: {eta_pos: [0.5, 0.9], eta_neg: [0.5]}}
  S: {method: svm, tune: {grid: {C_pos: [1, 10]}}}
measures: {band: {rho: [1, 1.5]}}
table:
  rows: [eta_pos]
  columns: [method]
  metrics: [error, bound_pos, in_band]
reported:
  file: r.csv
  source: nowhere
  where: {table: one}
  deviations:
    - {where: {method: L, metric: error}, reason: none}
figures:
  f: {kind: plane, method: L, metric: error}
"""
REPORTED = "table,method,eta_pos,metric,value\none,L,0.5,error,3.1\none,L,0.9,error,×\n"


def checked(tmp_path, text, reported=REPORTED):
    """Validate as `mmc validate` does."""
    (tmp_path / "reported").mkdir(exist_ok=True)
    (tmp_path / "reported" / "r.csv").write_text(reported, "utf-8")
    config = load(write(tmp_path, text))
    check_values(config)
    check_figures(config, plan(config))
    return config


def problems(tmp_path, text, reported=REPORTED):
    with pytest.raises(ConfigError) as caught:
        checked(tmp_path, text, reported)
    return str(caught.value).splitlines()


def test_the_study_itself_is_valid(tmp_path):
    assert checked(tmp_path, STUDY).experiment.trials() == 3 * (2 + 1)


@pytest.mark.parametrize(
    ("old", "new", "line", "words"),
    [
        # data and splits
        ("two_norm: {options: {n_pos: 40, n_neg: 40, n_features: 3}}", "two_normm:", 3, "did you mean 'two_norm'?"),
        ("n_neg: 40", "missing: drop", 3, "two_norm has no option 'missing'"),
        ("n_neg: 40", "n_neg: -4", 3, "n_neg"),
        ("n_neg: 40", "seed: -4", 3, "seed"),
        ("n_neg: 40", "n_neg: 1000000000", 3, "take at most 10,000,000"),
        ("{options: {n_pos: 40, n_neg: 40, n_features: 3}}", "{target: y}", 3, "'target' is for a file"),
        (
            "{options: {n_pos: 40, n_neg: 40, n_features: 3}}",
            "{file: x.csv, target: y, options: {a: 1}}",
            3,
            "a file has none",
        ),
        ("{options: {n_pos: 40, n_neg: 40, n_features: 3}}", "{missing: fill}", 3, "'fill' is not possible"),
        ("{options: {n_pos: 40, n_neg: 40, n_features: 3}}", "{positive: [1]}", 3, "a label is text or a number"),
        ("folds: 3", "folds: 3, repetitions: 10000000", 4, "there are 30,000,000 splits of each data set"),
        ("{C_pos: [1, 10]}", "{C_pos: {linspace: [1, 2, 200000]}}", 8, "points to tune are too many"),
        ("folds: 3", "folds: .inf", 4, "finite"),
        # methods: names
        ("eta_neg: [0.5]", "eta_ned: [0.5]", 7, "did you mean 'eta_neg'?"),
        ("method: error-rate", "method: error-rate, solver: [a]", 7, "has no solver ['a']"),
        ("tune: {grid", "tune: {metric: eror, grid", 8, "S: no metric 'eror': did you mean 'error'?"),
        ("tune: {grid", "best: error, tune: {grid", 8, "leave out 'best'"),
        ("tune: {grid", "best: bound_pos, tune: {grid", 8, "no metric 'bound_pos'"),
        ("eta_neg: [0.5]", "eta_neg: []", 7, "the grid has no points"),
        # methods: values
        ("eta_neg: [0.5]", "eta_neg: [0.5, 2]", 7, "L: The 'eta_neg' parameter"),
        ("eta_pos: [0.5, 0.9]", "eta_pos: [0.5, '0,9']", 7, "write 0.9, with a point"),
        ("eta_pos: [0.5, 0.9]", "eta_pos: {linspace: [0.5, 1, 0]}", 7, "a count of 0 gives no values"),
        ("eta_pos: [0.5, 0.9]", "eta_pos: {linspace: [0.5, 2, 5000]}", 7, "L: The 'eta_pos' parameter"),
        ("method: svm,", "method: svm, C_neg: 0,2,", 8, "numbers are written with a point"),
        ("method: svm,", "method: svm, C_neg: big,", 8, "S: The 'C_neg' parameter"),
        ("method: svm,", "method: svm, solver_options: {toll: 1},", 8, "did you mean 'tol'?"),
        ("method: svm,", "method: svm, solver_options: {tol: small},", 8, "tol is 'small', not float"),
        ("method: svm,", "method: svm, solver_options: {max_iter: 1.5},", 8, "max_iter is 1.5, not int"),
        ("method: svm,", "method: svm, solver_options: {tol: true},", 8, "tol is True, not float"),
        ("method: svm,", "method: svm, solver_options: [1],", 8, "'solver_options' parameter"),
        # measures
        ("band: {rho: [1, 1.5]}", "bnad: {rho: [1, 1.5]}", 9, "did you mean 'band'?"),
        ("band: {rho: [1, 1.5]}", "band: {rho: [1]}", 9, "band: rho"),
        ("band: {rho: [1, 1.5]}", "band: {rho: [1, 2], cluster: 5}", 9, "did you mean 'clusters'?"),
        ("band: {rho: [1, 1.5]}", "band: {}", 9, "rho is missing"),
        # the table
        ("[error, bound_pos", "[eror, bound_pos", 13, "no metric 'eror': did you mean 'error'?"),
        ("in_band]", "margin_ratio]", 13, "no metric 'margin_ratio'"),
        ("in_band]", "error]", 13, "'error' is there twice"),
        ("[error, bound_pos, in_band]", "[]", 13, "at least 1 item"),
        ("columns: [method]", "columns: [method, eta_pos]", 12, "'eta_pos' is there twice"),
        # reported numbers
        ("file: r.csv", "file: nowhere.csv", 15, "cannot be read"),
        ("where: {table: one}", "where: {tabel: one}", 17, "no column 'tabel': did you mean 'table'?"),
        ("{method: L, metric", "{methd: L, metric", 19, "did you mean 'method'?"),
        ("{method: L, metric", "{method: [L, K], metric", 19, "names the method 'K'"),
        # figures and claims
        ("kind: plane", "kind: plain", 21, "did you mean 'plane'?"),
        ("f: {kind", '"": {kind', 21, "a figure needs a name"),
        (", metric: error}\n", "}\n", 21, "needs 'metric'"),
        ("metric: error}\n", "metric: error, colour: red}\n", 21, "has no option 'colour'"),
        ("kind: plane, method: L, metric: error", "kind: boundaries, methods: [S]", 21, "needs data in the plane"),
        ("figures:", "claims: bsvmm\nfigures:", 20, "did you mean 'bsvm'?"),
    ],
)
def test_what_a_run_would_refuse_is_refused_first_with_its_line(tmp_path, old, new, line, words):
    assert old in STUDY
    found = problems(tmp_path, STUDY.replace(old, new, 1))
    assert any(part.startswith(f"{tmp_path / 'study.yaml'}:{line}: ") and words in part for part in found), found


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (",metric,", ",metrik,", "'metric'"),
        (",value\n", ",vale\n", "'value'"),
        ("3.1", "3,1", "more or fewer"),
        ("3.1", "about 3", "'about 3'"),
        ("one,L,0.5", "one,L", "more or fewer"),
    ],
)
def test_reported_numbers_that_cannot_be_read(tmp_path, old, new, words):
    (problem,) = problems(tmp_path, STUDY, REPORTED.replace(old, new))
    assert problem.startswith(f"{tmp_path / 'study.yaml'}:15: ")
    assert words in problem


def test_an_unknown_data_set_that_shall_be_drawn_anew(tmp_path):
    """It was a KeyError."""
    text = STUDY.replace("  two_norm: {options: {n_pos: 40, n_neg: 40, n_features: 3}}", "  two_normm:").replace(
        "folds: 3", "redraw: true"
    )
    assert any("unknown data set 'two_normm'" in problem for problem in problems(tmp_path, text))


def test_a_bad_metric_of_a_tuning_is_told_at_its_own_line(tmp_path):
    tune = "tune: {grid: {C_pos: [1, 10]}}"
    text = STUDY.replace(
        "S: {method: svm, " + tune + "}", "S:\n    method: svm\n    tune:\n      grid: {C_pos: [1]}\n      metric: eror"
    )
    assert any(
        problem.startswith(f"{tmp_path / 'study.yaml'}:12: S: no metric 'eror'") for problem in problems(tmp_path, text)
    )


@pytest.mark.parametrize("count", [10**4, 10**7, 10**30])
def test_a_huge_grid_is_counted_not_spelled_out(tmp_path, monkeypatch, count):
    monkeypatch.setattr("mmc.experiments.grids.Axis.values", None)
    text = STUDY.replace(
        "eta_pos: [0.5, 0.9], eta_neg: [0.5]",
        f"eta_pos: {{linspace: [0, 1, {count}]}}, eta_neg: {{linspace: [0, 1, 3000]}}",
    )
    (problem,) = problems(tmp_path, text)
    assert problem.startswith(f"{tmp_path / 'study.yaml'}:7: ")
    assert f"the largest grid has {3000 * count:,} points" in problem


def test_a_huge_tuning_is_refused_too(tmp_path):
    text = STUDY.replace("{C_pos: [1, 10]}", "{C_pos: {logspace: [1, 10, 10000]}, C_neg: {logspace: [1, 10, 10000]}}")
    assert "fits inside the tuning are too many" in problems(tmp_path, text)[0]


def test_a_linear_measure_of_a_kernel_machine(tmp_path):
    text = STUDY.replace("band: {rho: [1, 1.5]}", "ratios: {}").replace("in_band", "separates")
    text = text.replace("{method: svm,", "{method: svm, kernel: rbf, gamma: 1,")
    assert any("S: ratios is measured on linear classifiers only" in problem for problem in problems(tmp_path, text))


def test_the_nearest_key_is_named_in_every_section(tmp_path):
    for old, new, hint in (
        ("rows:", "row:", "'rows'"),
        ("source:", "sourse:", "'source'"),
        ("reason:", "reasn:", "'reason'"),
        ("costs: {pos", "costs: {pso", "'pos'"),
        ("{grid: {C_pos", "{fold: 3, grid: {C_pos", "'folds'"),
    ):
        assert any(f"did you mean {hint}?" in p for p in problems(tmp_path, STUDY.replace(old, new)))


def test_parameters_of_every_value_are_checked_in_big_and_small_grids(tmp_path):
    for count in (3, 3000):
        axis = f"{{linspace: [0.1, 1, {count}]}}"
        bad = STUDY.replace("eta_pos: [0.5, 0.9], eta_neg: [0.5]", f"eta_pos: {axis}, eta_neg: [0.5, 0.6, 7]")
        assert any("Got 7 instead" in problem for problem in problems(tmp_path, bad))


def test_a_value_outside_of_any_grid_is_checked(tmp_path):
    study = load(write(tmp_path, "title: t\ndatasets: {two_norm: }\nmethods:\n  L: {method: error-rate, eta_pos: 2}\n"))
    with pytest.raises(ConfigError, match=r":4: L: The 'eta_pos' parameter .* Got 2 instead"):
        check_values(study)
