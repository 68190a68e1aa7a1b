"""The max-margin ratio machine (Gu & Guo): the largest margin, measured by the spread within the classes.

    max  d_b^m(w) / d_w^m(w)                                                                             (18)–(20)

is, because d_w^m = d_b^c - d_b^m (17), a linear program (24), with slacks (28)

    min  w'(x̄ - ȳ) + C (Σξ_i + Σξ_j)   s.t.  w'x_i + b ≥ 1 - ξ_i,  -(w'y_j + b) ≥ 1 - ξ_j,  ξ ≥ 0

and, with w = Σ α_k φ(x_k) - Σ β_l φ(y_l), the kernel form (30). α, β ≥ 0 there is essential: with free signs every class can
be mapped to one point, and the ratio says nothing.
"""

from __future__ import annotations

from math import inf, nan
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from mmc.methods.base import BinaryMethod, Fitted, Training
from mmc.methods.kernels import Array, Kernel
from mmc.methods.solution import FitError
from mmc.methods.solvers.lp import RatioLP, RatioSolution, dense


class MMRM(BinaryMethod):
    """Max-margin ratio machine: (28) for the linear kernel, (30) for the others.

    Below the threshold max(1/n_x, 1/n_y) the program may be unbounded, and at the threshold w = 0 is optimal. ``C`` counts in
    multiples of it, or is the paper's own with ``C_unit="absolute"``; ``C=inf`` is the hard margin (24).

    ``margin_ratio_`` is 2 / (w'(x̄ - ȳ) - 2): the ratio of Theorem 3. With slacks it is the ratio of the soft margin, the
    points within it left aside; it is ∞ where the classes have no spread towards each other, and nan where the
    means are closer than the soft margin is wide, so that there is no ratio.

    The coefficients of (30) are capped (see ``solvers/lp.py``), far above what the data of the papers need.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BinaryMethod._parameter_constraints,
        "C": [Interval(Real, 0, None, closed="right")],
        "C_unit": [StrOptions({"threshold", "absolute"})],
    }

    def __init__(
        self,
        C: float = 10.0,
        C_unit: str = "threshold",
        kernel: Kernel = "linear",
        gamma: float | None = None,
        degree: int = 3,
        coef0: float = 1.0,
        solver: str = "lp",
        solver_options: dict[str, Any] | None = None,
        pos_label: Any = None,
    ):
        self.C = C
        self.C_unit = C_unit
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.solver = solver
        self.solver_options = solver_options
        self.pos_label = pos_label

    def _fit(self, train: Training) -> Fitted:
        z = train.sign
        weight = np.where(z > 0, 1 / np.sum(z > 0), 1 / np.sum(z < 0))
        C = self._slack_cost(float(weight.max()))
        session = train.work.once(("ratio", self.solver, None if self._linear else self._kernel), dict)
        if self._linear:
            G, middle, scale = train.work.once("signed features", lambda: _signed_features(train.X, z))
            answer = self._solve(RatioLP(dense(G), G.shape[1], z, weight, C, False), session=session)
            w = answer.v / scale
            return _fitted(answer, answer.b - float(w @ middle), coef=w)
        G, middle, size = train.work.once(("signed", self._kernel), lambda: _signed_gram(train.gram(self._kernel), z))
        answer = self._solve(RatioLP(dense(G), len(z), z, weight, C, True), session=session)
        coefficients = z * answer.v / size
        return _fitted(answer, answer.b - float(coefficients @ middle), dual=coefficients)

    def _slack_cost(self, threshold: float) -> float:
        C = self.C * (threshold if self.C_unit == "threshold" else 1.0)
        if threshold * (1 - 1e-12) > C:
            raise FitError(
                f"C={self.C:g} ({self.C_unit}) is below the threshold max(1/n_x, 1/n_y) = {threshold:g}: "
                "the linear program may be unbounded"
            )
        return C


def _signed_features(X: Array, z: Array) -> tuple[Array, Array, Array]:
    """Return the rows z_i x_i standardised: (28) does not depend on it, the simplex method's tolerances do."""
    middle, scale = X.mean(axis=0), X.std(axis=0)
    scale[scale == 0] = 1.0
    return z[:, None] * ((X - middle) / scale), middle, scale


def _signed_gram(K: Array, z: Array) -> tuple[Array, Array, float]:
    """Return zz'∘K standardised; columns can be centred because z'λ = 0, it only moves b."""
    middle = K.mean(axis=0)
    G = K - middle
    size = float(np.sqrt(np.mean(G**2))) or 1.0
    G *= np.outer(z, z / size)
    return G, middle, size


def _fitted(answer: RatioSolution, intercept: float, coef: Array | None = None, dual: Array | None = None) -> Fitted:
    within = answer.spread - 2
    ratio = 2 / within if within > 1e-9 else inf if answer.slack < 1e-9 else nan
    return Fitted(
        answer.objective,
        answer.gap,
        answer.iterations,
        answer.version,
        intercept,
        coef,
        dual,
        attributes={"margin_ratio_": ratio},
    )
