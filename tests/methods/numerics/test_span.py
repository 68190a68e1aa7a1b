"""Vectors that only inner products know: orthonormal, none twice, and the first is d."""

import numpy as np
import pytest

from mmc.methods.numerics.span import Span, solutions


def spanned(rng, m=30, n=12):
    """Return B, d, the member columns and a span that starts with d."""
    B, d, member = rng.normal(size=(n, m)), rng.normal(size=n), np.repeat(np.eye(2), [m // 3, m - m // 3], axis=0)
    return B, d, member, Span(B.T @ d, float(d @ d), member, 1e-14)


def add(span, B, d, V):
    """Add vectors (α, c), one in each row."""
    span.extend(V.copy(), (V[:, :1] * d + V[:, 1:] @ B.T) @ B)


@pytest.mark.parametrize("count", [1, 5, 200])
def test_the_vectors_are_orthonormal_and_their_products_are_those_of_the_space(count):
    rng = np.random.default_rng(count)
    B, d, member, span = spanned(rng, m=90, n=80)
    for _ in range(4):
        add(span, B, d, rng.normal(size=(1 + count // 20, 91)))
    vectors = span.vectors[:, :1] * d + span.vectors[:, 1:] @ B.T
    np.testing.assert_allclose(vectors @ vectors.T, np.eye(len(vectors)), atol=1e-10)
    np.testing.assert_allclose(vectors[0], d / np.linalg.norm(d), atol=1e-12)
    np.testing.assert_allclose(span.along, vectors @ d, atol=1e-10)
    for side, ridge, S in zip(member.T, (0.5, 2.0), span.covariances((0.5, 2.0)), strict=True):
        pulled = (vectors @ B) * side
        np.testing.assert_allclose(S, pulled @ pulled.T + ridge * np.eye(len(vectors)), atol=1e-9)


def test_what_the_span_holds_already_adds_nothing():
    rng = np.random.default_rng(0)
    B, d, _, span = spanned(rng)
    add(span, B, d, rng.normal(size=(40, 31)))
    assert len(span.vectors) == 12  # as many as feature space has dimensions
    add(span, B, d, np.zeros((2, 31)))
    assert len(span.vectors) == 12


def test_old_vectors_make_room_and_d_stays():
    rng = np.random.default_rng(1)
    B, d, member, span = spanned(rng, m=120, n=100)
    for _ in range(12):
        add(span, B, d, rng.normal(size=(7, 121)))
    vectors = span.vectors[:, :1] * d + span.vectors[:, 1:] @ B.T
    assert len(vectors) == 64
    np.testing.assert_allclose(vectors @ vectors.T, np.eye(64), atol=1e-9)
    np.testing.assert_allclose(vectors[0], d / np.linalg.norm(d), atol=1e-12)
    pulled = (vectors @ B) * member[:, 0]
    np.testing.assert_allclose(span.covariances((0.0, 0.0))[0], pulled @ pulled.T, atol=1e-8)


def test_the_products_with_both_covariances_are_in_the_span():
    rng = np.random.default_rng(2)
    B, d, member, span = spanned(rng, m=45, n=40)
    span.extend_by_products(B.T @ B, 3)
    assert len(span.vectors) == 15
    vectors = span.vectors[:, :1] * d + span.vectors[:, 1:] @ B.T
    np.testing.assert_allclose(vectors @ vectors.T, np.eye(15), atol=1e-10)
    first, second = (B * side @ B.T for side in member.T)
    for product in (d, first @ d, second @ d, second @ first @ d, second @ first @ second @ d):
        np.testing.assert_allclose(vectors.T @ (vectors @ product), product, atol=1e-8 * np.linalg.norm(product))
    np.testing.assert_allclose(span.covariances((0.0, 0.0))[0], vectors @ first @ vectors.T, atol=1e-8)


def test_solutions_and_their_derivatives():
    """Central differences of (diag(τ) + G) x = g in both multipliers."""
    rng = np.random.default_rng(3)
    B, d, member, _ = spanned(rng, m=30, n=40)
    G, g, tau, step = B.T @ B, B.T @ d, np.array([3.0, 5.0]), 1e-4

    def x(tau):
        return np.linalg.solve(G + np.diag(member @ tau), g)

    found, right = solutions(np.linalg.cholesky(G + np.diag(member @ tau)), g, np.ascontiguousarray(member.T))
    np.testing.assert_allclose(right, found @ (G + np.diag(member @ tau)), atol=1e-9)
    np.testing.assert_allclose(found[0], x(tau))
    e = step * np.eye(2)
    for i in range(2):
        np.testing.assert_allclose(-found[1 + i], (x(tau + e[i]) - x(tau - e[i])) / (2 * step), atol=1e-8)
        twice = (x(tau + e[i]) - 2 * x(tau) + x(tau - e[i])) / step**2
        np.testing.assert_allclose(2 * found[3 + 3 * i], twice, atol=1e-5)
    mixed = (x(tau + e[0] + e[1]) - x(tau + e[0] - e[1]) - x(tau - e[0] + e[1]) + x(tau - e[0] - e[1])) / (4 * step**2)
    np.testing.assert_allclose(found[4] + found[5], mixed, atol=1e-5)
