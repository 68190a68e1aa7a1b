"""Left-out moments: the closed form is what leaving out each point gives."""

import numpy as np
import pytest
from scipy.stats import norm

from mmc.methods.numerics.cholesky import Shifted
from mmc.methods.numerics.left_out import Held, LeftOut

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
        found = LeftOut.in_coordinates(
            np.vstack([P, N]), len(P), C0 * np.eye(5) + C[0] * P.T @ P + C[1] * N.T @ N, d, C
        )
    else:
        B = np.vstack([P, N])
        found = LeftOut.of_gram(Shifted(B @ B.T), B @ d, d @ d, np.arange(len(B)) < len(P), C0, C)
    expected = one_by_one(X, Y, *C, SHARES[0]), one_by_one(Y, X, *C[::-1], SHARES[1])
    assert [held.bound for held in found.held(SHARES)] == pytest.approx(expected, rel=1e-9)
    assert [held.n for held in found.held(SHARES)] == [len(X), len(Y)]


def test_one_point_cannot_be_left_out():
    X, Y = sample()
    P, N = rows(X[:1]), rows(Y)
    found = LeftOut.in_coordinates(np.vstack([P, N]), len(P), np.eye(5) + N.T @ N, X[0] - Y.mean(axis=0), (1.0, 1.0))
    one, others = found.held(SHARES)
    assert np.isnan(one.bound)
    assert not one.refuted_below >= 0
    assert 0 < others.bound <= 1


def test_a_gaussian_class_refutes_no_bound_that_holds_for_it():
    """The error itself is refuted by one sample in forty at most; a bound by Chebyshev, which is larger, by none."""
    rng = np.random.default_rng(0)
    for n, kappa in ((15, 0.5), (15, 2.0), (100, 1.0)):
        drawn = kappa + rng.normal(size=(20_000, n))
        held = [Held(k, n) for k in drawn.mean(axis=1) / drawn.std(axis=1, ddof=1)]
        wrong = np.mean([one.refuted_below > norm.sf(kappa) for one in held])
        assert wrong < 0.03
        assert wrong > 0.01 or kappa < 1
        assert not any(one.refuted_below > 1 / (1 + kappa**2) for one in held)
        assert all(one.refuted_below < min(one.bound, 0.5) for one in held)


def test_what_is_refuted_grows_with_the_sample():
    below = [Held(1.0, n).refuted_below for n in (5, 50, 500, 10**9)]
    assert np.all(np.diff(below) > 0)
    assert below[-1] == pytest.approx(norm.sf(1.0), rel=1e-3)
    assert Held(np.inf, 9).refuted_below == 0
    assert Held(-3.0, 9).refuted_below == Held(0.0, 9).refuted_below == pytest.approx(norm.sf(1.96 / 3))
