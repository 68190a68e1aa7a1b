"""A method with a problem, a certificate and two solvers of its own."""

from __future__ import annotations

from numbers import Real
from typing import ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval

from mmc.methods import Method
from mmc.methods.base import BinaryMethod, Fitted, Training
from mmc_example.problem import RidgeRegression


class LeastSquaresPlane(BinaryMethod):
    """The plane that comes closest to ±1 on the two classes, in the sense of least squares.

    Parameters
    ----------
    ridge : float, default 1.0
        The weight λ of ½‖w‖², the constant included.
    solver : {"conjugate-gradients", "direct"}, default "conjugate-gradients"
        The algorithm.
    solver_options : dict or None, default None
        Options of that solver's ``solve``.
    pos_label : label or None, default None
        The positive class.

    Examples
    --------
    >>> from mmc_example.estimator import LeastSquaresPlane
    >>> model = LeastSquaresPlane().fit([[0.0], [1.0], [3.0], [4.0]], ["a", "a", "b", "b"])
    >>> model.predict([[3.5]])
    array(['b'], dtype='<U1')
    """

    entry = Method(
        key="least-squares-plane",
        name="LeastSquaresPlane",
        module="mmc_example.estimator",
        paper="an example",
        summary="the plane closest to ±1 by least squares",
        solvers={"conjugate-gradients": "mmc_example.conjugate_gradients", "direct": "mmc_example.direct"},
    )
    _parameter_constraints: ClassVar[dict[str, list[object]]] = {
        **BinaryMethod._parameter_constraints,
        "ridge": [Interval(Real, 0, None, closed="neither")],
    }

    def __init__(
        self,
        ridge: float = 1.0,
        solver: str = "conjugate-gradients",
        solver_options: dict[str, object] | None = None,
        pos_label: object = None,
    ):
        self.ridge = ridge
        self.solver = solver
        self.solver_options = solver_options
        self.pos_label = pos_label

    def _fit(self, train: Training) -> Fitted:
        A = np.column_stack([train.X, np.ones(len(train.X))])
        answer = self._solve(RidgeRegression(A, train.sign, self.ridge))
        found = answer.certificate
        return Fitted(
            found.objective,
            found.gap,
            answer.iterations,
            answer.version,
            float(answer.primal[-1]),
            coef=answer.primal[:-1],
        )
