"""The secular equations of many sizes κ at once: each step solves the n × n systems of all of them as one stack.

The equations and Newton's step are those of `secular_equations`, for covariances that are positive definite and few
features. There are no safeguards: what does not settle in a few steps is left to that module.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from mmc.methods.numerics.kernels import Array

SMALL = 48  # features: with more of them one Cholesky at a time is faster
_TOGETHER = 64  # systems of a stack, which then stays in the processor's cache
_SETTLED = 1e-11  # relative error of the lengths ‖u_i‖
_NEAR = 1e-5  # error from which a step along the derivatives of r leaves about its square
_STEPS = 8


@dataclass(frozen=True)
class Stack:
    """One row for each κ: ``R`` are the r, ``tau`` the multipliers, ``steps`` the systems solved, 0 where it did not settle."""

    R: Array
    tau: Array
    steps: NDArray[np.intp]


def solve_stack(d: Array, S: Array, kappa: Array, directions: Array) -> Stack:
    """Solve for every row of ``kappa``. The start is where r is parallel to d, or to its row of ``directions`` if r is longer there."""
    length, slope = _along(d, S, kappa, np.broadcast_to(d, (len(kappa), len(d))))
    other, other_slope = _along(d, S, kappa, directions)
    slope[other > length] = other_slope[other > length]
    tau = np.maximum(np.maximum(length, other), 1e-3 * sqrt(d @ d))[:, None] * slope
    parts = [_newton(d, S, kappa[i : i + _TOGETHER], tau[i : i + _TOGETHER]) for i in range(0, len(kappa), _TOGETHER)]
    return Stack(*(np.concatenate([getattr(part, name) for part in parts]) for name in ("R", "tau", "steps")))


def _along(d: Array, S: Array, kappa: Array, directions: Array) -> tuple[Array, Array]:
    """Return ‖r‖ and τ/‖r‖ as they are where r has these directions."""
    w = directions / np.linalg.norm(directions, axis=1)[:, None]
    spread = np.sqrt(np.einsum("kpn,pn->pk", w @ S, w))
    return w @ d - np.einsum("pk,pk->p", kappa, spread), spread / np.where(kappa > 0, kappa, 1.0)


def _newton(d: Array, S: Array, kappa: Array, tau: Array) -> Stack:
    n = len(d)
    R, steps = np.tile(d, (len(kappa), 1)), np.zeros(len(kappa), dtype=np.intp)
    flat, unit, left = S.reshape(2, n * n), np.eye(n), np.arange(len(kappa))
    for step in range(1, _STEPS + 1):
        k, t = kappa[left], tau[left]
        weight = np.where(k > 0, 1 / t, 0.0)
        M = (weight @ flat).reshape(-1, n, n)
        M += unit
        r = np.linalg.solve(M, d)
        pushed = r @ S  # Σ_i r
        length = np.sqrt(np.einsum("kpn,pn->pk", pushed, r)) * weight
        off = np.where(k > 0, length / np.where(k > 0, k, 1.0) - 1, 0.0)
        Z = np.linalg.solve(M, pushed.transpose(1, 2, 0))  # M⁻¹Σ_i r = -∂r/∂(1/τ_i)
        own = np.einsum("pn,pnk->pk", r, Z) * weight
        cross = np.einsum("pn,pn->p", pushed[0], Z[:, :, 1]) * weight[:, 0] * weight[:, 1]
        first, second, f = own[:, 0], own[:, 1], length**2 * t * off
        with_both = first * second + cross * (first + second)
        det = np.where(with_both > 0, with_both, 1.0)[:, None]  # of one ball alone own is what is left of it
        q = own + cross[:, None]
        move = np.where(
            with_both[:, None] > 0,
            (q[:, ::-1] * f + cross[:, None] * f[:, ::-1]) / det,
            f / np.where(q > 0, q, 1.0),
        )
        move *= np.minimum(1.0, 0.9 / np.maximum(-move.min(axis=1), 0.9))[:, None]  # as far as τ stays positive
        tau[left] = t * (1 + move)
        error = np.abs(off).max(axis=1)
        near = error <= _NEAR
        if near.any():
            change = np.where(k > 0, 1 / tau[left], 0.0) - weight
            change[error <= _SETTLED] = 0.0
            R[left[near]] = (r - np.einsum("pnk,pk->pn", Z, change))[near]
            steps[left[near]] = step
            left = left[~near]
        if not len(left):
            break
    return Stack(R, tau, steps)
