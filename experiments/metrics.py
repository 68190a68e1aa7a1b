"""What is read off per-class counts. All are percentages but the risk, which counts cost-weighted errors.

Of several classes, one against one, the counts are those of the vote.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
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

VOTED: dict[str, tuple[str, Callable[[Counts], float]]] = {
    "errors": ("number of errors", lambda c: c["wrong"]),
    "error": ("% errors", lambda c: 100 * c["wrong"] / c["n"]),
    "accuracy": ("% accuracy", lambda c: 100 - 100 * c["wrong"] / c["n"]),
    "ties": ("number of points on which several classes had most votes", lambda c: c["ties"]),
}
COUNTS = ("n_pos", "n_neg", "wrong_pos", "wrong_neg")
VOTE_COUNTS = ("n", "wrong", "ties")

# What is not averaged over folds; these depend on the machine.
OVER_FOLDS: dict[str, Callable[[list[float]], float]] = {"fit_seconds": sum, "train_seconds": sum, "gap": max}


def metric(name: str, counts: Counts, costs: Mapping[str, float]) -> float:
    """Return a metric of pooled counts."""
    return float(VOTED[name][1](counts) if "wrong" in counts else METRICS[name][1](counts, costs))


def counted(values: Sequence[Counts]) -> dict[str, int]:
    """Return the counts of several test parts together: those of the vote, or those of the two classes."""
    return {name: sum(v[name] for v in values) for name in (VOTE_COUNTS if "wrong" in values[0] else COUNTS)}


def sampling_error(name: str, counts: Counts) -> float:
    """Return the binomial standard error of k errors on n test points, √(k (1 − k/n)), in the unit of a metric."""
    if name not in ("errors", "error", "accuracy"):
        return 0.0
    k, n = counts["wrong"], counts["n"]
    return math.sqrt(k * (1 - k / n)) * (1 if name == "errors" else 100 / n)


def score(name: str, counts: Counts, costs: Mapping[str, float]) -> float:
    """Return a metric as something to minimise, for tuning."""
    value = metric(name, counts, costs)
    return -value if name.startswith("accuracy") else value
