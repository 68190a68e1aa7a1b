"""The interior point method against HiGHS, on programs that are bounded and feasible by construction."""

import numpy as np
import pytest
from scipy.optimize import linprog

from mmc.methods.solvers import interior_point
from mmc.methods.solvers.interior_point import SlackLP

KINDS = [(free, hard, twice) for free in (False, True) for hard in (0, 3) for twice in (False, True)]


def program(seed, free=False, hard=0, twice=False):
    """Return a random program: some λ within its bounds is dual feasible, some v satisfies the ``hard`` first rows.

    ``twice``: half of the rows and half of the columns occur twice.
    """
    rng = np.random.default_rng(seed)
    rows, columns = int(rng.integers(8, 60)), int(rng.integers(2, 25))
    A, z, e = rng.normal(size=(rows, columns)), rng.choice([-1.0, 1.0], rows), rng.uniform(0.5, 1.5, rows)
    z[:2] = 1, -1
    if twice:
        copied = np.concatenate([np.arange(rows), np.arange(rows // 2)])
        A, z, e = np.hstack([A, A[:, : columns // 2]])[copied], z[copied], e[copied]
    U = rng.uniform(0.5, 3, len(z))
    dual = rng.uniform(0.2, 0.8, len(z)) * U
    totals = dual[z > 0].sum(), dual[z < 0].sum()
    dual *= np.where(z > 0, min(totals) / totals[0], min(totals) / totals[1])
    c = A.T @ dual + (0.0 if free else rng.uniform(0, 1, A.shape[1]) * rng.integers(0, 2, A.shape[1]))
    if hard:
        U[:hard] = np.inf
        e[:hard] = np.minimum(e, A @ rng.uniform(0, 1, A.shape[1]) + 0.3 * z - 0.1)[:hard]
    return SlackLP(A, z, e, c, U, free)


def optimum(p):
    """Return the minimum by HiGHS, as scipy offers it, of the primal as it is printed."""
    soft = np.flatnonzero(np.isfinite(p.U))
    slack = np.eye(len(p.e))[:, soft]
    answer = linprog(
        np.concatenate([p.c, [0.0], p.U[soft]]),
        -np.hstack([p.A, p.z[:, None], slack]),
        -p.e,
        bounds=[(None if p.free else 0, None)] * len(p.c) + [(None, None)] + [(0, None)] * len(soft),
    )
    assert answer.status == 0
    return answer.fun


def solved(p, tol=1e-9, **options):
    return interior_point.solve(p, np.zeros(len(p.c)), 0.0, np.zeros(len(p.e)), tol=tol, **options)


def check(p, point, expected, near):
    """Both points are feasible, and what they are worth is the optimum."""
    soft, room = np.isfinite(p.U), near * max(1.0, abs(expected))
    slack = np.maximum(p.e - p.A @ point.v - point.b * p.z, 0)
    assert p.free or point.v.min() >= 0
    assert slack[~soft].max(initial=0) <= room
    assert p.c @ point.v + p.U[soft] @ slack[soft] == pytest.approx(expected, abs=room)
    assert point.dual.min() >= 0
    assert np.all(point.dual <= p.U)
    excess = p.A.T @ point.dual - p.c
    assert (np.abs(excess).max() if p.free else excess.max()) <= room
    assert abs(p.z @ point.dual) <= room
    assert p.e @ point.dual == pytest.approx(expected, abs=room)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize(("free", "hard", "twice"), KINDS)
def test_it_is_the_optimum_of_highs(free, hard, twice, seed):
    p = program(seed, free, hard, twice)
    check(p, solved(p), optimum(p), 1e-7)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize(("hard", "twice"), [(0, False), (3, False), (0, True)])
def test_factors_in_single_precision_lead_to_the_same_optimum(hard, twice, seed, monkeypatch):
    monkeypatch.setattr(interior_point, "_LARGE", 0)
    p = program(seed, False, hard, twice)
    check(p, solved(p), optimum(p), 1e-7)


@pytest.mark.parametrize("free", [False, True])
def test_a_guess_changes_the_way_but_not_the_end(free):
    p = program(3, free)
    expected, first = optimum(p), solved(p)
    check(p, interior_point.solve(p, first.v, first.b, first.dual, tol=1e-9), expected, 1e-7)
    rng = np.random.default_rng(0)
    far = interior_point.solve(p, 100 * rng.uniform(0, 1, len(p.c)), -50.0, 9 * np.ones(len(p.e)), tol=1e-9)
    check(p, far, expected, 1e-7)


def test_the_tolerance_is_the_distance_of_the_objectives():
    p = program(5)
    expected, steps = optimum(p), []
    for tol in (1e-1, 1e-4, 1e-8):
        point = solved(p, tol)
        slack = np.maximum(p.e - p.A @ point.v - point.b * p.z, 0)
        assert abs(p.c @ point.v + p.U @ slack - p.e @ point.dual) <= tol * max(1.0, expected)
        steps.append(point.steps)
    assert steps[0] < steps[1] < steps[2]


def test_it_stops_where_it_is_told_to():
    assert solved(program(5), 1e-9, max_iter=2).steps == 2


@pytest.mark.parametrize("seed", range(10))
def test_the_face_is_the_optimum_to_all_digits(seed):
    """From a point that is only near: what is active is known long before λ is."""
    p = program(seed)
    near, expected = solved(p, 1e-6), optimum(p)
    exact = interior_point.face(p, near)
    positive, between = near.active
    assert not exact.v[np.setdiff1d(np.arange(len(p.c)), positive)].any()
    np.testing.assert_allclose((p.A @ exact.v + exact.b * p.z)[between], p.e[between], atol=1e-11)
    np.testing.assert_allclose((p.A.T @ exact.dual)[positive], p.c[positive], atol=1e-11)
    assert p.e @ exact.dual == pytest.approx(expected, rel=1e-11)


def test_a_border_that_is_zero_for_all_that_rounding_leaves():
    p = program(108, free=True, twice=True)
    check(p, solved(p), optimum(p), 1e-7)


def test_the_face_of_a_point_that_violates_a_hard_row():
    p = program(0, hard=3)
    near = solved(p, max_iter=2)
    assert np.any((p.A @ near.v + near.b * p.z < p.e)[:3])
    with np.errstate(invalid="ignore"):
        assert np.all(np.isfinite(interior_point.face(p, near).dual))


def test_a_row_without_slack_that_is_violated_leaves_the_face_finite():
    """Where v exceeds the cap, its λ has no upper bound to stand at."""
    rng = np.random.default_rng(0)
    A = np.vstack([np.full(6, -1.0), rng.normal(size=(12, 6))])
    z, e = np.append(0.0, np.repeat([1.0, -1.0], 6)), np.append(-10.0, np.ones(12))
    p = SlackLP(A, z, e, rng.uniform(1, 2, 6), np.append(np.inf, np.full(12, 3.0)))
    point = interior_point.solve(p, np.ones(6), 0.0, np.zeros(13), tol=1e-6)
    beyond = interior_point.LpPoint(point.v + 100.0, point.b, point.dual, point.steps, point.active)
    found = interior_point.face(p, beyond)
    assert np.all(np.isfinite(found.v))
    assert np.all(np.isfinite(found.dual))


@pytest.mark.parametrize("gamma", [1e-1, 1e-2, 1e-3])
def test_a_nearly_singular_kernel_is_solved_with_a_feasible_dual(gamma):
    """v grows beyond 1e4 here, so that what G'λ exceeds c by counts as much."""
    rng = np.random.default_rng(0)
    z = np.repeat([1.0, -1.0], 45)
    X = rng.normal(size=(90, 2)) + 0.5 * z[:, None]
    K = np.exp(-gamma * np.sum((X[:, None] - X) ** 2, axis=2))
    G = z[:, None] * (K - np.median(K, axis=0)) * z
    u, cap = np.full(90, 1 / 45), 1e7
    p = SlackLP(
        np.vstack([np.full(90, -1.0), G]),
        np.append(0.0, z),
        np.append(-cap, np.ones(90)),
        G.T @ u,
        np.append(np.inf, 3 * u),
    )
    point = interior_point.solve(p, np.ones(90), 0.0, np.append(0.0, u), tol=1e-6)
    assert point.steps < 100  # it ended by itself
    assert float(np.max(G.T @ point.dual[1:] - p.c)) <= point.dual[0] + 1e-12
    slack = np.maximum(1 - G @ point.v - point.b * z, 0)
    value = p.c @ point.v + p.U[1:] @ slack
    assert point.v.sum() <= cap * (1 + 1e-9)
    assert point.v.sum() > 1e4 or gamma > 0.05
    assert p.e @ point.dual == pytest.approx(value, rel=2e-6)


@pytest.mark.parametrize("seed", range(8))
def test_what_it_keeps_when_it_leaves_out_v_has_an_optimum_of_its_own(seed):
    p = program(seed)
    point = solved(p, thin=True)
    check(p.of(point.kept), point, optimum(p.of(point.kept)), 1e-7)


def test_v_that_are_0_are_left_out():
    p = program(1)
    point, whole = solved(p, thin=True), solved(p)
    assert len(point.kept) < len(p.c)
    assert set(np.flatnonzero(whole.v > 1e-3 * whole.v.max())) <= set(point.kept)
