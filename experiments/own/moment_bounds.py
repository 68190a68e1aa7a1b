"""What Chebyshev's inequality promises from the moments of the training part, to stand beside what held-out data prove."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from mmc.experiments.own.candidates import Training
from mmc.methods import ErrorRateClassifier, FitError
from mmc.words import percent


@dataclass(frozen=True)
class MomentBounds:
    """The smallest bounds of a hyperplane on the training moments.

    ``other`` is that of the class ``against`` while ``limited`` keeps ``rate``; None if no hyperplane keeps it. Then
    ``smallest`` is the least that ``limited`` can have.
    """

    limited: str
    rate: float
    against: str
    other: float | None
    smallest: float | None

    def __str__(self) -> str:
        if self.other is not None:
            return (
                f"with {percent(self.rate)} for {self.limited} a hyperplane is bounded by {percent(self.other)} for "
                f"{self.against}"
            )
        if self.smallest is None:
            return "the moments give none"
        return f"no hyperplane is bounded below {percent(self.smallest)} for {self.limited}"


def moment_bounds(training: Training, rates: Mapping[str, float]) -> MomentBounds:
    """Return the bounds for the class that is limited first."""
    limited, rate = next(iter(rates.items()))
    against = training.negative
    try:
        with np.errstate(all="ignore"):
            here = ErrorRateClassifier(pos_label=limited, ridge=0.0)
            there = ErrorRateClassifier(pos_label=against, ridge=0.0)
            other = float(here.feasible_eta_neg(training.X, training.y, [rate])[0])
            smallest = float(there.feasible_eta_neg(training.X, training.y, [1.0])[0])
    except FitError:
        return MomentBounds(limited, rate, against, None, None)
    return MomentBounds(limited, rate, against, None if np.isnan(other) else other, smallest)
