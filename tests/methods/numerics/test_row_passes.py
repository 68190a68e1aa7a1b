"""Compiled passes over rows find what numpy finds in several steps."""

import numpy as np
import pytest

from mmc.methods.numerics.row_passes import mixed, seen_along, spread_sums, traces

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
