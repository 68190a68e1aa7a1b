"""Speed against what a user would pick instead: ``python -m benchmarks [name ...]``.

Every module of this folder has a ``run()`` that yields rows: {"name", "against", "ours", "theirs", "ratio", "target"}, times
in seconds, ratio = theirs / ours, and target the ratio to reach (None: for the record). A row may have a "note", printed below the table. All numerical libraries
are held to one thread. A benchmark whose data are not on this machine says so and is left out. The exit code is 1 if a target
is missed. Without names all run, but for those that are asked for only (`bound_check`, `cluster`, `guarantee`, `moments` and `scaling`, see there),
and their rows are kept in results/bench/bench.md, each benchmark's as soon as it is done.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from threadpoolctl import threadpool_limits

from mmc.datasets import DataError

NAMES = sorted(path.stem for path in Path(__file__).parent.glob("*.py") if not path.stem.startswith("_"))
FILE = Path(__file__).parent.parent / "results" / "bench" / "bench.md"
ASKED_ONLY = {"bound_check", "cluster", "guarantee", "moments", "scaling"}


def main(asked: list[str]) -> int:
    """Run the benchmarks that are asked for, or all; print one table for each."""
    unknown = set(asked) - set(NAMES)
    if unknown:
        print(f"no benchmark {', '.join(sorted(unknown))}: valid: {', '.join(NAMES)}", file=sys.stderr)
        return 2
    console, missed = Console(width=None if sys.stdout.isatty() else 120), 0
    rows: list[dict[str, Any]] = []
    chosen = asked or [name for name in NAMES if name not in ASKED_ONLY]
    missing = list(chosen)
    for name in chosen:
        module = import_module(f"benchmarks.{name}")
        table = Table("what", "against", *("ours ms", "theirs ms", "ratio", "target"), title=name)
        below = [_caption(module)]
        try:
            with threadpool_limits(1):
                for row in module.run():
                    target = row["target"]
                    short = target is not None and row["ratio"] < target
                    missed += short
                    table.add_row(
                        row["name"],
                        row["against"],
                        _ms(row["ours"]),
                        _ms(row["theirs"]),
                        f"[red]{row['ratio']:.3g}[/red]" if short else f"{row['ratio']:.3g}",
                        "" if target is None else f"{target:g}",
                    )
                    below += [row["note"]] if "note" in row else []
                    rows.append(row)
        except DataError as error:
            console.print(f"{name}: skipped, {error}", soft_wrap=True)
            continue
        table.caption = "\n".join(below)
        console.print(table)
        missing.remove(name)
        if not asked:
            FILE.parent.mkdir(exist_ok=True)
            FILE.write_text(text(rows, missing), "utf-8")
    return 1 if missed else 0


def text(rows: Iterable[dict[str, Any]], missing: Sequence[str] = ()) -> str:
    """Return the rows of one run as a table in Markdown, and which benchmarks it lacks."""
    lines = [
        "# Speed, one run of `make bench`",
        "",
        "One thread. The ratio is their time over ours: above 1 we are faster. Other work on the machine moves a ratio by a fifth and more.",
        *([f"Without {', '.join(missing)}: stopped before, or the data are not there."] if missing else []),
        "",
        "| what | against | ours, ms | theirs, ms | ratio | target | |",
        "|---|---|---:|---:|---:|---:|---|",
    ]
    for row in rows:
        target = row["target"]
        kept = "" if target is None else "met" if row["ratio"] >= target else "missed"
        asked = "" if target is None else f"{target:.3g}"
        times = f"{_ms(row['ours'])} | {_ms(row['theirs'])} | {row['ratio']:.3g}"
        lines.append(f"| {row['name']} | {row['against']} | {times} | {asked} | {kept} |")
        if "note" in row:
            lines.append(f"| | {row['note']} | | | | | |")
    return "\n".join(lines) + "\n"


def _ms(seconds: float) -> str:
    return f"{1e3 * seconds:.3g}" if seconds < 1 else f"{1e3 * seconds:,.0f}"


def _caption(module: object) -> str:
    return (module.__doc__ or "").strip().splitlines()[0]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
