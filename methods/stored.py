"""The rule as it is stored: decision values, and the judgement that comes last, of what is stored and nothing else."""

from __future__ import annotations

from math import isfinite
from numbers import Real

import numpy as np
from numpy.typing import NDArray

from mmc.methods.fitted import Fitted
from mmc.methods.numerics.gram import WHOLE
from mmc.methods.numerics.kernels import Array, KernelSpec
from mmc.methods.numerics.scales import fault
from mmc.methods.parameters import Parameterised
from mmc.methods.problems.delivered import Delivered, OnMoments, Verdict
from mmc.methods.solution import FitError, NotConverged, Solution, Status
from mmc.methods.training import Training

_RULE = ("coef_", "intercept_", "dual_coef_", "support_", "support_vectors_", "solution_")
_EARLIER = (*_RULE, "bound_check_", "estimators_")  # what an earlier fit may have left
# scipy, scikit-learn and cvxpy have no class of their own for it
_NOT_FINITE = ("infs or NaNs", "not finite", "contains NaN", "contains infinity")


class StoredRule(Parameterised):
    """A rule of two classes: coefficients, or a kernel expansion, which count from an origin."""

    _origin: Array | None = None  # from where decision values count, and the constant of the decision function there
    _offset: float

    _flip: float

    coef_: Array
    intercept_: Array
    dual_coef_: Array
    support_: NDArray[np.intp]
    support_vectors_: Array
    worst_case_error_: Array
    solution_: Solution

    def _fit(self, train: Training) -> Fitted:
        """Solve the method's problem on one training set; raise FitError where there is no answer."""
        raise NotImplementedError

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
            if isinstance(error, FitError) or not any(words in str(error) for words in _NOT_FINITE):
                raise
            raise NotConverged(
                self._with_fault(f"solver {self.solver!r} met a number that is not finite", space)
            ) from None

    def _with_fault(self, message: str, space: Training) -> str:
        found = fault(*space.scales(), self.get_params(deep=False))
        return f"{message}; {found}" if found else message

    def _judged(self, fitted: Fitted, space: Training) -> Verdict:
        """Return what the stored rule is worth; raise NotConverged if that is not what was asked for.

        An iterate that a cap cut short, which the status says, may be as far from the optimum as it is.
        """
        verdict = Verdict(fitted.objective, fitted.gap)
        if fitted.judge is not None:
            verdict = fitted.judge(self._delivered(fitted, space))
        allowed = verdict.allowed
        if self.solver_options and verdict.lenient:
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
        """Return the stored rule on the points that judge it, or on the moments if there are none."""
        spec, at = self._kernel, fitted.judged
        moved: Array | float = 0.0
        if space.pair is not None:
            assert fitted.coef is not None
            along, within = space.pair.seen_along(fitted.coef)
            longest = float(space.pair.lengths.max())
            return OnMoments.of(fitted.coef, fitted.intercept, along, within, longest)
        if at is not None:
            values = _evaluated(fitted, spec, at, fitted.points)
            if space.origin is not None:  # points of the solver's own are rounded where they are stored, far from 0
                at, exact = space.stored(at), values
                values = _evaluated(fitted, spec, at, None if fitted.points is None else space.stored(fitted.points))
                moved = np.abs(values - exact)
        elif fitted.coef is not None:
            values = space.X @ fitted.coef
        else:
            assert fitted.dual is not None
            values = self._on_training(fitted.dual, space)
        return Delivered(
            values,
            space.average(),
            fitted.intercept,
            lambda: space.lengths(spec) if at is None else spec.lengths(at),
            fitted.coef,
            fitted.dual,
            moved,
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
        for name, value in fitted.attributes.items():
            setattr(self, name, value)
        for name, place in fitted.places.items():
            setattr(self, name, place if origin is None else place + origin)

    def _decide(self, X: Array, space: Training | None = None) -> Array:
        """Return the decision values; ``space`` is the training set as the fit saw it, if its kernel can be shared."""
        if hasattr(self, "coef_"):
            values: Array = self._from_origin(X) @ self.coef_[0]
            return values + self._offset
        if self.kernel == "precomputed":
            values = (X if X.shape[1] == len(self.support_) else X[:, self.support_]) @ self.dual_coef_[0]
            return values + self._offset
        if space is not None and self._dual_on_training:
            K = space.cross(self._kernel, X, self.support_)
            if K is not None:
                values = self.dual_coef_[0] @ K
                return values + self._offset
        points, dual = self._from_origin(self.support_vectors_), self.dual_coef_[0]
        parts = np.array_split(X, 1 + 8 * len(X) * len(self.support_) // WHOLE)
        return np.concatenate([self._kernel(self._from_origin(part), points) @ dual for part in parts]) + self._offset

    def _from_origin(self, X: Array) -> Array:
        return X if self._origin is None else X - self._origin


def _evaluated(fitted: Fitted, spec: KernelSpec, at: Array, points: Array | None) -> Array:
    """Return the rule without its intercept on points ``at``; a kernel expansion is about ``points``, or those."""
    if fitted.coef is not None:
        return at @ fitted.coef
    assert fitted.dual is not None
    values: Array = spec(at, at if points is None else points) @ fitted.dual
    return values
