"""The certificate of a sum of hinges."""

import numpy as np
import pytest

from mmc.methods.numerics.kernels import KernelSpec
from mmc.methods.problems.delivered import Delivered
from mmc.methods.problems.hinges import Hinges, SvmProblem
from mmc.methods.solvers import hinge_interior, libsvm
from tests.methods.solvers.test_libsvm import problem
from tests.methods.test_svm import data


def test_the_gap_brackets_the_optimum_and_sees_a_perturbation():
    """Every feasible pair of points brackets the optimum, and a worse multiplier has a wider bracket."""
    p = problem()
    answer = libsvm.solve(p)
    best = p.certify(answer.primal, answer.dual)
    rng = np.random.default_rng(0)
    gaps = [best.gap]
    for noise in (1e-3, 1e-1):
        moved = p.hinges.feasible(answer.dual.a + noise * p.C * rng.uniform(-1, 1, len(p.C)))
        assert abs(p.sign @ moved) < 1e-10
        bracket = p.certify(*p.points(moved))
        assert bracket.bound <= best.objective <= bracket.objective + 1e-9
        gaps.append(bracket.gap)
    assert gaps[0] < 1e-6 < 1e-5 < gaps[1] < gaps[2]


def test_what_is_moved_until_the_sum_is_zero_are_free_multipliers():
    """One of the heavier side, else one of the lighter side; what is at a bound stays there while that is possible."""
    side, C = np.array([1.0, 1.0, -1.0, -1.0]), np.ones(4)
    hinges = Hinges(np.eye(4), np.arange(4), side, side, C)
    np.testing.assert_allclose(hinges.feasible(np.array([1.0, 0.5, 1.0, 0.3])), [1.0, 0.3, 1.0, 0.3])
    np.testing.assert_allclose(hinges.feasible(np.array([1.0, 1.0, 1.0, 0.3])), [1.0, 1.0, 1.0, 1.0])
    np.testing.assert_allclose(hinges.feasible(np.array([1.0, 0.0, 0.2, 0.0])), [1.0, 0.0, 1.0, 0.0])
    np.testing.assert_allclose(hinges.feasible(np.array([1.0, 1.0, 1.0, 0.0])), [0.5, 0.5, 1.0, 0.0])


@pytest.mark.parametrize("C", [1.0, 100.0, 1e4])
@pytest.mark.parametrize("solver", [libsvm, hinge_interior])
def test_the_gap_includes_the_rounding_of_its_own_sums(solver, C):
    """Kβ cancels: the terms of the sums are up to 1e9 times their result. Extended precision tells what the sums lost."""
    X, y = data(seed=2)
    X, sign = 20 * X, 2.0 * y - 1
    p = SvmProblem(KernelSpec("linear")(X, X), sign, np.where(y, 2 * C, C))
    answer = solver.solve(p)
    bracket = p.certify(answer.primal, answer.dual)
    beta = answer.primal.coef.astype(np.longdouble)
    values = p.K.astype(np.longdouble) @ beta
    half = float(beta @ values / 2)
    loss = float(p.C @ np.maximum(1 - sign * (values + answer.primal.b), 0))
    lost = max(abs(bracket.objective - half - loss), abs(bracket.bound - float(np.sum(sign * beta)) + half))
    assert lost <= bracket.rounding
    assert bracket.gap * bracket.objective >= bracket.rounding
    assert bracket.reached <= bracket.gap


@pytest.mark.parametrize("far", [1e5, 1e7])
def test_the_gap_of_a_stored_rule_includes_the_rounding_of_its_decision_values(far):
    """Far from the origin w'x and the offset cancel. Extended precision tells what the objective lost."""
    X, y = data(seed=2)
    sign = 2.0 * y - 1
    p = SvmProblem(X @ X.T, sign, np.full(len(y), 10.0))
    answer = libsvm.solve(p)
    w = X.T @ answer.primal.coef
    away, offset = X + far, float(answer.primal.b - far * w.sum())
    average = np.column_stack([y == 1, y == 0]) / [np.sum(y == 1), np.sum(y == 0)]
    rule = Delivered(away @ w, average, offset, lambda: np.linalg.norm(away, axis=1), w)
    verdict = p.judge(rule, answer.dual)
    values = away.astype(np.longdouble) @ w.astype(np.longdouble) + np.longdouble(offset)
    exact = float(w @ w / 2 + p.C @ np.maximum(1 - sign * values, 0))
    optimum = p.certify(answer.primal, answer.dual).objective
    allowed = verdict.gap * verdict.objective
    assert abs(verdict.objective - exact) <= allowed
    assert exact - optimum <= allowed
    rounded = 10.0 * np.sum(np.spacing(np.abs(away @ w))[sign * values < 1])
    assert allowed >= rounded
