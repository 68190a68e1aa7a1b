"""Names of files that are made from names of users."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mmc.experiments.escape import file_name


@pytest.mark.parametrize("name", ["plane", "2 features", "figure_2", "v1.2", "η and ε", "50 per cluster"])
def test_an_ordinary_name_stays(name):
    assert file_name(name) == name


@given(st.text())
def test_a_name_is_never_a_path_and_never_hidden(name):
    made = file_name(name)
    assert made
    assert not made.startswith(".")
    assert not set(made) & set('/\\:*?"<>|\0\n')
    assert len(made.encode()) < 100


@pytest.mark.parametrize("name", ["../../../pwn", "/abs/x", "..", ".", "", "...yaml", "a" * 300, "a/b", "a_b/"])
def test_a_name_that_had_to_change_is_no_other_name(name):
    assert file_name(name) not in (name, "a_b", "a" * 80)
    assert file_name(name) == file_name(name)
