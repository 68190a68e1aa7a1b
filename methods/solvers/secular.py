"""Distance between two ellipsoids by the secular equations of their two multipliers.

For multipliers τ1, τ2 > 0 of the balls ‖u_i‖ ≤ κ_i the dual (3.23) is solved by

    (I + Σ1/τ1 + Σ2/τ2) r = d,      s_i² = r'Σ_i r,      ‖u_i‖ = s_i/τ_i,

and what is left is to find τ with ‖u_i‖ = κ_i, or τ_i = 0 and ‖u_i‖ ≤ κ_i: a ball collapses where r has no spread in
its class. Newton's method for them is in ``numerics/secular_equations.py``.

In feature space each of its steps is one n × n Cholesky. With a Gram matrix r = d - Bx and

    (diag(τ) + B'B) x = B'd,

m × m, where a Cholesky is dear. So each one also gives ∂r/∂τ1 and ∂r/∂τ2, and the problem is solved exactly in the
span of d and all vectors found so far, which is tiny; the next τ comes from there. The span starts as a Krylov space,
and two or three factorisations are enough; a grid of κ keeps the span of its neighbours and often needs none.
Ridges only rescale: with σ = 1 + ridge1/τ1 + ridge2/τ2, r(τ) is parallel to the r(στ) without them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import inf, isinf, log, sqrt

import numpy as np
from scipy.linalg import lstsq, null_space
from scipy.linalg.lapack import dpotrs

from mmc.methods.numerics.cholesky import factored
from mmc.methods.numerics.kernels import Array
from mmc.methods.numerics.secular_equations import NEVER, Pair, newton, newton_each
from mmc.methods.numerics.span import Span
from mmc.methods.numerics.touching import touching_each
from mmc.methods.problems.ellipsoid_geometry import Coordinates, KernelGeometry
from mmc.methods.problems.ellipsoid_pair import (
    ClosestPoints,
    EllipsoidPair,
    certify,
    certify_stack,
    check_feasible,
    infeasible,
)
from mmc.methods.problems.large_geometry import LargeGeometry
from mmc.methods.solution import FitError, InfeasibleProblem, NotConverged
from mmc.methods.solvers import Capabilities
from mmc.methods.solvers.secular_large import solve_large

VERSION = "1"
CAN = Capabilities(rows=True, together=True)
_ZERO = 1e-14  # the share of the spread that stands for a multiplier 0 in a factorisation
_FLOOR = 1e-7  # the share below which a multiplier in the span is taken for 0 until a factorisation denies it
_TARGET = 1e-13  # the gap at which to stop; r is then right to about its square root
_NEAR = 0.05  # relative change of τ from which the answer in the span is worth a certificate
_MOST = 30  # factorisations
_PASSES = 30  # of one factorisation; by then what rounding can do to a semi-definite matrix is made up for
_FEW = 4  # steps after which a size without a feasible point is asked whether there is one
_PATIENCE = 12  # answers in a row that are not much better than the best one


@dataclass
class _Start:
    """What the problems solved so far on one geometry leave to the next."""

    solved: deque[tuple[Pair, Pair]] = field(default_factory=lambda: deque(maxlen=32))
    span: Span | None = None
    overlapped: bool = False
    ready: dict[Pair, ClosestPoints | float] = field(default_factory=dict)  # or p of what is infeasible

    def near(self, kappa: Pair) -> Pair | None:
        """Return the multipliers of the problem whose sizes were closest to these."""
        if 0.0 in kappa or not self.solved:
            return None
        return min(self.solved, key=lambda old: sum(abs(log(a / b)) for a, b in zip(old[0], kappa, strict=True)))[1]

    def keep(self, kappa: Pair, tau: Pair) -> None:
        if 0.0 not in kappa:
            self.solved.append((kappa, tau))


def solve(problem: EllipsoidPair, *, tol: float = 1e-8) -> ClosestPoints:
    """Return the closest points of the two ellipsoids; their relative duality gap is at most ``tol``.

    Raises InfeasibleProblem where the ellipsoids touch or overlap, NotConverged where rounding errors stop it short.
    """
    geometry = problem.geometry
    start = geometry.memory.once("secular", _Start)
    ready = start.ready.get(problem.kappa)
    if isinstance(ready, float):
        raise infeasible(problem, ready)
    if ready is not None and ready.certificate is not None and ready.certificate.gap <= tol:
        return ready
    try:
        if start.overlapped:  # its neighbour did: ask the edge first, which is known by now
            check_feasible(problem)
        found = _solve(problem, tol, start)
    except InfeasibleProblem:
        start.overlapped = True
        raise
    start.overlapped = False
    return found


def prepare(problems: Sequence[EllipsoidPair], *, tol: float = 1e-8) -> list[ClosestPoints | None]:
    """Solve all sizes of the same ellipsoids together, where that is faster, and return what came out well.

    `solve` finds it in the geometry's memory.
    """
    found: list[ClosestPoints | None] = [None] * len(problems)
    for geometry in {id(problem.geometry): problem.geometry for problem in problems}.values():
        if not (isinstance(geometry, Coordinates) and geometry.definite and geometry.d.any()):
            continue
        ready = geometry.memory.once("secular", _Start).ready
        left = {p.kappa: p for p in problems if p.geometry is geometry and p.kappa not in ready}
        if left:
            ready.update(_together(geometry, list(left.values()), min(tol, _TARGET)))
        for place, problem in enumerate(problems):
            answer = ready.get(problem.kappa) if problem.geometry is geometry else None
            found[place] = answer if isinstance(answer, ClosestPoints) else found[place]
    return found


def _together(geometry: Coordinates, problems: list[EllipsoidPair], tol: float) -> dict[Pair, ClosestPoints | float]:
    """Return the answers whose gap is at most ``tol``, and p of what is infeasible."""
    found: dict[Pair, ClosestPoints | float] = {}
    left = _each(geometry, problems, np.full((len(problems), 2), -1.0), _FEW, tol, found)
    if not left:
        return found
    bounds, start = touching_each(geometry.d, geometry.covariances, np.array([problem.kappa for problem in left]))
    for problem, (lower, upper) in zip(left, bounds.tolist(), strict=True):
        if upper >= 1:
            found[problem.kappa] = max(lower, 1.0)
    left = [problem for problem in left if problem.kappa not in found]
    if left:
        _each(geometry, left, start[bounds[:, 1] < 1], _MOST, tol, found)
    return found


def _each(
    geometry: Coordinates,
    problems: list[EllipsoidPair],
    start: Array,
    patience: int,
    tol: float,
    found: dict[Pair, ClosestPoints | float],
) -> list[EllipsoidPair]:
    """Solve each problem from its own start; return those without a feasible point."""
    kappa = np.array([problem.kappa for problem in problems])
    R, steps = newton_each(geometry.d, geometry.covariances, kappa, start, np.zeros(2), patience)
    proofs = certify_stack(problems, R)
    for problem, r, made, proof in zip(problems, R, steps.tolist(), proofs, strict=True):
        if proof.gap <= tol:
            found[problem.kappa] = ClosestPoints(r, None, made, VERSION, certificate=proof)
    return [problem for problem, proof in zip(problems, proofs, strict=True) if isinf(proof.gap)]


def _solve(problem: EllipsoidPair, tol: float, start: _Start) -> ClosestPoints:
    geometry = problem.geometry
    if isinstance(geometry, LargeGeometry):
        return solve_large(problem, geometry, tol, VERSION)
    one_ridge = min(geometry.ridge) == 0 < max(geometry.ridge)
    if isinstance(geometry, KernelGeometry):
        if one_ridge:  # a ball may collapse while the other cannot: among rows both are alike
            found = solve(EllipsoidPair(geometry.coordinates, problem.kappa), tol=tol)
            return replace(found, in_coordinates=True)
        try:
            return _in_span(problem, tol, start)
        except NotConverged:  # inner products alone cannot settle it: their rounding errors outweigh r
            found = solve(EllipsoidPair(geometry.coordinates, problem.kappa), tol=tol)
            return replace(found, in_coordinates=True)
    assert isinstance(geometry, Coordinates)
    if not geometry.d.any():
        raise infeasible(problem, inf)
    if geometry.definite:
        return _in_feature_space(problem, geometry, tol)
    if one_ridge:
        found = solve(EllipsoidPair(geometry.without_ridge, problem.kappa), tol=tol)
        return replace(found, dual=None)
    if geometry.axes.shape[1] < len(geometry.d):
        found = solve(EllipsoidPair(geometry.spanned, problem.kappa), tol=tol)
        return replace(found, primal=geometry.axes @ found.primal, certificate=None)
    try:
        return _in_feature_space(problem, geometry, tol)
    except NotConverged as error:  # a multiplier near 0: take it for 0 exactly, and let the certificate decide
        for gone in ((0,), (1,), (0, 1)):
            other = _without_spread(problem, geometry, gone, tol)
            if other is not None:
                return other
        raise error


def _in_feature_space(problem: EllipsoidPair, geometry: Coordinates, tol: float) -> ClosestPoints:
    d, S, kappa = geometry.d, geometry.covariances, problem.kappa
    low = 0.0 if geometry.definite else 1e-13 * float(S.trace(axis1=1, axis2=2).max()) + _ZERO**2 * float(d @ d)
    floor = (low, low)  # of a multiplier that only a singular covariance can let fall so far
    r, tau, steps = newton(d, S, kappa, None, floor, patience=10)
    proof = certify(problem, r)
    if isinf(proof.gap):
        check_feasible(problem)
        r, tau, steps = newton(d, S, kappa, tau, floor)
        proof = certify(problem, r)
    if proof.gap > tol:
        raise _stopped(proof.gap, steps, tol)
    return ClosestPoints(r, None, steps, VERSION, certificate=proof)


def _stopped(gap: float, steps: int, tol: float) -> NotConverged:
    return NotConverged(
        f"the secular equations stopped at a relative duality gap of {gap:.2g}, above {tol:.2g}: the problem is "
        "too close to the edge of feasibility or too badly scaled; relax the rates, standardise the features or set "
        "ridge",
        steps,
        gap,
    )


def _krylov(gram: KernelGeometry) -> Span:
    """Return the span of d and the Krylov vectors Σ_i d, Σ_i Σ_j d, Σ_i Σ_j Σ_k d."""
    span = Span(gram.g, gram.dd, gram.member, gram.rounding)
    H = gram.g[None]
    for _ in range(3):
        C = _parts(H, gram.member)
        H = C @ gram.G
        span.extend(_push(C), H.copy())
    return span


@dataclass
class _Best:
    """The best certified answer so far."""

    problem: EllipsoidPair
    tol: float
    gap: float = inf
    answer: ClosestPoints | None = None
    stalled: int = 0

    def offer(self, r: Array, u: Array | None, factored: int) -> bool:
        """Take r if it is better; say whether there is nothing left to gain but rounding errors."""
        proof = certify(self.problem, r, u)
        self.stalled = 0 if proof.gap < self.gap / 4 else self.stalled + 1
        if proof.gap < self.gap:
            self.gap, self.answer = proof.gap, ClosestPoints(r, u, factored, VERSION, certificate=proof)
        return self.gap <= _TARGET or (self.gap <= self.tol and self.stalled > 3)


def _in_span(problem: EllipsoidPair, tol: float, start: _Start) -> ClosestPoints:
    gram, kappa = problem.geometry, problem.kappa
    assert isinstance(gram, KernelGeometry)
    member = gram.member
    if gram.dd <= sqrt(len(gram.g)) * gram.noise:
        raise infeasible(problem, inf)
    if kappa == (0.0, 0.0):
        return ClosestPoints(gram.d, None, 0, VERSION)
    spread = (gram.diagonal @ member + gram.ridge).tolist()
    ridged = any(gram.ridge)  # of both classes, or of none
    lowest = [max(_ZERO * s, 10 * gram.noise, _ZERO**2 * gram.dd) for s in spread]
    # Only without a ridge can a ball collapse
    floor = lowest if ridged else [max(_FLOOR * s, low) for s, low in zip(spread, lowest, strict=True)]
    span = start.span = start.span or _krylov(gram)
    best, tau, at = _Best(problem, tol), start.near(kappa), (spread[0], spread[1])
    moved = inf if tau is None else 0.0  # how far τ is from where the span was made for it
    factored, proven = 0, False
    while best.stalled < _PATIENCE and factored < _MOST:
        V, along, S = span.vectors, span.along, span.covariances(gram.ridge)
        a, tau, _ = newton(along, S, kappa, tau, (floor[0], floor[1]), patience=25)
        if factored:
            moved = max(abs(log(t / old)) for t, old in zip(tau, at, strict=True))
        first, second = (S @ a @ a).tolist()
        feasible = along @ a > kappa[0] * sqrt(max(first, 0.0)) + kappa[1] * sqrt(max(second, 0.0))
        if not feasible:
            # Nothing feasible in the span yet: approach the small multipliers step by step
            tau = (max(tau[0], 0.01 * at[0]), max(tau[1], 0.01 * at[1]))
            if factored == 3 and not proven:
                w = gram.from_coordinates(gram.edge.direction(check_feasible(problem)))
                span.extend(w[None].copy(), gram.pull(w)[None])
                proven = True
                continue
        gone = [t <= low for t, low in zip(tau, floor, strict=True)]
        if any(gone):
            a, tau = _collapsed(along, S, kappa, tau, a, gone)
        elif feasible and moved < _NEAR and best.offer(a @ V, None, factored):
            break
        factored, at = factored + 1, tau
        x = _factor(gram, [low if zero else t for zero, t, low in zip(gone, tau, lowest, strict=True)], span)
        if moved < _NEAR or any(gone):
            u = None if ridged else x
            if best.offer(gram.d - gram.push(x), u, factored) or (any(gone) and best.offer(a @ V, u, factored)):
                break
        for i in (0, 1):
            if gone[i] and (x * x) @ member[:, i] > kappa[i] ** 2:  # it has not collapsed: look closer to 0
                floor[i] = max(1e-3 * floor[i], lowest[i])
    if best.answer is None or tau is None or best.gap > tol:
        check_feasible(problem)
        raise _stopped(best.gap, factored, tol)
    start.keep(kappa, tau)
    return best.answer


def _without_spread(
    problem: EllipsoidPair, geometry: Coordinates, gone: tuple[int, ...], tol: float
) -> ClosestPoints | None:
    """Return the best r that has no spread at all in the classes that are gone, if it is the best of all."""
    kappa = [0.0 if i in gone else k for i, k in enumerate(problem.kappa)]
    weight = geometry.member @ [k if i in gone else 0.0 for i, k in enumerate(problem.kappa)]
    Z = null_space(geometry.rows[weight > 0])
    if any(geometry.ridge) or not weight.any() or not Z.shape[1]:
        return None
    inside = Coordinates(geometry.member, (0.0, 0.0), geometry.d @ Z, geometry.rows @ Z * (weight == 0)[:, None])
    try:
        found = _in_feature_space(EllipsoidPair(inside, (kappa[0], kappa[1])), inside, tol)
    except FitError:
        return None
    h = inside.pull(found.primal)
    length = np.sqrt((h * h) @ geometry.member)
    u = h * (geometry.member @ (kappa / np.where(length > 0, length, 1.0)))
    r = Z @ found.primal
    left = geometry.d - r - geometry.push(u)  # what the classes that are gone must make up for
    u = u + weight * lstsq((geometry.rows * weight[:, None]).T, left)[0]
    proof = certify(problem, r, u)
    return ClosestPoints(r, u, found.iterations, VERSION, certificate=proof) if proof.gap <= tol else None


def _collapsed(along: Array, S: Array, kappa: Pair, tau: Pair, a: Array, gone: Sequence[bool]) -> tuple[Array, Pair]:
    """Return r and τ where r has no spread in the classes that are gone, if the span holds such an r."""
    values, vectors = np.linalg.eigh(S[0] * gone[0] + S[1] * gone[1])
    null = vectors[:, values <= 1e-13 * values[-1]]
    if not null.shape[1]:
        return a, tau
    sizes = (0.0 if gone[0] else kappa[0], 0.0 if gone[1] else kappa[1])
    inner, rest, _ = newton(along @ null, np.ascontiguousarray(null.T @ S @ null), sizes, tau)
    return null @ inner, (tau[0] if gone[0] else rest[0], tau[1] if gone[1] else rest[1])


def _factor(gram: KernelGeometry, tau: Sequence[float], span: Span) -> Array:
    """Return x(τ); r(τ), its first and its second derivatives are added to the span."""
    member = gram.member
    T = member @ (np.array(tau) * (1 + sum(ridge / t for ridge, t in zip(gram.ridge, tau, strict=True))))
    left = np.flatnonzero(T < NEVER)  # a ball of size 0 has no part in it
    whole = len(left) == len(T)
    G, g, t, sides = gram.G, gram.g, T, member
    if not whole:
        G, g, t, sides = G[np.ix_(left, left)], g[left], T[left], member[left]
    total = float(np.trace(G))
    for _ in range(_PASSES):
        L, made = factored(G, t)
        if made:
            break
        # singular to rounding: a little more of the multipliers that are nearly 0
        t = t + 1e-15 * total + 10 * np.where(t < 1e-10 * total, t, 0.0)
    else:
        raise FitError(
            f"the Gram matrix is not positive semi-definite: {_PASSES} factorisations with growing multipliers failed; take another "
            "kernel, or other parameters of it, or scale the data"
        )
    right, found = [g[None]], []
    for _ in range(3):  # x, ∂x/∂τ_i, ∂²x/∂τ_i∂τ_j: the same equations for the parts of what came before
        found.append(dpotrs(L, right[-1].T, lower=1)[0].T)
        right.append(_parts(found[-1], sides))
    X = np.concatenate(found)
    if whole:
        H = np.concatenate(right[:-1]) - t * X  # G X follows from the equations
    else:
        X, inner = np.zeros((len(X), len(T))), X
        X[:, left] = inner
        H = X @ gram.G
    V = _push(X)
    V[0], H[0] = gram.d - V[0], gram.g - H[0]
    span.extend(V, H)
    x: Array = X[0]
    return x


def _parts(C: Array, member: Array) -> Array:
    """Split every row into its parts in the two classes."""
    return (C[:, None, :] * member.T).reshape(-1, C.shape[1])


def _push(C: Array) -> Array:
    """Return the vectors Bc for the rows c, one in each row."""
    V = np.zeros((len(C), C.shape[1] + 1))
    V[:, 1:] = C
    return V
