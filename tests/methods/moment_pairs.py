"""Moments of two classes for the tests of the minimax problem and of its solvers."""

import numpy as np
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.metrics.pairwise import rbf_kernel

from mmc.methods.problems.minimax import Minimax
from mmc.methods.problems.moment_pair import MomentPair


def level(kappa):
    return kappa**2 / (1 + kappa**2)


def pair_of(X, Y, ridge=0.0):
    Sx, Sy = (np.cov(Z.T, bias=True) + ridge * np.eye(Z.shape[1]) for Z in (X, Y))
    return MomentPair(X.mean(axis=0) - Y.mean(axis=0), Sx, Sy)


def random_pair(n, seed):
    """Two correlated classes of different spread, in units that differ by up to four orders of magnitude."""
    rng = np.random.default_rng(seed)
    m = 4 * n + 10
    units = 10 ** rng.uniform(-2, 2, n)
    X = rng.normal(size=(m, n)) @ rng.normal(size=(n, n)) + rng.normal(size=n)
    Y = 10 ** rng.uniform(-0.5, 0.5) * rng.normal(size=(m, n)) @ rng.normal(size=(n, n))
    return pair_of(X * units, Y * units)


def kernel_pair(N, ridge):
    data = load_breast_cancer()
    X = (data.data - data.data.mean(axis=0)) / data.data.std(axis=0)
    rows = np.random.default_rng(0).permutation(len(X))[:N]
    K = rbf_kernel(X[rows], gamma=1 / 100)
    return pair_of(K[data.target[rows] == 0], K[data.target[rows] == 1], ridge)


def real_pair(load):
    data = load()
    return pair_of(data.data[data.target == 0], data.data[data.target == 1])


PROBLEMS = {
    **{f"random {n}": (random_pair, n, n) for n in (2, 3, 7, 20, 60)},
    "breast cancer": (real_pair, load_breast_cancer),
    "wine": (real_pair, load_wine),
    "kernel 120": (kernel_pair, 120, 1e-3),
}


def biased(pair, share):
    """The problem at a share of the largest level that the negative class can be promised."""
    wanted = share * level(pair.spectrum[0].ends[1])
    return Minimax(pair, np.sqrt(wanted / (1 - wanted)))
