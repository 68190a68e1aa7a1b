"""The restricted linear programs of the max-margin ratio machine by a descent from vertex to vertex.

The primal of `interior_point`, without its slacks, is to minimise over v ≥ 0 and b the piecewise linear function

    f(v, b) = c'v + Σ_j U_j max(0, e_j - (A v + b z)_j),     U_j = ∞: the row must hold.

At a vertex as many rows are tight as v are positive, and one more. Their λ, and r of the other v, tell which edges lead down; of these
the steepest is followed, over kinks where rows change sides, until f no longer falls. Any vertex will do as a start: those of one program serve
one with more rows and columns, or another U. There the descent takes a few pivots, and each costs the product of a vector and
the part of A that is in use. An interior point method gains little from a start.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.linalg import LinAlgError, inv

from mmc.methods.numerics import compiled
from mmc.methods.numerics.gram import Index
from mmc.methods.numerics.kernels import Array
from mmc.methods.numerics.pivots import FULL, MORE, NONE, OPTIMAL, TIGHT, UNBOUNDED, shrink, walk
from mmc.methods.solution import NotConverged
from mmc.methods.solvers.interior_point import LpPoint, SlackLP

VERSION = f"vertex descent, {compiled.VERSION}"
_EVERY = 300  # pivots after which N is computed anew
_SHIFT = 1e-6  # of e, by chance: it lets the descent leave a vertex at which more rows meet than need to
_STALLED = 1e-13
_EXACT = 1e-9  # how well N must solve for v and b, to be kept after pivots or in the next program
_SIDE = 1e-9  # how far from e a row is surely on one side


@dataclass(frozen=True)
class Vertex:
    """The v that may be positive and the rows that are tight: one more; and the inverse of its matrix, if it is known."""

    positive: Index
    tight: Index
    inverse: Array | None = None


def solve(program: SlackLP, start: Vertex) -> tuple[LpPoint, Vertex]:
    """Return the optimum and its vertex. Hard rows must hold at the start, v ≥ 0 need not: what is negative is left out.

    Raises NotConverged if the program is unbounded, or if rounding leaves no way down.
    """
    at = _Descent(program, start)
    steps, limit, shifted, value = 0, 50 * (sum(program.A.shape) + 20), False, np.inf
    while steps < limit:
        ended, made = at.walk()
        steps += made
        if ended == UNBOUNDED:
            break
        if ended == OPTIMAL and made == 0 and not at.shifted:
            return at.point(steps), at.vertex
        stalled = ended == MORE and value - at.value <= _STALLED * abs(at.value)
        if stalled and shifted:
            break
        value = at.value
        if stalled or (ended == OPTIMAL and at.shifted):
            at.shift(_SHIFT if stalled else 0.0)
            shifted, value = True, np.inf
    raise NotConverged("the descent from vertex to vertex found no end", steps)


class _Descent:
    """A vertex, with the inverse of its matrix, v, b, and where the rows are."""

    def __init__(self, program: SlackLP, start: Vertex):
        rows, columns = program.A.shape
        room = min(rows, columns + 1) + 2
        self.program, self.e, self.shifted = program, program.e, False
        self.At = np.ascontiguousarray(program.A.T)
        self.S, self.B = np.zeros(room, dtype=np.int64), np.zeros(room, dtype=np.int64)
        self.N, self.k = np.zeros((room, room)), len(start.positive)
        self.S[: self.k], self.B[: self.k + 1] = start.positive, start.tight
        if start.inverse is not None:
            self.N[: self.k + 1, : self.k + 1] = start.inverse
        self.b, self.state = 0.0, np.full(rows, NONE)
        self.tol = np.array([1e-11, max(1e-10 * float(np.abs(program.c).mean()), 1e-13)])

    @property
    def vertex(self) -> Vertex:
        at = slice(self.k + 1)
        return Vertex(self.S[: self.k].copy(), self.B[at].copy(), self.N[at, at].copy())

    def shift(self, by: float) -> None:
        """Let the rows be tight a little beyond e."""
        e, self.shifted = self.program.e, by > 0
        self.e = e + by * np.abs(e) * np.random.default_rng(0).random(len(e)) if by else e

    def walk(self) -> tuple[int, int]:
        """Compute everything anew, then make pivots; return how they ended, and their number."""
        A, z, c, U = self.program.A, self.program.z, self.program.c, self.program.U
        self._stand()
        self.g = A @ self.v + self.b * z - self.e
        self.state[(self.g < -_SIDE) & np.isfinite(U)] = (
            FULL  # nearer to 0 rounding decides, and might do so again and again
        )
        self.state[(self.g > _SIDE) | (self.state == TIGHT)] = NONE
        self.state[self.B[: self.k + 1]] = TIGHT
        self.g[self.B[: self.k + 1]] = 0.0
        full = np.flatnonzero(self.state == FULL)
        R, rho, b = c - U[full] @ A[full], np.array([-float(U[full] @ z[full])]), np.array([self.b])
        basic = np.zeros(len(c), dtype=bool)
        basic[self.S[: self.k]] = True
        state = self.N, self.v, b, self.g, self.state, basic, R, rho
        self.k, made, ended = walk(A, self.At, z, U, self.S, self.B, self.k, *state, _EVERY, self.tol)
        soft = np.isfinite(U)
        self.b, self.value = float(b[0]), float(c @ self.v + U[soft] @ np.maximum(-self.g[soft], 0.0))
        return ended, made

    def _stand(self) -> None:
        """Compute N, v and b; leave out each v that is negative, with the row that holds it."""
        B, N, M = self.B[: self.k + 1], self.N[: self.k + 1, : self.k + 1], self._matrix()
        if not np.abs(M @ (N @ self.e[B]) - self.e[B]).max() < _EXACT:
            try:
                N[:] = inv(M)
            except LinAlgError as error:
                raise NotConverged("the matrix of a vertex is singular") from error
        while True:
            N, S, B = self.N[: self.k + 1, : self.k + 1], self.S[: self.k], self.B[: self.k + 1]
            answer = N @ self.e[B]
            least = int(np.argmin(answer[1:])) + 1 if self.k else 0
            if not self.k or answer[least] >= -1e-10 * float(np.abs(answer[1:]).max()):
                break
            self.k = shrink(self.S, self.B, self.k, self.N, least, int(np.argmax(np.abs(N[least]))))
        self.v, self.b = np.zeros(len(self.program.c)), float(answer[0])
        self.v[S] = np.maximum(answer[1:], 0.0)

    def _matrix(self) -> Array:
        S, B = self.S[: self.k], self.B[: self.k + 1]
        return np.column_stack([self.program.z[B], self.program.A[np.ix_(B, S)]])

    def point(self, steps: int) -> LpPoint:
        """Return v, b and λ, refined: N may have seen many pivots."""
        z, A, U, S, B = self.program.z, self.program.A, self.program.U, self.S[: self.k], self.B[: self.k + 1]
        N, M = self.N[: self.k + 1, : self.k + 1], self._matrix()
        full = np.flatnonzero(self.state == FULL)
        v, dual = np.zeros(len(self.program.c)), np.zeros(len(U))
        dual[full] = U[full]
        right = np.append(-dual @ z, self.program.c[S] - dual[full] @ A[np.ix_(full, S)])
        tight = right @ N
        dual[B] = tight + (right - tight @ M) @ N
        answer = N @ self.e[B]
        answer += N @ (self.e[B] - M @ answer)
        v[S] = np.maximum(answer[1:], 0.0)
        return LpPoint(v, float(answer[0]), dual, steps)
