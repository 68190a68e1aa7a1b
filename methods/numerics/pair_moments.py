"""Means and covariances of the two classes, divided by the class sizes m_i as the papers do."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from mmc.methods.numerics.kernels import Array
from mmc.methods.numerics.moments import Moments
from mmc.methods.numerics.shrinkage import Spread

Sums = tuple[float, float, float]
_EPS = float(np.finfo(float).eps)
_FEW = 2**20  # numbers, 8 MiB, up to which a copy of the rows, column by column, is worth its memory


@dataclass(frozen=True)
class PairMoments:
    """First and second moments: the rows are (x_j - mean)/√m_i, so that cov = rows'rows of a class.

    The first ``split`` rows are those of the positive class. ``counts`` are the sizes m_i of the classes, or the sums of their
    weights. If only ``given`` moments are known, the rows are their factors.
    """

    mean_pos: Array
    mean_neg: Array
    rows: Array
    split: int
    counts: tuple[float, float]
    roots: Array | None = None  # √(w_j / Σw), if rows have weights
    given: tuple[Moments, Moments] | None = None

    @classmethod
    def of(cls, X: Array, positive: NDArray[np.bool_], weight: Array | None = None) -> PairMoments:
        """Return the moments of the rows of X; ``positive`` marks those of the positive class, weights are positive."""
        if weight is None and X.size <= _FEW:
            from mmc.methods.numerics.row_passes import summed_up  # compiled: not every method needs it

            (mean_pos, mean_neg), rows, split, difference, member, S, sums = summed_up(X, positive)
            found = cls(mean_pos, mean_neg, rows, split, (split, len(X) - split))
            vars(found).update(difference=difference, member=member)  # what the same pass has found
            if len(S):
                vars(found).update(plain_covariances=S, sums=sums)
            return found
        first = np.flatnonzero(positive)
        order, split = np.concatenate([first, np.flatnonzero(~positive)]), len(first)
        rows, roots = X.take(order, axis=0), np.ones(len(X)) if weight is None else np.sqrt(weight[order])
        means: list[Array] = []
        counts: list[float] = []
        for at in (slice(None, split), slice(split, None)):
            counts.append(float(roots[at] @ roots[at]))
            roots[at] /= sqrt(counts[-1])
            means.append((roots[at] ** 2) @ rows[at])
            rows[at] -= means[-1]
            rows[at] *= roots[at][:, None]
        if weight is None:
            return cls(means[0], means[1], rows, split, (split, len(X) - split))
        return cls(means[0], means[1], rows, split, (counts[0], counts[1]), roots)

    @classmethod
    def given_as(cls, pos: Moments, neg: Moments) -> PairMoments:
        """Return what the moments of the two classes tell without their rows."""
        rows = np.vstack([pos.factor / sqrt(pos.count), neg.factor / sqrt(neg.count)])
        split = len(pos.factor)
        return cls(pos.mean, neg.mean, rows, split, (pos.count, neg.count), given=(pos, neg))

    def summed_up(self) -> tuple[Moments, Moments]:
        """Return the moments of each class without the rows."""
        if self.given is not None:
            return self.given
        found = []
        for at, mean, count in zip(
            (slice(None, self.split), slice(self.split, None)), (self.mean_pos, self.mean_neg), self.counts, strict=True
        ):
            roots = None if self.roots is None else self.roots[at]
            rows = self.rows[at] * sqrt(count) if roots is None else self.rows[at] / roots[:, None]
            weight = None if roots is None else roots**2 * count
            found.append(Moments.of(rows, sample_weight=weight).affine(offset=mean))
        return found[0], found[1]

    def near_zero(self) -> tuple[Array, PairMoments]:
        """Return a point between the means of given moments, and the moments as they are seen from there."""
        assert self.given is not None
        origin = self.mean_neg + (self.mean_pos - self.mean_neg) / 2
        return origin, PairMoments.given_as(*(moments.affine(offset=-origin) for moments in self.given))

    @cached_property
    def member(self) -> Array:
        """Marks in its columns the rows of the positive class, and of the negative one."""
        member = np.zeros((len(self.rows), 2))
        member[: self.split, 0] = member[self.split :, 1] = 1.0
        return member

    @cached_property
    def difference(self) -> Array:
        """The difference of the means, with what rounding took from given ones."""
        d = self.mean_pos - self.mean_neg
        return d if self.given is None else d + (self.given[0].rest - self.given[1].rest)

    def seen_along(self, w: Array) -> tuple[tuple[float, float], tuple[float, float]]:
        """Return w'x at the means of both classes, with what rounding took from given ones, and its variances."""
        means = np.vstack([self.mean_pos, self.mean_neg])
        if self.given is not None:
            means += [moments.rest for moments in self.given]
        along = self.rows @ w
        (first, second), (pos, neg) = (means @ w).tolist(), (along * along @ self.member).tolist()
        return (first, second), (pos, neg)

    @property
    def lengths(self) -> Array:
        """The root mean square of ‖x‖ in both classes."""
        squares = np.einsum("ij,ij->i", self.rows, self.rows) @ self.member
        squares += np.einsum("ij,ij->i", *2 * (np.vstack([self.mean_pos, self.mean_neg]),))
        lengths: Array = np.sqrt(squares)
        return lengths

    def same_means(self, sign: Array, seen: Array) -> bool:
        """Whether the means of ``seen``, the points or their kernel values, differ by rounding only."""
        if self.given is not None:
            spread = np.sqrt(np.einsum("ij,ij->j", self.rows, self.rows))
            return bool(np.all(np.abs(self.difference) <= 16 * _EPS * spread))
        if self.roots is None:
            mean = sign / np.where(sign > 0, *self.counts)
        else:
            mean = np.empty(len(sign))
            mean[np.argsort(sign < 0, kind="stable")] = self.roots**2
            mean *= sign
        return bool(np.all(np.abs(mean @ seen) <= len(seen) * _EPS * np.abs(seen).max(axis=0)))

    @cached_property
    def spreads(self) -> tuple[Spread, Spread]:
        """What a shrinkage asks of the two classes."""
        if self.given is not None:
            pos, neg = (_spread(moments) for moments in self.given)
            return pos, neg
        p, n, m = self.rows.shape[1], self.split, len(self.rows) - self.split
        if p > min(n, m):
            pos, neg = Spread.of(self.rows[:n]), Spread.of(self.rows[n:])
        else:
            (trace, trace2, fourth), (other, other2, other4) = self.sums
            pos, neg = Spread(n, p, trace, trace2, n * n * fourth), Spread(m, p, other, other2, m * m * other4)
        if self.roots is None:
            return pos, neg
        norms = np.einsum("ij,ij->i", self.rows, self.rows) / self.roots  # ‖x - μ‖²·√share
        fourth = (norms**2) @ self.member
        return (
            pos._replace(n=self.counts[0], fourth=self.counts[0] * float(fourth[0])),
            neg._replace(n=self.counts[1], fourth=self.counts[1] * float(fourth[1])),
        )

    @cached_property
    def sums(self) -> tuple[Sums, Sums]:
        """Σ‖x‖², Σ S_ij² and Σ‖x‖⁴ of the rows x of either class and their S = rows'rows."""
        if self.rows.size <= _FEW:
            from mmc.methods.numerics.row_passes import spread_sums, turned  # compiled: not every method needs it

            return spread_sums(turned(self.rows), self.split, self.plain_covariances)
        pos, neg = (_sums(rows, S) for rows, S in zip(self._parts, self.plain_covariances, strict=True))
        return pos, neg

    def covariances(self, shrinkage: tuple[float, float], ridge: tuple[float, float]) -> Array:
        """Return both covariances as one array, times 1 - shrinkage_i, with ridge_i on the diagonal."""
        from mmc.methods.numerics.row_passes import regularised  # compiled: not every method needs it

        return regularised(self.plain_covariances, (1 - shrinkage[0], 1 - shrinkage[1]), ridge)

    @cached_property
    def plain_covariances(self) -> Array:
        """The covariances of both classes, as one array."""
        if self.rows.size <= _FEW:
            from mmc.methods.numerics.row_passes import scatters, turned  # compiled: not every method needs it

            return scatters(turned(self.rows), self.split)
        return np.array([rows.T @ rows for rows in self._parts])

    @property
    def _parts(self) -> tuple[Array, Array]:
        """The rows of either class."""
        return self.rows[: self.split], self.rows[self.split :]

    @property
    def cov_pos(self) -> Array:
        """The covariance of the positive class."""
        S: Array = self.plain_covariances[0]
        return S

    @property
    def cov_neg(self) -> Array:
        """The covariance of the negative class."""
        S: Array = self.plain_covariances[1]
        return S


def _spread(m: Moments) -> Spread:
    """Return it from sums alone. Raise ValueError if the fourth one is not known."""
    if np.isnan(m.fourth):
        raise ValueError(
            "ridge='auto' depends on Σ‖x - mean‖⁴, which these moments do not have: they were made from a covariance, or "
            "their features were scaled. State the ridge as a number"
        )
    S = m.factor @ m.factor.T  # tr S² is that of R'R
    n, p = m.count, len(m.mean)
    return Spread(n, p, float(np.trace(S)) / n, float(np.vdot(S, S)) / n**2, m.fourth)


def _sums(rows: Array, S: Array) -> Sums:
    squares = np.einsum("ij,ij->i", rows, rows)
    return float(squares.sum()), float(np.vdot(S, S)), float(squares @ squares)
