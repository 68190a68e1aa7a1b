"""The results folder: a store for all, and a folder of files for each config."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import cast

from mmc.experiments.config import Config
from mmc.experiments.errors import ConfigError
from mmc.experiments.escape import file_name
from mmc.experiments.provenance import Provenance

STORE = "store.sqlite"
OWN = Path("runs")  # what a user runs; git ignores it
REFERENCES = Path("results")  # what is committed
REFERENCE = "reference.csv"
_AGES = 1e9  # no unit takes so many seconds


def folder_of(results: Path, config: Config) -> Path:
    """Return the folder of a config's files; raise ConfigError if it holds those of another config of the same name.

    A link in its place would lead files out of the results folder: it is refused.
    """
    folder = results / file_name(config.name)
    if folder.is_symlink():
        raise ConfigError(f"{folder} is a link, not a folder: delete it, or give another folder with --results")
    other = _config_of(folder)
    if other is not None and other != config.file.resolve():
        raise ConfigError(
            f"{folder}/ holds the results of another config of this name, {other}. "
            f"Rename {config.file}, or give another folder with --results"
        )
    return folder


def packaged() -> Path:
    """Return the folder of the references that come with the package."""
    return Path(str(resources.files("mmc.results")))


def own_study(results: Path, name: str) -> Path | None:
    """Return the file of a study of this name that was run here before; None if there is none, or it is gone."""
    file = _config_of(results / file_name(name))
    return file if file is not None and file.stem == name else None


def _config_of(folder: Path) -> Path | None:
    """Return the config whose results a folder holds; None if it is gone, or what the folder says is no path."""
    written = last_run(folder).get("file")
    try:
        file = (folder / written).resolve() if isinstance(written, str) else None
        return file if file is not None and file.exists() else None
    except (OSError, ValueError):
        return None


def last_run(folder: Path) -> Provenance:
    """Return what the last run of a config wrote into its folder; empty if there is nothing that can be read."""
    try:
        found = json.loads((folder / "run.json").read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return cast(Provenance, found) if isinstance(found, dict) else {}


def earlier_seconds(config: Config, *results: Path) -> Mapping[str, float]:
    """Return the seconds of a unit of each kind when the config was run before: by the first of the folders that knows."""
    for parent in results:
        known = last_run(parent / file_name(config.name)).get("unit_seconds")
        if isinstance(known, Mapping):
            times = {kind: seconds for kind, seconds in known.items() if isinstance(seconds, (int, float))}
            return {kind: float(seconds) for kind, seconds in times.items() if 0 <= seconds < _AGES}
    return {}
