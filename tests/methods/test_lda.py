"""Fisher's discriminant is the classical one, and says when it needs a ridge."""

import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from mmc.methods import LDA, FitError, NotConverged
from mmc.methods.dispersions import dispersions
from tests.fuzz import estimators

from .test_mmrm import overlapping


def test_lda_is_the_classical_discriminant():
    X, z = overlapping()
    model = LDA(ridge=0.0).fit(X, z)
    classical = LinearDiscriminantAnalysis(solver="lsqr").fit(X, z)
    scale = model.coef_[0, 0] / classical.coef_[0, 0]
    np.testing.assert_allclose(model.coef_, scale * classical.coef_, rtol=1e-9)
    middle = (X[z > 0].mean(axis=0) + X[z < 0].mean(axis=0)) / 2
    assert model.decision_function([middle])[0] == pytest.approx(0, abs=1e-12)
    assert model.solution_.gap < 1e-12
    d = dispersions(model.coef_, X, z)
    assert model.solution_.objective == pytest.approx((d.b_c / d.w_v) ** 2)


def test_lda_without_scatter_asks_for_a_ridge():
    X, z = overlapping()
    with pytest.raises(FitError, match="ridge > 0"):
        LDA(ridge=0.0).fit(np.column_stack([X, z]), z)


def test_classes_with_one_mean_have_no_direction():
    X = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0], [1.0, 1.0], [-1.0, -1.0]])
    model = LDA(ridge=0.1).fit(X, [0, 0, 0, 0, 1, 1])
    assert not model.coef_.any()
    assert (model.solution_.objective, model.solution_.gap) == (0.0, 0.0)


def test_a_ratio_that_rounding_makes_is_not_certified():
    """Classes at one place each, but for one point far away: beside its size, nothing is left of the spread."""
    X, y, _ = estimators.make(1017, 0)
    with pytest.raises(NotConverged, match="not certified"):
        LDA(ridge=1e-12).fit(X, y)
