"""A dask cluster on this machine: Nath's Table 1 beside worker processes, and what an order costs that does nothing.

The first row runs the four configs of Nath & Bhattacharyya's Table 1 by the command, from an empty store, start included. The other
rows are for the record: units that do nothing, sent one by one, beside the same ones sent in batches.

Not part of ``make bench``; it writes results/cluster/ (see `_cluster`).
"""

from __future__ import annotations

import pickle
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks._cluster import Command, Cost, Limits, write
from benchmarks._shared import row
from mmc.experiments.engines import dask
from mmc.experiments.engines.crew import MOST
from mmc.experiments.engines.remote import Order, roots_of
from mmc.experiments.plan import plan
from mmc.experiments.records import Counts, Proof, Record
from mmc.experiments.store import Store
from mmc.experiments.units import Trial, Unit
from mmc.experiments.validation import load
from mmc.methods.solution import Status

FOLDER = Path(__file__).parent.parent / "results" / "cluster"
TABLE1 = ("breast_cancer", "heart_disease", "ring_norm", "two_norm")
WORKERS = (1, 2, 4, 8)
COUNTS = (10, 100, 1000, 10_000, 100_000)
SINGLE = 1000  # more units than this are not sent one by one: the law is plain by then
TIMES = 2  # that the command is run each way, by turns; the quicker one counts
ALLOWED = 1.15  # the longest time on a local cluster, in units of that with as many worker processes


def run() -> Iterator[dict[str, Any]]:
    """Yield the rows, then write the files."""
    with tempfile.TemporaryDirectory() as folder:
        ways = {"cluster": ("--cluster", "local:2"), "jobs": ("--jobs", "2")}
        taken = [{way: _command(Path(folder, f"{way}{turn}"), *ways[way]) for way in ways} for turn in range(TIMES)]
        ours, theirs = (min(seconds[way] for seconds in taken) for way in ways)
        yield row("Nath's Table 1, --cluster local:2", "--jobs 2", 1 / ALLOWED, ours, theirs)
        writes = _writes(Path(folder))
    costs: list[Cost] = []
    for workers in WORKERS:
        engine = dask.Dask(f"local:{workers}", work=nothing)
        try:
            _drained(engine, _units(20 * workers))  # every worker has imported what it needs
            costs += [_cost(engine, workers, count, MOST) for count in COUNTS]
            costs += [_cost(engine, workers, count, 1) for count in COUNTS if count <= SINGLE]
        finally:
            engine.close()
        batched, single = (
            next(c for c in costs if (c.workers, c.units, c.batch) == (workers, SINGLE, batch)) for batch in (MOST, 1)
        )
        name = f"{SINGLE} units that do nothing, {workers} workers"
        yield row(name, "one by one", None, batched.seconds, single.seconds)
    units = _units(MOST)
    alone, together = (len(pickle.dumps(_order(units[:count]))) / count for count in (1, MOST))
    limits = Limits(writes, alone, together, dask.SECONDS)
    write(Command(ours, theirs, ALLOWED), costs, limits, FOLDER)


def nothing(unit: Unit) -> list[Record]:
    """Leave a record of the usual size, and do nothing."""
    proof, counts = Proof(1.0, 1e-9, 10), Counts(10, 10, 1, 2)
    return [Record(trial.key, Status.SOLVED, 0.0, 0.0, counts, proof) for trial in unit.trials]


def _cost(engine: dask.Dask, workers: int, units: int, batch: int) -> Cost:
    dask.MOST = batch  # the most units in one order
    try:
        start = time.perf_counter()
        _drained(engine, _units(units))
        return Cost(workers, units, batch, time.perf_counter() - start)
    finally:
        dask.MOST = MOST


def _drained(engine: dask.Dask, units: Sequence[Unit]) -> None:
    for member in engine._members.values():
        member.size = 1
    assert sum(len(records) for records in engine(units)) == len(units)


def _units(count: int) -> list[Unit]:
    """Return so many units of one trial each, as small or as large as those of a config."""
    template = plan(load("heart_disease"))[0]
    point = template.trials[0].point
    return [replace(template, trials=(Trial(f"{number:064x}", point),)) for number in range(count)]


def _order(units: Sequence[Unit]) -> Order:
    return Order(tuple(units), roots_of(units), "0" * 64, dask.SECONDS, nothing)


def _writes(folder: Path) -> float:
    """Return how many records the store takes in a second."""
    records = [record for unit in _units(20_000) for record in nothing(unit)]
    with Store(folder / "store.sqlite") as store:
        start = time.perf_counter()
        for record in records:
            store.put([record])
        store.commit()
        return len(records) / (time.perf_counter() - start)


def _command(results: Path, *words: str) -> float:
    """Return the seconds of the command on the four configs."""
    command = [sys.executable, "-c", "from mmc.cli import main; main()", "run", *TABLE1, "--results", str(results)]
    start = time.perf_counter()
    subprocess.run([*command, *words], check=True, capture_output=True)
    return time.perf_counter() - start
