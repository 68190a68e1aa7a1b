"""File names made of what users write: inside the folder, short enough, no two alike."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mmc.experiments.naming import safe_name

HOSTILE = (
    "../../../pwn",
    "/abs/x",
    "..",
    ".",
    "",
    "...",
    "a/b",
    "a\\b",
    "C:\\x",
    "x\0y",
    "n" * 300,
    "ö" * 200,
    "\x1b[31m",
    " x ",
)


@pytest.mark.parametrize("text", HOSTILE)
def test_a_hostile_name_stays_in_its_folder(tmp_path, text):
    path = tmp_path / f"{safe_name(text)}.svg"
    path.write_text("")
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("text", ["plane_breast_cancer", "my study (2)", "größe", "a-b_c.d"])
def test_a_good_name_stays_as_it_is(text):
    assert safe_name(text) == text


@given(st.text(), st.text())
def test_two_texts_never_share_a_name(one, other):
    assert (safe_name(one) == safe_name(other)) == (one == other)
    assert "/" not in safe_name(one)
    assert not safe_name(one).startswith(".")
