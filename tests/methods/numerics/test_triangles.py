"""Cholesky factors, inverses and products in tiles: right for every number of rows that is left beside the tiles."""

import numpy as np
import pytest

from mmc.methods.numerics.gram_passes import times_symmetric
from mmc.methods.numerics.triangles import LARGE, inverse_squares, lower, solve_each

SIZES = [*range(1, 14), 66, 203, LARGE + 1]


def definite(n, seed=0):
    X = np.random.default_rng(seed).normal(size=(n, n))
    return X @ X.T + np.eye(n)


@pytest.mark.parametrize("n", SIZES)
def test_the_factor_gives_the_matrix_its_solutions_and_the_diagonal_of_its_inverse(n):
    A, b = definite(n), np.random.default_rng(1).normal(size=(3, n))
    L, x = A.copy(), b.copy()
    assert lower(L)
    np.testing.assert_allclose(np.tril(L) @ np.tril(L).T, A, atol=1e-10 * n)
    solve_each(L, x)
    np.testing.assert_allclose(x @ A, b, atol=1e-8)
    np.testing.assert_allclose(inverse_squares(L), np.linalg.inv(A).diagonal(), rtol=1e-8)


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("what", [-1e-3, np.nan])
def test_what_is_not_definite_has_no_factor_wherever_that_shows(n, what):
    for place in {0, n // 2, n - 1}:
        A = np.eye(n)
        A[place, place] = what
        assert not lower(A)
        A = definite(n)
        A[place, : place + 1] = A[: place + 1, place] = np.nan
        assert not lower(A)


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("count", [1, 2, 4, 7])
def test_a_few_rows_times_a_symmetric_matrix(n, count):
    A, C = definite(n), np.random.default_rng(2).normal(size=(count, n))
    before = C.copy()
    np.testing.assert_allclose(times_symmetric(C, A), C @ A, atol=1e-10 * n)
    np.testing.assert_array_equal(C, before)
