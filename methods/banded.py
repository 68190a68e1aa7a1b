"""SVMs whose decision values are kept in a band.

The banded SVM (Pendse (2.3)) charges a decision value below ρ1 and one above ρ2:

    min_{w,b}  ½‖w‖² + C1 Σ [ρ1 − y_i f(x_i)]_+ + C2 Σ [y_i f(x_i) − ρ2]_+ ,       f(x) = ⟨w, x⟩ + b.

The relative margin machine (Gu & Guo (13), with slacks on the margin) is ρ1 = 1, ρ2 = B, C2 = ∞: y_i f(x_i) ≤ B is hard.
The dual (3.14) and the certificate are in `mmc.methods.problems.banded`.
"""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from typing import ClassVar

import numpy as np

from mmc.methods._sklearn import Interval
from mmc.methods.base import Fitted, Training
from mmc.methods.numerics.kernels import Array, Kernel
from mmc.methods.problems.banded import BandedProblem
from mmc.methods.problems.hinges import MachineAnswer
from mmc.methods.weighted import WeightedMethod


class _Banded(WeightedMethod):
    """What the two methods share: the problem, and the reading of α and θ."""

    _per_row: ClassVar[tuple[str, ...]] = ("alpha_", "theta_")
    _row_numbers: ClassVar[tuple[str, ...]] = ("alpha_support_", "theta_support_", "alpha_free_", "theta_free_")

    def _fit_band(
        self, train: Training, C1: float, C2: float, rho1: float, rho2: float, slacks: bool = False
    ) -> Fitted:
        K = train.kernel(self._kernel) if self._can.rows else train.gram(self._kernel)
        problem = BandedProblem(K, train.sign, C1, C2, rho1, rho2, self._weights(train))
        answer = self._solve(problem)
        bracket = problem.certify(answer.primal, answer.dual)
        alpha, theta = np.split(answer.dual.a, 2)
        below, above = problem.costs
        return Fitted(
            bracket.objective,
            bracket.gap,
            answer.iterations,
            answer.version,
            answer.primal.b,
            coef=answer.primal.coef @ train.X if self._linear else None,
            dual=answer.primal.coef,
            judge=lambda rule: problem.judge(rule, answer.dual),
            attributes={
                "alpha_": alpha,
                "theta_": theta,
                "alpha_support_": np.flatnonzero(alpha),
                "theta_support_": np.flatnonzero(theta),
                "alpha_free_": np.flatnonzero((alpha > 0) & (alpha < (1 - 1e-9) * below)),
                "theta_free_": np.flatnonzero((theta > 0) & (theta < (1 - 1e-9) * above)),
                **(_slacks(problem, answer) if slacks else {}),
            },
        )


def _slacks(problem: BandedProblem, answer: MachineAnswer) -> dict[str, Array]:
    """Return ξ and η, and their multipliers μ and ψ (Pendse, sections 3.3 and 3.4)."""
    (alpha, theta), (below, above) = np.split(answer.dual.a, 2), problem.costs
    margins = problem.sign * (answer.primal.values + answer.primal.b)
    return {
        "mu_": below - alpha,
        "psi_": above - theta,
        "xi_": np.maximum(problem.rho1 - margins, 0.0),
        "eta_": np.maximum(margins - problem.rho2, 0.0),
    }


class BSVM(_Banded):
    """Banded SVM (Pendse, (2.3)): decision values y f(x) outside of a band cost something.

    Values below ``rho1`` cost ``C1`` and those above ``rho2`` cost ``C2``. C2 = 0 and rho1 = 1 is the SVM.

    Parameters
    ----------
    C1 : float, default 1.0
        The cost of a unit below the band, > 0: without it f = 0 would cost nothing.
    C2 : float, default 1.0
        The cost of a unit above the band, ≥ 0.
    rho1 : float, default 1.0
        The lower edge of the band, > 0.
    rho2 : float, default 1.5
        The upper edge of the band, > rho1.
    kernel : {"linear", "rbf", "poly", "laplacian", "sigmoid", "chi2", "cosine", "precomputed"} or callable, default "linear"
        A callable takes two matrices of points and returns the matrix of kernel values; with "precomputed", X is that
        matrix. "sigmoid" and "precomputed" must be positive semi-definite on the training points.
    gamma : {"scale", "auto"} or float, default "scale"
        The width of "rbf", exp(-gamma ‖x - z‖²), of "poly", (gamma x'z + coef0)^degree, and of "laplacian", "sigmoid" and
        "chi2": a number, 1 / (n_features · X.var()), or 1 / n_features.
    degree : int, default 3
        The degree of "poly".
    coef0 : float, default 1.0
        The constant of "poly" and "sigmoid".
    solver : {"smo", "libsvm", "qp", "interior-point", "cvxpy"}, default "smo"
        The algorithm: pairs of multipliers in compiled code; libsvm's regression with Newton steps that finish it; a
        quadratic program by Clarabel, which needs the whole Gram matrix; an interior point method, quick for few
        features; (2.3) written in cvxpy.
    solver_options : dict or None, default None
        Options of that solver's ``solve``.
    pos_label : label or None, default None
        The positive class. None takes the larger label, as numbers if all labels are numbers. With more than two
        classes it must be None, and the larger label of each pair is positive.
    class_weight : {"balanced"}, dict or None, default None
        What multiplies the costs of each class: by label, or n_samples / (n_classes · size of the class).
    decision_function_shape : {"ovr", "ovo"}, default "ovr"
        With more than two classes, what ``decision_function`` returns: one column for each class, or one for each pair.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    pos_label_ : label
        The positive class, of two.
    estimators_ : list
        With more than two classes: the fitted classifiers of all pairs, (0, 1), (0, 2), …, (1, 2), … of ``classes_``. They
        have the attributes below; of these, ``coef_``, ``intercept_``, ``worst_case_error_`` and ``solution_`` are also
        given for all pairs together, with a row for each.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        The names of the features, if X had names.
    gamma_ : float
        The width that was used, for a kernel that has one.
    coef_ : ndarray of shape (1, n_features_in_)
        w, for the linear kernel only.
    intercept_ : ndarray of shape (1,)
        The constant of the decision function.
    support_ : ndarray of shape (n_support,)
        The training points that the decision function uses.
    support_vectors_ : ndarray of shape (n_support, n_features_in_)
        These points.
    dual_coef_ : ndarray of shape (1, n_support)
        Their coefficients in the decision function.
    alpha_ : ndarray of shape (n_samples,)
        The multiplier α of every training point: it is below the band.
    theta_ : ndarray of shape (n_samples,)
        The multiplier θ of every training point: it is above the band.
    mu_ : ndarray of shape (n_samples,)
        The multiplier μ = C1 − α of ξ ≥ 0 (3.7).
    psi_ : ndarray of shape (n_samples,)
        The multiplier ψ = C2 − θ of η ≥ 0 (3.8).
    xi_ : ndarray of shape (n_samples,)
        The slack ξ of every training point: how far y f lies below the band (3.25).
    eta_ : ndarray of shape (n_samples,)
        The slack η of every training point: how far y f lies above the band (3.25).
    alpha_support_ : ndarray
        The points with α > 0.
    theta_support_ : ndarray
        The points with θ > 0.
    alpha_free_ : ndarray
        Those of ``alpha_support_`` whose α is below its bound: they lie on the lower edge of the band.
    theta_free_ : ndarray
        Those of ``theta_support_`` whose θ is below its bound: they lie on the upper edge.
    n_iter_ : int
        The iterations of the solver.
    solution_ : Solution
        Status, objective (2.3), duality gap, iterations, seconds, solver and its version.

    Examples
    --------
    >>> from mmc.methods import BSVM
    >>> X = [[-2.0, 0.0], [-1.0, 1.0], [-1.0, -1.0], [1.0, 1.0], [1.0, -1.0], [2.0, 0.0]]
    >>> model = BSVM(C1=10.0, rho2=2.0).fit(X, [0, 0, 0, 1, 1, 1])
    >>> model.predict([[0.5, 3.0]])
    array([1])
    """

    _parameter_constraints: ClassVar[dict[str, list[object]]] = {
        **WeightedMethod._parameter_constraints,
        "C1": [Interval(Real, 0, None, closed="neither")],
        "C2": [Interval(Real, 0, None, closed="left")],
        "rho1": [Interval(Real, 0, None, closed="neither")],
        "rho2": [Interval(Real, 0, None, closed="neither")],
    }

    _per_row = ("alpha_", "theta_", "mu_", "psi_", "xi_", "eta_")

    def __init__(
        self,
        C1: float = 1.0,
        C2: float = 1.0,
        rho1: float = 1.0,
        rho2: float = 1.5,
        kernel: Kernel = "linear",
        gamma: float | str = "scale",
        degree: int = 3,
        coef0: float = 1.0,
        solver: str = "smo",
        solver_options: Mapping[str, object] | None = None,
        pos_label: object = None,
        class_weight: Mapping[object, float] | str | None = None,
        decision_function_shape: str = "ovr",
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
        self.class_weight = class_weight
        self.decision_function_shape = decision_function_shape

    def _fit(self, train: Training) -> Fitted:
        if not self.rho2 > self.rho1:
            raise ValueError(f"rho2 must be greater than rho1: got rho1={self.rho1}, rho2={self.rho2}")
        return self._fit_band(train, float(self.C1), float(self.C2), float(self.rho1), float(self.rho2), slacks=True)


class RMM(_Banded):
    """Relative margin machine (Gu & Guo, (13)) with slack: the SVM under a hard bound y f(x_i) ≤ B.

    Only y f is bounded: a point on the wrong side may be farther away than B, at the price of its slack.

    Parameters
    ----------
    C : float, default 1.0
        The cost of a unit of slack.
    B : float, default 2.0
        The largest decision value, > 1: the margin.
    kernel : {"linear", "rbf", "poly", "laplacian", "sigmoid", "chi2", "cosine", "precomputed"} or callable, default "linear"
        A callable takes two matrices of points and returns the matrix of kernel values; with "precomputed", X is that
        matrix. "sigmoid" and "precomputed" must be positive semi-definite on the training points.
    gamma : {"scale", "auto"} or float, default "scale"
        The width of "rbf", exp(-gamma ‖x - z‖²), of "poly", (gamma x'z + coef0)^degree, and of "laplacian", "sigmoid" and
        "chi2": a number, 1 / (n_features · X.var()), or 1 / n_features.
    degree : int, default 3
        The degree of "poly".
    coef0 : float, default 1.0
        The constant of "poly" and "sigmoid".
    solver : {"smo", "qp", "libsvm", "interior-point", "cvxpy"}, default "smo"
        The algorithm: pairs of multipliers in compiled code; a quadratic program by Clarabel, which needs the whole
        Gram matrix; libsvm's regression with Newton steps that finish it; an interior point method, quick for few
        features; (13) written in cvxpy.
    solver_options : dict or None, default None
        Options of that solver's ``solve``.
    pos_label : label or None, default None
        The positive class. None takes the larger label, as numbers if all labels are numbers. With more than two
        classes it must be None, and the larger label of each pair is positive.
    class_weight : {"balanced"}, dict or None, default None
        What multiplies the costs of each class: by label, or n_samples / (n_classes · size of the class).
    decision_function_shape : {"ovr", "ovo"}, default "ovr"
        With more than two classes, what ``decision_function`` returns: one column for each class, or one for each pair.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    pos_label_ : label
        The positive class, of two.
    estimators_ : list
        With more than two classes: the fitted classifiers of all pairs, (0, 1), (0, 2), …, (1, 2), … of ``classes_``. They
        have the attributes below; of these, ``coef_``, ``intercept_``, ``worst_case_error_`` and ``solution_`` are also
        given for all pairs together, with a row for each.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        The names of the features, if X had names.
    gamma_ : float
        The width that was used, for a kernel that has one.
    coef_ : ndarray of shape (1, n_features_in_)
        w, for the linear kernel only.
    intercept_ : ndarray of shape (1,)
        The constant of the decision function.
    support_ : ndarray of shape (n_support,)
        The training points that the decision function uses.
    support_vectors_ : ndarray of shape (n_support, n_features_in_)
        These points.
    dual_coef_ : ndarray of shape (1, n_support)
        Their coefficients in the decision function.
    alpha_ : ndarray of shape (n_samples,)
        The multiplier α of every training point: it is below the band.
    theta_ : ndarray of shape (n_samples,)
        The multiplier θ of every training point: it is above the band.
    alpha_support_ : ndarray
        The points with α > 0.
    theta_support_ : ndarray
        The points with θ > 0.
    alpha_free_ : ndarray
        Those of ``alpha_support_`` whose α is below its bound: they lie on the lower edge of the band.
    theta_free_ : ndarray
        Those of ``theta_support_`` whose θ is below its bound: they lie on the upper edge.
    n_iter_ : int
        The iterations of the solver.
    solution_ : Solution
        Status, objective ½‖w‖² + C Σ ξ, duality gap, iterations, seconds, solver and its version.

    Examples
    --------
    >>> from mmc.methods import RMM
    >>> X = [[-2.0, 0.0], [-1.0, 1.0], [-1.0, -1.0], [1.0, 1.0], [1.0, -1.0], [2.0, 0.0]]
    >>> model = RMM(B=1.5).fit(X, [0, 0, 0, 1, 1, 1])
    >>> model.predict([[0.5, 3.0]])
    array([1])
    >>> bool((model.decision_function(X) <= 1.5 + 1e-9).all())
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[object]]] = {
        **WeightedMethod._parameter_constraints,
        "C": [Interval(Real, 0, None, closed="neither")],
        "B": [Real],
    }

    def __init__(
        self,
        C: float = 1.0,
        B: float = 2.0,
        kernel: Kernel = "linear",
        gamma: float | str = "scale",
        degree: int = 3,
        coef0: float = 1.0,
        solver: str = "smo",
        solver_options: Mapping[str, object] | None = None,
        pos_label: object = None,
        class_weight: Mapping[object, float] | str | None = None,
        decision_function_shape: str = "ovr",
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
        self.class_weight = class_weight
        self.decision_function_shape = decision_function_shape

    def _fit(self, train: Training) -> Fitted:
        if not self.B > 1:
            raise ValueError(f"B must be greater than 1, the margin: got B={self.B}")
        return self._fit_band(train, float(self.C), np.inf, 1.0, float(self.B))
