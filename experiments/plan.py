"""The plan: every trial of a config, spelled out, with the key of its record."""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mmc import datasets
from mmc.datasets import finding, openml
from mmc.datasets.dataset import DataSet
from mmc.experiments import areas
from mmc.experiments.config import Config, MethodSpec
from mmc.experiments.dataspec import DataSpec
from mmc.experiments.errors import ConfigError, DataAbsent, KeyPath, PlaceError
from mmc.experiments.fingerprint import fingerprint
from mmc.experiments.grids import points
from mmc.experiments.metrics import Costs
from mmc.experiments.preparation import classes_of, splits_of
from mmc.experiments.sources import Source, source_of
from mmc.experiments.splits import Fixed, Rows, Split, check_folds
from mmc.experiments.units import Params, Task, Trial, Tuning, Unit, Where
from mmc.labels import ordered
from mmc.methods.registry import METHODS


def plan(config: Config, data_dir: Path | None = None) -> list[Unit]:
    """Return all units of a config; raise ConfigError, with file and line, where data and protocol do not fit."""
    leaders: dict[tuple[str, str], tuple[str, ...]] = {}
    units: list[Unit] = []
    planned = {label: _Planned.of(config, label) for label in config.experiment.methods}
    for places in _places(config, data_dir):
        dataset, repetition = places[0].source.label, places[0].split.repetition
        for label in config.experiment.methods_on(dataset):
            first = config.experiment.tuned_first(label, dataset)
            lead = leaders.get((dataset, label), ())
            follows = lead if first and repetition >= first else ()
            units += [planned[label].on(where, follows) for where in _told_apart(config, label, places)]
            if first and repetition < first:
                leaders[dataset, label] = (*lead, units[-1].trials[0].key)
    return units


def absent(config: Config, data_dir: Path | None) -> list[str]:
    """Return the data sets of a config that are not on this machine."""
    specs = config.experiment.datasets.values()
    return list(dict.fromkeys(_called(spec) for spec in specs if _not_here(spec, data_dir)))


def _called(spec: DataSpec) -> str:
    return f"openml {spec.openml}" if spec.openml is not None else str(spec.name)


def _not_here(spec: DataSpec, data_dir: Path | None) -> bool:
    if spec.openml is not None:
        return openml.find(spec.openml, data_dir) is None
    return spec.name is not None and bool(finding.absent(datasets.known()[spec.name], data_dir))


def need_no_download(config: Config, data_dir: Path | None) -> None:
    """Raise DataAbsent if a data set of a config would have to be downloaded."""
    if names := absent(config, data_dir):
        own = [name for name in names if not name.startswith("openml ")]
        how = f"`mmc data fetch {' '.join(own)}` downloads" if own else "`mmc run` downloads"
        raise DataAbsent(
            f"not on this machine: {', '.join(names)}; {how}, --data-dir or MMC_DATA_DIR says where the files lie"
        )


def key_of(parts: Mapping[str, object]) -> str:
    """Return the key of a record: a hash of what decides it."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def _places(config: Config, data_dir: Path | None) -> Iterator[list[Where]]:
    """Yield every split of every data set; of several classes each pair of them is a place of its own."""
    experiment = config.experiment
    for repetition, source in _sources(config, data_dir):
        data = _loaded(config, source)
        pairs = _pairs(config, source, data)
        for fold, rows in enumerate(_splits(config, source, data, repetition)):
            split = Split(experiment.split, experiment.seed, repetition, fold, rows.digest())
            shared = source, data.content_hash, split, experiment.scale, experiment.datasets[source.label].pca
            yield [Where(*shared, pair) for pair in pairs]


def _told_apart(config: Config, label: str, places: list[Where]) -> list[Where]:
    """Return the pairs of classes, or one place of them all for a method that tells them apart by itself; two are one pair."""
    if len(places) > 1 and config.experiment.methods[label].multiclass == "own":
        return [replace(places[0], pair=None, own=True)]
    return places


def _sources(config: Config, data_dir: Path | None) -> Iterator[tuple[int, Source]]:
    """Yield (repetition, source) for each data set: the same source again unless it is drawn anew."""
    experiment = config.experiment
    for label, spec in experiment.datasets.items():
        # Sets stated in the config are fixed; repeating them changes nothing.
        for repetition in range(1 if spec.sets_alone else experiment.split.repetitions):
            draw = repetition if experiment.split.redraw else 0
            yield repetition, source_of(label, spec, config.file.parent, data_dir, experiment.seed, draw)


def _loaded(config: Config, source: Source) -> DataSet:
    try:
        return source.load()
    except PlaceError as error:
        if _not_here(config.experiment.datasets[source.label], source.data_dir):
            raise DataAbsent(str(error)) from None
        raise _placed(config, ("datasets", source.label), error) from None


def _pairs(config: Config, source: Source, data: DataSet) -> list[tuple[str, str] | None]:
    """Return the pairs of classes that are told apart; None stands for the only two."""
    if config.experiment.multiclass:
        return list(itertools.combinations(ordered(data.y.tolist()), 2))
    if len(data.classes) != 2:
        labels = list(data.classes)
        found = ", ".join(labels[:5]) + (", …" if len(labels) > 5 else "")
        raise ConfigError(
            f"{config.at('datasets', source.label)}: data set {source.label!r} has {len(labels)} classes ({found}); "
            "the methods need two: 'multiclass: one-vs-one' runs every pair of classes"
        )
    return [None]


def _splits(config: Config, source: Source, data: DataSet, repetition: int) -> list[Rows]:
    """Return the splits of one repetition; raise ConfigError where the data do not allow them."""
    experiment, label = config.experiment, source.label
    several = experiment.multiclass is not None
    if not data.n_points:
        _check_area(config, label, data)
    try:
        made = splits_of(data, several, experiment.split, experiment.seed, label, repetition)
    except PlaceError as error:
        raise _placed(config, ("split",), error, f"data set {label!r}: ") from None
    y = classes_of(data, several)
    for rows in made:
        _check_rows(config, label, data, y, rows)
    return made


def _check_rows(config: Config, label: str, data: DataSet, y: NDArray[np.intp], rows: Rows) -> None:
    """Raise ConfigError where a part lacks a class, or is too small for what is done with it."""
    pca = config.experiment.datasets[label].pca
    inner = y[rows.train[rows.train < data.n_points]]
    if len(rows.test) == 0 or np.count_nonzero(np.bincount(y[rows.train])) < len(data.classes):
        part = "test part has no rows" if len(rows.test) == 0 else "training part lacks a class"
        raise ConfigError(f"{config.at('split')}: data set {label!r}: the {part}; use another share")
    if pca and pca > min(data.X.shape[1], len(rows.train)):
        raise ConfigError(
            f"{config.at('datasets', label, 'pca')}: data set {label!r} has {data.X.shape[1]} features and "
            f"{len(rows.train)} training rows; pca: {pca} is too many components"
        )
    for method, spec in config.experiment.methods_on(label).items():
        if spec.tune:
            try:
                check_folds(inner, spec.tune.folds, ("folds",))
            except PlaceError as error:
                raise _placed(config, ("methods", method, "tune"), error, f"{method} on {label}: ") from None


def _check_area(config: Config, label: str, data: DataSet) -> None:
    """Raise ConfigError where sets alone cannot be tested by their area."""
    if not isinstance(config.experiment.split, Fixed):
        raise ConfigError(
            f"{config.at('split')}: {label} has knowledge sets alone: all of them are trained on, and tested by their "
            "area; use split: {kind: fixed}"
        )
    for method, spec in config.experiment.methods_on(label).items():
        if spec.tune:
            where = config.at("methods", method, "tune")
            raise ConfigError(f"{where}: {method}: {label} has knowledge sets alone, no points to tune on")
    volume = areas.volumes(data.shapes, data.X.shape[1])
    for name in data.classes:
        if not volume[data.y == name].any():
            where = config.at("datasets", label, "knowledge")
            raise ConfigError(f"{where}: {label}: the sets of class {name} have no area to test on")


def _placed(config: Config, section: KeyPath, error: PlaceError, named: str = "") -> ConfigError:
    """Return an error of a part of the config with its file and line."""
    return ConfigError(f"{config.at(*section, *error.place)}: {named}{error}")


@dataclass(frozen=True)
class _Planned:
    """A method with its grid, ready to be placed on every split."""

    task: Task
    points: list[Params]
    measures: Mapping[str, Params]
    stated: Mapping[str, object]  # the part of the key that is the same on every split
    tune: object

    @classmethod
    def of(cls, config: Config, label: str) -> _Planned:
        experiment = config.experiment
        spec = experiment.methods[label]
        task = Task(label, spec.method, spec.params, _tuning(config, spec))
        stated = {"method": task.method, "params": task.params, "measures": experiment.measures}
        tune = None if task.tune is None else asdict(task.tune)
        return cls(task, experiment.points_of(label), experiment.measures, stated, tune)

    def on(self, where: Where, follows: tuple[str, ...]) -> Unit:
        """Return the unit of one split. All that decides a record is in its key, and nothing else."""
        data, split = where.source.load(), where.split
        drawn = [split.seed, where.source.label, split.repetition, split.fold]  # decides the draws inside the worker
        shared = {
            **self.stated,
            "data": where.content,
            "positive": None if where.several else data.positive_class,
            "split": split.digest,
            "scale": where.scale,
            "pca": where.pca,
            "pair": where.pair,
            "own": where.own,
            "tune": [self.tune, drawn] if self.tune is not None and not follows else None,
            "follows": follows,
            "area": None if data.n_points else drawn,
        }
        trials = tuple(
            Trial(key_of({**shared, **self._code(point), **self._seed(point, drawn), "point": point}), point)
            for point in self.points
        )
        return Unit(task=self.task, where=where, trials=trials, measures=self.measures, follows=follows)

    def _code(self, point: Params) -> dict[str, object]:
        """Return the part of a key that is code. Options that are tuned may name another solver: they are in it too."""
        method = METHODS[self.task.method]
        tuned = self.task.tune.points if self.task.tune else ()
        named = [p["solver"] for p in (self.task.params, point, *tuned) if p.get("solver") is not None]
        solvers = sorted({str(solver) for solver in named} or {method.solver})
        return {"code": [fingerprint(method, solver) for solver in solvers]}

    def _seed(self, point: Params, drawn: object) -> dict[str, object]:
        """Return the part of a key that decides the draws of a method, where it makes any."""
        seeded = METHODS[self.task.method].seeded({**self.task.params, **point})
        return {"drawn": drawn} if seeded else {}


def _tuning(config: Config, spec: MethodSpec) -> Tuning | None:
    tune, costs = spec.tune, config.experiment.costs
    if tune is None:
        return None
    weighed = Costs(costs.pos, costs.neg) if tune.metric in ("risk", "risk_swapped") else Costs()
    return Tuning(tuple(points(tune.grid)), tune.folds, tune.repetitions, tune.metric, weighed)
