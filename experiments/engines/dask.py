"""Runs units on a cluster of dask.distributed. The client, this process, is the only one that writes the store.

The client says which worker gets which units, so that it knows what a lost worker was at. Units of a lost worker run
again elsewhere; one that three workers die of is given up, and the rest goes on. Every worker runs the client's code, or nothing.
"""

from __future__ import annotations

import logging
import multiprocessing
import queue
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from multiprocessing import resource_tracker
from typing import TypeVar

import dask
from distributed import Client, KilledWorker, LocalCluster, Worker, WorkerPlugin, utils

from mmc.datasets.dataset import DataSet
from mmc.experiments.engines.base import Tell, Work, Workers, kept_off, untold
from mmc.experiments.engines.crew import MOST, Member, Sent, Waiting, answer_of, still_open
from mmc.experiments.engines.remote import LENT, Answer, Order, carry_out, code_of, digest_of, roots_of
from mmc.experiments.errors import EngineError
from mmc.experiments.fingerprint import DISTRIBUTION
from mmc.experiments.records import Record
from mmc.experiments.trials import run_unit
from mmc.experiments.units import Unit
from mmc.threads import ONE_THREAD

T = TypeVar("T")
Code = Mapping[str, str]

SECONDS = 1.0  # an order of several units takes about this long
_LOOK = 1.0  # seconds between two looks at who is there
_REACH = 10  # seconds to reach a scheduler
_GRACE = 5.0  # seconds to say goodbye
_FETCHING = 16  # answers that are fetched at once
_PLAIN = {  # of a local cluster's workers
    "distributed.worker.profile.enabled": False,  # its sampler holds up a solver's Python every 10 ms
    # without dask's habit of giving memory back to the system after every array
    "distributed.nanny.pre-spawn-environ": ONE_THREAD,
}
_LOADED = ("distributed", "mmc.experiments.engines.remote", "mmc.experiments.trials", "mmc.methods.base")
_log = logging.getLogger("mmc")


class Lend(WorkerPlugin):
    """Brings a data set to every worker, once, and to those that join later."""

    idempotent = True

    def __init__(self, content: str, data: DataSet) -> None:
        self.content, self.data = content, data
        self.name = f"mmc-data-{content}"

    def setup(self, worker: Worker) -> None:
        LENT[self.content] = self.data

    def teardown(self, worker: Worker) -> None:
        LENT.pop(self.content, None)


class Dask:
    """The engine of a cluster: ``tcp://host:8786``, ``tls://host:8786``, or ``local:4`` for four workers of this machine."""

    def __init__(self, address: str, tell: Tell = untold, work: Work = run_unit) -> None:
        logging.getLogger("distributed").setLevel(logging.CRITICAL)  # what matters is said here
        self._address, self._tell, self._work = address, tell, work
        self._members: dict[str, Member] = {}
        self._refused: dict[str, str] = {}  # why, by address
        self._lent: dict[str, str] = {}  # the names of plugins, by content
        self._answers: queue.SimpleQueue[tuple[Sent, Answer | BaseException]] = queue.SimpleQueue()
        self._fetchers = ThreadPoolExecutor(_FETCHING, "mmc-fetch")
        self._joined = self._lost = 0
        self._looked = 0.0
        self._cluster = _local(address)
        self._client = self._connected()
        if self._cluster is None:
            self._compare_versions()

    def _connected(self) -> Client:
        try:
            return Client(self._cluster or self._address, timeout=_REACH, set_as_default=False)
        except (OSError, ValueError, TimeoutError) as error:
            raise EngineError(
                f"cannot reach the cluster {self._address} ({error}). Is `dask scheduler` running there, "
                "and is the address right?"
            ) from None

    def close(self) -> None:
        """Leave the cluster; what was lent to it is taken back. A local one ends."""
        self._fetchers.shutdown(wait=False, cancel_futures=True)
        running = self._client.status == "running"
        with suppress(Exception):
            for name in self._lent.values() if running else ():
                self._client.unregister_worker_plugin(name)
        with suppress(Exception):
            self._client.close(timeout=_GRACE if running else 0.1)
        if self._cluster is not None:
            with suppress(Exception):
                self._cluster.close(timeout=_GRACE)

    def __call__(self, units: Sequence[Unit]) -> Iterator[Sequence[Record]]:
        waiting, roots = Waiting(units), roots_of(units)
        code = code_of(roots)
        digest = digest_of(code)
        try:
            while waiting or self._orders():
                yield from self._look(waiting)
                for member in self._usable():
                    while (given := waiting.take(member, self._slots())) is not None:
                        self._send(member, Order(tuple(given[0]), roots, digest, SECONDS, self._work), given[1])
                for sent, answer in self._arrived():
                    yield from self._settle(sent, answer, waiting, code)
        finally:
            self._cancel(self._orders())

    def _look(self, waiting: Waiting) -> Iterator[Sequence[Record]]:
        """Take note of workers that have come and gone; what the gone ones had waits again."""
        if self._client.status != "running":
            raise self._scheduler_lost()
        if time.monotonic() - self._looked < _LOOK:
            return
        first, self._looked = not self._looked, time.monotonic()
        present: Mapping[str, int] = self._asked(self._client.nthreads)
        if new := [address for address in present if address not in self._members]:
            known = self._asked(self._client.scheduler_info)["workers"]
            for address in new:
                limit = known.get(address, {}).get("memory_limit") or 0
                self._members[address] = Member(address, present[address], int(limit))
            self._joined += 0 if first else len(new)
        for address in [address for address in self._members if address not in present]:
            yield from self._bury(self._members.pop(address), waiting)
        self._tell(Workers(len(self._usable()), self._joined, self._lost))
        if first and not self._members:
            _log.warning("%s has no workers yet; waiting for one", self._address)

    def _bury(self, member: Member, waiting: Waiting) -> Iterator[Sequence[Record]]:
        """A worker is gone: the orders that it was at are suspect, the others just wait again."""
        self._lost += 1
        self._refused.pop(member.address, None)
        suspect, orders = still_open(member), list(member.orders)
        self._cancel(orders)
        for sent in orders:
            if sent in suspect:
                yield from waiting.blame(sent.units, member)
            else:
                waiting.back(sent.units)

    def _usable(self) -> list[Member]:
        """Return the workers that run the client's code, as far as is known; raise EngineError if none of them does."""
        usable = [member for address, member in self._members.items() if address not in self._refused]
        if self._members and not usable:
            reasons = "\n".join(f"  {address}: {self._refused[address]}" for address in self._members)
            raise EngineError(f"no worker of {self._address} can be used:\n{reasons}")
        return usable

    def _slots(self) -> int:
        return sum(member.threads for member in self._usable())

    def _orders(self) -> list[Sent]:
        return [sent for member in self._members.values() for sent in member.orders]

    def _send(self, member: Member, order: Order, alone: bool) -> None:
        future = self._client.submit(carry_out, order, workers=[member.address], pure=False, retries=0)
        sent = Sent(order.units, member, alone, future)
        member.orders.append(sent)
        future.add_done_callback(lambda _: self._fetch(sent))

    def _fetch(self, sent: Sent) -> None:
        """Fetch the answer to an order in a thread of its own: a worker in a long call of a solver answers late."""
        with suppress(RuntimeError):  # the engine is closed
            self._fetchers.submit(lambda: self._answers.put((sent, answer_of(sent))))

    def _arrived(self) -> Iterator[tuple[Sent, Answer | BaseException]]:
        """Yield the orders that have ended; wait for one, but no longer than until the next look."""
        with suppress(queue.Empty):
            yield self._answers.get(timeout=_LOOK / 2)
            while True:
                yield self._answers.get_nowait()

    def _settle(
        self, sent: Sent, answer: Answer | BaseException, waiting: Waiting, code: Code
    ) -> Iterator[Sequence[Record]]:
        """Take in what became of an order."""
        member = sent.member
        if sent not in member.orders:  # it was cancelled, or its worker is buried
            return
        member.orders.remove(sent)
        if isinstance(answer, Answer):
            yield from self._take(sent, answer, waiting, code)
        elif isinstance(answer, KilledWorker):
            yield from waiting.blame(sent.units, member)
        elif self._client.status != "running":
            raise self._scheduler_lost()
        else:
            if sent.future.status == "error":
                why = f"it cannot run mmc ({type(answer).__name__}: {answer}); install the same mmc there"
                self._refuse(member.address, why)
            waiting.back(sent.units)

    def _take(self, sent: Sent, answer: Answer, waiting: Waiting, code: Code) -> Iterator[Sequence[Record]]:
        """Yield the records of an answer; see to what the worker lacks."""
        yield from answer.records
        rest = sent.units[len(answer.records) :]
        if answer.error is not None:
            raise answer.error
        if answer.code is not None:
            self._compare(sent.member.address, code, answer.code)
        elif answer.lacking is not None:
            self._bring(rest[0], answer.lacking)
        else:
            sent.member.size = max(1, len(answer.records)) if rest else min(2 * sent.member.size, MOST)
        waiting.back(rest)

    def _bring(self, unit: Unit, content: str) -> None:
        """Send the data of a unit to every worker, and to those that join later."""
        if content not in self._lent:
            lend = Lend(content, unit.source.load())
            self._asked(lambda: self._client.register_plugin(lend))
            self._lent[content] = lend.name

    def _cancel(self, orders: Sequence[Sent]) -> None:
        if orders and self._client.status == "running":
            with suppress(Exception):
                self._client.cancel([sent.future for sent in orders], force=True)
        for sent in orders:
            sent.member.orders.remove(sent)

    def _compare_versions(self) -> None:
        """Refuse workers that have another Python or another dask; say what to install."""
        found = self._asked(self._client.get_versions)
        assert isinstance(found, dict)
        here = _basis(found["client"])
        for address, there in found["workers"].items():
            if isinstance(there, Mapping) and "packages" in there:  # or it has just gone
                self._compare(address, here, _basis(there))

    def _compare(self, address: str, here: Code, there: Code) -> None:
        """Refuse a worker by name if its code is not the client's; say what differs, and what to do about it."""
        differing = [name for name in {**here, **there} if here.get(name) != there.get(name)]
        if differing:
            told = [_difference(name, here.get(name), there.get(name)) for name in differing[:3]]
            more = f", and {len(differing) - 3} more" if len(differing) > 3 else ""
            self._refuse(address, "; ".join(told) + more)

    def _refuse(self, address: str, why: str) -> None:
        if address not in self._refused:
            self._refused[address] = why
            _log.warning("worker %s is not used: %s", address, why)

    def _asked(self, question: Callable[[], T]) -> T:
        try:
            return question()
        except (OSError, TimeoutError, RuntimeError):
            raise self._scheduler_lost() from None

    def _scheduler_lost(self) -> EngineError:
        return EngineError(
            f"the scheduler {self._address} is gone. What had come is kept: "
            "start it again, and run the same command to continue"
        )


def _local(address: str) -> LocalCluster | None:
    """Return a cluster of this machine if the address asks for one."""
    if found := re.fullmatch(r"local:(\d{1,3})", address):
        resource_tracker.ensure_running()  # it would let SIGINT through again when it is started
        with dask.config.set({**_PLAIN, **_forked()}), kept_off():
            return LocalCluster(
                n_workers=max(1, int(found[1])),
                threads_per_worker=1,
                memory_limit=0,
                dashboard_address="127.0.0.1:0",  # by default its port is fixed, and open to the network
                silence_logs=logging.CRITICAL,
            )
    if not re.match(r"[a-z]+://.+", address):
        raise EngineError(f"--cluster {address}: give tcp://host:8786, tls://host:8786, or local:4 for a first try")
    return None


def _forked() -> dict[str, str]:
    """Return dask's settings that fork local workers from one process, which has imported what all of them need."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return {}
    multiprocessing.get_context("forkserver").set_forkserver_preload(list(_LOADED))
    utils._forkserver_preload_set = True  # dask's own list has pandas
    return {"distributed.worker.multiprocessing-method": "forkserver"}


def _basis(versions: Mapping[str, Mapping[str, str]]) -> dict[str, str]:
    """Return the versions without which two processes do not understand each other, as dask tells them."""
    python = ".".join(str(versions["host"]["python"]).split(".")[:2])
    return {"python": python, **{name: str(versions["packages"].get(name)) for name in ("dask", "distributed")}}


def _difference(name: str, here: str | None, there: str | None) -> str:
    """Say what differs on a worker, and what to do about it."""
    if name.split(".")[0] == "mmc":
        what = "is not there" if there is None else "is only there" if here is None else "is another one there"
        return f"{name} {what}: install the same mmc"
    if name == "python":
        return f"Python {there} there, {here} here"
    return f"{name} {there} there, {here} here: `pip install {DISTRIBUTION.get(name, name)}=={here}` there"
