"""What a pass over the rows costs, as CSV, as a figure and as a short table, with the law extended to 10¹⁰ rows.

A pass costs the same for every row: t = a + b n, where b comes from the largest number that was measured. With k workers t is
a + b n / k and log₂ k merges of two moments. Memory does not depend on n.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks._scaling import amount, duration
from mmc.experiments.figures import save

AHEAD, WORKERS = 10**10, (1, 100)
ROW = 30 * 8  # bytes
NOTES = """\
- Rows of 30 numbers of 8 bytes, two classes. Made on the fly: seconds of the processor for the moments alone, one thread.
  From Parquet: reading included. Memory: what the peak of the pass's own process grew by.
- The law is b·n with b from the largest number of rows measured ({b:.3g} s per row from Parquet, {fly:.3g} s on the fly). **What is
  beyond 10⁸ rows is an extrapolation.** It holds while every worker gets its bytes: one thread takes in {rate} per second, 100
  workers {rates}. A disk or network that delivers less is the limit, not the arithmetic.
- 100 workers merge in 7 rounds of {merge:.1g} s and exchange 8 kB each time: nothing beside the pass."""


@dataclass(frozen=True)
class Pass:
    """What one pass took: seconds of the processor and megabytes of memory."""

    n: int
    seconds: float
    megabytes: float


def write(passes: Sequence[Pass], parquet: Pass, rows: Sequence[Mapping[str, Any]], merge: float, folder: Path) -> None:
    """Write moments.csv, moments.md and the figure."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "moments.csv").open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, ["source", *(field.name for field in fields(Pass))], lineterminator="\n")
        table.writeheader()
        for source, found in [*(("on the fly", one) for one in passes), ("parquet", parquet)]:
            table.writerow({"source": source, **asdict(found)})
    (folder / "moments.md").write_text(text(passes, parquet, rows, merge), encoding="utf-8")
    save("moments", draw(passes, parquet), folder)


def ahead(one: Pass, workers: int) -> float:
    """Return the seconds of AHEAD rows."""
    return one.seconds / one.n * AHEAD / workers


def text(passes: Sequence[Pass], parquet: Pass, rows: Sequence[Mapping[str, Any]], merge: float) -> str:
    """Return the comparisons, what was measured, and the law, as Markdown."""
    lines = ["| what | against | ours s | theirs s | theirs / ours | target |", "|---|---|---:|---:|---:|---:|"]
    for found in rows:
        target = "" if found["target"] is None else f"{found['target']:.2g}"
        numbers = f"{found['ours']:.1f} | {found['theirs']:.1f} | {found['ratio']:.2f}"
        lines.append(f"| {found['name']} | {found['against']} | {numbers} | {target} |")
    lines += ["", "| rows | seconds | memory, MB |", "|---:|---:|---:|"]
    lines += [f"| {one.n:.0e}, on the fly | {one.seconds:.3g} | {one.megabytes:.0f} |" for one in passes]
    lines += [f"| {parquet.n:.0e}, from Parquet | {parquet.seconds:.3g} | {parquet.megabytes:.0f} |"]
    for workers in WORKERS:
        words = f"{AHEAD:.0e}, from Parquet, {workers} worker{'s' if workers > 1 else ''}, extrapolated"
        lines.append(f"| {words} | {duration(ahead(parquet, workers))} | {parquet.megabytes:.0f} each |")
    rate = parquet.n * ROW / parquet.seconds / 1e6
    notes = NOTES.format(
        b=parquet.seconds / parquet.n,
        fly=passes[-1].seconds / passes[-1].n,
        rate=amount(rate),
        rates=amount(100 * rate),
        merge=merge,
    )
    return "\n".join([*lines, "", notes]) + "\n"


def draw(passes: Sequence[Pass], parquet: Pass) -> Any:
    """Return the figure: time and memory over the number of rows."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(12, 4.8), layout="constrained")
    n = np.array([one.n for one in passes], dtype=float)
    left.plot(n, [one.seconds for one in passes], "o", color="#0072B2", label="on the fly")
    left.plot(parquet.n, parquet.seconds, "s", color="#D55E00", label="from Parquet, reading included")
    for workers, style in zip(WORKERS, ("-", "--"), strict=True):
        reach = np.geomspace(1e4, AHEAD, 50)
        end = ahead(parquet, workers)
        label = f"{workers} worker{'s' if workers > 1 else ''}: {duration(end)} for $10^{{10}}$ rows"
        left.plot(reach, end * reach / AHEAD, linestyle=style, color="#D55E00", linewidth=1.3, label=label)
        left.plot(AHEAD, end, "s", color="#D55E00", fillstyle="none", clip_on=False)
    left.set(xscale="log", yscale="log", xlabel="rows", ylabel="seconds")
    right.plot(n, [one.megabytes for one in passes], "o", color="#0072B2")
    right.plot(parquet.n, parquet.megabytes, "s", color="#D55E00")
    right.axhline(200, color="#000000", linestyle=":", linewidth=1)
    right.set(xscale="log", xlabel="rows", ylabel="memory, MB", ylim=(0, 220))
    for axes in (left, right):
        axes.grid(alpha=0.3)
        axes.spines[["top", "right"]].set_visible(False)
    left.legend(frameon=False, fontsize="small")
    rate = amount(parquet.n * ROW / parquet.seconds / 1e6)
    figure.suptitle(
        f"Moments of rows of 30 columns: filled, measured; lines, b·n from the Parquet file ({rate} per second and worker)",
        fontsize="medium",
    )
    return figure
