"""The geometry of knowledge sets (Pothin & Richard, section 2).

A knowledge set is a labelled ellipsoid, (3):

    E_i = {x : ⟨Σ_i⁻¹(x − x̄_i), x − x̄_i⟩ ≤ 1} = {x̄_i + Σ_i^{1/2} u : ‖u‖ ≤ 1},

where the second form also holds for a singular Σ_i. A sphere has Σ = r²I and is kept as its radius; a point is a
sphere of radius 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.spatial.distance import cdist

from mmc.methods.numerics.kernels import Array, KernelSpec
from mmc.methods.numerics.memory import require

Shape = float | Array | Sequence[Sequence[float]]  # a radius, or a matrix Σ
Shapes = Array | Sequence[Shape]
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
        needed = 2 * 8 * len(pos) * len(neg)
        require(
            needed, f"the distances between {len(self.sign):,} sets", "take fewer rows, or a covering of fewer sets"
        )
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
        found: Array = self.matrices[at[0]] if len(at) else self.radii[i] ** 2 * np.eye(self.centers.shape[1])
        return found


def knowledge_sets(centers: Array, sign: Array, shapes: Shapes) -> KnowledgeSets:
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
        shape = checked_shape(given, d, f"shapes[{i}]")
        if shape.ndim == 0:
            radii[i] = shape
        elif shape.any():
            radii[i] = np.sqrt(np.linalg.eigvalsh(shape)[-1])
            which.append(i)
            matrices.append(shape)
    stack = np.array(matrices) if matrices else np.empty((0, d, d))
    return KnowledgeSets(centers, sign, radii, np.array(which, dtype=np.intp), stack)


def checked_shape(given: Shape, d: int, where: str) -> Array:
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
    directions = np.zeros_like(V)
    np.divide(V, norms, out=directions, where=norms > 0)
    return directions
