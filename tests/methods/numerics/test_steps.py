"""How far a step may go."""

import numpy as np

from mmc.methods.numerics.steps import room


def test_the_first_coordinate_that_reaches_zero_ends_the_step():
    x, d = np.array([1.0, 2.0]), np.array([-0.5, -0.1])
    assert room((x, d)) == 2.0
    assert room((x, d), (np.array([3.0]), np.array([-3.0]))) == 1.0


def test_a_step_that_only_grows_never_ends():
    assert room((np.ones(2), np.array([0.0, 1.0])), (np.ones(0), np.ones(0))) == np.inf
