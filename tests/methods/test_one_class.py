"""The one-class ellipsoid machine: optimality, the cone program written out, and what ν promises."""

import cvxpy as cp
import numpy as np
import pytest
from sklearn.svm import OneClassSVM
from sklearn.utils.estimator_checks import parametrize_with_checks

from mmc.methods import InfeasibleProblem, NotConverged, OneClassSMEM

KERNELS = {
    "linear": {"kernel": "linear"},
    "rbf": {"kernel": "rbf", "gamma": 0.3},
    "poly": {"kernel": "poly", "gamma": 0.2, "degree": 2},
}
by_kernel = pytest.mark.parametrize("options", KERNELS.values(), ids=KERNELS)


def knowledge(seed, n=30, d=3, size=0.3):
    """Points, spheres and ellipsoids away from the origin."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) + 4
    roots = size * rng.normal(size=(n, d, d))
    kinds = rng.integers(0, 3, n)
    return X, [[0.0, float(abs(R[0, 0])), R @ R.T][kind] for kind, R in zip(kinds, roots, strict=True)]


def matrices(shapes, d=3):
    return [np.asarray(s) if np.ndim(s) else s**2 * np.eye(d) for s in shapes]


@parametrize_with_checks([OneClassSMEM(), OneClassSMEM(nu=0.1, kernel="poly", gamma=0.1, degree=2)])
def test_scikit_learn_conformance(estimator, check):
    check(estimator)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("nu", [0.01, 0.2, 0.55, 1.0])
def test_the_linear_one_is_the_cone_program(seed, nu):
    X, shapes = knowledge(seed)
    model = OneClassSMEM(nu, kernel="linear", tol=1e-8).fit(X, shapes=shapes)
    w, rho, slack = cp.Variable(3), cp.Variable(), cp.Variable(len(X), nonneg=True)
    roots = [np.linalg.cholesky(sigma + 1e-15 * np.eye(3)) for sigma in matrices(shapes)]
    inside = [cp.SOC(X[i] @ w - rho + slack[i], R.T @ w) for i, R in enumerate(roots)]
    written = cp.Problem(cp.Minimize(cp.sum_squares(w) / 2 - rho + cp.sum(slack) / (nu * len(X))), inside)
    written.solve(solver="CLARABEL")
    assert model.solution_.objective == pytest.approx(written.value, rel=1e-6)
    assert model.solution_.gap < 1e-6
    np.testing.assert_allclose(model.coef_[0], w.value, rtol=1e-3, atol=1e-4)


@by_kernel
@pytest.mark.parametrize("nu", [0.1, 0.5])
def test_optimality_conditions(options, nu):
    X, shapes = knowledge(5)
    model = OneClassSMEM(nu, **options, tol=1e-8).fit(X, shapes=shapes)
    most, held = 1 / (nu * len(X)), np.bincount(model.owner_, model.dual_coef_[0], len(X))
    assert held.sum() == pytest.approx(1)
    assert held.max() <= most * (1 + 1e-9)
    scale = abs(model.offset_)
    for point, owner in zip(model.support_vectors_, model.owner_, strict=True):
        apart, sigma = point - X[owner], matrices(shapes)[owner]
        assert apart @ np.linalg.pinv(sigma) @ apart <= 1 + 1e-6 if sigma.any() else not apart.any()
    below = model.lowest_ < model.offset_ - 1e-4 * scale
    above = model.lowest_ > model.offset_ + 1e-4 * scale
    np.testing.assert_allclose(held[below], most, rtol=1e-3)  # a set that is cut has the largest weight
    np.testing.assert_allclose(held[above], 0, atol=1e-3 * most)  # one that is inside has none
    above_lowest = model.score_samples(model.support_vectors_) - model.lowest_[model.owner_]
    assert above_lowest.min() > -1e-6 * scale
    assert model.dual_coef_[0] @ above_lowest < 1e-6 * scale  # weight lies on the lowest points of the sets


@by_kernel
@pytest.mark.parametrize("nu", [0.05, 0.3, 0.7])
def test_at_most_nu_of_the_sets_are_cut_and_at_least_nu_touch(options, nu):
    X, shapes = knowledge(7, n=40)
    model = OneClassSMEM(nu, **options, tol=1e-8).fit(X, shapes=shapes)
    scale = 1e-4 * abs(model.offset_)
    assert np.mean(model.lowest_ < model.offset_ - scale) <= nu
    assert np.mean(model.lowest_ < model.offset_ + scale) >= nu


@by_kernel
def test_points_are_the_one_class_svm(options):
    X, _ = knowledge(2, n=41)  # ν n is no whole number: ρ is unique
    model = OneClassSMEM(0.3, **options, tol=1e-9).fit(X)
    peer = OneClassSVM(nu=0.3, tol=1e-9, coef0=1.0, **options).fit(X)
    np.testing.assert_allclose(model.decision_function(X) * 0.3 * len(X), peer.decision_function(X), atol=1e-3)
    np.testing.assert_array_equal(model.predict(X + 3), peer.predict(X + 3))


@by_kernel
def test_the_whole_of_an_uncut_set_is_inside(options):
    rng = np.random.default_rng(0)
    X, _ = knowledge(3)
    radii = rng.uniform(0, 0.3, len(X))
    model = OneClassSMEM(0.2, **options).fit(X, shapes=radii)
    plain = OneClassSMEM(0.2, **options).fit(X)
    around = rng.normal(size=(len(X), 200, 3))
    around *= radii[:, None, None] / np.linalg.norm(around, axis=2, keepdims=True)
    points = X[:, None, :] + around
    scores = np.array([model.decision_function(one).min() for one in points]) / abs(model.offset_)
    plainly = np.array([plain.decision_function(one).min() for one in points]) / abs(plain.offset_)
    assert np.mean(scores < -1e-3) <= 0.2
    assert np.mean(plainly < -1e-3) > np.mean(scores < -1e-3)  # to look at the centres alone does not do


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_a_rotation_changes_nothing(kernel):
    X, shapes = knowledge(4)
    Q = np.linalg.qr(np.random.default_rng(0).normal(size=(3, 3)))[0]
    turned = [s if not np.ndim(s) else Q.T @ s @ Q for s in shapes]
    one = OneClassSMEM(0.3, kernel=kernel, gamma=0.3, tol=1e-8).fit(X, shapes=shapes)
    two = OneClassSMEM(0.3, kernel=kernel, gamma=0.3, tol=1e-8).fit(X @ Q, shapes=turned)
    np.testing.assert_allclose(one.decision_function(X), two.decision_function(X @ Q), atol=1e-4 * abs(one.offset_))


def test_larger_sets_leave_a_smaller_margin():
    X, _ = knowledge(6)
    models = [OneClassSMEM(0.1, kernel="linear").fit(X, shapes=[r] * len(X)) for r in (0.0, 0.3, 0.6)]
    margins = [model.offset_ / np.linalg.norm(model.coef_) for model in models]
    # equal spheres move every worst value by r‖w‖: the direction stays, the distance from the origin shrinks by r
    np.testing.assert_allclose(margins, margins[0] - np.array([0.0, 0.3, 0.6]), rtol=1e-4)


def test_sets_around_the_origin():
    X = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    with pytest.raises(InfeasibleProblem, match="around the origin"):
        OneClassSMEM(0.1, kernel="linear").fit(X)
    with pytest.raises(InfeasibleProblem, match="around the origin"):  # the centres are apart from it, the sets are not
        OneClassSMEM(0.1, kernel="linear").fit(X + 2, shapes=[4.0] * 4)


def test_too_few_rounds():
    X, shapes = knowledge(1)
    with pytest.raises(NotConverged, match="after 1 rounds"):
        OneClassSMEM(0.3, kernel="rbf", max_iter=1).fit(X, shapes=shapes)


def test_shapes_are_checked():
    with pytest.raises(ValueError, match="2 shapes for 3 centres"):
        OneClassSMEM().fit(np.eye(3), shapes=[1.0, 2.0])
    with pytest.raises(ValueError, match="has no known gradient"):
        OneClassSMEM(kernel="cosine").fit(np.eye(3) + 1, shapes=[0.1] * 3)
