"""The rule of Ledoit and Wolf."""

import numpy as np
import pytest
from sklearn.covariance import ledoit_wolf as reference

from mmc.methods.numerics.shrinkage import Spread, ledoit_wolf, ledoit_wolf_pair


def centred(n, p, seed=0):
    X = np.random.default_rng(seed).standard_normal((n, p)) * np.linspace(1, 4, p)
    return (X - X.mean(axis=0)) / np.sqrt(n)


@pytest.mark.parametrize(("n", "p"), [(5, 2), (10, 8), (10, 40), (200, 3), (60, 20)])
def test_it_is_what_scikit_learn_computes(n, p):
    rows = centred(n, p)
    covariance, shrinkage = reference(rows * np.sqrt(n), assume_centered=True)
    found = ledoit_wolf(Spread.of(rows))
    assert found.shrinkage == pytest.approx(shrinkage, rel=1e-10)
    shrunk = (1 - found.shrinkage) * rows.T @ rows + found.ridge * np.eye(p)
    np.testing.assert_allclose(shrunk, covariance, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize(("n", "p"), [(10, 8), (10, 40), (60, 20)])
def test_the_gram_matrix_tells_the_same(n, p):
    rows = centred(n, p)
    G = rows @ rows.T
    gram, plain = ledoit_wolf(Spread.of_products(p, G, G.diagonal())), ledoit_wolf(Spread.of(rows))
    assert (gram.shrinkage, gram.ridge) == pytest.approx((plain.shrinkage, plain.ridge))


def test_the_trace_is_kept():
    rows = centred(12, 7)
    found = ledoit_wolf(Spread.of(rows))
    assert (1 - found.shrinkage) * np.sum(rows**2) + 7 * found.ridge == pytest.approx(np.sum(rows**2))


def test_more_points_shrink_less():
    few, many = (ledoit_wolf(Spread.of(centred(n, 6))).shrinkage for n in (20, 2000))
    assert 0 < many < few / 10 < 0.1


def test_units_do_not_matter():
    rows = centred(15, 5)
    small, large = ledoit_wolf(Spread.of(rows)), ledoit_wolf(Spread.of(1000 * rows))
    assert large.shrinkage == pytest.approx(small.shrinkage)
    assert large.ridge == pytest.approx(1e6 * small.ridge)


def test_a_single_feature_has_nothing_to_shrink_to():
    rows = centred(9, 1)
    found = ledoit_wolf(Spread.of(rows))
    assert (1 - found.shrinkage) * np.sum(rows**2) + found.ridge == pytest.approx(np.sum(rows**2))


def test_a_class_without_spread_takes_the_mean_variance_of_the_other():
    rows = centred(30, 4)
    one, other = ledoit_wolf_pair(Spread.of(np.zeros((1, 4))), Spread.of(rows))
    assert one.ridge == pytest.approx(np.sum(rows**2) / 4)
    assert other == ledoit_wolf(Spread.of(rows))
    assert [c.ridge for c in ledoit_wolf_pair(Spread.of(np.zeros((2, 4))), Spread.of(np.zeros((3, 4))))] == [0, 0]


def test_two_places_are_shrunk_to_a_multiple_of_the_identity():
    """However often each occurs, they have b = 0: the formula would leave a singular S as it is."""
    for times in (1, 4):
        Z = np.repeat([[1.0, 3.0], [3.0, 3.5]], times, axis=0)
        found = ledoit_wolf(Spread.of((Z - Z.mean(axis=0)) / np.sqrt(len(Z))))
        assert found.shrinkage == 1.0
        assert found.ridge == pytest.approx(Z.var(axis=0).sum() / 2)
