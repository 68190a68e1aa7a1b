"""Both solvers of the soft-margin SVM against each other, and what the Newton steps after libsvm are for."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from mmc.methods.numerics.gram import LazyGram
from mmc.methods.numerics.kernels import KernelSpec
from mmc.methods.problems.hinges import SvmProblem
from mmc.methods.solvers import Session, hinge_interior, libsvm
from tests.methods.test_svm import KERNELS, data


def solved(solver, p):
    """Return the answer of a solver and what it proves."""
    answer = solver.solve(p)
    return answer, p.certify(answer.primal, answer.dual)


def problem(C=3.0, seed=0, gamma=0.4):
    X, y = data(seed=seed)
    return SvmProblem(KernelSpec("rbf", gamma)(X, X), 2.0 * y - 1, np.where(y, 2 * C, C))


def test_libsvm_alone_does_not_reach_the_gap_that_is_certified():
    """The reason for the Newton steps: single precision leaves a gap that no tolerance of libsvm closes."""
    X, y = load_breast_cancer(return_X_y=True)
    X, sign = StandardScaler().fit_transform(X), 2.0 * y - 1
    K, C = X @ X.T, np.full(len(y), 100.0)
    peer = SVC(C=100.0, kernel="precomputed", tol=1e-7).fit(K, sign)
    alpha = np.zeros(len(y))
    alpha[peer.support_] = np.abs(peer.dual_coef_[0])
    p = SvmProblem(K, sign, C)
    assert p.certify(*p.points(p.hinges.feasible(alpha))).gap > 1e-6
    assert solved(libsvm, p)[1].gap < 1e-9


def test_multiplying_the_kernel_and_dividing_C_leaves_the_classifier():
    p = problem()
    first, second = libsvm.solve(p), libsvm.solve(SvmProblem(100 * p.K, p.sign, p.C / 100))
    np.testing.assert_allclose(first.dual.a, 100 * second.dual.a, atol=1e-5)
    assert first.primal.b == pytest.approx(second.primal.b, abs=1e-6)


def test_every_point_may_have_its_own_bound():
    """A point given twice with half the bound each is that point."""
    p = problem()
    twice = SvmProblem(np.tile(p.K, (2, 2)), np.tile(p.sign, 2), np.tile(p.C / 2, 2))
    (once, value), (both, other) = solved(libsvm, p), solved(libsvm, twice)
    assert value.objective == pytest.approx(other.objective, rel=1e-6)
    np.testing.assert_allclose(once.dual.a, np.sum(np.split(both.dual.a, 2), axis=0), atol=1e-3)


@pytest.mark.parametrize("C", [3e-3, 0.1, 3.0, 100.0])
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k["kernel"])
def test_both_solvers_agree(kernel, C):
    X, y = data(seed=2)
    X *= 20.0 if kernel["kernel"] == "linear" else 1.0
    p = SvmProblem(KernelSpec(**kernel)(X, X), 2.0 * y - 1, np.where(y, 2 * C, C))
    (one, first), (two, second) = solved(libsvm, p), solved(hinge_interior, p)
    assert second.gap <= 1e-6
    assert second.objective == pytest.approx(first.objective, rel=first.gap + second.gap + 1e-12)
    near = 1e-6 + 4 * np.sqrt(2 * (first.gap + second.gap) * first.objective)
    np.testing.assert_allclose(p.K @ (one.primal.coef - two.primal.coef), two.primal.b - one.primal.b, atol=near)


@pytest.mark.parametrize("kernel", KERNELS[:2], ids=lambda k: k["kernel"])
def test_rows_on_demand_serve_the_interior_point_method(kernel):
    X, y = data()
    sign, C, spec = 2.0 * y - 1, np.full(len(y), 3.0), KernelSpec(**kernel)
    whole, rows = (hinge_interior.solve(SvmProblem(K, sign, C)) for K in (spec(X, X), LazyGram(spec, X)))
    np.testing.assert_allclose(whole.dual.a, rows.dual.a, atol=1e-6)


@pytest.mark.parametrize("memory", [0.0, 4e9])
@pytest.mark.parametrize(
    "kernel", [*KERNELS, {"kernel": lambda A, B: (A @ B.T + 1) ** 2}], ids=lambda k: str(k["kernel"])[:9]
)
def test_rows_on_demand_are_the_matrix(kernel, memory):
    """libsvm is given the points and makes its own kernel, which must be the one that the Newton steps use."""
    X, y = data(seed=4)
    spec, sign, C = KernelSpec(**kernel), 2.0 * y - 1, np.where(y, 6.0, 3.0)
    one, whole = solved(libsvm, SvmProblem(spec(X, X), sign, C))
    two, rows = solved(libsvm, SvmProblem(LazyGram(spec, X, memory), sign, C))
    assert max(rows.gap, whole.gap) <= 1e-6
    assert rows.objective == pytest.approx(whole.objective, rel=rows.gap + whole.gap + 1e-12)
    values = [spec(X, X) @ answer.primal.coef + answer.primal.b for answer in (one, two)]
    np.testing.assert_allclose(*values, atol=1e-6 + 4 * np.sqrt(2 * (rows.gap + whole.gap) * whole.objective))


@pytest.mark.parametrize("C", [1e-2, 1.0, 1e2, 1e4])
def test_an_interior_point_needs_few_steps_whatever_C_is(C):
    """Newton's direction is right: a sign that is not costs hundreds of steps after it."""
    X, y = data(seed=0)
    assert hinge_interior.solve(SvmProblem(X @ X.T, 2.0 * y - 1, np.full(len(y), C))).iterations <= 40


def test_a_solution_without_bounds_serves_larger_costs_and_no_smaller_ones(monkeypatch):
    """Two separable clouds: from some C on no multiplier is at its bound, and the answer stays."""
    runs, run = [], libsvm.run_libsvm
    monkeypatch.setattr(libsvm, "run_libsvm", lambda *given: runs.append(1) or run(*given))
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(-3, 1, (30, 2)), rng.normal(3, 1, (30, 2))])
    K, sign, session = X @ X.T, np.repeat([-1.0, 1.0], 30), Session()
    for C, fresh in ((1e-3, True), (10.0, True), (1e3, False), (1e5, False), (1e-3, True), (1e3, True)):
        p, before = SvmProblem(K, sign, np.full(60, C)), len(runs)
        answer = libsvm.solve(p, session=session)
        assert (len(runs) > before) == fresh
        bracket = p.certify(answer.primal, answer.dual)
        assert bracket.reached <= 1e-6
        assert bracket.objective == pytest.approx(solved(libsvm, p)[1].objective, rel=1e-6)


def test_a_start_that_is_no_solution_is_mended():
    p, session = problem(C=1e4), Session()
    session.kept = np.zeros(len(p.sign))
    answer = libsvm.solve(p, session=session)
    assert p.certify(answer.primal, answer.dual).reached <= 1e-6
