"""The directions in which something varies: a tiny ridge would divide by almost 0 what rounding leaves in the others."""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigh, qr

from mmc.methods.numerics.kernels import Array

_EPS = float(np.finfo(float).eps)


def varying(d: Array, S: Array) -> Array | None:
    """Return orthonormal columns that span the range of S, if d lies in it but for rounding; None if d does not, or S is regular."""
    scale = np.sqrt(np.diag(S))
    scale = np.where(scale > 0, scale, 1.0)
    values, vectors = eigh(S / np.outer(scale, scale))
    flat = values <= 10 * len(d) * _EPS
    if not flat.any() or np.linalg.norm((d / scale) @ vectors[:, flat]) > 1e-10 * np.linalg.norm(d / scale):
        return None
    whole: Array = qr(vectors[:, flat] / scale[:, None])[0]
    return whole[:, int(flat.sum()) :]
