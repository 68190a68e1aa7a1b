"""A validated training set, and what is made of it once: Gram matrices, moments, lengths."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from mmc.methods.numerics.cross import Cross
from mmc.methods.numerics.gram import WHOLE, Index, LazyGram
from mmc.methods.numerics.kernels import Array, KernelSpec
from mmc.methods.numerics.memory import require
from mmc.methods.numerics.pair_moments import PairMoments
from mmc.methods.numerics.scales import check_measurable
from mmc.methods.numerics.workspace import Workspace

_SOME = 2000  # points on which a function is seen to be a kernel, if there are too many
COPIES = 3  # of a Gram matrix that a solver for the whole of it holds at once
_SMALL = 2**16  # numbers whose copy costs less than it saves
FEWER = (
    "take a solver that makes rows when it needs them ('libsvm', 'interior-point', 'column-generation'), a number > 0 as ridge for "
    "ErrorRateClassifier, MPM or BMPM, fewer rows, or sklearn.kernel_approximation.Nystroem in front of kernel='linear'"
)


@dataclass(frozen=True)
class Training:
    """A validated training set: ``sign`` is +1 for the positive class and -1 for the other.

    X counts from ``origin``, because far from 0 a kernel loses its digits, and ``given`` is X as the caller gave it. Both
    are None for a set that was not moved.
    """

    X: Array
    sign: Array
    work: Workspace = field(default_factory=Workspace, compare=False)
    extra: Mapping[str, object] = field(default_factory=dict, compare=False)
    origin: Array | None = None
    given: Array | None = None
    weight: Array | None = field(default=None, compare=False)
    pair: PairMoments | None = field(default=None, compare=False)  # the moments, if there are no rows
    widths: set[float | None] = field(default_factory=set, compare=False)  # of the kernels that it is seen by

    def seen_by(self, spec: KernelSpec) -> Training:
        """Return the set as methods see it with this kernel: moved to 0, if it is far away and the kernel lets it be moved."""
        moved = self.work.once("near 0", self._near_zero)
        seen = self if moved is None or not spec.movable else moved  # kept in its own work, self would be freed late
        seen.widths.add(spec.gamma)
        return seen

    def _near_zero(self) -> Training | None:
        """Subtract the mean of every feature that is farther from 0 than its values are from each other; None if none is."""
        if self.pair is not None:
            origin, moved = self.pair.near_zero()
            return Training(self.X, self.sign, extra=self.extra, origin=origin, given=self.X, pair=moved)
        low, high = self.extents()
        spread, largest = high - low, np.maximum(high, -low)
        check_measurable(spread, largest)
        far = largest > 2 * spread
        if not far.any():
            return None
        origin = np.where(far, np.where(low == high, low, self.X.mean(axis=0)), 0.0)  # what is constant becomes 0
        return Training(self.X - origin, self.sign, extra=self.extra, origin=origin, given=self.X, weight=self.weight)

    def extents(self, compiled: bool = False) -> tuple[Array, Array]:
        """Return the smallest and the largest value of every feature, made once; ``compiled`` is for who has loaded numba anyway."""
        return self.work.once("extents", lambda: _extents_compiled(self.X) if compiled else _extents(self.X))

    def stored(self, points: Array) -> Array:
        """Return points as they are seen from the origin after they were stored where the given X lies."""
        return points if self.origin is None else (points + self.origin) - self.origin

    def gram(self, spec: KernelSpec) -> Array:
        """Return the Gram matrix of the training points, made once per kernel. Do not write into it."""
        return self.work.once(("gram", spec), lambda: self._gram(spec))

    def _gram(self, spec: KernelSpec) -> Array:
        n = len(self.X)
        require(COPIES * 8 * n**2, f"the Gram matrix of {n:,} points, with what the solver makes of it,", FEWER)
        if spec.kernel != "rbf" or len(self.widths) < 2:
            K = spec(self.X, self.X)
        else:  # Gaussians of several widths share their products
            products: Array = self.work.once("products", lambda: KernelSpec("linear")(self.X, self.X))
            K = spec.of_products(self.X, self.X, products)
        if not spec.movable:  # these have no large numbers here
            spec.check_finite(K)
        return K

    def check_definite(self, spec: KernelSpec) -> None:
        """Raise FitError if the kernel is not positive semi-definite on the training points; looked at once per kernel.

        Of a function with too many points for a whole Gram matrix, some of the points must do.
        """

        def look() -> None:
            if callable(spec.kernel) and 8 * len(self.X) ** 2 > WHOLE:
                some = self.X[:: 1 + len(self.X) // _SOME]
                spec.check_definite(spec(some, some))
            else:
                spec.check_definite(self.gram(spec))

        self.work.once(("definite", spec), look)

    def average(self) -> Array:
        """Return two columns of weights that average over the positive and over the negative class, made once."""
        return self.work.once("average", self._average)

    def _average(self) -> Array:
        average, positive = np.empty((2, len(self.sign))), self.sign > 0
        for side, row in zip((positive, ~positive), average, strict=True):
            if self.weight is None:
                np.multiply(side, 1 / np.count_nonzero(side), out=row)
            else:
                np.multiply(side, self.weight, out=row)
                row /= row.sum()
        return average.T

    def product(self, spec: KernelSpec, dual: Array) -> Array:
        """Return Σ_j dual_j k(x_j, x_i) for every training point."""
        gram: Array | None = self.work.known(("gram", spec))
        K = self.kernel(spec) if gram is None else gram
        if isinstance(K, LazyGram) and dual.all():  # all rows, once: none is worth keeping
            return (K @ dual[:, None])[:, 0]
        return K @ dual

    def scales(self) -> tuple[Array, Array]:
        """Return where every feature lies, and how far its values spread."""
        if self.pair is None:
            place, spread = self.X.mean(axis=0), self.X.std(axis=0)
        else:
            place, spread = self.pair.mean_pos, np.sqrt(np.einsum("ij,ij->j", self.pair.rows, self.pair.rows))
        return np.abs(place if self.origin is None else place + self.origin), spread

    def lengths(self, spec: KernelSpec) -> Array:
        """Return ‖x‖ in feature space for every training point, made once per kernel."""
        return self.work.once(("lengths", spec), lambda: spec.lengths(self.X))

    def moments(self) -> PairMoments:
        """Return the moments of the points themselves, made once."""
        if self.pair is not None:
            return self.pair
        return self.work.once("moments", lambda: PairMoments.of(self.X, self.sign > 0, self.weight))

    @property
    def rows_alike(self) -> bool:
        """Whether there are rows, and all count the same: then each can be left out."""
        return self.pair is None and self.weight is None

    @property
    def counts(self) -> tuple[float, float]:
        """The number of rows of both classes, or the sums of their weights."""
        weight = np.ones(len(self.sign)) if self.weight is None else self.weight
        return float(weight[self.sign > 0].sum()), float(weight[self.sign < 0].sum())

    def kernel(self, spec: KernelSpec) -> Array | LazyGram:
        """Return the Gram matrix, or a stand-in that makes rows on demand if it is too large for memory."""
        if 8 * len(self.X) ** 2 <= WHOLE or spec.kernel == "precomputed":
            return self.gram(spec)
        return self.work.once(("large gram", spec), lambda: LazyGram(spec, self.X))

    def cross(self, spec: KernelSpec, X: Array, points: Index) -> Array | None:
        """Return the kernel between some training points and X, as it was given; for the same array X each row is made once per kernel.

        None if it is too large to be kept. Gaussians of several widths share their products.
        """
        shape = len(self.X), len(X)
        if 8 * shape[0] * shape[1] > WHOLE:
            return None
        there = self.work.once(("moved", id(X)), lambda: X if self.origin is None else X - self.origin)

        def products(some: Index) -> Array:
            return KernelSpec("linear")(self.X[some], there)

        def make(some: Index) -> Array:
            if spec.kernel != "rbf" or len(self.widths) < 2:
                return spec(there, self.X[some]).T
            shared = self.work.once(("cross products", id(X)), lambda: Cross(shape))
            return spec.of_products(self.X[some], there, shared.rows(some, products))

        return self.work.once(("cross", spec, id(X)), lambda: Cross(shape)).rows(points, make)


def _extents(X: Array) -> tuple[Array, Array]:
    columns = X.T if X.size > _SMALL else X.T.copy()  # numpy is slow where rows are short
    return columns.min(axis=1), columns.max(axis=1)


def _extents_compiled(X: Array) -> tuple[Array, Array]:
    from mmc.methods.numerics.row_passes import extents  # compiled: not every method needs it

    return extents(X)
