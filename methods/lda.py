"""Fisher's linear discriminant (Gu & Guo, section 2.1): max d_b^c(w) / d_w^v(w), (2) and (3)."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np

from mmc.methods._sklearn import Interval
from mmc.methods.base import BinaryMethod, Fitted, Training
from mmc.methods.moments import moments
from mmc.methods.solvers.lda import Discriminant


class LDA(BinaryMethod):
    """w = (Σx + Σy + ridge·I)⁻¹(x̄ - ȳ) with Σ the sums of squares of (2); the threshold is half-way between the means.

    ``ridge=None`` takes 1e-8 of the mean scatter of a feature, so that any data can be fitted.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BinaryMethod._parameter_constraints,
        "ridge": [Interval(Real, 0, None, closed="left"), None],
    }

    def __init__(
        self,
        ridge: float | None = None,
        solver: str = "closed-form",
        solver_options: dict[str, Any] | None = None,
        pos_label: Any = None,
    ):
        self.ridge = ridge
        self.solver = solver
        self.solver_options = solver_options
        self.pos_label = pos_label

    def _fit(self, train: Training) -> Fitted:
        m, n_pos = moments(train), np.sum(train.sign > 0)
        d = m.mean_pos - m.mean_neg
        scatter = n_pos * m.cov_pos + (len(train.sign) - n_pos) * m.cov_neg
        ridge = 1e-8 * (np.trace(scatter) + d @ d) / len(d) if self.ridge is None else self.ridge
        answer = self._solve(Discriminant(d, scatter + ridge * np.eye(len(d))))
        return Fitted(
            answer.objective,
            answer.gap,
            answer.iterations,
            answer.version,
            -float(answer.w @ (m.mean_pos + m.mean_neg)) / 2,
            coef=answer.w,
        )
