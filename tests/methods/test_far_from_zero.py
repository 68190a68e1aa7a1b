"""Data far from 0, such as time stamps: the same rule as near 0, in the arithmetic that is delivered."""

import numpy as np
import pytest
from sklearn.base import clone

from mmc.methods import CATALOGUE, HMEM, MMRM, MPM, SMEM, SVM, NotConverged

pytestmark = pytest.mark.filterwarnings("ignore::mmc.methods.solution.BoundWarning")  # a narrow kernel
FAR = 2.0**33  # adding it to the points below is exact


def points(seed=0, n=60):
    draw = np.random.default_rng(seed)
    y = np.repeat([0, 1], n)
    X = draw.normal(size=(2 * n, 3)) + 1.2 * y[:, None]
    return np.round(X * 2**12) / 2**12, y


def models():
    for entry in CATALOGUE.values():
        cls = entry.load()
        yield from (cls(solver=solver) for solver in entry.solvers)
        if "kernel" in entry.parameters():
            yield cls(kernel="rbf", gamma=0.4)


@pytest.mark.parametrize("model", list(models()), ids=str)
def test_a_shift_of_all_features_changes_nothing(model):
    X, y = points()
    if isinstance(model, HMEM):
        X = X + 8 * y[:, None]
    near, far = clone(model).fit(X, y), clone(model).fit(X + FAR, y)
    size = np.abs(near.decision_function(X)).max()
    np.testing.assert_allclose(far.decision_function(X + FAR), near.decision_function(X), atol=1e-4 * size)
    np.testing.assert_allclose(far.solution_.objective, near.solution_.objective, rtol=1e-5)


def test_the_attributes_are_those_of_the_data_as_given():
    X, y = points()
    svm = SVM(kernel="rbf", gamma=0.4).fit(X + FAR, y)
    np.testing.assert_array_equal(svm.support_vectors_, (X + FAR)[svm.support_])
    linear = SVM().fit(X + 1e4, y)
    np.testing.assert_allclose((X + 1e4) @ linear.coef_[0] + linear.intercept_[0], linear.decision_function(X + 1e4))


def test_points_near_zero_are_not_moved():
    X, y = points()
    model = SVM().fit(X, y)
    np.testing.assert_array_equal(model.decision_function(X), X @ model.coef_[0] + model.intercept_[0])


def test_linear_svm_by_interior_point_at_1e10_is_what_it_claims():
    X, y = points()
    X[:, 0] += 1e10
    model = SVM(solver="interior-point").fit(X, y)
    slack = np.maximum(1 - (2 * y - 1) * model.decision_function(X), 0)
    value = model.coef_[0] @ model.coef_[0] / 2 + slack.sum()
    assert value == pytest.approx(model.solution_.objective, rel=1e-6)


def test_mmrm_by_column_generation_at_1e12_is_what_it_claims():
    X, y = points()
    X = 1e12 + np.round(4 * X)
    model = MMRM(solver="column-generation").fit(X, y)
    f = model.decision_function(X)
    value = f[y == 1].mean() - f[y == 0].mean() + 10 / 60 * np.maximum(1 - (2 * y - 1) * f, 0).sum()
    assert value == pytest.approx(model.solution_.objective, rel=1e-6)


def test_rbf_at_1e8_tells_test_points_as_well_as_near_zero():
    X, y = points()
    Z, labels = points(1)
    near, far = (MPM(kernel="rbf", gamma=0.1, ridge=1e-2).fit(X + shift, y) for shift in (0.0, 1e8))
    np.testing.assert_array_equal(far.predict(Z + 1e8), near.predict(Z))
    assert np.mean(far.predict(Z + 1e8) == labels) > 0.8


def test_points_that_a_method_makes_count_as_they_are_stored():
    """Far from 0 they are rounded; what that takes from the margins is part of the certificate, or the scale is named."""
    y = np.repeat([0, 1], 6)
    x = np.array([0.0, 1.0, 3.0, 4.5, 2.5, 1.5, 20.375, 21.0, 23.0, 24.5, 25.75, 22.0])[:, None]
    near, far = (SMEM(C=0.1).fit(x + shift, y) for shift in (0.0, 1e6))
    assert far.solution_.objective == pytest.approx(near.solution_.objective, rel=1e-6)
    with pytest.raises(NotConverged, match=r"feature 0 lies at 1e\+15 and varies by"):
        SMEM(C=0.1).fit(x + 1e15, y)
