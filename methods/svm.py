"""The biased soft-margin support vector machine (Nath & Bhattacharyya (2.11)).

    min_{w,b,ξ≥0}  ½‖w‖² + C_pos Σ_{y=1} ξ_j + C_neg Σ_{y=−1} ξ_j     s.t.  y_j (⟨w, x_j⟩ + b) ≥ 1 − ξ_j

(the paper writes its bias with the other sign).
"""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from typing import ClassVar

import numpy as np

from mmc.methods._sklearn import Interval
from mmc.methods.base import BinaryMethod, Fitted, Training
from mmc.methods.numerics.kernels import Kernel
from mmc.methods.problems.hinges import SvmProblem


class SVM(BinaryMethod):
    """Soft-margin SVM with a cost for each class: ``C_pos`` for errors on the positive one, ``C_neg`` on the other."""

    _parameter_constraints: ClassVar[dict[str, list[object]]] = {
        **BinaryMethod._parameter_constraints,
        "C_pos": [Interval(Real, 0, None, closed="neither")],
        "C_neg": [Interval(Real, 0, None, closed="neither")],
    }

    def __init__(
        self,
        C_pos: float = 1.0,
        C_neg: float = 1.0,
        kernel: Kernel = "linear",
        gamma: float | None = None,
        degree: int = 3,
        coef0: float = 1.0,
        solver: str = "libsvm",
        solver_options: Mapping[str, object] | None = None,
        pos_label: object = None,
    ):
        self.C_pos = C_pos
        self.C_neg = C_neg
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.solver = solver
        self.solver_options = solver_options
        self.pos_label = pos_label

    def _fit(self, train: Training) -> Fitted:
        C = np.where(train.sign > 0, float(self.C_pos), float(self.C_neg))
        problem = SvmProblem(train.kernel(self._kernel), train.sign, C)
        answer = self._solve(problem)
        bracket = problem.certify(answer.primal, answer.dual)
        return Fitted(
            bracket.objective,
            bracket.gap,
            answer.iterations,
            answer.version,
            answer.primal.b,
            coef=answer.primal.coef @ train.X if self._linear else None,
            dual=answer.primal.coef,
            attributes={"alpha_": answer.dual.a},
        )
