"""What a table may ask of a fitted model besides its errors: named in a config under ``measures``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Protocol

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from mmc.experiments.model import Model
from mmc.experiments.units import Params
from mmc.methods import CATALOGUE

Array = NDArray[np.float64]
Signs = NDArray[np.intp]
Measured = dict[str, float | list[float]]
THRESHOLDS = 50
_TIE = 1e-6  # free support vectors share one value but for rounding


class Rule(Protocol):
    """A fitted classifier."""

    def decision_function(self, X: Array) -> Array: ...


class BandOptions(Model):
    """``rho`` are the ends of the band; ``clusters`` says in how many equal blocks of rows class +1 comes."""

    rho: tuple[float, float]
    clusters: Annotated[int, Field(ge=2)] | None = None


class NoOptions(Model):
    """A measure without options."""


def band(model: Rule, X: Array, y: Signs, *, rho: tuple[float, float], clusters: int | None = None) -> Measured:
    """Return the numbers behind Pendse's figures, on the training points: y·g in the band, S(t), clusters.

    S(t) is the share of points with y·g ≥ t at 50 thresholds up to the largest |g| (4.2, 4.3), ``area`` its mean. With
    ``_clipped`` the same for g clipped to ±ρ2, which costs nothing: the baseline that a bounded rule must beat.

    ``clusters`` says that class +1 comes in so many equal blocks of rows, the central one first. The spread of their
    means is given in % of the mean: a rule with smaller values is not a more balanced one.
    """
    g = model.decision_function(X)
    values: Measured = {"max_abs": float(np.max(np.abs(g))), "train_error": 100 * float(np.mean(y * g <= 0))}
    support = getattr(model, "alpha_support_", getattr(model, "support_", None))
    for name, found in (("n_alpha", support), ("n_theta", getattr(model, "theta_support_", None))):
        if found is not None:
            values[name] = len(found)
    for suffix, rule in (("", g), ("_clipped", np.clip(g, -rho[1], rho[1]))):
        margin = y * rule
        values["in_band" + suffix] = 100 * float(np.mean((margin >= rho[0] - _TIE) & (margin <= rho[1] + _TIE)))
        thresholds = np.linspace(0, np.max(np.abs(rule)), THRESHOLDS)
        curve = np.mean(margin[:, None] >= thresholds - _TIE, axis=0)
        values["curve" + suffix] = curve.tolist()
        values["area" + suffix] = float(np.mean(curve))
        if clusters is not None:
            means = _cluster_means(rule[y > 0], clusters)
            values["centre" + suffix] = float(means[0])
            values["others" + suffix] = float(np.mean(means[1:]))
            values["cluster_spread" + suffix] = 100 * float(np.std(means) / np.mean(means))
    return values


def ratios(model: Rule, X: Array, y: Signs) -> Measured:
    """Return the quotients d_w / d_b that Gu & Guo's min-max machines minimise, (1), of a linear classifier's w.

    On the training points, by their names in the catalogue; Σ is divided by the class sizes in d_w^s, and D = 0 in d_w^d. A
    quotient is left out where d_b is not positive: w does not separate the means, or the classes (``separates``: 100 or 0).
    """
    from mmc.methods.dispersions import dispersions

    if not hasattr(model, "coef_"):
        raise ValueError("ratios: they are those of a linear classifier; use kernel: linear")
    found = dispersions(model.coef_, X, y.astype(float), sizes_divide=True)
    values: Measured = {"separates": 100.0 * (found.b_m > 0)}
    for pair in _quotients():
        if (quotient := found.ratio(pair)) > 0:
            values[pair] = quotient
    return values


def _quotients() -> list[str]:
    return list(dict.fromkeys(method.optimises for method in CATALOGUE.values() if method.optimises))


def _cluster_means(g: Array, clusters: int) -> Array:
    if len(g) % clusters:
        raise ValueError(f"band: the {len(g)} training points of class +1 do not make {clusters} equal clusters")
    means: Array = g.reshape(clusters, -1).mean(axis=1)
    return means


@dataclass(frozen=True)
class Measure:
    """A measure: its function, the options that a config may give it, and the names of the numbers that it yields."""

    of: Callable[..., Measured]
    options: type[Model]
    facts: tuple[str, ...]
    linear: bool = False  # it is about the weights of a linear classifier

    def __call__(self, model: Rule, X: Array, y: Signs, given: Params) -> Measured:
        return self.of(model, X, y, **self.options.model_validate(given).model_dump())


_OF_RULE = ("in_band", "area", "centre", "others", "cluster_spread")
_OF_BAND = ("max_abs", "train_error", "n_alpha", "n_theta", *_OF_RULE, *(f"{name}_clipped" for name in _OF_RULE))
MEASURES: Mapping[str, Measure] = {
    "band": Measure(band, BandOptions, _OF_BAND),
    "ratios": Measure(ratios, NoOptions, ("separates", *_quotients()), linear=True),
}
