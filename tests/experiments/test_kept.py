"""A memory of results: bounded, and one piece of work per key however many threads ask."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from mmc.experiments.kept import Kept


def test_it_keeps_the_last_few():
    kept, made = Kept(2), []
    for key in "abacab":
        kept.get(key, lambda key=key: made.append(key))
        assert len(kept) <= 2
    assert made == list("abcb")


def test_threads_that_ask_for_the_same_wait_for_one():
    kept, made, gate = Kept(1), [], threading.Barrier(8)

    def work(_):
        gate.wait()
        return kept.get("key", lambda: made.append(1) or object())

    with ThreadPoolExecutor(8) as pool:
        found = set(pool.map(work, range(8)))
    assert len(found) == len(made) == 1


def test_work_that_fails_is_done_again():
    kept = Kept(1)
    with pytest.raises(ZeroDivisionError):
        kept.get("key", lambda: 1 // 0)
    assert kept.get("key", lambda: 5) == 5
