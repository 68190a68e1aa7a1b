"""Kernels have the values that they should have, and the gradients of these values."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from scipy.spatial.distance import cdist

from mmc.methods.numerics.kernels import KernelSpec

KERNELS = [
    KernelSpec("linear"),
    KernelSpec("rbf", 0.3),
    KernelSpec("poly", 0.7, 1, 0.0),
    KernelSpec("poly", 0.7, 2, 1.0),
    KernelSpec("poly", 0.4, 5, 0.5),
]


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_gradient_is_the_slope_of_the_expansion(kernel):
    rng = np.random.default_rng(0)
    X, Z, weights = rng.normal(size=(6, 4)), rng.normal(size=(9, 4)), rng.normal(size=9)
    slopes = [approx_fprime(x, lambda x: kernel(x[None], Z)[0] @ weights, 1e-7) for x in X]
    np.testing.assert_allclose(kernel.gradient(X, Z, weights), slopes, rtol=1e-4, atol=1e-5)


def test_gradient_of_the_quadratic_kernel_is_that_of_its_feature_space():
    """(1 + x'z)² = ⟨φ(x), φ(z)⟩ with φ(x) = (1, √2 x, x_a x_b for all a, b): f(x) = w0 + √2 w1'x + x'Wx."""
    rng = np.random.default_rng(1)
    X, Z, weights = rng.normal(size=(6, 3)), rng.normal(size=(9, 3)), rng.normal(size=9)
    linear, quadratic = weights @ Z, np.einsum("j,ja,jb->ab", weights, Z, Z)
    expected = 2 * linear + 2 * X @ quadratic
    np.testing.assert_allclose(KernelSpec("poly", 1.0, 2, 1.0).gradient(X, Z, weights), expected)


def test_a_callable_kernel_has_no_gradient():
    with pytest.raises(ValueError, match="callable kernel has no known gradient"):
        KernelSpec(lambda X, Z: X @ Z.T).gradient(np.eye(2), np.eye(2), np.ones(2))


def plain(kernel, X, Z):
    if kernel.kernel == "rbf":
        return np.exp(-kernel.gamma * cdist(X, Z, "sqeuclidean"))
    inner = np.sum(X[:, None] * Z, axis=2)
    return inner if kernel.kernel == "linear" else (kernel.gamma * inner + kernel.coef0) ** kernel.degree


@pytest.mark.parametrize("n", [3, 512, 513, 768, 769])
@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_a_matrix_made_in_tiles_is_the_kernel_and_symmetric(kernel, n):
    X = np.random.default_rng(n).normal(size=(n, 3))
    K = kernel(X, X)
    np.testing.assert_allclose(K, plain(kernel, X, X), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(K, K.T, rtol=1e-14)
    if kernel.kernel == "rbf":
        assert np.all(np.diag(K) == 1)
    np.testing.assert_allclose(kernel(X[:50], X[20:]), plain(kernel, X[:50], X[20:]), rtol=1e-9, atol=1e-9)


def test_a_callable_kernel_is_asked_once_for_many_points_and_must_return_their_matrix():
    shapes = []

    def product(X, Z):
        shapes.append((len(X), len(Z)))
        return X @ Z.T

    X = np.random.default_rng(0).normal(size=(600, 2))
    np.testing.assert_array_equal(KernelSpec(product)(X, X), X @ X.T)
    assert shapes == [(600, 600)]
    with pytest.raises(ValueError, match=r"returned shape \(600,\), expected \(600, 600\)"):
        KernelSpec(lambda X, Z: X[:, 0])(X, X)


def test_narrow_gaussians_are_exact():
    """Costs of 1e9 multiply what the distances lose; a point's distance from itself is 0, also between two arrays."""
    X = np.random.default_rng(0).normal(size=(30, 5))
    kernel = KernelSpec("rbf", 1000.0)
    np.testing.assert_allclose(np.diag(kernel(X, X.copy())), 1.0, rtol=0, atol=1e-13)
    near = X + 1e-3
    exact = np.exp(-1000.0 * ((X[:, None] - near) ** 2).sum(axis=2))
    np.testing.assert_allclose(kernel(X, near), exact, rtol=1e-12, atol=1e-300)


@pytest.mark.parametrize("n", [1, 200, 513, 900])
@pytest.mark.parametrize("gamma", [1e-3, 0.3, 1e4])
def test_a_gaussian_from_products_is_the_same_to_the_last_bit(n, gamma):
    rng = np.random.default_rng(2)
    X, Z, spec, linear = (
        rng.normal(size=(n, 7)),
        rng.normal(size=(40, 7)),
        KernelSpec("rbf", gamma),
        KernelSpec("linear"),
    )
    for points, others in ((X, X), (Z, X), (X, Z)):
        products = linear(points, others)
        before = products.copy()
        np.testing.assert_array_equal(spec.of_products(points, others, products), spec(points, others))
        if points is others:
            np.testing.assert_array_equal(products, before)  # the next width needs them
