"""The knowledge sets of a config: labelled ellipsoids, stated in the YAML or read from a CSV file.

They are prior knowledge, not observations: every training part has all of them, no test part has any. A method whose
``fit`` takes shapes is given the sets, with the points as sets of size 0; any other method is given their centres as points.
Features are scaled by the points and centres of the training part, the shapes with them.
A data set that consists of sets alone is tested by their area (``areas``).
"""

from __future__ import annotations

import csv
import inspect
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mmc.datasets.bounds import check_plain
from mmc.datasets.dataset import DataSet, Shape
from mmc.experiments.dataspec import DataSpec, SetSpec, written
from mmc.experiments.errors import KeyPath, PlaceError

Array = NDArray[np.float64]


def problems(spec: DataSpec, folder: Path) -> Iterator[tuple[KeyPath, str]]:
    """Yield what is wrong with the sets of a data set whatever its points are, and where."""
    if isinstance(spec.knowledge, str):
        try:
            _from_file(spec.knowledge, folder)
        except PlaceError as error:
            yield error.place, str(error)
        return
    for index, entry in enumerate(spec.knowledge or []):
        try:
            _shape(index, entry, len((spec.knowledge or [])[0].center))
        except PlaceError as error:
            yield error.place, str(error)


def join(points: DataSet | None, label: str, spec: DataSpec, folder: Path) -> DataSet:
    """Return a data set with its knowledge sets after the points, or of the sets alone; raise PlaceError."""
    if isinstance(spec.knowledge, str):
        centers, labels, shapes = _from_file(spec.knowledge, folder)
    else:
        entries = spec.knowledge or []
        d = len(entries[0].center)
        shapes = [_shape(index, entry, d) for index, entry in enumerate(entries)]
        centers, labels = np.array([e.center for e in entries]), np.array([written(e.label) for e in entries])
    if points is None:
        names = tuple(f"x{i + 1}" for i in range(centers.shape[1]))
        return DataSet(label, centers, labels, names, shapes=tuple(shapes))
    if centers.shape[1] != points.X.shape[1]:
        raise PlaceError(
            ("knowledge",), f"{label}: the sets have {centers.shape[1]} coordinates, the points {points.X.shape[1]}"
        )
    if isinstance(spec.knowledge, str):
        _check_order(_header(folder / spec.knowledge), points.feature_names)
    for index, name in enumerate(labels.tolist()):
        if name not in points.classes:
            place: KeyPath = ("knowledge",) if isinstance(spec.knowledge, str) else ("knowledge", index, "label")
            known = ", ".join(points.classes)
            raise PlaceError(
                place, f"{label}: knowledge set {index + 1} has the unknown label {name!r}; valid: {known}"
            )
    X = np.vstack([points.X.astype(np.float64, copy=False), centers])
    y = np.concatenate([points.y, labels])
    return replace(points, X=X, y=y, shapes=tuple(shapes))


def given(method: type, shapes: Sequence[Shape] | None) -> dict[str, Sequence[Shape]]:
    """Return what ``fit`` is given besides X and y: the shapes, if there are any and the method takes them."""
    takes = "shapes" in inspect.signature(getattr(method, "fit")).parameters  # noqa: B009 (any estimator)
    return {"shapes": shapes} if shapes is not None and takes else {}


def rescaled(shape: Shape, width: Array) -> Shape:
    """Return the shape of a set whose coordinates are divided by ``width``: DΣD with D = diag(1 / width).

    A sphere stays one only if all widths are the same.
    """
    if not isinstance(shape, np.ndarray):
        if shape == 0 or np.all(width == width[0]):
            return float(shape / width[0])
        return np.diag((shape / width) ** 2)
    return np.asarray(shape / np.outer(width, width))


def _shape(index: int, entry: SetSpec, d: int) -> Shape:
    """Return the shape of a stated set."""
    from mmc.methods.problems.shapes import knowledge_sets

    name = f"knowledge set {index + 1}"
    if len(entry.center) != d:
        raise PlaceError(
            ("knowledge", index, "center"),
            f"{name}: the centre has {len(entry.center)} coordinates, the first set's {d}",
        )
    if entry.radius is not None and entry.matrix is not None:
        raise PlaceError(("knowledge", index, "matrix"), f"{name} has a radius and a matrix; give only one of them")
    key = "radius" if entry.matrix is None else "matrix"
    shape = (entry.radius or 0.0) if entry.matrix is None else entry.matrix
    try:
        knowledge_sets(np.array([entry.center]), np.ones(1), [shape])
    except ValueError as error:
        text = str(error).removeprefix("shapes[0]: ").replace("shapes[0]", key)
        raise PlaceError(("knowledge", index, key), f"{name}: {text}") from None
    return np.array(entry.matrix) if entry.matrix is not None else entry.radius or 0.0


def _from_file(file: str, folder: Path) -> tuple[Array, NDArray[np.str_], list[Shape]]:
    from mmc.methods.shapes import load_knowledge

    path = folder / file
    try:
        check_plain(path)
        X, y, shapes = load_knowledge(path)
    except OSError as error:
        raise PlaceError(("knowledge",), f"the knowledge sets {path} cannot be read: {error.strerror}") from None
    except (ValueError, csv.Error) as error:
        raise PlaceError(("knowledge",), str(error)) from None
    sized = [shape if isinstance(shape, float) else np.asarray(shape, dtype=float) for shape in shapes]
    return X, np.array([str(label) for label in y]), sized


def _header(path: Path) -> list[str]:
    with path.open(newline="", encoding="utf-8-sig") as file:
        return [name.strip() for name in next(csv.reader(file))]


def _check_order(header: Sequence[str], features: Sequence[str]) -> None:
    """Raise PlaceError where the columns of a file are the features of the points in another order."""
    columns = [name for name in header if name in features]
    if columns != list(features) and sorted(columns) == sorted(features):
        raise PlaceError(
            ("knowledge",),
            f"the columns {', '.join(columns)} are in another order than the features of the points, {', '.join(features)}",
        )
