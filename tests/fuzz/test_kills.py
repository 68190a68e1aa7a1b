"""A sample of the kills; ``python -m tests.fuzz.kills`` runs them all."""

from tests.fuzz import kills


def test_killed_at_random_moments_it_ends_with_the_same_table():
    finished, wrong = kills.fuzz(4, seed=1)
    assert wrong == []
    assert finished >= 1
