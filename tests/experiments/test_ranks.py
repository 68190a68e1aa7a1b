"""Mean ranks over data sets: against scikit-posthocs, and in a figure."""

from dataclasses import replace

import numpy as np
import pytest
import scikit_posthocs
from scipy.stats import friedmanchisquare

from mmc.experiments.engines import opened
from mmc.experiments.errors import ConfigError
from mmc.experiments.figures.ranks import Ranking, Ranks
from mmc.experiments.run import run
from mmc.experiments.store import Store
from mmc.experiments.validation import load


@pytest.mark.parametrize(("n", "k"), [(5, 3), (13, 8), (30, 5)])
def test_the_critical_difference_is_nemenyis(n, k):
    scores = np.random.default_rng(n).normal(size=(n, k)) + 0.6 * np.arange(k)
    names = [f"m{i}" for i in range(k)]
    found = Ranking.of(names, scores, 0.05)
    assert found.p == pytest.approx(friedmanchisquare(*scores.T).pvalue)
    p = scikit_posthocs.posthoc_nemenyi_friedman(scores)
    p.index = p.columns = names
    rank = dict(zip(found.methods, found.ranks, strict=True))
    for a in names:
        for b in names:
            if a != b and abs(abs(rank[a] - rank[b]) - found.cd) > 1e-3 * found.cd:
                assert (abs(rank[a] - rank[b]) > found.cd) == (p.loc[a, b] < 0.05), (a, b)


def test_equals_share_their_ranks_and_a_group():
    found = Ranking.of(["a", "b", "c"], np.array([[1.0, 1.0, 2.0]] * 20), 0.05)
    assert found.ranks == (1.5, 1.5, 3.0)
    assert found.groups() == [(0, 1)]


def test_groups_are_the_largest_runs():
    found = Ranking(("a", "b", "c", "d"), (1.0, 1.5, 2.2, 4.0), 10, 1.0, 0.01)
    assert found.groups() == [(0, 1), (1, 2)]


STUDY = """\
title: ranks
datasets:
  two_norm: {options: {n_pos: 20, n_neg: 20}}
  ring_norm: {options: {n_pos: 20, n_neg: 20}}
split: {kind: stratified-kfold, folds: 2}
methods:
  SVM: {method: svm}
  LDA: {method: lda}
  Bayes: {method: sklearn.naive_bayes.GaussianNB}
table: {metrics: [error, fit_seconds]}
figures:
  ranks: {kind: ranks}
"""


def test_the_figure_names_every_method(tmp_path):
    path = tmp_path / "ranks.yaml"
    path.write_text(STUDY)
    with Store(None) as store, opened(1) as engine:
        names = run(load(path), store, engine).draw(tmp_path)
    assert "ranks.svg" in names
    drawn = (tmp_path / "ranks.svg").read_text()
    assert all(word in drawn for word in ("SVM", "LDA", "Bayes", "Friedman"))


def test_a_method_without_a_classifier_is_last_and_a_set_that_was_not_run_is_left_out(tmp_path):
    path = tmp_path / "ranks.yaml"
    path.write_text(STUDY.replace("GaussianNB", "MultinomialNB"))  # it refuses negative features
    with Store(None) as store, opened(1) as engine:
        outcome = run(load(path), store, engine)
    labels, scores, kept = Ranks().scores(outcome.table, outcome.config.experiment)
    assert kept == ["two_norm", "ring_norm"]
    assert np.isinf(scores[:, labels.index("Bayes")]).all()
    assert Ranking.of(labels, scores, 0.05).methods[-1] == "Bayes"
    outcome.draw(tmp_path)
    assert "no classifier counts as last (2 of 6)" in (tmp_path / "ranks.svg").read_text()
    first, *others = outcome.table.cells
    partly = replace(outcome.table, cells=(replace(first, missing=1), *others))
    assert Ranks().scores(partly, outcome.config.experiment)[2] == ["ring_norm"]


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("kind: ranks", "kind: ranks, metric: accuracy", "must be in table.metrics"),
        ("kind: ranks", "kind: ranks, metric: fit_seconds", "no better and worse"),
        ("kind: ranks", "kind: ranks, methods: [SVM]", "two methods or more"),
        ("kind: ranks", "kind: ranks, datasets: [two_norm]", "two data sets or more"),
        ("method: svm", "method: svm, grid: {C_pos: [1, 2]}", "has a grid"),
    ],
)
def test_what_cannot_be_ranked_is_told(tmp_path, old, new, told):
    path = tmp_path / "ranks.yaml"
    path.write_text(STUDY.replace(old, new))
    with pytest.raises(ConfigError, match=told):
        load(path)
