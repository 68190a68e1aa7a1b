"""The maxi-min margin machine: (12) by bisection, and invariances."""

from math import inf

import cvxpy as cp
import numpy as np
import pytest

from mmc.methods import M4, FitError, InfeasibleProblem, NotConverged
from mmc.methods.dispersions import dispersions

from .test_mmrm import overlapping, separable


def halves(F, z, ridge):
    """Return matrices S with S'S = Σ + ridge·I for both classes."""
    for c in (1, -1):
        part = F[z == c]
        centred = (part - part.mean(axis=0)) / np.sqrt(len(part))
        yield np.vstack([centred, np.sqrt(ridge) * np.eye(F.shape[1])])


def rho_of_12(X, z):
    """Bisect ρ: is (12) feasible with w'(x̄ - ȳ) = 1?"""
    w, b, rho = cp.Variable(X.shape[1]), cp.Variable(), cp.Parameter(nonneg=True)
    short = cp.Variable()
    S_x, S_y = halves(X, z, 0.0)
    d = X[z > 0].mean(axis=0) - X[z < 0].mean(axis=0)
    constraints = [
        X[z > 0] @ w + b + short >= rho * cp.norm(S_x @ w),
        -(X[z < 0] @ w + b) + short >= rho * cp.norm(S_y @ w),
        d @ w == 1,
    ]
    problem = cp.Problem(cp.Minimize(short), constraints)
    low, high = 0.0, 100.0
    while high - low > 1e-7 * high:
        rho.value = (low + high) / 2
        problem.solve(solver=cp.CLARABEL, tol_gap_abs=1e-9, tol_gap_rel=1e-9, tol_feas=1e-9)
        if short.value <= 0:
            low = rho.value
        else:
            high = rho.value
    return low


@pytest.mark.parametrize("dimensions", [2, 6])
def test_the_hard_margin_is_12(dimensions):
    X, z = separable(dimensions)
    model = M4(C=inf, ridge=0.0).fit(X, z)
    assert rho_of_12(X, z) == pytest.approx(model.rho_, rel=1e-6)
    d = dispersions(model.coef_, X, z, sizes_divide=True)
    assert d.b_m / d.w_s == pytest.approx(model.rho_, rel=1e-6)


def test_the_bias_divides_the_margin_as_12_does():
    """w'x + b ≥ ρ s_x and -(w'y + b) ≥ ρ s_y hold, and both are tight."""
    X, z = separable(5, seed=3)
    X[z > 0] *= 1.5
    model = M4(C=inf, ridge=0.0).fit(X, z)
    f = model.decision_function(X)
    for c in (1, -1):
        assert (c * f[z == c]).min() == pytest.approx(model.rho_ * f[z == c].std(), rel=1e-6)


@pytest.mark.parametrize("C", [0.02, 0.2, 5.0])
def test_the_objective_of_the_soft_margin_is_that_of_its_definition(C):
    X, z = overlapping(60)
    model = M4(C=C, ridge=1e-3).fit(X, z)
    w = model.coef_[0]
    s_x, s_y = (np.linalg.norm(S @ w) for S in halves(X, z, 1e-3))
    b = model.intercept_[0] - ((s_x - s_y) / (s_x + s_y) if s_x + s_y > 0 else 0.0)
    value = s_x + s_y + C * np.maximum(1 - z * (X @ w + b), 0).sum()
    assert model.solution_.objective == pytest.approx(value, rel=1e-9)


def test_a_kernel_is_the_linear_method_on_its_features():
    X, z = overlapping(60, dimensions=2)
    features = np.column_stack([X[:, 0] ** 2, X[:, 1] ** 2, np.sqrt(2) * X[:, 0] * X[:, 1]])
    features = np.column_stack([features, np.sqrt(2) * X, np.ones(len(X))])
    exact = {"ridge": 1e-2, "solver_options": {"tol": 1e-11}}
    first = M4(kernel="poly", gamma=1.0, degree=2, **exact).fit(X, z)
    second = M4(**exact).fit(features, z)
    np.testing.assert_allclose(first.decision_function(X), second.decision_function(features), rtol=1e-4, atol=1e-5)


def test_a_large_C_is_the_hard_margin():
    X, z = separable(4)
    hard, soft = (M4(C=C, ridge=0.0).fit(X, z) for C in (inf, 1e3))
    assert soft.rho_ == pytest.approx(hard.rho_, rel=1e-5)


def test_without_a_ridge_it_does_not_depend_on_an_affine_map():
    X, z = overlapping()
    A = np.random.default_rng(2).normal(size=(3, 3)) * [1.0, 20.0, 0.05]
    first, second = M4(ridge=0.0).fit(X, z), M4(ridge=0.0).fit(X @ A + 3, z)
    assert second.solution_.objective == pytest.approx(first.solution_.objective, rel=1e-6)
    np.testing.assert_allclose(second.decision_function(X @ A + 3), first.decision_function(X), rtol=1e-3, atol=1e-4)


def test_a_path_over_C_equals_separate_fits():
    X, z = overlapping(50)
    model = M4(kernel="rbf", gamma=0.5, ridge=1e-3)
    for step in model.fit_path(X, z, [{"C": C} for C in (0.1, 1.0, 10.0)], X):
        alone = M4(kernel="rbf", gamma=0.5, ridge=1e-3, **step.params).fit(X, z)
        np.testing.assert_allclose(step.decision, alone.decision_function(X))


def test_what_has_no_answer_is_an_error():
    X, z = overlapping()
    with pytest.raises(InfeasibleProblem, match="not separable") as error:
        M4(C=inf).fit(X, z)
    assert error.value.distance > 0
    with pytest.raises(FitError, match="ridge > 0"):
        M4(ridge=0.0).fit(np.column_stack([X, z]), z)
    with pytest.raises(NotConverged, match="certified to"):
        M4(solver_options={"gap": 1e-300}).fit(X, z)


@pytest.mark.parametrize("solver", ["sequential-socp", "newton", "cvxpy"])
@pytest.mark.parametrize("scale", [1.0, 1e6])
def test_where_no_direction_is_worth_its_cost_w_is_exactly_0(solver, scale):
    """A solver leaves a tiny w there, whose spreads the decision values do not show."""
    X, z = overlapping(60)
    z = np.where(np.arange(60) == 0, 1, -1)
    model = M4(C=0.1, solver=solver).fit(scale * X, z)
    assert not model.coef_.any()
    np.testing.assert_array_equal(model.decision_function(scale * X), -1)
    assert model.solution_.objective == pytest.approx(0.2, rel=1e-12)
    assert np.isnan(model.rho_)
