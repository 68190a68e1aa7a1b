"""Places in a table: keys with values, and which of them are meant."""

from __future__ import annotations

import math

from mmc.experiments.cells import Keys
from mmc.experiments.records import Json


def matches(wanted: Keys, given: Keys) -> bool:
    """Whether the given keys have every wanted value; a list means any of its items."""
    return all(key in given and _same(value, given[key]) for key, value in wanted.items())


def _same(a: Json, b: Json) -> bool:
    if isinstance(a, list):
        return any(_same(x, b) for x in a)
    if isinstance(a, (str, int, float)) and isinstance(b, (str, int, float)):
        try:
            return math.isclose(float(a), float(b), rel_tol=1e-9)
        except ValueError:
            pass
    return str(a) == str(b)


def fixed_by(where: Keys) -> set[str]:
    """Return the columns that ``where`` gives one value: they need not be keys of the table."""
    return {key for key, value in where.items() if not isinstance(value, list)}
