"""The certificate of a banded SVM, and its hard bound."""

import numpy as np
import pytest

from mmc.methods.problems.banded import BandedProblem
from mmc.methods.problems.hinges import Machine
from mmc.methods.solvers import banded_qp
from tests.methods.solvers.test_banded import state


@pytest.mark.parametrize("C2", [2.0, np.inf])
def test_any_multipliers_bracket_the_optimum(C2):
    p = state((2.0, C2, 1.0, 1.2), {"kernel": "rbf", "gamma": 0.5})
    answer = banded_qp.solve(p)
    best = p.certify(answer.primal, answer.dual)
    rng = np.random.default_rng(0)
    for noise in (0.0, 1e-3, 0.1, 1.0):
        bracket = p.certify(*p.points(answer.dual.a + noise * rng.uniform(-1, 1, len(answer.dual.a))))
        assert bracket.bound <= best.objective * (1 + 1e-9)
        assert best.bound <= bracket.objective * (1 + 1e-9)


def test_a_rule_above_the_hard_bound_is_worth_nothing():
    p = BandedProblem(np.eye(2), np.array([1.0, -1.0]), 1.0, np.inf, 1.0, 1.5)
    _, dual = p.points(np.array([0.5, 0.5, 0.0, 0.0]))
    coef = np.array([2.0, -2.0])
    assert p.certify(Machine(coef, 0.0, p.K @ coef), dual).objective == np.inf
    assert p.certify(Machine(coef / 2, 0.0, p.K @ coef / 2), dual).objective == pytest.approx(1.0)
