"""The parameters that every method shares: validation, the kernel, the solver."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from numbers import Integral, Real
from operator import attrgetter
from typing import ClassVar, TypeVar

from sklearn.base import BaseEstimator

from mmc.methods._sklearn import Interval, StrOptions, validate_parameter_constraints
from mmc.methods.numerics.kernels import KERNELS, WITH_GAMMA, Array, Kernel, KernelSpec, width
from mmc.methods.problems import Answer, Problem
from mmc.methods.solvers import Capabilities, Solver, load_solver, options_of
from mmc.words import nearest

_PLAIN = frozenset((str, int, float, bool, type(None)))  # kinds of parameters that cannot change unseen
_KEPT = 1000  # valid sets of parameters that are remembered for each class
_LINEAR = KernelSpec("linear")
_VALID: dict[type, set[tuple[tuple[type, ...], tuple[object, ...]]]] = {}
A = TypeVar("A", bound=Answer[object, object])


class Parameterised(BaseEstimator):
    """An estimator with a kernel and a solver."""

    kernel: Kernel = "linear"  # of a method that has no such parameter
    gamma: float | str = "scale"
    degree: int = 3
    coef0: float = 1.0
    solver: str
    solver_options: Mapping[str, object] | None
    pos_label: object
    decision_function_shape: str = "ovr"
    gamma_: float

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

    @classmethod
    @cache
    def _get_param_names(cls) -> list[str]:
        return list(super()._get_param_names())  # from the constructor's signature: once, for it takes its time

    @classmethod
    @cache
    def _defaults(cls) -> dict[str, object]:
        parameters = inspect.signature(cls).parameters
        return {name: parameters[name].default for name in cls._get_param_names()}

    @classmethod
    @cache
    def _param_values_of(cls) -> Callable[[object], tuple[object, ...]]:
        return attrgetter(*cls._get_param_names())

    @property
    def _names_a_class(self) -> bool:
        """Whether a parameter was given that is about the positive or the negative class."""
        given = (
            (getattr(self, name), value) for name, value in self._defaults().items() if name.endswith(("_pos", "_neg"))
        )
        return any(value != default for value, default in given)

    # -- the parts ------------------------------------------------------------------------------------------
    @property
    def _kernel(self) -> KernelSpec:
        if self._linear:
            return _LINEAR
        return KernelSpec(self.kernel, vars(self).get("gamma_"), self.degree, self.coef0)

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
    def _solvers(self) -> Mapping[str, str]:
        """The names of all solvers, with their modules."""
        raise NotImplementedError

    @property
    def _solver(self) -> Solver:
        return load_solver(self._solvers[self.solver])

    @property
    def _can(self) -> Capabilities:
        """What the chosen solver can do: a method asks for a capability, never for a solver's name."""
        return self._solver.CAN

    def _solve(self, problem: Problem[A], **defaults: object) -> A:
        """Return the chosen solver's answer; ``solver_options`` win over ``defaults``."""
        return self._solver.solve(problem, **{**defaults, **(self.solver_options or {})})

    def _prepare(self, problems: Sequence[Problem[A]]) -> Sequence[A | None]:
        """Let a solver that ``CAN`` work together do for all problems what is cheaper together; return what it has solved."""
        return self._solver.prepare(problems, **(self.solver_options or {}))

    def _check_params(self) -> None:
        """Validate the parameters, once for the same ones: it is dearer than a small fit."""
        values = self._param_values_of()(self)
        kinds = tuple(map(type, values))
        if not _PLAIN.issuperset(kinds):
            return self._validate_params()
        if (kinds, values) not in (valid := _VALID.setdefault(type(self), set())):
            self._validate_params()
            if len(valid) >= _KEPT:
                valid.clear()
            valid.add((kinds, values))
        return None

    def _validate_params(self) -> None:
        if self.kernel == "additive_chi2":
            raise ValueError("kernel 'additive_chi2' is not positive semi-definite; take 'chi2', its exponential")
        solvers, name, default = self._solvers, type(self).__name__, self._defaults()
        given = {key: value for key, value in self.get_params(deep=False).items() if value is not default[key]}
        validate_parameter_constraints(self._parameter_constraints, given, caller_name=name)
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
