"""What linear rules are worth: the compiled pass over many says what the judge of one rule says, from values that numpy sums up."""

import numpy as np
import pytest

from mmc.methods.numerics.worth import worth_each, wrong_side
from mmc.methods.problems.delivered import Delivered
from mmc.methods.problems.ellipsoid_pair import EllipsoidPair, certify, judge, judge_stack

from ..ellipsoids import coordinates, kappa


@pytest.mark.parametrize("ridge", [0.0, 0.2])
@pytest.mark.parametrize("nu", [(0.0, 0.0), (0.1, 0.3)])
def test_many_rules_are_judged_as_each_one_is(ridge, nu):
    """Also rules that no scaling makes feasible, and thresholds beside the best."""
    rng = np.random.default_rng(1)
    P, N = rng.normal(size=(31, 5)), rng.normal(size=(24, 5))
    P[:, 0] += 3
    geometry, X, sign = coordinates(P, N, ridge), np.vstack([P, N]), np.repeat([1.0, -1.0], [31, 24])
    average = np.stack([(sign > 0) / 31, (sign < 0) / 24]).T
    coefs, offsets = geometry.d * rng.choice([1.0, 1.0, -1.0], (60, 1)) + rng.normal(size=(60, 5)), rng.normal(size=60)
    offsets -= coefs @ (P.mean(axis=0) + N.mean(axis=0)) / 2
    problems = [EllipsoidPair(geometry, kappa(*rng.uniform(0.3, 0.9, 2)), nu) for _ in coefs]
    proofs = [certify(problem, geometry.d + 0.1 * w) for problem, w in zip(problems, coefs, strict=True)]
    shrinkage, gaps = (0.1, 0.2), []
    together = judge_stack(problems, X, sign, coefs, offsets, shrinkage, proofs)
    for problem, proof, w, b, found in zip(problems, proofs, coefs, offsets, together, strict=True):
        rule = Delivered(X @ w, average, b, lambda: np.linalg.norm(X, axis=1), w)
        alone = judge(problem, rule, rule.sides(geometry.ridge, shrinkage), proof, True)
        assert found.objective == pytest.approx(w @ w / 2, rel=1e-13)
        assert (found.objective, found.gap) == pytest.approx((alone.objective, alone.gap), rel=1e-9)
        assert found.errors == pytest.approx(alone.errors, rel=1e-10)
        gaps.append(found.gap)
    assert np.isinf(gaps).any()
    assert np.isfinite(gaps).any()


def test_errors_are_cantellis():
    """P(f ≤ 0) ≤ s²/(s² + m²), and a mean on the wrong side bounds nothing. Rounding only makes bounds worse."""
    assert wrong_side(2.0, 1.0, 0.0, 0.0) == pytest.approx(1 / 5)
    assert wrong_side(2.0, 1.0, 0.0, 0.5) == pytest.approx(1 / (1 + 1.5**2))
    assert wrong_side(2.0, 1.0, 0.1, 0.0) > wrong_side(2.0, 1.0, 0.0, 0.0)
    assert wrong_side(-1.0, 1.0, 0.0, 0.0) == wrong_side(float("nan"), 1.0, 0.0, 0.0) == 1.0


def test_a_rule_whose_values_are_not_finite_is_worth_nothing():
    X, sign, w = np.eye(4), np.array([1.0, 1.0, -1.0, -1.0]), np.full((1, 4), np.nan)
    found = worth_each(
        X, sign, X @ w.T, w, np.zeros(1), np.ones((1, 2)), np.ones(1), (0.1, 0.1), (1.0, 1.0), (0.0, 0.0)
    )
    assert np.isinf(found[0, 1])
    assert found[0, 2:].tolist() == [1.0, 1.0]
