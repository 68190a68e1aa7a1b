"""What a fitted model is worth, in plain numpy from `decision_function` and the parameters alone.

Nothing here knows `mmc.methods.problems`: every objective is written down once more from the papers' formulas, and a certificate
that disagrees with it, or with a rule that is better than the certificate allows, is denied.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Array = Any  # of numpy: tests need no types of arrays
Values = Callable[[Array], Array]


def denied(model: Any, X: Array, y: Array) -> str:
    """Return why the certificate of a fitted model is wrong; empty if it is not."""
    if model.solution_.status != "solved":
        return "" if np.isfinite(model.solution_.objective) else "the objective is not finite"
    objective, gap = model.solution_.objective, model.solution_.gap
    if not (np.isfinite(objective) and np.isfinite(gap)):
        return f"objective {objective}, gap {gap}"
    points, sign = judging_points(model, X, np.where(y == model.pos_label_, 1.0, -1.0))
    way = 1.0 if model.pos_label_ == model.classes_[1] else -1.0
    f = way * model.decision_function(points)
    if not np.isfinite(f).all():
        return "a decision value is not finite"
    worth = WORTH[type(model).__name__]
    square = norm2(model)
    value, missed = worth(model, f, sign, square)
    allowed = 2e-4 + 10 * gap
    if missed > 1e-3:
        return f"a constraint is missed by {missed:.2g}"
    size = max(abs(objective), 1e-300)
    if abs(value - objective) > allowed * size:
        return f"claims {objective:.8g}, is {value:.8g}"
    promise = getattr(model, "worst_case_error_", None)
    if promise is not None:
        shown = errors(model, f, sign, square)
        if np.any(np.asarray(shown) > promise[:: int(-way)] + 1e-4):
            return f"promises {promise[:: int(-way)]}, shows {shown}"
    return better(model, f, sign, square, worth, objective, gap)


def better(model: Any, f: Array, sign: Array, square: float, worth: Any, objective: float, gap: float) -> str:
    """Return which rule near the one found is better than its certificate allows: another scale, another constant."""
    most = -1.0 if type(model).__name__ in MAXIMA else 1.0
    for scale in (0.9, 0.99, 1.0, 1.01, 1.1):
        for move in (-0.1, -0.01, 0.0, 0.01, 0.1):
            value, missed = worth(model, scale * f + move * np.abs(f).mean(), sign, scale**2 * square)
            if missed <= 0 and most * (objective - value) > (gap + 1e-6) * abs(objective) + 1e-9 * abs(value):
                return f"claims to be within {gap:.1e} of the best, but scaled by {scale} and moved by {move} it is {value:.8g}"
    return ""


def norm2(model: Any) -> float:
    """Return ‖w‖²."""
    if hasattr(model, "coef_"):
        return float(model.coef_[0] @ model.coef_[0])
    dual, Z = model.dual_coef_[0], model.support_vectors_
    Z = Z - Z.mean(axis=0) if model.kernel == "rbf" else Z
    total = 0.0
    for row, weight in zip(Z, dual, strict=True):
        if model.kernel == "rbf":
            k = np.exp(-model.gamma * ((Z - row) ** 2).sum(axis=1))
        else:
            k = (model.gamma * (Z @ row) + model.coef0) ** model.degree
        total += weight * float(k @ dual)
    return max(total, 0.0)


def judging_points(model: Any, X: Array, sign: Array) -> tuple[Array, Array]:
    """Return the points that the objective sums over, with their classes."""
    if not hasattr(model, "training_points_"):
        return X, sign
    points = model.centers_ if whole(model) else model.training_points_
    owners = np.array([inside(model, point) for point in points])
    centers = np.array([np.argmin(((X - center) ** 2).sum(axis=1)) for center in model.centers_])
    return points, sign[centers][owners]


def inside(model: Any, point: Array) -> int:
    """Return the set that a point belongs to: balls of opposite classes do not overlap."""
    return int(np.argmin(np.sqrt(((model.centers_ - point) ** 2).sum(axis=1)) - model.radii_))


def whole(model: Any) -> bool:
    """Whether a method is certified as the problem of its sets, not of the points that it made of them."""
    name = type(model).__name__
    shared = name == "HMEM" or (name == "SMEM" and (model.slack == "shared" or model.solver != "alternating"))
    return shared and hasattr(model, "coef_")


def _svm(model: Any, f: Array, sign: Array, square: float) -> tuple[float, float]:
    C = np.where(sign > 0, model.C_pos, model.C_neg)
    return square / 2 + float(C @ np.maximum(1 - sign * f, 0)), 0.0


def _bsvm(model: Any, f: Array, sign: Array, square: float) -> tuple[float, float]:
    low, high = np.maximum(model.rho1 - sign * f, 0).sum(), np.maximum(sign * f - model.rho2, 0).sum()
    return square / 2 + model.C1 * low + model.C2 * high, 0.0


def _rmm(model: Any, f: Array, sign: Array, square: float) -> tuple[float, float]:
    return square / 2 + model.C * np.maximum(1 - sign * f, 0).sum(), float((sign * f / model.B).max()) - 1 - 1e-9


def _mmrm(model: Any, f: Array, sign: Array, square: float) -> tuple[float, float]:
    sizes = np.sum(sign > 0), np.sum(sign < 0)
    C = model.C * (1 / min(sizes) if model.C_unit == "threshold" else 1.0)
    spread = f[sign > 0].mean() - f[sign < 0].mean()
    if np.isinf(C):
        return float(spread), float(1 - (sign * f).min())
    return float(spread + C * np.maximum(1 - sign * f, 0).sum()), 0.0


def _m4(model: Any, f: Array, sign: Array, square: float) -> tuple[float, float]:
    s_x, s_y = deviations(model, f, sign, square)
    width = s_x + s_y
    share = np.where(sign > 0, s_x, s_y) * 2 / width if width > 0 else np.ones(len(f))
    short = np.maximum(share - sign * f, 0)
    return (float(width), float(short.max())) if np.isinf(model.C) else (float(width + model.C * short.sum()), 0.0)


def _lda(model: Any, f: Array, sign: Array, square: float) -> tuple[float, float]:
    pos, neg = f[sign > 0], f[sign < 0]
    along = pos.mean() - neg.mean()
    within = ((pos - pos.mean()) ** 2).sum() + ((neg - neg.mean()) ** 2).sum() + (model.ridge or 0.0) * square
    return (float(along**2 / within), 0.0) if within > 0 else (0.0, 0.0)


def deviations(model: Any, f: Array, sign: Array, square: float) -> tuple[float, float]:
    """Return √(w'Σw) of the two classes, regularised as the model says."""
    ridge = np.broadcast_to(getattr(model, "ridge_", None) or 0.0, 2)
    return tuple(float(np.sqrt(f[sign == s].var() + r * square)) for s, r in zip((1, -1), ridge, strict=True))


def errors(model: Any, f: Array, sign: Array, square: float) -> list[float]:
    """Return the worst-case errors (positive, negative) of the rule f."""
    sides = f[sign > 0].mean(), -f[sign < 0].mean()
    pairs = zip(sides, deviations(model, f, sign, square), strict=True)
    return [1.0 if side <= 0 else s**2 / (s**2 + side**2) for side, s in pairs]


def _sets(model: Any, f: Array, sign: Array, square: float) -> tuple[float, float]:
    C = np.inf if type(model).__name__ == "HMEM" else model.C
    margins = sign * f - (model.radii_ * np.sqrt(square) if whole(model) else 0.0)
    if np.isinf(C):
        least = float(margins.min())
        return (square / 2 / least**2, 0.0) if least > 0 else (np.inf, 1.0)
    return square / 2 + C * float(np.maximum(1 - margins, 0).sum()), 0.0


WORTH = {
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
