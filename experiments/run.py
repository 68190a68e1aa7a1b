"""Run a config: plan it, fit what is missing, keep the records, write the tables."""

from __future__ import annotations

import datetime
import json
import os
import platform
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from mmc.experiments import files, render
from mmc.experiments.cells import Table
from mmc.experiments.claims import Claim, claims_of, to_markdown
from mmc.experiments.config import Config
from mmc.experiments.engine import Engine
from mmc.experiments.fingerprint import version
from mmc.experiments.plan import Unit, need_no_download, plan
from mmc.experiments.records import Record
from mmc.experiments.results import Results
from mmc.experiments.store import Store
from mmc.experiments.trials import settled
from mmc.experiments.validation import check_figures
from mmc.experiments.values import check_values
from mmc.methods.solution import Status

STORE = "store.sqlite"
_LIBRARIES = ("numpy", "scipy", "scikit-learn", "clarabel", "ecos", "highspy", "joblib", "max-margin-classifiers")


@dataclass(frozen=True)
class Progress:
    """What a display is told: so many trials done of so many, and how they ended."""

    config: str
    done: int
    total: int
    statuses: Mapping[str, int]


Watch = Callable[[Progress], None]


class Outcome(Results):
    """A finished run: the results, and how they are written and drawn."""

    def write(self, folder: Path, provenance: Mapping[str, Any] | None) -> list[str]:
        """Write the table as CSV, Markdown and LaTeX, and the run's provenance; return the names."""
        return _write_table(self.table, folder, provenance, self.claims)

    @cached_property
    def claims(self) -> list[Claim]:
        """What the paper says in words, with verdicts."""
        return claims_of(self)

    def draw(self, folder: Path) -> list[str]:
        """Write the figures as SVG and PNG; return their names."""
        if not self.config.experiment.figures:
            return []
        from mmc.experiments.figures import draw_all, save

        return [path.name for name, figure in draw_all(self) for path in save(name, figure, folder)]


def run(
    config: Config,
    store: Store,
    engine: Engine,
    *,
    fresh: bool = False,
    data_dir: Path | None = None,
    watch: Watch = lambda progress: None,
) -> Outcome:
    """Fit the trials that have no record yet (all of them if ``fresh``)."""
    started = time.perf_counter()
    units = plan(config, data_dir)
    trials = {trial.key: trial for unit in units for trial in unit.trials}
    records = {} if fresh else store.get(trials)
    missing = [unit for unit in units if any(trial.key not in records for trial in unit.trials)]
    statuses: dict[str, int] = {}
    for record in records.values():
        statuses[record.status] = statuses.get(record.status, 0) + 1
    watch(Progress(config.name, len(records), len(trials), dict(statuses)))
    if missing:
        check_values(config)
        check_figures(config, units)
        try:
            for batch in _work(missing, records, engine):
                store.put(batch)
                for record in batch:
                    if record.key not in records:
                        statuses[record.status] = statuses.get(record.status, 0) + 1
                    records[record.key] = record
                watch(Progress(config.name, len(records), len(trials), dict(statuses)))
        finally:
            store.commit()
    if missing or store.provenance(config.name) is None:  # all its records may be another config's
        seconds = time.perf_counter() - started
        store.set_provenance(config.name, _provenance(config, units, records, len(missing), seconds))
    return Outcome(config, units, records)


def _work(units: Sequence[Unit], records: Mapping[str, Record], engine: Engine) -> Iterator[Sequence[Record]]:
    """Yield the records of units as they come, those that others follow first; ``records`` grows meanwhile."""
    leading = {key for unit in units for key in unit.follows}
    ahead = [unit for unit in units if not unit.follows]
    ahead.sort(key=lambda unit: unit.trials[0].key not in leading)
    if ahead:
        yield from engine(ahead)
    settle = [settled(unit, records) for unit in units if unit.follows]
    if found := [done for done in settle if isinstance(done, Record)]:
        yield found
    if rest := [unit for unit in settle if isinstance(unit, Unit)]:
        yield from engine(rest)


def recall(config: Config, store: Store, data_dir: Path | None = None) -> Outcome:
    """Return what the store has of a config; nothing is fitted, and no data are downloaded: DataAbsent says so."""
    need_no_download(config, data_dir)
    units = plan(config, data_dir)
    return Outcome(config, units, store.get(trial.key for unit in units for trial in unit.trials))


def earlier_seconds(folder: Path) -> float | None:
    """Return the seconds that all fits of a config took when its results in a folder were written."""
    try:
        return float(json.loads((folder / "run.json").read_text("utf-8"))["fit_seconds"])
    except (OSError, ValueError, TypeError, KeyError):
        return None


def _write_table(table: Table, folder: Path, provenance: Mapping[str, Any] | None, claims: list[Claim]) -> list[str]:
    texts = {f"table.{ending}": make(table) for ending, make in render.FORMATS.items()}
    if claims:
        texts["claims.md"] = to_markdown(claims)
    if provenance is not None:
        texts["run.json"] = json.dumps(provenance, indent=2, ensure_ascii=False) + "\n"
    for name, text in texts.items():
        files.write(folder / name, text)
    return list(texts)


def _provenance(
    config: Config, units: list[Unit], records: Mapping[str, Record], fitted: int, seconds: float
) -> dict[str, Any]:
    statuses: dict[str, int] = {}
    for record in records.values():
        statuses[record.status] = statuses.get(record.status, 0) + 1
    return {
        "config": config.name,
        "experiment": json.loads(config.experiment.model_dump_json(exclude_none=True)),
        "finished": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "seconds": round(seconds, 2),
        "fit_seconds": round(sum(r.seconds for r in records.values()), 2),
        "units_fitted": fitted,
        "trials": statuses,
        "largest_gap": max(
            (r.proof.gap for r in records.values() if r.proof and r.status is Status.SOLVED), default=None
        ),
        "data": {u.source.label: u.source.load().content_hash for u in units if u.split.repetition == 0},
        "versions": {"python": platform.python_version(), **{name: version(name) for name in _LIBRARIES}},
        "machine": {"system": platform.system(), "processor": platform.machine(), "cores": os.cpu_count()},
        "commit": _commit(),
    }


def _commit() -> str | None:
    try:
        command = ["git", "-C", str(Path(__file__).parent), "describe", "--always", "--dirty", "--abbrev=12"]
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=5).stdout.strip() or None
    except (OSError, subprocess.SubprocessError):
        return None
