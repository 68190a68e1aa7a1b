"""The plan: every trial of a config, spelled out, with the key of its record."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from mmc import datasets
from mmc.experiments import areas, knowledge, measures
from mmc.experiments.config import Config, DataSpec, Fixed, Params, points
from mmc.experiments.errors import ConfigError
from mmc.experiments.sources import fingerprint, source_of
from mmc.experiments.splits import Split, seed_of, splits
from mmc.experiments.yaml_lines import line_of, read
from mmc.methods import CATALOGUE


@dataclass(frozen=True)
class Source:
    """Where a data set comes from: small, so that it can be sent to a worker, which loads it once."""

    label: str
    spec_json: str
    seed: int | None = None
    data_dir: str | None = None
    folder: str = "."

    def load(self) -> datasets.DataSet:
        """Return the data set; the last few are kept."""
        return _load(self)


@lru_cache(maxsize=4)
def _load(source: Source) -> datasets.DataSet:
    spec = DataSpec.model_validate_json(source.spec_json)
    data = None if spec.sets_alone else _points(source, spec)
    if spec.knowledge is not None:
        data = knowledge.join(data, source.label, spec, Path(source.folder))
    assert data is not None
    if spec.positive is None or spec.file is not None:
        return data
    positive = knowledge.written(spec.positive)
    if positive not in data.y:
        raise ConfigError(f"data set {source.label!r} has no label {positive!r}: it has {', '.join(np.unique(data.y))}")
    return replace(data, positive=positive)


def _points(source: Source, spec: DataSpec) -> datasets.DataSet:
    """Return the points of a data set: all of it but its knowledge sets."""
    try:
        if spec.file is not None:
            path = Path(spec.file)
            return datasets.load_file(
                path if path.is_absolute() else Path(source.folder) / path,
                target=spec.target or "",
                positive=None if spec.positive is None else knowledge.written(spec.positive),
                format=spec.format,
                missing=spec.missing,
                features=spec.features,
            )
        options = dict(spec.options) | ({} if source.seed is None else {"seed": source.seed})
        directory = None if source.data_dir is None else Path(source.data_dir)
        return datasets.load(str(spec.name), missing=spec.missing, data_dir=directory, **options)
    except datasets.DataError as error:
        raise ConfigError(f"data set {source.label!r}: {error}") from None


@dataclass(frozen=True)
class Trial:
    """One point of a method's grid on one split; ``key`` is made of all that decides its record."""

    key: str
    point: Params


@dataclass(frozen=True)
class Unit:
    """The work that is sent to a worker: (data set, split, method) with the whole grid inside."""

    source: Source
    split: Split
    scale: str
    label: str
    method: str
    params: Params
    trials: tuple[Trial, ...]
    tune: Params | None = None
    tune_seed: int = 0
    costs: Params | None = None
    measures: Params | None = None
    area_seed: int = 0


def key_of(parts: Any) -> str:
    """Return the key of a record: a hash of what decides it."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()


def sources(config: Config, data_dir: str | None) -> Iterator[tuple[int, Source]]:
    """Yield (repetition, source) for each data set: the same source again unless it is drawn anew."""
    experiment = config.experiment
    for label, spec in experiment.datasets.items():
        assert spec is not None
        generated = spec.name in datasets.REGISTRY and datasets.REGISTRY[str(spec.name)].kind == "generated"
        # Stated sets are what they are: neither a split nor a draw could differ from one repetition to the next.
        for repetition in range(1 if spec.sets_alone else experiment.split.repetitions):
            draw = repetition if experiment.split.redraw else 0
            seed = int(seed_of(experiment.seed, label, "draw", draw).generate_state(1)[0]) if generated else None
            if "seed" in spec.options:
                seed = None
            yield repetition, Source(label, spec.model_dump_json(), seed, data_dir, str(config.file.parent))


def plan(config: Config, data_dir: str | None = None) -> list[Unit]:
    """Return all units of a config; raise ConfigError where data and protocol do not fit."""
    experiment = config.experiment
    units = []
    for repetition, source in sources(config, data_dir):
        try:
            data = source.load()
        except knowledge.SetError as error:
            raise ConfigError(f"{_at(config, 'datasets', source.label, *error.place)}: {error}") from None
        labels = np.unique(data.y)
        if len(labels) != 2:
            found = ", ".join(labels[:5]) + (", …" if len(labels) > 5 else "")
            raise ConfigError(f"data set {source.label!r} has {len(labels)} classes ({found}); the methods need two")
        positive = data.y == (data.positive if data.positive is not None else labels[-1])
        protocol = experiment.split
        if not data.n_points:
            _check_area(config, source.label, data, positive)
            everyone = np.arange(len(data.y))
            split = Split(repetition, 0, everyone, everyone)
            units += [_unit(config, label, source, data, split) for label in experiment.methods_on(source.label)]
            continue
        if isinstance(protocol, Fixed):
            protocol = protocol.model_copy(update={"train": protocol.train or data.n_train})
            if protocol.train is None or protocol.train >= data.n_points:
                raise ConfigError(f"data set {source.label!r} declares no training part; give split.train, its rows")
        seed = seed_of(experiment.seed, source.label, "split", repetition)
        sets = np.arange(data.n_points, len(data.y))
        for split in splits(protocol, positive[: data.n_points], repetition, seed, source.label):
            split = replace(split, train=np.append(split.train, sets))
            for part, name in ((split.train, "training"), (split.test, "test")):
                if len(part) == 0 or (name == "training" and len(np.unique(positive[part])) < 2):
                    raise ConfigError(f"data set {source.label!r}: the {name} part lacks a class; use a larger share")
            units += [_unit(config, label, source, data, split) for label in experiment.methods_on(source.label)]
    return units


def _check_area(config: Config, label: str, data: datasets.DataSet, positive: Any) -> None:
    """Raise ConfigError where sets alone cannot be tested by their area."""
    if not isinstance(config.experiment.split, Fixed):
        raise ConfigError(
            f"{_at(config, 'split')}: {label} has knowledge sets alone: all of them are trained on, and tested by their "
            "area; use split: {kind: fixed}"
        )
    for method, spec in config.experiment.methods_on(label).items():
        if spec.tune:
            where = _at(config, "methods", method, "tune")
            raise ConfigError(f"{where}: {method}: {label} has knowledge sets alone, no points to tune on")
    volume = areas.volumes(data.shapes, data.X.shape[1])
    for members in (positive, ~positive):
        if not volume[members].any():
            where = _at(config, "datasets", label, "knowledge")
            raise ConfigError(f"{where}: {label}: the sets of class {data.y[members][0]} have no area to test on")


def _at(config: Config, *place: str | int) -> str:
    """Return file:line of a key of a config."""
    return f"{config.file}:{line_of(place, read(config.file)[1])}"


def _unit(config: Config, label: str, source: Source, data: datasets.DataSet, split: Split) -> Unit:
    experiment = config.experiment
    spec = experiment.methods[label]
    solver = spec.params.get("solver") or next(iter(CATALOGUE[spec.method].solvers))
    tune = None
    tune_seed = 0
    if spec.tune:
        tune = {**spec.tune.model_dump(exclude={"grid"}), "points": points(spec.tune.grid)}
        tune_seed = int(
            seed_of(experiment.seed, source.label, "tune", split.repetition, split.fold).generate_state(1)[0]
        )
    area_seed = int(seed_of(experiment.seed, source.label, "area", split.repetition).generate_state(1)[0])
    costs = experiment.costs.model_dump() if tune and tune["metric"] == "risk" else None
    shared = {
        "data": data.content_hash,
        "positive": data.positive,
        "split": split.digest(),
        "scale": experiment.scale,
        "method": spec.method,
        "params": spec.params,
        "solver": solver,
        "code": fingerprint(spec.method, solver),
        **({"tune": tune, "seed": tune_seed, "costs": costs} if tune else {}),
        **({} if data.n_points else {"area": [area_seed, source_of(areas)]}),
        **({"measures": experiment.measures, "measuring": source_of(measures)} if experiment.measures else {}),
    }
    trials = tuple(Trial(key_of({**shared, "point": point}), point) for point in experiment.points_of(label))
    return Unit(
        source,
        split,
        experiment.scale,
        label,
        spec.method,
        spec.params,
        trials,
        tune,
        tune_seed,
        costs,
        experiment.measures or None,
        area_seed,
    )
