"""Kernels as scikit-learn's users name them: widths from the data, all pairwise kernels, precomputed ones."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, make_classification
from sklearn.metrics.pairwise import chi2_kernel, cosine_similarity, laplacian_kernel, rbf_kernel
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.svm import SVC
from sklearn.utils import get_tags

from mmc.methods import CATALOGUE, HMEM, MMRM, SCSVM, SMEM, SVM, ErrorRateClassifier, FitError
from mmc.methods.numerics.kernels import KernelSpec

WITH_KERNEL = [entry for entry in CATALOGUE.values() if "kernel" in entry.parameters()]
OF_POINTS = ("hmem", "smem", "tsvc", "sc-svm")
WITH_GRAM = [entry for entry in WITH_KERNEL if entry.key not in OF_POINTS]
pytestmark = pytest.mark.filterwarnings("ignore::mmc.methods.solution.BoundWarning")  # samples are small here


def data(n=60, seed=0):
    X, y = make_classification(n, 4, n_redundant=0, class_sep=1.5, random_state=seed)
    return 3 * X + [0, 5, 0, 0], y


@pytest.mark.parametrize("gamma", ["scale", "auto", 0.2])
@pytest.mark.parametrize("kernel", ["rbf", "poly"])
def test_gamma_means_what_it_means_in_svc(kernel, gamma):
    X, y = data()
    model = SVM(kernel=kernel, gamma=gamma).fit(X, y)
    peer = SVC(kernel=kernel, gamma=gamma, coef0=1.0, tol=1e-8).fit(X, y)
    assert model.gamma_ == pytest.approx(peer._gamma)
    np.testing.assert_allclose(model.decision_function(X), peer.decision_function(X), atol=1e-3)


@pytest.mark.parametrize("entry", [e for e in WITH_KERNEL if e.key != "hmem"], ids=lambda e: e.key)
def test_a_kernel_needs_no_width(entry):
    X, y = data()
    model = entry.load()(kernel="rbf").fit(X, y)
    assert model.gamma_ == pytest.approx(1 / (4 * X.var()))
    stated = entry.load()(kernel="rbf", gamma=model.gamma_).fit(X, y)
    np.testing.assert_array_equal(stated.decision_function(X), model.decision_function(X))


def test_the_width_of_data_without_any_variance_is_1():
    assert SVM(kernel="rbf").fit(np.zeros((6, 2)), [0, 1, 0, 1, 1, 1]).gamma_ == 1.0


def test_a_width_is_forgotten_with_its_kernel():
    X, y = data()
    model = SVM(kernel="rbf").fit(X, y)
    assert not hasattr(model.set_params(kernel="linear").fit(X, y), "gamma_")


def test_a_path_shares_the_gram_matrix_of_a_width_however_it_is_stated(monkeypatch):
    X, y = data()
    made = []
    original = KernelSpec._gaussian
    monkeypatch.setattr(KernelSpec, "_gaussian", lambda spec, A, B, K: made.append(A is B) or original(spec, A, B, K))
    stated = 1 / (4 * float(X.var()))
    grid = [{"gamma": "scale"}, {"gamma": stated}, {"gamma": "scale", "C_pos": 3.0}, {"gamma": "auto"}]
    steps = list(SVM(kernel="rbf").fit_path(X, y, grid, X[:20]))
    assert sum(made) == 2
    np.testing.assert_array_equal(steps[0].decision, steps[1].decision)
    for step in steps:
        alone = SVM(kernel="rbf", **step.params).fit(X, y)
        np.testing.assert_allclose(step.decision, alone.decision_function(X[:20]), atol=1e-10)


def test_the_widths_of_a_path_share_products_and_fit_as_each_alone():
    X, y = make_classification(90, 5, random_state=0)
    grid = [{"gamma": gamma, "C_pos": C, "C_neg": C} for gamma in (0.01, 0.1, 0.3) for C in (1.0, 10.0)]
    method = SVM(kernel="rbf")
    for step in method.fit_path(X[:60], y[:60], grid, X[60:]):
        (alone,) = method.fit_path(X[:60], y[:60], [step.params], X[60:])
        np.testing.assert_allclose(step.decision, alone.decision, rtol=1e-12, atol=1e-12)
        np.testing.assert_array_equal(step.estimator.dual_coef_, alone.estimator.dual_coef_)


def test_the_width_is_that_of_the_training_part():
    """In a cross-validation every part has its own: the rows left out must not tell."""
    X, y = data()
    first, second = (SVM(kernel="rbf").fit(X[rows], y[rows]).gamma_ for rows in (np.arange(40), np.arange(20, 60)))
    assert first != second


@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("laplacian", lambda A, B: laplacian_kernel(A, B, gamma=0.1)),
        ("chi2", lambda A, B: chi2_kernel(A, B, gamma=0.1)),
        ("cosine", cosine_similarity),
    ],
)
def test_pairwise_kernels_by_name(name, function):
    X, y = load_breast_cancer(return_X_y=True)
    X, y = X[:120], y[:120]
    model = SVM(kernel=name, gamma=0.1).fit(X, y)
    peer = SVC(kernel=function, tol=1e-8).fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), peer.decision_function(X), atol=1e-3)


@pytest.mark.parametrize("entry", WITH_GRAM, ids=lambda e: e.key)
def test_other_kernels_serve_every_method(entry):
    X, y = data()
    for kernel in ("laplacian", "cosine"):
        model = entry.load()(kernel=kernel).fit(X, y)
        assert model.solution_.gap < 1e-3
        assert np.mean(model.predict(X) == y) > 0.7


def test_a_sigmoid_is_taken_where_it_is_a_kernel_and_refused_where_it_is_none():
    X, y = data()
    for method in (SVM, ErrorRateClassifier):
        with pytest.raises(FitError, match="kernel 'sigmoid' is not positive semi-definite on these points"):
            method(kernel="sigmoid", gamma=0.05, coef0=0.0).fit(X, y)
    ratio = MMRM(kernel="sigmoid", gamma=0.05, coef0=0.0).fit(X, y)
    assert ratio.solution_.gap < 1e-6
    line = np.linspace(-1, 1, 12)[:, None]
    tiny = SVM(kernel="sigmoid", gamma=1e-5, coef0=0.0).fit(line, line[:, 0] > 0.1)
    assert tiny.solution_.gap < 1e-6


def test_what_is_no_kernel_is_refused_by_name():
    X, y = data()
    with pytest.raises(ValueError, match="'additive_chi2' is not positive semi-definite; take 'chi2'"):
        SVM(kernel="additive_chi2").fit(X, y)
    with pytest.raises(FitError, match="never negative"):
        SVM(kernel="chi2").fit(X, y)
    with pytest.raises(ValueError, match="'laplacian' has no known gradient"):
        SMEM(kernel="laplacian").fit(X, y)
    SCSVM(kernel="laplacian").fit(X, y)


@pytest.mark.parametrize("entry", WITH_GRAM, ids=lambda e: e.key)
def test_a_precomputed_kernel_is_the_kernel_it_was_computed_from(entry):
    X, y = data()
    test, _ = data(20, seed=1)
    named = entry.load()(kernel="rbf", gamma=0.05).fit(X, y)
    K = rbf_kernel(X, gamma=0.05)
    before = K.copy()
    given = entry.load()(kernel="precomputed").fit(K, y)
    np.testing.assert_array_equal(K, before)
    f = named.decision_function(test)
    np.testing.assert_allclose(given.decision_function(rbf_kernel(test, X, gamma=0.05)), f, atol=1e-4 * np.abs(f).max())
    assert get_tags(given).input_tags.pairwise
    assert not get_tags(named).input_tags.pairwise
    assert not hasattr(given, "support_vectors_")


def test_cross_validation_and_grids_of_a_precomputed_kernel():
    X, y = data()
    K = rbf_kernel(X, gamma=0.05)
    named = cross_val_score(SVM(kernel="rbf", gamma=0.05), X, y, cv=4)
    np.testing.assert_allclose(cross_val_score(SVM(kernel="precomputed"), K, y, cv=4), named)
    assert GridSearchCV(SVM(kernel="precomputed"), {"C_pos": [0.1, 1.0]}, cv=3).fit(K, y).best_score_ > 0.7
    steps = list(SVM(kernel="precomputed").fit_path(K, y, [{"C_pos": 1.0}, {"C_pos": 2.0}], K[:10]))
    np.testing.assert_allclose(
        steps[1].decision, SVM(C_pos=2.0, kernel="precomputed").fit(K, y).decision_function(K[:10])
    )


@pytest.mark.parametrize(
    ("K", "why"),
    [
        (np.ones((6, 5)), "square matrix between all training points"),
        (np.triu(np.ones((6, 6))), "symmetric matrix"),
        (np.diag([1.0, 1, 1, 1, 1, -1]), "not positive semi-definite on these points"),
    ],
    ids=["not square", "not symmetric", "indefinite"],
)
def test_a_matrix_that_is_no_kernel_is_refused(K, why):
    with pytest.raises(ValueError, match=why):
        SVM(kernel="precomputed").fit(K, [0, 1, 0, 1, 0, 1])


def test_sets_around_points_need_points():
    with pytest.raises(ValueError, match="kernel='precomputed' has no points"):
        HMEM(kernel="precomputed").fit(np.eye(4), [0, 1, 0, 1])
