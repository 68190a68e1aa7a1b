"""Where a table comes from: the experiment, its data, the machine, the versions, and the commit of this very code."""

from __future__ import annotations

import datetime
import hashlib
import json
import math
import os
import platform
import re
import subprocess
from collections import Counter
from collections.abc import Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import TypeAlias

from mmc.experiments.config import Config
from mmc.experiments.data_facts import dump
from mmc.experiments.data_used import facts_of
from mmc.experiments.fingerprint import version
from mmc.experiments.outlook import unit_seconds
from mmc.experiments.records import Json, Record
from mmc.experiments.units import Unit
from mmc.methods.solution import Status

DISTRIBUTION = "max-margin-classifiers"
_LIBRARIES = ("numpy", "scipy", "scikit-learn", "clarabel", "ecos", "highspy", "joblib", DISTRIBUTION)
# Nothing in the settings of a repository, of its user or of the machine may run a program.
_QUIET = ("--no-optional-locks", "-c", "core.fsmonitor=false", "-c", f"core.hooksPath={os.devnull}")
_FILTER = ("clean=", "process=", "required=false")  # of a filter: git would call it to compare a file
_NO_SETTINGS = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull, "GIT_TERMINAL_PROMPT": "0"}


# What run.json says: config, file, experiment, finished, seconds, …; ``unit_seconds`` are those of a unit of each kind.
Provenance: TypeAlias = Mapping[str, Json]


def identity(config: Config, units: Sequence[Unit]) -> str:
    """Return a hash of the experiment and of all its records' keys: the provenance of a run is kept under it."""
    sha = hashlib.sha256(config.experiment.model_dump_json().encode())
    for unit in units:
        for trial in unit.trials:
            sha.update(trial.key.encode())
    return sha.hexdigest()


def provenance(
    config: Config, units: Sequence[Unit], records: Mapping[str, Record], fitted: int, seconds: float
) -> Provenance:
    """Return the provenance of a run that has just ended: it fitted so many units, in so many seconds."""
    gaps = [r.proof.gap for r in records.values() if r.proof and r.status is Status.SOLVED]
    largest = max(gaps, default=math.nan)
    return {
        "config": config.name,
        "experiment": json.loads(config.experiment.model_dump_json(exclude_none=True)),
        "finished": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "seconds": round(seconds, 2),
        "fit_seconds": round(sum(r.seconds for r in records.values()), 2),
        "unit_seconds": {name: float(f"{value:.3g}") for name, value in unit_seconds(units, records).items()},
        "units_fitted": fitted,
        "trials": dict(Counter(str(record.status) for record in records.values())),
        "largest_gap": largest if math.isfinite(largest) else None,
        "data": {u.source.label: u.source.load().content_hash for u in units if u.split.repetition == 0},
        "rows": dump(facts_of(config, units)),
        "versions": {"python": platform.python_version(), **{name: version(name) for name in _LIBRARIES}},
        "machine": {"system": platform.system(), "processor": platform.machine(), "cores": os.cpu_count()},
        "commit": commit(),
    }


def commit(root: Path = Path(__file__).parent.parent) -> str | None:
    """Return the commit of mmc itself, or None where it is not known.

    It is that of our own checkout if ``root`` is one, with ``-dirty`` where its code has been changed; results/ is no
    code. Of an installed package it is what the installer wrote down. A repository around ``root`` is never asked.
    """
    if not _is_ours(root):
        return _installed_commit()
    found = _head(root)
    return found and found[:12] + ("-dirty" if _changed(root) else "")


def _is_ours(root: Path) -> bool:
    try:
        project = (root / "pyproject.toml").read_text("utf-8")
    except (OSError, ValueError):
        return False
    return (root / ".git").exists() and re.search(rf'^name = "{DISTRIBUTION}"$', project, re.MULTILINE) is not None


def _installed_commit() -> str | None:
    try:
        found = json.loads(metadata.distribution(DISTRIBUTION).read_text("direct_url.json") or "{}")
        return str(found["vcs_info"]["commit_id"])[:12]
    except (metadata.PackageNotFoundError, ValueError, KeyError, TypeError):
        return None


def _head(root: Path) -> str | None:
    """Return the commit of a checkout, from git's own files."""
    try:
        folder = root / ".git"
        if folder.is_file():  # a worktree
            folder = root / folder.read_text("utf-8").removeprefix("gitdir: ").strip()
        shared = folder / "commondir"
        common = folder / shared.read_text("utf-8").strip() if shared.exists() else folder
        found = (folder / "HEAD").read_text("utf-8").strip()
        if found.startswith("ref: refs/"):
            found = _branch(found.removeprefix("ref: "), folder, common)
    except (OSError, ValueError):
        return None
    return found if re.fullmatch(r"[0-9a-f]{40,64}", found) else None


def _branch(name: str, *folders: Path) -> str:
    """Return the commit of a branch: it has a file, or a line in the file of all packed ones."""
    for folder in folders:
        if (folder / name).is_file():
            return (folder / name).read_text("utf-8").strip()
    packed = (folders[-1] / "packed-refs").read_text("utf-8")
    return next((line.split()[0] for line in packed.splitlines() if line.endswith(f" {name}")), "")


def _changed(root: Path) -> bool:
    """Whether a tracked file of our own checkout, results aside, differs from its commit."""
    options = ("--porcelain", "--untracked-files=no", "--ignore-submodules=all")
    try:
        names = {line.rpartition(".")[0] for line in _git(root, "config", "--name-only", "--list").splitlines()}
        off = [f"{name}.{key}" for name in names if name.startswith("filter.") for key in _FILTER]
        return bool(
            _git(
                root, *(part for setting in off for part in ("-c", setting)), "status", *options, "--", ".", ":!results"
            )
        )
    except (OSError, subprocess.SubprocessError):
        return False


def _git(root: Path, *words: str) -> str:
    """Return what git says of a checkout."""
    command, env = ["git", "-C", str(root), *_QUIET, *words], {**os.environ, **_NO_SETTINGS}
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=10, env=env).stdout.strip()
