"""The parameter values of a config, checked by the methods themselves: this imports them."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator

from pydantic import JsonValue

from mmc.experiments.config import Config, Experiment
from mmc.experiments.errors import KeyPath
from mmc.experiments.explaining import Problem, decimal_comma, shown
from mmc.experiments.grids import GridSpec, samples, tied
from mmc.experiments.units import Params
from mmc.experiments.validation import grid_of, refusal
from mmc.methods import Method
from mmc.methods.registry import METHODS
from mmc.words import nearest

_TYPES: dict[str, tuple[type, ...]] = {
    "float": (int, float),
    "int": (int,),
    "str": (str,),
    "bool": (bool,),
    "None": (type(None),),
}
_NAMED = re.compile(r"The '(\w+)' parameter")


def check_values(config: Config) -> None:
    """Raise ConfigError, with file and line, for every parameter value that a method would refuse."""
    if problems := list(_problems(config.experiment)):
        raise refusal(config.file, config.lines, problems)


def _problems(experiment: Experiment) -> Iterator[Problem]:
    for label, spec in experiment.methods.items():
        place, grid = grid_of(experiment, label)
        for index, point in samples(grid):
            for name, text in _values(METHODS[spec.method], {**spec.params, **point}):
                at = _place(name, index, point, place, grid) if name in point else ("methods", label, name)
                yield at, f"{label}: {text}"


def _place(name: str, index: int | None, point: Params, place: KeyPath, grid: GridSpec | None) -> KeyPath:
    """Return where in a grid a parameter has its value."""
    if index is not None or not isinstance(grid, dict):
        return (*place, index or 0, name)
    return (*place, next(key for key in grid if name in tied(key)))


def _values(method: Method, params: Params) -> Iterator[tuple[str, str]]:
    """Yield (parameter, sentence) for what is wrong with the values of one point."""
    if not method.solvers:
        yield from _refused(method.load(), params)
        return
    solver, options = params.get("solver"), params.get("solver_options")
    if solver is not None and (not isinstance(solver, str) or solver not in method.solvers):
        yield "solver", f"{method.key} has no solver {shown(solver)}: {nearest(solver, method.solvers)}"
        return
    estimator = method.load()
    if params.get("kernel") == "precomputed":
        yield "kernel", "kernel 'precomputed' needs a Gram matrix instead of points: it is for Python only"
        return
    if isinstance(options, dict) and (wrong := list(_options(method, solver, options))):
        yield from (("solver_options", text) for text in wrong)
        return
    yield from _refused(estimator, params)


def _refused(estimator: type, params: Params) -> Iterator[tuple[str, str]]:
    """Yield what a class itself says of the values: in its constructor, or as scikit-learn checks them."""
    try:
        made = estimator(**params)
        if hasattr(made, "_validate_params"):
            made._validate_params()
    except (ValueError, TypeError, OverflowError) as error:
        named = _NAMED.match(str(error))
        name = named[1] if named else ""
        yield name, f"{error}{decimal_comma(params.get(name))}"


def _options(method: Method, solver: str | None, given: dict[str, JsonValue]) -> Iterator[str]:
    """Yield what is wrong with the options of a solver, by its signature."""
    from mmc.methods.solvers import load_solver

    name = solver or next(iter(method.solvers))
    parameters = inspect.signature(load_solver(method.solvers[name]).solve).parameters
    known = {p.name: str(p.annotation) for p in parameters.values() if p.kind is p.KEYWORD_ONLY and p.name != "session"}
    for option, value in given.items():
        if option not in known:
            yield f"solver {name!r} has no option {option!r}: {nearest(option, known)}"
            continue
        kinds = known[option].split(" | ")
        allowed = tuple(t for kind in kinds for t in _TYPES.get(kind, (object,)))
        if not isinstance(value, allowed) or (isinstance(value, bool) and not {bool, object} & set(allowed)):
            words = " or ".join(kinds).replace("None", "null")
            yield f"solver {name!r}: {option} is {shown(value)}, not {words}{decimal_comma(value)}"
