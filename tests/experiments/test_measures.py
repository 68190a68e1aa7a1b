"""The measures say of constructed decision values what can be counted by hand."""

import numpy as np
import pytest

from mmc.experiments.measures import band, ratios
from mmc.methods import BSVM, LDA, SVM


class Rule:
    """A rule that reads its decision value off the only feature."""

    support_ = np.arange(3)

    def decision_function(self, X):
        return X[:, 0]


def measured(g, y, **options):
    return band(Rule(), np.array(g, dtype=float)[:, None], np.array(y), **{"rho": (1, 1.5), **options})


def test_in_band_counts_both_classes_and_both_ends():
    """y·g = 1, 1.5, 1.2, .9, 4, -1.2: three of six in [1, 1.5]; clipped, the 4 joins them."""
    values = measured([1, 1.5, -1.2, -0.9, 4, 1.2], [1, 1, -1, -1, 1, -1])
    assert values["in_band"] == pytest.approx(50)
    assert values["in_band_clipped"] == pytest.approx(100 * 4 / 6)
    assert values["max_abs"] == 4
    assert values["train_error"] == pytest.approx(100 / 6)


def test_the_largest_value_may_be_that_of_a_wrong_point():
    values = measured([-2, 1, -1], [1, 1, -1])
    assert values["max_abs"] == 2
    assert values["curve"][-1] == 0
    assert values["train_error"] == pytest.approx(100 / 3)


def test_a_value_of_zero_is_an_error_for_either_class():
    assert measured([0, 0, 1, -1], [1, -1, 1, -1])["train_error"] == 50


def test_sensitivity_of_evenly_spread_values_is_a_straight_line():
    """With y·g uniform on (0, 1], S(t) = 1 - t: from 1 down to the one point at the maximum, area ½."""
    n = 4900
    values = measured(np.arange(1, n + 1) / n, np.ones(n, dtype=int))
    expected = 1 - np.linspace(0, 1, 50)
    np.testing.assert_allclose(values["curve"], expected, atol=1.5 / n)
    assert values["curve"][-1] == pytest.approx(1 / n)
    assert values["area"] == pytest.approx(0.5, abs=1 / n)
    assert values["curve_clipped"] == values["curve"]


def test_sensitivity_does_not_depend_on_the_scale_of_the_rule():
    rng = np.random.default_rng(0)
    y = np.repeat([1, -1], 50)
    g = y + rng.normal(0, 1, 100)
    one, ten = measured(g, y), measured(10 * g, y)
    assert one["curve"] == ten["curve"]
    assert one["area"] == pytest.approx(np.mean(one["curve"]))


def test_clipping_can_only_raise_the_curve():
    """A threshold is a share of the largest |g|; clipping lowers the threshold and leaves y·g ≥ t true below ρ2."""
    rng = np.random.default_rng(1)
    y = np.repeat([1, -1], 50)
    values = measured(3 * y + rng.normal(0, 2, 100), y)
    assert values["max_abs"] > 1.5
    assert np.all(np.array(values["curve_clipped"]) >= values["curve"])
    assert values["area_clipped"] > values["area"]


def test_equal_values_pass_a_threshold_together():
    """Free support vectors are equal but for rounding: none of them may be lost at the largest threshold."""
    g = 1.5 + 1e-10 * np.arange(10)
    assert measured(g, np.ones(10, dtype=int))["curve"] == [1.0] * 50


def test_clusters_of_class_1_the_central_one_first():
    centre, others = [1.0, 1.0], [2.0, 2.0, 3.0, 3.0, 2.0, 4.0, 4.0, 2.0]
    y = [1] * 10 + [-1] * 4
    values = measured([*centre, *others, -9, -9, -9, -9], y, clusters=5)
    means = np.array([1, 2, 3, 3, 3])
    assert values["centre"] == 1
    assert values["others"] == pytest.approx(2.75)
    assert values["cluster_spread"] == pytest.approx(100 * means.std() / means.mean())
    means_clipped = np.array([1, 1.5, 1.5, 1.5, 1.5])
    assert values["cluster_spread_clipped"] == pytest.approx(100 * means_clipped.std() / means_clipped.mean())


def test_the_spread_does_not_reward_small_values():
    y = np.repeat([1, -1], [10, 4])
    g = np.where(y > 0, np.arange(14) + 1.0, -3)
    large, small = (measured(scale * g, y, clusters=5)["cluster_spread"] for scale in (1, 0.1))
    assert large == pytest.approx(small)


def test_without_clusters_any_data_will_do():
    assert "centre" not in measured([1, 2, -1], [1, 1, -1])
    with pytest.raises(ValueError, match="the 2 training points of class \\+1 do not make 5 equal clusters"):
        measured([1, 2, -1], [1, 1, -1], clusters=5)


def test_support_vectors_of_the_methods_are_counted():
    rng = np.random.default_rng(2)
    y = np.repeat([1, -1], 30)
    X = rng.normal(0, 1, (60, 2)) + y[:, None]
    svm = SVM(C_pos=10, C_neg=10, kernel="rbf", gamma=1.0).fit(X, y)
    values = band(svm, X, y, rho=(1, 1.5))
    assert values["n_alpha"] == np.count_nonzero(svm.alpha_)
    assert "n_theta" not in values
    banded = BSVM(C1=10, C2=100, kernel="rbf", gamma=1.0).fit(X, y)
    values = band(banded, X, y, rho=(1, 1.5))
    assert values["n_alpha"] == np.count_nonzero(banded.alpha_)
    assert values["n_theta"] == np.count_nonzero(banded.theta_) > 0


def test_ratios_that_can_be_counted_by_hand():
    """Along w = (2, 0) the classes are at 2, 4, 6 and -2, -4: √(8 + 2), √(8/3) + √1, √(½·4); means 7 apart, a gap of 4."""
    X = np.array([[1.0, 9], [2, -9], [3, 0], [-1, 5], [-2, 7]])
    y = np.array([1, 1, 1, -1, -1])
    model = LDA().fit(X, y)
    model.coef_ = np.array([[2.0, 0.0]])
    assert ratios(model, X, y) == pytest.approx(
        {
            "separates": 100,
            "d_w^v / d_b^c": 10**0.5 / 7,
            "d_w^s / d_b^c": ((8 / 3) ** 0.5 + 1) / 7,
            "d_w^n / d_b^m": 2**0.5 / 4,
            "d_w^s / d_b^m": ((8 / 3) ** 0.5 + 1) / 4,
            "d_w^m / d_b^m": 3 / 4,
            "d_w^d / d_b^m": 10 / 4,
        }
    )


def test_where_the_classes_are_not_separated_there_is_no_ratio_to_their_margin():
    X, y = np.array([[1.0], [-1], [-2], [0]]), np.array([1, 1, -1, -1])
    values = ratios(SVM().fit(X, y), X, y)
    assert values["separates"] == 0
    assert {name[-5:] for name in values if "/" in name} == {"d_b^c"}
    with pytest.raises(ValueError, match="use kernel: linear"):
        ratios(SVM(kernel="rbf", gamma=1.0).fit(X, y), X, y)
