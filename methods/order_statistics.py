"""Which order statistic of held-out scores keeps an error rate, for any distribution and any sample size.

Let U₍ₖ₎ be the k-th smallest of n independent draws. The share of the population below it is Beta(k, n − k + 1)
distributed, whatever the distribution: it exceeds α with probability P(Bin(n, α) ≤ k − 1). A threshold at the k-th
smallest score of a class, with that score itself on the right side, therefore errs on more than a share α of new
examples with at most that probability. Where scores are tied the share below is smaller still, never larger.
This is the umbrella algorithm of Tong, Feng & Li (2018, Neyman-Pearson classification algorithms and NP receiver
operating characteristics, Science Advances 4), proposition 1.

Two classes are two independent samples, so the probabilities that both limits hold multiply. The ranks depend on
the sizes of the samples only, never on the scores: otherwise the promise would be void.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, log, log1p, sqrt

import numpy as np
from scipy.stats import beta, binom


def rank(n: int, rate: float, confidence: float) -> int:
    """Return the largest k whose order statistic keeps ``rate`` with ``confidence``; 0 if even the first does not."""
    k = max(int(binom.ppf(1 - confidence, n, rate)), 0)  # about right; the tail decides
    k += int(binom.cdf(k, n, rate) <= 1 - confidence)
    return k - int(binom.cdf(k - 1, n, rate) > 1 - confidence)


def ranks(sizes: Sequence[int], rates: Sequence[float], confidence: float) -> tuple[int, ...]:
    """Return a rank for each of one or two classes such that all limits hold together with ``confidence``.

    Of all pairs of ranks that keep the promise it is the one with the largest product. An equal share of the
    confidence for each class would waste what one class cannot use because its ranks are whole numbers, or need not
    use because it has many examples. All are 0 if the sample is too small.
    """
    alone = [rank(n, rate, confidence) for n, rate in zip(sizes, rates, strict=True)]
    if len(alone) == 1 or 0 in alone:
        return tuple(alone) if len(alone) == 1 else (0, 0)
    broken = [binom.cdf(np.arange(k), n, rate) for k, n, rate in zip(alone, sizes, rates, strict=True)]
    second = np.searchsorted(broken[1], 1 - confidence / (1 - broken[0]), side="right")
    products = second * np.arange(1, alone[0] + 1)
    best = int(products.argmax())
    return (best + 1, int(second[best])) if products[best] else (0, 0)


def kept_with(rank: int, n: int, rate: float) -> float:
    """Return the probability that the order statistic keeps ``rate``; exact where no scores are tied."""
    return float(binom.sf(rank - 1, n, rate))


def upper_bound(errors: int, n: int, confidence: float) -> float:
    """Return the largest error rate that ``errors`` of ``n`` leave possible at ``confidence`` (Clopper & Pearson).

    It is the bound for a threshold that does not depend on these examples, and for one at their order statistic of
    rank errors + 1.
    """
    return 1.0 if errors >= n else float(beta.ppf(confidence, errors + 1, n - errors))


def interval(count: int, n: int, confidence: float) -> tuple[float, float]:
    """Return the exact two-sided interval of a share (Clopper & Pearson)."""
    half = (1 + confidence) / 2
    return 1 - upper_bound(n - count, n, half), upper_bound(count, n, half)


def needed(rates: Sequence[float], sizes: Sequence[int], confidence: float) -> tuple[int, ...]:
    """Return the smallest size of each class's sample with which the limits can be kept.

    Of two classes, the one with the larger sample may leave more of the confidence to the other.
    """
    if len(rates) == 1:
        return (_smallest(rates[0], confidence),)
    even = [_smallest(rate, sqrt(confidence)) for rate in rates]
    kept = [kept_with(1, max(n, least), rate) for n, least, rate in zip(sizes, even, rates, strict=True)]
    alone = tuple(_smallest(rate, confidence / other) for rate, other in zip(rates, reversed(kept), strict=True))
    return alone if any(n < least for n, least in zip(sizes, alone, strict=True)) else tuple(even)


def _smallest(rate: float, confidence: float) -> int:
    n = max(1, ceil(log(1 - confidence) / log1p(-rate)) - 1)  # rounding must not decide
    while rank(n, rate, confidence) == 0:
        n += 1
    return n
