"""A dense interior point method for the restricted linear programs of the max-margin ratio machine.

    primal   min  c'v + U'ξ   s.t.  A v + b z + ξ - s = e,   ξ, s ≥ 0,  v ≥ 0 unless it is free
    dual     max  e'λ         s.t.  A'λ + r = c,  z'λ = 0,  λ + q = U,   λ, q ≥ 0,  r ≥ 0 (0 where v is free)

where a row with U = ∞ has no slack. Newton's equations for v r = s λ = ξ q = μ reduce to one positive definite matrix of
v's size and a border for b,

    A'H⁻¹A + diag(r/v),     H = s/λ + ξ/q,

whose Cholesky factor serves Mehrotra's predictor, his corrector and up to two of Gondzio's, which lengthen the step: they cost a
fraction of the factor. Where rounding in that matrix shows in r, the equations are factorised as they are.
The start need not be feasible. A λ that is saves half of the steps: r of other starts is too large beside v r, and falls only as μ does.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lstsq

from mmc.methods.numerics.kernels import Array
from mmc.methods.numerics.newton_systems import Indefinite, Reduced
from mmc.methods.numerics.steps import room
from mmc.methods.solution import NotConverged

_NEAR = 0.995  # of the way to the boundary
_CORRECTORS = 2
_SPREAD = 10.0  # products may differ from the target by this factor before a corrector moves them
_GAIN = 0.02  # by which a corrector must lengthen the steps
_SPENT = 1e-4  # of what may be wrong: if the products v r, s λ, ξ q are worth less, the rest is rounding
_LARGE = 10**6  # numbers of A from which single precision saves time
_LOST = 0.1  # of r: rounding of this size asks for better factors
_IDLE = 1e-3  # v r̄ beside r v̄: a v this small will hardly become positive
_CENTRAL = 1e-3  # relative gap down to which the path is followed for a λ with room: nearer the end rounding shows


Products = tuple[Array, Array, Array]  # of v r, s λ and ξ q


@dataclass(frozen=True)
class SlackLP:
    """The program above; U may hold ∞."""

    A: Array
    z: Array
    e: Array
    c: Array
    U: Array
    free: bool = False

    def of(self, kept: NDArray[np.intp]) -> SlackLP:
        """Return the program without the other v."""
        return self if len(kept) == len(self.c) else replace(self, A=self.A[:, kept], c=self.c[kept])


@dataclass(frozen=True)
class LpPoint:
    """v and b with the multipliers λ of the rows; ``active`` are the v that seem positive and the λ between their bounds.

    ``central`` is a feasible λ that was passed on the way: it has more room than the last. ``kept`` are the v that were not left out.
    """

    v: Array
    b: float
    dual: Array
    steps: int
    active: tuple[NDArray[np.intp], NDArray[np.intp]] | None = None
    central: Array | None = None
    kept: NDArray[np.intp] | None = None


def solve(
    program: SlackLP, v: Array, b: float, dual: Array, *, tol: float, max_iter: int = 100, thin: bool = False
) -> LpPoint:
    """Return points whose objectives differ by ``tol``, relative, or as near as rounding lets them come.

    ``v``, ``b`` and ``dual`` are a guess. Rounding ends the method where no step is possible: the caller's certificate judges.
    With ``thin``, v that seem to be 0 are left out on the way, which makes steps shorter; the caller looks at them again.
    """
    at = _Iterate(program, v, b, dual)
    kept, steps, central = np.arange(len(v)), 0, None
    while True:
        wrong = at.measure()
        if thin and steps:
            kept = kept[at.thin()]
        if steps and (central is None or wrong > _CENTRAL) and at.feasible():
            central = at.dual
        only_rounding = at.mu * at.pairs < _SPENT * tol * abs(at.value)
        if wrong <= tol or only_rounding or steps == max_iter or not at.advance():
            break
        steps += 1
    if not (np.all(np.isfinite(at.v)) and np.all(np.isfinite(at.dual))):
        raise NotConverged("the interior point method left the range of numbers", steps)
    return LpPoint(at.v, at.b, at.dual, steps, at.active(), central, kept)


@dataclass(frozen=True)
class _Move:
    """A step of every part of an iterate."""

    v: Array
    b: float
    s: Array
    xi: Array
    r: Array
    dual: Array
    q: Array


class _Iterate:
    """Where the method is: v, b, s, ξ of the primal, r, λ, q of the dual; ξ and q are those of the rows with a slack."""

    def __init__(self, program: SlackLP, v: Array, b: float, dual: Array):
        A, z, e, c, U = program.A, program.z, program.e, program.c, program.U
        self.program = program
        self.soft = np.flatnonzero(np.isfinite(U))
        usual = np.minimum(3.0 / len(e) / np.maximum(np.abs(e), 1.0), U / 2)  # 1'λ is at least 2
        self.dual = np.where(dual > 0, np.clip(dual, 0.1 * usual, 0.98 * U), usual)  # 0 is no guess
        self.q = (U - self.dual)[self.soft]
        excess = e - A @ v - b * z
        self.s = np.maximum(-excess, 0.1)
        level = float(np.mean(self.s * self.dual))  # of all products: beside a large C, ξ must be as small as λ is
        self.xi = np.maximum(excess, 0.0)[self.soft] + np.minimum(0.1, level / self.q)
        self.b = b
        if program.free:
            self.v, self.r = v.copy(), np.zeros_like(v)
        else:
            self.v = np.maximum(v, 0.3 * float(v.mean()) or 1.0)
            self.r = np.maximum(c - A.T @ self.dual, 0.1 * level / self.v)
        self.pairs = (0 if program.free else len(v)) + len(e) + len(self.soft)
        self.system: Reduced | Indefinite = Reduced(A, z, not program.free and A.size > _LARGE)

    def measure(self) -> float:
        """Compute the residuals; return what is wrong with the point, relative to its objective."""
        A, z, e, c, U = self.program.A, self.program.z, self.program.e, self.program.c, self.program.U
        soft = self.soft
        f = A @ self.v + self.b * z
        self.primal_side = e - f + self.s
        self.primal_side[soft] -= self.xi
        self.dual_side = c - A.T @ self.dual - self.r
        self.sign_side = -float(z @ self.dual)
        self.bound_side = U[soft] - self.dual[soft] - self.q
        if not self.program.free:  # a slack takes up what rounding has left, where it can
            taken = np.where(np.abs(self.dual_side) < 0.5 * self.r, self.dual_side, 0.0)
            self.r, self.dual_side = self.r + taken, self.dual_side - taken
        taken = np.where(np.abs(self.primal_side) < 0.5 * self.s, self.primal_side, 0.0)
        self.s, self.primal_side = self.s - taken, self.primal_side - taken
        self.mu = float(self.v @ self.r + self.s @ self.dual + self.xi @ self.q) / self.pairs
        short = np.maximum(e - f, 0.0)
        self.value = float(c @ self.v + U[soft] @ short[soft])
        length = 10 * (1 + float(np.abs(self.v).sum()))
        wrong = abs(self.value - float(e @ self.dual)) + length * float(np.abs(self.dual_side).max())
        wrong += abs(self.sign_side * self.b) + float(short[np.isinf(U)].max(initial=0.0))
        return wrong / max(1.0, abs(self.value))

    def thin(self) -> NDArray[np.intp]:
        """Leave out the v that seem to be 0, if they are many; return the others."""
        kept = np.flatnonzero(self.v * float(self.r.mean()) > _IDLE * self.r * float(self.v.mean()))
        if len(kept) > 0.9 * len(self.v):
            return np.arange(len(self.v))
        self.program = self.program.of(kept)
        self.v, self.r, self.pairs = self.v[kept], self.r[kept], self.pairs - len(self.v) + len(kept)
        self.system = type(self.system)(self.program.A, self.program.z)
        self.measure()
        return kept

    def advance(self) -> bool:
        """Make a step; False if rounding leaves none."""
        free = self.program.free
        v, s, xi, r, dual, q = self.v, self.s, self.xi, self.r, self.dual, self.q
        H, D = self._slackness(), np.zeros_like(v) if free else r / v
        self.system.factorise(H, D)
        move = self._direction(-v * r, -s * dual, -xi * q)
        while not free and isinstance(self.system, Reduced) and not self._lost(move) <= _LOST:
            A, z = self.program.A, self.program.z
            self.system = Reduced(A, z) if self.system.single else Indefinite(A, z)
            self.system.factorise(H, D)
            move = self._direction(-v * r, -s * dual, -xi * q)
        first, second = self._rooms(move)
        after = (s + first * move.s) @ (dual + second * move.dual) + (xi + first * move.xi) @ (q + second * move.q)
        if not free:
            after += (v + first * move.v) @ (r + second * move.r)
        target = (float(after) / self.pairs / self.mu) ** 3 * self.mu
        products = (
            target - v * r - move.v * move.r,
            target - s * dual - move.s * move.dual,
            target - xi * q - move.xi * move.q,
        )
        move = self._direction(*products)
        first, second = self._rooms(move, _NEAR)
        for _ in range(_CORRECTORS):
            if min(first, second) > 0.95:
                break
            products = self._centred(move, products, target, first, second)
            other = self._direction(*products)
            longer = self._rooms(other, _NEAR)
            if not sum(longer) > first + second + _GAIN:
                break
            move, (first, second) = other, longer
        if not max(first, second) > 1e-8:
            return False
        self.v, self.b, self.s, self.xi = (
            v + first * move.v,
            self.b + first * move.b,
            s + first * move.s,
            xi + first * move.xi,
        )
        self.r, self.dual, self.q = r + second * move.r, dual + second * move.dual, q + second * move.q
        return True

    def _centred(self, move: _Move, products: Products, target: float, first: float, second: float) -> Products:
        """Return what the products must change by for a longer step to leave none of them far from the target (Gondzio)."""
        first, second = min(1.0, 1.5 * first + 0.1), min(1.0, 1.5 * second + 0.1)

        def moved(change: Array, x: Array, d_x: Array, y: Array, d_y: Array) -> Array:
            product = (x + first * d_x) * (y + second * d_y)
            off = np.clip(product, target / _SPREAD, target * _SPREAD) - product
            return change + np.maximum(off, -_SPREAD * target)

        return (
            moved(products[0], self.v, move.v, self.r, move.r),
            moved(products[1], self.s, move.s, self.dual, move.dual),
            moved(products[2], self.xi, move.xi, self.q, move.q),
        )

    def feasible(self) -> bool:
        """Whether λ satisfies its constraints with room: the slack r that goes with it is what they leave."""
        return not self.program.free and bool(np.all(self.dual_side > -0.5 * self.r))

    def active(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return the v that seem positive, and the λ that seem to lie between their bounds."""
        H = self._slackness()
        H[~self.program.A.any(axis=1) | np.isinf(self.program.U)] = np.inf
        order = np.argsort(H)
        positive = np.flatnonzero(self.v * float(self.r.mean()) > self.r * float(self.v.mean()))
        if self.program.free:
            positive = np.arange(len(self.v))
        return positive, order[: _edge(H[order], len(positive) + 1)]

    def _slackness(self) -> Array:
        H = self.s / self.dual
        H[self.soft] += self.xi / self.q
        return H

    def _direction(self, to_v: Array, to_s: Array, to_xi: Array) -> _Move:
        """Return the step that changes the products v r, s λ and ξ q by these amounts, and removes the residuals."""
        free, soft = self.program.free, self.soft
        h = self.primal_side + to_s / self.dual
        h[soft] -= (to_xi - self.xi * self.bound_side) / self.q
        g = self.dual_side if free else self.dual_side - to_v / self.v
        late = self.mu * self.pairs < 1e-3 * abs(self.value)
        d_v, d_b, d_dual = self.system.solve(h, g, self.sign_side, 2 if late and free else 1 if late else 0)
        d_q = self.bound_side - d_dual[soft]
        if free:
            d_r = np.zeros_like(d_v)
        elif isinstance(self.system, Reduced):
            d_r = (to_v - self.r * d_v) / self.v
        else:
            d_r = self.dual_side - self.program.A.T @ d_dual
        d_s, d_xi = (to_s - self.s * d_dual) / self.dual, (to_xi - self.xi * d_q) / self.q
        return _Move(d_v, d_b, d_s, d_xi, d_r, d_dual, d_q)

    def _lost(self, move: _Move) -> float:
        """Return by how much the changes of λ and r miss each other, beside r."""
        return float(np.max(np.abs(self.dual_side - self.program.A.T @ move.dual - move.r) / self.r))

    def _rooms(self, move: _Move, near: float = 1.0) -> tuple[float, float]:
        """Return how far the primal and the dual point can go."""
        primal, dual = [(self.s, move.s), (self.xi, move.xi)], [(self.dual, move.dual), (self.q, move.q)]
        if not self.program.free:
            primal.append((self.v, move.v))
            dual.append((self.r, move.r))
        return min(1.0, near * room(*primal)), min(1.0, near * room(*dual))


def face(program: SlackLP, point: LpPoint) -> LpPoint:
    """Return the nearest point on the face that an interior point is close to.

    Near the end rounding spoils λ where W is large, while it shows ever more clearly what is active: there v, b and λ are
    solutions of linear equations, the nearest ones if there are several.
    """
    assert point.active is not None
    positive, between = point.active
    A, z, e, c, U = program.A, program.z, program.e, program.c, program.U
    full = (A @ point.v + point.b * z < e) & np.isfinite(U)
    v, dual = np.zeros(len(c)), np.where(full, U, 0.0)
    v[positive], dual[between] = point.v[positive], point.dual[between]
    active = np.column_stack([A[np.ix_(between, positive)], z[between]])
    move = lstsq(active, e[between] - active @ np.append(v[positive], point.b), lapack_driver="gelsy")[0]
    v[positive] += move[:-1]
    right = np.append(c[positive] - dual @ A[:, positive], -dual @ z)
    dual[between] += lstsq(active.T, right, lapack_driver="gelsy")[0]
    return replace(point, v=v, b=point.b + float(move[-1]), dual=dual)


def _edge(ratio: Array, count: int) -> int:
    """Return how many of the sorted ``ratio`` come before its largest jump, near ``count``."""
    low, high = int(0.8 * count), min(int(1.2 * count) + 3, len(ratio))
    jumps = np.diff(np.log(np.clip(ratio[low:high], 1e-300, 1e300)))
    return low + 1 + int(np.argmax(jumps)) if len(jumps) else min(count, len(ratio))
