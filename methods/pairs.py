"""More than two classes as scikit-learn's SVC has them: one two-class fit for every pair, and votes.

The pairs are (0, 1), (0, 2), …, (1, 2), … of the sorted classes. A decision value of a pair above 0 means its later class.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from math import nan
from typing import Protocol, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from mmc.labels import positive_label
from mmc.methods._sklearn import ovr_decision_function
from mmc.methods.numerics.kernels import Array, Kernel
from mmc.methods.solution import FitError, Solution, Status

_KEPT = ("n_features_in_", "feature_names_in_", "classes_", "gamma_")


class Paired(Protocol):
    """What a method of two classes has that pairs need."""

    kernel: Kernel
    solver: str
    pos_label: object
    classes_: NDArray[np.generic]
    gamma_: float
    intercept_: Array
    solution_: Solution
    estimators_: list[Self]
    _pair_rows: list[NDArray[np.intp]] | None

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self: ...
    def set_params(self, **changed: object) -> Self: ...
    def _decide(self, X: Array) -> Array: ...


class SeveralClasses(ValueError):
    """There are more than two classes; it carries the validated rows and labels."""

    def __init__(self, name: str, points: Array, labels: NDArray[np.generic], count: int):
        super().__init__(f"{name} does this for two classes only: y has {count}")
        self.points, self.labels = points, labels


def fit_pairs(
    method: Paired,
    found: SeveralClasses,
    changed: Mapping[str, object] | None = None,
    **rows: Sequence[object] | NDArray[np.generic] | None,
) -> None:
    """Fit one clone to each pair of classes; ``rows`` are further arguments of ``fit`` that have one entry per row.

    ``changed`` are parameters that the clones have otherwise.
    """
    check_no_positive(method)
    for name in [name for name in vars(method) if name.endswith("_") and name not in _KEPT]:
        del method.__dict__[name]
    parts, chosen = [], []
    for first, second in combinations(method.classes_, 2):
        index = np.flatnonzero((found.labels == first) | (found.labels == second))
        points = found.points[np.ix_(index, index)] if method.kernel == "precomputed" else found.points[index]
        part = clone(method).set_params(pos_label=positive_label([first, second]), **(changed or {}))
        if "gamma_" in vars(method):
            part.set_params(gamma=method.gamma_)  # as in SVC, of all points
        try:
            part.fit(points, found.labels[index], **{k: _taken(v, index) for k, v in rows.items() if v is not None})
        except FitError as error:
            error.args = (f"classes {first!s} and {second!s}: {error.args[0]}", *error.args[1:])
            raise
        parts.append(part)
        chosen.append(index)
    summarise(method, parts)
    method._pair_rows = chosen if method.kernel == "precomputed" else None


def check_no_positive(method: Paired) -> None:
    """Raise ValueError if a positive label is stated."""
    if method.pos_label is not None:
        raise ValueError(
            f"pos_label={method.pos_label!r} is for two classes, and y has {len(method.classes_)}: "
            "leave it out, and the larger label of each pair is positive"
        )


def summarise(method: Paired, parts: Sequence[Paired]) -> None:
    """Set what the pairs have in common, one row for each."""
    method.estimators_ = list(parts)
    for name in ("coef_", "intercept_", "worst_case_error_"):
        if all(hasattr(part, name) for part in parts):
            setattr(method, name, np.vstack([getattr(part, name) for part in parts]))
    method.intercept_ = method.intercept_.ravel()
    solutions = [part.solution_ for part in parts]
    statuses = {solution.status for solution in solutions}
    method.solution_ = Solution(
        Status.SOLVED if statuses == {Status.SOLVED} else Status.CAPPED,
        nan,
        max(solution.gap for solution in solutions),
        sum(solution.iterations for solution in solutions),
        sum(solution.seconds for solution in solutions),
        method.solver,
        solutions[0].version,
    )


def pair_decisions(method: Paired, X: Array) -> Array:
    """Return the decision values of every pair, one column each."""
    ones, rows = method.estimators_, method._pair_rows
    parts = [X] * len(ones) if rows is None else [X[:, index] for index in rows]
    return np.column_stack([one._decide(part) for one, part in zip(ones, parts, strict=True)])


def votes(method: Paired, X: Array) -> Array:
    """Return one column for each class: the pairs it wins, and less than ½ for how clearly."""
    values = pair_decisions(method, X)
    scores: Array = ovr_decision_function(values > 0, values, len(method.classes_))
    return scores


def _taken(value: Sequence[object] | NDArray[np.generic], index: NDArray[np.intp]) -> object:
    return value[index] if isinstance(value, np.ndarray) else [value[i] for i in index]
