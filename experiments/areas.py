"""The test of a data set of knowledge sets alone: the share of their area on the wrong side of a boundary.

The set E = {x̄ + Σ^{1/2} u : ‖u‖ ≤ 1} has √det Σ times the volume of the unit ball; sets that overlap each count in full.
A hyperplane cuts it as it cuts the ball, so that the share of E where ⟨w, x⟩ + b < 0 is exact, for d coordinates

    P(u₁ < −t) = ½ I(1 − t²; (d+1)/2, ½) for t ≥ 0,   t = (⟨w, x̄⟩ + b) / √⟨Σw, w⟩,

with the regularised incomplete beta function I; for a circle it is a circular segment, (arccos t − t√(1−t²)) / π.
For any other boundary it is estimated with SAMPLE points, uniform over the sets and dealt to them by area. The standard
error, in percentage points, is recorded as ``error_se``; it takes (k + 1) / (n + 2) for a set's share k / n, so that a
sample without errors still has a positive standard error.

The counts are those of SAMPLE points: what the exact shares would make of them on average, or the sample's.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from mmc.datasets.dataset import Shape
from mmc.experiments.records import Counts

Array = NDArray[np.float64]
Signs = NDArray[np.intp]
Shapes = Sequence[Shape]
SAMPLE = 100_000


class Rule(Protocol):
    """A fitted classifier. A linear one has ``coef_`` and ``intercept_`` too."""

    def decision_function(self, X: Array) -> Array: ...


def wrong_area(model: Rule, X: Array, y: Signs, shapes: Shapes, seed: int) -> tuple[Counts, dict[str, float]]:
    """Return the counts of each class and ``error_se`` for a fitted model and sets around X with labels ±1."""
    share = volumes(shapes, X.shape[1])
    share /= share.sum()
    if hasattr(model, "coef_") and hasattr(model, "intercept_"):
        wrong, variance = _cut(X, y, shapes, model.coef_[0], float(model.intercept_[0])), np.zeros(len(y))
    else:
        wrong, variance = _sampled(model, X, y, shapes, share, seed)
    pos, neg = y > 0, y < 0
    counts = Counts(
        SAMPLE * float(share[pos].sum()),
        SAMPLE * float(share[neg].sum()),
        SAMPLE * float(share[pos] @ wrong[pos]),
        SAMPLE * float(share[neg] @ wrong[neg]),
    )
    return counts, {"error_se": 100 * float(np.sqrt(share**2 @ variance))}


def volumes(shapes: Shapes, d: int) -> Array:
    """Return the volumes of sets in d coordinates, in units of the unit ball's; a point and a flat set have none."""
    return np.array([s**d if not isinstance(s, np.ndarray) else np.sqrt(max(np.linalg.det(s), 0.0)) for s in shapes])


def uniform(center: Array, shape: Shape, count: int, rng: np.random.Generator) -> Array:
    """Return points that are uniform in a set."""
    d = len(center)
    u = rng.standard_normal((count, d))
    u *= (rng.uniform(size=count) ** (1 / d) / np.linalg.norm(u, axis=1))[:, None]
    if not isinstance(shape, np.ndarray):
        return center + shape * u
    values, vectors = np.linalg.eigh(shape)
    return np.asarray(center + (u * np.sqrt(np.maximum(values, 0))) @ vectors.T)


def _cut(X: Array, y: Signs, shapes: Shapes, w: Array, b: float) -> Array:
    """Return the share of every set on the wrong side of a hyperplane."""
    from scipy.special import betainc

    norm = float(np.linalg.norm(w))
    reach = np.array([np.sqrt(max(float(w @ s @ w), 0.0)) if isinstance(s, np.ndarray) else s * norm for s in shapes])
    margin = y * (X @ w + b)
    t = np.clip(np.divide(margin, reach, out=np.sign(margin), where=reach > 0), -1, 1)
    beyond = betainc((X.shape[1] + 1) / 2, 0.5, 1 - t**2) / 2
    return np.asarray(np.where(t < 0, 1 - beyond, beyond))


def _sampled(model: Rule, X: Array, y: Signs, shapes: Shapes, share: Array, seed: int) -> tuple[Array, Array]:
    """Return the estimated share of every set on the wrong side, and the variance of that estimate."""
    rng = np.random.default_rng(seed)
    wrong, variance = np.zeros(len(y)), np.zeros(len(y))
    for i, shape in enumerate(shapes):
        n = int(np.ceil(SAMPLE * share[i]))
        if n:
            said = model.decision_function(uniform(X[i], shape, n, rng)) > 0
            k = int(np.sum(said != (y[i] > 0)))
            guess = (k + 1) / (n + 2)
            wrong[i], variance[i] = k / n, guess * (1 - guess) / n
    return wrong, variance
