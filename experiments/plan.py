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
from mmc.experiments import measures
from mmc.experiments.config import Config, DataSpec, Fixed, Params, points
from mmc.experiments.errors import ConfigError, DataAbsent
from mmc.experiments.sources import fingerprint, source_of
from mmc.experiments.splits import Split, seed_of, splits
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
    data = _read(source, spec)
    if spec.part == "train":
        if data.n_train is None:
            raise ConfigError(f"data set {source.label!r} declares no training part: leave out 'part: train'")
        data = _rows(data, np.arange(data.n_train), None)
    if spec.subsample is not None:
        data = _subsample(source, data, spec.subsample)
    return data


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


def _read(source: Source, spec: DataSpec) -> datasets.DataSet:
    try:
        if spec.file is not None:
            path = Path(spec.file)
            return datasets.load_file(
                path if path.is_absolute() else Path(source.folder) / path,
                target=spec.target or "",
                positive=None if spec.positive is None else _label(spec.positive),
                format=spec.format,
                missing=spec.missing,
                features=spec.features,
            )
        options = dict(spec.options) | ({} if source.seed is None else {"seed": source.seed})
        directory = None if source.data_dir is None else Path(source.data_dir)
        data = datasets.load(str(spec.name), missing=spec.missing, data_dir=directory, **options)
    except datasets.DataError as error:
        kind = DataAbsent if spec.file is None and _not_here(spec, source.data_dir) else ConfigError
        named = f"data set {source.label!r}"
        raise kind(str(error) if str(error).startswith(named) else f"{named}: {error}") from None
    if spec.positive is None:
        return data
    positive = _label(spec.positive)
    if positive not in data.y:
        raise ConfigError(f"data set {source.label!r} has no label {positive!r}: it has {', '.join(np.unique(data.y))}")
    return replace(data, positive=positive)


def absent(config: Config, data_dir: str | None) -> list[str]:
    """Return the data sets of a config that are not on this machine."""
    specs = [spec for spec in config.experiment.datasets.values() if spec is not None and spec.file is None]
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


def _label(value: Any) -> str:
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


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


def key_of(parts: Any) -> str:
    """Return the key of a record: a hash of what decides it."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()


def sources(config: Config, data_dir: str | None) -> Iterator[tuple[int, Source]]:
    """Yield (repetition, source) for each data set: the same source again unless it is drawn anew."""
    experiment = config.experiment
    for label, spec in experiment.datasets.items():
        assert spec is not None
        generated = spec.file is None and datasets.REGISTRY[str(spec.name)].kind == "generated"
        for repetition in range(experiment.split.repetitions):
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
        data = source.load()
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
        if isinstance(protocol, Fixed):
            protocol = protocol.model_copy(update={"train": protocol.train or data.n_train})
            if protocol.train is None or protocol.train >= len(data.y):
                raise ConfigError(f"data set {source.label!r} declares no training part; give split.train, its rows")
        seed = seed_of(experiment.seed, source.label, "split", repetition)
        for split in splits(protocol, y, repetition, seed, source.label):
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
    )
