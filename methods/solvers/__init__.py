"""The algorithms, one module each. Every module has one public function ``solve`` and says in ``CAN`` what it can do."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Generic, Protocol, TypeVar, cast

from mmc.methods.problems import Answer, Problem

A = TypeVar("A", bound=Answer[object, object])
S = TypeVar("S")


@dataclass(frozen=True)
class Capabilities:
    """What a solver can do. An estimator asks for one of these, never for a solver's name.

    ``kernels``: any kernel, not only the linear one. ``rows``: it asks for kernel rows when it needs them, so that the
    whole Gram matrix need not be in memory. ``together``: ``prepare(problems)`` does for a whole grid what is cheaper
    together. ``session``: ``solve`` takes a ``session``, which carries what it learns to the next problem of a path.
    ``slack_per_point``: for knowledge sets, a slack of its own for every point; without it, sets have one each.
    ``squared_slack``: for knowledge sets, slacks that cost their square.
    """

    kernels: bool = True
    rows: bool = False
    together: bool = False
    session: bool = False
    slack_per_point: bool = False
    squared_slack: bool = False


@dataclass
class Session(Generic[S]):
    """What a solver keeps of one problem of a path for the next: nothing at first."""

    kept: S | None = None


class Solver(Protocol):
    """A module of this package, as an estimator sees it."""

    CAN: Capabilities

    def solve(self, problem: Problem[A], /, **options: object) -> A:
        """Return the answer, or raise InfeasibleProblem or NotConverged."""

    def prepare(self, problems: Sequence[Problem[A]], /, **options: object) -> Sequence[A | None]:
        """Do together what is cheaper together, and return the answers that it gave; only where ``CAN.together``."""


@cache
def load_solver(module: str) -> Solver:
    """Import a solver by the name of its module: one of this package, or the full name of another package's."""
    return cast(Solver, import_module(module if "." in module else f"{__name__}.{module}"))


@cache
def options_of(module: str) -> tuple[str, ...]:
    """Return the names that ``solver_options`` may have: the keyword arguments of ``solve``."""
    parameters = inspect.signature(load_solver(module).solve).parameters.values()
    return tuple(p.name for p in parameters if p.kind is p.KEYWORD_ONLY and p.name != "session")
