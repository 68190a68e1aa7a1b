"""What a table may ask of a fitted model besides its errors: named in a config under ``measures``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

THRESHOLDS = 50
CLUSTERS = 5


def band(model: Any, X: Any, y: Any, *, rho: tuple[float, float]) -> dict[str, Any]:
    """Return the numbers behind Pendse's figures, on the training points: y·g in the band, clusters, S(t).

    S(t) is the share of points with y·g ≥ t at 50 thresholds up to the largest |g| (4.2, 4.3), ``area`` its mean. With
    ``_clipped`` the same for g clipped to ±ρ2, which costs nothing: the baseline that a bounded rule must beat. The
    clusters of class +1 are the first five equal blocks of rows, the central one first.
    """
    g = model.decision_function(X)
    values: dict[str, Any] = {"max_abs": float(np.max(np.abs(g)))}
    for suffix, rule in (("", g), ("_clipped", np.clip(g, -rho[1], rho[1]))):
        margin = y * rule
        values["in_band" + suffix] = 100 * float(np.mean((margin >= rho[0] - 1e-6) & (margin <= rho[1] + 1e-6)))
        thresholds = np.linspace(0, np.max(np.abs(rule)), THRESHOLDS)
        curve = np.mean(margin[:, None] >= thresholds, axis=0)
        values["curve" + suffix] = curve.tolist()
        values["area" + suffix] = float(np.mean(curve))
    means = g[y > 0].reshape(CLUSTERS, -1).mean(axis=1)
    values |= {"centre": float(means[0]), "others": float(means[1:].mean()), "cluster_spread": float(np.std(means))}
    for name in ("alpha", "theta"):
        if hasattr(model, f"{name}_support_"):
            values[f"n_{name}"] = len(getattr(model, f"{name}_support_"))
    values.setdefault("n_alpha", len(getattr(model, "support_", ())))
    values["train_error"] = 100 * float(np.mean(y * g <= 0))
    return values


MEASURES: Mapping[str, Callable[..., dict[str, Any]]] = {"band": band}
