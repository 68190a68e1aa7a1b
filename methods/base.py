"""What every method shares: validation, labels, kernels, the decision rule, and fits that share their work.

A subclass declares its parameters and supplies its mathematics in one function, :meth:`BinaryMethod._fit`.
"""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from math import isfinite
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from mmc.methods import entry_of
from mmc.methods._sklearn import Interval, StrOptions
from mmc.methods.numerics.gram import WHOLE, Gram
from mmc.methods.numerics.kernels import KERNELS, Array, KernelSpec
from mmc.methods.solution import FitError, Solution, Status
from mmc.words import nearest

_DISCRETE = "biuUS"  # the kinds of labels that cannot be continuous


class Workspace:
    """What the fits on one training set share: Gram matrices, moments, factorisations, starting points."""

    def __init__(self) -> None:
        self._made: dict[Any, Any] = {}

    def once(self, key: Any, make: Callable[[], Any]) -> Any:
        """Return what ``make`` made the first time that ``key`` was asked for."""
        if key not in self._made:
            self._made[key] = make()
        return self._made[key]


@dataclass(frozen=True)
class Training:
    """A validated training set: ``sign`` is +1 for the positive class and -1 for the other."""

    X: Array
    sign: Array
    work: Workspace = field(default_factory=Workspace, compare=False)
    extra: Mapping[str, Any] = field(default_factory=dict, compare=False)

    def gram(self, spec: KernelSpec) -> Array:
        """Return the Gram matrix of the training points, made once per kernel. Do not write into it."""
        return self.work.once(("gram", spec), lambda: spec(self.X, self.X))

    def kernel(self, spec: KernelSpec) -> Array | Gram:
        """Return the Gram matrix, or for many points what stands in for it."""
        if 8 * len(self.X) ** 2 <= WHOLE:
            return self.gram(spec)
        return self.work.once(("large gram", spec), lambda: Gram(spec, self.X))

    def cross(self, spec: KernelSpec, X: Array) -> Array | None:
        """Return the kernel between X and the training points, made once per kernel for the same array X.

        None if it is too large to be kept.
        """
        if 8 * len(X) * len(self.X) > WHOLE:
            return None
        return self.work.once(("cross", spec, id(X)), lambda: spec(X, self.X))


@dataclass(frozen=True)
class Fitted:
    """A decision rule and its certificate; f(x) > 0 is the positive class.

    f(x) = coef·x + intercept, or Σ_i dual_i k(points_i, x) + intercept where ``points`` are the training points
    unless given. ``errors`` are the worst-case errors (positive, negative) of a method that promises them;
    ``attributes`` are set on the estimator as they are.
    """

    objective: float
    gap: float
    iterations: int
    version: str
    intercept: float
    coef: Array | None = None
    dual: Array | None = None
    points: Array | None = None
    errors: tuple[float, float] | None = None
    status: Status = Status.SOLVED
    attributes: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Step:
    """One point of a parameter grid: a fitted estimator with its decision values, or the error that says why not.

    ``decision`` is oriented as ``decision_function`` is: > 0 means ``classes_[1]``.
    """

    params: Mapping[str, Any]
    seconds: float
    estimator: Any = None
    decision: Array | None = None
    error: FitError | None = None


class BinaryMethod(ClassifierMixin, BaseEstimator):
    """Base of all methods: a two-class scikit-learn classifier with a certificate."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "kernel": [StrOptions(set(KERNELS)), callable],
        "gamma": [Interval(Real, 0, None, closed="neither"), None],
        "degree": [Interval(Integral, 1, None, closed="left")],
        "coef0": [Interval(Real, 0, None, closed="left")],
        "ridge": [Interval(Real, 0, None, closed="left")],
        "solver": [str],
        "solver_options": [dict, None],
    }

    # -- what a subclass supplies ---------------------------------------------------------------------------
    def _fit(self, train: Training) -> Fitted:
        """Solve the method's problem on one training set; raise FitError where there is no answer."""
        raise NotImplementedError

    def _fit_ahead(self, train: Training, variants: Sequence[Any]) -> None:
        """Hook: do together, into ``train.work``, what is cheaper together for a whole grid of variants."""

    # -- scikit-learn ---------------------------------------------------------------------------------------
    def fit(self, X: Any, y: Any) -> Self:
        """Fit the classifier; raise InfeasibleProblem or NotConverged where there is no certified answer."""
        return self._fit_one(self._training(X, y))

    def decision_function(self, X: Any) -> Array:
        """Return the signed decision values: > 0 means ``classes_[1]``."""
        check_is_fitted(self)
        return self._decide(validate_data(self, X, dtype=np.float64, reset=False))

    def predict(self, X: Any) -> Any:
        """Return the predicted labels."""
        decision = self.decision_function(X)
        return self.classes_[(decision > 0).astype(int)]

    @classmethod
    @cache
    def _get_param_names(cls) -> list[str]:
        return super()._get_param_names()  # from the constructor's signature: once, for it takes its time

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    # -- a whole grid on one training set -------------------------------------------------------------------
    def fit_path(
        self, X: Any, y: Any, grid: Sequence[Mapping[str, Any]], X_test: Any = None, **extra: Any
    ) -> Iterator[Step]:
        """Fit every point of ``grid`` on the same data and yield the steps in order.

        Moments, Gram matrices, factorisations and starting points are made once. ``seconds`` of the first step
        include what all share.
        """
        start = time.perf_counter()
        train = self._training(X, y, **extra)
        variants = []
        for point in grid:
            variant = type(self)(**{**self.get_params(deep=False), **point})
            variant._validate_params()
            variant._adopt_labels(self)
            variants.append(variant)
        if variants:
            variants[0]._fit_ahead(train, variants)
        X_test = None if X_test is None else validate_data(self, X_test, dtype=np.float64, reset=False)
        for point, variant in zip(grid, variants, strict=True):
            try:
                variant._fit_one(train)
            except FitError as error:
                now = time.perf_counter()
                yield Step(point, now - start, error=error)
            else:
                # a kernel between all points is only made where several grid points may share it
                shared = train if len(variants) > 1 else None
                decision = None if X_test is None else variant._decide(X_test, shared)
                now = time.perf_counter()
                yield Step(point, now - start, variant, decision)
            start = time.perf_counter()

    # -- the parts ------------------------------------------------------------------------------------------
    @property
    def _kernel(self) -> KernelSpec:
        return KernelSpec(self.kernel, self.gamma, self.degree, self.coef0)

    @property
    def _linear(self) -> bool:
        return isinstance(self.kernel, str) and self.kernel == "linear"

    def _solve(self, problem: Any, **defaults: Any) -> Any:
        """Call the solver that ``solver`` names, with ``solver_options`` over ``defaults``."""
        entry = entry_of(type(self))
        if self.solver not in entry.solvers:
            raise ValueError(
                f"{type(self).__name__} has no solver {self.solver!r}: {nearest(self.solver, entry.solvers)}"
            )
        solve = import_module(f"mmc.methods.solvers.{entry.solvers[self.solver]}").solve
        if self.solver_options:
            allowed = list(inspect.signature(solve).parameters)[1:]
            for option in self.solver_options:
                if option not in allowed:
                    hint = nearest(option, allowed)
                    raise ValueError(f"solver {self.solver!r} has no option {option!r}: {hint}")
        return solve(problem, **{**defaults, **(self.solver_options or {})})

    def _training(self, X: Any, y: Any, **extra: Any) -> Training:
        self._validate_params()
        if _plain(X, y):  # all that validate_data would do, and it is dearer than a small fit
            self.n_features_in_ = X.shape[1]
            self.__dict__.pop("feature_names_in_", None)
        else:
            X, y = validate_data(self, X, y, dtype=np.float64, order="C")
        if y.dtype.kind not in _DISCRETE:
            check_classification_targets(y)
        self.classes_ = np.unique(y)
        if len(self.classes_) != 2:
            raise ValueError(
                f"Only binary classification is supported: {type(self).__name__} needs two classes, "
                f"got {len(self.classes_)} class{'es' if len(self.classes_) != 1 else ''}"
            )
        positive = self.classes_[1] if self.pos_label is None else self.pos_label
        if self.pos_label is not None and positive not in self.classes_:
            raise ValueError(f"pos_label={positive!r} is not a label of y: {list(self.classes_)}")
        self._flip = -1.0 if positive == self.classes_[0] else 1.0
        return Training(X, np.where(y == positive, 1.0, -1.0), extra=extra)

    def _adopt_labels(self, other: BinaryMethod) -> None:
        for name in ("n_features_in_", "feature_names_in_", "classes_", "_flip"):
            if hasattr(other, name):
                setattr(self, name, getattr(other, name))

    def _fit_one(self, train: Training) -> Self:
        start = time.perf_counter()
        fitted = self._fit(train)
        for name in ("coef_", "dual_coef_", "support_", "support_vectors_"):  # of an earlier fit with another kernel
            self.__dict__.pop(name, None)
        flip = self._flip
        self.intercept_ = np.array([flip * fitted.intercept])
        if fitted.coef is not None:
            self.coef_ = flip * fitted.coef[None, :]
        if fitted.dual is not None:
            self.support_ = np.flatnonzero(fitted.dual)
            self._dual_on_training = fitted.points is None
            points = train.X if fitted.points is None else fitted.points
            whole = len(self.support_) == len(points)
            self.support_vectors_ = points if whole else points[self.support_]
            self.dual_coef_ = flip * (fitted.dual if whole else fitted.dual[self.support_])[None, :]
        if fitted.errors is not None:
            self.worst_case_error_ = np.array(fitted.errors[:: -int(flip)])
        for name, value in fitted.attributes.items():
            setattr(self, name, value)
        self.solution_ = Solution(
            fitted.status,
            float(fitted.objective),
            float(fitted.gap),
            int(fitted.iterations),
            time.perf_counter() - start,
            self.solver,
            fitted.version,
        )
        return self

    def _decide(self, X: Array, train: Training | None = None) -> Array:
        if hasattr(self, "coef_"):
            return X @ self.coef_[0] + self.intercept_[0]
        K = train.cross(self._kernel, X) if train is not None and self._dual_on_training else None
        if K is not None:
            K = K if K.shape[1] == len(self.support_) else K[:, self.support_]
            return K @ self.dual_coef_[0] + self.intercept_[0]
        parts = np.array_split(X, 1 + 8 * len(X) * len(self.support_) // WHOLE)
        values = [self._kernel(part, self.support_vectors_) @ self.dual_coef_[0] for part in parts]
        return np.concatenate(values) + self.intercept_[0]


def _plain(X: Any, y: Any) -> bool:
    """Whether X and y are arrays that validation would return as they are."""
    return (
        type(X) is np.ndarray
        and type(y) is np.ndarray
        and X.dtype == np.float64
        and X.ndim == 2
        and y.shape == X.shape[:1]
        and y.dtype.kind in _DISCRETE
        and X.size > 0
        and X.flags.c_contiguous
        and isfinite(np.vdot(X, X))
    )
