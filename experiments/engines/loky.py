"""Runs units in worker processes of this machine, each of them started afresh by loky.

The pool is our own: a worker has a pipe, and holds units that nobody else has. So when it is killed, the unit that it was
at is known. That one is tried once more; the second time it is given up, and the rest goes on.
"""

from __future__ import annotations

import os
import pickle
import signal
import sys
import threading
import time
import traceback
import weakref
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from typing import Any

from mmc.experiments.engines.base import (
    BATCH_SECONDS,
    Tell,
    Work,
    Workers,
    attempt,
    ended,
    failed,
    kept_off,
    untold,
)
from mmc.experiments.errors import EngineError
from mmc.experiments.records import Record
from mmc.experiments.trials import run_unit
from mmc.experiments.units import Unit
from mmc.threads import ONE_THREAD

_TRIES = 2
_MOST = 64  # units that a worker holds at once
_ALIVE = 0.5  # seconds between two looks at the parent
_GRACE = 10.0  # seconds that a worker may take to end when its pipe is closed

_MORE = "more"


class Loky:
    """The engine of one machine. Workers stay between calls; they end with ``close`` or with this process."""

    def __init__(self, jobs: int, tell: Tell = untold, work: Work = run_unit) -> None:
        self._jobs, self._tell, self._work = jobs, tell, work
        self._workers: list[_Worker] = []
        self._lost = self._stillborn = 0
        self._finalizer = weakref.finalize(self, _end_all, self._workers)

    def close(self) -> None:
        """End the workers."""
        _end_all(self._workers)

    def __call__(self, units: Sequence[Unit]) -> Iterator[Sequence[Record]]:
        waiting = deque(units)
        deaths: Counter[int] = Counter()  # by the unit's identity: the caller holds the units
        try:
            while waiting or any(worker.units for worker in self._workers):
                self._fill(waiting)
                pipes = {worker.pipe: worker for worker in self._workers}
                for pipe in wait(list(pipes)):
                    worker = pipes[pipe]
                    try:
                        answer = worker.pipe.recv()
                    except (EOFError, OSError):
                        yield from self._bury(worker, waiting, deaths)
                        continue
                    if isinstance(answer, Exception):
                        raise answer
                    if isinstance(answer, list):
                        worker.units.popleft()
                        yield answer
                    else:  # at its start, or at the end of a batch
                        self._stillborn = 0
                        worker.rest(waiting)
        finally:  # what a worker is still at, nobody waits for
            _end_all(self._workers, busy=True)

    def _fill(self, waiting: deque[Unit]) -> None:
        """Start the workers that are lacking, and give units to those that have none."""
        busy = sum(bool(worker.units) for worker in self._workers)
        while len(self._workers) < min(self._jobs, busy + len(waiting)):
            self._workers.append(_Worker(self._work))
            self._tell(Workers(len(self._workers), lost=self._lost))
        for worker in self._workers:
            if worker.free and waiting:
                share = max(1, len(waiting) // (2 * self._jobs))
                worker.take([waiting.popleft() for _ in range(min(worker.size, share, len(waiting)))])

    def _bury(self, worker: _Worker, waiting: deque[Unit], deaths: Counter[int]) -> Iterator[Sequence[Record]]:
        """Remove a dead worker. Its units wait again; the one that it was at is given up where this has happened before."""
        self._workers.remove(worker)
        how = worker.end()
        self._lost += worker.started
        self._stillborn += not worker.started
        self._tell(Workers(len(self._workers), lost=self._lost))
        if self._stillborn > _TRIES:
            raise EngineError(f"the workers cannot be started: each {how}. `--jobs 1` runs without them")
        at = next(iter(worker.units), None)
        if at is not None:
            deaths[id(at)] += 1
            if deaths[id(at)] >= _TRIES:
                worker.units.popleft()
                yield failed(at, f"its worker {how}, {_TRIES} times")
        waiting.extendleft(reversed(worker.units))


class _Worker:
    """A worker process and the units that it holds; the first is the one that it is at."""

    def __init__(self, work: Work) -> None:
        from joblib.externals.loky.backend import get_context

        context = get_context("loky")
        self.units: deque[Unit] = deque()
        self.started = self.free = False
        self.size = 1
        self.pipe, theirs = context.Pipe()
        self._process: Any = context.Process(
            target=_serve, args=(theirs, os.getpid(), work), daemon=True, env=ONE_THREAD
        )
        with kept_off():
            self._process.start()
        theirs.close()

    def take(self, units: list[Unit]) -> None:
        """Give it units; if it is dead, the pipe says so at the next look."""
        self.units.extend(units)
        self.free = False
        with suppress(OSError):
            self.pipe.send(units)

    def rest(self, waiting: deque[Unit]) -> None:
        """It asks for units. Those that it had no time for wait again, and it gets one; if it did all, it gets more."""
        self.size = 1 if self.units or not self.started else min(2 * self.size, _MOST)
        self.started = self.free = True
        waiting.extendleft(reversed(self.units))
        self.units.clear()

    def end(self, at_once: bool = False) -> str:
        """End it if it lives; say how it ended."""
        self.pipe.close()
        self._process.join(0 if at_once else _GRACE)
        if self._process.is_alive():
            self._process.terminate()
        self._process.join()
        return ended(self._process.exitcode, _largest_child())


def _end_all(workers: list[_Worker], busy: bool = False) -> None:
    """End the workers, or only those that are at work."""
    for worker in list(workers):
        if worker.units or not busy:
            workers.remove(worker)
            worker.end(at_once=True)


def _largest_child() -> int:
    """Return the most memory in bytes that an ended worker has used, 0 if that is not known."""
    try:
        import resource
    except ImportError:  # Windows
        return 0
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def _serve(pipe: Connection, parent: int, work: Work) -> None:
    """The life of a worker: take units, send the records of each; after a while give back what is left of them."""
    _end_with(parent)
    try:
        pipe.send(_MORE)
        while True:
            begun, units = time.monotonic(), pipe.recv()
            for unit in units:
                pipe.send(_answer(unit, work))
                if time.monotonic() - begun > BATCH_SECONDS:
                    break
            pipe.send(_MORE)
    except (EOFError, OSError):  # the parent has closed the pipe, or is gone
        return


def _answer(unit: Unit, work: Work) -> list[Record] | Exception:
    """Return the records of a unit, or the error that it ended with, in a form that can be sent."""
    try:
        return list(attempt(unit, work))
    except Exception as error:
        error.add_note(traceback.format_exc())
        try:
            pickle.loads(pickle.dumps(error))
        except Exception:
            return RuntimeError(f"{unit}: {error!r}")
        return error


def _end_with(parent: int) -> None:
    """End this process when its parent has ended: at once on Linux, where the kernel does it, elsewhere half a second later."""
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(
            1, signal.SIGKILL
        )  # PR_SET_PDEATHSIG: it works in the middle of a solver's long call too

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(_ALIVE)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
