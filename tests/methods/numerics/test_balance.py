"""Weights of two classes that are made to balance."""

import numpy as np
import pytest

from mmc.methods.numerics.balance import balanced

SIGN = np.array([1.0, 1.0, -1.0, -1.0, -1.0])


def test_only_the_heavier_class_is_scaled():
    weights = np.array([1.0, 3.0, 0.5, 0.0, 1.5])
    found = balanced(weights, SIGN)
    assert SIGN @ found == pytest.approx(0)
    np.testing.assert_allclose(found, [0.5, 1.5, 0.5, 0.0, 1.5])
    np.testing.assert_allclose(balanced(weights, -SIGN), found)


def test_a_class_without_weight_takes_all_from_the_other():
    np.testing.assert_array_equal(balanced(np.array([0.0, 0.0, 1.0, 2.0, 3.0]), SIGN), np.zeros(5))
    np.testing.assert_array_equal(balanced(np.zeros(5), SIGN), np.zeros(5))
