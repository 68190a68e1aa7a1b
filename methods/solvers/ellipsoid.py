"""Distance between two ellipsoids by the iteration of Lin & Han (Nath & Bhattacharyya, section 3.2).

From an interior point c_i of each ellipsoid, the means at first:
1. z1, z2 are where the segment from c1 to c2 leaves the first ellipsoid and enters the second; infeasible if t1 > t2;
2. stop if the normals Σ_i⁻¹(z_i - μ_i) lie along the segment: the angles (3.26) are at most ``tol``;
3. else c_i = z_i - λ_i Σ_i⁻¹(z_i - μ_i) with the smallest eigenvalue λ_i: the centre of a ball that touches the
   ellipsoid from inside at z_i. The distance ‖z1 - z2‖ never grows.

Written in the eigenvectors of Σ1 for the first ellipsoid and of Σ2 for the second, everything is elementwise but the
change of basis; so one step of all sizes κ together is two matrix products. `numerics/lin_han.py` has the steps, compiled.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, nan

import numpy as np
from scipy.linalg import eigh

from mmc.methods.numerics.compiled import VERSION as NUMBA
from mmc.methods.numerics.kernels import Array
from mmc.methods.numerics.lin_han import walk
from mmc.methods.problems.ellipsoid_geometry import Geometry
from mmc.methods.problems.ellipsoid_pair import ClosestPoints, EllipsoidPair, check_feasible, infeasible
from mmc.methods.solution import FitError, NotConverged, Status
from mmc.methods.solvers import Capabilities

VERSION = f"2, {NUMBA}"
CAN = Capabilities(together=True)
_EPS = float(np.finfo(float).eps)
_TOL, _MAX_ITER = 1e-6, 10_000
_Found = ClosestPoints | FitError
_Known = dict[tuple[tuple[float, float], float, int], _Found]  # by κ, tol and max_iter


def solve(
    problem: EllipsoidPair, *, tol: float = _TOL, max_iter: int = _MAX_ITER, at_cap: str = "raise"
) -> ClosestPoints:
    """Return the closest points once both normals are within ``tol`` (radians) of the segment between them.

    At ``max_iter`` it raises NotConverged, or returns the iterate with status "iteration-cap" if ``at_cap`` is "keep".
    Raises InfeasibleProblem, and FitError where a covariance is singular.
    """
    if at_cap not in ("raise", "keep"):
        raise ValueError(f"at_cap is 'raise' or 'keep', not {at_cap!r}")
    prepare([problem], tol=tol, max_iter=max_iter)
    found = _known(problem.geometry)[problem.kappa, tol, max_iter]
    if isinstance(found, FitError):
        raise found
    if found.status is not Status.SOLVED and at_cap == "raise":
        angle = nan if found.angle is None else found.angle
        raise NotConverged(
            f"the ellipsoid iteration was {angle:.2g} rad from the optimum after {max_iter} steps (tol={tol:g}); "
            "raise max_iter or ridge, or keep the iterate with at_cap='keep'",
            found.iterations,
            angle,
        )
    return found


def prepare(
    problems: Sequence[EllipsoidPair], *, tol: float = _TOL, max_iter: int = _MAX_ITER, at_cap: str = "raise"
) -> list[ClosestPoints | None]:
    """Iterate on all sizes of the same ellipsoids together; `solve` finds the answers in the geometry's memory, and judges how they ended."""
    for geometry in {id(problem.geometry): problem.geometry for problem in problems}.values():
        known = _known(geometry)
        left = {p.kappa: p for p in problems if p.geometry is geometry and (p.kappa, tol, max_iter) not in known}
        if left:
            found = _iterate(list(left.values()), tol, max_iter)
            known.update({(kappa, tol, max_iter): answer for kappa, answer in zip(left, found, strict=True)})
    return [None] * len(problems)


def _known(geometry: Geometry) -> _Known:
    return geometry.memory.once("ellipsoid", dict)


def _iterate(problems: Sequence[EllipsoidPair], tol: float, max_iter: int) -> list[_Found]:
    whole = problems[0].geometry.coordinates
    if not np.any(whole.d):
        return [infeasible(problem, inf) for problem in problems]
    geometry = whole.spanned
    d = geometry.d
    try:
        (l1, V1), (l2, V2) = (_axes(S) for S in geometry.covariances)
    except FitError as error:
        return [error] * len(problems)
    Q, d1 = np.ascontiguousarray(V1.T @ V2), V1.T @ d
    values, least = np.stack([l1, l2]), (l1.min(), l2.min())
    kappa2 = np.array([p.kappa for p in problems]).T ** 2
    answers: list[_Found | None] = [None] * len(problems)
    active, step = np.arange(len(problems)), 0
    c1, c2 = np.zeros((2, len(active), len(l1)))  # c_i - μ_i, in the axes of its own ellipsoid
    distance = np.full(len(active), np.inf)
    while len(active) and step < max_iter:
        z1, z2 = np.empty((2, *c1.shape))
        apart, gap, angle = np.empty((3, len(active)))
        sizes = np.ascontiguousarray(kappa2[:, active])
        step = walk(Q, d1, values, sizes, c1, c2, distance, z1, z2, apart, gap, angle, tol, step, max_iter)
        done = (apart <= 0) | (angle <= tol) | (gap > distance * (1 + 1e-9))
        for j in np.flatnonzero(done | (step == max_iter)):
            i = int(active[j])
            answers[i] = _failure(problems[i], float(apart[j]), float(angle[j]), tol, step == max_iter, step)
            if answers[i] is None:
                z = V1 @ z1[j], V2 @ z2[j]
                r = d + z[0] - z[1]
                answers[i] = ClosestPoints(
                    whole.axes @ r,
                    None,
                    step,
                    VERSION,
                    Status.SOLVED if angle[j] <= tol else Status.CAPPED,
                    in_coordinates=True,
                    middle=None if angle[j] <= tol else float(r @ (z[0] + z[1])) / 2,
                    angle=float(angle[j]),
                )
        left = np.array([answers[i] is None for i in active], dtype=bool)
        active, distance = active[left], gap[left]
        c1, c2 = (z[left] * (1 - low / own) for z, low, own in zip((z1, z2), least, (l1, l2), strict=True))
    return [answer for answer in answers if answer is not None]


def _failure(problem: EllipsoidPair, apart: float, angle: float, tol: float, last: bool, step: int) -> FitError | None:
    """Return why an iteration that ended has no answer, if so: the ellipsoids overlap, or rounding errors rule."""
    if apart <= 0 or (angle > tol and last):
        overlap = _overlap(problem)
        if overlap is None and apart <= 0:
            return NotConverged(f"the ellipsoids met at step {step} though they do not overlap: rounding errors", step)
        return overlap
    if angle > tol:
        return NotConverged(
            f"the distance of the ellipsoids rose at step {step}: they are too ill-conditioned; raise ridge",
            step,
            angle,
        )
    return None


def _axes(S: Array) -> tuple[Array, Array]:
    """Return the eigenvalues and eigenvectors of a covariance."""
    values, vectors = eigh(S)
    if values[0] <= len(values) * _EPS * values[-1]:
        raise FitError(
            "the ellipsoid iteration needs positive definite covariances, and one is singular: set ridge > 0 (the "
            "paper's ε) or use another solver"
        )
    return values, vectors


def _overlap(problem: EllipsoidPair) -> FitError | None:
    """Return the proof that the ellipsoids touch or overlap, if they do."""
    try:
        check_feasible(problem)
    except FitError as error:
        return error
    return None
