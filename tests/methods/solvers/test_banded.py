"""The four solvers of banded SVMs against each other."""

import numpy as np
import pytest
from sklearn.svm import SVR

from mmc.methods.numerics.gram import LazyGram
from mmc.methods.numerics.kernels import KernelSpec
from mmc.methods.problems.banded import BandedProblem
from mmc.methods.solvers import banded_libsvm, banded_qp, banded_smo, hinge_interior
from tests.methods.test_banded import BANDS, KERNELS, by_kernel, data


def proof(p, answer):
    return p.certify(answer.primal, answer.dual)


def values(p, answer):
    return p.K @ answer.primal.coef + answer.primal.b


def state(band, kernel, seed=0, n=100):
    X, y = data(n, seed)
    return BandedProblem(KernelSpec(**kernel)(X, X), 2.0 * y - 1, *band)


@pytest.mark.parametrize("kernel", KERNELS, ids=by_kernel)
@pytest.mark.parametrize("band", [*BANDS, (1.0, np.inf, 1.0, 1.2), (20.0, np.inf, 1.0, 2.0)], ids=str)
@pytest.mark.parametrize(
    "solve", [banded_smo.solve, banded_libsvm.solve, hinge_interior.solve], ids=["smo", "libsvm", "interior-point"]
)
def test_the_solvers_agree(band, kernel, solve):
    p = state(band, kernel)
    first = solve(p, tol=1e-6)
    second = banded_qp.solve(p, tol=1e-8)
    assert proof(p, first).objective == pytest.approx(proof(p, second).objective, rel=1e-6)
    both = [values(p, answer) for answer in (first, second)]
    np.testing.assert_allclose(*both, atol=1e-4)
    if np.isinf(p.C2):
        assert np.max(p.sign * both) <= p.rho2 * (1 + 1e-12)


@pytest.mark.parametrize("kernel", KERNELS, ids=by_kernel)
@pytest.mark.parametrize("band", BANDS, ids=str)
def test_strong_duality(band, kernel):
    """(2.3) and (3.14), evaluated here, meet to 1e-8."""
    p = state(band, kernel, seed=1)
    C1, C2, rho1, rho2 = band
    answer = banded_qp.solve(p, tol=1e-8)
    (alpha, theta), y = np.split(answer.dual.a, 2), p.sign
    assert abs(y @ (alpha - theta)) <= 1e-12 * np.sum(alpha + theta)
    assert min(alpha.min(), theta.min()) >= 0
    assert alpha.max() <= C1
    assert theta.max() <= C2
    square = (y * (alpha - theta)) @ p.K @ (y * (alpha - theta)) / 2
    margin = y * (p.K @ (y * (alpha - theta)) + answer.primal.b)
    primal = square + C1 * np.sum(np.maximum(rho1 - margin, 0)) + C2 * np.sum(np.maximum(margin - rho2, 0))
    dual = rho1 * np.sum(alpha) - rho2 * np.sum(theta) - square
    assert abs(primal - dual) <= 1e-8 * primal
    assert proof(p, answer).objective == pytest.approx(primal, rel=1e-12)


def test_equal_costs_are_the_limit_of_unequal_ones():
    """The plain regression and the stacked one are two programs for the same problem."""
    kernel = {"kernel": "rbf", "gamma": 0.5}
    plain = banded_libsvm.solve(state((2.0, 2.0, 1.0, 1.5), kernel))
    stacked = banded_libsvm.solve(state((2.0, 2.0 * (1 + 1e-9), 1.0, 1.5), kernel))
    np.testing.assert_allclose(plain.primal.coef, stacked.primal.coef, atol=1e-6)


def test_far_decision_values_widen_the_tube(monkeypatch):
    """A point so far out that it passes the outer edge of the first tube, where copy A would charge it again."""
    X = np.random.default_rng(0).normal(size=(40, 2)) + np.repeat([[1.5], [-1.5]], 20, axis=0)
    X[0, 0] = 1e3
    p = BandedProblem(X @ X.T, np.repeat([1.0, -1.0], 20), 1.0, 1e-5, 1.0, 1.5)
    widths = []

    def recorded(**options):
        widths.append(options["epsilon"])
        return SVR(**options)

    monkeypatch.setattr(banded_libsvm, "SVR", recorded)
    answer, reference = banded_libsvm.solve(p), banded_qp.solve(p)
    largest = np.max(np.abs(values(p, answer)))
    assert largest > 2 * widths[0] - p.rho2
    assert largest < 2 * widths[-1] - p.rho2
    assert proof(p, answer).objective == pytest.approx(proof(p, reference).objective, rel=1e-6)


@pytest.mark.parametrize("solve", [banded_smo.solve, banded_libsvm.solve, banded_qp.solve, hinge_interior.solve])
def test_the_bias_without_a_free_multiplier_is_in_the_middle(solve):
    """Two points, C so small that both multipliers are at their bound: every b between is optimal."""
    p = BandedProblem(np.array([[1.0, -1.0], [-1.0, 1.0]]), np.array([1.0, -1.0]), 0.1, 0.0, 1.0, 1.5)
    answer = solve(p)
    np.testing.assert_allclose(answer.dual.a, [0.1, 0.1, 0, 0])
    assert answer.primal.b == pytest.approx(0, abs=1e-3)


@pytest.mark.parametrize("kernel", KERNELS, ids=by_kernel)
def test_no_theta_exceeds_what_a_finite_cost_needs(kernel):
    """With C2 = ρ1/ρ2 n C1 the bound is as good as hard, so that ∞ needs no other program."""
    p = state((5.0, np.inf, 1.0, 1.3), kernel)
    reference = banded_qp.solve(p)
    most = float(p.largest_theta.min())
    assert 0 < np.sum(reference.dual.a[len(p.sign) :]) <= most
    other = state((5.0, most, 1.0, 1.3), kernel)
    finite = proof(other, banded_qp.solve(other))
    assert finite.objective == pytest.approx(proof(p, reference).objective, rel=1e-6)


@pytest.mark.parametrize("kernel", [*KERNELS, {"kernel": "poly", "gamma": 0.3, "degree": 2}], ids=by_kernel)
@pytest.mark.parametrize("band", [*BANDS, (20.0, np.inf, 1.0, 2.0)], ids=str)
@pytest.mark.parametrize("solve", [banded_smo.solve, banded_libsvm.solve], ids=["smo", "libsvm"])
def test_rows_on_demand_are_the_matrix(band, kernel, solve):
    """In libsvm every point twice is two copies of the features there, and four of the matrix here."""
    whole = state(band, kernel, seed=4)
    X, _ = data(seed=4)
    rows = BandedProblem(LazyGram(KernelSpec(**kernel), X, memory=0), whole.sign, *band)
    answers = solve(rows), solve(whole)
    first, second = proof(rows, answers[0]), proof(whole, answers[1])
    assert first.objective == pytest.approx(second.objective, rel=first.gap + second.gap + 1e-12)
    near = 1e-6 + 4 * np.sqrt(2 * (first.gap + second.gap) * second.objective)
    np.testing.assert_allclose(*(values(whole, answer) for answer in answers), atol=near)


@pytest.mark.parametrize("memory", [0, 4e9])
def test_the_descent_alone_is_certified_where_many_points_are_free(monkeypatch, memory):
    """From some number of free points on there is no Newton step: the hard bound is then met by the descent."""
    whole = state((5.0, np.inf, 1.0, 1.2), {"kernel": "rbf", "gamma": 2.0}, n=300)
    X, _ = data(300)
    p = BandedProblem(LazyGram(KernelSpec("rbf", 2.0), X, memory), whole.sign, 5.0, np.inf, 1.0, 1.2)
    monkeypatch.setattr(banded_smo, "_MANY", 10)
    monkeypatch.setattr(banded_smo, "_PART", 20)
    monkeypatch.setattr(banded_smo, "solve_hinges", None)
    found, reference = proof(p, banded_smo.solve(p)), proof(whole, banded_qp.solve(whole))
    assert found.gap <= 1e-6
    assert found.objective == pytest.approx(reference.objective, rel=2e-6)


def test_a_descent_that_stops_short_continues_from_a_tenth_of_C():
    """Steps that do not suffice for C do for less of it; Newton steps lead back."""
    p = state((50.0, 0.5, 0.5, 3.0), {"kernel": "rbf", "gamma": 0.5})
    plenty = banded_smo.solve(p)
    assert plenty.iterations > 150
    short = banded_smo.solve(p, max_iter=150)
    assert proof(p, short).objective == pytest.approx(proof(p, plenty).objective, rel=1e-6)


def test_the_descent_does_not_depend_on_the_order_of_the_rows(monkeypatch):
    """Rows sorted by class: the first round took its points from one class, and found no pair."""
    monkeypatch.setattr(banded_smo, "_PART", 20)
    X, y = data(300)
    order = np.argsort(y, kind="stable")
    found = []
    for rows in (np.arange(len(y)), order, order[::-1]):
        p = BandedProblem(LazyGram(KernelSpec("rbf", 0.5), X[rows]), 2.0 * y[rows] - 1, 5.0, 2.0, 1.0, 1.5)
        found.append(proof(p, banded_smo.solve(p)).objective)
    assert found == pytest.approx([found[0]] * 3, rel=2e-6)
