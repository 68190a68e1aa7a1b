"""Knowledge sets from a file.

The format for users' own sets is CSV with a header. A column ``label``; for a sphere a column ``radius``; for
an ellipsoid columns ``s_<i>_<j>`` with the entries of Σ, counted from 1 (one triangle is enough); every other
column is a coordinate of the centre. A row fills in the radius, or Σ, or neither (a point)::

    label,width,height,radius,s_1_1,s_1_2,s_2_2
    +1,0.5,2.0,0.75,,,
    -1,3.0,1.0,,0.25,0.1,0.5
    -1,4.0,0.0,,,,
"""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mmc.methods.numerics.kernels import Array
from mmc.methods.problems.shapes import Shape, checked_shape


def load_knowledge(path: str | Path, *, label: str = "label") -> tuple[Array, NDArray[np.generic], list[Shape]]:
    """Read a CSV file of knowledge sets (the format above); return X, y and the shapes for ``fit``.

    Labels become integers if all of them are. Raise ValueError that names file, line and column.
    """
    path = Path(path)
    with path.open(newline="", encoding="utf-8-sig") as file:
        reader = csv.reader(file, skipinitialspace=True)
        header = [name.strip() for name in next(reader, [])]
        columns = _columns(path, header, label)
        X: list[list[float]] = []
        y: list[str] = []
        shapes: list[Shape] = []
        for row in reader:
            if not any(cell.strip() for cell in row):
                continue
            where = f"{path}, line {reader.line_num}"
            if len(row) != len(header):
                raise ValueError(f"{where}: {len(row)} cells; the header has {len(header)}")
            cells = dict(zip(header, (cell.strip() for cell in row), strict=True))
            if not cells[label]:
                raise ValueError(f"{where}, column {label!r}: no label")
            y.append(cells[label])
            X.append([_cell(cells, name, where) for name in columns.center])
            shapes.append(columns.shape(cells, where))
    if not X:
        raise ValueError(f"{path}: no knowledge sets")
    whole = all(re.fullmatch(r"[+-]?\d+", text) for text in y)
    return np.array(X), np.array([int(text) for text in y] if whole else y), shapes


@dataclass(frozen=True)
class _Columns:
    """Which columns of a file are the centre, and which are the entries of Σ."""

    center: Sequence[str]
    entries: dict[str, tuple[int, int]]

    def shape(self, cells: dict[str, str], where: str) -> Shape:
        given = [name for name in self.entries if cells[name]]
        if cells.get("radius"):
            if given:
                raise ValueError(f"{where}, column {given[0]!r}: the row also has a radius; give only one of them")
            return float(checked_shape(_cell(cells, "radius", where), 0, f"{where}, column 'radius'"))
        if not given:
            return 0.0
        d = len(self.center)
        matrix = np.full((d, d), np.nan)
        for name in given:
            i, j = self.entries[name]
            value = _cell(cells, name, where)
            if not np.isnan(matrix[i, j]) and matrix[i, j] != value:
                raise ValueError(f"{where}, column {name!r}: {value:g} differs from s_{j + 1}_{i + 1}: Σ is symmetric")
            matrix[i, j] = matrix[j, i] = value
        if np.isnan(matrix).any():
            i, j = np.argwhere(np.isnan(matrix))[0]
            raise ValueError(f"{where}, column 's_{i + 1}_{j + 1}': missing; Σ needs all entries of one triangle")
        return checked_shape(matrix, d, f"{where}, columns {given[0]!r} to {given[-1]!r}")


def _columns(path: Path, header: list[str], label: str) -> _Columns:
    twice = {name for name in header if header.count(name) > 1}
    if twice:
        raise ValueError(f"{path}, line 1: column {min(twice)!r} occurs twice")
    if label not in header:
        raise ValueError(f"{path}, line 1: no column {label!r}; the columns are {', '.join(header) or 'none'}")
    named = {name: re.fullmatch(r"s_(\d+)_(\d+)", name) for name in header}
    center = [name for name in header if name not in (label, "radius") and not named[name]]
    if not center:
        raise ValueError(f"{path}, line 1: no column for a coordinate of the centre")
    entries = {name: (int(m[1]) - 1, int(m[2]) - 1) for name, m in named.items() if m}
    for name, place in entries.items():
        if not all(0 <= k < len(center) for k in place):
            raise ValueError(f"{path}, line 1: column {name!r} is outside a Σ of {len(center)} coordinates")
    return _Columns(center, entries)


def _cell(cells: dict[str, str], name: str, where: str) -> float:
    try:
        value = float(cells[name])
    except ValueError:
        raise ValueError(f"{where}, column {name!r}: {cells[name]!r} is not a number") from None
    if not np.isfinite(value):
        raise ValueError(f"{where}, column {name!r}: {cells[name]!r} is not finite")
    return value
