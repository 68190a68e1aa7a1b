"""The secular equations of two multipliers, as in trust-region methods: n × n, one Cholesky a step.

For τ1, τ2 > 0 let (I + Σ1/τ1 + Σ2/τ2) r = d, s_i² = r'Σ_i r and ‖u_i‖ = s_i/τ_i. Wanted is the τ with ‖u_i‖ = κ_i, which
maximises the concave g(τ) = ½ d'r - ½ Σ τ_i κ_i². Newton's method runs on 1/‖u_i‖ - 1/κ_i, which is almost linear in τ.
"""

from __future__ import annotations

from math import inf, sqrt

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotrs, dtrtrs

from mmc.methods.numerics.kernels import Array

NEVER = 1e30  # the multiplier of a ball of size 0


def newton(
    d: Array,
    S: Array,
    kappa: tuple[float, float],
    tau: tuple[float, float] | None,
    floor: tuple[float, float] = (0.0, 0.0),
    patience: int = 100,
) -> tuple[Array, tuple[float, float], int]:
    """Solve the secular equations in feature space; return r, τ and the number of factorisations.

    A multiplier that wants to fall below ``floor`` stays there. It gives up after ``patience`` steps without a feasible
    point, and after 100 anyway: the caller judges the answer by its certificate.
    """
    n = len(d)
    three = np.concatenate([S, np.eye(n)[None]])
    flat, tall = three.reshape(3, n * n), three.reshape(3 * n, n)
    if tau is None:  # exact where r is parallel to d
        *spread2, dd = ((tall @ d).reshape(3, n) @ d).tolist()
        spread = sqrt(spread2[0]), sqrt(spread2[1])
        share = max(1 - (kappa[0] * spread[0] + kappa[1] * spread[1]) / dd, 0.1)
        tau = (share * spread[0] / (kappa[0] or 1.0), share * spread[1] / (kappa[1] or 1.0))
    t = [float(max(value, low)) if k > 0 else NEVER for value, low, k in zip(tau, floor, kappa, strict=True)]
    kept: tuple[float, list[float], list[float]] | None = None  # the best g, its τ, and the lengths ‖u‖ there
    halved, nearest = 0, inf
    for step in range(1, 101):
        M = np.dot([1 / t[0], 1 / t[1], 1.0], flat).reshape(n, n)
        L, failed = dpotrf(M.T, lower=1, overwrite_a=1, clean=0)
        if failed:
            break
        r = dpotrs(L, d, lower=1)[0]
        products = (tall @ r).reshape(3, n)  # Σ1 r, Σ2 r and r
        s1, s2, _ = (products @ r).tolist()
        length = [sqrt(max(s1, 0.0)) / t[0], sqrt(max(s2, 0.0)) / t[1]]
        loose, off = [False, False], [0.0, 0.0]
        for i, k in enumerate(kappa):
            if k > 0 and (t[i] > floor[i] or length[i] > k):
                loose[i], off[i] = True, length[i] / k - 1
        error = max(abs(off[0]), abs(off[1]))
        if error <= 1e-11:
            break
        along = float(d @ r)
        if step >= patience and along <= sum(k * x * v for k, x, v in zip(kappa, length, t, strict=True) if k > 0):
            break
        value = along - t[0] * kappa[0] ** 2 - t[1] * kappa[1] ** 2
        if error < 1e-5:  # Newton's own ground: it ends where rounding errors do
            if error >= nearest:
                break
            nearest = error
        elif kept is not None and value < kept[0] - 1e-13 * abs(kept[0]):
            halved += 1
            if halved <= 3:
                t = [sqrt(a * b) for a, b in zip(t, kept[1], strict=True)]
            else:  # τ_i ← s_i/κ_i never lowers g
                t = [max(a * x / k, low) if k > 0 else a for a, x, k, low in zip(*kept[1:], kappa, floor, strict=True)]
                kept, halved = None, 0
            continue
        kept, halved = (value, t, length), 0
        # q holds τ_i τ_j times -∂(½‖u_i‖²)/∂τ_j; written with M - Σ_i/τ_i = I + Σ_j/τ_j nothing cancels
        Y = dtrtrs(L, products.T, lower=1, overwrite_b=1)[0]
        (_, cross, first), (*_, second), _ = (Y.T @ Y).tolist()
        cross, first, second = cross / (t[0] * t[1]), first / t[0], second / t[1]
        q = [first + cross, second + cross]
        f = [length[0] ** 2 * t[0] * off[0], length[1] ** 2 * t[1] * off[1]]
        det = first * second + cross * (first + second)
        if all(loose) and min(q) > 0 and det > 0:
            move = [(q[1] * f[0] + cross * f[1]) / det, (q[0] * f[1] + cross * f[0]) / det]
        else:
            move = [f[i] / q[i] if loose[i] and q[i] > 0 else off[i] for i in (0, 1)]
        share = min(1.0, 0.9 / max(-move[0], -move[1], 0.9))  # both may want to fall far: keep their ratio
        t = [max(t[i] * (1 + share * move[i]), floor[i]) if loose[i] else t[i] for i in (0, 1)]
    return r, (t[0], t[1]), step
