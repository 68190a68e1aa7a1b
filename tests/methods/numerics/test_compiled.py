"""Compiled loops where nothing can be kept."""

import numba

from mmc.methods.numerics.compiled import compiled


def test_without_a_folder_for_compiled_code_it_is_compiled_all_the_same(monkeypatch):
    real = numba.njit

    def nowhere(*args, cache=False, **options):
        if cache:
            raise RuntimeError("cannot cache function: no locator available")
        return real(*args, **options)

    monkeypatch.setattr(numba, "njit", nowhere)
    assert compiled(lambda x: x + 1)(2) == 3
