"""The generated sets have the moments of their definitions, and the same seed gives the same data."""

import math
from dataclasses import replace

import numpy as np
import pytest

from mmc.datasets import REGISTRY, DataError, load
from mmc.methods import HMEM, InfeasibleProblem

MANY = 20_000
GENERATED = [name for name, entry in REGISTRY.items() if entry.kind == "generated"]


def moments(data, label):
    rows = data.X[data.y == label]
    return len(rows), rows.mean(axis=0), np.cov(rows.T, bias=True)


def check_normal(data, label, mean, variance):
    """Mean and covariance of N(mean, variance·I) within 5 standard errors: √(σ²/m), √(2σ⁴/m), √(σ⁴/m)."""
    m, found, cov = moments(data, label)
    assert np.abs(found - mean).max() < 5 * math.sqrt(variance / m)
    error = np.abs(cov - variance * np.eye(len(cov)))
    assert np.diag(error).max() < 5 * variance * math.sqrt(2 / m)
    assert (error - np.diag(np.diag(error))).max() < 5 * variance / math.sqrt(m)


@pytest.mark.parametrize("n", [2, 5, 20])
def test_ring_norm(n):
    data = load("ring_norm", seed=3, n_features=n, n_pos=MANY, n_neg=MANY)
    check_normal(data, "pos", 1 / math.sqrt(n), 1.0)  # the narrow class is the positive one
    check_normal(data, "neg", 0.0, 4.0)


@pytest.mark.parametrize("n", [2, 5, 20])
def test_two_norm(n):
    data = load("two_norm", seed=3, n_features=n, n_pos=MANY, n_neg=MANY)
    check_normal(data, "pos", 2 / math.sqrt(n), 1.0)
    check_normal(data, "neg", -2 / math.sqrt(n), 1.0)


def test_bsvm_toy():
    data = load("bsvm_toy", seed=3, per_cluster=MANY, sigma_pos=0.1, sigma_neg=0.3)
    r = math.sqrt(0.5)
    centres = {"pos": [(0, 0), (r, r), (-r, r), (-r, -r), (r, -r)], "neg": [(1, 0), (0, 1), (-1, 0), (0, -1)]}
    for label, sigma in (("pos", 0.1), ("neg", 0.3)):
        clusters = data.X[: data.n_train][data.y[: data.n_train] == label].reshape(-1, MANY, 2)
        assert len(clusters) == len(centres[label])
        for cluster, centre in zip(clusters, centres[label], strict=True):
            assert np.abs(cluster.mean(axis=0) - centre).max() < 5 * sigma / math.sqrt(MANY)
            assert np.abs(cluster.var(axis=0) - sigma**2).max() < 5 * sigma**2 * math.sqrt(2 / MANY)


@pytest.mark.parametrize("rotation", [0.0, 30.0, 90.0])
def test_gamma_synthetic(rotation):
    data = load("gamma_synthetic", seed=3, n_pos=MANY, n_neg=MANY, rotation=rotation, displacement=[7, -2])
    mean, variance = np.array([20.0, 18.0]), np.array([80.0, 54.0])  # Γ(5, 4) and Γ(6, 3): kθ and kθ²
    turn = math.radians(rotation)
    R = np.array([[math.cos(turn), -math.sin(turn)], [math.sin(turn), math.cos(turn)]])
    # A gamma variable of shape k has kurtosis 3 + 6/k; the largest standard error is that of the variance of Γ(5, 4).
    error_of_mean, error_of_cov = math.sqrt(80 / MANY), 80 * math.sqrt((2 + 6 / 5) / MANY)
    for label, centre, cov in (
        ("neg", mean, np.diag(variance)),
        ("pos", mean + np.array([7, -2]), R @ np.diag(variance) @ R.T),
    ):
        _, found, found_cov = moments(data, label)
        assert np.abs(found - centre).max() < 5 * error_of_mean
        assert np.abs(found_cov - cov).max() < 5 * error_of_cov
    negatives = data.X[data.y == "neg"]
    skewness = ((negatives - mean) ** 3).mean(axis=0) / variance**1.5
    # The sixth standardised moment is 15 + 130/k + 120/k², so the standard error is below √(46/m).
    np.testing.assert_allclose(skewness, 2 / np.sqrt([5, 6]), atol=5 * math.sqrt(46 / MANY))
    assert negatives.min() > 0


def test_gamma_synthetic_has_training_and_test_rows():
    data = load("gamma_synthetic", n_pos=4, n_neg=3, test_pos=2, test_neg=1)
    assert data.n_train == 7
    assert data.y.tolist() == ["pos"] * 4 + ["neg"] * 3 + ["pos"] * 2 + ["neg"]


def test_the_default_gamma_classes_have_the_bounds_of_table_one():
    """Both covariances are diagonal and the displacement is an axis, so the best direction is that axis."""
    options = REGISTRY["gamma_synthetic"].options
    assert options["rotation"].default == 90.0
    distance, other = options["displacement"].default
    assert other == 0.0
    (k1, k2), (t1, t2) = options["shape"].default, options["scale"].default
    s_pos, s_neg = math.sqrt(k2) * t2, math.sqrt(k1) * t1  # turned by a right angle: the second feature's deviation
    mpm = distance / (s_pos + s_neg)
    bmpm = (distance - 3 * s_neg) / s_pos  # κ(0.9) = 3
    assert mpm**2 / (1 + mpm**2) == pytest.approx(0.927, abs=0.001)
    assert bmpm**2 / (1 + bmpm**2) == pytest.approx(0.949, abs=0.003)


@pytest.mark.parametrize("name", GENERATED)
def test_a_seed_decides_the_data(name):
    first, again, other = load(name, seed=11), load(name, seed=11), load(name, seed=12)
    assert first.content_hash == again.content_hash != other.content_hash
    assert load(name).content_hash == load(name, seed=0).content_hash == load(name, seed=np.int64(0)).content_hash
    assert load(name, seed=2**70).X.shape == first.X.shape


@pytest.mark.parametrize("name", ["ring_norm", "two_norm", "gamma_synthetic"])
def test_a_larger_class_begins_with_the_smaller_one_and_leaves_the_other_alone(name):
    small, large = load(name, seed=5, n_pos=10, n_neg=20), load(name, seed=5, n_pos=30, n_neg=20)
    np.testing.assert_array_equal(small.X[:10], large.X[:10])
    np.testing.assert_array_equal(small.X[10:30], large.X[30:50])


def test_separable_normals():
    """A plane with the margin asked for on both sides, and classes of the shape asked for."""
    data = load("separable_normals", seed=3, n_features=3, n_pos=MANY, n_neg=MANY, margin=1.5, lean=[1, -0.5])
    for label, side, spread, lean in (("pos", 1, 1.0, 1.0), ("neg", -1, 2.0, -0.5)):
        rows = data.X[data.y == label]
        assert (side * rows[:, 0]).min() == pytest.approx(0.75)
        follow = np.array([1, lean, lean])
        cov = np.diag([0, spread**2, spread**2]) + np.outer(follow, follow)
        _, mean, found = moments(data, label)
        assert np.abs(mean[1:]).max() < 5 * math.sqrt(cov.max() / MANY)
        assert np.abs(found - cov).max() < 5 * cov.max() * math.sqrt(2 / MANY)


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("separable", [0, 1])
def test_random_circles(seed, separable):
    """Circles that do not overlap, the biggest at the origin; a hard margin exists if and only if it was asked for."""
    data = load("random_circles", seed=seed, separable=separable)
    r = np.array(data.shapes)
    assert data.n_points == 0
    assert r[0] == 1 > r[1:].max()
    assert r[1:].min() >= 0.2
    apart = np.linalg.norm(data.X[:, None] - data.X, axis=2) - r - r[:, None]
    assert apart[~np.eye(4, dtype=bool)].min() >= -1e-12
    assert np.all(apart[0, 1:] <= 0.5 + 1e-9)
    try:
        HMEM(solver="socp").fit(data.X, data.y, data.shapes)
    except InfeasibleProblem:
        assert not separable
    else:
        assert separable


def test_circles_that_cannot_fit_are_refused():
    with pytest.raises(DataError, match="take fewer or smaller ones, or a larger arc"):
        load("random_circles", n_small=40, arc=1.0)


def test_shapes_are_content():
    data = load("random_circles")
    other = replace(data, shapes=(*data.shapes[:-1], data.shapes[-1] / 2))
    as_matrix = replace(data, shapes=(*data.shapes[:-1], np.eye(2)))
    assert len({data.content_hash, other.content_hash, as_matrix.content_hash}) == 3
