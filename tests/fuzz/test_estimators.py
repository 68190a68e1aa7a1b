"""A sample of the degenerate data sets; ``python -m tests.fuzz.estimators`` runs them all."""

import numpy as np
import pytest

from mmc.methods import SVM
from tests.fuzz import estimators, recomputed


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_fits_of_degenerate_data_end_cleanly(seed):
    ended = estimators.run(range(30), fits=3, seed=seed)
    assert {number: text for number, text in ended.items() if not text.startswith("clean")} == {}


def test_the_same_number_is_the_same_fit():
    np.testing.assert_array_equal(estimators.make(17, 3)[0], estimators.make(17, 3)[0])
    assert str(estimators.chosen(17, 3, 2)) == str(estimators.chosen(17, 3, 2))


@pytest.mark.parametrize("change", ["objective", "gap", "rule"])
def test_a_false_certificate_is_denied(change):
    X, y = np.random.default_rng(0).normal(size=(40, 2)), np.repeat([0, 1], 20)
    model = SVM().fit(X, y)
    assert recomputed.denied(model, X, y) == ""
    if change == "rule":
        model.coef_ = 1.2 * model.coef_
    else:
        object.__setattr__(
            model.solution_, change, 1.01 * model.solution_.objective if change == "objective" else np.nan
        )
    assert recomputed.denied(model, X, y) != ""
