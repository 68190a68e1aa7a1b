"""Vectors that only inner products know: orthonormal, none twice, and the first is d."""

import numpy as np
import pytest

from mmc.methods.numerics.span import Span


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
