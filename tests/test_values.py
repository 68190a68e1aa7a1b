"""What holds in every module."""

import importlib
import inspect
import pkgutil
from dataclasses import is_dataclass

import mmc.experiments
import mmc.methods
import mmc.methods.solvers

# These go on: what a search, a stream or a crew of workers has so far.
GROW = {"Span", "Session", "_Start", "_Best", "Sent", "Member", "Tried", "Summary", "_Top", "_Passes"}


def modules(room):
    return [importlib.import_module(one.name) for one in pkgutil.walk_packages(room.__path__, f"{room.__name__}.")]


def test_a_dataclass_is_frozen_unless_it_is_what_something_has_so_far():
    """Who holds a problem, an answer or a record can rely on it."""
    found = {
        value
        for module in modules(mmc.methods) + modules(mmc.experiments)
        for value in vars(module).values()
        if isinstance(value, type) and is_dataclass(value) and value.__module__ == module.__name__
    }
    assert len(found) > 150
    assert {value.__name__ for value in found if not value.__dataclass_params__.frozen} == GROW


def test_a_solver_that_is_not_told_otherwise_solves_to_a_millionth():
    tolerances = {
        module.__name__: inspect.signature(module.solve).parameters["tol"].default
        for module in modules(mmc.methods.solvers)
        if "tol" in inspect.signature(getattr(module, "solve", modules)).parameters
    }
    stated = {name: tol for name, tol in tolerances.items() if tol is not inspect.Parameter.empty}
    assert len(stated) > 20
    assert {name: tol for name, tol in stated.items() if not 0 < tol <= 1e-6} == {}
