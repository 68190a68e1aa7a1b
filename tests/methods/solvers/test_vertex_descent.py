"""The descent from vertex to vertex against HiGHS, on programs that are bounded and feasible by construction."""

from dataclasses import replace

import numpy as np
import pytest

from mmc.methods.solution import NotConverged
from mmc.methods.solvers import vertex_descent
from mmc.methods.solvers.interior_point import SlackLP
from mmc.methods.solvers.vertex_descent import Vertex
from tests.methods.solvers.test_interior_point import check, optimum, program

COLD = Vertex(np.arange(0), np.arange(1))


@pytest.mark.parametrize("twice", [False, True])
@pytest.mark.parametrize("seed", range(20))
def test_it_finds_the_optimum(seed, twice):
    p = program(seed, twice=twice)
    point, vertex = vertex_descent.solve(p, COLD)
    check(p, point, optimum(p), 1e-9)
    assert len(vertex.tight) == len(vertex.positive) + 1


@pytest.mark.parametrize("seed", range(5))
def test_a_hard_row_holds(seed):
    """A cap on the sum of v that binds."""
    p = program(seed)
    free, _ = vertex_descent.solve(p, COLD)
    cap = 0.5 * float(free.v.sum())
    ones = -np.ones((1, len(p.c)))
    capped = SlackLP(np.vstack([p.A, ones]), np.append(p.z, 0.0), np.append(p.e, -cap), p.c, np.append(p.U, np.inf))
    point, _ = vertex_descent.solve(capped, COLD)
    check(capped, point, optimum(capped), 1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_a_vertex_serves_other_bounds_and_a_larger_program(seed):
    p = program(seed)
    _, vertex = vertex_descent.solve(p, COLD)
    wider = SlackLP(p.A, p.z, p.e, p.c, 1.3 * p.U)
    again, vertex = vertex_descent.solve(wider, vertex)
    check(wider, again, optimum(wider), 1e-9)
    assert vertex_descent.solve(wider, vertex)[0].steps == 0
    rng = np.random.default_rng(seed)
    more = rng.normal(size=(7, p.A.shape[1]))
    larger = SlackLP(
        np.vstack([p.A, more]),
        np.append(p.z, rng.choice([-1.0, 1.0], 7)),
        np.append(p.e, np.ones(7)),
        p.c,
        np.append(p.U, np.ones(7)),
    )
    check(larger, vertex_descent.solve(larger, vertex)[0], optimum(larger), 1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_an_inverse_that_is_none_is_not_believed(seed):
    p = program(seed)
    _, vertex = vertex_descent.solve(p, COLD)
    assert vertex.inverse is not None
    wrong = np.random.default_rng(seed).normal(size=vertex.inverse.shape)
    point, again = vertex_descent.solve(p, replace(vertex, inverse=wrong))
    check(p, point, optimum(p), 1e-9)
    np.testing.assert_allclose(again.inverse, vertex.inverse, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_a_start_with_negative_v_is_mended(seed):
    p = program(seed)
    size = min(len(p.e) - 1, len(p.c))
    point, _ = vertex_descent.solve(p, Vertex(np.arange(size), np.arange(size + 1)))
    check(p, point, optimum(p), 1e-9)


def test_rows_that_all_meet_at_the_start_do_not_hold_it_up():
    """At v = 0 all points of a class have the same margin."""
    rng = np.random.default_rng(0)
    X, z = rng.normal(size=(120, 2)), np.repeat([1.0, -1.0], 60)
    X[z > 0] += 1
    A = np.outer(z, z) * np.exp(-((X[:, None] - X) ** 2).sum(axis=2))
    u = np.full(120, 1 / 60)
    p = SlackLP(A, z, np.ones(120), u @ A, np.full(120, 2 / 60))
    check(p, vertex_descent.solve(p, COLD)[0], optimum(p), 1e-9)


def test_what_has_no_minimum_and_what_is_no_vertex_are_refused():
    p = program(0)
    with pytest.raises(NotConverged, match="no end"):
        vertex_descent.solve(SlackLP(p.A, p.z, p.e, np.full_like(p.c, -1e6), p.U), COLD)
    twice = program(0, twice=True)
    same = np.flatnonzero((twice.A[0] == twice.A).all(axis=1))
    with pytest.raises(NotConverged, match="singular"):
        vertex_descent.solve(twice, Vertex(np.arange(1), same))
