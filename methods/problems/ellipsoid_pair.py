"""The distance between two ellipsoids: the problem that the solvers of `ErrorRateClassifier` share.

(3.15)  min ½‖w‖²   s.t.  w'μ1 - b ≥ 1 + κ1‖C1'w‖,   b - w'μ2 ≥ 1 + κ2‖C2'w‖,   Σ_i = C_i C_i' (+ ridge_i·I)
(3.23)  its dual: min ‖z1 - z2‖,  z1 = μ1 - C1 u1,  z2 = μ2 + C2 u2,  ‖u_i‖ ≤ κ_i;   w = 2r/‖r‖²,  r = z1 - z2

Without b the primal asks for d'w ≥ 2 + κ1 s1(w) + κ2 s2(w) with d = μ1 - μ2 and s_i(w)² = w'Σ_i w: only the `Geometry` of
d and B = [C1 C2] matters.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, inf, log10, nan, sqrt

import numpy as np

from mmc.methods.numerics.kernels import Array
from mmc.methods.problems import Answer, Certificate, Problem
from mmc.methods.problems.delivered import Delivered, Sides, Verdict
from mmc.methods.problems.ellipsoid_geometry import Coordinates, Geometry
from mmc.methods.solution import InfeasibleProblem

_EPS = float(np.finfo(float).eps)


@dataclass(frozen=True)
class Separation(Certificate):
    """The feasible primal point w = ``scale``·r, and r's measures: ``norm2`` = r'r, ``spread`` = s_i(r), ``along`` = d'r."""

    scale: float
    norm2: float
    spread: tuple[float, float]
    along: float


@dataclass(frozen=True)
class ClosestPoints(Answer[Array, Array | None]):
    """The primal point is r = z1 - z2. The dual one is u, one multiplier per row of B', or None: r alone determines it.

    ``in_coordinates`` says that r and u belong to ``geometry.coordinates``. ``certificate`` is what `certify` says of
    them, if the solver has asked already. An iterate that is not optimal has ``middle`` = r'(z1 + z2 - μ1 - μ2)/2 (3.27),
    and ``angle`` says how far it is from optimal.
    """

    in_coordinates: bool = False
    certificate: Separation | None = None
    middle: float | None = None
    angle: float | None = None


@dataclass(frozen=True)
class EllipsoidPair(Problem[ClosestPoints]):
    """One problem: the shape of the ellipsoids and their sizes κ_i = √((1 - η_i)/η_i) + ν_i.

    ``nu`` is the part of the sizes that allows for the means being estimates.
    """

    geometry: Geometry
    kappa: tuple[float, float]
    nu: tuple[float, float] = (0.0, 0.0)


def certify(problem: EllipsoidPair, r: Array, u: Array | None = None) -> Separation:
    """Return the duality gap of r, whatever solver it came from.

    Primal: r scaled until it satisfies (3.15). Dual: the row multipliers u, stretched within their balls, or the
    points of the ellipsoids that lie farthest in the direction of r. The gap is inf where no scaling of r is feasible.
    """
    geometry, kappa = problem.geometry, problem.kappa
    if u is None and isinstance(geometry, Coordinates):
        from mmc.methods.numerics.separations import measured  # compiled: not every solver needs it

        rows = np.ascontiguousarray(geometry.plain)
        found = measured(rows, geometry.split, geometry.share, geometry.d, geometry.ridge, kappa, r)
        return separation(kappa, *found)
    h = geometry.pull(r)
    norm2, along = float(geometry.products(r, r, h)), float(geometry.along(r))
    first, second = ((h * h) @ geometry.member).tolist()
    spread = sqrt(first + geometry.ridge[0] * max(norm2, 0.0)), sqrt(second + geometry.ridge[1] * max(norm2, 0.0))
    if u is None:
        nu = [k / s if s > 0 else 0.0 for k, s in zip(kappa, spread, strict=True)]
        between = geometry.d - geometry.push(h * (geometry.member @ nu))
        if any(geometry.ridge):
            between -= (geometry.ridge[0] * nu[0] + geometry.ridge[1] * nu[1]) * r
    else:
        between = geometry.d - geometry.push(u * (geometry.member @ _stretch(geometry, kappa, u)))
    return separation(kappa, norm2, along, *spread, geometry.norm2(between))


def separation(
    kappa: tuple[float, float], norm2: float, along: float, first: float, second: float, distance2: float
) -> Separation:
    """Return the certificate of an r with these measures, whose dual point lies at the squared distance ``distance2``."""
    spread, margin = (first, second), along - kappa[0] * first - kappa[1] * second
    if not (margin > 0 and norm2 > 0):
        return Separation(inf, inf, nan, norm2, spread, along)
    objective, bound = 2 * norm2 / margin**2, 2 / max(distance2, _EPS * norm2)
    return Separation(objective, max(1 - bound / objective, 0.0), 2 / margin, norm2, spread, along)


def certify_stack(problems: Sequence[EllipsoidPair], R: Array) -> list[Separation]:
    """Return `certify` of each row of R for the problem of the same place: all have the same geometry, `Coordinates`."""
    from mmc.methods.numerics.separations import measured_each  # compiled: not every solver needs it

    geometry = problems[0].geometry.coordinates
    found = measured_each(geometry.covariances, geometry.d, np.array([problem.kappa for problem in problems]), R)
    return [separation(problem.kappa, *measures) for problem, measures in zip(problems, found.tolist(), strict=True)]


def judge(problem: EllipsoidPair, rule: Delivered, sides: Sides, proof: Separation, settled: bool) -> Verdict:
    """Return what the delivered rule is worth beside the bound that ``proof`` has (`gap_of`)."""
    from mmc.methods.numerics.worth import gap_of  # compiled: not every solver needs it

    objective, more = rule.norm2 / 2, rule.norm2_rounding / 2
    gap = gap_of(objective, _bound(proof), problem.kappa, *sides, more, settled)
    return Verdict(objective, gap, sides.errors(problem.nu))


def judge_stack(
    problems: Sequence[EllipsoidPair],
    X: Array,
    sign: Array,
    coefs: Array,
    offsets: Array,
    shrinkage: tuple[float, float],
    proofs: Sequence[Separation],
) -> list[Verdict]:
    """Return `judge` of linear rules on the rows of X, each for the problem and the proof of the same place: all have one geometry."""
    from mmc.methods.numerics.worth import worth_each  # compiled: not every solver needs it

    kappas, bounds = np.array([problem.kappa for problem in problems]), np.array([_bound(proof) for proof in proofs])
    ridge, share, nu = problems[0].geometry.ridge, (1 - shrinkage[0], 1 - shrinkage[1]), problems[0].nu
    found = worth_each(X, sign, X @ coefs.T, coefs, offsets, kappas, bounds, ridge, share, nu)
    return [Verdict(objective, gap, (pos, neg)) for objective, gap, pos, neg in found.tolist()]


def _bound(proof: Separation) -> float:
    return proof.objective * (1 - proof.gap)


def _stretch(geometry: Geometry, kappa: tuple[float, float], u: Array) -> list[float]:
    """Return the factors of u1 and u2 that bring d - Bu closest to 0 without leaving the balls."""
    parts = [geometry.push(u * side) for side in geometry.member.T]
    limit = [k / max(sqrt((u * u) @ side), _EPS) for k, side in zip(kappa, geometry.member.T, strict=True)]
    along = [float(geometry.along(part)) for part in parts]
    pulled = [geometry.pull(part) for part in parts]
    norm2 = [float(geometry.products(part, part, h)) for part, h in zip(parts, pulled, strict=True)]
    cross = float(geometry.products(parts[0], parts[1], pulled[1]))
    factor = [min(1.0, top) for top in limit]
    for i in (0, 1, 0, 1, 0, 1):
        if norm2[i] > 0:
            factor[i] = min(max((along[i] - cross * factor[1 - i]) / norm2[i], 0.0), limit[i])
    return factor


def infeasible(problem: EllipsoidPair, p: float) -> InfeasibleProblem:
    """Return the error that says, in rates, how far the problem is from feasible (p of `FeasibleEdge.demand`)."""
    asked = [max(k - nu, 0.0) for k, nu in zip(problem.kappa, problem.nu, strict=True)]
    if np.isinf(p):
        return InfeasibleProblem(
            "the two classes have the same mean in feature space: no linear rule can bound both errors, "
            "at any rates; use another kernel or other features",
            inf,
        )
    if max(problem.nu) > 0:
        room = problem.geometry.edge.reach(problem.nu, (asked[0], asked[1])) if max(asked) > 0 else 0.0
        if room == 0:
            alone = problem.geometry.edge.demand(problem.nu)[1]
            return InfeasibleProblem(
                f"mean_uncertainty={problem.nu} alone asks for {alone:.4g} times what the data allow: no rates are "
                "feasible with it; lower it",
                p - 1,
            )
        p = 1 / room
    enough = [1 / (1 + (k / p) ** 2) for k in asked]
    eta_pos, eta_neg = (1 / (1 + k * k) for k in asked)
    return InfeasibleProblem(
        f"eta_pos={eta_pos:.4g}, eta_neg={eta_neg:.4g} ask for {p:.4g} times what the data allow; shrinking both "
        f"demands equally, eta_pos={_round_up(enough[0])}, eta_neg={_round_up(enough[1])} would be feasible",
        p - 1,
    )


def check_feasible(problem: EllipsoidPair) -> float:
    """Raise InfeasibleProblem if the ellipsoids touch or overlap; return the log-odds of `FeasibleEdge.demand` if not."""
    lower, upper, z = problem.geometry.edge.demand(problem.kappa)
    if upper >= 1:
        raise infeasible(problem, max(lower, 1.0))
    return z


def _round_up(eta: float) -> str:
    """Print a rate with three digits, never below it and never above 1: a printed rate must be feasible too."""
    digits = 2 - floor(log10(eta))
    return f"{min(ceil(eta * 10**digits + 1e-6) / 10**digits, 1.0):.3g}"
