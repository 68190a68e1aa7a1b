"""Left-out moments: the closed form is what leaving out each point gives."""

import numpy as np
import pytest

from mmc.methods.numerics.left_out import LeftOut

C0, C, SHARES = 0.7, (1.3, 2.1), (0.4, 0.6)


def sample():
    rng = np.random.default_rng(0)
    return rng.normal(size=(14, 5)) + 1, rng.normal(size=(11, 5))


def rows(Z):
    return (Z - Z.mean(axis=0)) / np.sqrt(len(Z))


def one_by_one(A, B, a, b, share):
    """The bound for class A from rules that were made without the point they judge; the weights of the scatters are held."""
    values = []
    for k in range(len(A)):
        rest = np.delete(A, k, axis=0)
        d = rest.mean(axis=0) - B.mean(axis=0)
        scatter = a * len(rest) / len(A) * rows(rest).T @ rows(rest) + b * rows(B).T @ rows(B)
        w = np.linalg.solve(C0 * np.eye(len(d)) + scatter, d)
        threshold = B.mean(axis=0) + (1 - share) * d
        values.append(w @ (A[k] - threshold) / (w @ d))
    mean, variance = np.mean(values), np.var(values, ddof=1)
    return variance / (variance + mean**2)


@pytest.mark.parametrize("language", ["coordinates", "inner products"])
def test_the_closed_form_is_what_leaving_out_each_point_gives(language):
    X, Y = sample()
    P, N, d = rows(X), rows(Y), X.mean(axis=0) - Y.mean(axis=0)
    if language == "coordinates":
        found = LeftOut.in_coordinates((P, N), C0 * np.eye(5) + C[0] * P.T @ P + C[1] * N.T @ N, d, C)
    else:
        B = np.vstack([P, N])
        found = LeftOut.of_gram(B @ B.T, B @ d, d @ d, np.arange(len(B)) < len(P), C0, C)
    expected = one_by_one(X, Y, *C, SHARES[0]), one_by_one(Y, X, *C[::-1], SHARES[1])
    assert found.bounds(SHARES) == pytest.approx(expected, rel=1e-9)


def test_one_point_cannot_be_left_out():
    X, Y = sample()
    P, N = rows(X[:1]), rows(Y)
    found = LeftOut.in_coordinates((P, N), np.eye(5) + N.T @ N, X[0] - Y.mean(axis=0), (1.0, 1.0))
    assert np.isnan(found.bounds(SHARES)[0])
    assert 0 < found.bounds(SHARES)[1] <= 1
