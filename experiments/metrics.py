"""What is read off per-class counts. All are percentages but the risk, which counts cost-weighted errors."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

Counts = Mapping[str, Any]

METRICS: dict[str, tuple[str, Callable[[Counts, Mapping[str, float]], float]]] = {
    "error_pos": ("% errors of the positive class", lambda c, _: 100 * c["wrong_pos"] / c["n_pos"]),
    "error_neg": ("% errors of the negative class", lambda c, _: 100 * c["wrong_neg"] / c["n_neg"]),
    "error": ("% errors", lambda c, _: 100 * (c["wrong_pos"] + c["wrong_neg"]) / (c["n_pos"] + c["n_neg"])),
    "accuracy_pos": ("% accuracy of the positive class", lambda c, _: 100 - 100 * c["wrong_pos"] / c["n_pos"]),
    "accuracy_neg": ("% accuracy of the negative class", lambda c, _: 100 - 100 * c["wrong_neg"] / c["n_neg"]),
    "accuracy": (
        "% accuracy",
        lambda c, _: 100 - 100 * (c["wrong_pos"] + c["wrong_neg"]) / (c["n_pos"] + c["n_neg"]),
    ),
    "risk": (
        "cost-weighted number of errors",
        lambda c, costs: costs.get("pos", 1) * c["wrong_pos"] + costs.get("neg", 1) * c["wrong_neg"],
    ),
}


def metric(name: str, counts: Counts, costs: Mapping[str, float]) -> float:
    """Return a metric of pooled counts."""
    return float(METRICS[name][1](counts, costs))


def score(name: str, counts: Counts, costs: Mapping[str, float]) -> float:
    """Return a metric as something to minimise, for tuning."""
    value = metric(name, counts, costs)
    return -value if name.startswith("accuracy") else value
