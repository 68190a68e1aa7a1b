"""The min-max framework: the measures themselves, and that each method is the best on the ratio it optimises."""

from functools import cache
from math import inf

import numpy as np
import pytest

from mmc.methods import CATALOGUE, LDA, M4, MMRM, MPM, SVM
from mmc.methods.dispersions import dispersions

from .test_mmrm import overlapping, separable


def test_the_measures_are_those_of_the_paper():
    X, z = overlapping()
    w = np.array([0.3, -1.2, 0.7])
    x, y = X[z > 0], X[z < 0]
    S_x, S_y = (np.cov(part.T, bias=True) * len(part) for part in (x, y))
    d = dispersions(w, X, z, D=0.5)
    assert d.w_v == pytest.approx(np.sqrt(w @ S_x @ w + w @ S_y @ w))
    assert d.w_s == pytest.approx(np.sqrt(w @ S_x @ w) + np.sqrt(w @ S_y @ w))
    assert d.w_n == pytest.approx(np.sqrt(w @ w / 2))
    assert d.w_d == pytest.approx(max(w @ (a - c) for a in x for c in y) + 0.25 * w @ w)
    assert d.w_m == pytest.approx(max(w @ (x.mean(0) - a) for a in x) + max(w @ (c - y.mean(0)) for c in y))
    assert d.b_c == pytest.approx(w @ (x.mean(0) - y.mean(0)))
    assert d.b_m == pytest.approx(min(w @ a for a in x) - max(w @ c for c in y))
    assert d.w_m == pytest.approx(d.b_c - d.b_m)
    divided = dispersions(w, X, z, sizes_divide=True)
    assert divided.w_s == pytest.approx(np.sqrt(w @ S_x @ w / len(x)) + np.sqrt(w @ S_y @ w / len(y)))
    assert d.ratio("d_w^m / d_b^c") == d.w_m / d.b_c


@cache
def fitted(dimensions, seed):
    X, z = separable(dimensions, seed)
    methods = {
        "lda": LDA(ridge=0.0),
        "mpm": MPM(ridge=0.0),
        "m4": M4(C=inf, ridge=0.0),
        "mmrm": MMRM(C=inf),
        "svm": SVM(C_pos=1e6, C_neg=1e6),
    }
    return X, z, {key: method.fit(X, z).coef_[0] for key, method in methods.items()}


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("dimensions", [2, 8])
@pytest.mark.parametrize("key", ["lda", "mpm", "m4", "mmrm", "svm"])
def test_each_method_is_the_best_on_its_own_ratio(key, dimensions, seed):
    """On separable classes of different sizes; d_w^s with Σ divided by them, which is what MPM and M⁴ optimise."""
    X, z, directions = fitted(dimensions, seed)
    rng = np.random.default_rng(0)
    nearby = {
        i: directions[key] + 0.02 * np.abs(directions[key]).max() * rng.normal(size=dimensions) for i in range(50)
    }
    pair = CATALOGUE[key].optimises
    ratios = {k: dispersions(w, X, z, sizes_divide=True).ratio(pair) for k, w in (directions | nearby).items()}
    own = ratios.pop(key)
    assert own > 0
    # A negative quotient is that of a direction that does not separate the classes: it is out of the contest.
    others = [ratio for ratio in ratios.values() if ratio > 0]
    assert len(others) > 10
    assert own < min(others) * (1 + 1e-7)
    assert own < np.median(others) * (1 - 1e-6)
