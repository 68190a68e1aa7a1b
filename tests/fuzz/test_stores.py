"""A sample of the damaged stores; ``python -m tests.fuzz.stores`` runs them all."""

from tests.fuzz import stores


def test_a_damaged_store_shows_nothing_that_is_not_true():
    ends, wrong = stores.fuzz(60, seed=1)
    assert wrong == []
    assert ends["right table"] > 10
    assert ends["one message"] > 5
