"""What a table may ask of a fitted model besides its errors: named in a config under ``measures``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from mmc.methods import CATALOGUE

THRESHOLDS = 50
_TIE = 1e-6  # free support vectors share one value but for rounding


def band(
    model: Any, X: Any, y: Any, *, rho: tuple[float, float], clusters: int | None = None
) -> dict[str, float | list[float]]:
    """Return the numbers behind Pendse's figures, on the training points: y·g in the band, S(t), clusters.

    S(t) is the share of points with y·g ≥ t at 50 thresholds up to the largest |g| (4.2, 4.3), ``area`` its mean. With
    ``_clipped`` the same for g clipped to ±ρ2, which costs nothing: the baseline that a bounded rule must beat.

    ``clusters`` says that class +1 comes in so many equal blocks of rows, the central one first. The spread of their
    means is given in % of the mean: a rule with smaller values is not a more balanced one.
    """
    g = model.decision_function(X)
    values: dict[str, float | list[float]] = {
        "max_abs": float(np.max(np.abs(g))),
        "train_error": 100 * float(np.mean(y * g <= 0)),
        "n_alpha": len(getattr(model, "alpha_support_", model.support_)),
    }
    if hasattr(model, "theta_support_"):
        values["n_theta"] = len(model.theta_support_)
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


def ratios(model: Any, X: Any, y: Any) -> dict[str, float]:
    """Return the quotients d_w / d_b that Gu & Guo's min-max machines minimise, (1), of a linear classifier's w.

    On the training points, by their names in the catalogue; Σ is divided by the class sizes in d_w^s, and D = 0 in d_w^d. A
    quotient is left out where d_b is not positive: w does not separate the means, or the classes (``separates``: 100 or 0).
    """
    from mmc.methods.dispersions import dispersions

    if not hasattr(model, "coef_"):
        raise ValueError("ratios: they are those of a linear classifier; use kernel: linear")
    found = dispersions(model.coef_, X, y, sizes_divide=True)
    values = {"separates": 100.0 * (found.b_m > 0)}
    for pair in dict.fromkeys(method.optimises for method in CATALOGUE.values() if method.optimises):
        if (quotient := found.ratio(pair)) > 0:
            values[pair] = quotient
    return values


def _cluster_means(g: Any, clusters: int) -> Any:
    if len(g) % clusters:
        raise ValueError(f"band: the {len(g)} training points of class +1 do not make {clusters} equal clusters")
    return g.reshape(clusters, -1).mean(axis=1)


MEASURES: Mapping[str, Callable[..., dict[str, Any]]] = {"band": band, "ratios": ratios}
