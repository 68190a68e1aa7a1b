"""Quantiles of Student's t distribution without scipy, whose import takes longer than all else that shows a finished table."""

from __future__ import annotations

from functools import cache
from math import atan, cos, exp, inf, lgamma, log, log1p, pi, sin, sqrt
from statistics import NormalDist


@cache
def quantile(df: float, p: float) -> float:
    """Return the t below which a share p > ½ of the distribution lies; ``df`` is a whole number or inf.

    Newton's method from the normal quantile: it lies below, and the distribution function is concave there.
    """
    if not (df == inf or (df >= 1 and df == round(df))) or not 0.5 < p < 1:
        raise ValueError(f"degrees of freedom are whole numbers ≥ 1 and p is between ½ and 1, got {df} and {p}")
    t = NormalDist().inv_cdf(p)
    if df == inf:
        return t
    n = round(df)
    constant = lgamma((n + 1) / 2) - lgamma(n / 2) - log(n * pi) / 2
    while True:
        missing = (2 * p - 1 - _within(t, n)) / 2
        step = missing / exp(constant - (n + 1) / 2 * log1p(t * t / n))
        t += step
        if step <= 1e-15 * t:  # only rounding errors make it step back
            return t


def _within(t: float, n: int) -> float:
    """Return P(|T| < t), a finite sum for whole degrees of freedom (Abramowitz & Stegun, 26.7.3 and 26.7.4)."""
    angle = atan(t / sqrt(n))
    square, odd = cos(angle) ** 2, n % 2
    term = total = cos(angle) if odd else 1.0
    for k in range(2 + odd, n - 1, 2):
        term *= (k - 1) / k * square
        total += term
    if not odd:
        return sin(angle) * total
    return 2 / pi * (angle + (sin(angle) * total if n > 1 else 0.0))
