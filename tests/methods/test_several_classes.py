"""More than two classes: every pair is the two-class fit, votes are those of scikit-learn's SVC."""

from itertools import combinations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine, make_blobs
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import cross_val_score
from sklearn.multiclass import OneVsOneClassifier
from sklearn.svm import SVC
from sklearn.utils import get_tags

from mmc.methods import BMPM, CATALOGUE, HMEM, MPM, SMEM, SVM, ErrorRateClassifier, InfeasibleProblem

NAMES = np.array(["setosa", "versicolor", "virginica"])


def blobs():
    X, y = make_blobs([30, 25, 35], 3, centers=[[0, 0, 0], [9, 0, 0], [0, 9, 0]], random_state=0)
    return X, NAMES[y]


@pytest.mark.parametrize("kernel", ["linear", "rbf", "precomputed"])
@pytest.mark.parametrize("shape", ["ovr", "ovo"])
def test_votes_are_those_of_svc(kernel, shape):
    X, y = load_iris(return_X_y=True)
    X, test = (rbf_kernel(X), rbf_kernel(X[::7], X)) if kernel == "precomputed" else (X, X[::7])
    model = SVM(kernel=kernel, decision_function_shape=shape).fit(X, y)
    peer = SVC(kernel=kernel, decision_function_shape=shape, tol=1e-8).fit(X, y)
    np.testing.assert_allclose(model.decision_function(test), peer.decision_function(test), atol=1e-3)
    np.testing.assert_array_equal(model.predict(test), peer.predict(test))


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("entry", CATALOGUE.values(), ids=lambda e: e.key)
def test_every_method_takes_three_classes(entry, kernel):
    if kernel != "linear" and "kernel" not in entry.parameters():
        pytest.skip("it has no kernel")
    X, y = blobs()
    method = entry.load()(**({} if kernel == "linear" else {"kernel": kernel, "gamma": 0.05}))
    model = clone(method).fit(X, y)
    assert get_tags(model).classifier_tags.multi_class
    assert list(model.classes_) == list(NAMES)
    assert np.mean(model.predict(X) == y) > 0.95
    assert model.decision_function(X).shape == (90, 3)
    assert len(model.estimators_) == 3
    assert model.solution_.gap == max(one.solution_.gap for one in model.estimators_)
    assert model.n_iter_ == sum(one.n_iter_ for one in model.estimators_)
    for one, (first, second) in zip(model.estimators_, combinations(NAMES, 2), strict=True):
        rows = np.isin(y, [first, second])
        alone = clone(method).fit(X[rows], y[rows])
        np.testing.assert_array_equal(one.decision_function(X), alone.decision_function(X))
        assert list(one.classes_) == [first, second]


def test_votes_are_those_of_scikit_learns_wrapper():
    X, y = load_wine(return_X_y=True)
    model = MPM(ridge=None).fit(X, y)
    wrapped = OneVsOneClassifier(MPM(ridge=None)).fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), wrapped.decision_function(X))
    np.testing.assert_array_equal(model.predict(X), wrapped.predict(X))
    assert cross_val_score(model, X, y).mean() > 0.9


def test_every_pair_has_its_bounds():
    X, y = blobs()
    model = BMPM(min_accuracy_neg=0.6).fit(X, y)
    assert model.worst_case_error_.shape == (3, 2)
    assert model.coef_.shape == (3, 3)
    for row, coef, one in zip(model.worst_case_error_, model.coef_, model.estimators_, strict=True):
        np.testing.assert_array_equal(row, one.worst_case_error_)
        np.testing.assert_array_equal(coef, one.coef_[0])
    np.testing.assert_allclose(model.worst_case_error_[:, 0], 0.4)  # the first of a pair is the negative class


def test_one_width_for_all_pairs_as_in_svc():
    X, y = blobs()
    model = SVM(kernel="rbf").fit(X, y)
    assert {one.gamma_ for one in model.estimators_} == {model.gamma_} == {1 / (3 * X.var())}


def test_shapes_go_with_their_rows():
    X, y = blobs()
    radii = np.linspace(0.1, 0.5, len(X))
    for shapes in (radii, list(radii)):
        model = SMEM().fit(X, y, shapes)
        rows = y != NAMES[1]
        alone = SMEM().fit(X[rows], y[rows], radii[rows])
        np.testing.assert_array_equal(model.estimators_[1].coef_, alone.coef_)


def test_what_is_only_for_two_classes_is_refused():
    X, y = blobs()
    with pytest.raises(ValueError, match="pos_label='setosa' is for two classes, and y has 3: leave it out"):
        SVM(pos_label="setosa").fit(X, y)
    with pytest.raises(ValueError, match="for two classes only: y has 3"):
        list(SVM().fit_path(X, y, [{}]))
    with pytest.raises(ValueError, match="for two classes only: y has 3"):
        ErrorRateClassifier().feasible_eta_neg(X, y, [0.5])
    with pytest.raises(ValueError, match=r"frontier\(\) is of two classes"):
        MPM(ridge=None).fit(X, y).frontier()


def test_the_pair_that_cannot_be_fitted_is_named():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(InfeasibleProblem, match="classes versicolor and virginica: no hard margin") as caught:
        HMEM().fit(X, NAMES[y])
    assert caught.value.distance > 0


def test_a_fit_leaves_nothing_of_the_one_before():
    X, y = blobs()
    two = y != NAMES[0]
    model = SVM().fit(X, y).fit(X[two], y[two])
    fresh = SVM().fit(X[two], y[two])
    assert set(vars(model)) - {"_pair_rows"} == set(vars(fresh))
    np.testing.assert_array_equal(model.predict(X[two]), fresh.predict(X[two]))
    assert not hasattr(model.fit(X, y), "alpha_")
