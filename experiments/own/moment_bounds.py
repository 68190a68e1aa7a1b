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
                f"where {percent(self.rate)} bounds the error of {self.limited}, at best {percent(self.other)} bounds that of "
                f"{self.against}"
            )
        if self.smallest is None:
            return "none, as the moments give no hyperplane"
        return f"none for the error of {self.limited} below {percent(self.smallest)}, with any hyperplane"


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
