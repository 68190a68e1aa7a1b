"""The factorisations of Newton's equations: what they return satisfies the equations, and where only one of them does."""

from functools import partial

import numpy as np
import pytest

from mmc.methods.numerics.newton_systems import Indefinite, Reduced


def equations(seed, rows=30, columns=20, spread=1.0):
    """Return A, z, H, D and right sides; ``spread`` is the power of ten over which H and D go."""
    rng = np.random.default_rng(seed)
    A, z = rng.normal(size=(rows, columns)), rng.choice([-1.0, 1.0], rows)
    H, D = 10 ** rng.uniform(-spread, spread, rows), 10 ** rng.uniform(-spread, spread, columns)
    return A, z, H, D, (rng.normal(size=rows), rng.normal(size=columns), float(rng.normal()))


def residuals(A, z, H, D, right, step):
    h, g, t = right
    d_v, d_b, d_dual = step
    return H * d_dual + A @ d_v + z * d_b - h, A.T @ d_dual - D * d_v - g, z @ d_dual - t


@pytest.mark.parametrize("refinements", [0, 1])
@pytest.mark.parametrize("system", [Reduced, Indefinite, partial(Reduced, single=True)])
def test_a_step_satisfies_the_equations(system, refinements):
    single = isinstance(system, partial)
    for seed in range(5):
        A, z, H, D, right = equations(seed)
        factors = system(A, z)
        for scale in (1.0, 3.0):  # the memory of the first factor serves the second
            factors.factorise(scale * H, D)
            step = factors.solve(*right, refinements)
            for part in residuals(A, z, scale * H, D, right, step):
                np.testing.assert_allclose(part, 0.0, atol=1e-7 if single and not refinements else 1e-10)


def test_short_rows_and_columns_are_eliminated_without_loss():
    for seed in range(5):
        A, z, H, D, right = equations(seed, rows=60, columns=50, spread=9.0)
        factors = Indefinite(A, z)
        factors.factorise(H, D)
        assert min(len(part) for part in factors.parts) > 3
        first, second, last = residuals(A, z, H, D, right, step := factors.solve(*right, 1))
        d_v, _, d_dual = step
        assert np.all(np.abs(first) <= 1e-9 * (H * np.abs(d_dual) + np.abs(A) @ np.abs(d_v)))
        assert np.all(np.abs(second) <= 1e-9 * (D * np.abs(d_v) + np.abs(d_dual) @ np.abs(A)))
        assert abs(last) <= 1e-9 * np.abs(d_dual).sum()


def test_both_return_the_same_step():
    A, z, H, D, right = equations(7)
    steps = []
    for system in (Reduced(A, z), Indefinite(A, z)):
        system.factorise(H, D)
        steps.append(system.solve(*right, 1))
    np.testing.assert_allclose(steps[0][0], steps[1][0], rtol=1e-9)
    assert steps[0][1] == pytest.approx(steps[1][1], rel=1e-9)
    np.testing.assert_allclose(steps[0][2], steps[1][2], rtol=1e-9)


def test_only_the_indefinite_one_keeps_its_digits_near_the_end_of_a_nearly_singular_program():
    rng = np.random.default_rng(0)
    x = np.sort(rng.normal(size=40))
    A = np.exp(-0.1 * (x[:, None] - x) ** 2)
    z = np.where(np.arange(40) % 2, 1.0, -1.0)
    H, D = np.where(np.arange(40) < 20, 1e-7, 1e3), np.where(np.arange(40) % 4, 1e-13, 1e3)
    right = np.ones(40), 1e-3 * rng.normal(size=40), 0.0
    wrong = []
    for system in (Reduced(A, z), Indefinite(A, z)):
        system.factorise(H, D)
        step = system.solve(*right, 1)
        wrong.append(np.abs(residuals(A, z, H, D, right, step)[1]).max() / np.abs(step[2]).max())
    assert wrong[1] < 1e-14
    assert wrong[0] > 1e3 * wrong[1]
