"""Weights given to a method whose problem has none: one sentence that says so, and which methods take them."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Self

from mmc.methods import CATALOGUE


class RefusesWeights:
    """Base of all methods: a weight that a method does not know is refused in words, not ignored."""

    def __new__(cls, *args: object, **params: object) -> Self:
        if "class_weight" in params and "class_weight" not in inspect.signature(cls).parameters:
            raise TypeError(no_class_weight(cls.__name__))
        return super().__new__(cls)

    @classmethod
    def _refuse(cls, given: Mapping[str, object]) -> None:
        """Raise TypeError for what was given to ``fit`` besides its own arguments."""
        for name, value in given.items():
            if name != "sample_weight":
                raise TypeError(f"{cls.__name__}.fit() got an unexpected keyword argument {name!r}")
            if value is not None:
                raise TypeError(no_sample_weight(cls.__name__))


def no_sample_weight(name: str) -> str:
    """Return why a method's ``fit`` takes no ``sample_weight``, and the methods that do."""
    takes = [e.name for e in CATALOGUE.values() if "sample_weight" in inspect.signature(e.load().fit).parameters]
    return (
        f"{name} takes no sample_weight: its problem, as the paper states it, counts all points of a class alike. "
        f"Repeat a row to count it more than once; methods that take it: {', '.join(takes)}"
    )


def no_class_weight(name: str) -> str:
    """Return why a method has no ``class_weight``, and the methods that have one. No method is imported."""
    takes = [entry for entry in CATALOGUE.values() if "class_weight" in entry.parameters()]
    return (
        f"{name} has no class_weight: its problem, as the paper states it, gives a class no weight; "
        f"methods that have it: {', '.join(e.key if name in CATALOGUE else e.name for e in takes)}"
    )
