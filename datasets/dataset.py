"""What every source of data gives back, and the one error that every bad input gives."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_ROWS_AT_ONCE = 4096  # so that the hash of a large set does not need a second copy of it


class DataError(ValueError):
    """Data that cannot be used: the message says what is wrong, where, and what to do."""


def check_missing(missing: str) -> None:
    """Raise DataError unless ``missing`` is one of the two ways to treat missing cells."""
    if missing not in ("drop", "error"):
        raise DataError(
            f"missing={missing!r} is no way to treat missing cells: 'drop' leaves such rows out, 'error' refuses them"
        )


@dataclass(frozen=True, eq=False)
class DataSet:
    """A data set in memory: complete, finite, with at least two classes.

    ``X`` is float64, except that bytes stay bytes (mnist): convert the rows that you take before you subtract them.
    ``positive`` is the label of the biased class unless an experiment names another one, None where no class is
    special. Rows before ``n_train`` are the original's training part, where it has one. ``dropped`` counts the rows
    with missing cells that were left out. The arrays cannot be written: the content hash has to stay true.

    ``shapes`` makes knowledge sets of the last rows, labelled regions instead of points: the row is the centre, the shape
    a radius or the matrix Σ of an ellipsoid.
    """

    name: str
    X: NDArray[np.float64] | NDArray[np.uint8]
    y: NDArray[Any]
    feature_names: tuple[str, ...]
    positive: str | None = None
    n_train: int | None = None
    dropped: int = 0
    shapes: tuple[Any, ...] = ()

    def __post_init__(self) -> None:
        for field in ("X", "y"):
            view = getattr(self, field).view()
            view.setflags(write=False)
            object.__setattr__(self, field, view)

    @property
    def classes(self) -> dict[str, int]:
        """How many rows each label has, in the order of the labels."""
        return dict(sorted(Counter(self.y.tolist()).items()))

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
            digest.update(json.dumps(self.shapes, default=lambda matrix: matrix.tolist()).encode())
        return digest.hexdigest()
