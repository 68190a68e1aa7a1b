"""What the pictures claim is true, and the files are drawn."""

import subprocess
import sys
from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np
import pytest

from mmc import datasets
from mmc.experiments.engines import engine
from mmc.experiments.errors import ConfigError
from mmc.experiments.figures import FIGURES, check_data, draw_all, options_of
from mmc.experiments.figures.drawing import training_part
from mmc.experiments.figures.ellipsoids import closest_points
from mmc.experiments.figures.hulls import hull_points
from mmc.experiments.outcome import Outcome
from mmc.experiments.plan import plan
from mmc.experiments.preparation import rows_of
from mmc.experiments.results import Results
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


@pytest.mark.parametrize("more", [{"ridge": 0}, {}, {"mean_uncertainty": (0.1, 0.2), "covariance_uncertainty": 0.1}])
@pytest.mark.parametrize("solver", ["secular", "socp"])
def test_figure_4_primal_and_dual_coincide(solver, more):
    """(3.24) and (3.27): the primal hyperplane is the perpendicular bisector of the dual's closest points."""
    model, X, sign = fitted(ErrorRateClassifier(0.1, 0.1, solver=solver, **more), seed=4)
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
    found = dict(draw_all(outcome))
    titles = {name: [axes.get_title() for axes in figure.axes if axes.get_title()] for name, figure in found.items()}
    assert titles["sets_apart"][:3] == ["all boundaries", "SC-SVM: 0.00 % wrong", "HMEM: 0.00 % wrong"]
    assert titles["sets_mixed"][2] == "HMEM: infeasible"
    assert titles["alone_mixed"] == ["all boundaries", "HMEM: infeasible"]
    names = [text.get_text() for text in found["sets_apart"].legends[0].get_texts()]
    assert {"set: a", "set: b", "training point: a", "wrong side", "SC-SVM", "HMEM", "SVM"} <= set(names)
    for figure in found.values():
        plt.close(figure)


def test_a_method_that_is_not_run_cannot_be_drawn(tmp_path):
    with pytest.raises(ConfigError, match="methods 'SMEM'"):
        drawn(tmp_path, SETS.replace("{kind: knowledge}", "{kind: knowledge, methods: [SMEM]}"))


# -- one rule for the positive class ----------------------------------------------------------------------------------
PLAIN = """\
title: "of $x$ and _y"
datasets:
  two: {file: two.csv, target: c}
split: {kind: stratified-kfold, folds: 3}
methods:
  L: {method: error-rate, eta_pos: 0.6, eta_neg: 0.6}
  G: {method: error-rate, grid: {eta_pos: [0.5, 0.9], eta_neg: [0.5, 0.9]}}
  M: {method: mpm}
table: {rows: [dataset], columns: [method], metrics: [error, bound_pos, bound_neg, accuracy_pos, accuracy_neg]}
figures:
"""


def plain(tmp_path, figure, labels=("2", "10")):
    """Run a study of a file that does not name its positive class; return the labels' points and its first figure."""
    rng = np.random.default_rng(0)
    points = {label: rng.normal(3 * i, 1, size=(30, 2)) for i, label in enumerate(labels)}
    rows = [f"{x},{y},{label}" for label, of in points.items() for x, y in of]
    (tmp_path / "two.csv").write_text("\n".join(["a,b,c", *rows]))
    (tmp_path / "plain.yaml").write_text(PLAIN + f"  f: {figure}\n")
    with Store(None) as store:
        outcome = run(load(tmp_path / "plain.yaml"), store, engine(1))
    _, figure = next(draw_all(outcome))
    return outcome, figure


def apart(tmp_path, text, figure):
    """Run a study of twenty points b around 0 and twenty points a around 4; return its outcome."""
    rng = np.random.default_rng(1)
    rows = [f"{x},{y},{label}" for label, shift in (("b", 0), ("a", 4)) for x, y in rng.normal(shift, 1, size=(20, 2))]
    (tmp_path / "two.csv").write_text("\n".join(["a,b,c", *rows]))
    (tmp_path / "plain.yaml").write_text(text + f"  f: {figure}\n")
    with Store(None) as store:
        return run(load(tmp_path / "plain.yaml"), store, engine(1))


def test_boundaries_draw_both_classes_of_a_file_without_positive(tmp_path):
    """The larger label is the positive class: 10, not 2, which is larger as text only."""
    outcome, figure = plain(tmp_path, "{kind: boundaries, methods: [L]}")
    counts = {c.get_label(): len(c.get_offsets()) for c in figure.axes[0].collections if c.get_label()[0] != "_"}
    assert counts == {"positive, training": 20, "negative, training": 20, "positive, test": 10, "negative, test": 10}
    (positive,) = [c for c in figure.axes[0].collections if c.get_label() == "positive, training"]
    X, y = training_part(outcome.units[0])
    np.testing.assert_array_equal(positive.get_offsets(), X[y > 0])
    ten = outcome.units[0].source.load().y[rows_of(outcome.units[0].where).train] == "10"
    np.testing.assert_array_equal(y > 0, ten)
    plt.close("all")


@pytest.mark.parametrize(
    "figure",
    [
        "{kind: plane, method: G, metric: error}",
        "{kind: tradeoff, method: M, methods: [M]}",
    ],
)
def test_figures_of_a_file_without_positive_are_drawn(tmp_path, figure):
    outcome, drawn = plain(tmp_path, figure)
    drawn.canvas.draw()
    plt.close("all")
    assert not outcome.missing


def test_the_edge_of_feasibility_is_that_of_the_positive_class(tmp_path):
    """Swapped classes would mirror the plane: the spreads of these two differ."""
    outcome, drawn = plain(tmp_path, "{kind: plane, method: G, metric: error}")
    (unit, *_) = [u for u in outcome.units if u.label == "G"]
    edge = drawn.axes[0].lines[0]
    at = edge.get_xdata()
    expected = ErrorRateClassifier().feasible_eta_neg(*training_part(unit), at)
    np.testing.assert_allclose(edge.get_ydata(), np.nan_to_num(expected, nan=1.1))
    plt.close("all")


def test_ellipsoids_of_a_file_without_positive(tmp_path):
    text = PLAIN.replace("  G: {method: error-rate, grid: {eta_pos: [0.5, 0.9], eta_neg: [0.5, 0.9]}}\n", "")
    outcome = apart(tmp_path, text, "{kind: ellipsoids, method: L}")
    ((_, figure),) = draw_all(outcome)
    shown = {c.get_label(): c.get_offsets() for c in figure.axes[0].collections}
    positive = shown["positive"]
    assert len(positive) == len(shown["negative"]) == 20
    assert positive.mean() < shown["negative"].mean()  # b is the larger label
    plt.close("all")


def test_infeasible_rates_leave_a_plane_without_a_best_point(tmp_path):
    text = "{kind: plane, method: G, metric: error}"
    (tmp_path / "x").mkdir()
    replaced = PLAIN.replace("[0.5, 0.9]", "[0.001, 0.002]")
    rng = np.random.default_rng(0)
    rows = [f"{x},{y},{label}" for label in "ab" for x, y in rng.normal(0, 1, size=(20, 2))]
    (tmp_path / "two.csv").write_text("\n".join(["a,b,c", *rows]))
    (tmp_path / "plain.yaml").write_text(replaced + f"  f: {text}\n")
    with Store(None) as store:
        outcome = run(load(tmp_path / "plain.yaml"), store, engine(1))
    assert outcome.draw(tmp_path) == ["f_two.svg", "f_two.png"]


# -- nothing about a figure is found out after the fits -----------------------------------------------------------------
@pytest.mark.parametrize(
    ("figure", "words"),
    [
        ("{kind: planes, method: G}", "did you mean 'plane'"),
        ("{kind: plane, method: G}", "a figure of kind 'plane' needs 'metric'"),
        ("{kind: plane, method: G, metric: eror}", "did you mean 'error'"),
        ("{kind: plane, method: G, metric: error, colour: red}", "has no option 'colour'"),
        ("{kind: plane, method: M, metric: error}", "needs 'method: error-rate' and a grid"),
        ("{kind: plane, method: L, metric: error}", "needs 'method: error-rate' and a grid"),
        ("{kind: boundaries, methods: [LL]}", "did you mean 'L'"),
        ("{kind: boundaries, methods: L}", "valid tuple|valid list"),
        ("{kind: boundaries, dashed: [X]}", "dashed 'X'"),
        ("{kind: curves, method: G, x: eta_pos}", "needs 'lines'"),
        ("{kind: curves, method: G, x: eta_pos, lines: eta}", "has no parameter 'eta' at every point"),
        ("{kind: curves, method: L, x: method, lines: eta_pos}", "has no parameter 'method'"),
        ("{kind: tradeoff, method: L, methods: [L]}", "has no frontier"),
        ("{kind: tradeoff, method: M}", "needs 'methods'"),
        ("{kind: ellipsoids, method: M}", "has no ellipsoids"),
        ("{kind: ellipsoids, method: L}", "G has a grid"),
        ("{kind: pairs, method: L}", "needs 'multiclass: one-vs-one'"),
        ("{kind: banded}", "needs the measure 'band'"),
    ],
)
def test_a_figure_that_cannot_be_drawn_is_refused_with_its_line(tmp_path, figure, words):
    path = tmp_path / "plain.yaml"
    path.write_text(PLAIN + f"  f: {figure}\n")
    line = PLAIN.count("\n") + 1
    with pytest.raises(ConfigError, match=words) as refused:
        load(path)
    assert f"plain.yaml:{line}: " in str(refused.value)


def test_a_tradeoff_needs_its_metrics_in_the_table(tmp_path):
    path = tmp_path / "plain.yaml"
    path.write_text(PLAIN.replace(", bound_neg", "") + "  f: {kind: tradeoff, method: M, methods: [M]}\n")
    with pytest.raises(ConfigError, match=r"needs these in table.metrics: bound_neg"):
        load(path)


@pytest.mark.parametrize(
    ("figure", "words"),
    [
        ("{kind: boundaries}", "needs data in the plane; two has 3 features"),
        ("{kind: knowledge}", "needs knowledge sets; two has none"),
    ],
)
def test_what_only_the_data_can_say_is_said_before_the_fits(tmp_path, figure, words):
    (tmp_path / "two.csv").write_text("a,b,d,c\n" + "\n".join(f"{i},{i * i},1,{i % 2}" for i in range(20)))
    (tmp_path / "plain.yaml").write_text(PLAIN + f"  f: {figure}\n")
    config = load(tmp_path / "plain.yaml")
    found = list(check_data(config.experiment, plan(config)))
    assert any(place[:2] == ("figures", "f") and words in text for place, text in found)


@pytest.mark.parametrize("kind", FIGURES)
def test_every_kind_says_what_it_shows_and_lists_its_options(kind):
    assert options_of(kind).shows
    assert "kind" not in options_of(kind).model_fields


def test_no_figure_loads_matplotlib_before_it_is_drawn():
    code = "import sys, mmc.experiments.figures; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("name", ["../../../pwn", "/abs/x", "a b"])
def test_the_name_of_a_figure_is_never_a_path(tmp_path, name):
    outcome, _ = plain(tmp_path, "{kind: boundaries, methods: [L]}")
    experiment = outcome.config.experiment.model_copy(
        update={"figures": {name: outcome.config.experiment.figures["f"]}}
    )
    results = Outcome(replace(outcome.config, experiment=experiment), outcome.units, outcome.records)
    folder = tmp_path / "deep" / "er" / "results"
    for file in results.draw(folder):
        assert (folder / file).parent == folder
        assert (folder / file).exists()
    assert {path.name for path in (tmp_path / "deep" / "er").iterdir()} == {"results"}
    plt.close("all")


def test_dollars_and_underscores_of_users_are_text(tmp_path):
    """Between two $ matplotlib would read a formula, and fail on this one; a first _ would hide a line's name."""
    text = PLAIN.replace("  L: {", '  "_L $\\\\bad$ 5": {')
    outcome = apart(tmp_path, text, "{kind: boundaries}")
    outcome.draw(tmp_path)
    assert "_L $\\bad$ 5" in (tmp_path / "f.svg").read_text()


def test_the_closest_points_of_the_hulls_are_the_svms():
    """(2.10): w is u* − v* but for its length, and their distance is the margin 2 / ‖w‖."""
    rng = np.random.default_rng(3)
    y = np.repeat([1, -1], 30)
    X = rng.standard_normal((60, 2)) + 4.0 * y[:, None]
    model = SVM(C_pos=1e6, C_neg=1e6).fit(X, y)
    u, v = hull_points(model)
    w = model.coef_[0]
    np.testing.assert_allclose(u - v, 2 * w / (w @ w), rtol=1e-5)
    np.testing.assert_allclose(model.decision_function([u, v]), [1, -1], atol=1e-5)


def test_the_pictures_of_hulls_and_ellipsoids_are_drawn(tmp_path):
    path = tmp_path / "hulls.yaml"
    path.write_text(
        """\
title: hulls
datasets: {plane: {name: noisy_normals, options: {noisy: 0}}}
scale: none
methods:
  E: {method: error-rate, eta_pos: 0.1, eta_neg: 0.1}
  S: {method: svm, C_pos: 1.0e+6, C_neg: 1.0e+6}
figures: {f: {kind: hulls, dataset: plane, svm: S, ellipsoids: E}}
"""
    )
    config = load(path)
    (figure,) = dict(draw_all(Results(config, plan(config), {}))).values()
    assert [axes.get_title() for axes in figure.axes] == ["1: convex hulls", "2: one constraint", "3: two ellipsoids"]
    assert [len(axes.patches) for axes in figure.axes] == [2, 0, 0]
    plt.close("all")
    path.write_text(path.read_text().replace("svm: S", "svm: E"))
    with pytest.raises(ConfigError, match="'E' is no linear method of the kind 'svm'"):
        load(path)


@pytest.mark.parametrize(("lines", "columns", "bands"), [([1, 10, 100], 1, 3), ([1, 10, 100, 1000], 4, 1)])
def test_no_more_than_three_bands_overlap(lines, columns, bands, tmp_path):
    from matplotlib.collections import PolyCollection

    (tmp_path / "f.yaml").write_text(
        "title: f\ndatasets:\n  two_norm: {options: {n_pos: 20, n_neg: 20}}\nsplit: {kind: stratified-kfold, folds: 3, repetitions: 2}\n"
        f"methods:\n  R: {{method: rmm, grid: {{C: {lines}, B: [1.5, 3]}}}}\n"
        "table: {rows: [C], columns: [B], metrics: [error]}\nfigures:\n  f: {kind: curves, method: R, x: B, lines: C}\n"
    )
    with Store(None) as store:
        ((_, figure),) = draw_all(run(load(tmp_path / "f.yaml"), store, engine(1)))
    panels = figure.axes
    assert len(panels) == columns
    for panel in panels:
        assert sum(isinstance(part, PolyCollection) for part in panel.collections) == bands
    plt.close(figure)
