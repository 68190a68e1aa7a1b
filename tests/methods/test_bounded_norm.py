"""(2.4) of Nath & Bhattacharyya: the SVM whose norm is bounded, beside the program written out and beside (2.6)."""

import cvxpy as cp
import numpy as np
import pytest

from mmc.methods import SVM

KERNELS = {"linear": {}, "rbf": {"kernel": "rbf", "gamma": 0.3}, "poly": {"kernel": "poly", "gamma": 0.2, "degree": 2}}
by_kernel = pytest.mark.parametrize("options", KERNELS.values(), ids=KERNELS)


def points(seed=0, apart=1.5, n=60):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    return rng.normal(size=(n, 3)) + apart * y[:, None], y


def norm(model, X):
    dual = np.zeros(len(X))
    dual[model.support_] = model.dual_coef_[0]
    return float(np.sqrt(dual @ (model.decision_function(X) - model.intercept_[0])))


@pytest.mark.parametrize("W", [0.05, 0.5, 2.0])
@pytest.mark.parametrize("cost", [1.0, 5.0])
def test_it_is_the_cone_program(W, cost):
    X, y = points()
    model = SVM(C_pos=cost, max_norm=W).fit(X, y)
    sign, w, b = 2 * y - 1, cp.Variable(3), cp.Variable()
    losses = cp.multiply(np.where(y, cost, 1.0), cp.pos(1 - cp.multiply(sign, X @ w + b)))
    written = cp.Problem(cp.Minimize(cp.sum(losses)), [cp.norm(w) <= W])
    written.solve(solver="CLARABEL")
    assert model.solution_.objective == pytest.approx(written.value, rel=1e-5)
    assert model.solution_.gap < 1e-5
    assert np.linalg.norm(model.coef_) <= W * (1 + 1e-9)
    np.testing.assert_allclose(model.coef_[0], w.value, atol=1e-3 * W)


@by_kernel
@pytest.mark.parametrize("C", [0.05, 1.0])
def test_c_and_w_are_related(options, C):
    X, y = points(1)
    plain = SVM(C_pos=C, C_neg=2 * C, **options).fit(X, y)
    bounded = SVM(C_pos=1.0, C_neg=2.0, max_norm=norm(plain, X), **options).fit(X, y)
    assert plain.cost_scale_ == 1.0
    assert bounded.cost_scale_ == pytest.approx(C, rel=0.1)  # w can be the same over a range of C
    np.testing.assert_allclose(bounded.decision_function(X), plain.decision_function(X), atol=2e-3)
    again = SVM(C_pos=bounded.cost_scale_, C_neg=2 * bounded.cost_scale_, **options).fit(X, y)
    np.testing.assert_allclose(again.decision_function(X), bounded.decision_function(X), atol=2e-3)


@by_kernel
def test_a_larger_norm_costs_less(options):
    X, y = points(2)
    models = [SVM(max_norm=W, **options).fit(X, y) for W in (0.1, 0.3, 1.0, 3.0)]
    assert all(norm(m, X) <= W * (1 + 1e-6) for m, W in zip(models, (0.1, 0.3, 1.0, 3.0), strict=True))
    assert np.all(np.diff([m.solution_.objective for m in models]) < 0)
    assert np.all(np.diff([m.cost_scale_ for m in models]) > 0)


def test_a_bound_that_does_not_bind():
    X, y = points(3, apart=8.0)
    hard = SVM(C_pos=1e6, C_neg=1e6).fit(X, y)
    model = SVM(max_norm=100.0).fit(X, y)
    assert model.solution_.objective == pytest.approx(0, abs=1e-4)
    assert np.linalg.norm(model.coef_) < 10 * np.linalg.norm(hard.coef_) < 100
    assert model.score(X, y) == 1


@pytest.mark.parametrize("solver", ["interior-point", "cvxpy"])
def test_every_solver_finds_it(solver):
    X, y = points(4)
    first, second = SVM(max_norm=0.4).fit(X, y), SVM(max_norm=0.4, solver=solver).fit(X, y)
    assert second.solution_.objective == pytest.approx(first.solution_.objective, rel=1e-5)
    np.testing.assert_allclose(second.coef_, first.coef_, atol=1e-3)


def test_weights_and_several_classes():
    X, y = points(5)
    twice = SVM(max_norm=0.5).fit(np.vstack([X, X]), np.append(y, y))
    weighted = SVM(max_norm=0.5).fit(X, y, sample_weight=np.full(len(X), 2.0))
    np.testing.assert_allclose(weighted.coef_, twice.coef_, atol=1e-4)
    several = SVM(max_norm=0.5).fit(X, np.arange(len(X)) % 3)
    assert np.all(np.linalg.norm(several.coef_, axis=1) <= 0.5 * (1 + 1e-9))
