"""The moments are numpy's, whatever the order of the rows."""

import numpy as np

from mmc.methods.numerics.pair_moments import PairMoments


def test_the_moments_are_those_of_numpy():
    rng = np.random.default_rng(0)
    X, positive = rng.normal(size=(30, 4)) + 100, rng.random(30) < 0.4
    before = X.copy()
    m = PairMoments.of(X, positive)
    np.testing.assert_array_equal(X, before)
    for mean, cov, part in ((m.mean_pos, m.cov_pos, X[positive]), (m.mean_neg, m.cov_neg, X[~positive])):
        np.testing.assert_allclose(mean, part.mean(axis=0))
        np.testing.assert_allclose(cov, np.cov(part.T, bias=True), atol=1e-12)
    np.testing.assert_array_equal(m.member.sum(axis=0), [positive.sum(), (~positive).sum()])
    assert m.split == positive.sum()
