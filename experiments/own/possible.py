"""What rates are possible: before any is asked for, from the training part alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from mmc.experiments.own.fitting import Chosen
from mmc.experiments.own.parts import MOST, USUAL, Shares, rows_needed
from mmc.methods.order_statistics import needed, rank

RATES = (0.01, 0.02, 0.05, 0.1, 0.2)


@dataclass(frozen=True)
class Possible:
    """A limit for one class, the rows of it that the promise needs, and what it leaves to the other class."""

    label: str
    rate: float
    needs: int
    rows: int
    other: str
    left: float | None  # None: too few rows
    by: str = ""


def possible(chosen: Chosen) -> Iterator[Possible]:
    """Yield what each of the usual rates would leave, by cross-validation, with the best classifier for it."""
    request, examples = chosen.request, chosen.examples
    for at, label in enumerate(examples.classes):
        n, other = examples.counts[label], examples.classes[1 - at]
        for rate in RATES:
            needs = rows_needed(rate, request.confidence, request.calibration or MOST)
            if n < needs:
                yield Possible(label, rate, needs, n, other, None)
                continue
            least = needed([rate], [0], request.confidence)[0]
            share = request.calibration or min(MOST, max(USUAL, least / n))
            size = Shares(request.test_size, share).sizes(n)[1]
            mean = rank(size, rate, request.confidence) / (size + 1)
            limits = (mean, None) if at == 0 else (None, mean)
            best = min(chosen.tried, key=lambda entry: entry.left(limits))
            yield Possible(label, rate, needs, n, other, best.left(limits), best.name)
