"""From the text of a cell to a number or a label.

Labels are text. They are kept exactly as they stand (without surrounding blanks), with one exception: where every
label of the column is a number, it is written in its plain form, so that 1, +1, 1.0 and 1e0 are the same label "1" in
every format. The positive label is compared after the same step.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from mmc.datasets.dataset import DataError, Labels

MISSING = frozenset({"", "?", "na", "nan"})
_LIKELY_MISSING = frozenset({"n/a", "#n/a", "null", "none", "nil", "-", "--", ".", "missing", "unknown", "nat"})
_DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d+(?:[eE][+-]?\d+)?")
_LONG = 64  # characters; numpy gives every label of a column the room of the longest


@dataclass(frozen=True)
class Notation:
    """How cells are written: the words (in lower case) for a missing value, and the decimal sign."""

    missing: frozenset[str] = MISSING
    decimal: str = "."

    @classmethod
    def of(cls, missing_values: Iterable[object], decimal: str) -> Notation:
        """Return the notation with more words for a missing value."""
        if decimal not in (".", ","):
            raise DataError(f"decimal={decimal!r} is no decimal sign; it is '.' or ','")
        if isinstance(missing_values, str):
            missing_values = [missing_values]
        return cls(MISSING | {str(word).strip().lower() for word in missing_values}, decimal)

    def absent(self, text: str) -> bool:
        """Return whether a cell says that its value is missing."""
        return text.strip().lower() in self.missing

    @cached_property
    def codes(self) -> list[float]:
        """The numbers that stand for a missing value, such as -999."""
        return [value for word in self.missing if (value := self._value(word)) is not None and math.isfinite(value)]

    def number(self, text: str) -> float | None:
        """Return the number that a cell holds, NaN if it is missing, None if it is no number."""
        return math.nan if self.absent(text) else self._value(text.strip())

    def _value(self, text: str) -> float | None:
        if self.decimal == ",":
            text = text.replace(".", "_").replace(",", ".")  # a point would be of another notation
        return _number(text)

    def numbers(self, cells: Sequence[str]) -> NDArray[np.float64] | int:
        """Return a column as floats, NaN where a cell is missing, or the row of the first cell that is no number."""
        values = self._plain(cells)
        if values is None:
            values = []
            for row, cell in enumerate(cells):
                value = self.number(cell)
                if value is None:
                    return row
                values.append(value)
        return np.array(values, dtype=np.float64)

    def _plain(self, cells: Sequence[str]) -> list[float] | None:
        """Return the cells of a plain column as floats at once, None if one of them needs a closer look."""
        whole = "".join(cells)
        if self.decimal != "." or "_" in whole or not whole.isascii():
            return None
        try:
            return list(map(float, cells))
        except ValueError:
            return None

    def advice(self, cell: str) -> str:
        """Return what to do about a cell that is no number."""
        if cell.lower() in _LIKELY_MISSING:
            return f"if it means that the value is missing, set missing_values=[{cell!r}]"
        if self.decimal == "." and _DECIMAL_COMMA.fullmatch(cell):
            return "if its comma is the decimal sign, set decimal=','"
        return (
            "encode the column as numbers, or list the columns to use under `features`, or set encode=True, which makes "
            "numbers of categories and dates"
        )


def plain_labels(labels: Sequence[str], positive: object) -> tuple[list[str], str | None]:
    """Return labels and positive label, numbers in their plain form if all labels are numbers."""
    plain = {label: _plain_number(label) for label in set(labels)}
    stated = None if positive is None else str(positive).strip()
    if any(number is None for number in plain.values()):
        return list(labels), stated
    if stated is not None:
        stated = _plain_number(stated) or stated
    return [plain[label] or label for label in labels], stated


def label_array(labels: Sequence[str]) -> Labels:
    """Return labels as an array, as Python's own strings if one of them is long."""
    if max(map(len, labels)) > _LONG:
        return np.array(labels, dtype=np.object_)
    return np.array(labels, dtype=np.str_)


def _number(text: str) -> float | None:
    if "_" in text or not text.isascii():  # float() takes 1_000 and other scripts' digits, a data file does not
        return None
    try:
        return float(text)
    except ValueError:
        return None


def _plain_number(text: str) -> str | None:
    value = _number(text)
    if value is None or not math.isfinite(value):
        return None
    if text.lstrip("+-").isdigit() and len(text) < 1000:  # Python refuses to read longer ones
        return str(int(text))  # not through float: a long identifier keeps all its digits
    return str(int(value)) if value.is_integer() else repr(value)
