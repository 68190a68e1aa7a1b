"""Classifiers from outside take part in everything: grids, tuning, votes, the store, workers, models."""

import csv

import numpy as np
import pytest

from mmc.experiments.config import Config
from mmc.experiments.engines import opened
from mmc.experiments.errors import ConfigError
from mmc.experiments.plan import plan
from mmc.experiments.run import run
from mmc.experiments.store import Store
from mmc.experiments.validation import load
from mmc.experiments.values import check_values

STUDY = """\
title: outside
seed: 3
datasets:
  two_norm: {options: {n_pos: 30, n_neg: 40}}
split: {kind: stratified-kfold, folds: 2, repetitions: 2}
methods:
  forest: {method: sklearn.ensemble.RandomForestClassifier, n_estimators: 5}
  logistic: {method: sklearn.linear_model.LogisticRegression, tune: {grid: {C: [0.1, 1]}, folds: 2}}
  tree: {method: sklearn.tree.DecisionTreeClassifier, grid: {max_depth: [1, 2]}, best: error}
  SVM: {method: svm}
table: {metrics: [error, gap], paired: SVM}
"""


def written(tmp_path, old="", new="", name="outside"):
    assert old in STUDY
    path = tmp_path / f"{name}.yaml"
    path.write_text(STUDY.replace(old, new) if old else STUDY)
    return path


def done(config: Config, jobs=1):
    with Store(None) as store, opened(jobs) as engine:
        return run(config, store, engine)


def errors(outcome):
    return {(c.keys["method"], c.metric): c.by_repetition for c in outcome.table.cells}


def test_they_take_part_in_grids_tuning_and_comparisons(tmp_path):
    outcome = done(load(written(tmp_path)))
    found = errors(outcome)
    assert not outcome.failures
    assert all(found[label, "error"] for label in ("forest", "logistic", "tree", "SVM"))
    assert not found["forest", "gap"]
    assert found["SVM", "gap"]
    assert {pair.second for pair in outcome.table.pairs} == {"forest", "logistic", "tree"}
    outcome.write(tmp_path)
    text = (tmp_path / "table.md").read_text()
    assert "none" in text
    assert "without a certificate of their optimum: forest, logistic, tree" in text
    rows = list(csv.DictReader((tmp_path / "table.csv").read_text().splitlines()))
    assert any(row["method"] == "forest" and row["metric"] == "gap" and row["mean"] == "" for row in rows)


def test_workers_find_the_same(tmp_path):
    config = load(written(tmp_path))
    here, there = errors(done(config)), errors(done(config, jobs=2))
    assert {k: v for k, v in here.items() if k[1] == "error"} == {k: v for k, v in there.items() if k[1] == "error"}


def test_the_seed_of_the_config_decides_their_draws(tmp_path):
    config = load(written(tmp_path))
    same, other = load(written(tmp_path)), load(written(tmp_path, "seed: 3", "seed: 4", "other"))
    stated = load(written(tmp_path, "n_estimators: 5", "n_estimators: 5, random_state: 1", "stated"))

    def keys(of):
        return [trial.key for unit in plan(of) if unit.label == "forest" for trial in unit.trials]

    assert keys(config) == keys(same)
    assert not set(keys(config)) & set(keys(other))
    assert not set(keys(config)) & set(keys(stated))


@pytest.mark.parametrize(
    ("old", "new", "line", "told"),
    [
        ("n_estimators: 5", "n_estimator: 5", 7, "did you mean 'n_estimators'?"),
        ("n_estimators: 5", "n_estimators: -5", 7, "'n_estimators' parameter of RandomForestClassifier must be"),
        ("C: [0.1, 1]", "C: [0.1, -1]", 8, "'C' parameter of LogisticRegression must be"),
        ("C: [0.1, 1]", "c: [0.1, 1]", 8, "has no parameter 'c'"),
        ("sklearn.tree.DecisionTreeClassifier", "os.system", 9, "a config never imports code"),
        ("sklearn.tree.DecisionTreeClassifier", "sklearn.tree.DecisionTreeRegressor", 9, "is no classifier"),
        (
            "method: svm",
            "method: sklearn.ensemble.BaggingClassifier, estimator: os.system",
            10,
            "'estimator' parameter",
        ),
    ],
)
def test_what_is_wrong_is_told_with_its_line_before_anything_runs(tmp_path, old, new, line, told):
    path = written(tmp_path, old, new)
    with pytest.raises(ConfigError) as error:
        check_values(load(path))
    assert f"outside.yaml:{line}: " in str(error.value)
    assert told in str(error.value)


def test_yaml_itself_makes_no_objects(tmp_path):
    sign = tmp_path / "sign"
    path = written(tmp_path, "method: svm", f"method: !!python/object/apply:os.system ['touch {sign}']")
    with pytest.raises(ConfigError):
        load(path)
    assert not sign.exists()


def test_one_that_cannot_be_fitted_is_told_and_the_others_go_on(tmp_path):
    outcome = done(
        load(
            written(
                tmp_path,
                "sklearn.tree.DecisionTreeClassifier, grid: {max_depth: [1, 2]}, best: error",
                "sklearn.naive_bayes.MultinomialNB",
            )
        )
    )  # it wants features that are not negative
    assert any("MultinomialNB" in reason and "Negative values" in reason for reason in outcome.failures)
    assert errors(outcome)["forest", "error"]


def test_several_classes_one_against_one(tmp_path):
    path = tmp_path / "several.yaml"
    path.write_text(
        "title: several\ndatasets: {letter: {subsample: 300}}\nmulticlass: one-vs-one\n"
        "split: {kind: stratified-kfold, folds: 2}\n"
        "methods:\n  tree: {method: sklearn.tree.DecisionTreeClassifier, max_depth: 3}\n"
        "table: {metrics: [error, gap]}\n"
    )
    outcome = done(load(path))
    assert not outcome.failures
    assert 0 < errors(outcome)["tree", "error"][0] < 100
    assert not errors(outcome)["tree", "gap"]


def test_figures_draw_them_too(tmp_path):
    figures = "figures:\n  plane: {kind: boundaries, datasets: [two_norm], methods: [forest, SVM]}\n"
    path = tmp_path / "drawn.yaml"
    path.write_text(STUDY + figures)
    names = done(load(path)).draw(tmp_path)
    assert any(name.endswith(".svg") for name in names)


def test_a_measure_of_linear_classifiers_refuses_them(tmp_path):
    path = tmp_path / "measured.yaml"
    path.write_text(STUDY + "measures: {ratios: {}}\n")
    with pytest.raises(ConfigError, match="forest: ratios is measured on linear classifiers of mmc only"):
        load(path)


def test_the_settings_say_that_there_is_no_certificate(tmp_path):
    from mmc.experiments.settings import methods

    found = {label: solver for label, _, solver, _ in methods(load(written(tmp_path)).experiment)}
    assert found["forest"].endswith("no certificate")
    assert found["SVM"] == "libsvm"


def test_a_model_of_a_plugin_cannot_be_saved_and_is_named(tmp_path):
    from sklearn.linear_model import RidgeClassifier

    from mmc import save
    from mmc.experiments.own.errors import ModelFileError

    class Mine(RidgeClassifier):
        pass

    Mine.__module__ = "mmc_plugin_example"
    X = np.arange(8.0).reshape(4, 2)
    with pytest.raises(ModelFileError, match="Mine"):
        save(Mine().fit(X, [0, 0, 1, 1]), tmp_path / "mine.model")


def test_a_cluster_compares_their_versions_and_sources(tmp_path):
    from mmc.experiments.engines.remote import code_of, roots_of

    roots = roots_of(plan(load(written(tmp_path))))
    code = code_of(roots)
    assert code["method sklearn.ensemble.RandomForestClassifier"].startswith("scikit-learn ")
    assert code_of((*roots, "method:nobody"))["method nobody"] == "absent"
    assert "mmc.methods.outside" in code


@pytest.mark.parametrize("name", ["sklearn.ensemble.ExtraTreesClassifier", "ExtraTreesClassifier"])
def test_mmc_fit_tries_them(name):
    from mmc.experiments.own.candidates import Training, portfolio

    (family,) = portfolio([name], 3)
    X = np.arange(8.0).reshape(4, 2)
    ((label, model),) = family.make(Training(X, np.array(["a", "a", "b", "b"]), "b")).items()
    assert label == name
    assert model.random_state == 3
