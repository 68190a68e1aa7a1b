"""All reported numbers as one picture: a square each, by paper, placed by its distance in units of the interval."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from mmc.experiments.scoreboard import PAPERS, Number

REACH = 2.5  # distances beyond it are drawn at the edge
_BINS = 40  # between -REACH and REACH
_SIDE, _STEP = 11.0, 13.0
_LEFT, _TOP, _GAP = 160.0, 28.0, 18.0
_APART = 26.0  # between the distances and the numbers without one


@dataclass(frozen=True)
class Square:
    """One number of the picture."""

    x: float
    y: float
    number: Number

    @property
    def words(self) -> str:
        """What the square stands for."""
        row = self.number.row
        place = ", ".join(map(str, self.number.keys.values()))
        away = (
            ""
            if self.number.distance is None
            else f", {abs(self.number.distance):.2f} of the interval's half-width away"
        )
        measured = f", measured {self.number.measured}" if self.number.measured else ""
        return f"{PAPERS[self.number.paper].authors}, {place}: {row['metric']} reported {row['value']}{measured}{away}: {self.number.verdict.value}"


@dataclass(frozen=True)
class Row:
    """A paper of the picture: where its squares stand."""

    authors: str
    count: int
    base: float
    squares: tuple[Square, ...]


@dataclass(frozen=True)
class Strip:
    """The picture. ``ticks`` are (x, text) of the axis."""

    width: float
    height: float
    side: float
    rows: tuple[Row, ...]
    ticks: tuple[tuple[float, str], ...]
    inside: tuple[float, float]
    beyond: float


def strip(numbers: Sequence[Number]) -> Strip:
    """Lay the numbers out: stacked where their distances are alike, those without a distance beside."""
    rows, y = [], _TOP
    columns = _BINS + 2
    beyond = _LEFT + columns * _STEP + _APART
    loose = 0
    for key, paper in PAPERS.items():
        mine = [number for number in numbers if number.paper == key]
        if not mine:
            continue
        stacks: dict[int, list[Number]] = {}
        for number in mine:
            stacks.setdefault(_bin(number), []).append(number)
        away = stacks.pop(columns, [])
        high = max([*map(len, stacks.values()), 3])
        wide = math.ceil(len(away) / high)
        loose = max(loose, wide)
        base = y + high * _STEP
        squares = [
            Square(_LEFT + at * _STEP, base - (k + 1) * _STEP, number)
            for at, stack in sorted(stacks.items())
            for k, number in enumerate(sorted(stack, key=lambda n: n.verdict))
        ]
        squares += [
            Square(beyond + k // high * _STEP, base - (k % high + 1) * _STEP, number) for k, number in enumerate(away)
        ]
        rows.append(Row(paper.authors, len(mine), base, tuple(squares)))
        y = base + _GAP
    ticks = tuple((_x(at), text) for at, text in ((-2, "−2"), (-1, "−1"), (0, "0"), (1, "1"), (2, "2")))
    width = beyond + max(loose, 11) * _STEP
    return Strip(width, y + 20, _SIDE, tuple(rows), ticks, (_x(-1), _x(1)), beyond)


def _bin(number: Number) -> int:
    """Return the column of a number: 0 and the last but one are beyond the axis, the last is for those without a distance."""
    if number.distance is None:
        return _BINS + 2
    at = math.floor((number.distance + REACH) / (2 * REACH) * _BINS) + 1
    return min(max(at, 0), _BINS + 1)


def _x(distance: float) -> float:
    return _LEFT + ((distance + REACH) / (2 * REACH) * _BINS + 1) * _STEP
