"""SVMs whose decision values are kept in a band.

The banded SVM (Pendse (2.3)) charges a decision value below ρ1 and one above ρ2:

    min_{w,b}  ½‖w‖² + C1 Σ [ρ1 − y_i f(x_i)]_+ + C2 Σ [y_i f(x_i) − ρ2]_+ ,       f(x) = ⟨w, x⟩ + b.

Its dual (3.14), with α for the first sum and θ for the second, B = yy'∘K:

    max  ρ1 1'α − ρ2 1'θ − ½ (α − θ)'B(α − θ)     s.t.  0 ≤ α ≤ C1,  0 ≤ θ ≤ C2,  y'(α − θ) = 0.

The relative margin machine (Gu & Guo (13), with slacks on the margin) is ρ1 = 1, ρ2 = B, C2 = ∞: y_i f(x_i) ≤ B is
hard, and w = 0 always satisfies it. As in (13), only y f is bounded: a point on the wrong side may be farther away than
B, at the price of its slack.
"""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from typing import ClassVar

import numpy as np

from mmc.methods._sklearn import Interval
from mmc.methods.base import BinaryMethod, Fitted, Training
from mmc.methods.numerics.kernels import Kernel
from mmc.methods.problems.banded import BandedProblem


class _Banded(BinaryMethod):
    """What the two methods share: after ``fit``, α and θ of every training point and where they are not zero.

    ``alpha_support_`` and ``theta_support_`` index the points with a multiplier, ``alpha_free_`` and ``theta_free_`` those
    among them that are below their bound.
    """

    def _fit_band(self, train: Training, C1: float, C2: float, rho1: float, rho2: float) -> Fitted:
        K = train.kernel(self._kernel) if self._can.rows else train.gram(self._kernel)
        problem = BandedProblem(K, train.sign, C1, C2, rho1, rho2)
        answer = self._solve(problem)
        bracket = problem.certify(answer.primal, answer.dual)
        alpha, theta = np.split(answer.dual.a, 2)
        return Fitted(
            bracket.objective,
            bracket.gap,
            answer.iterations,
            answer.version,
            answer.primal.b,
            coef=answer.primal.coef @ train.X if self._linear else None,
            dual=answer.primal.coef,
            attributes={
                "alpha_": alpha,
                "theta_": theta,
                "alpha_support_": np.flatnonzero(alpha),
                "theta_support_": np.flatnonzero(theta),
                "alpha_free_": np.flatnonzero((alpha > 0) & (alpha < (1 - 1e-9) * C1)),
                "theta_free_": np.flatnonzero((theta > 0) & (theta < (1 - 1e-9) * C2)),
            },
        )


class BSVM(_Banded):
    """Banded SVM (2.3): decision values y f(x) below ``rho1`` cost ``C1``, those above ``rho2`` cost ``C2``.

    C2 = 0 and rho1 = 1 is the SVM; C1 = 0 is refused, for f = 0 would cost nothing.
    """

    _parameter_constraints: ClassVar[dict[str, list[object]]] = {
        **BinaryMethod._parameter_constraints,
        "C1": [Interval(Real, 0, None, closed="neither")],
        "C2": [Interval(Real, 0, None, closed="left")],
        "rho1": [Interval(Real, 0, None, closed="neither")],
        "rho2": [Interval(Real, 0, None, closed="neither")],
    }

    def __init__(
        self,
        C1: float = 1.0,
        C2: float = 1.0,
        rho1: float = 1.0,
        rho2: float = 1.5,
        kernel: Kernel = "linear",
        gamma: float | None = None,
        degree: int = 3,
        coef0: float = 1.0,
        solver: str = "libsvm",
        solver_options: Mapping[str, object] | None = None,
        pos_label: object = None,
    ):
        self.C1 = C1
        self.C2 = C2
        self.rho1 = rho1
        self.rho2 = rho2
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.solver = solver
        self.solver_options = solver_options
        self.pos_label = pos_label

    def _fit(self, train: Training) -> Fitted:
        if not self.rho2 > self.rho1:
            raise ValueError(f"rho2 must be greater than rho1: got rho1={self.rho1}, rho2={self.rho2}")
        return self._fit_band(train, float(self.C1), float(self.C2), float(self.rho1), float(self.rho2))


class RMM(_Banded):
    """Relative margin machine (13) with slack: the SVM with cost ``C``, under the hard bound y f(x_i) ≤ ``B``, B > 1."""

    _parameter_constraints: ClassVar[dict[str, list[object]]] = {
        **BinaryMethod._parameter_constraints,
        "C": [Interval(Real, 0, None, closed="neither")],
        "B": [Real],
    }

    def __init__(
        self,
        C: float = 1.0,
        B: float = 2.0,
        kernel: Kernel = "linear",
        gamma: float | None = None,
        degree: int = 3,
        coef0: float = 1.0,
        solver: str = "qp",
        solver_options: Mapping[str, object] | None = None,
        pos_label: object = None,
    ):
        self.C = C
        self.B = B
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.solver = solver
        self.solver_options = solver_options
        self.pos_label = pos_label

    def _fit(self, train: Training) -> Fitted:
        if not self.B > 1:
            raise ValueError(f"B must be greater than 1, the margin: got B={self.B}")
        return self._fit_band(train, float(self.C), np.inf, 1.0, float(self.B))
