"""The three parts of a table: training, calibration and test, disjoint and with the same share of each class.

Nested: for one seed, a larger calibration part takes its rows from the training part only. So what was shown of a small
training part never showed a row of the calibration part.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil

import numpy as np
from numpy.typing import NDArray

from mmc.experiments.own.errors import RequestError, TableError
from mmc.methods.order_statistics import needed, upper_bound
from mmc.words import percent

Rows = NDArray[np.intp]
USUAL, MOST = 0.3, 0.5  # of all rows for calibration, where nobody states a share
_TRAIN, _TEST, _CALIBRATION = 10, 5, 5  # examples of each class without which a part says nothing


@dataclass(frozen=True)
class Goal:
    """What is asked: the largest error rate of each limited class, all together with this confidence."""

    rates: Mapping[str, float]
    confidence: float


@dataclass(frozen=True)
class Shares:
    """The share of all rows for the test part and for the calibration part."""

    test: float
    calibration: float

    def sizes(self, n: int) -> tuple[int, int, int]:
        """Return how many of n rows train, calibrate and test."""
        test, calibration = round(self.test * n), ceil(self.calibration * n - 1e-9)
        return n - test - calibration, calibration, test


@dataclass(frozen=True)
class Parts:
    """The rows of each part."""

    train: Rows
    calibration: Rows
    test: Rows


def shares(counts: Mapping[str, int], goal: Goal, test: float, calibration: float | None) -> Shares:
    """Return shares with which the goal can be kept; raise TableError with the number of rows that it needs.

    If no calibration share is stated, it is as large as the rates need it, within bounds. It depends on the sizes of the
    classes only, so the promise stays valid.
    """
    for name, share in (("--test-size", test), ("--calibration", calibration)):
        if share is not None and not 0 < share < 1:
            raise RequestError(f"{name} must be a share of the rows between 0 and 1, got {share:g}")
    if test + (calibration or MOST) >= 1:
        raise RequestError(
            f"--test-size {test:g} and --calibration {calibration or MOST:g} leave nothing to train on; lower one of them"
        )
    most = calibration or MOST
    least = _least(counts, goal, Shares(test, most))
    wanted = max(least[label] / counts[label] for label in counts)
    usual = min(MOST, max(USUAL, wanted)) if goal.rates else MOST  # without rates: no row that may calibrate later
    chosen = Shares(test, calibration or usual)
    for label, n in counts.items():
        if chosen.sizes(n)[1] < least[label]:
            raise TableError(_too_few(label, n, least[label], goal, Shares(test, most), stated=calibration is not None))
        enough = _enough(Shares(test, chosen.calibration))
        if n < enough:
            raise TableError(
                f"class {label!r} has {n} rows, too few to train, calibrate and test on; it needs at least {enough}"
            )
    return chosen


def split(y: NDArray[np.str_], shares: Shares, seed: int) -> Parts:
    """Return the parts; the seed decides them."""
    draw = np.random.default_rng(seed)
    found: tuple[list[Rows], list[Rows], list[Rows]] = ([], [], [])
    for label in np.unique(y):
        rows = draw.permutation(np.flatnonzero(y == label))
        train, calibration, _ = shares.sizes(len(rows))
        ends = len(rows) - train - calibration, len(rows) - train
        for part, some in zip(found, (rows[ends[1] :], rows[ends[0] : ends[1]], rows[: ends[0]]), strict=True):
            part.append(some)
    return Parts(*(np.sort(np.concatenate(part)) for part in found))


def rows_needed(rate: float, confidence: float, calibration: float) -> int:
    """Return how many rows of a class a table must have for a limit on its error."""
    return ceil(needed([rate], [0], confidence)[0] / calibration - 1e-9)


def _least(counts: Mapping[str, int], goal: Goal, most: Shares) -> dict[str, int]:
    """Return the smallest calibration sample of each class."""
    sizes = [most.sizes(counts[label])[1] for label in goal.rates]
    least = needed(list(goal.rates.values()), sizes, goal.confidence) if goal.rates else ()
    return {**dict.fromkeys(counts, _CALIBRATION), **dict(zip(goal.rates, least, strict=True))}


def _enough(shares: Shares) -> int:
    """Return the smallest class of which every part has examples."""
    n = _TRAIN + _TEST + _CALIBRATION
    while any(size < least for size, least in zip(shares.sizes(n), (_TRAIN, _CALIBRATION, _TEST), strict=True)):
        n += 1
    return n


def _too_few(label: str, n: int, least: int, goal: Goal, most: Shares, *, stated: bool) -> str:
    have = most.sizes(n)[1]
    if label not in goal.rates:
        return f"class {label!r} has {n} rows, too few to train, calibrate and test on"
    total = ceil(least / most.calibration - 1e-9)
    could = upper_bound(0, have, goal.confidence)
    others = ", or a larger --calibration" if stated and most.calibration < MOST else ""
    return (
        f"too few rows of class {label!r}: to promise {percent(goal.rates[label])} at {percent(goal.confidence)} confidence, "
        f"{least} of them must be in the calibration part, which takes {percent(most.calibration)} of the rows. It needs "
        f"{total} rows of this class; there are {n}, {total - n} too few{others}. With these rows "
        f"{percent(ceil(1000 * could) / 1000)} can be promised"
    )
