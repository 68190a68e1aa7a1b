"""What a worker of a cluster does: check that its code is the client's, find the data, run units."""

from __future__ import annotations

import hashlib
import json
import platform
import sys
import threading
import time
import traceback
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache

from mmc.datasets import known, openml
from mmc.datasets.dataset import DataError, DataSet
from mmc.datasets.finding import absent
from mmc.experiments.engines.base import Work, attempt
from mmc.experiments.errors import UserError
from mmc.experiments.fingerprint import WORKER, details
from mmc.experiments.records import Record
from mmc.experiments.sources import Source
from mmc.experiments.units import Unit
from mmc.methods.registry import METHODS

_OUTSIDE = "method:"  # of a root that is a method's key
LENT: dict[str, DataSet] = {}  # what the client has sent, by content
_first = threading.Lock()
_limited = [0]  # how many modules there were when BLAS was last given one thread


@dataclass(frozen=True)
class Order:
    """Units for a worker; it stops after so many seconds. ``code`` is the digest of what ``roots`` need."""

    units: tuple[Unit, ...]
    roots: tuple[str, ...]
    code: str
    seconds: float
    work: Work


@dataclass(frozen=True)
class Answer:
    """The records of the first units of an order, and why it ended there: no time, no data, other code, or an error.

    ``lacking`` is the content of the data that the worker lacks, ``code`` its own code where that is not the client's.
    """

    records: list[Sequence[Record]] = field(default_factory=list)
    lacking: str | None = None
    code: Mapping[str, str] | None = None
    error: Exception | None = None


def roots_of(units: Iterable[Unit]) -> tuple[str, ...]:
    """Return what units begin with: the worker's module, those of their methods and solvers, and methods from outside."""
    found = {WORKER}
    for method in {unit.task.method for unit in units}:
        entry = METHODS[method]
        found |= {module for solver in ("", *entry.solvers) for module in entry.modules(solver)}
        found |= {_OUTSIDE + method} if entry.outside else set()
    return tuple(sorted(found))


def code_of(roots: tuple[str, ...]) -> Mapping[str, str]:
    """Return what this process runs: Python, the hash of each module, the version of each library."""
    with _first:  # threads of one worker read the files once
        return _code(roots)


@cache
def _code(roots: tuple[str, ...]) -> Mapping[str, str]:
    modules = [root for root in roots if not root.startswith(_OUTSIDE)]
    others = [root.removeprefix(_OUTSIDE) for root in roots if root.startswith(_OUTSIDE)]
    python = {"python": ".".join(platform.python_version_tuple()[:2])}
    return {**python, **details(modules), **{f"method {key}": _identity(key) for key in others}}


def _identity(method: str) -> str:
    """Return what a method from outside is here: where it comes from, with the hash of its source."""
    if METHODS.problem(method):
        return "absent"
    return ", ".join(METHODS[method].identity().values())


def digest_of(code: Mapping[str, str]) -> str:
    """Return one hash of all the code."""
    return hashlib.sha256(json.dumps(code, sort_keys=True).encode()).hexdigest()


def carry_out(order: Order) -> Answer:
    """Run the units of an order, as many as its time allows. This is what a worker is asked to do."""
    code = code_of(order.roots)
    if digest_of(code) != order.code:
        return Answer(code=code)
    _one_thread()
    begun = time.monotonic()
    done: list[Sequence[Record]] = []
    for unit in order.units:
        try:
            if not _provided(unit):
                return Answer(done, lacking=unit.where.content)
            done.append(attempt(unit, order.work))
        except Exception as error:
            error.add_note(traceback.format_exc())
            return Answer(done, error=error)
        if time.monotonic() - begun > order.seconds:
            break
    return Answer(done)


def _one_thread() -> None:
    """Give BLAS one thread, for good: a worker with several threads runs several units, and one must not undo it for all.

    It is done again where modules have been imported since: they may have brought a library.
    """
    from threadpoolctl import threadpool_limits

    if len(sys.modules) > _limited[0]:
        threadpool_limits(limits=1)
        _limited[0] = len(sys.modules)


def _provided(unit: Unit) -> bool:
    """Whether the data of a unit are here, as planned. Large public sets may lie in a folder of this machine's own."""
    source, content = unit.source, unit.where.content
    if content in LENT:
        source.lend(LENT[content])
        return True
    for place in dict.fromkeys((source, replace(source, data_dir=None))):
        data = _loaded(place)
        if data is not None and data.content_hash == content:
            if place is not source:
                source.lend(data)
            return True
    return False


def _loaded(source: Source) -> DataSet | None:
    """Return a data set if it is on this machine; nothing is downloaded."""
    name = source.spec.name
    number = source.spec.openml
    if number is not None and openml.find(number, source.data_dir) is None:
        return None
    if name is not None and absent(known()[name], source.data_dir):
        return None
    try:
        return source.load()
    except (UserError, DataError, OSError):
        return None
