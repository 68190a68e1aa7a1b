"""Units that misbehave, and units that do nothing: their label says what becomes of them. Workers import this module."""

import os
import signal
import time
from pathlib import Path
from types import SimpleNamespace

from mmc.experiments.errors import TrialError
from mmc.experiments.records import Record
from mmc.experiments.trials import run_unit
from mmc.experiments.units import Trial
from mmc.methods.solution import Status


class Fake(SimpleNamespace):
    """What an engine asks of a unit, and nothing else."""

    def __str__(self):
        return f"{self.label} on data, repetition {self.split.repetition + 1}, fold 1"


def fake(number, label="good"):
    split = SimpleNamespace(repetition=number, fold=0)
    return Fake(
        label=label, source=SimpleNamespace(label="data"), split=split, pair=None, trials=(Trial(f"k{number}", {}),)
    )


def work(unit):
    """Do what the label says: words and an argument after a colon."""
    what, _, rest = unit.label.partition(":")
    if what == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    elif what == "kill-once":  # the file says that it has happened
        if not Path(rest).exists():
            Path(rest).write_text("")
            os.kill(os.getpid(), signal.SIGKILL)
    elif what == "exit":
        os._exit(int(rest))
    elif what == "memory":
        raise MemoryError("Unable to allocate 7.28 TiB for an array")
    elif what == "grow":
        grown = []
        while True:
            grown.append(b"x" * 10_000_000)
            time.sleep(0.02)
    elif what == "bad":
        raise TrialError("the option 'toll' is unknown")
    elif what == "bug":
        raise IndexError("list index out of range")
    elif what == "pid":
        Path(rest, str(os.getpid())).write_text("")
        time.sleep(60)
    elif what == "sleep":
        time.sleep(float(rest))
    return [Record(trial.key, Status.SOLVED, message=str(os.getpid())) for trial in unit.trials]


def deadly(unit):
    """Run a real unit; the second fold kills its worker."""
    if unit.split.fold == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return run_unit(unit)
