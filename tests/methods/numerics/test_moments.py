"""Moments add up: any partition, any order, any tree of merges gives what all rows at once give."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mmc.methods import ClassMoments, Moments
from mmc.methods.numerics.moments import tree_sum


def exact(X, weight=None):
    """Count, mean less the first row, covariance, third and fourth sums in extended precision."""
    X = np.asarray(X, dtype=np.longdouble)
    w = np.ones(len(X), dtype=np.longdouble) if weight is None else np.asarray(weight, dtype=np.longdouble)
    Z = X - X[0]
    mean = w @ Z / w.sum()
    Z = Z - mean
    size2 = (Z * Z).sum(axis=1)
    return w.sum(), mean, (w[:, None] * Z).T @ Z / w.sum(), (w * size2) @ Z, w @ size2**2


def assert_exact(m, X, weight=None, rtol=1e-12):
    count, mean, cov, third, fourth = exact(X, weight)
    scale = np.sqrt(np.diag(cov)).astype(float)
    scale[scale == 0] = 1.0
    size = float(scale @ scale) ** 0.5
    usual = float(count) * float(fourth / count) ** 0.75  # of Σ‖z‖³
    assert m.count == pytest.approx(float(count), rel=1e-14)
    np.testing.assert_allclose(((m.mean - np.asarray(X)[0]) + m.rest - mean).astype(float) / scale, 0, atol=rtol)
    np.testing.assert_allclose((m.covariance - cov).astype(float) / np.outer(scale, scale), 0, atol=rtol)
    np.testing.assert_allclose((m.third - third).astype(float) / max(usual, 1e-300), 0, atol=rtol)
    np.testing.assert_allclose(m.fourth, float(fourth), rtol=rtol, atol=rtol * size**4)
    assert not np.tril(m.factor, -1).any()


def rows(n, seed, far=0.0, columns=4):
    rng = np.random.default_rng(seed)
    mix = rng.normal(size=(columns, columns)) * 10.0 ** rng.integers(-3, 4, columns)
    return rng.normal(size=(n, columns)) @ mix + far * rng.normal(size=columns)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("far", [0.0, 1e8])
@pytest.mark.parametrize("n", [1, 2, 5, 40, 3000])
def test_the_moments_are_those_of_extended_precision(n, far, order):
    X = np.array(rows(n, n, far), order=order)
    before = X.copy()
    assert_exact(Moments.of(X), X)
    weight = np.random.default_rng(1).uniform(0.1, 3, n)
    assert_exact(Moments.of(X, sample_weight=weight), X, weight)
    np.testing.assert_array_equal(X, before)


def test_several_blocks_and_a_first_row_far_from_all_others():
    X = rows(150_000, 0, columns=3)
    X[0] += 1e6 * X.std(axis=0)
    assert_exact(Moments.of(X[1:]), X[1:])
    assert_exact(Moments.of(X), X)


@settings(max_examples=40, deadline=None)
@given(
    n=st.integers(2, 200),
    parts=st.integers(1, 1000),
    far=st.sampled_from([0.0, 1.0, 1e8]),
    seed=st.integers(0, 2**32 - 1),
)
def test_any_partition_order_and_tree_adds_up_to_the_whole(n, parts, far, seed):
    rng = np.random.default_rng(seed)
    X = rows(n, seed, far)
    bits = [Moments.of(X[some]) for some in np.array_split(rng.permutation(n), parts) if len(some)]
    while len(bits) > 1:  # merge two that chance picks
        i, j = rng.choice(len(bits), 2, replace=False).tolist()
        bits[i] = bits[i] + bits[j]
        bits[j] = bits[-1]
        bits.pop()
    assert_exact(bits[0], X, rtol=1e-11)


def test_collinear_and_constant_columns_keep_their_rank():
    X = rows(400, 3)
    X = np.column_stack([X, X[:, 0], X[:, 1] - X[:, 2], np.full(400, 3.3)])
    whole, total = Moments.of(X), Moments.of(X[:7])
    for part in np.array_split(X[7:], 29):
        total = total + Moments.of(part)
    for m in (whole, total):
        assert_exact(m, X)
        assert m.std[-1] == 0
        scaled = m.factor / np.where(m.std > 0, m.std, 1.0)
        assert np.linalg.matrix_rank(scaled, tol=1e-10 * len(X)) == 4


def test_a_nearly_singular_scatter_keeps_its_small_variance():
    """The variance along a direction is 1e-20 of the others: squares would have lost it."""
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 500))
    X = np.column_stack([a, a + 1e-10 * b])
    m = tree_sum(Moments.of(part, np.zeros(len(part))) for part in np.array_split(X, 11))[0]
    direction = np.array([1.0, -1.0])
    found = np.linalg.norm(m.factor @ direction) / np.sqrt(m.count)
    assert found == pytest.approx(np.std(X @ direction), rel=1e-5)


def test_a_weight_counts_rows():
    X = rows(30, 5)
    times = np.random.default_rng(0).integers(0, 4, 30)
    weighted, repeated = Moments.of(X, sample_weight=times), Moments.of(np.repeat(X, times, axis=0))
    assert weighted.count == repeated.count
    np.testing.assert_allclose(weighted.covariance, repeated.covariance, rtol=1e-12)
    assert weighted.fourth == pytest.approx(repeated.fourth, rel=1e-12)


def test_classes_may_be_missing_in_a_part():
    X, y = rows(60, 8), np.repeat(["a", "b", "c"], 20)
    total = tree_sum(Moments.of(X[i : i + 7], y[i : i + 7]) for i in range(0, 60, 7))
    assert list(total) == ["a", "b", "c"]
    for label in total:
        assert_exact(total[label], X[y == label])
    assert_exact(total.total(), X)


@pytest.mark.parametrize("scale", [2.0, np.array([1.0, 2.0, 0.5, 3.0]), np.random.default_rng(0).normal(size=(3, 4))])
def test_an_affine_change_needs_no_other_pass(scale):
    X = rows(80, 4, 1e3)
    offset = np.arange(np.shape(scale)[0] if np.ndim(scale) == 2 else 4) - 1.0
    changed, there = (
        Moments.of(X).affine(scale, offset),
        X @ scale.T + offset if np.ndim(scale) == 2 else X * scale + offset,
    )
    expected = Moments.of(there)
    np.testing.assert_allclose(changed.mean, expected.mean, rtol=1e-12)
    np.testing.assert_allclose(changed.covariance, expected.covariance, rtol=1e-9)
    if np.ndim(scale) == 0:
        assert changed.fourth == pytest.approx(expected.fourth, rel=1e-9)
        np.testing.assert_allclose(changed.third, expected.third, rtol=1e-6)
    else:
        assert np.isnan(changed.fourth)


def test_standardising_by_the_moments_is_standardising_the_rows():
    X, y = rows(90, 2, 50.0), np.arange(90) % 2
    m = Moments.of(X, y)
    all_rows = m.total()
    scaled = m.affine(1 / all_rows.std, -all_rows.mean / all_rows.std)
    expected = Moments.of((X - X.mean(axis=0)) / X.std(axis=0), y)
    for label in (0, 1):
        np.testing.assert_allclose(scaled[label].mean, expected[label].mean, atol=1e-12)
        np.testing.assert_allclose(scaled[label].covariance, expected[label].covariance, atol=1e-12)


def test_from_a_covariance():
    X = rows(50, 6)
    m = Moments.from_covariance(X.mean(axis=0), np.cov(X.T, bias=True), 50)
    np.testing.assert_allclose(m.covariance, np.cov(X.T, bias=True), rtol=1e-9)
    assert np.isnan(m.fourth)
    assert (m + m).count == 100
    with pytest.raises(ValueError, match="negative eigenvalue"):
        Moments.from_covariance([0, 0], [[1, 2], [2, 1]], 10)
    with pytest.raises(ValueError, match="symmetric"):
        Moments.from_covariance([0, 0], [[1, 0.5], [0, 1]], 10)
    with pytest.raises(ValueError, match="square covariance"):
        Moments.from_covariance([0, 0], [[1.0]], 10)


@pytest.mark.parametrize("labels", [["no", "yes"], [0, 1], [-1.0, 1.0], [False, True]])
def test_saved_and_loaded(tmp_path, labels):
    X = pd.DataFrame(rows(20, 1), columns=list("abcd"))
    m = Moments.of(X, np.array(labels).repeat(10))
    m.save(tmp_path / "all.npz")
    found = ClassMoments.load(tmp_path / "all.npz")
    assert list(found) == labels
    m[labels[0]].save(tmp_path / "one.npz")
    for one in (found[labels[0]], Moments.load(tmp_path / "one.npz")):
        assert one.names == tuple("abcd")
        assert one.count == 10
        for name in ("mean", "low", "factor", "third", "fourth"):
            np.testing.assert_array_equal(getattr(one, name), getattr(m[labels[0]], name))


def test_files_that_are_no_moments_are_refused(tmp_path):
    path = tmp_path / "m.npz"
    with pytest.raises(FileNotFoundError, match="no such file"):
        Moments.load(path)
    path.write_bytes(b"PK\x03\x04 nothing")
    with pytest.raises(ValueError, match="no file of moments"):
        Moments.load(path)
    np.savez(path, kind=np.array("moments"), evil=np.array([object()], dtype=object))
    with pytest.raises(ValueError, match="allow_pickle=False"):
        Moments.load(path)
    np.savez(path, mean=np.zeros(3))
    with pytest.raises(ValueError, match="no file of moments"):
        Moments.load(path)
    m = Moments.of(rows(9, 0))
    m.save(path)
    with pytest.raises(ValueError, match="holds 'moments'"):
        ClassMoments.load(path)
    arrays = dict(np.load(path))
    for name, value in (
        ("factor", np.ones((4, 4))),
        ("mean", np.zeros(3)),
        ("count", np.array(-1.0)),
        ("mean", np.array(list("abcd"))),
    ):
        np.savez(path, **{**arrays, name: value})
        with pytest.raises(ValueError, match="is damaged"):
            Moments.load(path)


def test_what_cannot_be_added_or_made_is_refused():
    m = Moments.of(rows(9, 0))
    with pytest.raises(ValueError, match="4 and of 2 features"):
        m + Moments.of(rows(9, 0)[:, :2])
    with pytest.raises(ValueError, match="different features"):
        Moments.of(pd.DataFrame({"a": [1.0, 2]})) + Moments.of(pd.DataFrame({"b": [1.0, 2]}))
    with pytest.raises(ValueError, match="NaN"):
        Moments.of([[1.0], [np.nan]])
    with pytest.raises(ValueError, match="overflow"):
        Moments.of([[1e200], [2e200]])
    with pytest.raises(ValueError, match=r"0 sample\(s\)"):
        Moments.of(np.empty((0, 2)))
    with pytest.raises(ValueError, match="3 labels"):
        Moments.of(rows(9, 0), [1, 2, 3])
    with pytest.raises(ValueError, match=r"[Nn]egative"):
        Moments.of(rows(2, 0), sample_weight=[1, -1])
    assert m.__add__(3) is NotImplemented


def test_threads_do_not_share_their_memory():
    tables = [rows(3000, seed, columns=60) for seed in range(8)]
    with ThreadPoolExecutor(4) as threads:
        together = list(threads.map(Moments.of, tables * 3))
    for X, found in zip(tables * 3, together, strict=True):
        alone = Moments.of(X)
        np.testing.assert_array_equal(found.factor, alone.factor)
        np.testing.assert_array_equal(found.third, alone.third)
