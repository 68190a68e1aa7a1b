"""Rows of a kernel that are made when they are first asked for."""

from __future__ import annotations

import numpy as np

from mmc.methods.numerics.cross import Cross


def test_each_row_is_made_once_and_the_caller_gets_a_copy():
    whole, asked = np.random.default_rng(0).normal(size=(9, 4)), []

    def make(points):
        asked.extend(points)
        return whole[points]

    cross = Cross(whole.shape)
    for points in ([3, 1], [1, 5, 3], [0, 8], [], [5, 0]):
        rows = cross.rows(np.array(points, dtype=np.intp), make)
        np.testing.assert_array_equal(rows, whole[points])
        rows[:] = 0.0
    assert sorted(asked) == [0, 1, 3, 5, 8]
    cross.rows(np.arange(1, 6), make)  # most of them: the others come along
    assert sorted(asked) == list(range(9))
