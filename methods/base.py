"""What every method shares: validation, labels, kernels, the decision rule, and fits that share their work.

A subclass declares its parameters and supplies its mathematics in one function, :meth:`BinaryMethod._fit`.
"""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from math import isfinite
from numbers import Integral, Real
from typing import ClassVar, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from mmc.labels import are_words, positive_label
from mmc.methods import entry_of
from mmc.methods._sklearn import Interval, StrOptions
from mmc.methods.numerics.gram import WHOLE, LazyGram
from mmc.methods.numerics.kernels import KERNELS, UNSURE, WITH_GAMMA, Array, Kernel, KernelSpec, width
from mmc.methods.numerics.memory import require
from mmc.methods.numerics.pair_moments import PairMoments
from mmc.methods.numerics.scales import check_measurable, fault
from mmc.methods.numerics.workspace import Workspace
from mmc.methods.pairs import SeveralClasses, fit_pairs, pair_decisions, votes
from mmc.methods.problems import Answer, Problem
from mmc.methods.problems.delivered import Delivered, Judge, Verdict
from mmc.methods.solution import FitError, NotConverged, Solution, Status, warn_of_positive
from mmc.methods.solvers import Capabilities, Solver, load_solver, options_of
from mmc.words import nearest

_RULE = ("coef_", "intercept_", "dual_coef_", "support_", "support_vectors_", "solution_")
_EARLIER = (*_RULE, "bound_check_", "estimators_")  # what an earlier fit may have left
_DISCRETE = "biuUS"  # the kinds of labels that cannot be continuous
COPIES = 3  # of a Gram matrix that a solver for the whole of it holds at once
FEWER = (
    "take a solver that makes rows when it needs them ('libsvm', 'interior-point', 'column-generation'), fewer rows, or "
    "sklearn.kernel_approximation.Nystroem in front of kernel='linear'"
)
A = TypeVar("A", bound=Answer[object, object])


@dataclass(frozen=True)
class Training:
    """A validated training set: ``sign`` is +1 for the positive class and -1 for the other.

    X counts from ``origin``, because far from 0 a kernel loses its digits, and ``given`` is X as the caller gave it. Both
    are None for a set that was not moved.
    """

    X: Array
    sign: Array
    work: Workspace = field(default_factory=Workspace, compare=False)
    extra: Mapping[str, object] = field(default_factory=dict, compare=False)
    origin: Array | None = None
    given: Array | None = None
    weight: Array | None = field(default=None, compare=False)
    pair: PairMoments | None = field(default=None, compare=False)  # the moments, if there are no rows

    def seen_by(self, spec: KernelSpec) -> Training:
        """Return the set as methods see it with this kernel: moved to 0, if it is far away and the kernel lets it be moved."""
        moved = self.work.once("near 0", self._near_zero)
        return self if moved is None or not spec.movable else moved  # kept in its own work, self would be freed late

    def _near_zero(self) -> Training | None:
        """Subtract the mean of every feature that is farther from 0 than its values are from each other; None if none is."""
        if self.pair is not None:
            origin, moved = self.pair.near_zero()
            return Training(self.X, self.sign, extra=self.extra, origin=origin, given=self.X, pair=moved)
        low, high = self.X.min(axis=0), self.X.max(axis=0)
        spread, largest = high - low, np.maximum(high, -low)
        check_measurable(spread, largest)
        far = largest > 2 * spread
        if not far.any():
            return None
        origin = np.where(far, np.where(low == high, low, self.X.mean(axis=0)), 0.0)  # what is constant becomes 0
        return Training(self.X - origin, self.sign, extra=self.extra, origin=origin, given=self.X, weight=self.weight)

    def gram(self, spec: KernelSpec) -> Array:
        """Return the Gram matrix of the training points, made once per kernel. Do not write into it."""
        return self.work.once(("gram", spec), lambda: self._gram(spec))

    def _gram(self, spec: KernelSpec) -> Array:
        n = len(self.X)
        require(COPIES * 8 * n**2, f"the Gram matrix of {n:,} points, with what the solver makes of it,", FEWER)
        return spec(self.X, self.X)

    def average(self) -> Array:
        """Return two columns of weights that average over the positive and over the negative class, made once."""
        return self.work.once("average", self._average)

    def _average(self) -> Array:
        average, positive = np.empty((2, len(self.sign))), 0.5 + 0.5 * self.sign
        size = float(positive.sum())
        np.multiply(positive, 1 / size, out=average[0])
        np.multiply(1 - positive, 1 / (len(positive) - size), out=average[1])
        return average.T

    def product(self, spec: KernelSpec, dual: Array) -> Array:
        """Return Σ_j dual_j k(x_j, x_i) for every training point."""
        gram: Array | None = self.work.known(("gram", spec))
        return (self.kernel(spec) if gram is None else gram) @ dual

    def lengths(self, spec: KernelSpec) -> Array:
        """Return ‖x‖ in feature space for every training point, made once per kernel."""
        return self.work.once(("lengths", spec), lambda: spec.lengths(self.X))

    def moments(self) -> PairMoments:
        """Return the moments of the points themselves, made once."""
        if self.pair is not None:
            return self.pair
        return self.work.once("moments", lambda: PairMoments.of(self.X, self.sign > 0, self.weight))

    @property
    def rows_alike(self) -> bool:
        """Whether there are rows, and all count the same: then each can be left out."""
        return self.pair is None and self.weight is None

    @property
    def counts(self) -> tuple[float, float]:
        """The number of rows of both classes, or the sums of their weights."""
        weight = np.ones(len(self.sign)) if self.weight is None else self.weight
        return float(weight[self.sign > 0].sum()), float(weight[self.sign < 0].sum())

    def kernel(self, spec: KernelSpec) -> Array | LazyGram:
        """Return the Gram matrix, or a stand-in that makes rows on demand if it is too large for memory."""
        if 8 * len(self.X) ** 2 <= WHOLE or spec.kernel == "precomputed":
            return self.gram(spec)
        return self.work.once(("large gram", spec), lambda: LazyGram(spec, self.X))

    def cross(self, spec: KernelSpec, X: Array) -> Array | None:
        """Return the kernel between X, as it was given, and the training points, made once per kernel for the same array X.

        None if it is too large to be kept.
        """
        if 8 * len(X) * len(self.X) > WHOLE:
            return None
        return self.work.once(
            ("cross", spec, id(X)), lambda: spec(X if self.origin is None else X - self.origin, self.X)
        )


@dataclass(frozen=True)
class Fitted:
    """A decision rule and its certificate; f(x) > 0 is the positive class.

    f(x) = coef·x + intercept, or Σ_i dual_i k(points_i, x) + intercept where ``points`` are the training points
    unless given. ``places`` are attributes that are points. All points count from the origin of the training set.
    ``errors`` are the worst-case errors (positive, negative) of a method that promises them, ``held_out`` computes what
    left-out points say of these; ``attributes`` are set on the estimator as they are. ``judge`` has the last word on objective, gap
    and errors: it sees the decision values on the training points, or on ``judged``.
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
    held_out: Callable[[], tuple[float, float]] | None = None
    status: Status = Status.SOLVED
    attributes: Mapping[str, object] = field(default_factory=dict)
    places: Mapping[str, Array] = field(default_factory=dict)
    judge: Judge | None = None
    judged: Array | None = None


@dataclass(frozen=True)
class Step:
    """One point of a parameter grid: a fitted estimator with its decision values, or the error that says why not.

    ``decision`` is oriented as ``decision_function`` is: > 0 means ``classes_[1]``.
    """

    params: Mapping[str, object]
    seconds: float
    estimator: Rule | None = None
    decision: Array | None = None
    error: FitError | None = None


class Rule(Protocol):
    """A fitted classifier of two classes, of ours or from outside."""

    @property
    def solution_(self) -> Solution:
        """How the fit ended."""

    def decision_function(self, X: Array) -> Array:
        """Return the signed decision values."""


class PathFitter(Protocol):
    """What fits a whole grid on one training set."""

    def fit(self, X: Array, y: NDArray[np.intp], /, **extra: object) -> Rule:
        """Fit one classifier."""

    def fit_path(
        self,
        X: Array,
        y: NDArray[np.intp],
        grid: Sequence[Mapping[str, object]],
        X_test: Array | None = None,
        **extra: object,
    ) -> Iterator[Step]:
        """Yield a step for every point of the grid, in order."""


class BinaryMethod(ClassifierMixin, BaseEstimator):
    """Base of all methods: a scikit-learn classifier with a certificate. More than two classes are fitted in pairs.

    Examples
    --------
    >>> from mmc.methods import CATALOGUE, BinaryMethod
    >>> all(issubclass(entry.load(), BinaryMethod) for entry in CATALOGUE.values())
    True
    """

    kernel: Kernel = "linear"  # of a method that has no such parameter
    gamma: float | str = "scale"
    degree: int = 3
    coef0: float = 1.0
    solver: str
    solver_options: Mapping[str, object] | None
    pos_label: object
    decision_function_shape: str = "ovr"

    _needs_definite: ClassVar[bool] = True  # whether the problem is convex only for a positive semi-definite kernel
    _origin: Array | None = None  # from where decision values count, and the constant of the decision function there
    _offset: float
    _pair_rows: (
        list[NDArray[np.intp]] | None
    )  # with more than two classes: the rows of each pair of a precomputed kernel

    classes_: NDArray[np.generic]
    coef_: Array
    intercept_: Array
    dual_coef_: Array
    support_: NDArray[np.intp]
    support_vectors_: Array
    gamma_: float
    estimators_: list[BinaryMethod]
    worst_case_error_: Array
    solution_: Solution

    _parameter_constraints: ClassVar[dict[str, list[object]]] = {
        "kernel": [StrOptions(set(KERNELS)), callable],
        "gamma": [Interval(Real, 0, None, closed="neither"), StrOptions({"scale", "auto"})],
        "degree": [Interval(Integral, 1, None, closed="left")],
        "coef0": [Interval(Real, 0, None, closed="left")],
        "ridge": [Interval(Real, 0, None, closed="left")],
        "solver": [str],
        "solver_options": [dict, None],
        "decision_function_shape": [StrOptions({"ovr", "ovo"})],
    }

    # -- what a subclass supplies ---------------------------------------------------------------------------
    def _fit(self, train: Training) -> Fitted:
        """Solve the method's problem on one training set; raise FitError where there is no answer."""
        raise NotImplementedError

    def _fit_ahead(self, train: Training, variants: Sequence[Self]) -> None:
        """Hook: do together, into ``train.work``, what is cheaper together for a whole grid of variants."""

    # -- scikit-learn ---------------------------------------------------------------------------------------
    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Fit the classifier; raise InfeasibleProblem or NotConverged where there is no certified answer."""
        try:
            train = self._training(X, y)
        except SeveralClasses as several:
            found = several
        else:
            return self._fit_one(train, examined=True)
        fit_pairs(self, found)
        return self

    def decision_function(self, X: ArrayLike) -> Array:
        """Return the signed decision values: > 0 means ``classes_[1]``.

        With more than two classes there is one column for each class, or with ``decision_function_shape="ovo"`` one for each
        pair of classes, where > 0 means the first of the two; both as in scikit-learn's SVC.
        """
        check_is_fitted(self)
        points: Array = validate_data(self, X, dtype=np.float64, reset=False)
        if "estimators_" not in vars(self):
            return self._decide(points)
        return votes(self, points) if self.decision_function_shape == "ovr" else -pair_decisions(self, points)

    def predict(self, X: ArrayLike) -> NDArray[np.generic]:
        """Return the predicted labels."""
        if "estimators_" in vars(self):
            points: Array = validate_data(self, X, dtype=np.float64, reset=False)
            most: NDArray[np.intp] = np.argmax(votes(self, points), axis=1)
            return self.classes_.take(most)
        later = self.decision_function(X) > 0
        return self.classes_.take(later.astype(int))

    @property
    def n_iter_(self) -> int:
        """The iterations of the solver, of all pairs together if there are more than two classes."""
        return self.solution_.iterations

    @classmethod
    @cache
    def _get_param_names(cls) -> list[str]:
        return list(super()._get_param_names())  # from the constructor's signature: once, for it takes its time

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags

    # -- a whole grid on one training set -------------------------------------------------------------------
    def fit_path(
        self,
        X: ArrayLike,
        y: ArrayLike,
        grid: Sequence[Mapping[str, object]],
        X_test: ArrayLike | None = None,
        **extra: object,
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
            variant._resolve_gamma(train.X)
            variants.append(variant)
        for space in {id(seen): seen for seen in (train.seen_by(variant._kernel) for variant in variants)}.values():
            together = [variant for variant in variants if train.seen_by(variant._kernel) is space]
            together[0]._fit_ahead(space, together)
        X_test = None if X_test is None else validate_data(self, X_test, dtype=np.float64, reset=False)
        for point, variant in zip(grid, variants, strict=True):
            try:
                variant._fit_one(train)
            except FitError as error:
                now = time.perf_counter()
                yield Step(point, now - start, error=error)
            else:
                # a kernel between all points is only made where several grid points may share it
                shared = train.seen_by(variant._kernel) if len(variants) > 1 else None
                decision = None if X_test is None else variant._decide(X_test, shared)
                now = time.perf_counter()
                yield Step(point, now - start, variant, decision)
            start = time.perf_counter()

    @property
    def _names_a_class(self) -> bool:
        """Whether a parameter was given that is about the positive or the negative class."""
        parameters = inspect.signature(type(self)).parameters
        sided = [name for name in parameters if name.endswith(("_pos", "_neg"))]
        return any(getattr(self, name) != parameters[name].default for name in sided)

    # -- the parts ------------------------------------------------------------------------------------------
    @property
    def _kernel(self) -> KernelSpec:
        return KernelSpec(self.kernel, getattr(self, "gamma_", None), self.degree, self.coef0)

    def _resolve_gamma(self, X: Array) -> None:
        """Set ``gamma_``, which "scale" takes from the training points, if the kernel has a width."""
        self.__dict__.pop("gamma_", None)
        if self.kernel in WITH_GAMMA:
            self.gamma_ = width(self.gamma, X)

    @property
    def _linear(self) -> bool:
        return isinstance(self.kernel, str) and self.kernel == "linear"

    # -- the solver -----------------------------------------------------------------------------------------
    @property
    def _solver(self) -> Solver:
        return load_solver(entry_of(type(self)).solvers[self.solver])

    @property
    def _can(self) -> Capabilities:
        """What the chosen solver can do: a method asks for a capability, never for a solver's name."""
        return self._solver.CAN

    def _solve(self, problem: Problem[A], **defaults: object) -> A:
        """Return the chosen solver's answer; ``solver_options`` win over ``defaults``."""
        return self._solver.solve(problem, **{**defaults, **(self.solver_options or {})})

    def _prepare(self, problems: Sequence[Problem[A]]) -> None:
        """Let a solver that ``CAN`` work together do for all problems what is cheaper together."""
        self._solver.prepare(problems, **(self.solver_options or {}))

    def _validate_params(self) -> None:
        if self.kernel == "additive_chi2":
            raise ValueError("kernel 'additive_chi2' is not positive semi-definite; take 'chi2', its exponential")
        super()._validate_params()
        solvers, name = entry_of(type(self)).solvers, type(self).__name__
        if self.solver not in solvers:
            raise ValueError(f"{name} has no solver {self.solver!r}: {nearest(self.solver, solvers)}")
        known = options_of(solvers[self.solver]) if self.solver_options else ()
        for option in self.solver_options or ():
            if option not in known:
                raise ValueError(f"solver {self.solver!r} has no option {option!r}: {nearest(option, known)}")
        if not self._linear and not self._can.kernels:
            able = [other for other, module in solvers.items() if load_solver(module).CAN.kernels]
            raise ValueError(
                f"solver {self.solver!r} of {name} is for kernel='linear' only; for kernel={self.kernel!r} "
                + (f"take solver={' or '.join(map(repr, able))}" if able else "it has none")
            )

    # -- the training set -----------------------------------------------------------------------------------
    def _training(self, X: ArrayLike, y: ArrayLike, **extra: object) -> Training:
        self._validate_params()
        points, labels = self._validated(X, y)
        if labels.dtype.kind not in _DISCRETE:
            check_classification_targets(labels)
        if self.kernel == "precomputed":
            _check_gram(points)
        self._resolve_gamma(points)
        classes = np.unique(labels)
        if len(classes) > 2:
            self.classes_ = classes
            raise SeveralClasses(type(self).__name__, points, labels, len(classes))
        self._set_classes(classes)
        return Training(points, np.where(labels == self.pos_label_, 1.0, -1.0), extra=extra)

    def _set_classes(self, classes: NDArray[np.generic], pos_label: object = None) -> None:
        """Set the two labels, which are sorted, and which of them is positive: by default the parameter decides it."""
        self.classes_ = classes
        if len(self.classes_) < 2:
            raise ValueError(f"{type(self).__name__} needs two classes, got {len(self.classes_)} class")
        known = self.classes_.tolist()
        stated = self.pos_label if pos_label is None else pos_label
        positive = positive_label(known) if stated is None else stated
        if positive not in known:
            raise ValueError(f"pos_label={positive!r} is not a label of y: {known}")
        self.pos_label_ = self.classes_[known.index(positive)]
        self._flip = 1.0 if positive == known[1] else -1.0
        if stated is None and are_words(known) and self._names_a_class:
            warn_of_positive(positive, "pos_label=LABEL", stacklevel=5)

    def _validated(self, X: ArrayLike, y: ArrayLike) -> tuple[Array, NDArray[np.generic]]:
        """Return X and y as arrays, checked as scikit-learn does."""
        if _plain(X, y):  # all that validate_data would do, and it is dearer than a small fit
            points, labels = np.asarray(X), np.asarray(y)
            self.n_features_in_ = points.shape[1]
            self.__dict__.pop("feature_names_in_", None)
        else:
            points, labels = validate_data(self, X, y, dtype=np.float64, order="C")
        return points, labels

    def _adopt_labels(self, other: BinaryMethod) -> None:
        for name in ("n_features_in_", "feature_names_in_", "classes_", "pos_label_", "_flip"):
            if hasattr(other, name):
                setattr(self, name, getattr(other, name))

    def _fit_one(self, train: Training, examined: bool = False) -> Self:
        start = time.perf_counter()
        spec = self._kernel
        space = train.seen_by(spec)
        if spec.kernel in UNSURE and self._needs_definite:
            space.work.once(("definite", spec), lambda: spec.check_definite(space.gram(spec)))
        with np.errstate(all="ignore"):  # whatever comes of it, the last word is the certificate's
            fitted = self._attempt(space)
            self._store(fitted, space)
            verdict = self._judged(fitted, space)
        if verdict.errors is not None:
            self.worst_case_error_ = np.array(verdict.errors[:: -int(self._flip)])
        for name, fact in verdict.facts.items():
            setattr(self, name, fact)
        self.solution_ = Solution(
            fitted.status,
            float(verdict.objective),
            float(verdict.gap),
            int(fitted.iterations),
            time.perf_counter() - start,
            self.solver,
            fitted.version,
        )
        if examined and fitted.held_out is not None:
            self._examine(fitted.held_out())
        return self

    def _examine(self, held_out: tuple[float, float]) -> None:
        """Hook: what left-out points say of the bounds of (positive, negative)."""

    def _attempt(self, space: Training) -> Fitted:
        """Solve; where rounding defeats the solver, say which scale or parameter is at fault."""
        try:
            return self._fit(space)
        except NotConverged as error:
            raise NotConverged(self._with_fault(str(error), space), error.iterations, error.residual) from None
        except (ArithmeticError, np.linalg.LinAlgError) as error:
            raise NotConverged(
                self._with_fault(f"rounding defeats solver {self.solver!r} on these data", space)
            ) from error
        except ValueError as error:
            if isinstance(error, FitError) or "infs or NaNs" not in str(error):  # scipy has no class of its own for it
                raise
            raise NotConverged(
                self._with_fault(f"solver {self.solver!r} met a number that is not finite", space)
            ) from None

    def _with_fault(self, message: str, space: Training) -> str:
        found = fault(space.X, space.origin, self.get_params(deep=False))
        return f"{message}; {found}" if found else message

    def _judged(self, fitted: Fitted, space: Training) -> Verdict:
        """Return what the stored rule is worth; raise NotConverged if that is not what was asked for.

        An iterate that a cap cut short, which the status says, may be as far from the optimum as it is.
        """
        verdict = Verdict(fitted.objective, fitted.gap, fitted.errors)
        if fitted.judge is not None and space.pair is None and space.weight is None:  # it sees rows that count alike
            verdict = fitted.judge(self._delivered(fitted, space))
        allowed = verdict.allowed
        if self.solver_options:
            asked = map(self.solver_options.get, ("tol", "gap"))
            allowed = max([allowed, *(10 * float(value) for value in asked if isinstance(value, Real))])
        capped = fitted.status is Status.CAPPED
        if not isfinite(verdict.objective) or not (capped or verdict.gap <= allowed):
            for name in _RULE:
                self.__dict__.pop(name, None)
            raise NotConverged(
                self._with_fault(
                    f"solver {self.solver!r} of {type(self).__name__} delivers a rule that is not certified: its relative "
                    f"duality gap is {verdict.gap:.1e}, accepted are {allowed:.0e}",
                    space,
                ),
                fitted.iterations,
                float(verdict.gap),
            )
        return verdict

    def _delivered(self, fitted: Fitted, space: Training) -> Delivered:
        """Return the stored rule on the points that judge it."""
        spec, at = self._kernel, fitted.judged
        if fitted.coef is not None:
            values: Array = (space.X if at is None else at) @ fitted.coef
        else:
            assert fitted.dual is not None
            if at is None:
                values = self._on_training(fitted.dual, space)
            else:
                values = spec(at, at if fitted.points is None else fitted.points) @ fitted.dual
        return Delivered(
            values,
            space.average(),
            fitted.intercept,
            lambda: space.lengths(spec) if at is None else spec.lengths(at),
            fitted.coef,
            fitted.dual,
        )

    def _on_training(self, dual: Array, space: Training) -> Array:
        """Return a kernel expansion on the training points."""
        return space.product(self._kernel, dual)

    def _store(self, fitted: Fitted, space: Training) -> None:
        """Set what `decision_function` needs, and the other attributes of a fit."""
        for name in _EARLIER:
            self.__dict__.pop(name, None)
        flip, origin = self._flip, space.origin
        self._origin, self._offset = origin, flip * fitted.intercept
        offset = self._offset
        if fitted.coef is not None:
            self.coef_ = flip * fitted.coef[None, :]
            offset -= 0.0 if origin is None else float(self.coef_[0] @ origin)
        self.intercept_ = np.array([offset])
        if fitted.dual is not None:
            self.support_ = np.flatnonzero(fitted.dual)
            self._dual_on_training = fitted.points is None
            if fitted.points is None:
                points = space.X if space.given is None else space.given
            else:
                points = fitted.points if origin is None else fitted.points + origin
            whole = len(self.support_) == len(points)
            if self.kernel != "precomputed":
                self.support_vectors_ = points if whole else points[self.support_]
            self.dual_coef_ = flip * (fitted.dual if whole else fitted.dual[self.support_])[None, :]
        if fitted.errors is not None:
            self.worst_case_error_ = np.array(fitted.errors[:: -int(flip)])
        for name, value in fitted.attributes.items():
            setattr(self, name, value)
        for name, place in fitted.places.items():
            setattr(self, name, place if origin is None else place + origin)

    def _decide(self, X: Array, space: Training | None = None) -> Array:
        """Return the decision values; ``space`` is the training set as the fit saw it, if its kernel can be shared."""
        if hasattr(self, "coef_"):
            values: Array = self._from_origin(X) @ self.coef_[0]
            return values + self._offset
        K = space.cross(self._kernel, X) if space is not None and self._dual_on_training else None
        if self.kernel == "precomputed":
            K = X
        if K is not None:
            values = (K if K.shape[1] == len(self.support_) else K[:, self.support_]) @ self.dual_coef_[0]
            return values + self._offset
        points, dual = self._from_origin(self.support_vectors_), self.dual_coef_[0]
        parts = np.array_split(X, 1 + 8 * len(X) * len(self.support_) // WHOLE)
        return np.concatenate([self._kernel(self._from_origin(part), points) @ dual for part in parts]) + self._offset

    def _from_origin(self, X: Array) -> Array:
        return X if self._origin is None else X - self._origin


def _check_gram(K: Array) -> None:
    """Raise ValueError if a precomputed kernel is no symmetric matrix of all training points."""
    if K.shape[0] != K.shape[1]:
        raise ValueError(f"kernel='precomputed' needs a square matrix between all training points, got {K.shape}")
    if np.abs(K - K.T).max() > 1e-8 * np.abs(K).max():
        raise ValueError("kernel='precomputed' needs a symmetric matrix between all training points")


def _plain(X: object, y: object) -> bool:
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
