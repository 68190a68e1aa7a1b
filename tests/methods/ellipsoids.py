"""Pairs of ellipsoids for the tests of their problem and of its solvers."""

import numpy as np
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import StratifiedKFold

from mmc.datasets import load
from mmc.methods.problems.ellipsoid_geometry import Coordinates, KernelGeometry
from mmc.methods.problems.ellipsoid_pair import EllipsoidPair, certify

ETAS = (0.9, 0.7, 0.5, 0.3, 0.1)
TABLE_1 = {  # data set, gamma, eta_neg
    "breast_cancer": (0.032, 0.3),
    "heart_cleveland": (0.16, 0.9),
    "ring_norm": (3.0, 0.7),
    "two_norm": (20.0, 0.3),
}


def kappa(*etas):
    return tuple(float(np.sqrt((1 - eta) / eta)) for eta in etas)


def coordinates(P, N, ridge=0.0):
    """The geometry of two classes given by their rows."""
    rows = [(Z - Z.mean(axis=0)) / np.sqrt(len(Z)) for Z in (P, N)]
    member = np.repeat(np.eye(2), [len(P), len(N)], axis=0)
    return Coordinates(member, (ridge, ridge), P.mean(axis=0) - N.mean(axis=0), np.vstack(rows))


def inner_products(geometry):
    """The same geometry as `KernelGeometry`, in a mixed order of rows as a kernel would give it."""
    order = np.random.default_rng(0).permutation(len(geometry.rows))
    rows, d = geometry.rows[order], geometry.d
    G = rows @ rows.T
    return KernelGeometry(geometry.member[order], geometry.ridge, G, rows @ d, float(d @ d), 1e-16 * float(np.trace(G)))


def fold(name, seed=0):
    """One training fold of Table 1, standardised, as (positive rows, other rows)."""
    data = load(name, seed=seed)
    train, _ = next(StratifiedKFold(3, shuffle=True, random_state=seed).split(data.X, data.y))
    X, y = data.X[train], data.y[train]
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    return X[y == data.positive], X[y != data.positive]


def kernel_coordinates(P, N, gamma, ridge):
    """Points with the inner products of a Gaussian kernel."""
    values, vectors = np.linalg.eigh(rbf_kernel(np.vstack([P, N]), gamma=gamma))
    Z = (vectors * np.sqrt(np.maximum(values, 0)))[:, values > 1e-13]
    return coordinates(Z[: len(P)], Z[len(P) :], ridge)


def answer(problem, solver, **options):
    """The direction r in coordinates, of unit margin, and its gap."""
    found = solver.solve(problem, **options)
    geometry = problem.geometry.coordinates if found.in_coordinates else problem.geometry
    proof = certify(EllipsoidPair(geometry, problem.kappa), found.primal, found.dual)
    if isinstance(geometry, KernelGeometry):  # αd + Bc in the coordinates of the same Gram matrix
        both = geometry.coordinates
        order = np.argsort(-geometry.member[:, 0], kind="stable")
        r = found.primal[0] * both.d + both.push(found.primal[1:][order])
    else:
        r = found.primal
    return proof.scale * r, proof.gap


def assert_same(found, r, as_certified=False):
    """The direction is r to 1e-6; or, ``as_certified``, to what its gap promises, ½‖w - w*‖² ≤ gap · ½‖w‖², at most 1e-10.

    Rounding ends ECOS at a gap between 1e-16 and 2e-11, on one machine here and on another there.
    """
    direction, gap = found
    if as_certified:
        assert gap <= 1e-10
        assert np.linalg.norm(direction - r) <= max(np.sqrt(gap), 1e-6) * np.linalg.norm(r)
    else:
        np.testing.assert_allclose(direction, r, atol=1e-6 * np.abs(r).max())


def random_problem(seed):
    """Two classes in 2 to 60 dimensions: of full rank, with a singular covariance, or with fewer points than features."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 61))
    kind = seed % 4
    sizes = rng.integers(2, n + 1, 2) if kind == 3 else rng.integers(n + 2, 3 * n + 10, 2)
    P, N = (rng.normal(size=(m, n)) @ rng.normal(size=(n, n)) for m in sizes)
    P = P + rng.normal(size=n) * 10 ** rng.uniform(-0.5, 1)
    if kind == 1:  # a feature that is constant in one class, another that repeats a third
        P[:, 0] = 1.0
        P, N = (np.column_stack([Z, Z[:, 1]]) for Z in (P, N))
    if kind == 2:  # the other class lies in a plane
        N = N[:, :1] * rng.normal(size=n) + N[:, 1:2] * rng.normal(size=n)
    return coordinates(P, N), rng
