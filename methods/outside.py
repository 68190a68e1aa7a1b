"""Classifiers that are not ours: they fit grids as ours do, without a certificate.

The threshold is that of ``decision_function`` at 0, else of ``predict_proba`` at 1/2, else what ``predict`` says; of more than two
classes it is what ``predict`` says. A warning that the iteration stopped short makes the fit one that was cut at its cap; any
error of the classifier is the step's error.
"""

from __future__ import annotations

import inspect
import math
import time
import warnings
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Protocol, TypeGuard, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning

from mmc.methods.base import Array, Step
from mmc.methods.solution import FitError, Solution, Status

Signs = NDArray[np.intp]
_T = TypeVar("_T", bound=np.generic)


class Classifier(Protocol):
    """What is asked of a classifier from outside, besides a way to predict."""

    def fit(self, X: Array, y: Signs, /) -> object: ...

    def predict(self, X: Array, /) -> NDArray[np.generic]: ...


class _Scored(Protocol):
    def decision_function(self, X: Array, /) -> Array: ...


class _Probable(Protocol):
    def predict_proba(self, X: Array, /) -> Array: ...


def is_classifier(found: object) -> TypeGuard[type[Classifier]]:
    """Whether something is a class that can be fitted and can predict."""
    return (
        isinstance(found, type)
        and not inspect.isabstract(found)
        and all(callable(getattr(found, name, None)) for name in ("fit", "predict"))
    )


def parameters_of(kind: type) -> tuple[str, ...]:
    """Return the names of a constructor's parameters."""
    return _parameters(cast("Hashable", kind))


@cache
def _parameters(kind: Hashable) -> tuple[str, ...]:
    assert isinstance(kind, type)
    if kind.__init__ is object.__init__:  # type: ignore[misc]
        return ()
    given = list(inspect.signature(kind.__init__).parameters.values())[1:]  # type: ignore[misc]
    return tuple(p.name for p in given if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD))


def required_of(kind: type) -> tuple[str, ...]:
    """Return the parameters without a default: a config cannot give another classifier."""
    given = inspect.signature(kind).parameters.values()
    return tuple(p.name for p in given if p.default is p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD))


@dataclass(frozen=True)
class Foreign:
    """A fitted classifier from outside; > 0 means the larger of two labels."""

    model: Classifier
    solution_: Solution

    def decision_function(self, X: Array) -> Array:
        """Return the decision values."""
        if _scores(self.model):
            return np.asarray(self.model.decision_function(X), dtype=np.float64)
        if _proves_likely(self.model):
            return np.asarray(self.model.predict_proba(X)[:, 1], dtype=np.float64) - 0.5
        return np.where(self.model.predict(X) == 1, 1.0, -1.0)

    def predict(self, X: Array) -> NDArray[np.generic]:
        """Return the labels, as the classifier itself predicts them."""
        return self.model.predict(X)


@dataclass(frozen=True)
class Adapted:
    """A class of classifiers with its parameters: it fits grids. ``seed`` goes to a ``random_state`` that is not given."""

    kind: type[Classifier]
    params: Mapping[str, object]
    seed: int
    version: str = ""

    def fit(self, X: Array, y: Signs) -> Foreign:
        """Fit one classifier; raise FitError where it cannot be fitted, whatever its reason."""
        start = time.perf_counter()
        seeded = "random_state" in parameters_of(self.kind) and self.params.get("random_state") is None
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            try:
                model = self.kind(**self.params, **({"random_state": self.seed} if seeded else {}))
                model.fit(X, y)
            except MemoryError:
                raise
            except Exception as error:  # code from outside can fail in any way
                raise FitError(f"{self.kind.__name__}: {type(error).__name__}: {error}") from error
        capped = any(issubclass(one.category, ConvergenceWarning) for one in told)
        status = Status.CAPPED if capped else Status.SOLVED
        seconds = time.perf_counter() - start
        return Foreign(model, Solution(status, math.nan, math.nan, _steps(model), seconds, "", self.version))

    def fit_path(
        self,
        X: Array,
        y: Signs,
        grid: Sequence[Mapping[str, object]],
        X_test: Array | None = None,
    ) -> Iterator[Step]:
        """Fit every point of ``grid`` and yield the steps in order; nothing is shared."""
        several = len(np.unique(y)) > 2
        for point in grid:
            start = time.perf_counter()
            one = Adapted(self.kind, {**self.params, **point}, self.seed, self.version)
            decision, predicted = None, None
            try:
                rule = one.fit(X, y)
                if X_test is not None and several:
                    predicted = one._classes(one._asked(rule.predict, X_test), y)
                elif X_test is not None:
                    decision = one._asked(rule.decision_function, X_test)
            except FitError as error:
                yield Step(point, time.perf_counter() - start, error=error)
            else:
                yield Step(point, time.perf_counter() - start, rule, decision, predicted=predicted)

    def _classes(self, said: NDArray[np.generic], y: Signs) -> Signs:
        """Return the classes that were predicted; raise FitError where they are none."""
        if not np.isin(said, y).all():
            raise FitError(f"{self.kind.__name__}: predict returned what is no class")
        return said.astype(np.intp)

    def _asked(self, rule: Callable[[Array], NDArray[_T]], X: Array) -> NDArray[_T]:
        """Return what a fitted classifier says of points; raise FitError where it cannot, whatever its reason."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                return rule(X)
            except MemoryError:
                raise
            except Exception as error:
                raise FitError(f"{self.kind.__name__}: {type(error).__name__}: {error}") from error


def _scores(model: object) -> TypeGuard[_Scored]:
    return callable(getattr(model, "decision_function", None))


def _proves_likely(model: object) -> TypeGuard[_Probable]:
    return callable(getattr(model, "predict_proba", None))


def _steps(model: object) -> int:
    """Return how many steps a fit took, where the classifier says it."""
    found: ArrayLike = getattr(model, "n_iter_", 0)
    try:
        return int(np.max(np.asarray(found, dtype=np.float64), initial=0))
    except (TypeError, ValueError):
        return 0
