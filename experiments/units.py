"""The work that is sent to a worker. A unit is small: it names its data and its split, and carries no rows of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pydantic import JsonValue

from mmc.experiments.metrics import Costs
from mmc.experiments.sources import Source
from mmc.experiments.splits import Split

Params = dict[str, JsonValue]


@dataclass(frozen=True)
class Tuning:
    """The search of a grid by cross-validation inside each training part."""

    points: tuple[Params, ...]
    folds: int
    repetitions: int
    metric: str
    costs: Costs


@dataclass(frozen=True)
class Task:
    """What is fitted: a method under its label, with the parameters that all trials share."""

    label: str
    method: str
    params: Params
    tune: Tuning | None = None


@dataclass(frozen=True)
class Where:
    """What it is fitted on: a data set (``content`` is its hash), a split of it, and how its features are prepared.

    Of several classes a classifier is fitted on a ``pair``, the positive one first, or tells all apart on its ``own``.
    """

    source: Source
    content: str
    split: Split
    scale: str
    pca: int | None = None
    pair: tuple[str, str] | None = None
    own: bool = False

    @property
    def several(self) -> bool:
        """Whether the split is one of several classes, none of them the positive one."""
        return self.own or self.pair is not None


@dataclass(frozen=True)
class Trial:
    """One point of a method's grid on one split; ``key`` is made of all that decides its record."""

    key: str
    point: Params


@dataclass(frozen=True, kw_only=True)
class Unit:
    """The work that is sent to a worker: (data set, split, method) with the whole grid inside.

    ``follows`` are the keys of the records that decide its grid point: those of the repetitions that tune for it.
    """

    task: Task
    where: Where
    trials: tuple[Trial, ...]
    measures: Mapping[str, Params] = field(default_factory=dict)
    follows: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        return self.task.label

    @property
    def source(self) -> Source:
        return self.where.source

    @property
    def split(self) -> Split:
        return self.where.split

    @property
    def pair(self) -> tuple[str, str] | None:
        return self.where.pair

    def __str__(self) -> str:
        pair = f"{' against '.join(self.pair)}, " if self.pair else ""
        place = f"repetition {self.split.repetition + 1}, fold {self.split.fold + 1}"
        return f"{self.label} on {self.source.label}, {pair}{place}"
