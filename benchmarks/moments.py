"""Moments of 10⁷ rows of 30 columns from a Parquet file, in one pass, beside what a pass costs anyway and what a user would take.

The floor is pyarrow's own reading of the same columns into numpy, batch by batch, and one X'X by BLAS. A ratio of 0.67 is
1.5 times its time. Times are seconds of the processor, one thread; those of workers are seconds of the clock. Rows over whose
number time and memory are shown are made on the fly, each number in a process of its own; memory is what the process's
peak grew by.

Not part of ``make bench``; it needs 3 GB of disk for some minutes and writes results/moments/ (see `_moments`).
"""

from __future__ import annotations

import multiprocessing
import resource
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from sklearn.decomposition import IncrementalPCA
from sklearn.linear_model import SGDClassifier
from threadpoolctl import threadpool_limits

from benchmarks._moments import Pass, write
from benchmarks._shared import quickest, row
from mmc.methods import Moments, sources
from mmc.methods.numerics.kernels import Array
from mmc.methods.numerics.moments import ClassMoments

FOLDER = Path(__file__).parent.parent / "results" / "moments"
ROWS, COLUMNS, GROUP, PARTITION = 10**7, 30, 10**6, 250_000
SIZES = tuple(10**k for k in range(4, 9))
NAMES = [f"x{i}" for i in range(COLUMNS)]
WANTED = sources.Wanted("y", tuple(NAMES))


def run() -> Iterator[dict[str, Any]]:
    """Yield the comparisons, then write the files."""
    # A fork server: a process that it starts does not inherit the peak of this one's memory, as others do.
    context = multiprocessing.get_context("forkserver")
    what = f"Moments.scan, {ROWS:.0e} × {COLUMNS} rows of Parquet"
    rows: list[dict[str, Any]] = []
    with TemporaryDirectory() as folder, ProcessPoolExecutor(1, mp_context=context, max_tasks_per_child=1) as fresh:
        path = Path(folder) / "rows.parquet"
        fresh.submit(make, path, ROWS).result()
        ours, memory = fresh.submit(measure_scan, path).result()
        for name, target, peer in (
            ("pyarrow's reading and X'X", 1 / 1.5, floor),
            ("SGDClassifier.partial_fit, the same batches", 1.0, sgd),
            ("IncrementalPCA.partial_fit, the same batches", None, pca),
        ):
            theirs = fresh.submit(measure, peer, path).result()
            note = f"Peak memory of the scan grew by {memory:.0f} MB." if peer is floor else None
            rows.append(row(what, name, target, ours, theirs, note))
            yield rows[-1]
        for source, name in ((path, "Parquet"), (None, "partitions that the workers make")):
            one, two = (fresh.submit(on_workers, source, workers).result() for workers in (1, 2))
            rows.append(row(f"Moments.scan of {name}, 2 workers of dask", "1 worker", 1.7, two, one))
            yield rows[-1]
        passes = [fresh.submit(on_the_fly, n).result() for n in SIZES]
    rng = np.random.default_rng(0)
    a, b = (Moments.of(rng.normal(size=(200, COLUMNS)), np.arange(200) % 2) for _ in range(2))
    merge, _ = quickest(lambda: a + b, 20, time.process_time)
    write(passes, Pass(ROWS, ours, memory), rows, merge, FOLDER)


def make(path: Path, rows: int) -> None:
    """Write rows of two classes with correlated columns."""
    rng = np.random.default_rng(0)
    mix = rng.normal(size=(COLUMNS, COLUMNS))
    kinds = pa.schema([*((name, pa.float64()) for name in NAMES), ("y", pa.int8())])
    with pq.ParquetWriter(path, kinds) as file:
        for start in range(0, rows, GROUP):
            n = min(GROUP, rows - start)
            y = (rng.random(n) < 0.4).astype(np.int8)
            X = rng.normal(size=(n, COLUMNS)) @ mix
            X += y[:, None]
            file.write_table(pa.table([*X.T.copy(), y], schema=kinds))


def measure_scan(path: Path) -> tuple[float, float]:
    """Return the seconds and the megabytes of a scan in this process, which has done nothing before."""
    with threadpool_limits(1):
        warm_up()
        before = peak()
        seconds, _ = quickest(lambda: Moments.scan(path, target="y"), 1, time.process_time)
        memory = (peak() - before) / 1e6
        again, _ = quickest(lambda: Moments.scan(path, target="y"), 1, time.process_time)
    return min(seconds, again), memory


def measure(peer: Any, path: Path) -> float:
    """Return the seconds of another way."""
    with threadpool_limits(1):
        return quickest(lambda: peer(path), 2 if peer is floor else 1, time.process_time)[0]


def floor(path: Path) -> Array:
    """Read the columns into numpy and multiply."""
    product = np.zeros((COLUMNS, COLUMNS))
    for X, _ in batches(path):
        product += X.T @ X
    return product


def sgd(path: Path) -> SGDClassifier:
    """Fit one pass of stochastic gradient descent, the columns scaled roughly as it needs them."""
    model = SGDClassifier()
    for X, y in batches(path):
        model.partial_fit(X / 6, y, classes=[0, 1])
    return model


def pca(path: Path) -> IncrementalPCA:
    """Fit all principal components."""
    model = IncrementalPCA(COLUMNS)
    for X, _ in batches(path):
        model.partial_fit(X)
    return model


def batches(path: Path) -> Iterator[tuple[Array, Array]]:
    """Yield what `Moments.scan` reads."""
    pieces, _ = sources._pieces(path)
    for piece in pieces:
        for batch in sources._batches(piece, WANTED):
            yield sources.numbers(batch, NAMES), batch.column("y").to_numpy()


def on_workers(path: Path | None, workers: int) -> float:
    """Return the seconds of the clock of a scan by local workers of dask, started before; dask holds them to one thread.

    Without a file, it is that of as many rows in partitions of a dask DataFrame, which the workers make.
    """
    from dask.dataframe import from_map
    from distributed import Client, LocalCluster

    source = from_map(partition, range(ROWS // PARTITION)) if path is None else path
    with (
        LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address="127.0.0.1:0") as cluster,
        Client(cluster) as client,
    ):
        client.wait_for_workers(workers)
        return quickest(lambda: Moments.scan(source, target="y", cluster=client), 3)[0]


def partition(number: int) -> pd.DataFrame:
    """Return random rows of two classes."""
    rng = np.random.default_rng(number)
    frame = pd.DataFrame(rng.random((COLUMNS, PARTITION)).T, columns=NAMES, copy=False)
    return frame.assign(y=(frame["x0"] < 0.4).astype(np.int8))


def on_the_fly(rows: int) -> Pass:
    """Sum up rows that are made as they are needed: a block of random rows, moved a little for each batch."""
    rng = np.random.default_rng(0)
    n = min(WANTED.rows, rows)
    block = (rng.normal(size=(n, COLUMNS)) @ rng.normal(size=(COLUMNS, COLUMNS))).T
    y = (rng.random(n) < 0.4).astype(np.int8)
    names, X = tuple(NAMES), np.empty((COLUMNS, n)).T
    with threadpool_limits(1):
        warm_up()
        before, seconds, total = peak(), 0.0, ClassMoments({})
        for start in range(0, rows, n):
            m = min(n, rows - start)
            np.add(block.T, rng.normal(size=COLUMNS), out=X)
            begin = time.process_time()
            total = total + ClassMoments.of_codes(X[:m] if m < n else X, y[:m], [0, 1], None, names)
            seconds += time.process_time() - begin
    assert total.total().count == rows
    return Pass(rows, seconds, (peak() - before) / 1e6)


def warm_up() -> None:
    """Load what the first use loads."""
    Moments.of(np.random.default_rng(0).normal(size=(300, COLUMNS)), np.arange(300) % 2)


def peak() -> float:
    """Return the largest memory of this process so far, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
