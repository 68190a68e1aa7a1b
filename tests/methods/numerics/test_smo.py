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
    beta, G = np.zeros(len(K)), np.zeros(len(K))
    steps = smo.descend(K.astype(dtype), above, below, low, high, beta, G, 1e-5, 100_000)
    assert 0 < steps < 100_000
    assert abs(beta.sum()) < 1e-12
    assert np.all((low <= beta) & (beta <= high))
    np.testing.assert_allclose(G, K @ beta, atol=1e-12 if dtype is np.float64 else 1e-5)
    rise = (np.where(beta >= 0, above, below) - G)[beta < high]
    fall = (np.where(beta > 0, above, below) - G)[beta > low]
    assert rise.max() - fall.min() <= 1e-5
    assert {"kink", "low", "high", "free"} == {
        "kink" if b == 0 else "low" if b == at_low else "high" if b == at_high else "free"
        for b, at_low, at_high in zip(beta, low, high, strict=True)
    }


def test_every_step_gains():
    K, above, below, low, high = problem(7)
    values = []
    for most in range(1, 40):
        beta, G = np.zeros(len(K)), np.zeros(len(K))
        smo.descend(K, above, below, low, high, beta, G, 1e-9, most)
        values.append(beta @ K @ beta / 2 - np.where(beta > 0, above, below) @ beta)
    assert np.all(np.diff(values) < 0)


@pytest.mark.parametrize("n", [1, 2, 255, 256, 257, 1000])
@pytest.mark.parametrize("shift", [0.0, 5.0, -5.0, -1e300])
def test_the_largest_is_the_first_of_the_largest(n, shift):
    values = np.random.default_rng(n).integers(-9, 9, n) / 3 + shift
    assert smo.largest(values) == np.argmax(values)
    values[n // 2] = -1e300
    assert smo.largest(values) == np.argmax(values)
