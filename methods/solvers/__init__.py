"""The algorithms, one module each. Every module has one public function ``solve`` and says in ``CAN`` what it can do."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Capabilities:
    """What a solver can do. An estimator asks for one of these, never for a solver's name.

    ``kernels``: any kernel, not only the linear one. ``rows``: it asks for kernel rows when it needs them, so that the
    whole Gram matrix need not be in memory. ``together``: ``prepare(problems)`` does for a whole grid what is cheaper
    together. ``session``: ``solve`` takes a ``session``, which carries what it learns to the next problem of a path.
    """

    kernels: bool = True
    rows: bool = False
    together: bool = False
    session: bool = False
