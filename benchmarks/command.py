"""The start of the command: seconds of the processor that `mmc --help` and a run with nothing to do take, against their limits."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from benchmarks._shared import row

TURNS = 7
CONFIGS = "bsvm_toy", "breast_cancer"
KEPT = {
    name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"
}  # as after an installation
COMMAND = [sys.executable, "-c", "from mmc.cli import main; main()"]


def run() -> Iterator[dict[str, Any]]:
    """Yield one row for each."""
    with TemporaryDirectory() as folder:
        work = {"mmc --help": (["--help"], 0.15)}
        for config in CONFIGS:
            again = ["run", config, "--results", str(Path(folder) / "runs"), "--jobs", "1"]
            _seconds(again)  # fits what the others find
            work[f"mmc run {config}, nothing to do"] = again, 0.5
        for name, (words, limit) in work.items():
            yield row(name, f"{limit:g} s", 1, float(np.median([_seconds(words) for _ in range(TURNS)])), limit)


def _seconds(words: list[str]) -> float:
    before = os.times()
    subprocess.run([*COMMAND, *words], check=True, capture_output=True, env=KEPT)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system
