"""How often `fit` warns of its bounds, over many draws of training data whose true errors are known.

A bound on the training moments *holds* in a draw if the true error of the fitted rule is at most the bound. It is *broken by far* if the
true error is more than twice the bound and more than 5 points above it. The true error is counted on new points, in blocks, until
it differs from the bound by five standard errors, or on 100,000.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import product
from math import sqrt

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

from mmc.methods import BMPM, MPM, BoundWarning, ErrorRateClassifier, FitError
from mmc.methods.estimated_moments import MomentMethod
from mmc.methods.numerics.kernels import Array

SIZES, FEATURES, DRAWS = (15, 30, 50, 100, 300), (2, 8, 20), 100
ALLOWED = 0.01  # of the draws whose bounds hold may warn
POINTS, BLOCK = 100_000, 2_000


def gaussian(rng: np.random.Generator, label: int, n: int, p: int) -> Array:
    """Return points of two Gaussian classes with different spreads, well apart."""
    X = rng.normal(size=(n, p)) * (np.linspace(0.5, 2, p) if label else 1.0)
    X[:, 0] += 2.5 * label
    return X


def skewed(rng: np.random.Generator, label: int, n: int, p: int) -> Array:
    """Return points of an exponential and of a lognormal class."""
    X = rng.lognormal(0, 0.6, size=(n, p)) if label else rng.exponential(size=(n, p))
    X[:, 0] += 1.5 * label
    return X


def weak(rng: np.random.Generator, label: int, n: int, p: int) -> Array:
    """Return points of two Gaussian classes that overlap much."""
    X = rng.normal(size=(n, p))
    X[:, 0] += label
    return X


def noise(rng: np.random.Generator, label: int, n: int, p: int) -> Array:
    """Return points of two classes that are the same."""
    return rng.normal(size=(n, p))


CLASSES: Mapping[str, Callable[[np.random.Generator, int, int, int], Array]] = {
    "Gaussian": gaussian,
    "skewed": skewed,
    "weak": weak,
    "noise": noise,
}
METHODS: Mapping[str, Callable[..., MomentMethod]] = {
    "error-rate": ErrorRateClassifier,
    "mpm": MPM,
    "bmpm": partial(BMPM, 0.2),
}
SETTINGS: Mapping[str, Mapping[str, object]] = {
    "linear, auto": {},
    "linear, 0": {"ridge": 0},
    "rbf, auto": {"kernel": "rbf"},
    "rbf, 0.001": {"kernel": "rbf", "ridge": 1e-3},
}


@dataclass(frozen=True)
class Row:
    """One situation. All counts are of draws; a draw has the bounds of two classes."""

    classes: str
    setting: str
    method: str
    n: int  # training points of each class
    p: int
    draws: int
    no_fit: int  # no certified answer, or rates that are infeasible
    holds: int  # both bounds hold
    false_alarms: int  # of these, fit warns
    twice: int  # of these, bound_check_ is more than twice a bound
    broken: int  # a bound is broken
    far: int  # a bound is broken by far
    caught: int  # of these, fit warns

    @property
    def well_posed(self) -> bool:
        """Whether the bounds hold in half of the draws or more."""
        return 2 * self.holds >= self.draws - self.no_fit > 0

    @property
    def p_value(self) -> float:
        """The probability of so many false alarms or more if 1 % is their rate."""
        return float(binom.sf(self.false_alarms - 1, self.holds, ALLOWED))


def simulate(draws: int = DRAWS, sizes: tuple[int, ...] = SIZES) -> Iterator[Row]:
    """Yield every situation."""
    for classes, setting, n, p in product(CLASSES, SETTINGS, sizes, FEATURES):
        yield from situation(classes, setting, n, p, _affordable(draws, setting, n))


def _affordable(draws: int, setting: str, n: int) -> int:
    """Return fewer draws where a fit of a kernel takes long."""
    return draws if setting.startswith("linear") else draws // (2 if n < 100 else 4 if n < 300 else 10)


def situation(classes: str, setting: str, n: int, p: int, draws: int) -> Iterator[Row]:
    """Yield what the methods make of the same draws."""
    rng = np.random.default_rng([*f"{classes} {setting} {n} {p}".encode()])
    new = tuple(CLASSES[classes](rng, label, POINTS, p) for label in (0, 1))
    y = np.repeat([0, 1], n)
    seen: dict[str, list[Array]] = {name: [] for name in METHODS}  # warned, errors, bounds and checks of both classes
    for _ in range(draws):
        X = np.vstack([CLASSES[classes](rng, label, n, p) for label in (0, 1)])
        for name, make in METHODS.items():
            model = make(**SETTINGS[setting])
            with warnings.catch_warnings(record=True) as told:
                warnings.simplefilter("always")
                try:
                    model.fit(X, y)
                except FitError:
                    continue
            true = [true_error(model, label, new[label]) for label in (0, 1)]
            warned = any(issubclass(one.category, BoundWarning) for one in told)
            seen[name].append(np.array([warned, *true, *model.worst_case_error_, *model.bound_check_]))
    for name, found in seen.items():
        alarm, true0, true1, bound0, bound1, check0, check1 = np.array(found).reshape(-1, 7).T
        alarmed, holds = alarm > 0, (true0 <= bound0) & (true1 <= bound1)
        doubled = (check0 > 2 * bound0) | (check1 > 2 * bound1)
        far = _far(true0, bound0) | _far(true1, bound1)
        yield Row(
            classes=classes,
            setting=setting,
            method=name,
            n=n,
            p=p,
            draws=draws,
            no_fit=draws - len(found),
            holds=int(holds.sum()),
            false_alarms=int((alarmed & holds).sum()),
            twice=int((doubled & holds).sum()),
            broken=int((~holds).sum()),
            far=int(far.sum()),
            caught=int((alarmed & far).sum()),
        )


def _far(true: Array, bound: Array) -> NDArray[np.bool_]:
    found: NDArray[np.bool_] = (true > 2 * bound) & (true > bound + 0.05)
    return found


def true_error(model: MomentMethod, label: int, new: Array) -> float:
    """Count the error of a class on new points, until it is clear on which side of the bound it is."""
    bound, wrong = float(model.worst_case_error_[label]), 0
    for end in range(BLOCK, len(new) + 1, BLOCK):
        wrong += int(np.sum(model.predict(new[end - BLOCK : end]) != label))
        share = wrong / end
        if abs(share - bound) > 5 * sqrt((share * (1 - share) + 1 / end) / end):
            break
    return share
