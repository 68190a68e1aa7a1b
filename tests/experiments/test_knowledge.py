"""Knowledge sets from the YAML or a CSV file: refused with their line, scaled with the points, in every training part."""

import textwrap

import numpy as np
import pytest

from mmc.experiments.engines import engine
from mmc.experiments.errors import ConfigError
from mmc.experiments.knowledge import rescaled
from mmc.experiments.plan import plan
from mmc.experiments.preparation import prepared, rows_of, scaled
from mmc.experiments.run import run
from mmc.experiments.store import Store
from mmc.experiments.validation import load
from mmc.methods import SMEM, SVM
from tests.experiments.flat import flat

TOY = """\
title: toy
datasets:
  toy:
    positive: 1
    knowledge:
      - {label: +1, center: [0, 0], radius: 1}
      - {label: -1, center: [1.5, 0.9], matrix: [[0.4, 0.1], [0.1, 0.2]]}
      - {label: -1, center: [1.5, -1]}
scale: none
split: {kind: fixed}
methods:
  SMEM: {method: smem, C: 100, eps: 0.1}
  SVM: {method: svm, C_pos: 100, C_neg: 100}
table: {rows: [method], columns: [], metrics: [error, objective]}
"""
CSV = "label,x,y,radius,s_1_1,s_1_2,s_2_2\n+1,0,0,1,,,\n-1,1.5,0.9,,0.4,0.1,0.2\n-1,1.5,-1,,,,\n"
POINTS = """\
title: both
datasets:
  both: {file: points.csv, target: kind, positive: a, knowledge: sets.csv}
scale: minmax
split: {kind: stratified-kfold, folds: 4}
methods:
  SMEM: {method: smem, C: 10}
table: {rows: [method], columns: [], metrics: [error, n_sets]}
"""


def write(folder, text, name="toy.yaml"):
    path = folder / name
    path.write_text(textwrap.dedent(text), "utf-8")
    return path


@pytest.fixture
def both(tmp_path):
    """Twenty points of each class, two knowledge sets."""
    rng = np.random.default_rng(0)
    rows = [
        f"{x:.6f},{10 * y:.6f},{'ab'[i % 2]}"
        for i, (x, y) in enumerate(rng.normal(size=(40, 2)) + [[0, 0], [3, 0]] * 20)
    ]
    write(tmp_path, "u,v,kind\n" + "\n".join(rows), "points.csv")
    write(tmp_path, "label,u,v,radius,s_1_1,s_1_2,s_2_2\na,-2,5,0.5,,,\nb,5,0,,0.3,0.1,2\n", "sets.csv")
    return write(tmp_path, POINTS, "both.yaml")


def values(path, **options):
    with Store(None) as store:
        outcome = run(load(path), store, engine(1), **options)
    return {u.label: flat(outcome.records[u.trials[0].key]) for u in outcome.units}


def keys(path):
    return [t.key for u in plan(load(path)) for t in u.trials]


@pytest.mark.parametrize(
    ("old", "new", "line", "words"),
    [
        ("radius: 1", "radius: -1", 6, "knowledge set 1: the radius -1 is negative"),
        ("radius: 1", "radius: .inf", 6, "not finite"),
        ("radius: 1", "radius: big", 6, "knowledge.0.radius"),
        ("radius: 1", "raduis: 1", 6, "unknown key 'raduis': did you mean 'radius'?"),
        ("label: +1, ", "", 6, "knowledge.0.label is missing"),
        ("[0.4, 0.1], [0.1, 0.2]", "[0.4, 0.9], [0.9, 0.2]", 7, "not positive semi-definite"),
        ("[0.4, 0.1], [0.1, 0.2]", "[0.4, 0.1], [0.3, 0.2]", 7, "not symmetric"),
        ("[0.4, 0.1], [0.1, 0.2]", "[0.4]", 7, "expected a radius or a (2, 2) matrix"),
        ("[0.4, 0.1], [0.1, 0.2]", "[0.4, 0.1], [0.1]", 7, "neither a number nor a matrix"),
        ("[1.5, 0.9], ", "[1.5, 0.9], radius: 1, ", 7, "a radius and a matrix; give only one"),
        ("[1.5, -1]", "[1.5, -1, 2]", 8, "the centre has 3 coordinates, the first set's 2"),
        ("  toy:", "  pima:", 3, "say name: pima to add knowledge sets to it"),
    ],
)
def test_a_bad_set_is_refused_with_its_line(tmp_path, old, new, line, words):
    assert old in TOY
    path = write(tmp_path, TOY.replace(old, new))
    with pytest.raises(ConfigError) as caught:
        load(path)
    message = str(caught.value)
    assert any(part.startswith(f"{path}:{line}: ") and words in part for part in message.splitlines()), message


@pytest.mark.parametrize(
    ("old", "new", "line", "words"),
    [
        ("{kind: fixed}", "{kind: stratified-kfold}", 10, "use split: {kind: fixed}"),
        ("{method: smem, C: 100, eps: 0.1}", "{method: smem, tune: {grid: {C: [1, 10]}}}", 12, "no points to tune on"),
        (", matrix: [[0.4, 0.1], [0.1, 0.2]]", "", 5, "the sets of class -1 have no area"),
    ],
)
def test_sets_alone_that_cannot_be_tested_are_refused_with_their_line(tmp_path, old, new, line, words):
    assert old in TOY
    path = write(tmp_path, TOY.replace(old, new))
    with pytest.raises(ConfigError) as caught:
        plan(load(path))
    assert str(caught.value).startswith(f"{path}:{line}: ")
    assert words in str(caught.value)


def test_every_bad_set_is_told_at_once(tmp_path):
    path = write(tmp_path, TOY.replace("radius: 1", "radius: -1").replace("[1.5, -1]", "[1.5]"))
    with pytest.raises(ConfigError) as caught:
        load(path)
    assert len(str(caught.value).splitlines()) == 2


def test_a_bad_file_is_refused_with_both_places(tmp_path, both):
    sets = tmp_path / "sets.csv"
    good = sets.read_text()
    for old, new, words in (
        ("0.5", "-0.5", f"{sets}, line 2, column 'radius': the radius -0.5 is negative"),
        ("0.3,0.1,2", "0.3,9,2", f"{sets}, line 3, columns 's_1_1' to 's_2_2': .*not positive semi-definite"),
        ("b,5", "c,5", "knowledge set 2 has the unknown label 'c'; valid: a, b"),
        (",u,v,", ",v,u,", "the columns v, u are in another order than the features of the points, u, v"),
        (",v,", ",s_3_3,", "outside a Σ of 1 coordinates"),
    ):
        sets.write_text(good.replace(old, new, 1))
        with pytest.raises(ConfigError, match=words) as caught:
            plan(load(both))
        assert str(caught.value).startswith(f"{both}:3: "), caught.value
    sets.write_text("label,u,radius\na,0,1\nb,3,1\n")
    with pytest.raises(ConfigError, match=r"both.yaml:3: both: the sets have 1 coordinates, the points 2"):
        plan(load(both))
    sets.unlink()
    with pytest.raises(ConfigError, match=r"both.yaml:3: the knowledge sets .* cannot be read: No such file"):
        load(both)


def test_the_yaml_and_the_file_say_the_same(tmp_path):
    stated = write(tmp_path, TOY)
    write(tmp_path, CSV, "sets.csv")
    start, stop = TOY.index("    knowledge:"), TOY.index("scale:")
    read = write(tmp_path, TOY[:start] + "    knowledge: sets.csv\n" + TOY[stop:], "read.yaml")
    assert keys(stated) == keys(read)
    write(tmp_path, CSV.replace("0,0,1,", "0,0,1.01,"), "others.csv")
    other = write(tmp_path, read.read_text().replace("sets.csv", "others.csv"), "other.yaml")
    assert not set(keys(stated)) & set(keys(other)), "the content of the sets is part of the key"


def test_a_method_is_given_what_it_can_take(tmp_path):
    """SMEM the sets, a plain SVM their centres."""
    found = values(write(tmp_path, TOY))
    X, y = np.array([[0, 0], [1.5, 0.9], [1.5, -1]]), np.array([1, -1, -1])
    smem = SMEM(C=100, eps=0.1).fit(X, y, [1.0, np.array([[0.4, 0.1], [0.1, 0.2]]), 0.0])
    svm = SVM(C_pos=100, C_neg=100).fit(X, y)
    assert found["SMEM"]["objective"] == pytest.approx(smem.solution_.objective, rel=1e-9)
    assert found["SVM"]["objective"] == pytest.approx(svm.solution_.objective, rel=1e-9)
    assert found["SMEM"]["training_size"] > 3
    assert found["SVM"]["wrong_pos"] > 0, "the line between the centres cuts the circle"


def test_the_seed_moves_a_sampled_area_only(tmp_path):
    poly = TOY.replace("C_neg: 100", "C_neg: 100, kernel: poly, gamma: 1, degree: 2")
    first, other, again = (values(write(tmp_path, f"seed: {seed}\n{poly}")) for seed in (1, 2, 1))
    assert first["SVM"]["wrong_pos"] == again["SVM"]["wrong_pos"] != other["SVM"]["wrong_pos"]
    assert first["SMEM"]["error_se"] == 0 < first["SVM"]["error_se"]


def test_stated_sets_are_run_once_beside_drawn_ones(tmp_path):
    text = TOY.replace("scale:", "  random: {name: random_circles}\nscale:")
    units = plan(load(write(tmp_path, text.replace("{kind: fixed}", "{kind: fixed, repetitions: 3, redraw: true}"))))
    counts = [sum(u.source.label == label for u in units) for label in ("toy", "random")]
    assert counts == [2, 6]


@pytest.mark.parametrize("scale", ["none", "standard", "unit", "minmax"])
def test_shapes_are_scaled_as_the_points_are(tmp_path, both, scale):
    """The edge of a set, scaled as points are, is the edge of the scaled set."""
    unit = plan(load(write(tmp_path, POINTS.replace("minmax", scale), "both.yaml")))[0]
    data = unit.source.load()
    angle = np.linspace(0, 2 * np.pi, 50)
    circle = np.column_stack([np.cos(angle), np.sin(angle)])
    ready = prepared(unit.where)
    shapes, rows = ready.shapes, ready.rows.train
    assert shapes[: len(shapes) - 2] == [0.0] * (len(shapes) - 2)
    for shape, new, center in zip(data.shapes, shapes[-2:], data.X[-2:], strict=True):
        root = np.linalg.cholesky(shape) if np.ndim(shape) else shape * np.eye(2)
        train, edge = scaled(scale, data.X[rows], np.vstack([center, center + circle @ root.T]))
        step = edge[1:] - edge[0]
        sigma = new if np.ndim(new) else new**2 * np.eye(2)
        np.testing.assert_allclose(np.einsum("ij,jk,ik->i", step, np.linalg.inv(sigma), step), 1, rtol=1e-9)
        np.testing.assert_allclose(train[list(data.X[rows, 0]).index(center[0])], edge[0])


def test_a_sphere_stays_one_where_all_features_shrink_alike():
    assert rescaled(3.0, np.array([2.0, 2.0])) == 1.5
    np.testing.assert_allclose(rescaled(3.0, np.array([1.0, 3.0])), np.diag([9.0, 1.0]))
    assert rescaled(0.0, np.array([1.0, 3.0])) == 0


def test_scaling_leaves_shares_of_area_alone(tmp_path):
    """An affine map keeps them: the same line through scaled sets cuts off the same shares. C is large: a hard margin."""
    lone = "title: t\ndatasets:\n  t: {knowledge: [{label: a, center: [0, 0], radius: 2}, {label: b, center: [9, 0], radius: 1}]}\n"
    lone += "split: {kind: fixed}\nmethods:\n  SVM: {method: svm, C_pos: 1e6, C_neg: 1e6}\n"
    errors = [values(write(tmp_path, lone + f"scale: {scale}\n"))["SVM"]["wrong_neg"] for scale in ("none", "minmax")]
    assert errors[0] == pytest.approx(errors[1])


def test_sets_are_in_every_training_part_and_in_no_test_part(both):
    units = plan(load(both))
    assert len(units) == 4
    parts = [rows_of(unit.where) for unit in units]
    for rows in parts:
        assert set(rows.train[-2:]) == {40, 41}
        assert rows.test.max() < 40
    assert sorted(np.concatenate([rows.test for rows in parts])) == list(range(40))
    found = values(both)["SMEM"]
    assert (found["n_pos"], found["n_neg"]) == (5, 5)
    assert found["n_sets"] == 32
    with_sets = keys(both)
    both.write_text(both.read_text().replace(", knowledge: sets.csv", ""))
    assert not set(with_sets) & set(keys(both))


def test_tuning_keeps_the_sets_in_its_inner_training_parts(both, monkeypatch):
    both.write_text(both.read_text().replace("C: 10", "tune: {grid: {C: [1, 10]}, folds: 3}"))
    sizes = []
    fit_path = SMEM.fit_path

    def watched(self, X, y, grid, X_test=None, shapes=None):
        sizes.append((len(X), len(X_test), sum(np.ndim(s) > 0 or s > 0 for s in shapes)))
        return fit_path(self, X, y, grid, X_test, shapes=shapes)

    monkeypatch.setattr(SMEM, "fit_path", watched)
    values(both)
    assert len(sizes) == 4 * (3 + 1)
    assert {sets for _, _, sets in sizes} == {2}
    assert all(rows + tests == 32 for rows, tests, _ in sizes[:3])
    assert sizes[3][:2] == (32, 10)
