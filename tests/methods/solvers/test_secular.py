"""The secular equations: optimality, and balls that collapse."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mmc.methods.numerics.secular_equations import newton
from mmc.methods.problems.ellipsoid_pair import EllipsoidPair, certify, certify_stack
from mmc.methods.solution import InfeasibleProblem
from mmc.methods.solvers import margin_socp, secular

from ..ellipsoids import answer, coordinates, inner_products, kappa, random_problem


@settings(deadline=None, derandomize=True, max_examples=40)
@given(seed=st.integers(0, 10_000), share=st.floats(0.01, 0.99))
def test_optimality(seed, share):
    """Conditions (3.25): r = z1 - z2, and each u_i either lies on its sphere along C_i'r or C_i'r vanishes."""
    geometry, rng = random_problem(seed)
    asked = np.array(kappa(*rng.uniform(0.1, 1, 2)))
    p = geometry.edge.demand(tuple(asked))[1]
    edge = asked.max() < 30 * p
    problem = EllipsoidPair(geometry, tuple(asked * (share / p if edge else 1.0)))
    found = secular.solve(problem)
    proof = certify(problem, found.primal, found.dual)
    assert proof.gap <= 1e-8
    h = geometry.pull(found.primal)
    u = found.dual
    if u is None:
        u = h * (geometry.member @ [k / s for k, s in zip(problem.kappa, proof.spread, strict=True)])
    size = np.sqrt(proof.norm2)
    for side, k in zip(geometry.member.T, problem.kappa, strict=True):
        length, spread = np.linalg.norm(u * side), np.linalg.norm(h * side)
        assert length <= k * (1 + 1e-6)
        assert (u * side) @ h == pytest.approx(k * spread, abs=1e-5 * size**2 + 1e-5 * k * spread)
    between = geometry.d - geometry.push(u)
    np.testing.assert_allclose(between, found.primal * (between @ found.primal) / proof.norm2, atol=1e-3 * size)


@settings(deadline=None, derandomize=True, max_examples=25)
@given(seed=st.integers(0, 10_000), n=st.integers(1, 40), apart=st.floats(0.05, 3.0))
def test_many_sizes_together_are_each_of_them_alone(seed, n, apart):
    """The same points, the same infeasible sizes at the same distance, and nothing that only the stack would certify."""
    rng = np.random.default_rng(seed)
    P, N = rng.normal(size=(2 * n + 5, n)) * rng.uniform(0.1, 2, n), rng.normal(size=(2 * n + 5, n))
    P[:, 0] += apart
    rates = (0.1, 0.3, 0.6, 0.9, 1.0)
    together, alone = coordinates(P, N), coordinates(P, N)
    secular.prepare([EllipsoidPair(together, kappa(a, b)) for a in rates for b in rates])
    ready = together.memory.once("secular", secular._Start).ready
    assert len(ready) > 20 or not together.definite
    for sizes, found in ready.items():
        problem = EllipsoidPair(alone, sizes)
        if isinstance(found, float):
            with pytest.raises(InfeasibleProblem) as caught:
                secular.solve(problem)
            assert caught.value.distance == pytest.approx(found - 1, rel=1e-6, abs=1e-9)
        else:
            r = secular.solve(problem).primal
            np.testing.assert_allclose(found.primal, r, atol=1e-7 * np.abs(r).max())
            one, stacked = certify(problem, found.primal), found.certificate
            assert max(one.gap, stacked.gap) <= 1e-12
            for name in ("objective", "scale", "norm2", "spread", "along"):
                assert getattr(stacked, name) == pytest.approx(getattr(one, name), rel=1e-9)


@pytest.mark.parametrize("room", [1e-3, 1e-4, 1e-5])
def test_close_to_the_edge_the_answer_is_still_exact(room):
    """There r is a small difference of large vectors, and changes far more than the multipliers do."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        P, N = rng.normal(size=(60, 12)) * rng.uniform(0.2, 2, 12), rng.normal(size=(60, 12))
        P[:, 0] += 2
        geometry, asked = coordinates(P, N), np.exp(rng.normal(size=2))
        first, second = asked / geometry.edge.demand(tuple(asked))[1] * (1 - room)
        assert secular.solve(EllipsoidPair(geometry, (first, second))).certificate.gap <= 1e-9


@pytest.mark.parametrize("n", [2, 30, 31, 32, 33, 450])
def test_newton_solves_the_equations_with_few_and_with_many_features(n):
    rng = np.random.default_rng(n)
    rows, d = rng.normal(size=(2, 2 * n, n)) / np.sqrt(2 * n), 2 * rng.normal(size=n)
    S = rows.transpose(0, 2, 1) @ rows
    r, tau, _ = newton(d, S, (0.7, 1.1), None)
    np.testing.assert_allclose(r + S[0] @ r / tau[0] + S[1] @ r / tau[1], d, atol=1e-9 * np.abs(d).max())
    lengths = [np.sqrt(r @ part @ r) / t for part, t in zip(S, tau, strict=True)]
    assert lengths == pytest.approx([0.7, 1.1], rel=1e-9)


@pytest.mark.parametrize("n", [3, 450])
def test_newton_ends_where_a_covariance_is_not_finite(n):
    S = np.stack([np.eye(n), np.full((n, n), np.nan)])
    r, _, steps = newton(np.ones(n), S, (0.7, 1.1), None)
    assert steps == 1
    assert not r.any()


@pytest.mark.parametrize("gone", [(True, False), (False, True), (True, True)])
def test_balls_that_collapse(gone):
    """Where a class does not reach into the direction that matters, its multiplier lies inside its ball."""
    rng = np.random.default_rng(1)
    P, N = rng.normal(size=(40, 6)), rng.normal(size=(40, 6))
    P[:, 0], N[:, 0] = (0.0 if gone[0] else 0.3 * P[:, 0]), (0.0 if gone[1] else 0.3 * N[:, 0])
    P[:, 0] += 2
    geometry = coordinates(P, N)
    problem = EllipsoidPair(geometry, (3.0, 3.0))
    for space in (problem, EllipsoidPair(inner_products(geometry), problem.kappa)):
        found = secular.solve(space)
        assert certify(space, found.primal, found.dual).gap <= 1e-8
        if space is problem:
            lengths = np.sqrt((found.dual**2) @ geometry.member)
            assert tuple(lengths < 2.9) == gone
    r, _ = answer(problem, secular)
    np.testing.assert_allclose(answer(problem, margin_socp)[0], r, atol=1e-6 * np.abs(r).max())


@pytest.mark.parametrize("ridge", [0.0, 0.1])
def test_a_stack_of_any_directions_is_worth_what_each_is_worth(ridge):
    """Not only of optima, whose gap is 0: the gap is what a direction may lack, and inf where it separates nothing."""
    rng = np.random.default_rng(0)
    P, N = rng.normal(size=(30, 4)), rng.normal(size=(30, 4))
    P[:, 0] += 3
    geometry = coordinates(P, N, ridge)
    R = geometry.d + rng.normal(size=(40, 4))
    problems = [EllipsoidPair(geometry, kappa(*rng.uniform(0.4, 0.9, 2))) for _ in R]
    together, alone = certify_stack(problems, R), [certify(p, r) for p, r in zip(problems, R, strict=True)]
    gaps = [one.gap for one in alone]
    assert np.isinf(gaps).any()
    assert np.sum(np.isfinite(gaps) & (np.array(gaps) > 0.01)) > 10
    assert [one.gap for one in together] == pytest.approx(gaps, rel=1e-9)
