"""Gram matrices. ``gamma`` is scikit-learn's: k(x, z) = exp(-gamma ‖x - z‖²) for "rbf".

‖x - z‖² = ‖x‖² + ‖z‖² - 2 x'z is quick, but far from 0 it loses its digits. So the training set is moved to 0 for the kernels
that are ``movable``, and a model keeps from where it was. "poly" and callables are not: their values depend on where 0 is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from mmc.methods.solution import FitError

Array = NDArray[np.float64]
Kernel = str | Callable[[Array, Array], Array]
KERNELS = ("linear", "rbf", "poly", "laplacian", "sigmoid", "chi2", "cosine", "precomputed")
MOVABLE = ("linear", "rbf")
WITH_GAMMA = ("rbf", "poly", "laplacian", "sigmoid", "chi2")
UNIT = ("rbf", "laplacian")  # k(x, x) = 1
_UNSURE = ("sigmoid", "precomputed")  # not positive semi-definite as such
_TILE = 256
_ROUNDED = 1e3  # γ‖x‖² from which the quick formula of the distances is off by more than 1e-12


@dataclass(frozen=True)
class KernelSpec:
    """A kernel with its parameters: hashable, so that Gram matrices can be shared between fits."""

    kernel: Kernel
    gamma: float | None = None
    degree: int = 3
    coef0: float = 1.0

    def __post_init__(self) -> None:
        if self.kernel in WITH_GAMMA and self.gamma is None:
            raise ValueError(f"kernel {self.kernel!r} needs gamma, its width")

    @property
    def movable(self) -> bool:
        """Whether all points may be moved together: the kernel stays as it is, or only the constant of a linear rule changes."""
        return self.kernel in MOVABLE

    @property
    def unsure(self) -> bool:
        """Whether it need not be positive semi-definite: a function of the user's, too, may be anything."""
        return callable(self.kernel) or self.kernel in _UNSURE

    @property
    def _called(self) -> str:
        return "the kernel" if callable(self.kernel) else f"kernel {self.kernel!r}"

    @property
    def _width(self) -> float:
        assert self.gamma is not None  # __post_init__ has seen to it
        return self.gamma

    def __call__(self, X: Array, Z: Array) -> Array:
        """Return the matrix k(x_i, z_j)."""
        if callable(self.kernel):
            K = np.asarray(self.kernel(X, Z), dtype=np.float64)
            if K.shape != (len(X), len(Z)):
                raise ValueError(f"the kernel returned shape {K.shape}, expected {(len(X), len(Z))}")
            return K
        if self.kernel in ("laplacian", "sigmoid", "chi2", "cosine"):
            return self._pairwise(X, Z)
        if self.kernel == "precomputed":
            return X.copy()
        if X is Z and len(X) > 2 * _TILE:
            return self._symmetric(X)
        if self.kernel == "rbf":
            return self._gaussian(X, Z, X @ Z.T)
        K = X @ Z.T
        if self.kernel == "linear":
            return K
        gamma = self._width
        K *= gamma
        K += self.coef0
        powers: Array = K**self.degree
        return powers

    def of_products(self, X: Array, Z: Array, products: Array) -> Array:
        """Return the matrix of "rbf", to the last bit, from that of "linear": all widths can share it.

        ``products`` are overwritten, but not those of a set with itself (X is Z).
        """
        if X is Z:
            return self._symmetric(X, products) if len(X) > 2 * _TILE else self._gaussian(X, Z, products.copy())
        return self._gaussian(X, Z, products)

    def _gaussian(self, X: Array, Z: Array, K: Array) -> Array:
        """Turn the products x_i'z_j into kernel values, in their place."""
        gamma, same = self._width, X is Z
        xx = np.einsum("ij,ij->i", X, X)
        zz = xx if same else np.einsum("ij,ij->i", Z, Z)
        if gamma * (xx.max(initial=0.0) + zz.max(initial=0.0)) > _ROUNDED:
            K = -gamma * cdist(X, Z, "sqeuclidean")
            return np.exp(K, out=K)
        K *= 2 * gamma
        K -= gamma * xx[:, None]
        K -= gamma * zz
        np.minimum(K, 0, out=K)
        if same:
            np.fill_diagonal(K, 0.0)
        return np.exp(K, out=K)

    def lengths(self, X: Array) -> Array:
        """Return √k(x_i, x_i)."""
        if self.kernel in UNIT:
            return np.ones(len(X))
        if self.kernel == "precomputed":
            return np.sqrt(np.abs(X.diagonal()))
        if self.kernel not in ("linear", "poly"):
            parts = np.array_split(X, 1 + len(X) // 64)
            squares: Array = np.abs(np.concatenate([np.diag(self(part, part)) for part in parts]))
            return np.sqrt(squares)
        squares = np.einsum("ij,ij->i", X, X)
        if self.kernel == "poly":
            return (self._width * squares + self.coef0) ** (self.degree / 2)
        return np.sqrt(squares)

    def _pairwise(self, X: Array, Z: Array) -> Array:
        """Return the matrix by scikit-learn's function of that name."""
        from sklearn.metrics.pairwise import pairwise_kernels

        if self.kernel == "chi2" and min(X.min(), Z.min()) < 0:
            raise FitError("kernel 'chi2' is for features that are never negative; scale them to [0, 1], or take 'rbf'")
        options = {"gamma": self.gamma, "coef0": self.coef0}
        K: Array = pairwise_kernels(X, Z, metric=self.kernel, filter_params=True, **options)
        return K

    def check_finite(self, K: Array) -> None:
        """Raise FitError if a value of the kernel is not a finite number."""
        if not np.isfinite(K).all():
            raise FitError(f"{self._called} has values that are not finite on these points: scale the features")

    def check_definite(self, K: Array) -> None:
        """Raise FitError if this Gram matrix has an eigenvalue below 0: the problems are convex only without."""
        self.check_finite(K)
        size = float(np.abs(K).max())
        if np.abs(K - K.T).max() > 1e-8 * size:
            raise FitError(f"{self._called} is not symmetric on these points: k(x, z) and k(z, x) differ")
        try:
            np.linalg.cholesky(K + 1e-12 * size * np.eye(len(K)))  # a tenth of the work of all eigenvalues
        except np.linalg.LinAlgError:
            lowest, highest = np.linalg.eigvalsh(K)[[0, -1]]
            if lowest < -1e-8 * max(highest, -lowest):
                raise FitError(
                    f"{self._called} is not positive semi-definite on these points: the Gram matrix has eigenvalues from "
                    f"{lowest:.3g} to {highest:.3g}, so that the problem is not convex; take other parameters or another kernel"
                ) from None

    def _symmetric(self, X: Array, products: Array | None = None) -> Array:
        """Return the Gram matrix, computed on one side of the diagonal."""
        K = np.empty((len(X), len(X)))
        for start in range(0, len(X), _TILE):
            here = slice(start, start + _TILE)
            part, before = X[here], X[:start]
            for there, other in ((slice(start), before), (here, part)):
                if products is None:
                    K[here, there] = self(part, other)
                else:
                    K[here, there] = self._gaussian(part, other, products[here, there].copy())
            K[:start, here] = K[here, :start].T
        return K

    def gradient(self, X: Array, Z: Array, weights: Array) -> Array:
        """Return the rows Σ_j weights_j ∇ₓk(x_i, z_j): the gradient at every x_i of a kernel expansion."""
        if self.kernel not in ("linear", "rbf", "poly"):
            name = "a callable kernel" if callable(self.kernel) else f"kernel {self.kernel!r}"
            raise ValueError(f"{name} has no known gradient; take 'linear', 'rbf' or 'poly'")
        if self.kernel == "linear":
            return np.tile(weights @ Z, (len(X), 1))
        gamma = self._width
        if self.kernel == "poly":
            lower = KernelSpec("poly", gamma, self.degree - 1, self.coef0)
            return self.degree * gamma * (lower(X, Z) * weights) @ Z
        pull = self(X, Z) * weights
        rows: Array = 2 * gamma * (pull @ Z - pull.sum(axis=1)[:, None] * X)
        return rows


def width(gamma: float | str, X: Array) -> float:
    """Return gamma as a number: "scale" is 1 / (n_features · X.var()), "auto" 1 / n_features, as in scikit-learn's SVC."""
    if gamma == "auto":
        return 1.0 / int(X.shape[1])
    if gamma == "scale":
        variance = float(X.var())
        return 1.0 / (X.shape[1] * variance) if variance > 0 else 1.0
    return float(gamma)
