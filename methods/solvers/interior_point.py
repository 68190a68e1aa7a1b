"""A dense interior point method for the restricted linear programs of the max-margin ratio machine.

    primal   min  c'v + U'ξ   s.t.  A v + b z + ξ - s = e,   ξ, s ≥ 0,  v ≥ 0 unless it is free
    dual     max  e'λ         s.t.  A'λ + r = c,  z'λ = 0,  λ + q = U,   λ, q ≥ 0,  r ≥ 0 (0 where v is free)

where a row with U = ∞ has no slack. Newton's equations for v r = s λ = ξ q = μ reduce to one positive definite matrix of
v's size and a border for b,

    A'H⁻¹A + diag(r/v),     H = s/λ + ξ/q,

whose Cholesky factor serves Mehrotra's predictor and his corrector. The start need not be feasible.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lstsq
from scipy.linalg.blas import dsyrk
from scipy.linalg.lapack import dpotrf, dpotrs

from mmc.methods.numerics.kernels import Array
from mmc.methods.numerics.steps import room
from mmc.methods.solution import NotConverged

_NEAR = 0.995  # of the way to the boundary
_CENTRAL = 1e-3  # relative gap down to which the path is followed for a λ with room: nearer the end rounding shows


@dataclass(frozen=True)
class SlackLP:
    """The program above; U may hold ∞."""

    A: Array
    z: Array
    e: Array
    c: Array
    U: Array
    free: bool = False


@dataclass(frozen=True)
class LpPoint:
    """v and b with the multipliers λ of the rows; ``active`` are the v that seem positive and the λ between their bounds.

    ``central`` is a feasible λ that was passed on the way: it has more room than the last.
    """

    v: Array
    b: float
    dual: Array
    steps: int
    active: tuple[NDArray[np.intp], NDArray[np.intp]] | None = None
    central: Array | None = None


def solve(program: SlackLP, v: Array, b: float, dual: Array, *, tol: float, max_iter: int = 100) -> LpPoint:
    """Return points whose objectives differ by ``tol``, relative, or as near as rounding lets them come.

    ``v``, ``b`` and ``dual`` are a guess. Rounding ends the method where no step is possible: the caller's certificate judges.
    """
    at = _Iterate(program, v, b, dual)
    steps, central = 0, None
    while True:
        wrong = at.measure()
        if steps and (central is None or wrong > _CENTRAL) and at.feasible():
            central = at.dual
        if wrong <= tol or steps == max_iter or not at.advance():
            break
        steps += 1
    if not (np.all(np.isfinite(at.v)) and np.all(np.isfinite(at.dual))):
        raise NotConverged("the interior point method left the range of numbers", steps)
    return LpPoint(at.v, at.b, at.dual, steps, at.active(), central)


class _Iterate:
    """Where the method is: v, b, s, ξ of the primal, r, λ, q of the dual; ξ and q are those of the rows with a slack."""

    def __init__(self, program: SlackLP, v: Array, b: float, dual: Array):
        A, z, e, c, U = program.A, program.z, program.e, program.c, program.U
        self.program = program
        self.soft = np.flatnonzero(np.isfinite(U))
        least = np.minimum(3.0 / len(e) / np.maximum(np.abs(e), 1.0), U / 2)  # 1'λ is at least 2
        self.dual = np.clip(dual, least, np.maximum(0.9 * U, least))
        self.q = (U - self.dual)[self.soft]
        excess = e - A @ v - b * z
        self.s = np.maximum(-excess, 0.2)
        self.xi = np.maximum(excess, 0.0)[self.soft] + 0.01
        self.b = b
        if program.free:
            self.v, self.r = v.copy(), np.zeros_like(v)
        else:
            self.v = v + 0.1 * float(v.mean()) + 1e-3
            self.r = np.maximum(c - A.T @ self.dual, 0.2 * float(np.abs(c).mean()) or 1.0)
        self.pairs = (0 if program.free else len(v)) + len(e) + len(self.soft)
        self.work, self.factor = np.empty_like(A), np.empty((len(v), len(v)), order="F")

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

    def advance(self) -> bool:
        """Make a step; False if rounding leaves none."""
        self._factorise()
        v, s, xi, r, dual, q = self.v, self.s, self.xi, self.r, self.dual, self.q
        d_v, d_b, d_s, d_xi, d_r, d_dual, d_q = self._direction(-v * r, -s * dual, -xi * q)
        first, second = self._room(d_v, d_s, d_xi), self._room_of_dual(d_r, d_dual, d_q)
        after = (s + first * d_s) @ (dual + second * d_dual) + (xi + first * d_xi) @ (q + second * d_q)
        if not self.program.free:
            after += (v + first * d_v) @ (r + second * d_r)
        target = (float(after) / self.pairs / self.mu) ** 3 * self.mu
        d_v, d_b, d_s, d_xi, d_r, d_dual, d_q = self._direction(
            target - v * r - d_v * d_r, target - s * dual - d_s * d_dual, target - xi * q - d_xi * d_q
        )
        first, second = self._room(d_v, d_s, d_xi, _NEAR), self._room_of_dual(d_r, d_dual, d_q, _NEAR)
        if not max(first, second) > 1e-8:
            return False
        self.v, self.b, self.s, self.xi = v + first * d_v, self.b + first * d_b, s + first * d_s, xi + first * d_xi
        self.r, self.dual, self.q = r + second * d_r, dual + second * d_dual, q + second * d_q
        return True

    def feasible(self) -> bool:
        """Whether λ satisfies its constraints with room: the slack r that goes with it is what they leave."""
        left = self.program.c - self.program.A.T @ self.dual
        return not self.program.free and bool(np.all(left > 0.5 * self.r))

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

    def _factorise(self) -> None:
        """Factorise A'WA + D by Cholesky, damped where rounding makes it indefinite, and eliminate b."""
        A, z = self.program.A, self.program.z
        self.W = 1 / self._slackness()
        self.D = np.zeros_like(self.v) if self.program.free else self.r / self.v
        np.multiply(A, np.sqrt(self.W)[:, None], out=self.work)
        self.unit = 1 / np.sqrt(np.maximum(np.einsum("ji,ji->i", self.work, self.work) + self.D, 1e-300))
        self.work *= self.unit
        damp, failed = 1e-15, 1
        while failed:  # in the memory of the last factor: new memory costs as much as a third of the arithmetic
            self.factor = dsyrk(1.0, self.work.T, lower=1, c=self.factor, overwrite_c=1)
            np.fill_diagonal(self.factor, 1.0 + damp)
            self.factor, failed = dpotrf(self.factor, lower=1, overwrite_a=1)
            damp *= 100
        self.Az = A.T @ (self.W * z)
        self.border = self._inverse(self.Az)
        whole = float(z @ (self.W * z))
        self.pivot = max(whole - float(self.Az @ self.border), 1e-15 * whole)  # rounding may leave nothing

    def _inverse(self, x: Array) -> Array:
        solution: Array = self.unit * dpotrs(self.factor, self.unit * x, lower=1)[0]
        return solution

    def _newton(self, h: Array, dual_side: Array, sign_side: float) -> tuple[Array, float, Array]:
        """Solve H d_λ + A d_v + z d_b = h,  A'd_λ - D d_v = dual_side,  z'd_λ = sign_side."""
        A, z, W = self.program.A, self.program.z, self.W
        y = self._inverse(A.T @ (W * h) - dual_side)
        d_b = (float(z @ (W * h) - self.Az @ y) - sign_side) / self.pivot
        d_v = y - self.border * d_b
        return d_v, d_b, W * (h - A @ d_v - z * d_b)

    def _direction(
        self, to_v: Array, to_s: Array, to_xi: Array
    ) -> tuple[Array, float, Array, Array, Array, Array, Array]:
        """Return the step that changes the products v r, s λ and ξ q by these amounts, and removes the residuals."""
        A, z, free, soft = self.program.A, self.program.z, self.program.free, self.soft
        h = self.primal_side + to_s / self.dual
        h[soft] -= (to_xi - self.xi * self.bound_side) / self.q
        dual_side = self.dual_side if free else self.dual_side - to_v / self.v
        d_v, d_b, d_dual = self._newton(h, dual_side, self.sign_side)
        if self.mu * self.pairs < 1e-3 * abs(self.value):  # where H is small by now, h - A d_v lacks digits: refine
            for _ in range(2):
                left = dual_side - A.T @ d_dual + self.D * d_v
                more = self._newton(np.zeros_like(h), left, self.sign_side - float(z @ d_dual))
                d_v, d_b, d_dual = d_v + more[0], d_b + more[1], d_dual + more[2]
        d_q = self.bound_side - d_dual[soft]
        d_r = np.zeros_like(d_v) if free else (to_v - self.r * d_v) / self.v
        return d_v, d_b, (to_s - self.s * d_dual) / self.dual, (to_xi - self.xi * d_q) / self.q, d_r, d_dual, d_q

    def _room(self, d_v: Array, d_s: Array, d_xi: Array, near: float = 1.0) -> float:
        pairs = [(self.s, d_s), (self.xi, d_xi)]
        return min(1.0, near * room(*pairs, *([] if self.program.free else [(self.v, d_v)])))

    def _room_of_dual(self, d_r: Array, d_dual: Array, d_q: Array, near: float = 1.0) -> float:
        pairs = [(self.dual, d_dual), (self.q, d_q)]
        return min(1.0, near * room(*pairs, *([] if self.program.free else [(self.r, d_r)])))


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
