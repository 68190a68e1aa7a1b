"""The docstring of every method lists all that it takes and all that it leaves, and its example runs."""

import doctest
import inspect
from enum import Enum
from importlib import import_module

import pytest
from numpydoc.docscrape import ClassDoc
from sklearn.base import clone

import mmc.methods
from mmc.methods import CATALOGUE

from .test_contract import two_classes, variants


def names(section):
    return {name for item in section for name in item.name.split(", ")}


@pytest.mark.parametrize("entry", CATALOGUE.values(), ids=lambda e: e.key)
def test_parameters_and_attributes_are_complete(entry):
    documented = ClassDoc(entry.load())
    assert names(documented["Parameters"]) == set(entry.parameters())
    left = {"estimators_"}  # of more than two classes
    for estimator in variants("all"):
        if type(estimator) is entry.load():
            model = clone(estimator).fit(*two_classes(estimator))
            left |= {name for name in dir(model) if name.endswith("_") and not name.startswith("_")}
    assert names(documented["Attributes"]) - {"feature_names_in_"} == left


PUBLIC = [name for name in mmc.methods.__all__ if name != "CATALOGUE"]


@pytest.mark.parametrize("name", PUBLIC)
def test_every_public_class_has_its_parameters_and_an_example_that_runs(name):
    cls = getattr(mmc.methods, name)
    documented = ClassDoc(cls)
    assert documented["Summary"]
    if not issubclass(cls, Enum) and cls.__init__ is not object.__init__ and "__init__" in vars(cls):
        assert names(documented["Parameters"]) == set(inspect.signature(cls).parameters)
    examples = doctest.DocTestFinder(recurse=False).find(cls, name, globs={})
    assert sum(len(one.examples) for one in examples) > 0
    runner = doctest.DocTestRunner()
    assert all(runner.run(one).failed == 0 for one in examples)


@pytest.mark.parametrize("module", sorted({entry.module for entry in CATALOGUE.values()}))
def test_examples_run(module):
    found = doctest.testmod(import_module(f"mmc.methods.{module}"))
    assert found.attempted > 0
    assert found.failed == 0
