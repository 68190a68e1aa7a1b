"""The minimum error minimax probability machine (Huang, Yang, King, Lyu & Chan, 2004; Gu & Guo mention it).

MPM keeps the worst-case accuracies of both classes equal, BMPM holds one of them; this one maximises their mean, weighted by how
often the classes occur. It is a point of the same curve of trade-offs.
"""

from __future__ import annotations

from numbers import Real
from typing import ClassVar

from mmc.methods._sklearn import Interval
from mmc.methods.estimated_moments import PerClass
from mmc.methods.minimax import MPM, Solved
from mmc.methods.numerics.kernels import Kernel
from mmc.methods.problems.mean_accuracy import MeanAccuracy, certify, judge
from mmc.methods.problems.moment_pair import MomentPair


class MEMPM(MPM):
    """Minimum error minimax probability machine: the largest mean worst-case accuracy, θ α + (1 - θ) β.

    Where the classes are close to each other the best point is an end of the curve: all for one class, and nothing
    promised to the other. `MPM` and `BMPM` do not do that.

    All parameters but ``weight_pos`` are those of `MPM`.

    Parameters
    ----------
    weight_pos : float in [0, 1], default 0.5
        θ: how much the accuracy of the positive class counts, such as its share among new data.
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
        "auto" shrinks the covariance of each class by the rule of Ledoit & Wolf, which depends on units: scale the
        features. A number is added to the diagonals.
    ridge_kind : {"feature", "input", "w"}, default "feature"
        Where the ridge is added, as in `MPM`.
    rank_tol : float or None, default None
        For kernels: how well the points that are used must span the others, as in `MPM`.
    mean_uncertainty : float or pair of floats, default 0.0
        ν of Lanckriet et al. (2003), for both classes or for (positive, negative).
    covariance_uncertainty : float or pair of floats, default 0.0
        ρ of the same.
    solver : {"frontier"}, default "frontier"
        The algorithm: branch and bound along the curve of all trade-offs.
    solver_options : dict or None, default None
        Options of that solver's ``solve``.
    pos_label : label or None, default None
        The positive class. None takes the larger label, as numbers if all labels are numbers.
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
        1 - α and 1 - β in the order of ``classes_``: bounds on the training moments.
    bound_check_ : ndarray of shape (2,)
        What the moments of left-out points make of these bounds; ``fit`` warns where they refute one. Only after a ``fit``
        of rows without weights.
    ridge_, shrinkage_ : ndarray of shape (2,)
        What was added to the diagonal of each covariance, and by which share it was shrunk, in the order of ``classes_``.
    rank_ : int
        The number of coordinates in which the problem was solved.
    n_iter_ : int
        The iterations of the solver.
    solution_ : Solution
        Status, objective θ α + (1 - θ) β, relative distance from the most that any hyperplane can have, and so on.

    Examples
    --------
    >>> from mmc.methods import MEMPM
    >>> from sklearn.datasets import make_blobs
    >>> X, y = make_blobs(100, centers=[[-2, 0], [2, 0]], random_state=0)
    >>> model = MEMPM(weight_pos=0.8).fit(X, y)
    >>> model.worst_case_error_.round(2)
    array([0.36, 0.13])
    """

    _parameter_constraints: ClassVar[dict[str, list[object]]] = {
        **MPM._parameter_constraints,
        "weight_pos": [Interval(Real, 0, 1, closed="both")],
    }

    def __init__(
        self,
        weight_pos: float = 0.5,
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
        self.weight_pos = weight_pos

    _grows = False

    def _solved(self, pair: MomentPair) -> Solved:
        problem = MeanAccuracy(pair, float(self.weight_pos), self._nu)
        answer = self._solve(problem)
        proof = certify(problem, answer)
        return answer.primal.a, answer, proof, lambda sides: judge(problem, sides, proof.bound)
