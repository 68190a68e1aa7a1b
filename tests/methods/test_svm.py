"""The biased SVM against its optimality conditions, scikit-learn and cvxpy."""

import cvxpy as cp
import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, make_classification
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from mmc.methods import SVM, NotConverged
from mmc.methods.numerics.gram import Gram
from mmc.methods.numerics.kernels import KernelSpec
from mmc.methods.solvers import hinge_interior, libsvm

KERNELS = [{"kernel": "linear"}, {"kernel": "rbf", "gamma": 0.4}, {"kernel": "poly", "gamma": 0.3, "degree": 2}]


def data(n=120, sep=0.6, seed=0):
    shape = {"n_informative": 3, "n_clusters_per_class": 1, "class_sep": sep, "flip_y": 0.1, "weights": [0.6]}
    return make_classification(n, 5, random_state=seed, **shape)


def problem(C=3.0, seed=0, gamma=0.4):
    X, y = data(seed=seed)
    return libsvm.SvmProblem(KernelSpec("rbf", gamma)(X, X), 2.0 * y - 1, np.where(y, 2 * C, C))


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k["kernel"])
def test_it_is_scikit_learns_svc_with_class_weights(kernel):
    X, y = data()
    model = SVM(C_pos=6.0, C_neg=2.0, **kernel).fit(X, y)
    peer = SVC(C=2.0, class_weight={1: 3.0}, tol=1e-6, **{"coef0": 1.0, **kernel}).fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), peer.decision_function(X), atol=1e-4)


@pytest.mark.parametrize("solver", ["libsvm", "interior-point"])
@pytest.mark.parametrize("C", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k["kernel"])
def test_optimality_conditions(kernel, C, solver):
    X, y = data(seed=1)
    model = SVM(C_pos=2 * C, C_neg=C, solver=solver, **kernel).fit(X, y)
    assert model.solution_.gap <= 1e-6
    margin = (2 * y - 1) * model.decision_function(X)
    alpha, bound = model.alpha_, np.where(y, 2 * C, C)
    assert np.all(alpha >= 0)
    assert np.all(alpha <= bound)
    assert abs(alpha @ (2 * y - 1)) <= 1e-10 * np.sum(alpha)
    at_zero, at_bound = alpha == 0, alpha >= bound * (1 - 1e-9)
    assert np.all(margin[at_zero] >= 1 - 1e-5)
    assert np.all(margin[at_bound] <= 1 + 1e-5)
    np.testing.assert_allclose(margin[~at_zero & ~at_bound], 1, atol=1e-5)


def test_objective_agrees_with_cvxpy():
    X, y = data(60)
    sign, C = 2 * y - 1, np.where(y, 0.5, 2.0)
    w, b = cp.Variable(X.shape[1]), cp.Variable()
    loss = cp.sum_squares(w) / 2 + C @ cp.pos(1 - cp.multiply(sign, X @ w + b))
    value = cp.Problem(cp.Minimize(loss)).solve(solver=cp.CLARABEL)
    model = SVM(C_pos=0.5, C_neg=2.0).fit(X, y)
    assert model.solution_.objective == pytest.approx(value, rel=1e-6)
    np.testing.assert_allclose(model.coef_[0], w.value, atol=1e-4)


def test_the_gap_brackets_the_optimum_and_sees_a_perturbation():
    """Every feasible pair of points brackets the optimum, and a worse multiplier has a wider bracket."""
    p = problem()
    hinges = libsvm.Hinges(p.K, np.arange(len(p.sign)), p.sign, p.sign, p.C)
    answer = libsvm.solve(p)
    rng = np.random.default_rng(0)
    gaps = [answer.gap]
    for noise in (1e-3, 1e-1):
        moved = hinges.feasible(answer.alpha + noise * p.C * rng.uniform(-1, 1, len(p.C)))
        assert abs(p.sign @ moved) < 1e-10
        certificate = hinges.certify(moved)
        assert certificate.dual <= answer.objective <= certificate.primal + 1e-9
        gaps.append(certificate.gap)
    assert gaps[0] < 1e-6 < 1e-5 < gaps[1] < gaps[2]


def test_libsvm_alone_does_not_reach_the_gap_that_is_certified():
    """The reason for the Newton steps: single precision leaves a gap that no tolerance of libsvm closes."""
    X, y = load_breast_cancer(return_X_y=True)
    X, sign = StandardScaler().fit_transform(X), 2.0 * y - 1
    K, C = X @ X.T, np.full(len(y), 100.0)
    peer = SVC(C=100.0, kernel="precomputed", tol=1e-7).fit(K, sign)
    alpha = np.zeros(len(y))
    alpha[peer.support_] = np.abs(peer.dual_coef_[0])
    hinges = libsvm.Hinges(K, np.arange(len(y)), sign, sign, C)
    assert hinges.certify(hinges.feasible(alpha)).gap > 1e-6
    assert libsvm.solve(libsvm.SvmProblem(K, sign, C)).gap < 1e-9


def test_multiplying_the_kernel_and_dividing_C_leaves_the_classifier():
    p = problem()
    first, second = libsvm.solve(p), libsvm.solve(libsvm.SvmProblem(100 * p.K, p.sign, p.C / 100))
    np.testing.assert_allclose(first.alpha, 100 * second.alpha, atol=1e-5)
    assert first.b == pytest.approx(second.b, abs=1e-6)


def test_every_point_may_have_its_own_bound():
    """A point given twice with half the bound each is that point."""
    p = problem()
    twice = libsvm.SvmProblem(np.tile(p.K, (2, 2)), np.tile(p.sign, 2), np.tile(p.C / 2, 2))
    once, both = libsvm.solve(p), libsvm.solve(twice)
    assert once.objective == pytest.approx(both.objective, rel=1e-6)
    np.testing.assert_allclose(once.alpha, np.sum(np.split(both.alpha, 2), axis=0), atol=1e-3)


def test_a_large_C_where_libsvm_would_hardly_end():
    """Two overlapping classes in one feature: C/10 is solved instead, and the answer is still certified."""
    X = np.random.default_rng(0).normal(size=(300, 2))
    y = (X[:, 0] + np.random.default_rng(1).normal(size=300) > 0).astype(int)
    model = SVM(C_pos=1e5, C_neg=1e5).fit(X, y)
    assert model.solution_.gap <= 1e-6
    assert model.solution_.iterations > 20_000  # the first run was cut off


@pytest.mark.parametrize("C", [3e-3, 0.1, 3.0, 100.0])
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k["kernel"])
def test_both_solvers_agree(kernel, C):
    X, y = data(seed=2)
    X *= 20.0 if kernel["kernel"] == "linear" else 1.0
    p = libsvm.SvmProblem(KernelSpec(**kernel)(X, X), 2.0 * y - 1, np.where(y, 2 * C, C))
    first, second = libsvm.solve(p), hinge_interior.solve(p)
    assert second.gap <= 1e-6
    assert second.objective == pytest.approx(first.objective, rel=first.gap + second.gap + 1e-12)
    near = 1e-6 + 4 * np.sqrt(2 * (first.gap + second.gap) * first.objective)
    np.testing.assert_allclose(p.K @ (p.sign * (first.alpha - second.alpha)), second.b - first.b, atol=near)


@pytest.mark.parametrize("kernel", KERNELS[:2], ids=lambda k: k["kernel"])
def test_rows_on_demand_serve_the_interior_point_method(kernel):
    X, y = data()
    sign, C, spec = 2.0 * y - 1, np.full(len(y), 3.0), KernelSpec(**kernel)
    whole, rows = (hinge_interior.solve(libsvm.SvmProblem(K, sign, C)) for K in (spec(X, X), Gram(spec, X)))
    np.testing.assert_allclose(whole.alpha, rows.alpha, atol=1e-6)


def test_what_is_moved_until_the_sum_is_zero_are_free_multipliers():
    """One of the heavier side, else one of the lighter side; what is at a bound stays there while that is possible."""
    side, C = np.array([1.0, 1.0, -1.0, -1.0]), np.ones(4)
    hinges = libsvm.Hinges(np.eye(4), np.arange(4), side, side, C)
    np.testing.assert_allclose(hinges.feasible(np.array([1.0, 0.5, 1.0, 0.3])), [1.0, 0.3, 1.0, 0.3])
    np.testing.assert_allclose(hinges.feasible(np.array([1.0, 1.0, 1.0, 0.3])), [1.0, 1.0, 1.0, 1.0])
    np.testing.assert_allclose(hinges.feasible(np.array([1.0, 0.0, 0.2, 0.0])), [1.0, 0.0, 1.0, 0.0])
    np.testing.assert_allclose(hinges.feasible(np.array([1.0, 1.0, 1.0, 0.0])), [0.5, 0.5, 1.0, 0.0])


def test_a_path_over_C_is_the_separate_fits():
    X, y = data()
    X_test, _ = data(30, seed=5)
    grid = [{"C_pos": c, "C_neg": d, "kernel": "rbf", "gamma": 0.2} for c in (0.1, 1, 10) for d in (0.1, 10)]
    for step in SVM().fit_path(X, y, grid, X_test):
        alone = SVM(**step.params).fit(X, y)
        np.testing.assert_allclose(step.decision, alone.decision_function(X_test), atol=1e-10)


def test_stopped_short():
    X, y = data()
    with pytest.raises(NotConverged, match="raise max_iter"):
        SVM(kernel="rbf", gamma=0.4, solver_options={"max_iter": 2}).fit(X, y)


@pytest.mark.parametrize("name", ["C_pos", "C_neg"])
def test_costs_must_be_positive(name):
    X, y = data(20)
    with pytest.raises(ValueError, match=f"'{name}' parameter of SVM must be a float in the range"):
        SVM(**{name: 0.0}).fit(X, y)


@pytest.mark.parametrize("solver", ["libsvm", "interior-point"])
def test_a_kernel_that_is_none_is_refused(solver):
    X, y = data()
    with pytest.raises(NotConverged, match="not positive semidefinite"):
        SVM(kernel=lambda A, B: -A @ B.T, solver=solver).fit(X, y)
    with pytest.raises(ValueError, match="NaN"):
        SVM(kernel=lambda A, B: np.full((len(A), len(B)), np.nan), solver=solver).fit(X, y)


@pytest.mark.parametrize("solver", ["libsvm", "interior-point"])
def test_points_that_a_kernel_cannot_tell_apart(solver):
    """K = 0: nothing but the bias is left, and it costs every point its margin, or the smaller class twice that."""
    model = SVM(solver=solver).fit(np.zeros((10, 2)), np.arange(10) > 5)
    assert model.solution_.objective == pytest.approx(8.0)


@pytest.mark.parametrize("memory", [0.0, 4e9])
@pytest.mark.parametrize(
    "kernel", [*KERNELS, {"kernel": lambda A, B: (A @ B.T + 1) ** 2}], ids=lambda k: str(k["kernel"])[:9]
)
def test_rows_on_demand_are_the_matrix(kernel, memory):
    """libsvm is given the points and makes its own kernel, which must be the one that the Newton steps use."""
    X, y = data(seed=4)
    spec, sign, C = KernelSpec(**kernel), 2.0 * y - 1, np.where(y, 6.0, 3.0)
    whole = libsvm.solve(libsvm.SvmProblem(spec(X, X), sign, C))
    rows = libsvm.solve(libsvm.SvmProblem(Gram(spec, X, memory), sign, C))
    assert max(rows.gap, whole.gap) <= 1e-6
    assert rows.objective == pytest.approx(whole.objective, rel=rows.gap + whole.gap + 1e-12)
    values = [spec(X, X) @ (answer.alpha * sign) + answer.b for answer in (rows, whole)]
    np.testing.assert_allclose(*values, atol=1e-6 + 4 * np.sqrt(2 * (rows.gap + whole.gap) * whole.objective))
