"""The directions in which something varies: a tiny ridge would divide by almost 0 what rounding leaves in the others."""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigh, qr
from scipy.linalg.lapack import dpocon, dpotrf

from mmc.methods.numerics.kernels import Array

_EPS = float(np.finfo(float).eps)
_SAFE = 1e4  # times the rounding of an eigenvalue: the estimate of the least one may be too large by a small factor


def without_rounding(d: Array, S: Array) -> tuple[Array, Array, Array] | None:
    """Return orthonormal axes, and d and S along them, 0 where they are 0 but for rounding; None if S is regular.

    The first axes span the null space of S. A difference of means d that lies in the range of S has no part along them.
    """
    scale = np.sqrt(np.diag(S))
    scale = np.where(scale > 0, scale, 1.0)
    S1 = S / scale / scale[:, None]
    if _regular(S1):
        return None
    values, vectors = eigh(S1)
    flat = values <= 10 * len(d) * _EPS
    if not flat.any():
        return None
    axes: Array = qr(vectors[:, flat] / scale[:, None])[0]
    k = int(flat.sum())
    along, turned = d @ axes, axes.T @ S @ axes
    turned[:k] = turned[:, :k] = 0.0
    if np.linalg.norm((d / scale) @ vectors[:, flat]) <= 1e-10 * np.linalg.norm(d / scale):
        along[:k] = 0.0
    return axes, along, turned


def _regular(S: Array) -> bool:
    """Whether a Cholesky factorisation, cheaper than the eigenvalues, shows that S has none that is nearly flat."""
    factor, failed = dpotrf(S, lower=0, clean=0)
    norm = float(np.abs(S).sum(axis=0).max())
    return not failed and bool(dpocon(factor, norm)[0] * norm > _SAFE * len(S) * _EPS)
