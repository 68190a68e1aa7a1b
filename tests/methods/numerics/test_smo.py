"""Sequential minimal optimisation against its own optimality conditions."""

import numpy as np
import pytest

from mmc.methods.numerics import smo


def problem(seed, n=60):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(n, n))
    below, high = rng.uniform(0.5, 2.0, n), rng.uniform(0.0, 1.0, n)
    return A @ A.T / n, below - rng.uniform(0.0, 3.0, n), below, -rng.uniform(0.0, 1.0, n), high


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("seed", range(5))
def test_no_pair_gains_at_the_end(seed, dtype):
    K, above, below, low, high = problem(seed)
    beta = np.zeros(len(K))
    steps = smo.descend(K.astype(dtype), above, below, low, high, beta, K @ beta, 1e-5, 100_000)
    assert 0 < steps < 100_000
    assert abs(beta.sum()) < 1e-12
    assert np.all((low <= beta) & (beta <= high))
    G = K @ beta
    rise = (np.where(beta >= 0, above, below) - G)[beta < high]
    fall = (np.where(beta > 0, above, below) - G)[beta > low]
    start = above.max() - below.min()  # what a pair gains at β = 0: gains are kept in single precision beside it
    assert rise.max() - fall.min() <= 1e-5 + 16 * np.finfo(np.float32).eps * start
    assert {"kink", "low", "high", "free"} == {
        "kink" if b == 0 else "low" if b == at_low else "high" if b == at_high else "free"
        for b, at_low, at_high in zip(beta, low, high, strict=True)
    }


def test_every_step_gains():
    K, above, below, low, high = problem(7)
    values = []
    for most in range(1, 40):
        beta = np.zeros(len(K))
        smo.descend(K, above, below, low, high, beta, K @ beta, 1e-9, most)
        values.append(beta @ K @ beta / 2 - np.where(beta > 0, above, below) @ beta)
    assert np.all(np.diff(values) < 0)


def test_rounds_in_single_precision_end_as_near_as_one_in_double():
    """The gains count from the start's bias in units of what is to be gained: a round does better where the last one ended."""
    K, above, below, low, high = problem(3)
    beta, excess = np.zeros(len(K)), []
    for _ in range(6):
        G = K @ beta
        rise = (np.where(beta >= 0, above, below) - G)[beta < high]
        fall = (np.where(beta > 0, above, below) - G)[beta > low]
        excess.append(rise.max() - fall.min())
        smo.descend(K.astype(np.float32), above, below, low, high, beta, G, excess[-1] / 100, 100_000)
    assert excess[-1] < 1e-9 * excess[0]


@pytest.mark.parametrize("size", [1e-30, 1e-12, 1e12, 1e30])
def test_the_unit_of_the_slopes_does_not_matter(size):
    """With h times size and K the same, β is size times as large."""
    K, above, below, low, high = problem(5)
    beta, scaled = np.zeros(len(K)), np.zeros(len(K))
    smo.descend(K, above, below, low, high, beta, K @ beta, 1e-5, 100_000)
    smo.descend(K, size * above, size * below, size * low, size * high, scaled, K @ scaled, size * 1e-5, 100_000)
    np.testing.assert_allclose(scaled / size, beta, atol=1e-4)


def test_a_kernel_of_zeros():
    """Then the problem is a linear one, and its answer lies at bounds and kinks."""
    K, above, below, low, high = problem(6)
    beta = np.zeros(len(K))
    assert 0 < smo.descend(0 * K, above, below, low, high, beta, 0 * beta, 1e-5, 100_000) < 100_000
    rise, fall = np.where(beta >= 0, above, below)[beta < high], np.where(beta > 0, above, below)[beta > low]
    assert rise.max() - fall.min() <= 1e-5


@pytest.mark.parametrize("n", [1, 2, 255, 256, 257, 1000])
@pytest.mark.parametrize("shift", [0.0, 5.0, -5.0, -1e30])
def test_the_largest_is_the_first_of_the_largest(n, shift):
    values = np.random.default_rng(n).integers(-9, 9, n) / 3 + shift
    values = values.astype(np.float32)
    assert smo.largest(values) == np.argmax(values)
    values[n // 2] = -1e30
    assert smo.largest(values) == np.argmax(values)
