"""The moments of one class, which add up, and those of several classes by label."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import nan, sqrt
from pathlib import Path
from typing import TYPE_CHECKING, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import eigh
from sklearn.utils import check_array
from sklearn.utils.validation import column_or_1d

from mmc.methods._sklearn import checked_weights
from mmc.methods.numerics.kernels import Array
from mmc.methods.numerics.moment_files import Arrays, read_arrays, write_arrays
from mmc.methods.numerics.scatter import Index, Scatter, merged, scatter_of, triangle, two_sum

if TYPE_CHECKING:
    from mmc.methods.sources import Source

Label = str | int | float | bool
_SAVED = ("count", "mean", "low", "factor", "third", "fourth")


@dataclass(frozen=True, eq=False)
class Moments:
    """The number, mean and covariance of the rows of one class: all that five of the methods need to know of it.

    Moments of disjoint sets of rows add up: ``a + b`` are the moments of all of them, to rounding, in any order. They take
    p² numbers for p features, however many rows there are.

    Parameters
    ----------
    count : float
        The number of rows, or the sum of their weights.
    mean : ndarray of shape (p,)
        Their mean.
    factor : ndarray of shape (p, p)
        An upper triangular R with R'R = Σ (x - mean)(x - mean)'. The scatter itself is never kept, so small variances
        keep their digits.
    third : ndarray of shape (p,)
        Σ ‖x - mean‖² (x - mean); NaN if it is not known.
    fourth : float
        Σ ‖x - mean‖⁴, which a shrinkage of the covariance depends on; NaN if it is not known.
    low : ndarray of shape (p,) or None, default None
        What rounding took from ``mean``. None stands for 0.
    names : tuple of str or None, default None
        The names of the features.

    Examples
    --------
    >>> import numpy as np
    >>> from mmc import Moments
    >>> X = np.array([[1.0, 0.0], [3.0, 0.0], [2.0, 3.0]])
    >>> both = Moments.of(X[:1]) + Moments.of(X[1:])
    >>> both.count, both.mean.tolist()
    (3.0, [2.0, 1.0])
    >>> np.allclose(both.covariance, np.cov(X.T, bias=True))
    True
    >>> Moments.of(X, ["a", "a", "b"])["a"].mean.tolist()
    [2.0, 0.0]
    """

    count: float
    mean: Array
    factor: Array
    third: Array
    fourth: float
    low: Array | None = None
    names: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        mean, factor, third = (np.asarray(part, dtype=np.float64) for part in (self.mean, self.factor, self.third))
        low = np.zeros_like(mean) if self.low is None else np.asarray(self.low, dtype=np.float64)
        p = mean.size
        if mean.shape != (p,) or p == 0 or factor.shape != (p, p) or third.shape != (p,) or low.shape != (p,):
            raise ValueError(
                f"moments do not fit together: mean has the shape {mean.shape}, factor {factor.shape}, third {third.shape}"
            )
        if not (np.isfinite(mean).all() and np.isfinite(factor).all() and np.isfinite(self.count) and self.count > 0):
            raise ValueError("moments must be finite numbers, and their count positive")
        if np.tril(factor, -1).any():
            raise ValueError("the factor of moments must be upper triangular")
        if self.names is not None and len(self.names) != p:
            raise ValueError(f"moments of {p} features have {len(self.names)} names")
        for name, value in (("mean", mean), ("factor", factor), ("third", third), ("low", low)):
            object.__setattr__(self, name, value)
        object.__setattr__(self, "count", float(self.count))
        object.__setattr__(self, "fourth", float(self.fourth))

    # -- from rows ------------------------------------------------------------------------------------------
    @overload
    @classmethod
    def of(cls, X: ArrayLike, y: None = None, sample_weight: ArrayLike | None = None) -> Moments: ...

    @overload
    @classmethod
    def of(cls, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> ClassMoments: ...

    @classmethod
    def of(
        cls, X: ArrayLike, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Moments | ClassMoments:
        """Return the moments of the rows of X; with labels y, those of each class by its label.

        A row of weight w counts as w rows; one of weight 0 is left out.
        """
        names = names_of(X)
        points = check_array(X, dtype=np.float64, input_name="X")
        weight = (
            None
            if sample_weight is None
            else checked_weights(sample_weight, points, ensure_non_negative=True, dtype=np.float64)
        )
        if y is None:
            return _one(points, np.flatnonzero(np.ones(len(points)) if weight is None else weight), weight, names)
        labels = column_or_1d(y, warn=True)
        if len(labels) != len(points):
            raise ValueError(f"X has {len(points)} rows, but y has {len(labels)} labels")
        return ClassMoments.of_rows(points, labels, weight, names)

    @classmethod
    def from_covariance(
        cls, mean: ArrayLike, covariance: ArrayLike, count: float, names: Sequence[str] | None = None
    ) -> Moments:
        """Return the moments of ``count`` rows with this mean and covariance (divided by the count, not by one less)."""
        mean = np.asarray(mean, dtype=np.float64)
        S = np.asarray(covariance, dtype=np.float64)
        if mean.ndim != 1 or S.shape != (len(mean), len(mean)):
            raise ValueError(f"a mean of shape {mean.shape} needs a square covariance of its size, got {S.shape}")
        if not (np.isfinite(S).all() and np.allclose(S, S.T, rtol=1e-8, atol=0)):
            raise ValueError("a covariance is a symmetric matrix of finite numbers")
        scale = np.sqrt(np.maximum(np.diag(S), 0))
        scale[scale == 0] = 1.0
        values, vectors = eigh((S + S.T) / 2 / scale[:, None] / scale)
        if values[0] < -1e-10 * len(mean):
            raise ValueError(
                f"the covariance has a negative eigenvalue: {values[0]:.3g} after scaling to unit variances"
            )
        rows = np.sqrt(np.maximum(values, 0) * count)[:, None] * vectors.T * scale
        return cls(
            count, mean, triangle(rows), np.full(len(mean), nan), nan, names=None if names is None else tuple(names)
        )

    @classmethod
    def scan(
        cls,
        source: Source,
        *,
        target: str,
        columns: Sequence[str] | None = None,
        weight: str | None = None,
        cluster: object = None,
    ) -> ClassMoments:
        """Return the moments of each class of a table that may be larger than memory, in one pass.

        Parameters
        ----------
        source : path, list of paths, or a pandas, polars or dask DataFrame
            CSV or Parquet files, or folders of either.
        target : str
            The column of the labels.
        columns : list of str or None, default None
            The features. None takes all other columns, which must hold numbers.
        weight : str or None, default None
            The column of the weights of the rows.
        cluster : dask.distributed.Client or None, default None
            Where to work. Files, fragments of files or partitions are summed up by the workers, and merged there as a
            tree; only moments travel. None works here.
        """
        from mmc.methods.sources import scan

        found: ClassMoments = scan(source, target, columns, weight, cluster)
        return found

    # -- the parts ------------------------------------------------------------------------------------------
    @property
    def covariance(self) -> Array:
        """The covariance, divided by the count."""
        squared: Array = self.factor.T @ self.factor
        return squared / self.count

    @property
    def std(self) -> Array:
        """The standard deviation of each feature, divided by the count."""
        lengths: Array = np.linalg.norm(self.factor, axis=0)
        return lengths / sqrt(self.count)

    @property
    def rest(self) -> Array:
        """What rounding took from the mean."""
        assert self.low is not None  # since it was made
        return self.low

    def __add__(self, other: Moments) -> Moments:
        if not isinstance(other, Moments):
            return NotImplemented
        if len(self.mean) != len(other.mean):
            raise ValueError(f"moments of {len(self.mean)} and of {len(other.mean)} features do not add up")
        if None not in (self.names, other.names) and self.names != other.names:
            raise ValueError(f"moments of different features do not add up: {self.names} and {other.names}")
        sums = merged(self._scatter, other._scatter)
        return _wrapped(sums, self.names or other.names)

    def affine(self, scale: ArrayLike = 1.0, offset: ArrayLike = 0.0) -> Moments:
        """Return the moments of scale·x + offset, without another pass.

        A vector scales each feature; a matrix maps them to others. ``third`` and ``fourth`` become NaN unless all features
        are scaled alike: sums cannot tell them.
        """
        scale, offset = np.asarray(scale, dtype=np.float64), np.asarray(offset, dtype=np.float64)
        if scale.ndim == 2:
            mean, low = two_sum(scale @ self.mean, scale @ self.rest + offset)
            rows = self.factor @ scale.T
            return Moments(self.count, mean, triangle(rows), np.full(len(mean), nan), nan, low)
        mean, low = two_sum(scale * self.mean, np.broadcast_to(offset, self.mean.shape))
        mean, low = two_sum(mean, low + scale * self.rest)  # near 0 the mean holds what was its rest
        sizes = np.broadcast_to(scale, mean.shape)
        if (np.abs(sizes) == np.abs(sizes[0])).all():
            third, fourth = scale * sizes[0] ** 2 * self.third, self.fourth * float(sizes[0]) ** 4
        else:
            third, fourth = np.full(len(mean), nan), nan
        return Moments(self.count, mean, self.factor * scale, third, fourth, low, self.names)

    def renamed(self, names: Iterable[str] | None) -> Moments:
        """Return the same moments with other names of the features."""
        return replace(self, names=None if names is None else tuple(map(str, names)))

    # -- files ----------------------------------------------------------------------------------------------
    def save(self, path: str | Path) -> None:
        """Write the moments to a ``.npz`` file of plain arrays."""
        write_arrays(path, "moments", self._arrays())

    @classmethod
    def load(cls, path: str | Path) -> Moments:
        """Read what `save` wrote. Nothing in the file can run code."""
        return _read(read_arrays(path, "moments"), path)

    def _arrays(self) -> Arrays:
        arrays: Arrays = {name: np.asarray(getattr(self, name)) for name in _SAVED}
        if self.names is not None:
            arrays["names"] = np.array(self.names, dtype=np.str_)
        return arrays

    @property
    def _scatter(self) -> Scatter:
        return Scatter(self.count, self.mean, self.rest, self.factor, self.third, self.fourth)


class ClassMoments(Mapping[Label, Moments]):
    """The moments of several classes by their label. ``a + b`` adds up class by class; a class may be missing in one.

    Parameters
    ----------
    classes : mapping of label to Moments
        The moments of each class that has rows.

    Examples
    --------
    >>> from mmc import Moments
    >>> first = Moments.of([[0.0], [1.0]], ["no", "yes"])
    >>> second = Moments.of([[2.0]], ["no"])
    >>> {label: (m.count, m.mean.tolist()) for label, m in (first + second).items()}
    {'no': (2.0, [1.0]), 'yes': (1.0, [1.0])}
    """

    def __init__(self, classes: Mapping[Label, Moments]):
        if len({len(moments.mean) for moments in classes.values()}) > 1:
            raise ValueError("the classes have moments of different numbers of features")
        self._classes = {
            label: classes[label] for label in sorted(classes, key=lambda label: (str(type(label)), label))
        }

    @classmethod
    def of_rows(
        cls, X: Array, y: NDArray[np.generic], weight: Array | None, names: tuple[str, ...] | None
    ) -> ClassMoments:
        """Return the moments of rows that are finite numbers; see `Moments.of`."""
        labels, codes = np.unique(y, return_inverse=True)
        return cls.of_codes(X, codes, labels.tolist(), weight, names)

    @classmethod
    def of_codes(
        cls,
        X: Array,
        codes: NDArray[np.integer],
        labels: Sequence[Label],
        weight: Array | None,
        names: tuple[str, ...] | None,
    ) -> ClassMoments:
        """Return the moments of rows whose labels are ``labels[code]``; see `Moments.of`."""
        found = {}
        for code, label in enumerate(labels):
            rows = np.flatnonzero(codes == code if weight is None else (codes == code) & (weight > 0))
            if len(rows):
                found[label] = _one(X, rows, weight, names)
        return cls(found)

    def __getitem__(self, label: Label) -> Moments:
        return self._classes[label]

    def __iter__(self) -> Iterator[Label]:
        return iter(self._classes)

    def __len__(self) -> int:
        return len(self._classes)

    def __repr__(self) -> str:
        return f"ClassMoments({', '.join(f'{label!r}: {m.count:g} rows' for label, m in self.items())})"

    def __add__(self, other: ClassMoments) -> ClassMoments:
        if not isinstance(other, ClassMoments):
            return NotImplemented
        joined = dict(self._classes)
        for label, moments in other.items():
            joined[label] = joined[label] + moments if label in joined else moments
        return ClassMoments(joined)

    def total(self) -> Moments:
        """Return the moments of all classes together: those that a scaling of the features needs."""
        if not self:
            raise ValueError("there are no rows")
        first, *others = self.values()
        for moments in others:
            first = first + moments
        return first

    def affine(self, scale: ArrayLike = 1.0, offset: ArrayLike = 0.0) -> ClassMoments:
        """Return the moments of scale·x + offset of each class; see `Moments.affine`."""
        return ClassMoments({label: moments.affine(scale, offset) for label, moments in self.items()})

    def save(self, path: str | Path) -> None:
        """Write the moments of all classes to a ``.npz`` file of plain arrays."""
        labels = np.array(list(self._classes))
        if labels.dtype.kind not in "biufU" or labels.tolist() != list(self._classes):
            raise ValueError(f"labels of one kind can be saved, texts or numbers; these are {list(self._classes)}")
        parts: Arrays = {"labels": labels}
        for number, moments in enumerate(self.values()):
            parts |= {f"{number}.{name}": array for name, array in moments._arrays().items()}
        write_arrays(path, "moments by class", parts)

    @classmethod
    def load(cls, path: str | Path) -> ClassMoments:
        """Read what `save` wrote. Nothing in the file can run code."""
        arrays = read_arrays(path, "moments by class")
        found: dict[Label, Moments] = {}
        for number, label in enumerate(arrays.get("labels", np.array([])).tolist()):
            start = f"{number}."
            own = {name.removeprefix(start): array for name, array in arrays.items() if name.startswith(start)}
            found[label] = _read(own, path)
        return cls(found)


def tree_sum(parts: Iterable[ClassMoments]) -> ClassMoments:
    """Return the sum of all parts, merged pair by pair: each row goes through log₂ of their number of merges."""
    levels: list[ClassMoments | None] = []
    for part in parts:
        carry = part
        for i, held in enumerate(levels):
            if held is None:
                levels[i] = carry
                break
            carry, levels[i] = held + carry, None
        else:
            levels.append(carry)
    total = ClassMoments({})
    for held in levels:
        total = total if held is None else held + total
    return total


def names_of(X: object) -> tuple[str, ...] | None:
    """Return the names of the columns of a DataFrame, if all are texts."""
    names = [*getattr(X, "columns", ())]
    return tuple(names) if names and all(isinstance(name, str) for name in names) else None


def of_rows(X: Array, weight: Array | None, names: tuple[str, ...] | None) -> Moments:
    """Return the moments of all rows, whose weights are positive."""
    return _wrapped(scatter_of(X, None, weight), names)


def _one(X: Array, rows: Index, weight: Array | None, names: tuple[str, ...] | None) -> Moments:
    if not len(rows):
        raise ValueError("all weights are 0: there are no rows")
    return _wrapped(scatter_of(X, rows, weight), names)


def _wrapped(sums: Scatter, names: tuple[str, ...] | None) -> Moments:
    return Moments(sums.count, sums.mean, sums.factor, sums.third, sums.fourth, sums.low, names)


def _read(arrays: Arrays, path: str | Path) -> Moments:
    try:
        parts = {name: arrays[name].astype(np.float64, casting="safe") for name in _SAVED}
        names = arrays.get("names")
        return Moments(
            float(parts["count"]),
            parts["mean"],
            parts["factor"],
            parts["third"],
            float(parts["fourth"]),
            parts["low"],
            None if names is None else tuple(map(str, names.tolist())),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{path} is damaged: its moments are not what was saved ({error})") from None
