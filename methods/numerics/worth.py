"""What linear rules are worth on the rows beside the bounds that their proofs have; compiled.

Divided by the smaller of m_i - κ_i s_i, where class i lies m_i on its own side and spreads by s_i, a rule satisfies (3.15) of Nath &
Bhattacharyya. Its worst-case errors are those of Cantelli's inequality.
"""

from __future__ import annotations

from math import inf, isfinite, sqrt

import numpy as np

from mmc.methods.numerics.blur import blurred
from mmc.methods.numerics.compiled import compiled_safely
from mmc.methods.numerics.kernels import Array
from mmc.methods.numerics.row_passes import spread_along_each
from mmc.methods.numerics.triangles import dot

_blurred = compiled_safely(blurred)
Pair = tuple[float, float]  # of the positive and of the negative class


@compiled_safely
def wrong_side(mean: float, spread: float, rounding: float, nu: float) -> float:
    """Return the largest probability of the wrong side (Cantelli); the mean may be off by ``nu`` spreads, all by ``rounding``."""
    spread += rounding
    side = mean - rounding - nu * spread
    return spread**2 / (spread**2 + side**2) if side > 0 else 1.0


@compiled_safely
def gap_of(
    objective: float, bound: float, kappa: Pair, means: Pair, spreads: Pair, rounding: Pair, more: float, settled: bool
) -> float:
    """Return how far ½‖w‖² is from its bound, relative, once the rule satisfies (3.15); inf where no scaling lets it.

    Rounding may move the objective by ``more``. The b of an iterate that is not ``settled`` is not yet that of its w: it counts with
    the better one.
    """
    pos, neg = means[0] - kappa[0] * spreads[0], means[1] - kappa[1] * spreads[1]
    least = min(min(pos, neg) if settled else (pos + neg) / 2, 1.0)
    value = objective / least**2
    if not (least > 0 and isfinite(bound) and value > 0):
        return inf
    off = max((1 + kappa[0]) * rounding[0], (1 + kappa[1]) * rounding[1])
    moved = (2 * objective * off / least + more) / least**2
    return (abs(bound - value) + moved) / value


@compiled_safely
def worth_each(
    X: Array,
    sign: Array,
    values: Array,
    coefs: Array,
    offsets: Array,
    kappas: Array,
    bounds: Array,
    ridge: Pair,
    share: Pair,
    nu: Pair,
) -> Array:
    """Return ½‖w‖², the gap and the two errors of each rule, whose decision values without the offsets are the columns of ``values``.

    The covariances are share_i Σ_i + ridge_i I.
    """
    middles, variances = spread_along_each(values, sign)
    found, longest = np.empty((len(coefs), 4)), 0.0
    for i in range(len(X)):
        longest = max(longest, dot(X[i], X[i]))
    for k in range(len(coefs)):
        norm2, kappa = dot(coefs[k], coefs[k]), (kappas[k, 0], kappas[k, 1])
        blur = _blurred(sqrt(norm2), sqrt(longest), offsets[k])
        means = middles[0, k] + offsets[k], -middles[1, k] - offsets[k]
        spreads = (
            sqrt(share[0] * variances[0, k] + ridge[0] * norm2),
            sqrt(share[1] * variances[1, k] + ridge[1] * norm2),
        )
        found[k, 0] = norm2 / 2
        found[k, 1] = gap_of(norm2 / 2, bounds[k], kappa, means, spreads, (blur, blur), 0.0, True)
        for i in range(2):
            found[k, 2 + i] = wrong_side(means[i], spreads[i], blur, nu[i])
    return found
