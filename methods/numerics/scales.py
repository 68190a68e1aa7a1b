"""Which scale or parameter is at fault where double precision does not suffice."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real

import numpy as np

from mmc.methods.numerics.kernels import Array

_FAR = 1e8  # a feature this far from 0, in units of its spread, has lost half of its digits
_UNEVEN = 1e5  # spreads of features whose squares differ by this squared
_LARGE, _SMALL = 1e6, 1e-6
_MOST, _LEAST = 1e100, 1e-100


def check_measurable(spread: Array, largest: Array) -> None:
    """Raise ValueError where squares of features, or of their differences, leave the range of double precision.

    ``spread`` and ``largest`` are how far the values of each feature are apart, and how large they are.
    """
    if largest.max() > _MOST:
        most = int(np.argmax(largest))
        raise ValueError(
            f"feature {most} has values up to {largest[most]:.2g}, whose squares overflow: divide it by a constant"
        )
    if spread.min() < _LEAST and np.any((spread > 0) & (spread < _LEAST)):
        tiny = int(np.argmin(np.where(spread > 0, spread, np.inf)))
        raise ValueError(
            f"feature {tiny} varies by {spread[tiny]:.2g} only, whose square is 0 in double precision: multiply it, or leave it out"
        )


def fault(place: Array, spread: Array, params: Mapping[str, object]) -> str:
    """Return what is most likely at fault, and what to do: a feature's place or scale, or a parameter. Empty if none stands out."""
    varies = np.flatnonzero(spread > 0)
    if not len(varies):
        return "no feature varies"
    place = place[varies]
    far = int(np.argmax(place / spread[varies]))
    least, most = varies[np.argmin(spread[varies])], varies[np.argmax(spread[varies])]
    found = []
    if spread[most] > _UNEVEN * spread[least]:
        found.append(
            f"feature {most} varies by {spread[most]:.2g}, feature {least} by {spread[least]:.2g}: standardise the features"
        )
    if place[far] > _FAR * spread[varies[far]]:
        found.append(
            f"feature {varies[far]} lies at {place[far]:.2g} and varies by {spread[varies[far]]:.2g}: too few of its digits are left"
        )
    numbers = {name: float(value) for name, value in params.items() if isinstance(value, Real) and name != "pos_label"}
    for name, value in numbers.items():
        if np.isfinite(value) and (abs(value) > _LARGE or 0 < abs(value) < _SMALL):
            found.append(f"{name}={value:.3g} is extreme: take a {'smaller' if abs(value) > 1 else 'larger'} one")
    return "; ".join(found)
