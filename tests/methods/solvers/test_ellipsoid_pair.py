"""The solvers of the distance between two ellipsoids agree with each other, with cvxpy and with the theory."""

import numpy as np
import pytest

from mmc.methods import InfeasibleProblem
from mmc.methods.problems.ellipsoid_geometry import Coordinates
from mmc.methods.problems.ellipsoid_pair import EllipsoidPair, certify
from mmc.methods.solvers import cvxpy_error_rate, ellipsoid, margin_socp, secular

from ..ellipsoids import (
    ETAS,
    TABLE_1,
    answer,
    assert_same,
    coordinates,
    fold,
    inner_products,
    kappa,
    kernel_coordinates,
    random_problem,
)


@pytest.mark.parametrize("name", TABLE_1)
def test_solvers_agree_on_table_1_linear(name):
    """Objective, gap and direction to 1e-6 where all converge; every solver sees the same ×."""
    _, eta_neg = TABLE_1[name]
    geometry = coordinates(*fold(name))
    for eta in ETAS:
        problem = EllipsoidPair(geometry, kappa(eta, eta_neg))
        if geometry.edge.demand(problem.kappa)[1] >= 1:
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
            if geometry.edge.demand(problem.kappa)[1] >= 1:
                continue
            r, gap = answer(problem, secular)
            assert gap <= 1e-8
            size = 1e-6 * np.abs(geometry.rows @ r).max()
            if eta == 0.5:
                np.testing.assert_allclose(geometry.rows @ (answer(problem, margin_socp)[0] - r), 0, atol=size)
            if ridge:
                np.testing.assert_allclose(geometry.rows @ (answer(problem, ellipsoid, tol=1e-8)[0] - r), 0, atol=size)
            found = secular.solve(EllipsoidPair(gram, problem.kappa))
            proof = certify(EllipsoidPair(gram, problem.kappa), found.primal, found.dual)
            assert proof.gap <= 1e-8
            order = np.random.default_rng(0).permutation(len(geometry.rows))
            np.testing.assert_allclose(proof.scale * gram.pull(found.primal), (geometry.rows @ r)[order], atol=size)


@pytest.mark.parametrize("seed", range(24))
def test_random_problems_against_cvxpy(seed):
    """Objective and feasibility, well inside, near both sides of the edge, and with η = 1."""
    geometry, rng = random_problem(seed)
    etas = [rng.uniform(0.05, 1), rng.uniform(0.05, 1)]
    if seed % 6 == 5:
        etas[seed % 2] = 1.0
    asked = np.array(kappa(*etas))
    p = geometry.edge.demand(tuple(asked))[1]
    edge = asked.max() < 30 * p  # else it lies at rates below 0.1 %: a singular covariance can allow them
    for share in (0.5, 1 - 1e-4, 1 + 1e-4) if edge else (1.0,):
        problem = EllipsoidPair(geometry, tuple(asked * (share / p if edge else 1.0)))
        if share > 1:
            for solver in (secular, margin_socp, cvxpy_error_rate):
                with pytest.raises(InfeasibleProblem) as caught:
                    solver.solve(problem)
                assert caught.value.distance == pytest.approx(1e-4, rel=1e-4)
            continue
        found = secular.solve(problem)
        proof = certify(problem, found.primal, found.dual)
        assert proof.gap <= 1e-8
        if share in (0.5, 1.0):
            other, _ = answer(problem, cvxpy_error_rate)
            assert other @ other == pytest.approx(proof.scale**2 * proof.norm2, rel=1e-5)


def test_points_instead_of_ellipsoids():
    """η = 1 leaves the mean of a class: with both, w is along d; with one, all solvers agree."""
    rng = np.random.default_rng(2)
    geometry = coordinates(rng.normal(size=(30, 4)) + 2, rng.normal(size=(30, 4)))
    for space in (geometry, inner_products(geometry)):
        found = secular.solve(EllipsoidPair(space, (0.0, 0.0)))
        np.testing.assert_allclose(found.primal, space.d)
    problem = EllipsoidPair(geometry, (0.0, 0.8))
    r, gap = answer(problem, secular)
    assert gap <= 1e-12
    for solver, options in ((margin_socp, {}), (margin_socp, {"backend": "ecos"}), (ellipsoid, {"tol": 1e-9})):
        assert_same(answer(problem, solver, **options), r, as_certified="backend" in options)


def test_the_edge_is_where_solvers_change_their_mind():
    geometry = coordinates(*fold("heart_cleveland"))
    for kappa1 in (0.1, 0.5, 1.0, 1.4):
        edge = geometry.edge.largest(kappa1)
        secular.solve(EllipsoidPair(geometry, (kappa1, edge * (1 - 1e-5))))
        with pytest.raises(InfeasibleProblem):
            secular.solve(EllipsoidPair(geometry, (kappa1, edge * (1 + 1e-5))))
        assert geometry.edge.mirrored.largest(edge) == pytest.approx(kappa1, rel=1e-9)
    assert np.isnan(geometry.edge.largest(100.0))


def test_a_share_of_the_covariances_is_the_same_problem_as_shorter_rows():
    P, N = fold("heart_cleveland")
    whole, share = coordinates(P, N, ridge=0.1), (0.9, 0.6)
    rows = whole.rows * np.sqrt(whole.member @ share)[:, None]
    problem = EllipsoidPair(Coordinates(whole.member, whole.ridge, whole.d, whole.plain, None, share), kappa(0.5, 0.9))
    other = EllipsoidPair(Coordinates(whole.member, whole.ridge, whole.d, rows), problem.kappa)
    np.testing.assert_allclose(problem.geometry.covariances, other.geometry.covariances, rtol=1e-12, atol=1e-14)
    r = secular.solve(problem).primal
    for seen in (certify(problem, r), certify(other, r)):
        assert seen.gap < 1e-10
    assert certify(problem, r + 0.1).gap == pytest.approx(certify(other, r + 0.1).gap, rel=1e-10)
