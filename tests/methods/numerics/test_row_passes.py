"""Compiled passes over rows find what numpy finds in several steps."""

import numpy as np
import pytest

from mmc.methods.numerics.left_out import LeftOut
from mmc.methods.numerics.row_passes import (
    extents,
    left_out,
    mixed,
    regularised,
    scatters,
    seen_along,
    spread_along_each,
    spread_sums,
    summed_up,
    traces,
    within_reach,
)
from mmc.methods.numerics.triangles import safely_definite

rng = np.random.default_rng(3)
X, w = rng.normal(size=(41, 6)) + 2, rng.normal(size=6)
sign = np.where(rng.random(41) < 0.3, 1.0, -1.0)
sides = X[sign > 0], X[sign < 0]


def test_a_rule_is_seen_by_its_moments_in_both_classes():
    means, variances, longest = seen_along(X, sign, w)
    assert means == pytest.approx([np.mean(part @ w) for part in sides], rel=1e-13)
    assert variances == pytest.approx([np.var(part @ w) for part in sides], rel=1e-13)
    assert longest == pytest.approx(np.linalg.norm(X, axis=1).max(), rel=1e-14)


def test_what_shrinkage_asks_of_both_classes():
    rows = [(part - part.mean(axis=0)) / np.sqrt(len(part)) for part in sides]
    S = np.array([part.T @ part for part in rows])
    for part, C, found in zip(rows, S, spread_sums(np.vstack(rows).T.copy(), len(rows[0]), S), strict=True):
        norm2 = np.sum(part**2, axis=1)
        assert found == pytest.approx((np.trace(C), np.trace(C @ C), np.sum(norm2**2)), rel=1e-13)


def test_a_mixture_of_two_covariances():
    S = np.array([np.cov(part.T) for part in sides])
    np.testing.assert_allclose(mixed(S, 0.5, (2.0, 3.0)), 0.5 * np.eye(6) + 2 * S[0] + 3 * S[1], rtol=1e-14)
    assert traces(S) == pytest.approx(np.trace(S, axis1=1, axis2=2), rel=1e-14)


@pytest.mark.parametrize("n", [1, 2, 7, 30, 63, 64, 65])
def test_one_pass_finds_the_moments_that_numpy_finds(n):
    """Odd and even numbers of columns, below and above where numpy takes over."""
    X, positive = rng.normal(size=(170, n)) + 5, rng.random(170) < 0.45
    means, rows, split, difference, member, S, sums = summed_up(X, positive)
    parts = X[positive], X[~positive]
    np.testing.assert_allclose(means, [part.mean(axis=0) for part in parts], rtol=1e-14)
    np.testing.assert_allclose(difference, means[0] - means[1], rtol=0, atol=0)
    np.testing.assert_array_equal(member, np.repeat(np.eye(2), [split, 170 - split], axis=0))
    expected = np.vstack([(part - part.mean(axis=0)) / np.sqrt(len(part)) for part in parts])
    np.testing.assert_allclose(rows, expected, atol=1e-14)
    C = np.stack([np.cov(part.T, bias=True).reshape(n, n) for part in parts])
    np.testing.assert_allclose(S, C, atol=1e-13)
    np.testing.assert_array_equal(S, S.transpose(0, 2, 1))
    assert np.array(sums) == pytest.approx(np.array(spread_sums(rows.T.copy(), split, C)), rel=1e-12)


def test_a_class_with_fewer_rows_than_columns_has_no_products_yet():
    *_, S, _ = summed_up(rng.normal(size=(20, 6)), np.arange(20) < 5)
    assert not len(S)


def test_extents_and_covariances_with_a_ridge():
    low, high = extents(X)
    np.testing.assert_array_equal(low, X.min(axis=0))
    np.testing.assert_array_equal(high, X.max(axis=0))
    S = scatters(X.T.copy(), 20)
    found = regularised(S, (0.9, 0.4), (0.5, 0.0))
    np.testing.assert_allclose(found, [0.9 * S[0] + 0.5 * np.eye(6), 0.4 * S[1]], rtol=1e-14)


def test_values_of_many_rules_are_summed_up_by_class():
    values = rng.normal(size=(41, 3)) + 1e6
    middles, variances = spread_along_each(values, sign)
    for side, part in enumerate((values[sign > 0], values[sign < 0])):
        np.testing.assert_allclose(middles[side], part.mean(axis=0), rtol=1e-14)
        np.testing.assert_allclose(variances[side], part.var(axis=0), rtol=1e-9)


def test_left_out_points_in_one_call():
    _, rows, split, d, _, S, _ = summed_up(X, sign > 0)
    c0, c, shares = 0.7, (1.3, 2.1), (0.4, 0.6)
    steps = LeftOut.in_coordinates(rows, split, c0 * np.eye(6) + c[0] * S[0] + c[1] * S[1], d, c).held(shares)
    assert left_out(rows, split, S, d, c0, c, shares) == pytest.approx([held.kappa for held in steps], rel=1e-12)


def test_weights_stay_where_rounding_lets_them():
    assert within_reach((2.0, 3.0), (4.0, 5.0), 1.0) == (2.0, 3.0)
    assert within_reach((np.inf, 0.0), (4.0, 5.0), 2.0) == pytest.approx((2e8 / 4, 2e-6 / 5))
    assert within_reach((2.0, 3.0), (0.0, 0.0), 7.0) == (7.0, 7.0)


def test_what_is_safely_definite():
    """A ridge decides it where it is large beside all variances; where it is not, the pivots do."""
    assert safely_definite(np.stack([np.eye(2), np.eye(2)]), (0.0, 0.0), 1e-8)
    assert not safely_definite(np.stack([np.ones((2, 2)), np.eye(2)]), (0.0, 0.0), 1e-8)
    assert safely_definite(np.stack([np.ones((2, 2)), np.eye(2)]), (0.1, 0.1), 1e-8)  # the ridge is said to be included
    assert not safely_definite(np.stack([np.ones((2, 2)), np.eye(2)]), (0.1, 0.0), 1e-8)
    assert not safely_definite(np.full((2, 2, 2), np.nan), (0.1, 0.1), 1e-8)
