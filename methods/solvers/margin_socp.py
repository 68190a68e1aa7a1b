"""The largest-margin problem as a cone program: (3.16) of Nath & Bhattacharyya, and (3.30) in the span of a kernel.

    min t   s.t.   t ≥ ‖w‖,   ½ d'w - b ≥ 1 + κ1‖C1'w‖,   ½ d'w + b ≥ 1 + κ2‖C2'w‖

with the origin half-way between the means. Only the direction of w is read, so the means may be one unit apart.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import version
from math import nan

import clarabel
import ecos
import numpy as np
from scipy.linalg import qr
from scipy.sparse import csc_matrix

from mmc.methods.numerics import clarabel_settings
from mmc.methods.numerics.kernels import Array
from mmc.methods.problems.ellipsoid_geometry import Coordinates
from mmc.methods.problems.ellipsoid_pair import ClosestPoints, EllipsoidPair, certify, check_feasible
from mmc.methods.solution import NotConverged
from mmc.methods.solvers import Capabilities
from mmc.words import nearest

CAN = Capabilities()


@dataclass(frozen=True)
class _Cones:
    """min c'v s.t. each h - Gv lies in a second-order cone; v = (w, b, t), the cones are those of (3.16)."""

    c: Array
    G: list[Array]
    h: list[Array]


@dataclass(frozen=True)
class _Outcome:
    """What a backend found: v and the multipliers of the cones (None where it has none), and what it said."""

    v: Array | None
    z: list[Array]
    steps: int
    said: str
    version: str


def solve(
    problem: EllipsoidPair, *, backend: str = "clarabel", tol: float = 1e-13, max_iter: int = 200
) -> ClosestPoints:
    """Return the closest points of the ellipsoids; ``iterations`` counts interior-point steps.

    ``backend`` is "clarabel" or "ecos".
    It goes on until ``tol`` or rounding errors stop it, and what it has then must have a duality gap of at most 1e-6:
    InfeasibleProblem is raised only if our own certificate agrees, NotConverged for every other end.
    """
    geometry = problem.geometry.coordinates
    if any(geometry.ridge):
        geometry = geometry.without_ridge
    program, lifts = _state(geometry, problem.kappa)
    if backend not in _DIRECT:
        raise ValueError(f"solver 'socp' has no backend {backend!r}: {nearest(backend, _DIRECT)}")
    answer = _DIRECT[backend](program, tol, max_iter)
    if answer.v is not None:
        w, u = answer.v[: len(geometry.d)], _multipliers(answer.z, geometry, problem.kappa, lifts)
        # The multipliers of the cones are the better dual where a ball has collapsed, the support points elsewhere
        for dual in (None, u) if u is not None else (None,):
            proof = certify(EllipsoidPair(geometry, problem.kappa), w, dual)
            if proof.gap <= 1e-6:
                kept = None if geometry is not problem.geometry.coordinates else dual  # it belongs to these rows
                return ClosestPoints(w, kept, answer.steps, answer.version, in_coordinates=True, certificate=proof)
    check_feasible(problem)
    raise NotConverged(f"{backend} stopped with {answer.said}", answer.steps, nan if answer.v is None else proof.gap)


def _state(geometry: Coordinates, kappa: tuple[float, float]) -> tuple[_Cones, list[Array | None]]:
    """Return the program and, for each class, what lifts the multipliers of its cone to those of the geometry's rows."""
    d, n = geometry.d, len(geometry.d)
    size = np.linalg.norm(d) or 1.0
    blocks, lifts = [], []
    for i, (rows, k) in enumerate(zip(geometry.parts, kappa, strict=True)):
        lift = None
        if len(rows) > n:
            lift, rows = qr(rows, mode="economic")
        block = np.zeros((1 + len(rows), n + 2))
        block[0, :n], block[0, n] = -d / (2 * size), 1.0 - 2 * i
        block[1:, :n] = rows * (k / size)
        blocks.append(block if k > 0 else block[:1])
        lifts.append(lift)
    length = -np.eye(n + 2)[[n + 1, *range(n)]]
    c = np.eye(n + 2)[n + 1]
    return _Cones(c, [*blocks, length], [-np.eye(1, len(G))[0] for G in blocks] + [np.zeros(n + 1)]), lifts


def _multipliers(
    z: list[Array], geometry: Coordinates, kappa: tuple[float, float], lifts: list[Array | None]
) -> Array | None:
    """Return u_i, which is κ_i times the direction of C_i'w where that is not 0, from the multipliers of the cones."""
    if not z:
        return None
    u = []
    for rows, k, part, lift in zip(geometry.parts, kappa, z, lifts, strict=False):
        if k == 0 or part[0] <= 0:
            u.append(np.zeros(len(rows)))
        else:
            u.append(k / part[0] * (part[1:] if lift is None else lift @ part[1:]))
    return np.concatenate(u)


def _clarabel(program: _Cones, tol: float, max_iter: int) -> _Outcome:
    # Shorter steps and less regularisation than usual: the gap ends near 1e-14 instead of 1e-10
    settings = clarabel_settings.settings(
        tol,
        max_iter=max_iter,
        max_step_fraction=0.8,
        static_regularization_constant=1e-12,
        equilibrate_enable=False,
    )
    size = len(program.c)
    kinds = [clarabel.SecondOrderConeT(len(h)) if len(h) > 1 else clarabel.NonnegativeConeT(1) for h in program.h]
    G, h = csc_matrix(np.vstack(program.G)), np.concatenate(program.h)
    found = clarabel.DefaultSolver(csc_matrix((size, size)), program.c, G, h, kinds, settings).solve()
    infeasible = found.status in (
        clarabel.SolverStatus.PrimalInfeasible,
        clarabel.SolverStatus.AlmostPrimalInfeasible,
    )
    z = np.split(np.array(found.z), np.cumsum([len(h) for h in program.h])[:-1])
    v = None if infeasible else np.array(found.x)
    return _Outcome(v, z, found.iterations, str(found.status), f"clarabel {version('clarabel')}")


def _ecos(program: _Cones, tol: float, max_iter: int) -> _Outcome:
    order = sorted(range(3), key=lambda i: len(program.h[i]) > 1)  # ECOS wants the linear rows first
    sizes = [len(program.h[i]) for i in order]
    linear = sizes.count(1)
    found = ecos.solve(
        program.c,
        csc_matrix(np.vstack([program.G[i] for i in order])),
        np.concatenate([program.h[i] for i in order]),
        {"l": linear, "q": sizes[linear:], "e": 0},
        verbose=False,
        abstol=tol,
        reltol=tol,
        feastol=tol,
        max_iters=max_iter,
    )
    info = found["info"]
    parts = dict(zip(order, np.split(found["z"], np.cumsum(sizes)[:-1]), strict=True))
    v = None if info["exitFlag"] in (1, 11) else found["x"]
    return _Outcome(v, [parts[i] for i in range(3)], info["iter"], info["infostring"], f"ecos {ecos.__version__}")


_DIRECT = {"clarabel": _clarabel, "ecos": _ecos}
