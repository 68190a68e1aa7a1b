"""What `cluster` writes: the cost of orders as CSV, a law with its table in Markdown, and a figure."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import astuple, dataclass, fields
from pathlib import Path

import numpy as np

from mmc.experiments import files


@dataclass(frozen=True)
class Cost:
    """The seconds of so many units that do nothing, sent to so many workers, at most ``batch`` in one order."""

    workers: int
    units: int
    batch: int
    seconds: float


@dataclass(frozen=True)
class Command:
    """The seconds of `mmc run` on the same configs: on a local cluster, and with as many worker processes."""

    cluster: float
    jobs: float
    allowed: float


@dataclass(frozen=True)
class Limits:
    """Records that the store takes in a second; bytes of a unit that is sent alone, and in a full order; how long one lasts."""

    writes: float
    alone: float
    together: float
    seconds: float


@dataclass(frozen=True)
class Law:
    """seconds = start + each · units."""

    start: float
    each: float

    def __call__(self, units: float) -> float:
        return self.start + self.each * units


def law(costs: Sequence[Cost]) -> Law:
    """Fit a line by least squares on relative errors: few units count as much as many. Neither part is negative."""
    units, seconds = (np.array([getattr(c, name) for c in costs], dtype=float) for name in ("units", "seconds"))
    columns = np.column_stack([np.ones_like(units), units]) / seconds[:, None]
    (start, each), *_ = np.linalg.lstsq(columns, np.ones_like(seconds), rcond=None)
    if start < 0:
        return Law(0.0, float(np.mean(seconds / units)))
    return Law(float(start), float(max(each, 0.0)))


def text(command: Command, costs: Sequence[Cost], limits: Limits) -> str:
    """Return the tables, and what they mean for a larger cluster."""
    counts = sorted({c.units for c in costs})
    most = max(c.batch for c in costs)
    ratio = f"{command.cluster / command.jobs:.2f} | {command.allowed:g}"
    lines = ["# What a cluster costs", ""]
    lines += [
        "| the four configs of Nath's Table 1, by the command | seconds | ratio | at most |",
        "|---|---:|---:|---:|",
    ]
    lines += [
        f"| `--jobs 2` | {command.jobs:.1f} | | |",
        f"| `--cluster local:2` | {command.cluster:.1f} | {ratio} |",
        "",
    ]
    for batch, title in ((most, f"at most {most} units in an order"), (1, "one unit in an order")):
        some = [c for c in costs if c.batch == batch]
        heads = " | ".join(f"{count:,} units" for count in counts)
        lines += [f"| seconds, {title} | {heads} | law, in seconds |", "|---|" + "---:|" * (len(counts) + 1)]
        for workers in sorted({c.workers for c in some}):
            found = {c.units: c.seconds for c in some if c.workers == workers}
            cells = " | ".join(f"{found[count]:.3g}" if count in found else "–" for count in counts)
            fit = law([c for c in some if c.workers == workers])
            lines.append(f"| {workers} workers | {cells} | {fit.start:.2g} + {1e3 * fit.each:.2g} ms · units |")
        lines.append("")
    return "\n".join([*lines, *_meaning(costs, limits)]) + "\n"


def _meaning(costs: Sequence[Cost], limits: Limits) -> list[str]:
    several = max(c.workers for c in costs)
    single = law([c for c in costs if c.batch == 1 and c.workers == several])
    rate = 1 / single.each
    return [
        f"- Scheduler and client together take about {rate:,.0f} orders a second ({1e3 * single.each:.2g} ms each, with "
        f"{several} workers on this machine, which they share).",
        f"- The store takes {limits.writes:,.0f} records a second: it is not what limits a cluster.",
        f"- A unit has {limits.alone:,.0f} bytes with its order, {limits.together:,.0f} in a full one. Rows of data never travel "
        "with a unit.",
        f"- A worker that needs d seconds for an order asks for 1/d orders a second, so the client is busy all the time from "
        f"{rate:,.0f} · d workers on: {rate * limits.seconds:,.0f} workers with short units, whose orders last {limits.seconds:g} s; "
        f"{rate * 10:,.0f} with units of 10 s.",
        "- Beyond that, longer orders lift the limit in proportion, as does a machine of its own for scheduler and client; "
        "several configs can be run by several clients, each with a results folder of its own.",
        "- **The last two points extend a line** measured with up to "
        f"{several} workers; nobody has tried so many here.",
    ]


def write(command: Command, costs: Sequence[Cost], limits: Limits, folder: Path) -> None:
    """Write the measurements, the tables and the figure."""
    page = io.StringIO()
    rows = csv.writer(page, lineterminator="\n")
    rows.writerow([field.name for field in fields(Cost)])
    rows.writerows(astuple(cost) for cost in costs)
    files.write(folder / "cluster.csv", page.getvalue())
    files.write(folder / "cluster.md", text(command, costs, limits))
    _draw(costs, folder)


def _draw(costs: Sequence[Cost], folder: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    from mmc.experiments.figures import save

    figure, axes = plt.subplots(figsize=(6, 4))
    most = max(c.batch for c in costs)
    grid = np.geomspace(min(c.units for c in costs), max(c.units for c in costs), 50)
    for place, workers in enumerate(sorted({c.workers for c in costs})):
        for batch, marker, style in ((most, "o", "-"), (1, "x", "--")):
            some = [c for c in costs if (c.workers, c.batch) == (workers, batch)]
            fit = law(some)
            words = f"{workers} workers" + (", one by one" if batch == 1 else "")
            axes.plot([c.units for c in some], [c.seconds for c in some], marker, color=f"C{place}", label=words)
            axes.plot(grid, [fit(n) for n in grid], style, color=f"C{place}", linewidth=1)
    axes.set(xscale="log", yscale="log", xlabel="units that do nothing", ylabel="seconds")
    axes.legend(fontsize=7, ncols=2)
    save("cluster", figure, folder)
