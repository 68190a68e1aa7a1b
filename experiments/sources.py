"""Where data come from: loading, the part and the subsample that a config asks for, its knowledge sets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mmc import datasets
from mmc.datasets.bounds import check_plain
from mmc.datasets.dataset import DataError, DataSet
from mmc.experiments import knowledge
from mmc.experiments.dataspec import DataSpec, written
from mmc.experiments.errors import PlaceError
from mmc.experiments.kept import Kept
from mmc.experiments.splits import number_of


@dataclass(frozen=True)
class Source:
    """Where a data set comes from: small, so that it can be sent to a worker, which loads it once.

    ``spec_json`` is what the config says of it, ``seed`` that of a generated set, ``folder`` the config's.
    """

    label: str
    spec_json: str
    seed: int | None = None
    data_dir: Path | None = None
    folder: Path = Path()
    subsample_seed: int | None = None

    @property
    def spec(self) -> DataSpec:
        return DataSpec.model_validate_json(self.spec_json)

    def load(self) -> DataSet:
        """Return the data set; raise PlaceError where it cannot be had. The last few are kept."""
        return _loaded.get(self, lambda: _load(self))

    def lend(self, data: DataSet) -> None:
        """Take a data set that was loaded elsewhere: here its files may be absent, or others."""
        _loaded.put(self, data)


_loaded: Kept[Source, DataSet] = Kept(4)


def source_of(label: str, spec: DataSpec, folder: Path, data_dir: Path | None, seed: int, draw: int) -> Source:
    """Return the source of a data set; ``draw`` counts the times that a generated one, or a subsample, is drawn anew."""
    entry = datasets.known().get(spec.name or "")
    generated = entry is not None and entry.kind == "generated" and "seed" not in spec.options
    return Source(
        label,
        spec.model_dump_json(),
        number_of(seed, label, "draw", draw) if generated else None,
        data_dir,
        folder,
        number_of(seed, label, "subsample", draw) if spec.subsample is not None else None,
    )


def _load(source: Source) -> DataSet:
    spec = source.spec
    data = None if spec.sets_alone else _points(source, spec)
    if data is not None and spec.part == "train":
        if data.n_train is None:
            raise PlaceError(("part",), f"data set {source.label!r} declares no training part: leave out 'part: train'")
        data = _rows(data, np.arange(data.n_train), None)
    if data is not None and spec.subsample is not None:
        data = _subsample(source, data, spec.subsample)
    if spec.knowledge is not None:
        data = knowledge.join(data, source.label, spec, source.folder)
    assert data is not None
    if spec.positive is None:
        return data
    positive = written(spec.positive)
    if positive not in data.classes:
        known = ", ".join(data.classes)
        hint = '; text such as "true" or "yes" needs quotes' if isinstance(spec.positive, bool) else ""
        raise PlaceError(("positive",), f"data set {source.label!r} has no label {positive!r}: it has {known}{hint}")
    return replace(data, positive=positive)


def _points(source: Source, spec: DataSpec) -> DataSet:
    """Return the points of a data set: all of it but its knowledge sets."""
    read: Callable[..., DataSet] = datasets.load_file  # what the config gives was checked, or is by them
    load: Callable[..., DataSet] = datasets.load
    try:
        if spec.file is not None:
            given = {"target": "", "missing": spec.missing} | spec.given()
            return read(_plain(source.folder / spec.file), **given)
        if spec.openml is not None:
            return datasets.load_openml(spec.openml, source.data_dir, {"missing": spec.missing} | spec.given())
        if spec.sklearn is not None:
            return datasets.load_shipped(spec.sklearn)
        options = spec.options | ({} if source.seed is None else {"seed": source.seed})
        return load(str(spec.name), missing=spec.missing, data_dir=source.data_dir, **options)
    except (DataError, MemoryError) as error:
        named = f"data set {source.label!r}"
        if isinstance(error, MemoryError):
            raise PlaceError((), f"{named} does not fit into the memory of this machine; take fewer rows") from None
        raise PlaceError((), str(error) if str(error).startswith(named) else f"{named}: {error}") from None


def _plain(file: Path) -> Path:
    try:
        check_plain(file)
    except FileNotFoundError:
        pass  # the reader says where it looked
    except (OSError, ValueError) as error:
        raise DataError(f"{file} cannot be read: {getattr(error, 'strerror', error)}") from None
    return file


def _subsample(source: Source, data: DataSet, count: int) -> DataSet:
    """Return so many rows, in their order; every class keeps its share (by largest remainders), in either part."""
    n = len(data.y)
    if count > n:
        text = f"data set {source.label!r} has {n} rows; a subsample of {count} is not possible"
        raise PlaceError(("subsample",), text)
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
        text = f"data set {source.label!r}: a subsample of {count} rows has none of class {lost}; take more"
        raise PlaceError(("subsample",), text)
    rng = np.random.default_rng(source.subsample_seed)
    kept = np.sort(np.concatenate([rng.permutation(rows)[:size] for rows, size in zip(groups, sizes, strict=True)]))
    return _rows(data, kept, None if data.n_train is None else int(np.sum(kept < data.n_train)))


def _rows(data: DataSet, rows: NDArray[np.intp], n_train: int | None) -> DataSet:
    return replace(data, X=data.X[rows], y=data.y[rows], n_train=n_train)
