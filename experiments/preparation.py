"""From a data set to what a classifier is fitted on: its rows, signs, scaled features and shapes. Figures use the same."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from mmc.datasets.dataset import DataSet, Shape
from mmc.experiments.errors import TrialError
from mmc.experiments.kept import Kept
from mmc.experiments.knowledge import rescaled
from mmc.experiments.splits import Protocol, Rows, seed_of
from mmc.experiments.units import Where
from mmc.labels import ordered

Array = NDArray[np.float64]
_BLOCK = 4096  # rows of a large set that are centred at a time


@dataclass(frozen=True, eq=False)
class Prepared:
    """Both parts of a split, scaled and projected by what the training part says; ``shapes`` are those of its rows.

    A row that is a point has the shape 0; without knowledge sets there are no shapes.
    """

    rows: Rows
    train: Array
    test: Array
    shapes: list[Shape] | None


def prepared(where: Where) -> Prepared:
    """Return both parts of a split. Those of the last split are kept: pairs of classes and methods share them."""
    return _prepared.get(_shared(where), lambda: _prepare(where))


def _shared(where: Where) -> Where:
    """Return the place with any pair of classes: all classifiers of several classes share the split and the features."""
    return replace(where, pair=("", ""), own=False) if where.several else where


_prepared: Kept[Where, Prepared] = Kept(1)
_rows: Kept[Where, Rows] = Kept(4)


def _prepare(where: Where) -> Prepared:
    data, rows = where.source.load(), rows_of(where)
    parts = scaled(where.scale, data.X[rows.train], data.X[rows.test])
    return Prepared(rows, *projected(where.pca, *parts), _shapes(data, rows, where.scale))


def rows_of(where: Where) -> Rows:
    """Make a split again from its seed; raise TrialError if the data or the rows are not those that were planned."""
    return _rows.get(_shared(where), lambda: _made(where))


def _made(where: Where) -> Rows:
    data, split, label = where.source.load(), where.split, where.source.label
    if data.content_hash != where.content:
        raise TrialError(f"data set {label!r} has changed since the run was planned; run again")
    found = splits_of(data, where.several, split.protocol, split.seed, label, split.repetition)
    rows = found[split.fold]
    if rows.digest() != split.digest:
        place = f"repetition {split.repetition + 1}, fold {split.fold + 1}"
        raise TrialError(
            f"data set {label!r}, {place}: the split made here ({rows.digest()[:12]}) is not the planned one "
            f"({split.digest[:12]}); another version of mmc or numpy made the plan"
        )
    return rows


def splits_of(data: DataSet, several: bool, protocol: Protocol, seed: int, label: str, repetition: int) -> list[Rows]:
    """Return the splits of one repetition. Knowledge sets are in every training part; sets alone are tested by their area."""
    if not data.n_points:
        everyone = np.arange(len(data.y))
        return [Rows(everyone, everyone)]
    sets = np.arange(data.n_points, len(data.y))
    rng = np.random.default_rng(seed_of(seed, label, "split", repetition))
    made = protocol.parts(classes_of(data, several)[: data.n_points], data.n_train, rng)
    return [replace(rows, train=np.append(rows.train, sets)) for rows in made]


def classes_of(data: DataSet, several: bool) -> NDArray[np.intp]:
    """Return the class of every row as a number: 1 for the positive of two, the place in their order of several."""
    if not several:
        return (data.sign() > 0).astype(np.intp)
    return np.asarray(np.argmax(data.y[:, None] == np.array(ordered(data.y.tolist())), axis=1))


def signs(where: Where) -> NDArray[np.intp]:
    """Return +1 for each row of the positive class, -1 for the negative one, 0 for any other; of all classes their numbers."""
    data = where.source.load()
    if where.own:
        return classes_of(data, several=True)
    if where.pair is None:
        return data.sign()
    return np.where(data.y == where.pair[0], 1, 0) - np.where(data.y == where.pair[1], 1, 0)


def projected(components: int | None, train: Array, test: Array) -> tuple[Array, Array]:
    """Return both parts in the training part's first principal components, each one's largest entry positive."""
    if components is None:
        return train, test
    middle = train.mean(axis=0)
    scatter = np.zeros((train.shape[1], train.shape[1]))
    for start in range(0, len(train), _BLOCK):
        block = train[start : start + _BLOCK] - middle
        scatter += block.T @ block
    axes = np.linalg.eigh(scatter)[1][:, ::-1][:, :components]
    axes *= np.sign(axes[np.abs(axes).argmax(axis=0), np.arange(components)])
    return train @ axes - middle @ axes, test @ axes - middle @ axes


def scaled(kind: str, train: NDArray[np.number], test: NDArray[np.number]) -> tuple[Array, Array]:
    """Scale both parts with what the training part alone says; a constant feature stays where it is."""
    first, second = train.astype(float, copy=False), test.astype(float, copy=False)  # bytes would wrap around
    if kind == "none":
        return first, second
    shift, width = _scaling(kind, first)
    return (first - shift) / width, (second - shift) / width


def _shapes(data: DataSet, rows: Rows, scale: str) -> list[Shape] | None:
    """Return the shapes of the training rows, scaled as the rows are (0 for a point), or None without knowledge sets."""
    if not data.shapes:
        return None
    _, width = _scaling(scale, data.X[rows.train].astype(float, copy=False))
    shapes: Sequence[Shape] = [*([0.0] * data.n_points), *data.shapes]
    return [rescaled(shapes[i], width) for i in rows.train]


def _scaling(kind: str, train: Array) -> tuple[Array, Array]:
    """Return what is subtracted from every feature, and what it is then divided by."""
    if kind == "none":
        return np.zeros(train.shape[1]), np.ones(train.shape[1])
    if kind in ("standard", "unit"):
        shift, width = train.mean(axis=0), train.std(axis=0)
    else:
        shift = train.min(axis=0)
        width = train.max(axis=0) - shift
    constant = width <= 10 * np.finfo(float).eps * np.abs(train).max(axis=0)
    return shift, np.where(constant, 1.0, width) * (math.sqrt(train.shape[1]) if kind == "unit" else 1.0)
