"""Ellipsoid machines: the alternating algorithm against the exact cone program, and what the paper says of both."""

import cvxpy as cp
import numpy as np
import pytest
from sklearn.svm import SVC

from mmc import datasets
from mmc.methods import HMEM, SCSVM, SMEM, TSVC, InfeasibleProblem, NotConverged
from mmc.methods.numerics.kernels import KernelSpec

METHODS = (HMEM, SMEM, TSVC, SCSVM)
RBF = {"kernel": "rbf", "gamma": 0.3}
POLY = {"kernel": "poly", "gamma": 1.0, "degree": 2}


def knowledge(seed, apart, n=14, d=3):
    """Points, spheres and ellipsoids of two classes whose centres are ``apart`` along the first axis."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    X = rng.normal(size=(n, d))
    X[:, 0] += apart * y
    roots = 0.5 * rng.normal(size=(n, d, d))
    kinds = rng.integers(0, 3, n)
    shapes = [[0.0, float(abs(R[0, 0])), R @ R.T][kind] for kind, R in zip(kinds, roots, strict=True)]
    return X, y, shapes


def matrices(shapes, d=3):
    return [np.asarray(s) if np.ndim(s) else s**2 * np.eye(d) for s in shapes]


def cosine(a, b):
    return float(a @ b / np.linalg.norm(a) / np.linalg.norm(b))


def worst_margins(model, X, y, shapes):
    w = model.coef_[0]
    widths = np.array([np.sqrt(max(w @ sigma @ w, 0)) for sigma in matrices(shapes)])
    return np.where(y == 1, 1, -1) * (X @ w + model.intercept_[0]) - widths


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("C", [0.02, 1.0, 100.0, np.inf])
def test_the_cone_program_is_problem_6(seed, C):
    X, y, shapes = knowledge(seed, apart=9 if np.isinf(C) else 2)
    model = (HMEM(solver="socp") if np.isinf(C) else SMEM(C, solver="socp")).fit(X, y, shapes)
    written = (HMEM(solver="cvxpy") if np.isinf(C) else SMEM(C, solver="cvxpy")).fit(X, y, shapes)
    w = written.coef_[0]
    assert model.solution_.objective == pytest.approx(written.solution_.objective, rel=1e-6)
    assert abs(model.solution_.gap) < 1e-6
    assert model.exact_gap_ == model.solution_.gap
    if np.linalg.norm(w) > 1e-3:
        np.testing.assert_allclose(model.coef_[0], w, rtol=1e-3, atol=1e-4 * np.linalg.norm(w))
    for point, center, sigma in zip(model.training_points_, X, matrices(shapes), strict=True):
        assert (point - center) @ np.linalg.pinv(sigma) @ (point - center) <= 1 + 1e-6


def test_sets_too_close_for_any_direction():
    """Where every direction costs more than it gains w = 0 is optimal, and its certificate needs points inside the sets."""
    X, y, shapes = np.array([[0.0, 0], [1, 0]]), np.array([0, 1]), [np.eye(2), 1.0]
    model = SMEM(1.0, solver="socp").fit(X, y, shapes)
    assert np.linalg.norm(model.coef_) < 1e-3
    assert model.solution_.objective == pytest.approx(2)
    assert model.solution_.gap < 1e-6


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("eps", [0.1, 0.01, 0.001])
def test_hard_margin_alternation_reaches_the_optimum_within_eps(seed, eps):
    X, y, shapes = knowledge(seed, apart=9)
    exact = HMEM(solver="socp").fit(X, y, shapes)
    model = HMEM(eps=eps, novelty="own").fit(X, y, shapes)
    norm = np.linalg.norm(exact.coef_)
    assert (
        worst_margins(model, X, y, shapes).min() >= 1 - eps * np.linalg.norm(model.coef_) - 1e-6
    )  # every set is eps-near
    assert np.linalg.norm(model.coef_) <= norm * (1 + 1e-6)  # the SVM on points of the sets relaxes (5)
    assert np.sqrt(2 * model.solution_.objective) - norm <= eps * norm / (1 - eps * norm) * norm + 1e-6
    assert model.exact_gap_ == model.solution_.gap >= -1e-7
    if eps <= 0.01:
        assert cosine(model.coef_[0], exact.coef_[0]) > 0.9999


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("C", [0.1, 1.0, 100.0])
def test_soft_margin_alternation_with_shared_slack_reaches_the_optimum(seed, C):
    X, y, shapes = knowledge(seed, apart=2)
    exact = SMEM(C, solver="socp").fit(X, y, shapes).solution_.objective
    model = SMEM(C, eps=1e-4, novelty="own", slack="shared").fit(X, y, shapes)
    primal = 0.5 * np.sum(model.coef_**2) + C * np.maximum(1 - worst_margins(model, X, y, shapes), 0).sum()
    assert model.solution_.objective == pytest.approx(primal, rel=1e-9)
    assert (primal - exact) / exact <= 1e-5
    assert -1e-7 <= model.exact_gap_ == model.solution_.gap <= 1e-5


@pytest.mark.parametrize("seed", range(5))
def test_one_set_against_others_that_no_plane_separates_makes_6_trivial(seed):
    """Some other set has min f over the one ≤ max f over it for every w: two slacks of at least 2, what w = 0 costs."""
    circles = datasets.load("random_circles", seed=seed)
    model = SMEM(100.0, solver="socp").fit(circles.X, circles.y, circles.shapes)
    assert model.solution_.objective == pytest.approx(2 * 100.0, rel=1e-6)
    assert np.linalg.norm(model.coef_) < 1e-3


@pytest.mark.parametrize("C", [0.1, 1.0, 100.0])
def test_a_slack_per_point_is_certified_as_an_svm_and_its_distance_from_6_is_measured(C):
    X, y, shapes = knowledge(0, apart=2)
    exact = SMEM(C, solver="socp").fit(X, y, shapes).solution_.objective
    model = SMEM(C, eps=0.01, novelty="own").fit(X, y, shapes)
    primal = 0.5 * np.sum(model.coef_**2) + C * np.maximum(1 - worst_margins(model, X, y, shapes), 0).sum()
    assert abs(model.solution_.gap) < 1e-5
    assert model.solution_.objective > exact  # a set pays for each of its points
    assert model.exact_gap_ == pytest.approx((primal - exact) / primal, abs=1e-6)
    assert -1e-6 < model.exact_gap_ < 1


@pytest.mark.parametrize("params", [{"kernel": "linear"}, RBF, POLY], ids=str)
@pytest.mark.parametrize("method", [SMEM, TSVC, SCSVM])
def test_points_alone_make_a_plain_svm(method, params):
    X, y, _ = knowledge(1, apart=1.5, n=60)
    plain = SVC(C=2.0, coef0=1.0, tol=1e-8, **params).fit(X, y)
    for model in (method(C=2.0, covering=None, **params).fit(X, y), method(C=2.0, **params).fit(X, y, np.zeros(60))):
        np.testing.assert_allclose(model.decision_function(X), plain.decision_function(X), atol=1e-3)
        assert model.n_sets_ == model.training_size_ == 60
        assert np.isclose(model.solution_.gap, 0, atol=1e-6)


@pytest.mark.parametrize("params", [{"kernel": "linear"}, RBF, POLY], ids=str)
def test_points_alone_make_a_hard_margin(params):
    X, y, _ = knowledge(1, apart=7, n=40)
    plain = SVC(C=1e7, coef0=1.0, tol=1e-8, **params).fit(X, y)
    model = HMEM(**params).fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), plain.decision_function(X), rtol=1e-3, atol=1e-3)
    assert abs(model.solution_.gap) < 1e-6


def test_a_narrower_novelty_test_keeps_more_points():
    X, y, shapes = knowledge(2, apart=2)
    sizes = [SMEM(eps=0.4, novelty=novelty).fit(X, y, shapes).training_size_ for novelty in ("all", "own")]
    assert sizes[0] <= sizes[1]


def test_critical_points_are_critical():
    """No point of a set has a smaller margin than its most critical one, nor a larger one than its least critical."""
    X, y, shapes = knowledge(3, apart=2)
    sign = np.where(y == 1, 1, -1)
    rng = np.random.default_rng(0)
    for method, side in ((SMEM, 1), (TSVC, -1)):
        model = method(C=1.0).fit(X, y, shapes)
        found = side * sign * model.decision_function(model.critical_points_)
        for i, sigma in enumerate(matrices(shapes)):
            values, vectors = np.linalg.eigh(sigma)
            U = rng.normal(size=(300, 3))
            ball = U / np.linalg.norm(U, axis=1)[:, None] * np.sqrt(np.maximum(values, 0)) @ vectors.T
            assert np.all(side * sign[i] * model.decision_function(X[i] + ball) >= found[i] - 1e-9)


@pytest.mark.parametrize("method", [HMEM, SMEM, TSVC])
def test_a_polynomial_of_degree_1_is_the_linear_kernel(method):
    """Critical points by gradients, (17), are those of (11)."""
    X, y, shapes = knowledge(4, apart=9)
    first = method(eps=0.05).fit(X, y, shapes)
    second = method(eps=0.05, kernel="poly", gamma=1.0, degree=1, coef0=0.0).fit(X, y, shapes)
    np.testing.assert_allclose(second.decision_function(X), first.decision_function(X), rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(second.critical_points_, first.critical_points_, atol=1e-4)
    assert second.n_iter_ == first.n_iter_


@pytest.mark.parametrize("solver", ["alternating", "socp", "cvxpy"])
def test_moving_the_sets_moves_the_boundary(solver):
    X, y, shapes = knowledge(5, apart=2)
    rotation, _ = np.linalg.qr(np.random.default_rng(0).normal(size=(3, 3)))
    model = SMEM(1.0, eps=0.01, slack="shared", solver=solver)
    first = model.fit(X, y, shapes).decision_function(X)
    moved = X @ rotation.T + 5
    second = model.fit(moved, y, [rotation @ sigma @ rotation.T for sigma in matrices(shapes)]).decision_function(moved)
    np.testing.assert_allclose(second, first, atol=2e-3)


def test_the_four_methods_differ_in_the_points_they_train_on():
    X, y, _ = knowledge(6, apart=2, n=40)
    radii = np.full(40, 0.5)
    smem, tsvc, both = SMEM().fit(X, y, radii), TSVC().fit(X, y, radii), TSVC(accumulate=True).fit(X, y, radii)
    sc = SCSVM().fit(X, y, radii)
    assert sc.training_size_ == tsvc.training_size_ == 40
    assert smem.training_size_ > 40
    assert both.training_size_ > 40
    np.testing.assert_array_equal(sc.training_points_, X)
    np.testing.assert_allclose(np.linalg.norm(tsvc.training_points_ - X, axis=1), 0.5)
    sign = np.where(y == 1, 1, -1)
    assert np.all(sign * tsvc.decision_function(tsvc.training_points_) > sign * tsvc.decision_function(X))
    assert np.linalg.norm(smem.coef_) < np.linalg.norm(sc.coef_) < np.linalg.norm(tsvc.coef_) * 1.5


def test_the_best_case_only_improves_as_its_points_are_replaced():
    """Replacing is an alternating minimisation over (w, b) and the points: it beats the SVM on the centres."""
    X, y, shapes = knowledge(7, apart=1)
    assert TSVC(eps=1e-4).fit(X, y, shapes).solution_.objective < SCSVM().fit(X, y, shapes).solution_.objective


@pytest.mark.parametrize("method", [SMEM, TSVC, SCSVM])
def test_without_shapes_a_covering_makes_the_sets(method):
    X, y, _ = knowledge(8, apart=3, n=80)
    model = method(**RBF).fit(X, y)
    assert model.n_sets_ < 80
    assert model.centers_.shape == (model.n_sets_, 3)
    assert np.all(model.radii_ > 0)
    narrow = method(covering={"fraction": 0.1}, **RBF).fit(X, y)
    assert narrow.n_sets_ > model.n_sets_


def test_a_grid_shares_the_sets():
    X, y, shapes = knowledge(9, apart=2)
    grid = [{"C": 0.1}, {"C": 10.0}, {"C": 1.0, "slack": "shared"}]
    steps = list(SMEM().fit_path(X, y, grid, X_test=X, shapes=shapes))
    for step, params in zip(steps, grid, strict=True):
        np.testing.assert_allclose(step.decision, SMEM(**params).fit(X, y, shapes).decision_function(X))


@pytest.mark.parametrize("solver", ["alternating", "socp", "cvxpy"])
def test_overlapping_sets_have_no_hard_margin_and_the_pair_is_named(solver):
    X = np.array([[0.0, 0], [0, 9], [3, 0], [3, 9]])
    y = np.array([0, 0, 1, 1])
    with pytest.raises(
        InfeasibleProblem, match=r"sets 3 \(positive\) and 1 \(negative\) overlap; scaled by 0.75"
    ) as error:
        HMEM(solver=solver).fit(X, y, [1, 2, 1, 2])
    assert error.value.distance == pytest.approx(0.25)
    with pytest.raises(InfeasibleProblem, match=r"sets 3 .* and 1 .* touch") as error:
        HMEM(solver=solver).fit(X, y, [1, 1, 1, 2])
    assert error.value.distance == pytest.approx(0)
    with pytest.raises(InfeasibleProblem, match="overlap"):
        HMEM(**RBF).fit(X, y, [1, 2, 1, 2])


@pytest.mark.parametrize("solver", ["alternating", "socp", "cvxpy"])
def test_disjoint_sets_that_no_plane_separates(solver):
    X, y = np.array([[0.0, 0], [1, 1], [0, 1], [1, 0]]), np.array([0, 0, 1, 1])
    with pytest.raises(InfeasibleProblem, match="cannot be separated with this kernel") as error:
        HMEM(solver=solver).fit(X, y, np.full(4, 0.1))
    assert error.value.distance == pytest.approx(1, abs=1e-4)  # no plane does better than f = 0 here
    model = HMEM(eps=0.01, kernel="poly", gamma=1.0, degree=2).fit(X, y, np.full(4, 0.1))
    assert np.all((model.decision_function(model.critical_points_) > 0) == (y == 1))


def test_hard_margin_separates_the_ellipsoids_of_figure_3():
    """The second-degree polynomial finds a zero-error boundary around ellipses inside a ring of others."""
    angle = 2 * np.pi * np.arange(6) / 6
    X = np.vstack([np.zeros((1, 2)), 4 * np.column_stack([np.cos(angle), np.sin(angle)])])
    shapes = [np.diag([1.5, 0.5])] + [np.array([[0.6, 0.2], [0.2, 0.4]])] * 6
    y = np.array([1, 0, 0, 0, 0, 0, 0])
    model = HMEM(eps=0.05, kernel="poly", gamma=1.0, degree=2).fit(X, y, shapes)
    turn = np.linspace(0, 2 * np.pi, 100)
    circle = np.column_stack([np.cos(turn), np.sin(turn)])
    for x, sigma, label in zip(X, shapes, y, strict=True):
        assert np.all(model.predict(x + circle @ np.linalg.cholesky(sigma).T) == label)


@pytest.mark.parametrize("method", [HMEM, SMEM, TSVC])
def test_a_cap_that_is_too_low_is_told_with_the_last_change(method):
    X, y, shapes = knowledge(2, apart=9 if method is HMEM else 1)
    with pytest.raises(NotConverged, match=r"after 1 outer iterations .* critical points were still new") as error:
        method(eps=1e-3, solver_options={"max_iter": 1}).fit(X, y, shapes)
    assert error.value.iterations == 1
    assert error.value.residual > 1e-3


@pytest.mark.parametrize("method", [HMEM, SMEM])
def test_the_cone_program_takes_no_other_kernel(method):
    X, y, shapes = knowledge(0, apart=9)
    for solver in ("socp", "cvxpy"):
        with pytest.raises(ValueError, match="for kernel='linear' only; for kernel='rbf' take solver='alternating'"):
            method(solver=solver, **RBF).fit(X, y, shapes)


@pytest.mark.parametrize("method", METHODS)
def test_bad_shapes_are_refused(method):
    X, y, shapes = knowledge(0, apart=9)
    with pytest.raises(ValueError, match=r"shapes\[3\]: the radius -1 is negative"):
        method().fit(X, y, [*shapes[:3], -1, *shapes[4:]])
    with pytest.raises(ValueError, match="13 shapes for 14 centres"):
        method().fit(X, y, shapes[1:])


def test_a_kernel_without_a_gradient_serves_where_none_is_needed():
    X, y, shapes = knowledge(0, apart=2)
    kernel = KernelSpec("rbf", 0.3)
    ours, named = SMEM(covering=None, kernel=kernel.__call__).fit(X, y), SMEM(covering=None, **RBF).fit(X, y)
    np.testing.assert_allclose(ours.decision_function(X), named.decision_function(X))
    SCSVM(kernel=kernel.__call__).fit(X, y, shapes)
    with pytest.raises(ValueError, match="callable kernel has no known gradient"):
        SMEM(kernel=kernel.__call__).fit(X, y, shapes)


@pytest.mark.parametrize("kernel", [{"kernel": "linear"}, {"kernel": "rbf", "gamma": 0.5}], ids=["linear", "rbf"])
def test_squared_slacks_of_points_are_the_svm_with_squared_hinge(kernel):
    """Without sets, (6) with Σ ξ² is the SVM with the squared hinge: cvxpy and the estimator agree."""
    rng = np.random.default_rng(5)
    y = np.repeat([1.0, -1.0], 20)
    X = rng.standard_normal((40, 2)) + 0.7 * y[:, None]
    model = SMEM(C=3.0, covering=None, penalty="squared", **kernel).fit(X, y)
    K = X @ X.T if kernel["kernel"] == "linear" else np.exp(-0.5 * ((X[:, None] - X) ** 2).sum(axis=2))
    root = np.linalg.cholesky(K + 1e-10 * np.eye(40)) if kernel["kernel"] == "rbf" else X
    w, b = cp.Variable(root.shape[1]), cp.Variable()
    loss = cp.sum_squares(cp.pos(1 - cp.multiply(y, root @ w + b)))
    problem = cp.Problem(cp.Minimize(cp.sum_squares(w) / 2 + 3.0 * loss))
    problem.solve(solver="CLARABEL")
    assert model.solution_.objective == pytest.approx(problem.value, rel=1e-5)
    assert model.solution_.gap < 1e-5
    np.testing.assert_allclose(model.decision_function(X), root @ w.value + b.value, atol=1e-3)


def test_squared_slacks_of_sets_reach_the_cone_program():
    """(6) with Σ ξ² over ellipsoids: with one slack per set and a small ε, as near to it as ε."""
    rng = np.random.default_rng(6)
    y = np.repeat([1.0, -1.0], 6)
    X = rng.standard_normal((12, 2)) + 0.8 * y[:, None]
    radii = rng.uniform(0.2, 0.6, 12)
    model = SMEM(C=2.0, eps=1e-4, novelty="own", slack="shared", penalty="squared").fit(X, y, shapes=radii)
    w, b = cp.Variable(2), cp.Variable()
    margins = cp.multiply(y, X @ w + b) - radii * cp.norm(w)
    problem = cp.Problem(cp.Minimize(cp.sum_squares(w) / 2 + 2.0 * cp.sum_squares(cp.pos(1 - margins))))
    problem.solve(solver="CLARABEL")
    assert model.solution_.objective == pytest.approx(problem.value, rel=1e-4)
    assert model.exact_gap_ < 1e-3
    np.testing.assert_allclose(model.coef_[0], w.value, rtol=2e-3)
    with pytest.raises(ValueError, match="penalty='squared' needs solver='alternating'"):
        SMEM(penalty="squared", solver="socp").fit(X, y, shapes=radii)
