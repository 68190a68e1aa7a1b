"""The biased minimax probability machine (Huang et al.): one class keeps a level, the other gets the most beside it."""

from __future__ import annotations

from numbers import Real
from typing import ClassVar

from mmc.methods._sklearn import Interval
from mmc.methods.estimated_moments import PerClass
from mmc.methods.minimax import MPM
from mmc.methods.numerics.kernels import Kernel


class BMPM(MPM):
    """Biased minimax probability machine: the largest worst-case accuracy of the positive class while the negative
    class keeps at least ``min_accuracy_neg``.

    All parameters but ``min_accuracy_neg`` are those of `MPM`.

    Parameters
    ----------
    min_accuracy_neg : float in (0, 1) or None, default None
        The worst-case accuracy that the negative class keeps at least. A level that no hyperplane can keep raises
        InfeasibleProblem, which names the largest one that can be kept. None takes MPM's level, which gives MPM.
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
    ridge : "auto", float or None, default "auto"
        "auto" shrinks the covariance of each class by the rule of Ledoit & Wolf, (1 - δ) Σ + δ tr(Σ)/p I in the p
        coordinates of the problem; it depends on units: scale the features. A number is added to the diagonal of both covariances. None adds 1e-8 of the mean
        variance of a coordinate, enough to fit any data, too little for a bound that means something.
    ridge_kind : {"feature", "input", "w"}, default "feature"
        Where the ridge is added: in the kernel's feature space, in input space (the same for a linear kernel, which
        is the only one that has it) or to the matrices that act on the dual coefficients (not for a linear kernel).
    mean_uncertainty : float or pair of floats, default 0.0
        ν of Lanckriet et al. (2003), in standard deviations, for both classes or for (positive, negative): the bounds
        hold for every mean that is off by at most that.
    covariance_uncertainty : float or pair of floats, default 0.0
        ρ: the bounds hold for every covariance that is off by at most that, in the Frobenius norm.
    rank_tol : float or None, default None
        For kernels: a is a combination of as many training points as it takes (pivoted Cholesky) for every other one
        to be within √(rank_tol · max k(x, x)) of their span. The bounds stay valid and can only be smaller. None
        takes all points.
    solver : {"frontier", "fractional", "gradient-projection", "socp", "cvxpy"}, default "frontier"
        The algorithm: the curve of all trade-offs, the parametric method, Rosen's gradient projection, cone programs,
        or (12) written in cvxpy.
    solver_options : dict or None, default None
        Options of that solver's ``solve``.
    pos_label : label or None, default None
        The positive class. None takes the larger label, as numbers if all labels are numbers. With more than two
        classes it must be None, and the larger label of each pair is positive.
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
        The normal of the hyperplane, for the linear kernel only.
    intercept_ : ndarray of shape (1,)
        The constant of the decision function.
    support_ : ndarray of shape (n_support,)
        For other kernels: the training points that the decision function uses.
    support_vectors_ : ndarray of shape (n_support, n_features_in_)
        These points.
    dual_coef_ : ndarray of shape (1, n_support)
        Their coefficients.
    worst_case_error_ : ndarray of shape (2,)
        1 - α and 1 - β in the order of ``classes_``: bounds on the training moments, for every distribution that has
        exactly these.
    bound_check_ : ndarray of shape (2,)
        What the moments of left-out points make of these bounds; ``fit`` warns where they refute one. Only after a ``fit``
        of rows without weights.
    ridge_, shrinkage_ : ndarray of shape (2,)
        What was added to the diagonal of each covariance, and the δ by which it was shrunk, in the order of ``classes_``.
    rank_ : int
        The number of coordinates in which the problem was solved.
    n_iter_ : int
        The iterations of the solver.
    solution_ : Solution
        Status, objective κ(α), duality gap, iterations, seconds, solver and its version.

    Examples
    --------
    >>> from mmc.methods import BMPM
    >>> from sklearn.datasets import make_blobs
    >>> X, y = make_blobs(100, centers=[[-2, 0], [2, 0]], random_state=0)
    >>> model = BMPM(min_accuracy_neg=0.7).fit(X, y)
    >>> model.worst_case_error_.round(2)
    array([0.3 , 0.15])
    """

    _parameter_constraints: ClassVar[dict[str, list[object]]] = {
        **MPM._parameter_constraints,
        "min_accuracy_neg": [Interval(Real, 0, 1, closed="neither"), None],
    }

    def __init__(
        self,
        min_accuracy_neg: float | None = None,
        kernel: Kernel = "linear",
        gamma: float | str = "scale",
        degree: int = 3,
        coef0: float = 1.0,
        ridge: float | str | None = "auto",
        ridge_kind: str = "feature",
        rank_tol: float | None = None,
        mean_uncertainty: PerClass = 0.0,
        covariance_uncertainty: PerClass = 0.0,
        solver: str = "frontier",
        solver_options: dict[str, object] | None = None,
        pos_label: object = None,
        decision_function_shape: str = "ovr",
    ):
        super().__init__(
            kernel,
            gamma,
            degree,
            coef0,
            ridge,
            ridge_kind,
            rank_tol,
            mean_uncertainty,
            covariance_uncertainty,
            solver,
            solver_options,
            pos_label,
            decision_function_shape,
        )
        self.min_accuracy_neg = min_accuracy_neg

    @property
    def _level(self) -> float | None:
        return self.min_accuracy_neg
