"""What every source of data gives back, and the one error that every bad input gives."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import TYPE_CHECKING, TypeAlias

from mmc.labels import ordered, positive_label
from mmc.words import nearest

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Features: TypeAlias = "NDArray[np.float64] | NDArray[np.uint8]"
Labels: TypeAlias = "NDArray[np.str_] | NDArray[np.object_]"
Shape: TypeAlias = "float | NDArray[np.float64]"

_ROWS_AT_ONCE = 4096  # so that the hash of a large set does not need a second copy of it


class DataError(ValueError):
    """Data that cannot be used: the message says what is wrong, where, and what to do."""


def reason(error: Exception) -> str:
    """Return what an error of a library says as one short line that can be printed."""
    line = next(iter(str(error).splitlines()), "") or type(error).__name__
    return "".join(character if character.isprintable() else repr(character)[1:-1] for character in line[:200])


def check_missing(missing: str) -> None:
    """Raise DataError unless ``missing`` is a way to treat missing cells."""
    if missing not in ("drop", "error", "impute"):
        raise DataError(
            f"missing={missing!r} is no way to treat missing cells: 'drop' leaves such rows out, 'error' refuses them, "
            "'impute' fills in the mean of the column"
        )


@dataclass(frozen=True, eq=False)
class DataSet:
    """A data set in memory: complete, finite, with at least two classes.

    ``X`` is float64, except that bytes stay bytes (mnist): cast slices to float first, since uint8 wraps around.
    ``y`` holds text. ``positive`` is the label of the positive class, None where the source names none;
    ``positive_class`` is the one that is taken then. Rows before ``n_train`` are the original's training part, where it has one. ``dropped`` counts the rows
    with missing cells that were left out, ``imputed`` the missing cells that were filled in. The arrays cannot be written: the content hash has to stay true.

    ``shapes`` makes knowledge sets of the last rows, labelled regions instead of points: the row is the centre, the shape
    a radius or the matrix Σ of an ellipsoid.
    """

    name: str
    X: Features
    y: Labels
    feature_names: tuple[str, ...]
    positive: str | None = None
    n_train: int | None = None
    dropped: int = 0
    shapes: tuple[Shape, ...] = ()
    imputed: int = 0

    def __post_init__(self) -> None:
        for field in ("X", "y"):
            view = getattr(self, field).view()
            view.setflags(write=False)
            object.__setattr__(self, field, view)

    @property
    def classes(self) -> dict[str, int]:
        """How many rows each label has, in the order of the labels."""
        counts = Counter(self.y.tolist())
        return {label: counts[label] for label in ordered(counts)}

    @property
    def positive_class(self) -> str:
        """The label of the positive class: the stated one, else the larger label (as numbers if all are numbers)."""
        return self.positive if self.positive is not None else positive_label(self.y.tolist())

    def sign(self, positive: str | None = None) -> NDArray[np.intp]:
        """Return +1 for each row of the positive class and -1 for every other row.

        The positive class is the label given here, else ``positive_class``. Raises DataError if no row has that label, or
        if there are more than two classes and nobody named one.
        """
        import numpy as np

        classes = self.classes
        if positive is None and self.positive is None and len(classes) != 2:
            raise DataError(f"data set {self.name!r} has {len(classes)} classes; name the positive one")
        label = self.positive_class if positive is None else positive
        if label not in classes:
            raise DataError(f"data set {self.name!r} has no label {label!r}: {nearest(label, classes)}")
        return np.where(self.y == label, 1, -1).astype(np.intp)

    @property
    def n_points(self) -> int:
        """How many rows are points: those before the knowledge sets."""
        return len(self.y) - len(self.shapes)

    @cached_property
    def content_hash(self) -> str:
        """SHA-256 of shape, values, labels and knowledge sets: the same wherever the bytes came from and on every platform."""
        digest = sha256(json.dumps(self.X.shape).encode())
        for start in range(0, len(self.X), _ROWS_AT_ONCE):
            block = self.X[start : start + _ROWS_AT_ONCE] + 0.0  # -0.0 is 0.0: sparse formats cannot tell them apart
            digest.update(block.astype("<f8").tobytes())
        digest.update(json.dumps(self.y.tolist()).encode())
        if self.shapes:
            digest.update(json.dumps(self.shapes, default=_nested).encode())
        return digest.hexdigest()


def _nested(matrix: NDArray[np.float64]) -> list[list[float]]:
    rows: list[list[float]] = matrix.tolist()
    return rows
