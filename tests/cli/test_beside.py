"""Work beside the command: in order, complete, and its errors are not lost."""

import threading

import pytest

from mmc.cli.beside import beside


def test_all_is_done_in_order_when_the_context_ends():
    done = []
    with beside() as later:
        for i in range(20):
            later(lambda i=i: done.append((i, threading.current_thread() is threading.main_thread())))
    assert done == [(i, False) for i in range(20)]


def test_an_error_is_raised_at_the_end():
    with pytest.raises(ZeroDivisionError), beside() as later:
        later(lambda: 1 / 0)


def test_an_error_is_raised_when_more_is_given():
    given, failed = [], threading.Event()

    def fail():
        failed.set()
        raise ZeroDivisionError

    def work():
        with beside() as later:
            later(fail)
            failed.wait()
            for i in range(100_000):
                given.append(i)
                later(lambda: None)

    with pytest.raises(ZeroDivisionError):
        work()
    assert len(given) < 100_000


def test_what_was_not_begun_is_left_after_an_error_of_the_context():
    begun, go, done = threading.Event(), threading.Event(), []

    def first():
        begun.set()
        go.wait(10)
        done.append("first")

    def work():
        with beside() as later:
            later(first)
            later(lambda: done.append("second"))
            begun.wait()
            threading.Timer(0.1, go.set).start()
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        work()
    assert done == ["first"]
