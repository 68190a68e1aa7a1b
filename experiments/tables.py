"""Tables: records gathered into the paper's layout."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

import numpy as np

from mmc.experiments.cells import Cell, Keys, Table
from mmc.experiments.config import Config, Experiment, Reported
from mmc.experiments.data_facts import DataFacts
from mmc.experiments.data_used import facts_of
from mmc.experiments.dataspec import DataSpec
from mmc.experiments.joint import joint_tests
from mmc.experiments.metrics import COUNTED, VOTED, Costs, Metric, fact
from mmc.experiments.multiclass import Vote, votes
from mmc.experiments.paired import discordances, intervals, nearest_methods
from mmc.experiments.plan import Unit
from mmc.experiments.records import Record
from mmc.experiments.verdicts import compare
from mmc.methods.registry import METHODS
from mmc.methods.solution import Status

Tested: TypeAlias = Record | Vote
Repetitions: TypeAlias = Mapping[int, Sequence[Tested | None]]


def gather(config: Config, units: Sequence[Unit], records: Mapping[str, Record]) -> Table:
    """Make the table of a config from its records; trials without a record are not run yet."""
    experiment = config.experiment
    cells = nearest_methods(list(cells_of(experiment, units, records)))
    table = lay_out(config, cells, facts_of(config, units))
    paired, split = experiment.table.paired, experiment.split
    same_rows = split.per_repetition > 1 and not split.redraw
    comparable = [c for c in table.cells if c.metric == experiment.table.metrics[0]] if paired else []
    return replace(
        table,
        pairs=tuple(intervals(comparable, paired, split.overlap, same_rows) if paired else ()),
        discordances=tuple(discordances(comparable, paired) if paired else ()),
        joint=tuple(joint_tests(table.cells, _readings(experiment.reported, table)) if experiment.reported else ()),
    )


def _readings(reported: Reported, table: Table) -> list[str]:
    """Return the keys that tell the readings of a sweep apart: those that the paper's table does not have."""
    if reported.counts:
        return []
    printed = {key for cell in table.cells for key in cell.place}
    return [key for key in table.keys if key not in printed and key != "dataset"]


def lay_out(config: Config, cells: Sequence[Cell], facts: Sequence[DataFacts] = ()) -> Table:
    """Return the table of what was measured, each cell beside the reported number, with its verdict."""
    experiment = config.experiment
    cells = [replace(cell, digits=experiment.table.decimals) for cell in cells]
    if experiment.reported:
        beside = {label: spec.beside for label, spec in experiment.methods.items() if spec.beside}
        cells = compare(cells, experiment.reported, list(experiment.datasets), config.file.parent, beside)
    return Table(
        config.name,
        experiment.title,
        tuple(experiment.table.rows),
        tuple(experiment.table.columns),
        tuple(experiment.table.metrics),
        tuple(cells),
        experiment.table.labels,
        experiment.reported.source if experiment.reported else "",
        spread=experiment.table.spread,
        remarks=tuple(_remarks(experiment)),
        data=tuple(facts),
    )


def cells_of(experiment: Experiment, units: Sequence[Unit], records: Mapping[str, Record]) -> Iterator[Cell]:
    """Yield what was measured: a cell for every metric at every point of a grid, or at its best point."""
    costs = Costs(experiment.costs.pos, experiment.costs.neg)
    metrics = [metric_of(name, experiment) for name in experiment.table.metrics]
    groups: dict[tuple[str, str, int], dict[int, list[Tested | None]]] = defaultdict(lambda: defaultdict(list))
    for unit, index, record in votes(units, records) if experiment.multiclass else _each(units, records):
        groups[unit.source.label, unit.label, index][unit.split.repetition].append(record)
    for dataset in experiment.datasets:
        for label, spec in experiment.methods_on(dataset).items():
            grid = experiment.points_of(label)
            base = {**spec.params, "dataset": dataset, "method": label}
            options = [groups[dataset, label, index] for index in range(len(grid))]
            if spec.best is None:
                for point, repetitions in zip(grid, options, strict=True):
                    for metric in metrics:
                        cell = _cell({**base, **point}, metric, repetitions, costs)
                        yield replace(cell, tuned_first=experiment.tuned_first(label, dataset))
            else:
                chosen = _best(metric_of(spec.best, experiment), options, costs)
                for metric in metrics:
                    yield replace(_cell(base, metric, options[chosen], costs), chosen=grid[chosen])


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
    if foreign := [label for label, spec in experiment.methods.items() if METHODS[spec.method].foreign]:
        yield f"From outside mmc, without a certificate of their optimum: {', '.join(foreign)}."
    if experiment.multiclass:
        yield (
            "One classifier for every pair of classes; the class with most votes wins, of several with as many votes "
            "the first in order."
        )
        if own := [label for label, spec in experiment.methods.items() if spec.multiclass == "own"]:
            yield f"By one classifier of all classes, in its own way: {', '.join(own)}."


def used(spec: DataSpec) -> str:
    """Return which rows and features of a data set are used, in words; empty if all are used."""
    parts = ["only the rows of its training part"] if spec.part else []
    parts += [f"a stratified random subsample of {spec.subsample} rows"] if spec.subsample else []
    parts += [f"{spec.pca} principal components of the training part"] if spec.pca else []
    return ", ".join(parts)


def pooled(metric: Metric, folds: Iterable[Tested | None], costs: Costs) -> float | None:
    """Return a metric of one repetition; None unless every fold has a classifier."""
    folds = list(folds)
    done = _done(folds)
    return metric.pooled(done, costs) if len(done) == len(folds) else None


def _done(folds: Iterable[Tested | None]) -> list[Tested]:
    """Return those that have a classifier."""
    return [fold for fold in folds if fold is not None and fold.status.counted]


def _cell(keys: Keys, metric: Metric, repetitions: Repetitions, costs: Costs) -> Cell:
    records = [record for folds in repetitions.values() for record in folds]
    statuses = [record.status if record else None for record in records]
    complete = [value for folds in repetitions.values() if (value := pooled(metric, folds, costs)) is not None]
    if metric.across is not None and complete:
        complete = [metric.across(complete)]
    done = _done(records)
    distances = [r.distance for r in records if isinstance(r, Record) and r.distance is not None]
    once = len(complete) == len(repetitions) == 1
    votes = [record.right for record in done if isinstance(record, Vote)]
    uncertainty = metric.uncertainty(done) if once else None
    folds = next((kept for one in repetitions.values() if len(kept := _done(one)) == len(one)), done[:1])
    return Cell(
        keys,
        metric.name,
        tuple(complete),
        draws=len(complete) if metric.across else len(repetitions),
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
        perfect=metric.perfect,
        percent=metric.percent,
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
