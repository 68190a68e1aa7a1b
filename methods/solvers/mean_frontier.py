"""The best point of the curve of all trade-offs (``problems/trade_off.py``), proven to be the best of all.

The objective along the curve may have several maxima, so the search is by branch and bound: the curve is cut into pieces, in
log r, and a piece whose bound (``problems/mean_accuracy.py``) exceeds the best value found is halved until none is left.
"""

from __future__ import annotations

import numpy as np
import scipy
from scipy.optimize import brentq

from mmc.methods.numerics.kernels import Array
from mmc.methods.problems import Answer
from mmc.methods.problems.mean_accuracy import MeanAccuracy, Rule, Touching
from mmc.methods.solvers import Capabilities
from mmc.methods.solvers.frontier import directions

VERSION = f"scipy {scipy.__version__}"
CAN = Capabilities()
_MOST = 10_000  # points of the curve: the certificate says how far they lead
_END = 40.0  # of log r: beyond, both sizes are those of the curve's end to rounding


def solve(problem: MeanAccuracy, *, tol: float = 1e-7, max_iter: int = 60) -> Answer[Rule, Touching]:
    """Return the best rule; no other exceeds its value by more than ``tol`` of it. ``iterations`` counts points of the curve."""
    curve = problem.pair.spectrum[0]
    z = np.linspace(-_END, _END, 81)
    for _ in range(max_iter):
        pos, neg = curve.kappas(np.exp(z))
        values = problem.value(pos, neg)
        left = np.flatnonzero(problem.between(pos, neg) > values.max() * (1 + tol))
        if not len(left) or len(z) > _MOST:
            break
        z = np.sort(np.concatenate([z, (z[left] + z[left + 1]) / 2]))

    def rise(at: float) -> float:
        a, slope_a, b, slope_b = (part[0] for part in curve.at_r(np.exp(np.array([at]))))
        x, y = max(a - problem.nu[0], 0.0), max(b - problem.nu[1], 0.0)
        change = problem.weight * x * a * slope_a / (1 + x * x) ** 2
        return float(change + (1 - problem.weight) * y * b * slope_b / (1 + y * y) ** 2)

    best = int(np.argmax(values))
    low, high = float(z[max(best - 1, 0)]), float(z[min(best + 1, len(z) - 1)])
    at = brentq(rise, low, high, xtol=1e-15) if rise(low) > 0 > rise(high) else float(z[best])
    a = directions(problem.pair, np.exp(np.array([at])))[0]
    return Answer(
        Rule(a, _size(problem, at)), Touching(neg[::-1], directions(problem.pair, np.exp(z[::-1]))), len(z), VERSION
    )


def _size(problem: MeanAccuracy, at: float) -> float:
    neg: Array = problem.pair.spectrum[0].kappas(np.exp(np.array([at])))[1]
    return float(neg[0])
