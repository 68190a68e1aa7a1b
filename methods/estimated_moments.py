"""What the methods that bound errors by moments share: the moments are estimates, and this is how they are made safer.

``ridge="auto"`` shrinks the covariance of each class by the rule of Ledoit and Wolf; ``mean_uncertainty`` ν and
``covariance_uncertainty`` ρ are those of Lanckriet et al. (2003): the bound then holds for every mean μ with
(μ - μ̂)'Σ⁻¹(μ - μ̂) ≤ ν² and every covariance Σ with ‖Σ - Σ̂‖ ≤ ρ (Frobenius). κ grows by ν and Σ by ρI.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import ClassVar, cast

import numpy as np

from mmc.methods._sklearn import Interval, StrOptions
from mmc.methods.base import Fitted, Training
from mmc.methods.from_moments import FromMoments
from mmc.methods.numerics.gram import LazyGram
from mmc.methods.numerics.kernels import Array
from mmc.methods.numerics.large_moments import LargeMoments
from mmc.methods.numerics.left_out import Held
from mmc.methods.numerics.shrinkage import Spread, ledoit_wolf_pair
from mmc.methods.problems.delivered import Delivered, OnMoments
from mmc.methods.problems.large_geometry import LargeGeometry
from mmc.methods.solution import BoundWarning

Pair = tuple[float, float]  # of the positive and of the negative class
PerClass = float | Sequence[float]

MANY = 2000  # points: decomposing the Gram matrix of more takes longer than passes over it
_NUMBER = Interval(Real, 0, None, closed="left")


@dataclass(frozen=True)
class Regular:
    """How the covariances were changed: (1 - shrinkage_i) Σ_i + ridge_i I."""

    shrinkage: Pair
    ridge: Pair


class MomentMethod(FromMoments):
    """A method whose bounds rest on estimated moments."""

    ridge: float | str | None
    mean_uncertainty: PerClass
    covariance_uncertainty: PerClass

    ridge_: Array
    shrinkage_: Array
    bound_check_: Array

    _parameter_constraints: ClassVar[dict[str, list[object]]] = {
        **FromMoments._parameter_constraints,
        "ridge": [_NUMBER, StrOptions({"auto"})],
        "mean_uncertainty": [_NUMBER, "array-like"],
        "covariance_uncertainty": [_NUMBER, "array-like"],
    }

    def _validate_params(self) -> None:
        super()._validate_params()
        for name in ("mean_uncertainty", "covariance_uncertainty"):
            _pair(name, getattr(self, name))

    @property
    def _nu(self) -> Pair:
        return _pair("mean_uncertainty", self.mean_uncertainty)

    @property
    def _rho(self) -> Pair:
        return _pair("covariance_uncertainty", self.covariance_uncertainty)

    def _regular(self, spreads: Callable[[], tuple[Spread, Spread]]) -> Regular:
        """Return the shrinkage and the ridge of both classes; ``spreads`` is asked only where the rule needs it."""
        if isinstance(self.ridge, str):
            pos, neg = ledoit_wolf_pair(*spreads())
            return Regular((pos.shrinkage, neg.shrinkage), (pos.ridge, neg.ridge))
        assert self.ridge is not None
        return Regular((0.0, 0.0), (float(self.ridge), float(self.ridge)))

    def _total(self, regular: Regular) -> Pair:
        """Return what is added to the diagonal of either covariance."""
        more = self._rho
        return regular.ridge[0] + more[0], regular.ridge[1] + more[1]

    def _without_gram(self, train: Training) -> tuple[LargeGeometry, Regular] | None:
        """Return the ellipsoids of a Gram matrix that is too large to be decomposed.

        None where it is not, and where the whole matrix is needed: for a rank that landmarks do not show, or without ridges.
        """
        spec, ridge = self._kernel, self.ridge
        auto = isinstance(ridge, str)
        if len(train.X) <= MANY or spec.kernel == "precomputed" or ridge is None:
            return None
        if not isinstance(ridge, str) and ridge + min(self._rho) == 0:
            return None

        def make() -> LargeMoments | None:  # landmarks that are of no use are not kept
            found = LargeMoments.of(LazyGram(spec, train.X), train.sign > 0, train.weight)
            return None if auto and found.rank is None else found

        m = train.work.once(("large moments", spec, auto), make)
        if m is None:
            return None
        key = ("large geometry", spec, self.ridge, self._rho)
        geometry, regular = train.work.once(key, lambda: self._large_geometry(m, train.counts))
        return (geometry, regular) if min(geometry.ridge) > 0 else None

    def _large_geometry(self, m: LargeMoments, counts: Pair) -> tuple[LargeGeometry, Regular]:
        regular = self._regular(lambda: m.spreads(counts))
        ridge, (pos, neg) = self._total(regular), regular.shrinkage
        member = (m.average > 0).astype(float)
        return LargeGeometry(member, ridge, m.K, m.average, m.means, (1 - pos, 1 - neg), m.factor), regular

    def _delivered(self, fitted: Fitted, space: Training) -> Delivered:
        """Return a linear rule as its moments on the rows, which one pass finds: no judge here asks for more."""
        if fitted.coef is None or not space.rows_alike:
            return super()._delivered(fitted, space)
        from mmc.methods.numerics.row_passes import seen_along  # compiled: not every method needs it

        along, within, longest = seen_along(space.X, space.sign, fitted.coef)
        return OnMoments.of(fitted.coef, fitted.intercept, along, within, longest)

    def _by_class(self, pair: Pair) -> Array:
        """Return numbers of the positive and the negative class in the order of ``classes_``."""
        return np.array(pair[:: -int(self._flip)])

    def _examine(self, held_out: tuple[Held, Held]) -> None:
        """Keep what left-out points make of the bounds, and warn where they refute one."""
        pos, neg = held_out
        self.bound_check_ = self._by_class((pos.bound, neg.bound))
        refuted = self._by_class((pos.refuted_below, neg.refuted_below))
        for label, bound, least, worth in zip(
            self.classes_, self.worst_case_error_.tolist(), refuted.tolist(), self.bound_check_.tolist(), strict=True
        ):
            if bound < least:
                more = "a larger ridge than its own" if self.ridge == "auto" else 'ridge="auto" or a larger one'
                warnings.warn(
                    f"the bound on the training moments for class {str(label)!r}, {bound:.2g}, is refuted by left-out points: "
                    f"their moments bound the error by {worth:.2g}, and a Gaussian class with these moments has one above "
                    f"{least:.2g}. Take {more}, fewer features or a wider kernel, or RateGuarantee, which needs no moments",
                    BoundWarning,
                    stacklevel=4,
                )


def _pair(name: str, value: PerClass) -> Pair:
    if isinstance(value, (float, Real)):  # the abstract class is slow to ask
        return float(value), float(value)
    numbers = [float(x) for x in cast("Sequence[float]", value)]
    if len(numbers) != 2 or not all(0 <= x < np.inf for x in numbers):
        raise ValueError(f"{name} is a number ≥ 0, or two: of the positive and of the negative class; not {value!r}")
    return numbers[0], numbers[1]
