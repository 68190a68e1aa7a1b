"""The order of labels, and which of two is the positive class unless the user says so."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from math import isfinite
from typing import TypeVar

Label = TypeVar("Label", bound=Hashable)


def ordered(labels: Iterable[Label]) -> list[Label]:
    """Return the different labels in their order: as numbers if all of them are numbers, as text if not.

    Text that spells a number is one: "2" comes before "10".
    """
    different = set(labels)
    numbers = {label: _number(label) for label in different}
    if all(number is not None for number in numbers.values()):
        return sorted(different, key=lambda label: (numbers[label], str(label)))
    return sorted(different, key=str)


def positive_label(labels: Iterable[Label]) -> Label:
    """Return the positive class: the largest label."""
    return ordered(labels)[-1]


def is_number(label: object) -> bool:
    """Whether a label is a number, or text that spells one."""
    return _number(label) is not None


def are_words(labels: Iterable[object]) -> bool:
    """Whether labels are text that spells no numbers: their order does not say which one is meant."""
    return any(isinstance(label, str) and not is_number(label) for label in labels)


def _number(label: object) -> float | None:
    try:
        number = float(str(label))
    except ValueError:
        return None
    return number if isfinite(number) else None
