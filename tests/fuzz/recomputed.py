"""What a fitted model is worth, in plain numpy from `decision_function` and the parameters alone.

Nothing here knows `mmc.methods.problems`: every objective is written down once more from the papers' formulas, and a certificate
that disagrees with it, or with a rule that is better than the certificate allows, is denied.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

Array = Any  # of numpy: tests need no types of arrays


@dataclass(frozen=True)
class Judging:
    """The points that an objective sums over, and their classes."""

    points: Array
    sign: Array


def denied(model: Any, X: Array, y: Array) -> str:
    """Return why the certificate of a fitted model is wrong; empty if it is not."""
    if model.solution_.status != "solved":
        return "" if np.isfinite(model.solution_.objective) else "the objective is not finite"
    objective, gap = model.solution_.objective, model.solution_.gap
    if not (np.isfinite(objective) and np.isfinite(gap)):
        return f"objective {objective}, gap {gap}"
    if ambiguous(model, X, y):
        return ""
    at = judging_points(model, X, np.where(y == model.pos_label_, 1.0, -1.0))
    way = 1.0 if model.pos_label_ == model.classes_[1] else -1.0
    f = way * model.decision_function(at.points)
    if not np.isfinite(f).all():
        return "a decision value is not finite"
    worth = WORTH[type(model).__name__]
    square = norm2(model)
    value, missed = worth(model, f, at, square)
    rounded = 0.0
    if hasattr(model, "training_points_"):  # these are rounded where X is far from 0, and so are their decision values
        nudged = way * model.decision_function(np.nextafter(at.points, np.inf))
        rounded = 10 * abs(worth(model, nudged, at, square)[0] - value) / max(abs(objective), 1e-300)
    allowed = 2e-4 + 10 * gap + rounded
    if missed > 1e-3:
        return f"a constraint is missed by {missed:.2g}"
    size = max(abs(objective), 1e-300)
    if shares(model) and not whole(model):  # which points of overlapping sets share a slack is not told
        if not square / 2 - allowed * size <= objective <= value + allowed * size:
            return f"claims {objective:.8g}, is at most {value:.8g}"
        return ""
    if abs(value - objective) > allowed * size:
        return f"claims {objective:.8g}, is {value:.8g}"
    promise = getattr(model, "worst_case_error_", None)
    if promise is not None:
        shown = errors(model, f, at.sign, square)
        if np.any(np.asarray(shown) > promise[:: int(-way)] + 1e-4):
            return f"promises {promise[:: int(-way)]}, shows {shown}"
    return better(model, f, at, square, worth, objective, gap + rounded)


def better(model: Any, f: Array, at: Judging, square: float, worth: Any, objective: float, gap: float) -> str:
    """Return which rule near the one found is better than its certificate allows: another scale, another constant."""
    most = -1.0 if type(model).__name__ in MAXIMA else 1.0
    for scale in (0.9, 0.99, 1.0, 1.01, 1.1):
        for move in (-0.1, -0.01, 0.0, 0.01, 0.1):
            value, missed = worth(model, scale * f + move * np.abs(f).mean(), at, scale**2 * square)
            if missed <= 0 and most * (objective - value) > (gap + 1e-6) * abs(objective) + 1e-9 * abs(value):
                return f"claims to be within {gap:.1e} of the best, but scaled by {scale} and moved by {move} it is {value:.8g}"
    return ""


def norm2(model: Any) -> float:
    """Return ‖w‖²."""
    if hasattr(model, "coef_"):
        return float(model.coef_[0] @ model.coef_[0])
    dual, Z = model.dual_coef_[0], model.support_vectors_
    if not len(dual):
        return 0.0
    Z = Z - Z.mean(axis=0) if model.kernel == "rbf" else Z
    total = 0.0
    for row, weight in zip(Z, dual, strict=True):
        if model.kernel == "rbf":
            k = np.exp(-model.gamma * ((Z - row) ** 2).sum(axis=1))
        else:
            k = (model.gamma * (Z @ row) + model.coef0) ** model.degree
        total += weight * float(k @ dual)
    return max(total, 0.0)


def judging_points(model: Any, X: Array, sign: Array) -> Judging:
    """Return the points that the objective sums over, with their classes. A covering's balls are around points of X."""
    if not hasattr(model, "training_points_"):
        return Judging(X, sign)
    points = model.centers_ if whole(model) else model.training_points_
    sets = model.n_sets_
    owners = np.append(np.arange(sets), [inside(model, point) for point in points[sets:]]).astype(int)
    centers = np.array([np.argmin(((X - center) ** 2).sum(axis=1)) for center in model.centers_])
    if whole_labels(model, X):
        centers = np.arange(len(X))
    return Judging(points, sign[centers][owners])


def whole_labels(model: Any, X: Array) -> bool:
    """Whether every point is a set of its own, in the order of X."""
    return getattr(model, "covering", None) is None and model.n_sets_ == len(X)


def ambiguous(model: Any, X: Array, y: Array) -> bool:
    """Whether a set's class cannot be told from its centre: points of both classes lie there."""
    if not hasattr(model, "centers_") or whole_labels(model, X):
        return False
    reach = np.sqrt(((model.training_points_[model.n_sets_ :, None] - model.centers_) ** 2).sum(axis=2)) - model.radii_
    rounding = 4 * np.linalg.norm(np.spacing(np.abs(model.centers_)), axis=1).max()  # of a stored point's distance
    if len(reach) and np.any(np.diff(np.sort(reach, axis=1)[:, :2], axis=1) < 1e-6 * model.radii_.max() + rounding):
        return True  # balls that touch, and a point where they do
    return any(len(set(y[(X[np.argmin(((X - c) ** 2).sum(axis=1))] == X).all(axis=1)])) > 1 for c in model.centers_)


def inside(model: Any, point: Array) -> int:
    """Return the set that a point belongs to: balls of opposite classes do not overlap."""
    return int(np.argmin(np.sqrt(((model.centers_ - point) ** 2).sum(axis=1)) - model.radii_))


def whole(model: Any) -> bool:
    """Whether a method is certified as the problem of its sets, not of the points that it made of them."""
    return shares(model) and hasattr(model, "coef_")


def shares(model: Any) -> bool:
    """Whether the points of one set share its slack."""
    name = type(model).__name__
    return name == "HMEM" or (name == "SMEM" and (model.slack == "shared" or model.solver != "alternating"))


def _svm(model: Any, f: Array, at: Judging, square: float) -> tuple[float, float]:
    sign = at.sign
    C = np.where(sign > 0, model.C_pos, model.C_neg)
    return square / 2 + float(C @ np.maximum(1 - sign * f, 0)), 0.0


def _bsvm(model: Any, f: Array, at: Judging, square: float) -> tuple[float, float]:
    sign = at.sign
    low, high = np.maximum(model.rho1 - sign * f, 0).sum(), np.maximum(sign * f - model.rho2, 0).sum()
    return square / 2 + model.C1 * low + model.C2 * high, 0.0


def _rmm(model: Any, f: Array, at: Judging, square: float) -> tuple[float, float]:
    sign = at.sign
    return square / 2 + model.C * np.maximum(1 - sign * f, 0).sum(), float((sign * f / model.B).max()) - 1 - 1e-9


def _mmrm(model: Any, f: Array, at: Judging, square: float) -> tuple[float, float]:
    sign = at.sign
    sizes = np.sum(sign > 0), np.sum(sign < 0)
    C = model.C * (1 / min(sizes) if model.C_unit == "threshold" else 1.0)
    spread = f[sign > 0].mean() - f[sign < 0].mean()
    if np.isinf(C):
        return float(spread), float(1 - (sign * f).min())
    return float(spread + C * np.maximum(1 - sign * f, 0).sum()), 0.0


def _m4(model: Any, f: Array, at: Judging, square: float) -> tuple[float, float]:
    sign = at.sign
    s_x, s_y = deviations(model, f, sign, square)
    width = s_x + s_y if s_x + s_y > 1e-12 * np.abs(f).max() else 0.0
    share = np.where(sign > 0, s_x, s_y) * 2 / width if width > 0 else np.ones(len(f))
    short = np.maximum(share - sign * f, 0)
    return (float(width), float(short.max())) if np.isinf(model.C) else (float(width + model.C * short.sum()), 0.0)


def _lda(model: Any, f: Array, at: Judging, square: float) -> tuple[float, float]:
    sign = at.sign
    pos, neg = f[sign > 0], f[sign < 0]
    along = pos.mean() - neg.mean()
    within = ((pos - pos.mean()) ** 2).sum() + ((neg - neg.mean()) ** 2).sum()
    ridge = model.ridge
    if ridge is None:  # a share of the mean scatter of a feature
        near = at.points - at.points[0]  # far from 0, means would lose the digits of their difference
        parts = [near[sign > 0], near[sign < 0]]
        scatter = sum(len(part) * part.var(axis=0).sum() for part in parts)
        ridge = 1e-8 * (scatter + ((parts[0].mean(axis=0) - parts[1].mean(axis=0)) ** 2).sum()) / at.points.shape[1]
    within += ridge * square
    return (float(along**2 / within), 0.0) if within > 0 else (0.0, 0.0)


def deviations(model: Any, f: Array, sign: Array, square: float) -> tuple[float, float]:
    """Return √(w'Σw) of the two classes, regularised as the model says."""
    ridge = model.ridge_ if type(model).__name__ == "M4" else model.ridge
    pos, neg = (float(np.sqrt(f[sign == side].var() + ridge * square)) for side in (1, -1))
    return pos, neg


def errors(model: Any, f: Array, sign: Array, square: float) -> list[float]:
    """Return the worst-case errors (positive, negative) of the rule f."""
    sides = f[sign > 0].mean(), -f[sign < 0].mean()
    pairs = zip(sides, deviations(model, f, sign, square), strict=True)
    return [1.0 if side <= 0 else s**2 / (s**2 + side**2) for side, s in pairs]


def _error_rate(model: Any, f: Array, at: Judging, square: float) -> tuple[float, float]:
    sides = f[at.sign > 0].mean(), -f[at.sign < 0].mean()
    kappas = (np.sqrt((1 - eta) / eta) for eta in (model.eta_pos, model.eta_neg))
    triples = zip(sides, kappas, deviations(model, f, at.sign, square), strict=True)
    return square / 2, max(1 + kappa * s - side for side, kappa, s in triples) - 1e-9


def _minimax(model: Any, f: Array, at: Judging, square: float) -> tuple[float, float]:
    sides = f[at.sign > 0].mean(), -f[at.sign < 0].mean()
    pos, neg = (
        side / s if s > 0 else 0.0 for side, s in zip(sides, deviations(model, f, at.sign, square), strict=True)
    )
    level = getattr(model, "min_accuracy_neg", None)
    if level is None:
        return min(pos, neg), 0.0
    return pos, float(np.sqrt(level / (1 - level)) / neg - 1 - 1e-9) if neg > 0 else 1.0


def _sets(model: Any, f: Array, at: Judging, square: float) -> tuple[float, float]:
    sign = at.sign
    C = np.inf if type(model).__name__ == "HMEM" else model.C
    margins = sign * f - (model.radii_ * np.sqrt(square) if whole(model) else 0.0)
    if np.isinf(C):
        least = float(margins.min())
        return (square / 2 / least**2, 0.0) if least > 0 else (np.inf, 1.0)
    return square / 2 + C * float(np.maximum(1 - margins, 0).sum()), 0.0


WORTH = {
    "ErrorRateClassifier": _error_rate,
    "MPM": _minimax,
    "BMPM": _minimax,
    "SVM": _svm,
    "BSVM": _bsvm,
    "RMM": _rmm,
    "MMRM": _mmrm,
    "M4": _m4,
    "LDA": _lda,
    "HMEM": _sets,
    "SMEM": _sets,
    "TSVC": _sets,
    "SCSVM": _sets,
}
MAXIMA = ("LDA", "MPM", "BMPM")
