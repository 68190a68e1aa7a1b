"""Knowledge sets as data (Pothin & Richard, section 2).

A knowledge set is a labelled ellipsoid, (3):

    E_i = {x : ⟨Σ_i⁻¹(x − x̄_i), x − x̄_i⟩ ≤ 1} = {x̄_i + Σ_i^{1/2} u : ‖u‖ ≤ 1},

where the second form also holds for a singular Σ_i. A sphere has Σ = r²I and is kept as its radius; a point is a
sphere of radius 0.

The file format for users' own sets is CSV with a header. A column ``label``; for a sphere a column ``radius``; for
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
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.spatial.distance import cdist

from mmc.methods.numerics.kernels import Array, KernelSpec

_ROUNDING = 1e-10


@dataclass(frozen=True)
class KnowledgeSets:
    """Labelled ellipsoids: ``matrices[k]`` is the Σ of set ``which[k]``; the others are spheres.

    ``radii`` are the radii of the spheres and the longest half-axes of the ellipsoids; 0 is a point.
    """

    centers: Array
    sign: Array
    radii: Array
    which: NDArray[np.intp]
    matrices: Array

    @classmethod
    def of_points(cls, points: Array, sign: Array) -> KnowledgeSets:
        """Return points as sets of size 0."""
        n, d = points.shape
        return cls(points, sign, np.zeros(n), np.empty(0, dtype=np.intp), np.empty((0, d, d)))

    def subset(self, index: NDArray[np.intp]) -> KnowledgeSets:
        """Return the sets ``index``, which must be sorted."""
        kept = np.isin(self.which, index)
        which = np.searchsorted(index, self.which[kept])
        return KnowledgeSets(self.centers[index], self.sign[index], self.radii[index], which, self.matrices[kept])

    def reach(self, V: Array) -> Array:
        """Return the rows Σ_i v_i / √⟨Σ_i v_i, v_i⟩: from the centre to the point of E_i furthest along v_i, (10).

        A set that is flat along v_i has no such point; its row is 0.
        """
        V = _unit(V)
        steps = self.radii[:, None] * V
        if len(self.which):
            images = np.einsum("kab,kb->ka", self.matrices, V[self.which])
            widths = np.sqrt(np.maximum(np.einsum("ka,ka->k", images, V[self.which]), 0))
            steps[self.which] = np.divide(images, widths[:, None], out=np.zeros_like(images), where=widths[:, None] > 0)
        return steps

    def critical(
        self, kernel: KernelSpec, points: Array, weights: Array, *, least: bool = False
    ) -> tuple[Array, Array]:
        """Return the most (or least) critical point of every set for f = Σ_j weights_j κ(·, points_j), (17).

        And by how much f changes, to first order, from the centre to there.
        """
        if not self.radii.any():  # of points; a kernel without a gradient will do
            return self.centers, np.zeros(len(self.centers))
        v = kernel.gradient(self.centers, points, weights)
        outward = self.reach(v)
        change = np.einsum("ij,ij->i", outward, v)
        return self.centers + (self.sign if least else -self.sign)[:, None] * outward, change

    def widths(self, w: Array) -> Array:
        """Return √⟨Σ_i w, w⟩, by how much every set reaches beyond its centre along w."""
        return self.reach(np.tile(w, (len(self.centers), 1))) @ w

    def contact(self, i: int, j: int) -> float:
        """Return the factor by which sets i and j must both be scaled about their centres to touch; < 1: they overlap.

        It is √max_t t(1−t) ⟨((1−t)Σ_i + tΣ_j)⁻¹ r, r⟩ with r = x̄_i − x̄_j, the contact function of Perram and
        Wertheim; (‖r‖ / (r_i + r_j)) for two spheres.
        """
        r = self.centers[i] - self.centers[j]
        distance = float(np.linalg.norm(r))
        if not np.isin([i, j], self.which).any() or distance == 0:
            size = self.radii[i] + self.radii[j]
            return distance / size if size > 0 else (np.inf if distance > 0 else 0.0)
        first, second = self._matrix(i), self._matrix(j)

        def minus_contact(t: float) -> float:
            values, vectors = np.linalg.eigh((1 - t) * first + t * second)
            parts = vectors.T @ r
            flat = values <= _ROUNDING * values[-1]
            if np.linalg.norm(parts[flat]) > _ROUNDING * distance:  # no scaling makes flat sets meet across a gap
                return -np.inf
            return -t * (1 - t) * float(np.sum(parts[~flat] ** 2 / values[~flat]))

        if minus_contact(0.5) == -np.inf:
            return np.inf
        best = minimize_scalar(minus_contact, bounds=(0, 1), method="bounded", options={"xatol": 1e-10})
        return float(np.sqrt(-best.fun))

    def overlapping(self) -> tuple[int, int, float] | None:
        """Return the pair of opposite sets that overlap the most, (positive, negative, contact), or None.

        Sets that only touch (contact 1) count: no continuous function has a margin to both.
        """
        pos, neg = np.flatnonzero(self.sign > 0), np.flatnonzero(self.sign < 0)
        gaps = cdist(self.centers[pos], self.centers[neg])
        near = np.argwhere(gaps <= (self.radii[pos][:, None] + self.radii[neg]) * (1 + _ROUNDING))
        pairs = [(int(pos[a]), int(neg[b])) for a, b in near]
        found = [(self.contact(i, j), i, j) for i, j in pairs]
        if not found or min(found)[0] > 1 + _ROUNDING:
            return None
        contact, i, j = min(found)
        return i, j, contact

    def _matrix(self, i: int) -> Array:
        at = np.flatnonzero(self.which == i)
        return self.matrices[at[0]] if len(at) else self.radii[i] ** 2 * np.eye(self.centers.shape[1])


def knowledge_sets(centers: Array, sign: Array, shapes: Any) -> KnowledgeSets:
    """Return the sets with the given shapes: radii (n,), matrices (n, d, d), or a list that mixes both.

    Raise ValueError that names the first bad shape by its index.
    """
    n, d = centers.shape
    if isinstance(shapes, np.ndarray) and shapes.ndim not in (1, 3):
        raise ValueError(
            f"shapes has {shapes.ndim} dimension{'s' * (shapes.ndim != 1)}; "
            f"expected radii ({n},) or matrices ({n}, {d}, {d})"
        )
    if len(shapes) != n:
        raise ValueError(f"there are {len(shapes)} shapes for {n} centres; give one for each (0 for a point)")
    radii = np.zeros(n)
    which: list[int] = []
    matrices: list[Array] = []
    for i, given in enumerate(shapes):
        shape = _checked(given, d, f"shapes[{i}]")
        if shape.ndim == 0:
            radii[i] = shape
        elif shape.any():
            radii[i] = np.sqrt(np.linalg.eigvalsh(shape)[-1])
            which.append(i)
            matrices.append(shape)
    stack = np.array(matrices) if matrices else np.empty((0, d, d))
    return KnowledgeSets(centers, sign, radii, np.array(which, dtype=np.intp), stack)


def load_knowledge(path: str | Path, *, label: str = "label") -> tuple[Array, NDArray[Any], list[Any]]:
    """Read a CSV file of knowledge sets (the format above); return X, y and the shapes for ``fit``.

    Labels become integers if all of them are. Raise ValueError that names file, line and column.
    """
    path = Path(path)
    with path.open(newline="", encoding="utf-8-sig") as file:
        reader = csv.reader(file, skipinitialspace=True)
        header = [name.strip() for name in next(reader, [])]
        columns = _columns(path, header, label)
        X, y, shapes = [], [], []
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

    def shape(self, cells: dict[str, str], where: str) -> Any:
        given = [name for name in self.entries if cells[name]]
        if cells.get("radius"):
            if given:
                raise ValueError(f"{where}, column {given[0]!r}: the row also has a radius; give only one of them")
            return float(_checked(_cell(cells, "radius", where), 0, f"{where}, column 'radius'"))
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
        return _checked(matrix, d, f"{where}, columns {given[0]!r} to {given[-1]!r}")


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


def _checked(given: Any, d: int, where: str) -> Array:
    """Return a radius or a matrix Σ as an array; raise ValueError that says where and why it is neither."""
    try:
        shape = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{where} is neither a number nor a matrix of numbers") from None
    if not np.isfinite(shape).all():
        raise ValueError(f"{where} has an entry that is not finite")
    if shape.ndim == 0:
        if shape < 0:
            raise ValueError(f"{where}: the radius {shape:g} is negative")
        return shape
    if shape.shape != (d, d):
        raise ValueError(f"{where} has shape {shape.shape}; expected a radius or a ({d}, {d}) matrix")
    allowed = _ROUNDING * np.abs(shape).max()
    if np.abs(shape - shape.T).max() > allowed:
        raise ValueError(f"{where}: the matrix is not symmetric")
    shape = (shape + shape.T) / 2
    smallest = np.linalg.eigvalsh(shape)[0]
    if smallest < -allowed:
        raise ValueError(
            f"{where}: the matrix is not positive semi-definite, its smallest eigenvalue is {smallest:.3g}"
        )
    return shape


def _unit(V: Array) -> Array:
    norms = np.linalg.norm(V, axis=1)[:, None]
    return np.divide(V, norms, out=np.zeros_like(V), where=norms > 0)
