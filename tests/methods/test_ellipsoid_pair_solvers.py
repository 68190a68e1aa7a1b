"""The solvers of the distance between two ellipsoids agree with each other, with cvxpy and with the theory."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import StratifiedKFold

from mmc.datasets import load
from mmc.methods import FitError, InfeasibleProblem, NotConverged
from mmc.methods.ellipsoid_pair import Coordinates, EllipsoidPair, Gram, certify
from mmc.methods.solvers import ellipsoid, margin_socp, secular

ETAS = (0.9, 0.7, 0.5, 0.3, 0.1)
TABLE_1 = {  # data set, gamma, eta_neg
    "breast_cancer": (0.032, 0.3),
    "heart_cleveland": (0.16, 0.9),
    "ring_norm": (3.0, 0.7),
    "two_norm": (20.0, 0.3),
}


def kappa(*etas):
    return tuple(float(np.sqrt((1 - eta) / eta)) for eta in etas)


def coordinates(P, N, ridge=0.0):
    """The geometry of two classes given by their rows."""
    rows = [(Z - Z.mean(axis=0)) / np.sqrt(len(Z)) for Z in (P, N)]
    member = np.repeat(np.eye(2), [len(P), len(N)], axis=0)
    return Coordinates(member, ridge, P.mean(axis=0) - N.mean(axis=0), np.vstack(rows))


def inner_products(geometry):
    """The same geometry as `Gram`, in a mixed order of rows as a kernel would give it."""
    order = np.random.default_rng(0).permutation(len(geometry.rows))
    rows, d = geometry.rows[order], geometry.d
    G = rows @ rows.T
    return Gram(geometry.member[order], geometry.ridge, G, rows @ d, float(d @ d), 1e-16 * float(np.trace(G)))


def fold(name, seed=0):
    """One training fold of Table 1, standardised, as (positive rows, other rows)."""
    data = load(name, seed=seed)
    train, _ = next(StratifiedKFold(3, shuffle=True, random_state=seed).split(data.X, data.y))
    X, y = data.X[train], data.y[train]
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    return X[y == data.positive], X[y != data.positive]


def kernel_coordinates(P, N, gamma, ridge):
    """Points with the inner products of a Gaussian kernel."""
    values, vectors = np.linalg.eigh(rbf_kernel(np.vstack([P, N]), gamma=gamma))
    Z = (vectors * np.sqrt(np.maximum(values, 0)))[:, values > 1e-13]
    return coordinates(Z[: len(P)], Z[len(P) :], ridge)


def answer(problem, solver, **options):
    """The direction r in coordinates, of unit margin, and its gap."""
    found = solver.solve(problem, **options)
    geometry = problem.geometry.coordinates if found.in_coordinates else problem.geometry
    proof = certify(EllipsoidPair(geometry, problem.kappa), found.r, found.u)
    if isinstance(geometry, Gram):  # αd + Bc in the coordinates of the same Gram matrix
        both = geometry.coordinates
        order = np.argsort(-geometry.member[:, 0], kind="stable")
        r = found.r[0] * both.d + both.push(found.r[1:][order])
    else:
        r = found.r
    return proof.scale * r, proof.gap


def assert_same(found, r, as_certified=False):
    """The direction is r to 1e-6; or, ``as_certified``, to what its gap promises, ½‖w - w*‖² ≤ gap · ½‖w‖², at most 1e-10.

    Rounding ends ECOS at a gap between 1e-16 and 2e-11, on one machine here and on another there.
    """
    direction, gap = found
    if as_certified:
        assert gap <= 1e-10
        assert np.linalg.norm(direction - r) <= max(np.sqrt(gap), 1e-6) * np.linalg.norm(r)
    else:
        np.testing.assert_allclose(direction, r, atol=1e-6 * np.abs(r).max())


def random_problem(seed):
    """Two classes in 2 to 60 dimensions: of full rank, with a singular covariance, or with fewer points than features."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 61))
    kind = seed % 4
    sizes = rng.integers(2, n + 1, 2) if kind == 3 else rng.integers(n + 2, 3 * n + 10, 2)
    P, N = (rng.normal(size=(m, n)) @ rng.normal(size=(n, n)) for m in sizes)
    P = P + rng.normal(size=n) * 10 ** rng.uniform(-0.5, 1)
    if kind == 1:  # a feature that is constant in one class, another that repeats a third
        P[:, 0] = 1.0
        P, N = (np.column_stack([Z, Z[:, 1]]) for Z in (P, N))
    if kind == 2:  # the other class lies in a plane
        N = N[:, :1] * rng.normal(size=n) + N[:, 1:2] * rng.normal(size=n)
    return coordinates(P, N), rng


@pytest.mark.parametrize("name", TABLE_1)
def test_solvers_agree_on_table_1_linear(name):
    """Objective, gap and direction to 1e-6 where all converge; every solver sees the same ×."""
    _, eta_neg = TABLE_1[name]
    geometry = coordinates(*fold(name))
    for eta in ETAS:
        problem = EllipsoidPair(geometry, kappa(eta, eta_neg))
        if geometry.frontier.demand(problem.kappa)[1] >= 1:
            for solver in (secular, margin_socp, ellipsoid):
                with pytest.raises(InfeasibleProblem) as caught:
                    answer(problem, solver)
                assert caught.value.distance >= 0
            continue
        r, gap = answer(problem, secular)
        assert gap <= 1e-12
        for backend in ("clarabel", "ecos"):
            assert_same(answer(problem, margin_socp, backend=backend), r, as_certified=backend == "ecos")
        if name != "breast_cancer":  # there the iteration does not converge within any patience
            np.testing.assert_allclose(answer(problem, ellipsoid, tol=1e-8)[0], r, atol=1e-6 * np.abs(r).max())


@pytest.mark.parametrize("name", TABLE_1)
def test_solvers_agree_on_table_1_with_a_kernel(name):
    """The iteration needs a ridge; the cone program is asked for one cell only, it takes its time."""
    gamma, eta_neg = TABLE_1[name]
    P, N = fold(name)
    P, N = P[::2], N[::2]
    for ridge in (0.0, 1e-3):
        geometry = kernel_coordinates(P, N, gamma, ridge)
        gram = inner_products(geometry)
        for eta in ETAS:
            problem = EllipsoidPair(geometry, kappa(eta, eta_neg))
            if geometry.frontier.demand(problem.kappa)[1] >= 1:
                continue
            r, gap = answer(problem, secular)
            assert gap <= 1e-8
            size = 1e-6 * np.abs(geometry.rows @ r).max()
            if eta == 0.5:
                np.testing.assert_allclose(geometry.rows @ (answer(problem, margin_socp)[0] - r), 0, atol=size)
            if ridge:
                np.testing.assert_allclose(geometry.rows @ (answer(problem, ellipsoid, tol=1e-8)[0] - r), 0, atol=size)
            found = secular.solve(EllipsoidPair(gram, problem.kappa))
            proof = certify(EllipsoidPair(gram, problem.kappa), found.r, found.u)
            assert proof.gap <= 1e-8
            order = np.random.default_rng(0).permutation(len(geometry.rows))
            np.testing.assert_allclose(proof.scale * gram.pull(found.r), (geometry.rows @ r)[order], atol=size)


@pytest.mark.parametrize("seed", range(24))
def test_random_problems_against_cvxpy(seed):
    """Objective and feasibility, well inside, near both sides of the edge, and with η = 1."""
    geometry, rng = random_problem(seed)
    etas = [rng.uniform(0.05, 1), rng.uniform(0.05, 1)]
    if seed % 6 == 5:
        etas[seed % 2] = 1.0
    asked = np.array(kappa(*etas))
    p = geometry.frontier.demand(tuple(asked))[1]
    edge = asked.max() < 30 * p  # else it lies at rates below 0.1 %: a singular covariance can allow them
    for share in (0.5, 1 - 1e-4, 1 + 1e-4) if edge else (1.0,):
        problem = EllipsoidPair(geometry, tuple(asked * (share / p if edge else 1.0)))
        if share > 1:
            for solver in (secular, margin_socp):
                with pytest.raises(InfeasibleProblem) as caught:
                    solver.solve(problem)
                assert caught.value.distance == pytest.approx(1e-4, rel=1e-4)
            continue
        found = secular.solve(problem)
        proof = certify(problem, found.r, found.u)
        assert proof.gap <= 1e-8
        if share in (0.5, 1.0):
            pytest.importorskip("cvxpy")
            other, _ = answer(problem, margin_socp, backend="cvxpy/CLARABEL")
            assert other @ other == pytest.approx(proof.scale**2 * proof.norm2, rel=1e-5)


@settings(deadline=None, derandomize=True, max_examples=40)
@given(seed=st.integers(0, 10_000), share=st.floats(0.01, 0.99))
def test_optimality(seed, share):
    """Conditions (3.25): r = z1 - z2, and each u_i either lies on its sphere along C_i'r or C_i'r vanishes."""
    geometry, rng = random_problem(seed)
    asked = np.array(kappa(*rng.uniform(0.1, 1, 2)))
    p = geometry.frontier.demand(tuple(asked))[1]
    edge = asked.max() < 30 * p
    problem = EllipsoidPair(geometry, tuple(asked * (share / p if edge else 1.0)))
    found = secular.solve(problem)
    proof = certify(problem, found.r, found.u)
    assert proof.gap <= 1e-8
    h = geometry.pull(found.r)
    u = found.u
    if u is None:
        u = h * (geometry.member @ [k / s for k, s in zip(problem.kappa, proof.spread, strict=True)])
    size = np.sqrt(proof.norm2)
    for side, k in zip(geometry.member.T, problem.kappa, strict=True):
        length, spread = np.linalg.norm(u * side), np.linalg.norm(h * side)
        assert length <= k * (1 + 1e-6)
        assert (u * side) @ h == pytest.approx(k * spread, abs=1e-5 * size**2 + 1e-5 * k * spread)
    between = geometry.d - geometry.push(u)
    np.testing.assert_allclose(between, found.r * (between @ found.r) / proof.norm2, atol=1e-3 * size)


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
        assert certify(space, found.r, found.u).gap <= 1e-8
        if space is problem:
            lengths = np.sqrt((found.u**2) @ geometry.member)
            assert tuple(lengths < 2.9) == gone
    r, _ = answer(problem, secular)
    np.testing.assert_allclose(answer(problem, margin_socp)[0], r, atol=1e-6 * np.abs(r).max())


def test_points_instead_of_ellipsoids():
    """η = 1 leaves the mean of a class: with both, w is along d; with one, all solvers agree."""
    rng = np.random.default_rng(2)
    geometry = coordinates(rng.normal(size=(30, 4)) + 2, rng.normal(size=(30, 4)))
    for space in (geometry, inner_products(geometry)):
        found = secular.solve(EllipsoidPair(space, (0.0, 0.0)))
        np.testing.assert_allclose(found.r, space.d)
    problem = EllipsoidPair(geometry, (0.0, 0.8))
    r, gap = answer(problem, secular)
    assert gap <= 1e-12
    for solver, options in ((margin_socp, {}), (margin_socp, {"backend": "ecos"}), (ellipsoid, {"tol": 1e-9})):
        assert_same(answer(problem, solver, **options), r, as_certified="backend" in options)


def test_the_frontier_is_where_solvers_change_their_mind():
    geometry = coordinates(*fold("heart_cleveland"))
    for kappa1 in (0.1, 0.5, 1.0, 1.4):
        edge = geometry.frontier.largest(kappa1)
        secular.solve(EllipsoidPair(geometry, (kappa1, edge * (1 - 1e-5))))
        with pytest.raises(InfeasibleProblem):
            secular.solve(EllipsoidPair(geometry, (kappa1, edge * (1 + 1e-5))))
        assert geometry.frontier.mirrored.largest(edge) == pytest.approx(kappa1, rel=1e-9)
    assert np.isnan(geometry.frontier.largest(100.0))


@settings(deadline=None, derandomize=True, max_examples=25)
@given(seed=st.integers(0, 1000))
def test_feasibility_does_not_depend_on_coordinates(seed):
    """An invertible linear map of feature space moves no edge."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 12))
    P, N = rng.normal(size=(3 * n + 5, n)) + rng.normal(size=n), rng.normal(size=(3 * n + 5, n))
    M = rng.normal(size=(n, n)) * 10.0 ** rng.uniform(-2, 2, n)
    sizes = tuple(rng.uniform(0, 3, 2))
    lower, upper, _ = coordinates(P, N).frontier.demand(sizes)
    assert lower == pytest.approx(upper, rel=1e-9)
    assert coordinates(P @ M, N @ M).frontier.demand(sizes)[1] == pytest.approx(upper, rel=1e-6)


def test_many_sizes_at_once_are_the_same_as_one_by_one():
    P, N = fold("two_norm")
    sizes = [kappa(eta, 0.3) for eta in ETAS]
    together = coordinates(P, N)
    ellipsoid.prepare([EllipsoidPair(together, size) for size in sizes])
    for size in sizes[:-1]:
        one = ellipsoid.solve(EllipsoidPair(coordinates(P, N), size))
        both = ellipsoid.solve(EllipsoidPair(together, size))
        assert one.iterations == both.iterations
        np.testing.assert_allclose(one.r, both.r, rtol=1e-9)
    with pytest.raises(InfeasibleProblem):
        ellipsoid.solve(EllipsoidPair(together, sizes[-1]))


def test_the_cap_of_the_iteration_is_a_status():
    problem = EllipsoidPair(coordinates(*fold("breast_cancer")), kappa(0.5, 0.3))
    with pytest.raises(NotConverged, match="after 50 steps") as caught:
        ellipsoid.solve(problem, max_iter=50)
    assert caught.value.iterations == 50
    assert caught.value.residual > 0.01
    kept = ellipsoid.solve(problem, max_iter=50, at_cap="keep")
    assert kept.status == "iteration-cap"
    assert kept.angle == caught.value.residual
    further = ellipsoid.solve(problem, max_iter=200, at_cap="keep")
    assert np.linalg.norm(further.r) < np.linalg.norm(kept.r)
    with pytest.raises(ValueError, match="at_cap is 'raise' or 'keep'"):
        ellipsoid.solve(problem, at_cap="stop")


def test_the_iteration_refuses_a_singular_covariance():
    rng = np.random.default_rng(0)
    P = rng.normal(size=(20, 3))
    P[:, 0] = 1.0
    with pytest.raises(FitError, match="set ridge > 0"):
        ellipsoid.solve(EllipsoidPair(coordinates(P, rng.normal(size=(20, 3)) - 5), (1.0, 1.0)))


def test_backends_that_do_not_exist():
    problem = EllipsoidPair(coordinates(*fold("two_norm")), (0.5, 0.5))
    with pytest.raises(ValueError, match="did you mean 'clarabel'"):
        margin_socp.solve(problem, backend="claribel")
    pytest.importorskip("cvxpy")
    with pytest.raises(ValueError, match="cvxpy does not reach 'NOSUCH'"):
        margin_socp.solve(problem, backend="cvxpy/NOSUCH")
