"""The plan: every trial of a config, spelled out, with the key of its record."""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mmc import datasets
from mmc.datasets import finding
from mmc.experiments import areas, knowledge, measures
from mmc.experiments.config import Config, DataSpec, Fixed, Params, points
from mmc.experiments.errors import ConfigError, DataAbsent
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
    subsample_seed: int | None = None

    @property
    def spec(self) -> DataSpec:
        return DataSpec.model_validate_json(self.spec_json)

    def load(self) -> datasets.DataSet:
        """Return the data set; the last few are kept."""
        return _load(self)


@lru_cache(maxsize=4)
def _load(source: Source) -> datasets.DataSet:
    spec = source.spec
    data = None if spec.sets_alone else _points(source, spec)
    if data is not None and spec.part == "train":
        if data.n_train is None:
            raise ConfigError(f"data set {source.label!r} declares no training part: leave out 'part: train'")
        data = _rows(data, np.arange(data.n_train), None)
    if data is not None and spec.subsample is not None:
        data = _subsample(source, data, spec.subsample)
    if spec.knowledge is not None:
        data = knowledge.join(data, source.label, spec, Path(source.folder))
    assert data is not None
    if spec.positive is None or spec.file is not None:
        return data
    positive = knowledge.written(spec.positive)
    if positive not in data.y:
        raise ConfigError(f"data set {source.label!r} has no label {positive!r}: it has {', '.join(np.unique(data.y))}")
    return replace(data, positive=positive)


def _subsample(source: Source, data: datasets.DataSet, count: int) -> datasets.DataSet:
    """Return so many rows, in their order; every class keeps its share (by largest remainders), in either part."""
    n = len(data.y)
    if count > n:
        raise ConfigError(f"data set {source.label!r} has {n} rows; a subsample of {count} is not possible")
    train = np.arange(n) < (n if data.n_train is None else data.n_train)
    groups = [
        rows
        for part in (train, ~train)
        for label in np.unique(data.y)
        if len(rows := np.flatnonzero(part & (data.y == label)))
    ]
    share = np.array([count * len(rows) / n for rows in groups])
    sizes = np.floor(share).astype(int)
    sizes[np.argsort(sizes - share, kind="stable")[: count - sizes.sum()]] += 1
    if not sizes.all():
        lost = data.y[groups[int(np.argmin(sizes))][0]]
        raise ConfigError(f"data set {source.label!r}: a subsample of {count} rows has none of class {lost}; take more")
    rng = np.random.default_rng(source.subsample_seed)
    kept = np.sort(np.concatenate([rng.permutation(rows)[:size] for rows, size in zip(groups, sizes, strict=True)]))
    return _rows(data, kept, None if data.n_train is None else int(np.sum(kept < data.n_train)))


def _rows(data: datasets.DataSet, rows: NDArray[np.intp], n_train: int | None) -> datasets.DataSet:
    return replace(data, X=data.X[rows], y=data.y[rows], n_train=n_train)


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
        kind = DataAbsent if spec.name is not None and _not_here(spec, source.data_dir) else ConfigError
        named = f"data set {source.label!r}"
        raise kind(str(error) if str(error).startswith(named) else f"{named}: {error}") from None


def absent(config: Config, data_dir: str | None) -> list[str]:
    """Return the data sets of a config that are not on this machine."""
    specs = [spec for spec in config.experiment.datasets.values() if spec is not None and spec.name is not None]
    return list(dict.fromkeys(str(spec.name) for spec in specs if _not_here(spec, data_dir)))


def need_no_download(config: Config, data_dir: str | None) -> None:
    """Raise DataAbsent if a data set of a config would have to be downloaded."""
    if names := absent(config, data_dir):
        raise DataAbsent(
            f"not on this machine: {', '.join(names)}; `mmc data fetch {' '.join(names)}` downloads, "
            "--data-dir or MMC_DATA_DIR says where the files lie"
        )


def _not_here(spec: DataSpec, data_dir: str | None) -> bool:
    return bool(finding.absent(datasets.REGISTRY[str(spec.name)], None if data_dir is None else Path(data_dir)))


@dataclass(frozen=True)
class Trial:
    """One point of a method's grid on one split; ``key`` is made of all that decides its record."""

    key: str
    point: Params


@dataclass(frozen=True)
class Unit:
    """The work that is sent to a worker: (data set, split, method) with the whole grid inside.

    ``follows`` are the keys of the records that decide its grid point: those of the repetitions that tune for it.
    ``pair`` are the two classes of a one-against-one classifier, the positive one first.
    """

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
    follows: tuple[str, ...] = ()
    pca: int | None = None
    pair: tuple[str, str] | None = None
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
            drawn = None
            if spec.subsample is not None:
                drawn = int(seed_of(experiment.seed, label, "subsample", draw).generate_state(1)[0])
            yield repetition, Source(label, spec.model_dump_json(), seed, data_dir, str(config.file.parent), drawn)


def plan(config: Config, data_dir: str | None = None) -> list[Unit]:
    """Return all units of a config; raise ConfigError where data and protocol do not fit."""
    experiment = config.experiment
    units: list[Unit] = []
    leaders: dict[tuple[str, str], tuple[str, ...]] = {}
    for repetition, source in sources(config, data_dir):
        try:
            data = source.load()
        except knowledge.SetError as error:
            raise ConfigError(f"{_at(config, 'datasets', source.label, *error.place)}: {error}") from None
        labels = ordered(np.unique(data.y).tolist())
        y: NDArray[Any]
        pairs: list[tuple[str, str] | None] = [None]
        if experiment.multiclass:
            y = np.argmax(data.y[:, None] == np.array(labels), axis=1)
            pairs = list(itertools.combinations(labels, 2))
        elif len(labels) != 2:
            found = ", ".join(labels[:5]) + (", …" if len(labels) > 5 else "")
            raise ConfigError(
                f"data set {source.label!r} has {len(labels)} classes ({found}); the methods need two: "
                "'multiclass: one-vs-one' runs every pair of classes"
            )
        else:
            y = data.y == (data.positive if data.positive is not None else labels[-1])
        protocol = experiment.split
        if not data.n_points:
            _check_area(config, source.label, data, y)
            everyone = np.arange(len(data.y))
            split = Split(repetition, 0, everyone, everyone)
            units += [
                _unit(config, label, source, data, split, (), None) for label in experiment.methods_on(source.label)
            ]
            continue
        if isinstance(protocol, Fixed):
            protocol = protocol.model_copy(update={"train": protocol.train or data.n_train})
            if protocol.train is None or protocol.train >= data.n_points:
                raise ConfigError(f"data set {source.label!r} declares no training part; give split.train, its rows")
        seed = seed_of(experiment.seed, source.label, "split", repetition)
        sets = np.arange(data.n_points, len(data.y))
        for split in splits(protocol, y[: data.n_points], repetition, seed, source.label):
            split = replace(split, train=np.append(split.train, sets))
            for part, name in ((split.train, "training"), (split.test, "test")):
                if len(part) == 0 or (name == "training" and len(np.unique(y[part])) < len(labels)):
                    raise ConfigError(f"data set {source.label!r}: the {name} part lacks a class; use a larger share")
            pca = source.spec.pca
            if pca and pca > min(data.X.shape[1], len(split.train)):
                raise ConfigError(
                    f"data set {source.label!r} has {data.X.shape[1]} features and {len(split.train)} training rows; "
                    f"pca: {pca} is too many components"
                )
            for label, pair in itertools.product(experiment.methods_on(source.label), pairs):
                first = experiment.tuned_first(label, source.label)
                lead = leaders.get((source.label, label), ())
                unit = _unit(config, label, source, data, split, lead if first and repetition >= first else (), pair)
                units.append(unit)
                if first and repetition < first:
                    leaders[source.label, label] = (*lead, unit.trials[0].key)
    return units


def ordered(labels: list[str]) -> list[str]:
    """Return labels in their order: as numbers if all of them are numbers."""
    try:
        return sorted(labels, key=float)
    except ValueError:
        return sorted(labels)


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


def _unit(
    config: Config,
    label: str,
    source: Source,
    data: datasets.DataSet,
    split: Split,
    follows: tuple[str, ...],
    pair: tuple[str, str] | None,
) -> Unit:
    experiment = config.experiment
    spec = experiment.methods[label]
    solver = spec.params.get("solver") or next(iter(CATALOGUE[spec.method].solvers))
    tune = None
    tune_seed = 0
    if spec.tune:
        tune = {**spec.tune.model_dump(exclude={"grid", "first"}), "points": points(spec.tune.grid)}
        tune_seed = int(
            seed_of(experiment.seed, source.label, "tune", split.repetition, split.fold).generate_state(1)[0]
        )
        if experiment.tuned_first(label, source.label):
            tune["keeps"] = "inner_scores"  # older records of the same tuning lack them
    area_seed = int(seed_of(experiment.seed, source.label, "area", split.repetition).generate_state(1)[0])
    costs = experiment.costs.model_dump() if tune and tune["metric"] == "risk" else None
    shared = {
        "data": data.content_hash,
        "positive": data.positive,
        "split": split.digest(),
        "scale": experiment.scale,
        **({"pca": source.spec.pca} if source.spec.pca else {}),
        **({"pair": pair} if pair else {}),
        "method": spec.method,
        "params": spec.params,
        "solver": solver,
        "code": fingerprint(spec.method, solver),
        **({"follows": follows} if follows else {"tune": tune, "seed": tune_seed, "costs": costs} if tune else {}),
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
        follows,
        source.spec.pca,
        pair,
        area_seed,
    )
