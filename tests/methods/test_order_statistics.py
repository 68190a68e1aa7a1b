"""Ranks against sums of binomial probabilities, and what two classes can share."""

from math import comb

import pytest
from scipy.stats import binomtest

from mmc.methods.order_statistics import interval, kept_with, needed, rank, ranks, upper_bound

CASES = [
    (n, rate, confidence) for n in (1, 7, 58, 59, 60, 131) for rate in (0.01, 0.05, 0.3) for confidence in (0.5, 0.95)
]


def violated(k, n, rate):
    """P(Bin(n, rate) ≤ k − 1), from its definition."""
    return sum(comb(n, j) * rate**j * (1 - rate) ** (n - j) for j in range(k))


@pytest.mark.parametrize(("n", "rate", "confidence"), CASES)
def test_the_rank_is_the_largest_that_keeps_the_rate(n, rate, confidence):
    k = rank(n, rate, confidence)
    assert violated(k, n, rate) <= 1 - confidence < violated(k + 1, n, rate)
    assert k == 0 or kept_with(k, n, rate) == pytest.approx(1 - violated(k, n, rate))


def test_five_per_cent_at_95_takes_59_examples():
    assert (rank(58, 0.05, 0.95), rank(59, 0.05, 0.95)) == (0, 1)
    assert needed([0.05], [0], 0.95) == (59,)


@pytest.mark.parametrize("sizes", [(60, 1000), (72, 72), (100, 80), (400, 300)])
def test_two_ranks_keep_both_limits_and_no_other_pair_is_better(sizes):
    rates, confidence = (0.05, 0.1), 0.95
    kept = [[1 - violated(k, n, rate) for k in range(n // 4)] for n, rate in zip(sizes, rates, strict=True)]
    pairs = {
        (k, m): k * m for k, p in enumerate(kept[0]) for m, q in enumerate(kept[1]) if p * q >= confidence and k and m
    }
    assert pairs[ranks(sizes, rates, confidence)] == max(pairs.values())


def test_a_class_with_many_examples_leaves_the_confidence_to_the_other():
    """An equal share would need 72 examples of each class."""
    assert ranks((60, 1000), (0.05, 0.05), 0.95)[0] == 1
    assert ranks((71, 71), (0.05, 0.05), 0.95) == (0, 0)
    assert min(ranks((72, 72), (0.05, 0.05), 0.95)) == 1


@pytest.mark.parametrize("sizes", [(0, 0), (60, 60), (58, 1000), (500, 3), (71, 72)])
@pytest.mark.parametrize("rates", [(0.05, 0.05), (0.01, 0.3)])
def test_with_what_is_needed_it_works_and_with_one_less_it_does_not(sizes, rates):
    least = needed(rates, sizes, 0.95)
    have = [max(n, m) for n, m in zip(sizes, least, strict=True)]
    assert 0 not in ranks(have, rates, 0.95)
    for i in range(2):
        if sizes[i] < least[i]:
            assert 0 in ranks([n - (j == i) for j, n in enumerate(have)], rates, 0.95)


@pytest.mark.parametrize(("count", "n"), [(0, 10), (3, 17), (17, 17)])
def test_intervals_are_those_of_clopper_and_pearson(count, n):
    assert interval(count, n, 0.9) == pytest.approx(tuple(binomtest(count, n).proportion_ci(0.9, "exact")))
    one_sided = binomtest(count, n, alternative="less").proportion_ci(0.9, "exact")
    assert upper_bound(count, n, 0.9) == pytest.approx(one_sided.high)
    assert interval(0, 0, 0.9) == (0, 1)
