"""Run a config: plan it, fit what is missing, keep the records."""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from mmc.experiments.config import Config
from mmc.experiments.data_used import facts_of, too_large, troubles
from mmc.experiments.engines.base import Engine, failed
from mmc.experiments.outcome import Outcome
from mmc.experiments.outlook import Outlook
from mmc.experiments.plan import need_no_download, plan
from mmc.experiments.provenance import identity, provenance
from mmc.experiments.records import Record
from mmc.experiments.store import Store
from mmc.experiments.trials import settled
from mmc.experiments.units import Unit
from mmc.experiments.validation import check_figures
from mmc.experiments.values import check_values
from mmc.methods.solution import Status

_log = logging.getLogger("mmc.experiments")


@dataclass(frozen=True)
class Progress:
    """What a display is told: so many trials done of so many, and how they ended.

    ``left`` are the seconds of fitting that are left, of all workers together; None: there is no estimate yet. ``spent`` are
    those of this run so far.
    """

    config: str
    done: int
    total: int
    statuses: Mapping[str, int]
    left: float | None = None
    spent: float = 0.0


Watch = Callable[[Progress], None]


def unwatched(progress: Progress) -> None:
    """Show nothing."""


def run(
    config: Config,
    store: Store,
    engine: Engine,
    *,
    fresh: bool = False,
    data_dir: Path | None = None,
    watch: Watch = unwatched,
    earlier: Mapping[str, float] | None = None,
) -> Outcome:
    """Fit the trials that have no record yet (all of them if ``fresh``); those whose workers died are tried again.

    ``earlier`` are seconds of units of each kind, from an earlier run: the time left is judged by them at first.
    """
    started = time.perf_counter()
    units = plan(config, data_dir)
    records = {} if fresh else _usable(store, units)
    missing = _missing(units, records)
    outlook = Outlook(units, records, earlier or {})
    total = sum(len(unit.trials) for unit in units)
    statuses = Counter(str(record.status) for record in records.values())

    def told() -> None:
        watch(Progress(config.name, len(records), total, dict(statuses), outlook.left(), outlook.spent))

    told()
    warn(config, units)
    if missing:
        check_values(config)
        check_figures(config, units)
        try:
            for batch in _work(missing, records, engine):
                store.put(batch)
                statuses.update(str(record.status) for record in batch if record.key not in records)
                records.update({record.key: record for record in batch})
                outlook.add(batch)
                told()
        finally:
            store.commit()
    name = identity(config, units)
    if missing or store.provenance(name) is None:  # all its records may be another config's
        seconds = time.perf_counter() - started
        store.set_provenance(name, provenance(config, units, records, len(missing), seconds))
    return Outcome(config, units, records, store.provenance(name))


def warn(config: Config, units: Sequence[Unit]) -> None:
    """Log what a user should know of the data: a positive class that nobody stated, a class with few rows."""
    facts = facts_of(config, units)
    for trouble in (*troubles(config, facts), *too_large(config, facts, _memory)):
        _log.warning("warning: %s", trouble)


def _memory() -> int:
    import psutil

    return int(psutil.virtual_memory().total)


def recall(config: Config, store: Store, data_dir: Path | None = None) -> Outcome:
    """Return what the store has of a config; nothing is fitted, and no data are downloaded: DataAbsent says so."""
    need_no_download(config, data_dir)
    units = plan(config, data_dir)
    records = store.get(trial.key for unit in units for trial in unit.trials)
    return Outcome(config, units, records, store.provenance(identity(config, units)))


def seconds_left(config: Config, store: Store, data_dir: Path | None, earlier: Mapping[str, float]) -> float | None:
    """Return the seconds of fitting that a config would still take; None where nothing is known of them."""
    need_no_download(config, data_dir)
    units = plan(config, data_dir)
    return Outlook(units, _usable(store, units), earlier).left()


def _usable(store: Store, units: Sequence[Unit]) -> dict[str, Record]:
    """Return the records that need not be made again: that a worker died says nothing about the next time."""
    found = store.get(trial.key for unit in units for trial in unit.trials)
    return {key: record for key, record in found.items() if record.status is not Status.FAILED}


def _missing(units: Sequence[Unit], records: Mapping[str, Record]) -> list[Unit]:
    return [unit for unit in units if any(trial.key not in records for trial in unit.trials)]


def _work(units: Sequence[Unit], records: Mapping[str, Record], engine: Engine) -> Iterator[Sequence[Record]]:
    """Yield the records of units as they come, those that others follow first; ``records`` grows meanwhile."""
    leading = {key for unit in units for key in unit.follows}
    ahead = [unit for unit in units if not unit.follows]
    ahead.sort(key=lambda unit: unit.trials[0].key not in leading)
    if ahead:
        yield from engine(ahead)
    settle = [_settled(unit, records) for unit in units if unit.follows]
    if found := [done for done in settle if isinstance(done, Record)]:
        yield found
    if rest := [unit for unit in settle if isinstance(unit, Unit)]:
        yield from engine(rest)


def _settled(unit: Unit, records: Mapping[str, Record]) -> Unit | Record:
    """Return a unit that follows others with the point that they found for it, or its record if there is none."""
    for key in unit.follows:
        if records[key].status is Status.FAILED:
            return failed(unit, f"the trial that tunes for it failed: {records[key].message}")[0]
    return settled(unit, records)
