"""Claims as data: what a config may say of its table, and how each kind of statement is tested.

Every statement comes down to differences, each with a 95 % interval: over repetitions the corrected resampled t interval of Nadeau
& Bengio (2003); of two methods on the same test points the exact one of McNemar's test; of a fitted line the t interval. A
difference agrees with the statement if its whole interval does, speaks against it if its whole interval does that, and is
open otherwise. A statement holds if all agree, in part if some do; it does not hold if none does and one speaks against it. Of a
statement that one point is enough for (``some``) one must agree, and it fails only if all speak against it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from pydantic import Field, JsonValue

from mmc.experiments.cells import Cell, Table
from mmc.experiments.claims import Claim, Kept
from mmc.experiments.model import Model
from mmc.experiments.places import matches
from mmc.experiments.student import quantile

_LEVEL = 0.975
_LISTED = 8  # differences that are spelled out; of more, the largest and the smallest are
_Names = str | list[str]


@dataclass(frozen=True)
class Pairing:
    """How repetitions belong together: ``overlap`` is the split's; without records only means and spreads are known."""

    overlap: float
    paired: bool = True


@dataclass(frozen=True)
class Difference:
    """A measured difference or slope or share with its interval, and what it is of."""

    of: str
    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.of}: {_round(self.value):+.3g} [{_round(self.low):.3g}, {_round(self.high):.3g}]"


def _round(value: float) -> float:
    """Return a number without what rounding leaves of 0."""
    return round(value, 6) + 0.0


class Statement(Model):
    """What all kinds share: the paper's words, and the cells that they are about."""

    says: str
    where: dict[str, JsonValue] = Field(default_factory=dict)

    def differences(self, table: Table, how: Pairing) -> Iterator[Difference]:
        """Yield what was measured."""
        raise NotImplementedError

    def agrees(self, found: Difference) -> bool | None:
        """Return whether a difference agrees, speaks against the statement (False), or is open (None)."""
        raise NotImplementedError

    def names(self) -> Iterator[tuple[str, str]]:
        """Yield the methods and metrics that the statement names, for the check of a config."""
        raise NotImplementedError

    def verdict(self, yes: int, no: int, found: int) -> Kept:
        """Return what so many differences that agree and that speak against it make of the statement."""
        if yes == found > 0:
            return Kept.HOLDS
        return Kept.PARTLY if yes else Kept.FAILS if no else Kept.OPEN

    def tested(self, table: Table, how: Pairing) -> Claim:
        """Return the statement with its verdict."""
        found = list(self.differences(table, how))
        answers = [self.agrees(one) for one in found]
        yes, no = answers.count(True), answers.count(False)
        verdict = self.verdict(yes, no, len(found))
        shown = found
        if len(found) > _LISTED:
            shown = [min(found, key=lambda one: one.value), max(found, key=lambda one: one.value)]
        counted = f"{yes} of {len(found)} agree, {no} against, {len(found) - yes - no} open" if len(found) > 1 else ""
        return Claim(self.says, "; ".join(filter(None, [counted, *map(str, shown)])) or "not run", verdict)


class Ordered(Statement):
    """The first is below, above or equal to the second: methods on one metric, metrics of one method, or a number.

    ``than`` is the metric of the second where it is another one, or the number. The difference is compared with ``by``; equal means
    within ``within`` of it. With ``some``, one point of all that it is about is enough.
    """

    kind: Literal["below", "above", "equal"]
    metric: str
    first: _Names
    second: _Names | None = None
    than: str | float | None = None
    by: float = 0.0
    within: float = Field(default=0.0, ge=0)
    some: bool = False

    def verdict(self, yes: int, no: int, found: int) -> Kept:
        if not self.some:
            return super().verdict(yes, no, found)
        return Kept.HOLDS if yes else Kept.FAILS if no == found > 0 else Kept.OPEN

    def names(self) -> Iterator[tuple[str, str]]:
        for name in [*_listed(self.first), *_listed(self.second)]:
            yield "method", name
        yield "metric", self.metric
        if isinstance(self.than, str):
            yield "metric", self.than

    def agrees(self, found: Difference) -> bool | None:
        low, high = found.low - self.by, found.high - self.by
        if self.kind == "equal":
            if -self.within <= low and high <= self.within:
                return True
            return False if low > self.within or high < -self.within else None
        yes, no = (high < 0, low > 0) if self.kind == "below" else (low > 0, high < 0)
        return True if yes else False if no else None

    def differences(self, table: Table, how: Pairing) -> Iterator[Difference]:
        other = self.than if isinstance(self.than, str) else self.metric
        for cell in _of(table, self.first, self.metric, self.where):
            if isinstance(self.than, (int, float)):
                yield _difference(cell, float(self.than), how, _place(table, cell))
                continue
            for method in _listed(self.second) or [str(cell.keys["method"])]:
                for twin in _of(table, method, other, self.where):
                    same = method == cell.keys["method"] and other == self.metric
                    if not same and _point(table, cell) == _point(table, twin):
                        than = f" − {method}" if self.second else f" − {table.label(other)}"
                        yield _difference(cell, twin, how, _place(table, cell) + than)


class Trend(Statement):
    """A metric rises or falls with a key of the grid: the slope over the grid in every repetition."""

    kind: Literal["rises", "falls"]
    metric: str
    key: str
    methods: _Names

    def names(self) -> Iterator[tuple[str, str]]:
        yield from (("method", name) for name in _listed(self.methods))
        yield from (("metric", self.metric), ("key", self.key))

    def agrees(self, found: Difference) -> bool | None:
        up, down = found.low > 0, found.high < 0
        yes, no = (up, down) if self.kind == "rises" else (down, up)
        return True if yes else False if no else None

    def differences(self, table: Table, how: Pairing) -> Iterator[Difference]:
        lines: dict[tuple[JsonValue, ...], list[Cell]] = {}
        for cell in _of(table, self.methods, self.metric, self.where):
            keys = (name for name in table.keys if name != self.key)
            lines.setdefault(tuple(str(cell.keys.get(name)) for name in keys), []).append(cell)
        for cells in lines.values():
            most = max((len(cell.by_repetition) for cell in cells), default=0)
            whole = [cell for cell in cells if len(cell.by_repetition) == most]
            if how.paired and most > 1 and len(whole) > 1:
                x = np.array([float(str(cell.keys[self.key])) for cell in whole])
                x = (x - x.mean()) / np.sum((x - x.mean()) ** 2)
                slopes = x @ np.array([cell.by_repetition for cell in whole])
                place = [str(cells[0].keys.get(name)) for name in ("dataset", "method")]
                yield _interval(slopes.tolist(), how.overlap, " ".join(place))


class Condition(Model):
    """What a repetition must have: a metric of a method between two numbers."""

    method: str
    metric: str
    least: float = -math.inf
    most: float = math.inf


class Share(Statement):
    """How often all conditions hold in one repetition: the share, in %, is at most or at least what is stated."""

    kind: Literal["share"]
    of: list[Condition] = Field(min_length=1)
    at_least: float = 0.0
    at_most: float = 100.0

    def names(self) -> Iterator[tuple[str, str]]:
        for condition in self.of:
            yield from (("method", condition.method), ("metric", condition.metric))

    def agrees(self, found: Difference) -> bool | None:
        if self.at_least <= found.low and found.high <= self.at_most:
            return True
        return False if found.high < self.at_least or found.low > self.at_most else None

    def differences(self, table: Table, how: Pairing) -> Iterator[Difference]:
        from scipy.special import betaincinv

        for dataset in dict.fromkeys(cell.keys["dataset"] for cell in table.cells if matches(self.where, cell.keys)):
            met = []
            for condition in self.of:
                for cell in _of(table, condition.method, condition.metric, {**self.where, "dataset": str(dataset)}):
                    values = np.array(cell.by_repetition)
                    met.append((values >= condition.least) & (values <= condition.most))
            if how.paired and len(met) == len(self.of) and len({len(one) for one in met}) == 1:
                n, k = len(met[0]), int(np.sum(np.logical_and.reduce(met)))
                low = float(betaincinv(k, n - k + 1, 1 - _LEVEL)) if k else 0.0
                high = float(betaincinv(k + 1, n - k, _LEVEL)) if k < n else 1.0
                yield Difference(f"{dataset}, {k} of {n}", 100 * k / n, 100 * low, 100 * high)


AnyStatement = Annotated[Ordered | Trend | Share, Field(discriminator="kind")]


def _listed(names: _Names | None) -> list[str]:
    return [] if names is None else [names] if isinstance(names, str) else names


def _of(table: Table, methods: _Names, metric: str, where: dict[str, JsonValue]) -> list[Cell]:
    """Return the cells of some methods that were measured."""
    return [
        cell
        for cell in table.cells
        if cell.metric == metric
        and cell.by_repetition
        and str(cell.keys.get("method")) in _listed(methods)
        and matches(where, cell.keys)
    ]


def _point(table: Table, cell: Cell) -> tuple[str, ...]:
    """Return where a cell stands but for its method."""
    return tuple(str(cell.keys.get(name)) for name in table.keys if name != "method")


def _place(table: Table, cell: Cell) -> str:
    rest = [name for name in table.keys if name not in ("dataset", "method") and name in cell.keys]
    words = [str(cell.keys["dataset"]), str(cell.keys["method"])]
    return ", ".join(words + [f"{table.label(name)} = {table.label(cell.keys[name])}" for name in rest])


def _difference(cell: Cell, other: Cell | float, how: Pairing, of: str) -> Difference:
    """Return the difference of two cells, or of a cell and a number, with its interval."""
    mine = np.array(cell.by_repetition)
    if isinstance(other, float):
        values = mine - other
    elif len(other.by_repetition) == len(mine) and (how.paired or len(mine) == 1):
        values = mine - np.array(other.by_repetition)
    else:
        return _apart(cell, other, how.overlap, of)
    if len(values) > 1:
        return _interval(values.tolist(), how.overlap, of)
    if not isinstance(other, float) and cell.right is not None and other.right is not None:
        return _mcnemar(cell, other, float(values[0]), of)
    return _sampled(cell, other, float(values[0]), of)


def _apart(cell: Cell, other: Cell, overlap: float, of: str) -> Difference:
    """Return the interval of two means whose repetitions cannot be paired: some are infeasible, or not known one by one."""
    gap = float(np.mean(cell.by_repetition)) - float(np.mean(other.by_repetition))
    sizes = [len(one.by_repetition) for one in (cell, other)]
    spreads = [one.std * math.sqrt(1 / n + overlap) for one, n in zip((cell, other), sizes, strict=True)]
    reach = quantile(max(min(sizes) - 1, 1), _LEVEL) * math.hypot(*spreads)
    return Difference(of, gap, gap - reach, gap + reach)


def _interval(values: Sequence[float], overlap: float, of: str) -> Difference:
    n, mean = len(values), float(np.mean(values))
    reach = quantile(n - 1, _LEVEL) * float(np.std(values, ddof=1)) * math.sqrt(1 / n + overlap)
    return Difference(of, mean, mean - reach, mean + reach)


def _mcnemar(cell: Cell, other: Cell, value: float, of: str) -> Difference:
    """Return the exact interval given how many points only one of the two has right: one of them is a coin's share of these."""
    from scipy.special import betaincinv

    assert cell.right is not None
    assert other.right is not None
    only, theirs = int(np.sum(cell.right & ~other.right)), int(np.sum(other.right & ~cell.right))
    n = only + theirs
    unit = abs(value) / abs(theirs - only) if theirs != only else 1.0
    low = float(betaincinv(theirs, only + 1, 1 - _LEVEL)) if theirs else 0.0
    high = float(betaincinv(theirs + 1, only, _LEVEL)) if only else 1.0
    return Difference(of, value, unit * n * (2 * low - 1), unit * n * (2 * high - 1))


def _sampled(cell: Cell, other: Cell | float, value: float, of: str) -> Difference:
    """Return the interval of single runs: what their test points, or the fit of a line, leave uncertain."""
    se = math.hypot(cell.sampling, 0.0 if isinstance(other, float) else other.sampling)
    reach = quantile(cell.df, _LEVEL) * se if se else 0.0
    return Difference(of, value, value - reach, value + reach)
