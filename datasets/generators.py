"""The generated sets of the papers. The same seed gives the same data on every platform.

Each block of rows has a stream of its own, so the number of rows of one class does not change the other, and a larger
draw begins with the smaller one. Values are rounded to twelve decimals: the last bits of log, cos and fused
multiplications differ between platforms, the hash of the data must not.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from mmc.datasets.dataset import DataError, DataSet

Array = NDArray[np.float64]
_TRIES = 10_000


def ring_norm(seed: int, *, n_features: int, n_pos: int, n_neg: int) -> DataSet:
    """Breiman's ring norm: positives N((a, …, a), I) with a = 1/√n, inside negatives N(0, 4I)."""
    pos = _stream(seed, 0).standard_normal((n_pos, n_features)) + 1 / math.sqrt(n_features)
    neg = _stream(seed, 1).standard_normal((n_neg, n_features)) * 2
    return _dataset("ring_norm", [("pos", pos), ("neg", neg)])


def two_norm(seed: int, *, n_features: int, n_pos: int, n_neg: int) -> DataSet:
    """Breiman's two norm: positives N((a, …, a), I), negatives N(-(a, …, a), I) with a = 2/√n."""
    a = 2 / math.sqrt(n_features)
    pos = _stream(seed, 0).standard_normal((n_pos, n_features)) + a
    neg = _stream(seed, 1).standard_normal((n_neg, n_features)) - a
    return _dataset("two_norm", [("pos", pos), ("neg", neg)])


def gamma_synthetic(
    seed: int,
    *,
    n_pos: int,
    n_neg: int,
    test_pos: int,
    test_neg: int,
    shape: Sequence[float],
    scale: Sequence[float],
    rotation: float,
    displacement: Sequence[float],
) -> DataSet:
    """Huang et al., section 4.1: both classes from one two-dimensional gamma distribution with independent axes.

    The positive class is turned by ``rotation`` degrees about its mean, then moved by ``displacement``, which
    therefore is the difference of the classes' means. The training rows come first.
    """
    mean = np.multiply(shape, scale)

    def draw(stream: int, rows: int, turn: float, move: Sequence[float]) -> Array:
        centred = _stream(seed, stream).standard_gamma(shape, (rows, 2)) * np.asarray(scale) - mean
        c, s = math.cos(math.radians(turn)), math.sin(math.radians(turn))
        turned = (c * centred[:, 0] - s * centred[:, 1], s * centred[:, 0] + c * centred[:, 1])
        moved: Array = np.column_stack(turned) + mean + np.asarray(move)
        return moved

    blocks = [
        ("pos", draw(0, n_pos, rotation, displacement)),
        ("neg", draw(1, n_neg, 0.0, (0.0, 0.0))),
        ("pos", draw(2, test_pos, rotation, displacement)),
        ("neg", draw(3, test_neg, 0.0, (0.0, 0.0))),
    ]
    return _dataset("gamma_synthetic", blocks, n_train=n_pos + n_neg)


def bsvm_toy(seed: int, *, per_cluster: int, test_per_cluster: int, sigma_pos: float, sigma_neg: float) -> DataSet:
    """Pendse, section 4: five normal clusters of class +1 (centre and diagonals), four of class -1 (the axes).

    The training rows come first, cluster by cluster, the central one before all others.
    """
    r = 1 / math.sqrt(2)
    clusters = [
        *(("pos", centre, sigma_pos) for centre in [(0.0, 0.0), (r, r), (-r, r), (-r, -r), (r, -r)]),
        *(("neg", centre, sigma_neg) for centre in [(1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0)]),
    ]
    blocks = [
        (label, _stream(seed, stream + first).standard_normal((rows, 2)) * sigma + np.asarray(centre))
        for first, rows in ((0, per_cluster), (len(clusters), test_per_cluster))
        for stream, (label, centre, sigma) in enumerate(clusters)
    ]
    return _dataset("bsvm_toy", blocks, n_train=len(clusters) * per_cluster)


def noisy_normals(
    seed: int, *, n_pos: int, n_neg: int, noisy: int, spread: Sequence[float], distance: float, reach: float
) -> DataSet:
    """Two normal classes, and in each ``noisy`` points that stray towards the other by ``reach`` of the distance.

    The setting of Nath & Bhattacharyya's Figure 4, whose data are not given. The same seed with fewer noisy points
    gives the same clean points.
    """
    blocks = []
    for stream, (label, rows, side) in enumerate((("pos", n_pos, 1.0), ("neg", n_neg, -1.0))):
        centre = np.array([side * distance / 2, 0.0])
        clean = _stream(seed, stream).standard_normal((rows, 2)) * np.asarray(spread) + centre
        target = centre * (1 - 2 * reach) + np.array([0.0, 1.5 * side * spread[1]])
        stray = _stream(seed, stream + 2).standard_normal((noisy, 2)) * np.asarray(spread) / 3 + target
        blocks.append((label, np.concatenate([clean, stray])))
    return _dataset("noisy_normals", blocks)


def separable_normals(
    seed: int,
    *,
    n_features: int,
    n_pos: int,
    n_neg: int,
    margin: float,
    spread: Sequence[float],
    lean: Sequence[float],
) -> DataSet:
    """Two normal classes that the plane x1 = 0 separates, for what Gu & Guo's section 2 assumes.

    In a class x1 = z1 and xk = spread·zk + lean·z1 with standard normal z; it is then moved along x1 until its nearest point
    is margin/2 from the plane. ``spread`` and ``lean`` have a value for each class, the positive one first.
    """
    blocks = []
    for stream, (label, rows, side) in enumerate((("pos", n_pos, 1.0), ("neg", n_neg, -1.0))):
        z = _stream(seed, stream).standard_normal((rows, n_features))
        X = np.column_stack([z[:, :1], spread[stream] * z[:, 1:] + lean[stream] * z[:, :1]])
        X[:, 0] += side * (margin / 2 - (side * X[:, 0]).min())
        blocks.append((label, X))
    return _dataset("separable_normals", blocks)


def random_circles(
    seed: int, *, n_small: int, separable: int, radii: Sequence[float], arc: float, gap: float
) -> DataSet:
    """The setting of Pothin & Richard's Figure 2, whose circles are not given: the biggest one against the others.

    The biggest has radius 1 and lies at the origin. The others have uniform radii and lie around an arc of it (degrees), at
    uniform distances up to ``gap`` from its edge; no two circles overlap. Of such draws the first is taken that a line
    separates, or the first that none does.
    """
    rng = _stream(seed, 0)
    turns = np.linspace(0, 2 * np.pi, 3600, endpoint=False)
    directions = np.column_stack([np.cos(turns), np.sin(turns)])
    for _ in range(_TRIES):
        r = rng.uniform(radii[0], radii[1], n_small).round(12)
        angle = np.radians(arc) * (rng.uniform(size=n_small) - 0.5)
        far = 1 + r + gap * rng.uniform(size=n_small)
        X = np.column_stack([far * np.cos(angle), far * np.sin(angle)]).round(12)
        apart = np.linalg.norm(X[:, None] - X, axis=2) - r - r[:, None]
        if (apart[~np.eye(n_small, dtype=bool)] < 0).any():
            continue
        room = float((directions @ X.T - r).min(axis=1).max()) - 1  # beyond the biggest circle, in the best direction
        if (room > 0) == bool(separable):
            data = _dataset("random_circles", [("biggest", np.zeros((1, 2))), ("other", X)])
            return replace(data, positive="biggest", shapes=(1.0, *r.tolist()))
    raise DataError(
        f"data set 'random_circles': {_TRIES} draws, and in none of them {n_small} circles fit as asked; "
        "take fewer or smaller ones, or a larger arc"
    )


def _stream(seed: int, number: int) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=(number,))))


def _dataset(name: str, blocks: Sequence[tuple[str, Array]], n_train: int | None = None) -> DataSet:
    X = np.concatenate([rows for _, rows in blocks]).round(12)
    y = np.concatenate([np.full(len(rows), label) for label, rows in blocks])
    return DataSet(name, X, y, tuple(f"x{i + 1}" for i in range(X.shape[1])), "pos", n_train)
