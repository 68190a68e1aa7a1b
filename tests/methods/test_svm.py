"""The biased SVM against its optimality conditions and scikit-learn."""

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.svm import SVC

from mmc.methods import SVM, FitError, NotConverged

KERNELS = [{"kernel": "linear"}, {"kernel": "rbf", "gamma": 0.4}, {"kernel": "poly", "gamma": 0.3, "degree": 2}]


def data(n=120, sep=0.6, seed=0):
    shape = {"n_informative": 3, "n_clusters_per_class": 1, "class_sep": sep, "flip_y": 0.1, "weights": [0.6]}
    return make_classification(n, 5, random_state=seed, **shape)


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


def test_a_large_C_where_libsvm_would_hardly_end():
    """Two overlapping classes in one feature: C/10 is solved instead, and the answer is still certified."""
    X = np.random.default_rng(0).normal(size=(300, 2))
    y = (X[:, 0] + np.random.default_rng(1).normal(size=300) > 0).astype(int)
    model = SVM(C_pos=1e5, C_neg=1e5).fit(X, y)
    assert model.solution_.gap <= 1e-6
    assert model.solution_.iterations > 20_000  # the first run was cut off


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
    with pytest.raises(FitError, match="not positive semi-definite"):
        SVM(kernel=lambda A, B: -A @ B.T, solver=solver).fit(X, y)
    with pytest.raises(FitError, match="not finite"):
        SVM(kernel=lambda A, B: np.full((len(A), len(B)), np.nan), solver=solver).fit(X, y)


@pytest.mark.parametrize("solver", ["libsvm", "interior-point"])
def test_points_that_a_kernel_cannot_tell_apart(solver):
    """K = 0: nothing but the bias is left, and it costs every point its margin, or the smaller class twice that."""
    model = SVM(solver=solver).fit(np.zeros((10, 2)), np.arange(10) > 5)
    assert model.solution_.objective == pytest.approx(8.0)
