"""The min-max framework (Gu & Guo, section 2): spreads within and distances between the classes along w.

A min-max machine minimises d_w(w) / d_b(w), (1). With w'x_i the projections of the positive class and w'y_j those of the other:

    d_w^v  √(w'Σx w + w'Σy w)               (2)      d_b^c  w'(x̄ - ȳ)                          (3)
    d_w^s  √(w'Σx w) + √(w'Σy w)            (5)      d_b^m  min_i w'x_i - max_j w'y_j           (7)
    d_w^n  √(½ w'w)                         (6)
    d_w^d  max_ij w'(x_i - y_j) + D/2 w'w   (14)
    d_w^m  max_i w'(x̄ - x_i) + max_j w'(y_j - ȳ) = d_b^c - d_b^m                                 (16), (17)

Σ are sums of squares, as the paper prints them. MPM and M⁴ divide them by the class sizes, which changes (5), and their
optimum, where the sizes differ: ``sizes_divide=True`` gives the d_w^s that they optimise.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mmc.methods.numerics.kernels import Array


@dataclass(frozen=True)
class Dispersions:
    """The measures of one direction: fields are named as in the table, d_w^v is ``w_v``."""

    w_v: float
    w_s: float
    w_n: float
    w_d: float
    w_m: float
    b_c: float
    b_m: float

    def ratio(self, pair: str) -> float:
        """Return the quotient that ``pair`` names in the catalogue, such as "d_w^m / d_b^m"."""
        within, between = (name.strip().removeprefix("d_").replace("^", "_") for name in pair.split("/"))
        return float(getattr(self, within)) / float(getattr(self, between))


def dispersions(w: Array, X: Array, sign: Array, *, D: float = 0.0, sizes_divide: bool = False) -> Dispersions:
    """Return the measures of the linear classifier w; ``sign`` is +1 for its positive class and -1 for the other."""
    w = np.ravel(w)
    x, y = X[sign > 0] @ w, X[sign < 0] @ w
    scatter_x, scatter_y = float(np.sum((x - x.mean()) ** 2)), float(np.sum((y - y.mean()) ** 2))
    parts = (scatter_x / len(x), scatter_y / len(y)) if sizes_divide else (scatter_x, scatter_y)
    square = float(w @ w)
    return Dispersions(
        w_v=float(np.sqrt(scatter_x + scatter_y)),
        w_s=float(np.sqrt(parts[0]) + np.sqrt(parts[1])),
        w_n=float(np.sqrt(square / 2)),
        w_d=float(x.max() - y.min()) + D / 2 * square,
        w_m=float((x.mean() - x.min()) + (y.max() - y.mean())),
        b_c=float(x.mean() - y.mean()),
        b_m=float(x.min() - y.max()),
    )
