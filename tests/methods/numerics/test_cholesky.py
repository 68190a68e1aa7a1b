"""Cholesky with pivots returns coordinates of the points behind a Gram matrix."""

import numpy as np
import pytest

from mmc.methods.numerics.cholesky import Shifted, dimensions, factored, inverse_diagonal, pivoted_cholesky
from mmc.methods.numerics.kernels import KernelSpec


@pytest.mark.parametrize("tol", [None, 1e-8])
@pytest.mark.parametrize("rank", [1, 4, 9])
def test_the_factor_has_the_rank_and_the_inner_products_of_the_points(rank, tol):
    X = np.random.default_rng(rank).normal(size=(30, rank))
    K = X @ X.T
    factor = pivoted_cholesky(K, tol)
    assert factor.rank == rank == factor.rows.shape[1]
    np.testing.assert_allclose(factor.rows @ factor.rows.T, K, atol=1e-7)
    assert len(set(factor.pivots)) == rank
    np.testing.assert_array_equal(factor.triangle, np.tril(factor.triangle))


def test_the_tolerance_is_relative_to_the_largest_diagonal_entry():
    sizes = np.array([1.0, 1e-3, 1e-6, 1e-9])
    for scale in (1e-20, 1.0, 1e20):
        K = np.diag(scale * sizes)
        assert pivoted_cholesky(K, 1e-7).rank == 3
        assert pivoted_cholesky(K, 1e-2).rank == 1
        residual = K - pivoted_cholesky(K, 1e-4).rows @ pivoted_cholesky(K, 1e-4).rows.T
        assert 0 < residual.max() <= 1e-4 * K.max()


def test_a_matrix_of_zeros_has_rank_zero():
    factor = pivoted_cholesky(np.zeros((3, 3)), 1e-8)
    assert factor.rank == 0
    assert factor.rows.shape == (3, 0)


def test_the_matrix_is_left_alone():
    K = np.eye(3) + 1.0
    pivoted_cholesky(K)
    np.testing.assert_array_equal(K, np.eye(3) + 1.0)


@pytest.mark.parametrize("gamma", [1e-3, 0.1, 10.0])
@pytest.mark.parametrize("copies", [1, 3])
def test_dimensions_are_those_of_the_factor(gamma, copies):
    X = np.repeat(np.random.default_rng(0).normal(size=(40, 3)), copies, axis=0)
    K = KernelSpec("rbf", gamma)(X, X)
    assert dimensions(K) == pivoted_cholesky(K).dimensions <= 40


@pytest.mark.parametrize("n", [1, 5, 64, 65, 202, 523])
def test_the_diagonal_of_an_inverse(n):
    X = np.random.default_rng(n).normal(size=(n, n))
    A, added = X @ X.T, np.linspace(1.0, 2.0, n)
    factored(np.ones((n, n)), 3.0)  # leaves something where the next factor goes
    L, made = factored(A, added)
    assert made
    np.testing.assert_allclose(square(L), A + np.diag(added), atol=1e-10 * n)
    np.testing.assert_allclose(inverse_diagonal(L), np.linalg.inv(A + np.diag(added)).diagonal(), rtol=1e-8)
    assert not factored(A, -1e6)[1]


def square(L):
    L = np.tril(L[:, : len(L)])
    return L @ L.T


def test_the_last_factor_is_found_again_while_it_is_there_and_for_its_own_diagonal_only():
    X = np.random.default_rng(0).normal(size=(40, 40))
    gram, added = Shifted(X @ X.T), np.linspace(1.0, 2.0, 40)
    first, _ = gram.factored(added)
    assert gram.factored(added * (1 + 1e-12))[0] is first
    for other in (added * (1 + 1e-6), added + np.eye(40)[3], np.roll(added, 1)):
        gram.factored(added)
        found, made = gram.factored(other)
        assert made
        np.testing.assert_allclose(square(found), gram.A + np.diag(other), atol=1e-10)
    factored(np.eye(7), 1.0)  # takes the same place
    found, _ = gram.factored(other)
    np.testing.assert_allclose(square(found), gram.A + np.diag(other), atol=1e-10)
    np.testing.assert_allclose(gram.inverse_diagonal(other), np.linalg.inv(gram.A + np.diag(other)).diagonal())
    assert np.isnan(gram.inverse_diagonal(-1e6 * added)).all()
