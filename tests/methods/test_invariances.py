"""What must not matter: the order of the rows, the names of the labels, which class is positive, where 0 is, and units."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from mmc.methods import BMPM, BSVM, HMEM, LDA, M4, MMRM, MPM, RMM, SCSVM, SMEM, SVM, TSVC, ErrorRateClassifier

RBF = {"kernel": "rbf", "gamma": 0.25}
UNIQUE = [
    ErrorRateClassifier(0.8, 0.7, ridge=1e-3),
    ErrorRateClassifier(0.8, 0.7, ridge=1e-3, **RBF),
    MPM(ridge=1e-3),
    MPM(ridge=1e-3, **RBF),
    BMPM(0.3, ridge=1e-3),
    LDA(ridge=1e-3),
]
CONVEX = [SVM(2.0, 1.0), SVM(2.0, 1.0, **RBF), BSVM(), RMM(), MMRM(), MMRM(**RBF), M4(), TSVC(), SCSVM(), SMEM()]
ALL = [*UNIQUE, *CONVEX, HMEM()]
seeds = st.integers(0, 10**6)
few = settings(max_examples=5, deadline=None)


def points(seed, model):
    """Points on a grid of 2⁻¹⁰: a shift by a power of 2, or a factor of 2, is exact."""
    draw = np.random.default_rng(seed)
    y = np.repeat([0, 1], [18, 14])
    X = draw.normal(size=(32, 3)) + (8.0 if isinstance(model, HMEM) else 1.5) * y[:, None]
    return np.round(X * 1024) / 1024, y


def same(model, first, f, second, g):
    """Both fits are as good; where the answer is unique, they are the same."""
    assert second.solution_.objective == pytest.approx(first.solution_.objective, rel=2e-4)
    if model in UNIQUE:
        np.testing.assert_allclose(g, f, atol=2e-3 * np.abs(f).max())


@pytest.mark.parametrize("model", ALL, ids=str)
@given(seed=seeds)
@few
def test_the_order_of_the_rows(model, seed):
    X, y = points(seed, model)
    order = np.random.default_rng(seed).permutation(len(y))
    first, second = clone(model).fit(X, y), clone(model).fit(X[order], y[order])
    if not isinstance(model, (TSVC, SCSVM, SMEM)):  # a covering breaks its ties by the order
        same(model, first, first.decision_function(X), second, second.decision_function(X))


@pytest.mark.parametrize("model", ALL, ids=str)
@given(seed=seeds)
@few
def test_the_names_of_the_labels(model, seed):
    X, y = points(seed, model)
    first, second = clone(model).fit(X, y), clone(model).fit(X, np.array(["apple", "pear"])[y])
    np.testing.assert_array_equal(second.decision_function(X), first.decision_function(X))
    assert set(second.predict(X)) <= {"apple", "pear"}


@pytest.mark.parametrize(
    ("model", "mirrored"),
    [
        (SVM(2.0, 1.0), SVM(1.0, 2.0)),
        (ErrorRateClassifier(0.8, 0.7, ridge=1e-3), ErrorRateClassifier(0.7, 0.8, ridge=1e-3)),
        *((model, model) for model in (MPM(ridge=1e-3), LDA(ridge=1e-3), BSVM(), RMM(), MMRM(), M4(), HMEM())),
    ],
    ids=str,
)
@given(seed=seeds)
@few
def test_which_class_is_positive(model, mirrored, seed):
    """A method that treats both classes alike, or has its costs exchanged, finds the same rule."""
    X, y = points(seed, model)
    first, second = clone(model).fit(X, y), clone(mirrored).set_params(pos_label=0).fit(X, y)
    same(model, first, first.decision_function(X), second, second.decision_function(X))
    if hasattr(first, "worst_case_error_"):
        np.testing.assert_allclose(second.worst_case_error_, first.worst_case_error_, atol=1e-4)


@pytest.mark.parametrize("model", ALL, ids=str)
@given(seed=seeds)
@few
def test_a_shift_of_all_features_by_a_thousand_million(model, seed):
    X, y = points(seed, model)
    far = X + 2.0**30
    first, second = clone(model).fit(X, y), clone(model).fit(far, y)
    same(model, first, first.decision_function(X), second, second.decision_function(far))


@pytest.mark.parametrize(
    ("model", "scaled"),
    [
        (ErrorRateClassifier(0.8, 0.7, ridge=1e-3), ErrorRateClassifier(0.8, 0.7, ridge=1e-3 * 4.0**10)),
        (MPM(ridge=1e-3), MPM(ridge=1e-3 * 4.0**10)),
        (LDA(ridge=1e-3), LDA(ridge=1e-3 * 4.0**10)),
        (MMRM(), MMRM()),
        (M4(), M4()),
    ],
    ids=str,
)
@given(seed=seeds)
@few
def test_a_factor_of_all_features(model, scaled, seed):
    """Predictions do not depend on the unit, if the ridge has the unit's square."""
    X, y = points(seed, model)
    first, second = clone(model).fit(X, y), clone(scaled).fit(X * 2.0**10, y)
    f, g = first.decision_function(X), second.decision_function(X * 2.0**10)
    if model in UNIQUE:
        np.testing.assert_allclose(g / np.abs(g).max(), f / np.abs(f).max(), atol=2e-3)
    if not isinstance(model, ErrorRateClassifier):  # whose objective is ½‖w‖²
        assert second.solution_.objective == pytest.approx(first.solution_.objective, rel=2e-4)


@given(seed=seeds)
@few
def test_a_factor_of_all_features_of_an_svm_divides_its_cost_by_the_square(seed):
    X, y = points(seed, None)
    first, second = SVM().fit(X, y), SVM(4.0**-5, 4.0**-5).fit(X * 2.0**5, y)
    assert second.solution_.objective == pytest.approx(first.solution_.objective * 4.0**-5, rel=2e-4)
