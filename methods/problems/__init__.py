"""The optimisation problems, one module each: a frozen dataclass of arrays, its certificate, its infeasibility."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Generic, TypeVar

from mmc.methods.solution import Status

P = TypeVar("P", covariant=True)
D = TypeVar("D", covariant=True)


@dataclass(frozen=True)
class Answer(Generic[P, D]):
    """What a solver returns: a primal and a dual point of its problem, its steps, and how it ended.

    It claims nothing of its quality: the problem's own certificate judges the two points.
    """

    primal: P
    dual: D
    iterations: int
    version: str
    status: Status = Status.SOLVED


@dataclass(frozen=True)
class Certificate:
    """What the points prove: the value of the feasible primal one, and its relative distance from the dual one."""

    objective: float
    gap: float


C = TypeVar("C", bound=Certificate, covariant=True)


@dataclass(frozen=True)
class Judged(Answer[P, D], Generic[P, D, C]):
    """An answer with what the problem's certificate says of it: its solver had to ask, so nobody need ask again."""

    certificate: C = field(kw_only=True)


A = TypeVar("A", bound=Answer[object, object], covariant=True)


class Problem(Generic[A]):
    """Base of every problem; ``A`` is what its solvers return, as in ``class Discriminant(Problem[Answer[Array, float]])``."""
