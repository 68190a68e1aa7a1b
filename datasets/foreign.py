"""Data sets of plugins: what their functions return, as a data set of ours."""

from __future__ import annotations

from collections.abc import Iterable
from typing import SupportsIndex

import numpy as np
from numpy.typing import ArrayLike

from mmc import plugins
from mmc.datasets.dataset import DataError, DataSet, reason
from mmc.datasets.registry import Entry


def load(entry: Entry) -> DataSet:
    """Call the function that a plugin registered and return its data set; raise DataError where it gives none.

    The function takes no arguments. It returns a ``DataSet``, or the features and the labels, with the names of the features
    where they have any.
    """
    source = plugins.registered("mmc.datasets")[entry.name].load()
    if not callable(source):
        raise DataError(f"data set {entry.name!r} of {entry.origin} must be a function that returns X and y")
    try:
        found: object = source()
    except DataError:
        raise
    except Exception as error:  # code from outside can fail in any way
        raise DataError(
            f"data set {entry.name!r} of {entry.origin}: {type(error).__name__}: {reason(error)}"
        ) from error
    if isinstance(found, DataSet):
        return found
    if not isinstance(found, tuple) or len(found) not in (2, 3):
        raise DataError(f"data set {entry.name!r} of {entry.origin} must return X and y, or a DataSet")
    return made(entry.name, f"data set {entry.name!r} of {entry.origin}", *found)


def made(name: str, told: str, X: ArrayLike, y: ArrayLike, names: Iterable[object] | None = None) -> DataSet:
    """Return a data set of arrays; raise DataError, beginning with ``told``, where they do not make one."""
    try:
        points = np.ascontiguousarray(X, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"{told}: the features are no numbers ({reason(error)})") from None
    labels = np.asarray(y)
    if points.ndim != 2 or labels.shape != points.shape[:1] or not points.size:
        raise DataError(f"{told}: X has the shape {points.shape}, y {labels.shape}: one row for each label is needed")
    if not np.isfinite(points).all():
        raise DataError(f"{told} has cells that are missing or not finite: fill them in, or leave these rows out")
    written = np.array([_written(label) for label in labels.tolist()])
    if len(np.unique(written)) < 2:
        raise DataError(f"{told} has one class only")
    columns = tuple(f"x{i + 1}" for i in range(points.shape[1])) if names is None else tuple(map(str, names))
    if len(columns) != points.shape[1]:
        raise DataError(f"{told}: {len(columns)} names for {points.shape[1]} features")
    return DataSet(name, points, written, columns)


def _written(label: object) -> str:
    """Return a label as text: a whole number without a point."""
    if isinstance(label, float) and label.is_integer():
        return str(int(label))
    return str(label.__index__()) if isinstance(label, SupportsIndex) and not isinstance(label, bool) else str(label)
