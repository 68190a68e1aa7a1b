"""Clarabel's settings: one thread, no printing, and no misspelt field."""

import pytest

from mmc.methods.numerics.clarabel_settings import settings


def test_fields_win_over_the_tolerance():
    chosen = settings(1e-7, max_iter=11, tol_gap_abs=1e-300, max_step_fraction=0.8)
    assert (chosen.verbose, chosen.max_threads, chosen.max_iter) == (False, 1, 11)
    assert (chosen.tol_gap_rel, chosen.tol_feas, chosen.tol_gap_abs) == (1e-7, 1e-7, 1e-300)
    assert chosen.max_step_fraction == 0.8


def test_a_misspelt_field_is_refused():
    with pytest.raises(AttributeError, match="tol_gap"):
        settings(1e-7, tol_gap=1e-3)
