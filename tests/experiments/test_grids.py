"""Grids: counted without being spelled out, and checked value by value."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from mmc.experiments.grids import Axis, points, samples, size

AXES = st.dictionaries(
    st.sampled_from(["a", "b", "c, d"]),
    st.lists(st.integers(0, 3), min_size=0, max_size=4)
    | st.builds(lambda n: Axis(linspace=(0, 1, n)), st.integers(1, 5)),
    min_size=1,
)


@given(AXES)
def test_a_grid_has_as_many_points_as_it_says(grid):
    assert size(grid) == len(points(grid))


@given(AXES)
def test_the_samples_have_every_listed_value_and_the_ends_of_every_axis(grid):
    if not size(grid):
        return
    for most in (0, 10**6):
        found = [point for _, point in samples(grid, most)]
        assert all(point in points(grid) for point in found)
        for key, axis in grid.items():
            for value in axis.ends if isinstance(axis, Axis) else axis:
                assert any(all(point[name.strip()] == value for name in key.split(",")) for point in found)


def test_samples_of_a_huge_grid_are_few():
    axis = Axis(linspace=(0, 1, 1000))
    assert len(list(samples({"a": axis, "b": axis, "c": [1, 2, 3]}))) == 7


def test_values_are_those_of_the_ends_and_between():
    assert Axis(linspace=(0.1, 0.3, 3)).values() == [0.1, 0.2, 0.3]
    assert Axis(logspace=(0.01, 1, 3)).values() == [0.01, 0.1, 1.0]
    assert Axis(logspace=(0.01, 1, 1)).values() == Axis(logspace=(0.01, 1, 1)).ends == [0.01]


@pytest.mark.parametrize(
    ("axis", "words"),
    [
        ({"linspace": (0, 1, -3)}, "a count of -3 gives no values"),
        ({"linspace": (0, 1, 0)}, "a count of 0 gives no values"),
        ({"logspace": (0, 1, 3)}, "from one positive number to another"),
        ({"linspace": (-1e308, 1e308, 3)}, "too far apart"),
        ({"linspace": (0, 1, 2), "logspace": (1, 2, 2)}, "either linspace or logspace"),
        ({}, "either linspace or logspace"),
        ({"linspace": (0, float("inf"), 3)}, "finite"),
    ],
)
def test_an_axis_without_values_is_refused(axis, words):
    with pytest.raises(ValidationError, match=words):
        Axis(**axis)
