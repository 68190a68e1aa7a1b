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
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mmc import datasets
from mmc.experiments.config import DataSpec, SetSpec
from mmc.experiments.errors import ConfigError
from mmc.experiments.yaml_lines import KeyPath


class SetError(ConfigError):
    """A knowledge set that cannot be used; ``place`` is where in the data set's entry it is stated."""

    def __init__(self, place: KeyPath, text: str):
        super().__init__(text)
        self.place = place


def problems(spec: DataSpec, folder: Path) -> Iterator[tuple[KeyPath, str]]:
    """Yield what is wrong with the sets of a data set whatever its points are, and where."""
    if isinstance(spec.knowledge, str):
        try:
            _from_file(spec.knowledge, folder)
        except SetError as error:
            yield error.place, str(error)
        return
    for index, entry in enumerate(spec.knowledge or []):
        try:
            _shape(index, entry, len((spec.knowledge or [])[0].center))
        except SetError as error:
            yield error.place, str(error)


def join(points: datasets.DataSet | None, label: str, spec: DataSpec, folder: Path) -> datasets.DataSet:
    """Return a data set with its knowledge sets after the points, or of the sets alone; raise SetError."""
    if isinstance(spec.knowledge, str):
        centers, labels, shapes = _from_file(spec.knowledge, folder)
    else:
        entries = spec.knowledge or []
        d = len(entries[0].center)
        shapes = [_shape(index, entry, d) for index, entry in enumerate(entries)]
        centers, labels = np.array([e.center for e in entries]), np.array([written(e.label) for e in entries])
    if points is None:
        names = tuple(f"x{i + 1}" for i in range(centers.shape[1]))
        return datasets.DataSet(label, centers, labels, names, shapes=tuple(shapes))
    if centers.shape[1] != points.X.shape[1]:
        raise SetError(
            ("knowledge",), f"{label}: the sets have {centers.shape[1]} coordinates, the points {points.X.shape[1]}"
        )
    if isinstance(spec.knowledge, str):
        _check_order(_header(folder / spec.knowledge), points.feature_names)
    for index, name in enumerate(labels.tolist()):
        if name not in points.classes:
            place: KeyPath = ("knowledge",) if isinstance(spec.knowledge, str) else ("knowledge", index, "label")
            known = ", ".join(points.classes)
            raise SetError(place, f"{label}: knowledge set {index + 1} has the unknown label {name!r}; valid: {known}")
    X, y = np.vstack([points.X, centers]), np.concatenate([points.y, labels])
    return replace(points, X=X, y=y, shapes=tuple(shapes))


def written(label: Any) -> str:
    """Return a label as data sets write it: a whole number without a point."""
    return str(int(label)) if isinstance(label, float) and label.is_integer() else str(label)


def given(method: type, shapes: Any) -> dict[str, Any]:
    """Return what ``fit`` is given besides X and y: the shapes, if there are any and the method takes them."""
    takes = "shapes" in inspect.signature(method.fit).parameters  # type: ignore[attr-defined]
    return {"shapes": shapes} if shapes is not None and takes else {}


def rescaled(shape: Any, width: NDArray[Any]) -> Any:
    """Return the shape of a set whose coordinates are divided by ``width``: DΣD with D = diag(1 / width).

    A sphere stays one only if all widths are the same.
    """
    if np.ndim(shape) == 0:
        if shape == 0 or np.all(width == width[0]):
            return float(shape / width[0])
        return np.diag((shape / width) ** 2)
    return np.asarray(shape) / np.outer(width, width)


def _shape(index: int, entry: SetSpec, d: int) -> Any:
    """Return the shape of a stated set."""
    from mmc.methods.problems.shapes import knowledge_sets

    name = f"knowledge set {index + 1}"
    if len(entry.center) != d:
        raise SetError(
            ("knowledge", index, "center"),
            f"{name}: the centre has {len(entry.center)} coordinates, the first set's {d}",
        )
    if entry.radius is not None and entry.matrix is not None:
        raise SetError(("knowledge", index, "matrix"), f"{name} has a radius and a matrix; give only one of them")
    key = "radius" if entry.matrix is None else "matrix"
    shape = (entry.radius or 0.0) if entry.matrix is None else entry.matrix
    try:
        knowledge_sets(np.array([entry.center]), np.ones(1), [shape])
    except ValueError as error:
        text = str(error).removeprefix("shapes[0]: ").replace("shapes[0]", key)
        raise SetError(("knowledge", index, key), f"{name}: {text}") from None
    return shape if entry.matrix is None else np.array(shape)


def _from_file(file: str, folder: Path) -> tuple[NDArray[Any], NDArray[Any], list[Any]]:
    from mmc.methods.shapes import load_knowledge

    path = Path(file)
    try:
        X, y, shapes = load_knowledge(path if path.is_absolute() else folder / path)
    except OSError as error:
        raise SetError(("knowledge",), f"the knowledge sets {folder / path} cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise SetError(("knowledge",), str(error)) from None
    return X, np.array([str(label) for label in y]), shapes


def _header(path: Path) -> list[str]:
    with path.open(newline="", encoding="utf-8-sig") as file:
        return [name.strip() for name in next(csv.reader(file))]


def _check_order(header: Sequence[str], features: Sequence[str]) -> None:
    """Raise SetError where the columns of a file are the features of the points in another order."""
    columns = [name for name in header if name in features]
    if columns != list(features) and sorted(columns) == sorted(features):
        raise SetError(
            ("knowledge",),
            f"the columns {', '.join(columns)} are in another order than the features of the points, {', '.join(features)}",
        )
