"""SIGKILL at random moments: every start goes on from what was committed, and the last table is the undisturbed one.

``python -m tests.fuzz.kills`` prints what became of them.
"""

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil

from mmc.experiments import render
from mmc.experiments.engines import engine
from mmc.experiments.plan import plan
from mmc.experiments.run import run
from mmc.experiments.store import Store
from mmc.experiments.validation import load
from tests.experiments.small_study import STUDY

CHILD = """\
import sys, time
from pathlib import Path
from mmc.experiments.validation import load
from mmc.experiments.engines import engine
from mmc.experiments.run import run
from mmc.experiments.store import Store
def slow(units):
    for records in engine(int(sys.argv[3]))(units):
        print("unit", flush=True)
        time.sleep(0.02)
        yield records
with Store(Path(sys.argv[1])) as store:
    run(load(sys.argv[2]), store, slow)
"""
LIFE = 2.0  # seconds that a worker may outlive its parent


def kill_once(store, file, jobs, dice):
    """Start a run and kill it at a random moment; return what was wrong, in words."""
    process = subprocess.Popen([sys.executable, "-c", CHILD, store, file, str(jobs)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    for _ in range(dice.randint(0, 12)):
        process.stdout.readline()
    time.sleep(dice.uniform(0.0, 0.3))
    try:
        workers = psutil.Process(process.pid).children(recursive=True)
    except psutil.NoSuchProcess:
        workers = []
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    _, alive = psutil.wait_procs(workers, timeout=LIFE)
    return [f"{len(alive)} workers live on"] if alive else []


def fuzz(count, seed):
    """Kill so many runs; return how many tables came to their end meanwhile, and what must not be."""
    dice = random.Random(seed)
    finished, wrong = 0, []
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        (root / "small.yaml").write_text(STUDY)
        config = load(root / "small.yaml")
        keys = [trial.key for unit in plan(config) for trial in unit.trials]
        with Store(None) as store:
            truth = render.to_csv(run(config, store, engine(1)).table)
        path, before = root / "0" / "store.sqlite", 0
        for number in range(count):
            wrong += kill_once(str(path), str(config.file), 1 + number % 2, dice)
            with Store(path) as store:
                kept = len(store.get(keys))
            if kept < before:
                wrong.append(f"kill {number}: {before - kept} records lost")
            before = kept
            if kept == len(keys) or number == count - 1:
                finished += 1
                with Store(path) as store:
                    if render.to_csv(run(config, store, engine(1)).table) != truth:
                        wrong.append(f"kill {number}: another table")
                path, before = root / str(number + 1) / "store.sqlite", 0
    return finished, wrong


def main(arguments=None):
    """Print the counts; return 1 if a record was lost, a table was another, or a worker lived on."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.kills", description="Kill runs at random moments.")
    parser.add_argument("--count", type=int, default=50, help="how many kills")
    parser.add_argument("--seed", type=int, default=0, help="decides the moments")
    given = parser.parse_args(arguments)
    finished, wrong = fuzz(given.count, given.seed)
    print(f"{given.count} kills, seed {given.seed}: {finished} tables finished, {len(wrong)} faults")
    print("\n".join(wrong))
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
