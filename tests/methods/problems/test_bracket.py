"""What two values prove of the optimum between them."""

from math import inf

import pytest

from mmc.methods.problems.bracket import Bracket
from mmc.methods.solution import NotConverged


def test_the_gap_counts_rounding_but_the_judge_does_not():
    bracket = Bracket.between(10.0, 9.0, rounding=1.0)
    assert bracket.gap == pytest.approx(0.2)
    assert bracket.reached == pytest.approx(0.1)
    bracket.judge(0.15, "a solver", 3)
    with pytest.raises(
        NotConverged, match=r"a solver reached a relative duality gap of 1.0e-01, wanted 5.0e-02"
    ) as error:
        bracket.judge(0.05, "a solver", 3)
    assert (error.value.iterations, error.value.residual) == (3, bracket.reached)


def test_a_bound_above_the_objective_is_no_gap():
    assert Bracket.between(1.0, 1.0 + 1e-12).gap == 0


def test_a_small_objective_counts_in_the_least_size():
    assert Bracket.between(0.1, 0.0, least=1.0).gap == pytest.approx(0.1)


def test_no_primal_point_proves_nothing():
    assert Bracket.between(inf, 1.0).gap == inf
    with pytest.raises(NotConverged):
        Bracket.between(inf, 1.0).judge(1e9, "a solver", 0)
