"""The settings that every call of Clarabel shares."""

from __future__ import annotations

import clarabel


def settings(tol: float, *, max_iter: int = 200, **fields: float) -> clarabel.DefaultSettings:
    """Return settings for a silent run on one thread; ``tol`` bounds the gap and both residuals.

    ``fields`` are further fields of Clarabel's settings; they win over ``tol``. A misspelt one raises AttributeError.
    """
    chosen = clarabel.DefaultSettings()
    chosen.verbose = False
    chosen.max_threads = 1  # one trial, one thread: the engines run trials side by side
    chosen.max_iter = max_iter
    chosen.tol_gap_abs = chosen.tol_gap_rel = chosen.tol_feas = tol
    for name, value in fields.items():
        setattr(chosen, name, value)
    return chosen
