"""What the pictures claim is true, and the files are drawn."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

from mmc import datasets
from mmc.experiments.engine import engine
from mmc.experiments.errors import ConfigError
from mmc.experiments.figures import draw_all
from mmc.experiments.figures.ellipsoids import closest_points
from mmc.experiments.run import run
from mmc.experiments.store import Store
from mmc.experiments.validation import load
from mmc.methods import SVM, ErrorRateClassifier


def fitted(model, **options):
    data = datasets.load("noisy_normals", **options)
    sign = np.where(data.y == "pos", 1.0, -1.0)
    return model.fit(data.X, sign), data.X, sign


def turn(first, second):
    """Return the angle between the normals of two hyperplanes, in degrees."""
    a, b = first.coef_[0], second.coef_[0]
    return np.degrees(np.arccos(np.clip(a @ b / np.linalg.norm(a) / np.linalg.norm(b), -1, 1)))


@pytest.mark.parametrize("solver", ["secular", "socp"])
def test_figure_4_primal_and_dual_coincide(solver):
    """(3.24) and (3.27): the primal hyperplane is the perpendicular bisector of the dual's closest points."""
    model, X, sign = fitted(ErrorRateClassifier(0.1, 0.1, solver=solver), seed=4)
    z1, z2 = closest_points(X, sign, model)
    r = z1 - z2
    np.testing.assert_allclose(model.coef_[0], 2 * r / (r @ r), rtol=1e-5)
    np.testing.assert_allclose(model.intercept_[0], 1 - 2 * z1 @ r / (r @ r), atol=1e-5)


@pytest.mark.parametrize("seed", range(10))
def test_figure_4_noisy_points_move_the_svm_more(seed):
    turns = []
    for make in (lambda: ErrorRateClassifier(0.1, 0.1), lambda: SVM(C_pos=1e6, C_neg=1e6)):
        clean, *_ = fitted(make(), seed=seed, noisy=0)
        noisy, *_ = fitted(make(), seed=seed, noisy=2)
        turns.append(turn(clean, noisy))
    ellipsoids, svm = turns
    assert ellipsoids < svm


def test_figures_are_drawn_again_the_same(tmp_path):
    (tmp_path / "f.yaml").write_text(
        "title: f\ndatasets:\n  two_norm: {options: {n_pos: 40, n_neg: 40}}\n"
        "methods:\n  L: {method: error-rate, grid: {eta_pos: [0.1, 0.5, 0.9], eta_neg: [0.1, 0.5, 0.9]}}\n"
        "table: {rows: [eta_pos], columns: [eta_neg], metrics: [error, risk]}\ncosts: {pos: 2}\n"
        "figures:\n  plane: {kind: plane, method: L, metric: risk}\n"
    )
    with Store(None) as store:
        outcome = run(load(tmp_path / "f.yaml"), store, engine(1))
    first = outcome.draw(tmp_path / "a")
    assert first == ["plane_two_norm.svg", "plane_two_norm.png"]
    outcome.draw(tmp_path / "b")
    for name in first:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


SETS = """\
title: sets
datasets:
  apart: {knowledge: [{label: a, center: [0, 0], radius: 1}, {label: b, center: [3, 0], matrix: [[1, 0], [0, 0.1]]}]}
  mixed: {knowledge: [{label: a, center: [0, 0], radius: 1}, {label: b, center: [1, 0], radius: 1}]}
scale: none
split: {kind: fixed}
methods:
  SC-SVM: {method: sc-svm, C: 100}
  HMEM: {method: hmem}
  SVM: {method: svm, kernel: poly, gamma: 1, degree: 2}
figures:
  sets: {kind: knowledge}
  alone: {kind: knowledge, methods: [HMEM]}
"""


def drawn(tmp_path, text):
    (tmp_path / "sets.yaml").write_text(text)
    with Store(None) as store:
        return run(load(tmp_path / "sets.yaml"), store, engine(1))


def test_knowledge_sets_are_drawn_with_every_method(tmp_path):
    """Also where a method has no answer, and where it only takes points."""
    outcome = drawn(tmp_path, SETS)
    found = dict(draw_all(outcome.config, outcome.units, outcome.records, outcome.table))
    titles = {name: [axes.get_title() for axes in figure.axes if axes.get_title()] for name, figure in found.items()}
    assert titles["sets_apart"][:3] == ["all boundaries", "SC-SVM: 0.00 % wrong", "HMEM: 0.00 % wrong"]
    assert titles["sets_mixed"][2] == "HMEM: infeasible"
    assert titles["alone_mixed"] == ["all boundaries", "HMEM: infeasible"]
    names = [text.get_text() for text in found["sets_apart"].legends[0].get_texts()]
    assert {"set: a", "set: b", "training point: a", "wrong side", "SC-SVM", "HMEM", "SVM"} <= set(names)
    for figure in found.values():
        plt.close(figure)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (
            "{kind: knowledge}",
            "{kind: knowledge, methods: [SMEM]}",
            "names SMEM on apart, which the config does not run",
        ),
        (
            "apart: {knowledge",
            "apart: {name: gamma_synthetic}\n  other: {knowledge",
            "needs knowledge sets in the plane",
        ),
    ],
)
def test_what_cannot_be_drawn_is_said(tmp_path, old, new, words):
    outcome = drawn(tmp_path, SETS.replace(old, new))
    with pytest.raises(ConfigError, match=words):
        outcome.draw(tmp_path)
