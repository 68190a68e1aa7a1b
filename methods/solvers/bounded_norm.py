"""The SVM with a bound on ‖w‖ by SVMs (Nath & Bhattacharyya, (2.4) by (2.6)): the λ is sought at which ‖w‖ = W.

log ‖w‖ falls with log λ and is continuous. Steps of a factor bracket its zero, then the Illinois rule (regula falsi that halves
the value of an end that stays) closes in. It stops when the points of (2.4) are within ``tol``, relative.
"""

from __future__ import annotations

from collections.abc import Callable
from math import exp, inf, isfinite, log

from mmc.methods.problems import Answer
from mmc.methods.problems.bounded_norm import BoundedAnswer, BoundedNorm
from mmc.methods.problems.hinges import MachineAnswer, SvmProblem
from mmc.methods.solution import NotConverged

_STEP = log(10.0)


def solve(
    problem: BoundedNorm, svm: Callable[[SvmProblem], MachineAnswer], *, tol: float = 1e-6, max_iter: int = 100
) -> BoundedAnswer:
    """Return the points of (2.4), where ``svm`` solves (2.11); raise NotConverged with the gap that was reached."""
    place, steps, last = 0.0, 0, 0.0
    low, high = (-inf, inf), (inf, -inf)  # log λ with log(‖w‖ / W): where w is too long, and where it is too short
    for _ in range(max_iter):
        found = svm(problem.svm(exp(place)))
        steps += found.iterations
        primal, dual = problem.points(found, exp(place))
        bracket, norm = problem.certify(primal, dual), problem.norm(found)
        if bracket.reached <= tol:
            return Answer(primal, dual, steps, found.version)
        excess = log(norm / problem.largest) if norm > 0 else -inf
        again = 0.5 if excess * last > 0 else 1.0
        if excess > 0:
            low, high = (place, excess), (high[0], again * high[1])
        else:
            low, high = (low[0], again * low[1]), (place, excess)
        place, last = _between(low, high), excess
    raise NotConverged(
        f"after {max_iter} SVMs the relative gap of (2.4) is {bracket.reached:.1e}, wanted {tol:.1e}: scale the data, or take "
        "another max_norm",
        steps,
        bracket.reached,
    )


def _between(low: tuple[float, float], high: tuple[float, float]) -> float:
    """Return the next log λ, between an end whose w is too long and one whose w is too short."""
    if not isfinite(low[0]):
        return high[0] - _STEP
    if not isfinite(high[0]):
        return low[0] + _STEP
    if not isfinite(high[1]):
        return (low[0] + high[0]) / 2
    return (low[0] * high[1] - high[0] * low[1]) / (high[1] - low[1])
