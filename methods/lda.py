"""Fisher's linear discriminant (Gu & Guo, section 2.1): max d_b^c(w) / d_w^v(w), (2) and (3)."""

from __future__ import annotations

from numbers import Real
from typing import ClassVar

import numpy as np

from mmc.methods._sklearn import Interval
from mmc.methods.base import Fitted, Training
from mmc.methods.from_moments import FromMoments
from mmc.methods.numerics.directions import without_rounding
from mmc.methods.problems.discriminant import Discriminant, judge


class LDA(FromMoments):
    """Fisher's discriminant: the direction in which the means are farthest apart for the scatter within the classes.

    w = (Σx + Σy + ridge·I)⁻¹(x̄ - ȳ) with Σ the sums of squares of (2); the threshold is half-way between the means.

    Parameters
    ----------
    ridge : float or None, default None
        Added to the diagonal of the scatter. None adds 1e-8 of the mean scatter of a feature, enough to fit any data.
    solver : {"closed-form"}, default "closed-form"
        The algorithm.
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
    coef_ : ndarray of shape (1, n_features_in_)
        w.
    intercept_ : ndarray of shape (1,)
        The constant of the decision function.
    n_iter_ : int
        The iterations of the solver.
    solution_ : Solution
        Status, objective (w'd)²/w'Sw, duality gap, iterations, seconds, solver and its version.

    Examples
    --------
    >>> from mmc.methods import LDA
    >>> X = [[-2.0, 0.0], [-1.0, 1.0], [-1.0, -1.0], [1.0, 1.0], [1.0, -1.0], [2.0, 0.0]]
    >>> model = LDA().fit(X, [0, 0, 0, 1, 1, 1])
    >>> model.predict([[0.5, 3.0]])
    array([1])
    """

    _parameter_constraints: ClassVar[dict[str, list[object]]] = {
        **FromMoments._parameter_constraints,
        "ridge": [Interval(Real, 0, None, closed="left"), None],
    }

    def __init__(
        self,
        ridge: float | None = None,
        solver: str = "closed-form",
        solver_options: dict[str, object] | None = None,
        pos_label: object = None,
        decision_function_shape: str = "ovr",
    ):
        self.ridge = ridge
        self.solver = solver
        self.solver_options = solver_options
        self.pos_label = pos_label
        self.decision_function_shape = decision_function_shape

    def _fit(self, train: Training) -> Fitted:
        m = train.moments()
        d = m.difference
        scatter = m.counts[0] * m.cov_pos + m.counts[1] * m.cov_neg
        ridge = 1e-8 * (np.trace(scatter) + d @ d) / len(d) if self.ridge is None else self.ridge
        turned = without_rounding(d, scatter) if self.ridge is None else None
        axes, d, scatter = (None, d, scatter) if turned is None else turned
        scatter.flat[:: len(d) + 1] += ridge
        answer = self._solve(Discriminant(d, scatter))
        w = answer.primal if axes is None else axes @ answer.primal
        return Fitted(
            answer.certificate.objective,
            answer.certificate.gap,
            answer.iterations,
            answer.version,
            -float(w @ (m.mean_pos + m.mean_neg)) / 2,
            coef=w,
            judge=lambda rule: judge(rule, answer.certificate, float(ridge), m.counts),
        )
