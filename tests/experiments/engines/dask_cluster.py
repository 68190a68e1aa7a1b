"""A dask cluster on loopback for tests: a scheduler and workers as processes of their own, each in an empty folder."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent.parent
# `python -m dask`, which ends with the process that started it, however that one ends
DASK = """\
import ctypes, runpy, signal, sys
if sys.platform == "linux":
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
runpy.run_module("dask", run_name="__main__", alter_sys=True)
"""
ROOMS = ("cli", "configs", "datasets", "experiments", "methods")


class DaskCluster:
    def __init__(self, folder, workers=0):
        self.folder = folder
        self.processes = {}
        self._count = 0
        file = folder / "scheduler.json"
        self._start(
            "scheduler", "scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", file
        )
        self._until(lambda: file.exists() and file.read_text().endswith("}"))
        self.address = json.loads(file.read_text())["address"]
        self.workers = [self.worker(threads=1 + number % 2) for number in range(workers)]

    def worker(self, *words, nanny=False, threads=1, code=ROOT):
        """Start a worker; return its name. ``code`` is where its mmc comes from."""
        name = f"w{self._count}"
        self._count += 1
        few = () if nanny else ("--no-nanny",)
        common = ("--nthreads", threads, "--no-dashboard", "--host", "127.0.0.1", "--name", name)
        self._start(name, "worker", self.address, *common, *few, *words, code=code)
        return name

    def _start(self, name, kind, *words, code=ROOT):
        home = self.folder / name
        home.mkdir(exist_ok=True)
        env = {key: value for key, value in os.environ.items() if key not in ("MMC_DATA_DIR", "PYTHONPATH")}
        path = os.pathsep.join(dict.fromkeys((str(code), str(ROOT))))
        with (home / "out").open("w") as out:
            self.processes[name] = subprocess.Popen(
                [sys.executable, "-c", DASK, kind, *map(str, words)],
                cwd=home,
                env={**env, "PYTHONPATH": path},
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def home(self, name):
        return self.folder / name

    def kill(self, name):
        """kill -9, as the kernel does when memory is out."""
        process = self.processes.pop(name)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()

    def _until(self, true, seconds=60):
        end = time.monotonic() + seconds
        while not true():
            assert time.monotonic() < end, {name: (self.folder / name / "out").read_text() for name in self.processes}
            time.sleep(0.05)

    def close(self):
        for name in reversed(list(self.processes)):
            self.kill(name)


def other_source(folder):
    """Return a folder with an mmc that differs in one comment of one module."""
    package = folder / "mmc"
    package.mkdir(parents=True)
    for path in (ROOT / "mmc").iterdir():
        if path.is_file():
            (package / path.name).symlink_to(path)
    for room in ROOMS:
        if room != "experiments":
            (package / room).symlink_to(ROOT / room)
    shutil.copytree(ROOT / "experiments", package / "experiments", ignore=shutil.ignore_patterns("__pycache__"))
    with (package / "experiments" / "trials.py").open("a") as file:
        file.write("\n# another version\n")
    return folder
