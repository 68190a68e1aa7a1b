"""From a name to a data set that is what the registry says."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, SupportsIndex

from mmc.datasets.dataset import DataError, DataSet, check_missing
from mmc.datasets.finding import absent
from mmc.datasets.registry import Entry, known
from mmc.words import nearest

if TYPE_CHECKING:
    from mmc.datasets.fetching import Bars

_log = logging.getLogger("mmc.datasets")
_VENDOR = Path(__file__).parent / "vendor"


def load(
    name: str, *, missing: str = "drop", seed: int | None = None, data_dir: Path | None = None, **options: object
) -> DataSet:
    """Return a registered data set; raise DataError if it cannot be had, or is not what the registry says.

    Rows with missing cells are left out; ``missing="impute"`` fills in the mean of the column instead, ``missing="error"``
    refuses the set. ``seed`` (0 if not given)
    and ``options`` decide a generated set; the others take no options, and a seed changes nothing in them.
    ``data_dir`` (by default the environment variable MMC_DATA_DIR) is where a large set is looked for before the user's
    cache; one that is in neither is downloaded.
    """
    entry = _entry(name)
    check_missing(missing)
    for option in options:
        if option not in entry.options:
            hint = nearest(option, entry.options) if entry.options else "it takes none"
            raise DataError(f"data set {name!r} has no option {option!r}: {hint}")
    if entry.kind == "generated":
        return _generate(entry, seed, options)
    if entry.kind == "large":
        return _large(entry, data_dir)
    if entry.kind == "plugin":
        import mmc.datasets.foreign as foreign

        return foreign.load(entry)
    dataset = _read(entry, missing)
    _check_content(entry, _read(entry, "drop") if dataset.imputed else dataset)
    return dataset


def _large(entry: Entry, data_dir: Path | None) -> DataSet:
    """Return a large set, downloaded if need be."""
    import mmc.datasets.originals as originals

    if absent(entry, data_dir):
        for file, path, new in fetch(entry.name, data_dir):
            if new:
                _log.info("%s: downloaded %s to %s", entry.name, file, path)
    return originals.read(entry, data_dir)


def fetch(name: str, data_dir: Path | None = None, bars: Bars | None = None) -> Iterator[tuple[str, Path, bool]]:
    """Yield (file, where it is, whether it was downloaded just now) for each file of a large set.

    ``bars`` makes the display of a file's download, an object like tqdm's. Raises DataError if a file cannot be had, or
    is not the original's; the files that were complete are kept.
    """
    import mmc.datasets.fetching as fetching

    return fetching.fetch(_entry(name), data_dir, bars)


def verify(name: str, data_dir: Path | None = None) -> None:
    """Raise DataError if a data set is not what the registry says: rows, features, classes, content."""
    dataset = replace(load(name, data_dir=data_dir))  # a copy, which knows nothing of a hash that was found before
    entry = _entry(name)
    if entry.kind == "plugin":
        return
    for what, found, stated in (
        ("rows", len(dataset.X), entry.rows),
        ("features", dataset.X.shape[1], entry.features),
        ("classes", dataset.classes, entry.classes),
        ("rows left out", dataset.dropped, entry.dropped),
        ("training rows", dataset.n_train, entry.n_train),
        ("positive label", dataset.positive, entry.positive),
    ):
        if found != stated:
            raise DataError(f"data set {name!r}: {what}: {found}, but the registry says {stated}")
    _check_content(entry, dataset)


def _entry(name: str) -> Entry:
    sets = known()
    if name not in sets:
        raise DataError(f"there is no data set {name!r}: {nearest(name, sets)}")
    return sets[name]


def _read(entry: Entry, missing: str) -> DataSet:
    import mmc.datasets.files as files
    import mmc.datasets.library as library
    import mmc.datasets.table as table

    if entry.kind == "library":
        shipped: Callable[[str], DataSet] = getattr(library, entry.name)
        return shipped(entry.content_hash)
    cells = files.read_csv(_VENDOR / entry.file, entry.target)
    return table.build(cells, entry.name, table.Wanted(entry.target, entry.positive, missing=missing), entry.n_train)


def _generate(entry: Entry, seed: object, options: Mapping[str, object]) -> DataSet:
    import mmc.datasets.generators as generators

    seed = 0 if seed is None else seed
    if not isinstance(seed, SupportsIndex) or isinstance(seed, bool) or seed.__index__() < 0:
        raise DataError(f"data set {entry.name!r}: seed must be a whole number from 0 on, not {seed!r}")
    chosen = {}
    for key, option in entry.options.items():
        try:
            chosen[key] = option.accept(options.get(key, option.default))
        except DataError as error:
            raise DataError(f"data set {entry.name!r}: option {key!r} ({option.meaning}) {error}") from None
    generate: Callable[..., DataSet] = getattr(generators, entry.name)
    return generate(seed.__index__(), **chosen)


def _check_content(entry: Entry, dataset: DataSet) -> None:
    if dataset.content_hash == entry.content_hash:
        return
    if entry.kind == "generated":
        advice = "this numpy draws other numbers from the same seed; use the pinned version to compare results"
    else:
        advice = "the file it was read from has changed; install the package that ships it anew"
    raise DataError(
        f"data set {entry.name!r} has the content {dataset.content_hash}, but the registry says "
        f"{entry.content_hash}: {advice}"
    )
