"""The page of findings: every claim of every paper with its verdict, and every number that a better reading judges."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from mmc.experiments.cells import Table
from mmc.experiments.claims import HEADS, Kept, to_markdown
from mmc.experiments.config import Config
from mmc.experiments.escape import markdown
from mmc.experiments.layout import LOOKS
from mmc.experiments.places import matches
from mmc.experiments.scoreboard import PAPERS, Committed
from mmc.experiments.told import stated

_HEAD = """# Findings

What the papers say in words, held against the committed results, and the readings of the papers that the numbers led to. Made by
`make readme` from the folder results/; `make test` fails if it is out of date.

A claim is a statement in a config (`claims`). It holds if every difference that it is about has its whole 95 % interval on the
claimed side; it holds in part if some do; it cannot be told if all intervals leave it open; it does not hold if none agrees and one
speaks against it. The intervals are in square brackets.
"""
_READINGS = """
## Readings that replaced another one

Numbers that did not match, and that another config judges under a better reading of the paper. "Fitted" means that the reading or a
setting was chosen with the printed number in sight.

| paper | numbers | were in | are judged in | verdicts there | why |
|---|---:|---|---|---|---|
"""


def page(committed: Sequence[Committed], results: Path) -> str:
    """Return the page; ``committed`` are all configs with their committed tables."""
    text = _HEAD
    for key, paper in PAPERS.items():
        rows = [
            (one.config, row)
            for one in committed
            if one.config.experiment.paper == key
            for row in _claims(one.config, one.table, results)
        ]
        ends = Counter(row.rstrip(" |\n").rpartition(" | ")[2] for _, row in rows)
        counted = ", ".join(f"{ends[kept]} {kept}" for kept in Kept if ends[kept])
        text += f"\n## {paper.authors}\n\n{len(rows)} claims: {counted}.\n\n"
        text += "| experiment | " + " | ".join(HEADS) + " |\n|---|---|---|---|\n"
        text += "".join(f"| `{config.name}` {row}\n" for config, row in rows)
    return text + _READINGS + "".join(_readings(committed))


def _claims(config: Config, table: Table, results: Path) -> list[str]:
    """Return the rows of a config's claims: as its last run wrote them, or from its reference if that run had none."""
    kept = results / config.name / "claims.md"
    text = kept.read_text("utf-8") if kept.exists() else to_markdown(stated(config.experiment, table, paired=False))
    return text.splitlines()[2:] if config.experiment.claims else []


def _readings(committed: Sequence[Committed]) -> Iterator[str]:
    tables = {one.config.name: one.table for one in committed}
    for one in committed:
        reported = one.config.experiment.reported
        for other in reported.elsewhere if reported and not reported.fitted else ():
            judged = [
                cell.verdict
                for cell in tables[other.config].judged
                if matches(other.where, {**cell.keys, **cell.place, "metric": cell.metric})
            ]
            counted = Counter(LOOKS[verdict].one for verdict in judged)
            paper = PAPERS[str(one.config.experiment.paper)].authors
            shown = ", ".join(f"{count} {name}" for name, count in counted.items())
            yield f"| {paper} | {len(judged)} | {one.config.name} | {other.config} | {shown} | {markdown(other.reason)} |\n"
