"""The moments are numpy's, whatever the order of the rows."""

import tracemalloc

import numpy as np
import pytest

from mmc.methods.numerics.moments import Moments
from mmc.methods.numerics.pair_moments import _FEW, PairMoments


@pytest.mark.parametrize("n", [30, 1 + _FEW // 4])
def test_the_moments_are_those_of_numpy(n):
    rng = np.random.default_rng(0)
    X, positive = rng.normal(size=(n, 4)) + 100, rng.random(n) < 0.4
    before = X.copy()
    m = PairMoments.of(X, positive)
    np.testing.assert_array_equal(X, before)
    for mean, cov, part in ((m.mean_pos, m.cov_pos, X[positive]), (m.mean_neg, m.cov_neg, X[~positive])):
        np.testing.assert_allclose(mean, part.mean(axis=0))
        np.testing.assert_allclose(cov, np.cov(part.T, bias=True), atol=1e-12)
    np.testing.assert_array_equal(m.member.sum(axis=0), [positive.sum(), (~positive).sum()])
    assert m.split == positive.sum()
    for spread, part in zip(m.spreads, (X[positive], X[~positive]), strict=True):
        part = part - part.mean(axis=0)
        S, squares = np.cov(part.T, bias=True), (part**2).sum(axis=1)
        assert spread == pytest.approx((len(part), 4, np.trace(S), (S * S).sum(), (squares**2).sum()))


def test_many_rows_are_copied_once():
    rng = np.random.default_rng(0)
    X, positive = rng.normal(size=(80_000, 20)), rng.random(80_000) < 0.4
    PairMoments.of(X[:100], positive[:100])
    tracemalloc.start()
    m = PairMoments.of(X, positive)
    assert m.spreads[0].p == len(m.plain_covariances[0]) == 20
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1.6 * X.nbytes  # one copy, and a class of it at a time


@pytest.mark.parametrize("swapped", [False, True])
def test_given_moments_know_the_difference_of_the_means_beyond_the_digits_of_the_means(swapped):
    """Means of about 1e8 hold eight digits after the point; the difference that is exact needs more."""
    rng = np.random.default_rng(0)
    near, positive = np.round(rng.normal(size=(30, 4)) * 2**20) / 2**20, rng.random(30) < 0.4
    exact = near[positive].mean(axis=0) - near[~positive].mean(axis=0)
    pos, neg = (Moments.of(near[at] + 2.0**27) for at in (positive, ~positive))
    found = PairMoments.given_as(neg, pos).difference if swapped else PairMoments.given_as(pos, neg).difference
    np.testing.assert_allclose(found, -exact if swapped else exact, rtol=0, atol=1e-13)
    assert np.abs((pos.mean - neg.mean) - exact).max() > 1e-10
