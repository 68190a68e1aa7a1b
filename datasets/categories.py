"""Columns of text as numbers: dates as days since 1970, categories as columns of 0 and 1."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import takewhile

import numpy as np
from numpy.typing import NDArray

from mmc.datasets.cells import Notation
from mmc.datasets.dataset import DataError
from mmc.labels import ordered

MOST = 100  # different texts that still are categories; a column with more is an identifier or free text
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class TooManyTexts(DataError):
    """A column of text with too many different ones to be categories."""

    def __init__(self, place: str, column: str, count: int) -> None:
        super().__init__(
            f"{place} has {count} different texts, and at most {MOST} become categories; leave it out with "
            f"drop=[{column!r}], or make numbers of it"
        )
        self.column, self.count = column, count


def encode(place: str, name: str, cells: Sequence[str], notation: Notation) -> dict[str, NDArray[np.float64]]:
    """Return the columns that a column of text becomes, NaN where a cell is missing.

    A column of dates (ISO 8601, or day.month.year) becomes days since 1970. Other text becomes one column for each
    category but the first, 1 in the rows of that category: with all of them the columns would add up to 1, and no
    covariance could be inverted.
    """
    texts = ["" if notation.absent(cell) else cell.strip() for cell in cells]
    kinds = ordered(text for text in texts if text)
    days = dict(takewhile(lambda pair: pair[1] is not None, ((kind, _days(kind)) for kind in kinds)))
    if kinds and len(days) == len(kinds):
        return {name: np.array([days.get(text, np.nan) for text in texts], dtype=np.float64)}
    if len(kinds) > MOST:
        raise TooManyTexts(place, name, len(kinds))
    number = {kind: code for code, kind in enumerate(kinds)}
    codes = np.array([number.get(text, -1) for text in texts])
    return {f"{name}={kind}": np.where(codes < 0, np.nan, codes == number[kind]) for kind in kinds[1:]}


def _days(text: str) -> float | None:
    """Return the days from the beginning of 1970 to a date, None if the text is no date."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        try:
            moment = datetime.strptime(text, "%d.%m.%Y")
        except ValueError:
            return None
    return (moment.replace(tzinfo=moment.tzinfo or UTC) - _EPOCH).total_seconds() / 86400
