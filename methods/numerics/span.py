"""A few vectors of a feature space that only inner products know, made orthonormal; compiled.

A vector αd + Bc is known by (α, c) and by B'v: with g = B'd and d'd that is enough for every inner product. The vectors are rows.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from mmc.methods.numerics.compiled import compiled_safely
from mmc.methods.numerics.gram_passes import times_symmetric
from mmc.methods.numerics.kernels import Array
from mmc.methods.numerics.triangles import dot, solve_each

_LIMIT = 64  # vectors
_NONE = 1e-16  # of the square of a vector: what is left of one that the others span
_ROUNDED = 100.0  # times the rounding error of its square that a vector must have left


class Span:
    """Orthonormal vectors: ``vectors`` are their (α, c), ``along`` is d'v, ``inside`` the two matrices v'Σ_i w, without ridges."""

    def __init__(self, g: Array, dd: float, member: Array, rounding: float):
        """Start with d. ``rounding`` is the rounding error of the square of Bc for a c of length 1."""
        self._given = g, dd, np.ascontiguousarray(member.T), rounding
        self._V, self._H = np.empty((_LIMIT, len(g) + 1)), np.empty((_LIMIT, len(g)))
        self._along, self._S, self._count = np.empty(_LIMIT), np.empty((2, _LIMIT, _LIMIT)), 0
        self.extend(np.eye(1, len(g) + 1), g[None].copy())

    def extend(self, V: Array, H: Array) -> None:
        """Add the rows of V, with their B'v in H, as far as the span does not hold them already; both are overwritten.

        Old vectors make room, but not d.
        """
        gone, count = self._count + len(V) - _LIMIT, self._count
        if gone > 0:
            for rows in (self._V, self._H, self._along):
                rows[1 : count - gone] = rows[1 + gone : count].copy()
            old = np.r_[0, 1 + gone : count]
            self._S[:, : len(old), : len(old)] = self._S[:, old[:, None], old]
            self._count = len(old)
        self._count = _extend(self._V, self._H, self._along, self._S, self._count, V, H, *self._given)

    def extend_by_products(self, G: Array, rounds: int) -> None:
        """Add the vectors Σ_i d of both classes, then the Σ_i of these, and so on; a new span has room for four rounds."""
        self._count = _products(self._V, self._H, self._along, self._S, self._count, G, rounds, *self._given)

    @property
    def vectors(self) -> Array:
        """The (α, c), one row each."""
        return self._V[: self._count]

    @property
    def along(self) -> Array:
        """The d'v."""
        return self._along[: self._count]

    def covariances(self, ridge: tuple[float, float]) -> Array:
        """Return the covariances, ridges included, in the span."""
        k = self._count
        S = self._S[:, :k, :k].copy()
        S.reshape(2, -1)[:, :: k + 1] += np.array(ridge)[:, None]
        return S


@compiled_safely
def _parts(C: Array, member: Array) -> Array:
    """Split every row into its parts in the two classes."""
    parts = np.empty((2 * len(C), C.shape[1]))
    for row in range(len(C)):
        for side in range(2):
            for i in range(C.shape[1]):
                parts[2 * row + side, i] = C[row, i] * member[side, i]
    return parts


@compiled_safely
def solutions(L: Array, g: Array, member: Array) -> tuple[Array, Array]:
    """Return x, ∂x/∂τ_i and ∂²x/∂τ_i∂τ_j up to their signs and factors, and LL' times these, as rows; LL'x = g.

    They solve the same equations for the parts of what came before. ``member`` has a row for each class.
    """
    right, found = np.empty((7, len(g))), np.empty((7, len(g)))
    new, start = g.copy().reshape((1, len(g))), 0
    for _ in range(3):
        stop = start + len(new)
        for i in range(start, stop):
            for j in range(len(g)):
                found[i, j] = right[i, j] = new[i - start, j]
        solve_each(L, found[start:stop])
        new, start = _parts(found[start:stop], member), stop
    return found, right


@compiled_safely
def _products(
    V: Array,
    H: Array,
    along: Array,
    S: Array,
    count: int,
    G: Array,
    rounds: int,
    g: Array,
    dd: float,
    member: Array,
    rounding: float,
) -> int:
    """Add Bc for the parts c of B'd, then for those of the B'Bc; return how many vectors there are now."""
    new_H = g.copy().reshape((1, len(g)))
    for _ in range(rounds):
        C = _parts(new_H, member)
        new_H = times_symmetric(C, G)
        new_V = np.zeros((len(C), len(g) + 1))
        for i in range(len(C)):
            for j in range(len(g)):
                new_V[i, 1 + j] = C[i, j]
        count = _extend(V, H, along, S, count, new_V, new_H.copy(), g, dd, member, rounding)
    return count


@compiled_safely
def _extend(
    V: Array,
    H: Array,
    along: Array,
    S: Array,
    count: int,
    new_V: Array,
    new_H: Array,
    g: Array,
    dd: float,
    member: Array,
    rounding: float,
) -> int:
    """Add vectors to the first ``count`` by Gram and Schmidt's method; return how many there are now."""
    part = np.empty(len(g))
    for row in range(len(new_V)):
        v, h = new_V[row], new_H[row]
        ahead = v[0] * dd + dot(v[1:], g)
        size, left = v[0] * ahead + dot(v[1:], h), 0.0
        for least in (_NONE, 0.5):  # a second time, because the first leaves rounding errors
            for j in range(count):
                share = V[j, 0] * ahead + dot(V[j, 1:], h)
                ahead -= share * along[j]
                v[0] -= share * V[j, 0]
                for i in range(len(g)):
                    v[1 + i] -= share * V[j, 1 + i]
                    h[i] -= share * H[j, i]
            ahead = v[0] * dd + dot(v[1:], g)
            left = v[0] * ahead + dot(v[1:], h)
            if not left > max(least * size, _ROUNDED * rounding * dot(v[1:], v[1:])):
                left = 0.0
                break
            size = left
        if not left > 0:
            continue
        scale = 1 / sqrt(left)
        V[count, 0], along[count] = scale * v[0], scale * ahead
        for i in range(len(g)):
            V[count, 1 + i], H[count, i] = scale * v[1 + i], scale * h[i]
        for side in range(2):
            for i in range(len(g)):
                part[i] = member[side, i] * H[count, i]
            for j in range(count + 1):
                S[side, count, j] = S[side, j, count] = dot(part, H[j])
        count += 1
    return count
