"""Classifiers from outside that tell several classes apart in their own way, beside pairs that vote."""

import numpy as np
import pytest
from sklearn.metrics import accuracy_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from mmc.experiments.engines import engine, opened
from mmc.experiments.errors import ConfigError
from mmc.experiments.plan import plan
from mmc.experiments.preparation import classes_of, prepared
from mmc.experiments.records import Choice, Record, dump, parse
from mmc.experiments.run import run
from mmc.experiments.store import Store
from mmc.experiments.trials import run_unit
from mmc.experiments.validation import load
from mmc.methods.solution import Status

STUDY = """\
title: several
seed: 5
datasets:
  wine: {sklearn: wine}
  letters: {name: letter, subsample: 390}
multiclass: one-vs-one
split: {kind: stratified-kfold, folds: 2}
methods:
  LDA: {method: lda, ridge: 0.1, datasets: [wine]}
  tree: {method: sklearn.tree.DecisionTreeClassifier, multiclass: own, random_state: 0}
  pairs: {method: sklearn.tree.DecisionTreeClassifier, multiclass: pairs, random_state: 0, datasets: [wine]}
  near: {method: sklearn.neighbors.KNeighborsClassifier, multiclass: own, tune: {grid: {n_neighbors: [1, 9]}, folds: 3}}
table: {metrics: [errors, error, ties, inner_score], paired: tree}
"""
PEERS = {"tree": DecisionTreeClassifier(random_state=0), "near": KNeighborsClassifier()}


def written(tmp_path, *changes, name="several"):
    text = STUDY
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    path = tmp_path / f"{name}.yaml"
    path.write_text(text)
    return path


@pytest.fixture(scope="module")
def outcome(tmp_path_factory):
    config = load(written(tmp_path_factory.mktemp("several")))
    with Store(None) as store:
        return run(config, store, engine(1))


def found(outcome, dataset, method, metric="errors"):
    keys = {"dataset": dataset, "method": method}
    (cell,) = [c for c in outcome.table.cells if c.metric == metric and keys.items() <= c.keys.items()]
    return cell


@pytest.mark.parametrize("dataset", ["wine", "letters"])
@pytest.mark.parametrize("method", PEERS)
def test_errors_are_those_of_scikit_learn_on_the_same_rows(outcome, dataset, method):
    wrong = 0
    for unit in outcome.units:
        if (unit.source.label, unit.label) != (dataset, method):
            continue
        record, ready, data = outcome.records[unit.trials[0].key], prepared(unit.where), unit.source.load()
        peer = PEERS[method].set_params(**(record.chosen or {})).fit(ready.train, data.y[ready.rows.train])
        said = peer.predict(ready.test)
        order = np.unique(classes_of(data, several=True)[data.y == said[0]])
        assert record.choice.classes()[0] == order
        wrong += int(np.sum(said != data.y[ready.rows.test]))
        assert record.choice.wrong == np.sum(said != data.y[ready.rows.test])
        assert (record.ballot, record.counts) == (None, None)
    assert found(outcome, dataset, method).mean == wrong > 0
    assert found(outcome, dataset, method, "ties").mean == 0


def test_it_is_one_record_a_split_and_pairs_are_others(outcome):
    keys = {unit.label: set() for unit in outcome.units}
    for unit in outcome.units:
        if unit.source.label == "wine":
            keys[unit.label].update(trial.key for trial in unit.trials)
    assert {label: len(of) for label, of in keys.items()} == {"LDA": 6, "tree": 2, "pairs": 6, "near": 2}
    assert not keys["tree"] & keys["pairs"]


def test_it_is_compared_with_the_votes_of_pairs_point_by_point(outcome):
    compared = {(d.dataset, d.second): d for d in outcome.table.discordances}
    assert set(compared) == {("wine", "LDA"), ("wine", "pairs"), ("wine", "near"), ("letters", "near")}
    for (dataset, other), one in compared.items():
        difference = found(outcome, dataset, other).mean - found(outcome, dataset, "tree").mean
        assert one.only_first - one.only_second == difference
    assert "By one classifier of all classes, in its own way: tree, near." in outcome.table.remarks


def test_tuning_is_inside_the_training_part(outcome):
    from sklearn.base import clone

    from mmc.experiments.splits import kfold, number_of

    (unit, *_) = [u for u in outcome.units if (u.source.label, u.label) == ("wine", "near")]
    record, ready, split = outcome.records[unit.trials[0].key], prepared(unit.where), unit.split
    y = classes_of(unit.source.load(), several=True)[ready.rows.train]
    seed = number_of(split.seed, "wine", "tune", split.repetition, split.fold)
    folds = list(kfold(y, 3, np.random.default_rng([seed, 0])))
    for point, score in zip(unit.task.tune.points, record.inner_scores, strict=True):
        said = np.empty_like(y)
        for test in folds:
            train = np.setdiff1d(np.arange(len(y)), test)
            model = clone(PEERS["near"]).set_params(**point).fit(ready.train[train], y[train])
            said[test] = model.predict(ready.train[test])
        assert score == pytest.approx(100 * (1 - accuracy_score(y, said)))
    assert record.chosen == unit.task.tune.points[int(np.argmin(record.inner_scores))]


def test_workers_and_a_second_run_find_the_same(outcome, tmp_path):
    config = load(written(tmp_path))
    path = tmp_path / "store.sqlite"
    with Store(path) as store, opened(2) as two:
        there = run(config, store, two)
    with Store(path) as store:
        again = run(config, store, None)
    for dataset, method in (("wine", "tree"), ("letters", "near")):
        rights = [found(o, dataset, method).right.tolist() for o in (outcome, there, again)]
        assert rights[0] == rights[1] == rights[2]


def test_two_classes_are_one_pair(tmp_path):
    only = ("{sklearn: wine}\n  letters: {name: letter, subsample: 390}", "{sklearn: breast_cancer}")
    untuned = (", tune: {grid: {n_neighbors: [1, 9]}, folds: 3}", "")
    units = plan(load(written(tmp_path, only, untuned, (", inner_score", ""))))
    assert all(unit.pair and not unit.where.own for unit in units)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("lda, ridge", "lda, multiclass: own, ridge", "several.yaml:9: LDA: lda is a method for two classes"),
        (
            "multiclass: pairs",
            "multiclass: pair",
            "several.yaml:11: methods.pairs.multiclass: 'pair' is not possible: did",
        ),
        ("folds: 3}", "folds: 3, metric: ties}", "several.yaml:12: near: no metric 'ties'"),
        ("folds: 3}", "folds: 3, metric: error_pos}", "several.yaml:12: near: no metric 'error_pos'"),
        (
            "multiclass: one-vs-one\n",
            "",
            "tree: 'own' is for several classes: the config needs 'multiclass: one-vs-one'",
        ),
        ("table:", "measures: {band: {rho: [1, 2]}}\ntable:", "tree: measures are of two classes: leave out 'own'"),
    ],
)
def test_what_has_no_meaning_is_refused_with_its_line(tmp_path, old, new, told):
    with pytest.raises(ConfigError) as caught:
        load(written(tmp_path, (old, new)))
    assert told in str(caught.value)


def test_one_that_cannot_be_fitted_or_asked_is_told_and_the_others_go_on(tmp_path, monkeypatch):
    def tired(self, X):
        raise RuntimeError("too tired")

    monkeypatch.setattr(DecisionTreeClassifier, "predict", tired)
    negative = ("neighbors.KNeighborsClassifier, multiclass: own, tune: {grid: {n_neighbors: [1, 9]}, folds: 3}",)
    config = load(written(tmp_path, (*negative, "naive_bayes.MultinomialNB, multiclass: own"), (", inner_score", "")))
    with Store(None) as store:
        outcome = run(config, store, engine(1))
    said = "\n".join(outcome.failures)
    assert "DecisionTreeClassifier: RuntimeError: too tired" in said
    assert "MultinomialNB: ValueError: Negative values" in said
    assert found(outcome, "wine", "LDA").mean is not None
    assert "the classifier of all classes failed" in found(outcome, "wine", "tree").trouble


def test_what_is_no_class_is_no_prediction(tmp_path, monkeypatch):
    monkeypatch.setattr(DecisionTreeClassifier, "predict", lambda self, X: np.full(len(X), 77))
    unit = next(u for u in plan(load(written(tmp_path))) if u.label == "tree")
    (record,) = run_unit(unit)
    assert not record.status.counted
    assert "predict returned what is no class" in record.message


@pytest.mark.parametrize("classes", [3, 256, 257, 70_000])
def test_a_choice_is_kept_whole(classes):
    rng = np.random.default_rng(0)
    said, truth = rng.integers(0, classes, 500), rng.integers(0, 3, 500)
    said[0] = classes - 1
    record = Record("k", Status.SOLVED, choice=Choice.of(said, truth))
    again = parse("k", dump(record))
    assert again == record
    np.testing.assert_array_equal(again.choice.classes(), said)
    assert again.choice.wrong == np.sum(said != truth)


def test_frames_have_their_errors(outcome):
    from mmc.experiments.frames import Records

    frame = Records(outcome.units, outcome.records).to_frame()
    own = frame[(frame.dataset == "wine") & (frame.method == "tree")]
    assert own.pair.isna().all()
    assert own.error.mean() == pytest.approx(found(outcome, "wine", "tree", "error").mean, abs=1.0)
