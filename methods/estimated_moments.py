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
from mmc.methods.from_moments import FromMoments
from mmc.methods.numerics.kernels import Array
from mmc.methods.numerics.shrinkage import Spread, ledoit_wolf_pair
from mmc.methods.solution import BoundWarning

Pair = tuple[float, float]  # of the positive and of the negative class
PerClass = float | Sequence[float]

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

    def _by_class(self, pair: Pair) -> Array:
        """Return numbers of the positive and the negative class in the order of ``classes_``."""
        return np.array(pair[:: -int(self._flip)])

    def _examine(self, held_out: Pair) -> None:
        """Keep what left-out points say of the bounds, and warn where a bound is far below it."""
        self.bound_check_ = self._by_class(held_out)
        for label, bound, worth in zip(self.classes_, self.worst_case_error_, self.bound_check_, strict=True):
            if far_below(bound, worth):
                more = "a larger ridge than its own" if self.ridge == "auto" else 'ridge="auto" or a larger one'
                warnings.warn(
                    f"the bound on the training moments for class {str(label)!r}, {bound:.2g}, is far below what left-out "
                    f"points say, {worth:.2g}: take {more}, fewer features or a wider kernel, or RateGuarantee, which "
                    "needs no moments",
                    BoundWarning,
                    stacklevel=4,
                )


def far_below(bound: float, worth: float) -> bool:
    """Whether a bound is far below what left-out points say it is worth."""
    return bool(bound < worth / 2)


def cantelli(side: float, spread: float, nu: float = 0.0) -> float:
    """Return the largest probability of the wrong side for a mean that lies ``side`` on the right one.

    The mean may be off by ``nu`` times the spread.
    """
    side -= nu * spread
    return spread**2 / (spread**2 + side**2) if side > 0 else 1.0


def _pair(name: str, value: PerClass) -> Pair:
    if isinstance(value, Real):
        return float(value), float(value)
    numbers = [float(x) for x in cast("Sequence[float]", value)]
    if len(numbers) != 2 or not all(0 <= x < np.inf for x in numbers):
        raise ValueError(f"{name} is a number ≥ 0, or two: of the positive and of the negative class; not {value!r}")
    return numbers[0], numbers[1]
