"""The matrices G of the ratio programs: held in memory, or made of a kernel's rows on demand."""

from __future__ import annotations

from math import inf

import numpy as np
from sklearn.svm import SVC

from mmc.methods.numerics.gram import Index, LazyGram
from mmc.methods.numerics.kernels import Array
from mmc.methods.numerics.libsvm_kernel import libsvm_kernel
from mmc.methods.problems.ratio import RatioLP


class Dense:
    """A matrix that is held in memory."""

    def __init__(self, G: Array):
        self.G = G
        self.shape = G.shape[0], G.shape[1]

    def block(self, rows: Index, columns: Index) -> Array:
        return self.G[np.ix_(rows, columns)]

    def whole(self) -> Array:
        return self.G

    def times(self, v: Array) -> Array:
        return self.G @ v

    def pull(self, dual: Array) -> Array:
        return dual @ self.G

    def rounding(self, dual: Array) -> Array:
        return _noise(len(dual)) * (dual @ np.abs(self.G))

    def machine(self, svc: SVC, sign: Array) -> tuple[Array, float]:
        svc.set_params(kernel="linear").fit(sign[:, None] * self.G, sign)
        return svc.coef_[0], float(svc.intercept_[0])

    def limit(self, memory: float) -> None:
        pass


class _OfKernel:
    """What both forms of G = zz'∘(K - 1m')/s share: how large its entries can be, and an SVM on the same kernel."""

    def __init__(self, K: Array | LazyGram, z: Array, middle: Array, size: Array):
        self.K, self.z, self.middle, self.size = K, z, middle, size
        self.shape = len(z), len(z)
        self.length = np.sqrt(np.abs(K.diagonal()))

    def rounding(self, dual: Array) -> Array:
        """By |k(x, y)|² ≤ k(x, x) k(y, y)."""
        largest: Array = self.length * (dual @ self.length) + np.abs(self.middle) * dual.sum()
        return _noise(len(dual)) * largest / self.size

    def machine(self, svc: SVC, sign: Array) -> tuple[Array, float]:
        kernel, points = libsvm_kernel(self.K)
        svc.set_params(**kernel, C=svc.C / float(np.median(self.size))).fit(points, sign)
        alpha = np.zeros(len(sign))
        alpha[svc.support_] = np.abs(svc.dual_coef_[0])
        return self.size * alpha, float(svc.intercept_[0] + (sign * alpha) @ self.middle)


class CentredGram(_OfKernel, Dense):
    """G as a whole: centred before anything is multiplied, which keeps the digits of large kernels."""

    def __init__(self, K: Array, z: Array, middle: Array, size: Array):
        _OfKernel.__init__(self, K, z, middle, size)
        G = K - middle
        G *= z[:, None]
        G *= z / size
        Dense.__init__(self, G)


class SignedGram(_OfKernel):
    """G by products with K, from which the middle is taken away: it is never made, but for the blocks of a solver."""

    def whole(self) -> Array:
        everyone = np.arange(len(self.z))
        return self.block(everyone, everyone)

    def block(self, rows: Index, columns: Index) -> Array:
        G = self.K[np.ix_(rows, columns)] - self.middle[columns]
        G *= self.z[rows, None]
        G *= self.z[columns] / self.size[columns]
        return G

    def times(self, v: Array) -> Array:
        signed = self.z * v / self.size
        return self.z * (_product(self.K, signed) - signed @ self.middle)

    def pull(self, dual: Array) -> Array:
        signed = self.z * dual
        return self.z * (_product(self.K, signed) - float(signed.sum()) * self.middle) / self.size

    def limit(self, memory: float) -> None:
        if isinstance(self.K, LazyGram):
            self.K.limit(memory)


def dense_program(G: Array, sign: Array, weight: Array, C: float, nonnegative: bool) -> RatioLP:
    """Return the program of a matrix that is held in memory."""
    matrix = Dense(G)
    positive, negative = (matrix.pull(np.where(side, weight, 0.0)) for side in (sign > 0, sign < 0))
    return RatioLP(matrix, sign, weight, (positive, negative), C, nonnegative)


def kernel_program(K: Array | LazyGram, sign: Array, weight: Array, middle: Array, size: Array, whole: bool) -> RatioLP:
    """Return the hard-margin program of G = zz'∘(K - 1m')/s, m ``middle`` and s ``size``; ``whole``: hold G in memory."""
    sides = np.column_stack([weight * (sign > 0), weight * (sign < 0)])
    matrix: CentredGram | SignedGram
    if isinstance(K, LazyGram) or not whole:
        matrix = SignedGram(K, sign, middle, size)
        products = (K @ sides).T if isinstance(K, LazyGram) else np.array([K @ side for side in sides.T.copy()])
        costs = sign * (products - middle) / size * [[1.0], [-1.0]]
    else:
        matrix = CentredGram(K, sign, middle, size)
        costs = np.array([matrix.pull(side) for side in sides.T])
    return RatioLP(matrix, sign, weight, (costs[0], costs[1]), inf, True)


def _product(K: Array | LazyGram, a: Array) -> Array:
    """Return K a; K is symmetric, so that an a with few numbers needs few of its rows."""
    some = np.flatnonzero(a)
    if isinstance(K, LazyGram) or 4 * len(some) > len(a):
        return K @ a
    few: Array = a[some] @ K[some]
    return few


def _noise(n: int) -> float:
    """Return the relative error of a sum of n products: rounding errors add up like a random walk."""
    return 2 * float(np.sqrt(n) * np.finfo(float).eps)
