"""Cells and tables: what was measured, beside what the paper printed."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mmc.experiments.data_facts import DataFacts
from mmc.experiments.metrics import BOUNDS, COUNTED, VOTED, fact
from mmc.experiments.records import Json
from mmc.labels import is_number

if TYPE_CHECKING:
    from pandas import DataFrame

INFEASIBLE = "×"

Keys: TypeAlias = Mapping[str, Json]
Place: TypeAlias = tuple[Json, ...]
Row: TypeAlias = dict[str, Json]


class Verdict(StrEnum):
    """What became of a number that a paper printed. Only the first kind is evidence; `verdicts` has the rules."""

    MATCH = "match"
    WEAK = "weak match"
    FITTED = "fitted"
    CONSTRUCTED = "by construction"
    INFEASIBLE = "infeasible as printed"
    KNOWN = "explained deviation"
    DIFFERS = "differs"
    NOT_RUN = "not run"
    NONE = ""


@dataclass(frozen=True)
class Cell:
    """One number of a table: the mean over complete repetitions, its spread, and what the paper printed.

    ``draws`` is the number of repetitions, complete or not. ``resolution`` is what one test point, classified otherwise in
    one repetition, changes. A single run has no spread: ``sampling`` is what its test points, or the fit of a line, leave
    uncertain (a standard error, with ``df`` degrees of freedom). ``right`` says of every test point of that run whether the
    vote was right, ``discordant`` on how many the most similar other method is right or wrong where this one is not.
    ``perfect`` is the number that no error gives; ``percent`` says that the unit is one in a hundred.

    ``half_width`` is that of the interval in which a reported number counts as matched, ``runs`` how many runs the paper's
    mean is taken to be of, ``same_as`` names the cells that a reported number repeats. ``place`` is where it stands in the paper.
    """

    keys: Keys
    metric: str
    by_repetition: tuple[float, ...] = ()
    draws: int = 0
    trials: int = 0
    infeasible: int = 0
    failed: int = 0
    missing: int = 0
    capped: int = 0
    resolution: float = 0.0
    reported: str | None = None
    reported_std: str | None = None
    place: Keys = field(default_factory=dict)
    verdict: Verdict = Verdict.NONE
    half_width: float | None = None
    runs: int = 1
    same_as: str = ""
    reason: str = ""
    see: str | None = None
    chosen: Keys = field(default_factory=dict)
    distance: float | None = None
    tuned_first: int | None = None
    sampling: float = 0.0
    df: float = math.inf
    right: NDArray[np.bool_] | None = field(default=None, compare=False, repr=False)
    discordant: int | None = None
    trouble: str = ""
    digits: int = 2
    whole: bool = False
    form: str = ""
    perfect: float = 0.0
    percent: bool = False

    @cached_property
    def mean(self) -> float | None:
        return float(np.mean(self.by_repetition)) if self.by_repetition else None

    @cached_property
    def std(self) -> float:
        return float(np.std(self.by_repetition, ddof=1)) if len(self.by_repetition) > 1 else 0.0

    @property
    def se(self) -> float:
        """The standard error of the mean, or of a single run."""
        n = len(self.by_repetition)
        return self.std / math.sqrt(n) if n > 1 else self.sampling

    @property
    def printed(self) -> float | None:
        """The reported number; None where there is none, or where the paper printed ×."""
        return None if self.reported in (None, INFEASIBLE) else float(str(self.reported))

    @property
    def difference(self) -> float | None:
        return None if self.mean is None or self.printed is None else self.mean - self.printed

    @property
    def done(self) -> int:
        """How many of its trials have a record."""
        return self.trials - self.missing

    @property
    def worth(self) -> float:
        """What one test point changes in one repetition."""
        return self.resolution * max(len(self.by_repetition), 1)

    @property
    def partly(self) -> str:
        """How many repetitions the number is of, where some are infeasible; else empty."""
        some = bool(self.by_repetition) and not self.missing and len(self.by_repetition) < self.draws
        return f"{len(self.by_repetition)}/{self.draws} draws" if some else ""

    @property
    def decimals(self) -> int:
        """How many digits to show: those of the paper, or what the config asks for."""
        if self.printed is not None:
            return len(str(self.reported).partition(".")[2])
        return 0 if self.whole and len(self.by_repetition) == 1 else self.digits

    def row(self, keys: Sequence[str]) -> Row:
        """Return the cell as a row of a frame: its keys, the metric, what was measured, what was printed, the verdict."""
        known = self.mean is not None
        return {
            **{key: scalar(self.keys.get(key)) for key in keys},
            "metric": self.metric,
            "mean": self.mean,
            "std": self.std if known else None,
            "se": self.se if known else None,
            "repetitions": len(self.by_repetition),
            "trials": self.trials,
            "infeasible": self.infeasible,
            "failed": self.failed,
            "not_run": self.missing,
            "chosen": ", ".join(f"{key}={value}" for key, value in self.chosen.items()) or None,
            "reported": self.printed,
            "difference": self.difference,
            "verdict": str(self.verdict) or None,
        }


def scalar(value: Json) -> Json:
    """Return a value that a frame can hold: a list or a mapping as text."""
    return value if value is None or isinstance(value, (str, int, float)) else str(value)


@dataclass(frozen=True)
class Pair:
    """The mean difference of two methods over the same repetitions, and the half-width of its 95 % interval.

    With ``same_rows`` every repetition tests all rows: then the interval is about other partitions of these rows, not about other rows.
    """

    dataset: str
    metric: str
    first: str
    second: str
    difference: float
    half_width: float
    repetitions: int
    same_rows: bool = False


@dataclass(frozen=True)
class Discordance:
    """Two methods on one test set: how many points only the first classifies rightly, and how many only the second.

    ``p`` is the exact two-sided p-value of McNemar's test: were the methods equally good, each discordant point
    would be as likely on either side.
    """

    dataset: str
    first: str
    second: str
    only_first: int
    only_second: int
    points: int

    @property
    def p(self) -> float:
        from scipy.special import bdtr

        discordant = self.only_first + self.only_second
        return min(1.0, 2 * float(bdtr(min(self.only_first, self.only_second), discordant, 0.5)))


@dataclass(frozen=True)
class Joint:
    """Whether the printed numbers of a data set are plausible together: the p-value, of how many, and what is left out.

    ``place`` names the data set and, in a sweep, the reading.
    """

    place: tuple[str, ...]
    p: float
    used: int
    unused: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True)
class Table:
    """All cells of a config, with the keys that lay them out."""

    name: str
    title: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    metrics: tuple[str, ...]
    cells: tuple[Cell, ...]
    labels: Mapping[str, str]
    source: str = ""
    pairs: tuple[Pair, ...] = ()
    spread: str = "std"
    discordances: tuple[Discordance, ...] = ()
    remarks: tuple[str, ...] = ()
    joint: tuple[Joint, ...] = ()
    data: tuple[DataFacts, ...] = ()

    @property
    def keys(self) -> tuple[str, ...]:
        """The names of all keys that tell one cell from another, besides the metric."""
        return tuple(dict.fromkeys(["dataset", "method", *self.rows, *self.columns]))

    @property
    def judged(self) -> list[Cell]:
        """The cells with a verdict."""
        return [cell for cell in self.cells if cell.verdict]

    def to_frame(self) -> DataFrame:
        """Return the table as a pandas frame, tidy: one row a cell."""
        import pandas as pd

        return pd.DataFrame([cell.row(self.keys) for cell in self.cells])

    def label(self, word: Json) -> str:
        """Return how a key, a value or a metric is written."""
        text = f"{word:g}" if isinstance(word, float) else str(word)
        return self.labels.get(text) or self._of_a_class(text) or _LABELS.get(text) or fact(text).label

    def _of_a_class(self, metric: str) -> str:
        """Return a metric of one class with the name of that class, if it is the same in all data sets; else nothing."""
        if metric not in _OF_A_CLASS or not self.class_names:
            return ""
        return _OF_A_CLASS[metric].replace("+ve", self.class_names[0]).replace("−ve", self.class_names[1])

    @cached_property
    def class_names(self) -> tuple[str, str] | None:
        """The positive and the negative class as headings name them; None where the data sets differ."""
        found = {(of.positive, of.negative) for of in self.data}
        if len(found) != 1:
            return None
        positive, negative = found.pop()
        return (_short(positive), _short(negative)) if positive is not None and negative is not None else None

    def headings(self, column: Sequence[Json]) -> list[str]:
        """Return what stands above a column, the metric last: a number alone would not say what it is of."""
        keys = [
            f"{self.label(key)} = {text}" if isinstance(part, (int, float)) and text == f"{part:g}" else text
            for key, part in zip(self.columns, column, strict=False)
            for text in (self.label(part),)
        ]
        return [*keys, self.label(column[-1])]


def _short(name: str) -> str:
    """Return a class as a heading names it: a number alone would not say what it is."""
    name = f"class {name}" if is_number(name) else name
    return name if len(name) <= _LONGEST else name[: _LONGEST - 1] + "…"


_LONGEST = 24
_OF_A_CLASS = {n: m.label for n, m in {**COUNTED, **BOUNDS}.items() if m.label.startswith(("+ve", "−ve"))}
_LABELS = {"eta_pos": "η₁", "eta_neg": "η₂"} | {name: metric.label for name, metric in {**COUNTED, **VOTED}.items()}
