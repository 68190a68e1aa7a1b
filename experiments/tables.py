"""Tables: records gathered into the paper's layout, each measured number beside the reported one, with a verdict."""

from __future__ import annotations

import csv
import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from mmc.experiments.config import Config, Deviation, Experiment, Reported
from mmc.experiments.dataspec import DataSpec
from mmc.experiments.errors import ConfigError
from mmc.experiments.metrics import COUNTED, VOTED, Costs, Metric, fact
from mmc.experiments.multiclass import Vote, votes
from mmc.experiments.paired import Discordance, Pair, discordances, intervals
from mmc.experiments.plan import Unit
from mmc.experiments.records import Record
from mmc.methods.solution import Status

INFEASIBLE = "×"
CONFIDENCE = 0.99
MATCH, DIFFERS, KNOWN, NOT_RUN = "match", "differs", "known deviation", "not run"
_RESERVED = ("metric", "value", "std")


@dataclass(frozen=True)
class Cell:
    """One number of a table: the mean over complete repetitions, its spread, and what the paper printed.

    A single run has no spread: ``sampling`` is what its test points, or the fit of a line, leave uncertain (a standard
    error, with ``df`` degrees of freedom). ``right`` says of every test point of that run whether the vote was right.
    """

    keys: Mapping[str, Any]
    metric: str
    by_repetition: tuple[float, ...] = ()
    trials: int = 0
    infeasible: int = 0
    failed: int = 0
    missing: int = 0
    capped: int = 0
    resolution: float = 0.0
    reported: str | None = None
    reported_std: str | None = None
    verdict: str = ""
    reason: str = ""
    see: str | None = None
    chosen: Mapping[str, Any] = field(default_factory=dict)
    distance: float | None = None
    tuned_first: int | None = None
    sampling: float = 0.0
    df: float = math.inf
    right: Any = field(default=None, compare=False, repr=False)
    trouble: str = ""
    digits: int = 2
    whole: bool = False
    form: str = ""

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
    def difference(self) -> float | None:
        if self.mean is None or self.reported in (None, INFEASIBLE):
            return None
        return self.mean - float(str(self.reported))

    @property
    def decimals(self) -> int:
        """How many digits to show: those of the paper, or what the config asks for."""
        if self.reported not in (None, INFEASIBLE):
            return len(str(self.reported).partition(".")[2])
        return 0 if self.whole and len(self.by_repetition) == 1 else self.digits


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

    def counts(self) -> dict[str, int]:
        """Return how many reported numbers have which verdict."""
        counts = {MATCH: 0, KNOWN: 0, DIFFERS: 0, NOT_RUN: 0}
        for cell in self.cells:
            if cell.verdict:
                counts[cell.verdict] += 1
        return counts

    def label(self, word: Any) -> str:
        """Return how a key, a value or a metric is written."""
        text = f"{word:g}" if isinstance(word, float) else str(word)
        return self.labels.get(text) or _LABELS.get(text) or _METRIC_LABELS.get(text) or fact(text).label

    def headings(self, column: Sequence[Any]) -> list[str]:
        """Return what stands above a column, the metric last: a number alone would not say what it is of."""
        keys = [
            f"{self.label(key)} = {text}" if isinstance(part, (int, float)) and text == f"{part:g}" else text
            for key, part in zip(self.columns, column, strict=False)
            for text in (self.label(part),)
        ]
        return [*keys, self.label(column[-1])]


_LABELS = {"eta_pos": "η₁", "eta_neg": "η₂"}
_METRIC_LABELS = {name: metric.label for name, metric in {**COUNTED, **VOTED}.items()}
Tested = Record | Vote
Repetitions = Mapping[int, list[Tested | None]]


def gather(config: Config, units: Sequence[Unit], records: Mapping[str, Record]) -> Table:
    """Make the table of a config from its records; trials without a record are not run yet."""
    experiment = config.experiment
    costs = Costs(experiment.costs.pos, experiment.costs.neg)
    metrics = [metric_of(name, experiment) for name in experiment.table.metrics]
    groups: dict[tuple[str, str, int], dict[int, list[Tested | None]]] = defaultdict(lambda: defaultdict(list))
    for unit, index, record in votes(units, records) if experiment.multiclass else _each(units, records):
        groups[unit.source.label, unit.label, index][unit.split.repetition].append(record)
    cells: list[Cell] = []
    for dataset in experiment.datasets:
        for label, spec in experiment.methods_on(dataset).items():
            grid = experiment.points_of(label)
            base = {**spec.params, "dataset": dataset, "method": label}
            options = [groups[dataset, label, index] for index in range(len(grid))]
            if spec.best is None:
                for point, repetitions in zip(grid, options, strict=True):
                    for metric in metrics:
                        cell = _cell({**base, **point}, metric, repetitions, costs)
                        cells.append(replace(cell, tuned_first=experiment.tuned_first(label, dataset)))
            else:
                chosen = _best(metric_of(spec.best, experiment), options, costs)
                for metric in metrics:
                    cell = _cell(base, metric, options[chosen], costs)
                    cells.append(replace(cell, chosen=grid[chosen]))
    cells = [replace(cell, digits=experiment.table.decimals) for cell in cells]
    if experiment.reported:
        beside = {label: spec.beside for label, spec in experiment.methods.items() if spec.beside}
        cells = compare(cells, experiment.reported, list(experiment.datasets), config.file.parent, beside)
    paired = experiment.table.paired
    comparable = [c for c in cells if c.metric == experiment.table.metrics[0]] if paired else []
    return Table(
        config.name,
        experiment.title,
        tuple(experiment.table.rows),
        tuple(experiment.table.columns),
        tuple(experiment.table.metrics),
        tuple(cells),
        experiment.table.labels,
        experiment.reported.source if experiment.reported else "",
        tuple(intervals(comparable, paired, experiment.split.overlap) if paired else ()),
        experiment.table.spread,
        tuple(discordances(comparable, paired) if paired else ()),
        tuple(_remarks(experiment)),
    )


def metric_of(name: str, experiment: Experiment) -> Metric:
    """Return a metric that a config names."""
    return (VOTED if experiment.multiclass else COUNTED).get(name) or fact(name)


def _each(units: Sequence[Unit], records: Mapping[str, Record]) -> Iterator[tuple[Unit, int, Record | None]]:
    for unit in units:
        for index, trial in enumerate(unit.trials):
            yield unit, index, records.get(trial.key)


def _remarks(experiment: Experiment) -> Iterator[str]:
    """Yield what the reader of a table must know of its data."""
    for label, spec in experiment.datasets.items():
        if words := used(spec or DataSpec()):
            yield f"{label}: {words}."
    if experiment.multiclass:
        yield (
            "One classifier for every pair of classes; the class with most votes wins, of several with as many votes "
            "the first in order."
        )


def used(spec: DataSpec) -> str:
    """Return which rows and features of a data set are used, in words; nothing where it is all of them."""
    parts = ["only the rows of its training part"] if spec.part else []
    parts += [f"a stratified random subsample of {spec.subsample} rows"] if spec.subsample else []
    parts += [f"{spec.pca} principal components of the training part"] if spec.pca else []
    return ", ".join(parts)


def pooled(metric: Metric, folds: Iterable[Tested | None], costs: Costs) -> float | None:
    """Return a metric of one repetition; None unless every fold has a classifier."""
    folds = list(folds)
    done = [fold for fold in folds if fold is not None and fold.status.counted]
    return metric.pooled(done, costs) if len(done) == len(folds) else None


def _cell(keys: Mapping[str, Any], metric: Metric, repetitions: Repetitions, costs: Costs) -> Cell:
    records = [record for folds in repetitions.values() for record in folds]
    statuses = [record.status if record else None for record in records]
    complete = [value for folds in repetitions.values() if (value := pooled(metric, folds, costs)) is not None]
    done = [record for record in records if record is not None and record.status.counted]
    distances = [r.distance for r in records if isinstance(r, Record) and r.distance is not None]
    once = len(complete) == len(repetitions) == 1
    votes = [record.right for record in done if isinstance(record, Vote)]
    uncertainty = metric.uncertainty(done) if once else None
    folds = done[: len(records) // max(len(repetitions), 1) or 1]
    return Cell(
        keys,
        metric.name,
        tuple(complete),
        trials=len(records),
        infeasible=statuses.count(Status.INFEASIBLE),
        failed=sum(s is not None and not s.counted and s is not Status.INFEASIBLE for s in statuses),
        missing=statuses.count(None),
        capped=statuses.count(Status.CAPPED),
        resolution=metric.worth(folds, costs) / max(len(complete), 1),
        distance=float(np.mean(distances)) if distances else None,
        trouble=next((r.trouble for r in records if isinstance(r, Vote) and r.trouble), ""),
        sampling=uncertainty.se if uncertainty else 0.0,
        df=uncertainty.df if uncertainty else math.inf,
        right=np.concatenate(votes) if once and votes else None,
        whole=metric.whole,
        form=metric.form,
    )


def _best(metric: Metric, options: Sequence[Repetitions], costs: Costs) -> int:
    """Return the grid point with the best cross-validated number: the optimistic reading, as the papers did it."""
    scores = []
    for repetitions in options:
        values = [pooled(metric, folds, costs) for folds in repetitions.values()]
        known = [value for value in values if value is not None]
        complete = bool(values) and len(known) == len(values)
        scores.append((metric.better.value or 1) * float(np.mean(known)) if complete else math.inf)
    return int(np.argmin(scores))


def read_reported(path: Path, where: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the published numbers that belong to a table, their keys as numbers where they are numbers."""
    try:
        with path.open(newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
    except OSError as error:
        raise ConfigError(f"the reported numbers {path} cannot be read: {error.strerror}") from None
    rows = [{k: v if k in _RESERVED else _number(v) for k, v in row.items()} for row in rows]
    return [row for row in rows if matches(where, row)]


def _number(text: str) -> Any:
    try:
        return float(text)
    except ValueError:
        return text


def compare(
    cells: list[Cell],
    reported: Reported,
    datasets: Sequence[str],
    folder: Path,
    beside: Mapping[str, str] = MappingProxyType({}),
) -> list[Cell]:
    """Put each reported number beside its cell and judge it; a number without a cell is listed as not run.

    ``beside`` names methods that show the number of another one without being judged: other readings of the paper.
    """
    rows = read_reported(folder / "reported" / reported.file, reported.where)
    rows = [row for row in rows if "dataset" not in row or row["dataset"] in datasets]
    known = {*_RESERVED, *reported.where}
    used: set[int] = set()
    out = []
    for cell in cells:
        method = cell.keys.get("method")
        wanted = {**cell.keys, "method": beside.get(str(method), method)}
        for index, row in enumerate(rows):
            keys = {k: v for k, v in row.items() if k not in known and v != ""}
            if row["metric"] == cell.metric and matches(keys, wanted):
                cell = replace(cell, reported=row["value"], reported_std=row.get("std") or None)
                if method not in beside:
                    used.add(index)
                    cell = _judged(cell, reported.repetitions, reported.deviations)
                break
        out.append(cell)
    for index, row in enumerate(rows):
        if index not in used:
            keys = {k: v for k, v in row.items() if k not in known}
            out.append(Cell(keys, row["metric"], reported=row["value"], verdict=NOT_RUN))
    return out


def _judged(cell: Cell, repetitions: int, deviations: Sequence[Deviation]) -> Cell:
    verdict = judge(cell, repetitions)
    if verdict == DIFFERS:
        for deviation in deviations:
            if matches(deviation.where, {**cell.keys, "metric": cell.metric}):
                return replace(cell, verdict=KNOWN, reason=deviation.reason, see=deviation.see)
    return replace(cell, verdict=verdict)


def judge(cell: Cell, repetitions: int) -> str:
    """Would the paper's protocol, with as many repetitions as the paper made, plausibly have printed its number?"""
    if cell.trials == 0 or cell.missing or cell.failed == cell.trials:
        return NOT_RUN
    if cell.reported == INFEASIBLE:
        return MATCH if cell.infeasible == cell.trials else DIFFERS
    if cell.mean is None:
        return DIFFERS
    return MATCH if abs(cell.difference or 0.0) <= half_width(cell, repetitions) else DIFFERS


def half_width(cell: Cell, repetitions: int) -> float:
    """Return half the width of the prediction interval for the printed number, its rounding included.

    Of a single run it is the confidence interval of the measured number. Where the paper counted errors on the same test
    points that is generous: two fits of one problem differ on few of them.
    """
    from scipy.special import stdtrit

    n = len(cell.by_repetition)
    rounding = 0.5 * 10.0**-cell.decimals
    if n < 2:
        return float(stdtrit(cell.df, 0.5 + CONFIDENCE / 2)) * cell.sampling + rounding
    quantile = float(stdtrit(n - 1, 0.5 + CONFIDENCE / 2))
    return quantile * cell.std * math.sqrt(1 / repetitions + 1 / max(n, 1)) + rounding


def matches(wanted: Mapping[str, Any], given: Mapping[str, Any]) -> bool:
    return all(key in given and _same(value, given[key]) for key, value in wanted.items())


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, list):
        return any(_same(x, b) for x in a)
    try:
        return math.isclose(float(a), float(b), rel_tol=1e-9)
    except (TypeError, ValueError):
        return str(a) == str(b)
