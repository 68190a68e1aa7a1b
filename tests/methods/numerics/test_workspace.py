"""Scratch matrices: the same place again, and nobody takes what another call has left there for his own."""

from threading import Thread

from mmc.methods.numerics.workspace import scratch, untouched


def test_only_the_last_one_is_untouched():
    first = scratch(7, 8)
    assert untouched(first)
    second = scratch(5, 5)
    assert second.shape == (5, 5)
    assert untouched(second)
    assert not untouched(first)
    assert not untouched(second.copy())


def test_rows_begin_where_cache_lines_do():
    for n in (3, 40, 300):
        assert scratch(n, 8 * n).ctypes.data % 64 == 0


def test_each_thread_has_a_place_of_its_own():
    mine, seen = scratch(9, 9), []
    mine[:] = 1.0

    def other():
        seen.append(untouched(mine))
        scratch(9, 9)[:] = 2.0

    thread = Thread(target=other)
    thread.start()
    thread.join()
    assert seen == [False]
    assert untouched(mine)
    assert (mine == 1.0).all()
