"""The page of findings: every claim of every paper with its verdict, and every number that a better reading judges."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from mmc.experiments.claims import HEADS, Claim, Kept, from_markdown
from mmc.experiments.escape import markdown
from mmc.experiments.layout import LOOKS
from mmc.experiments.places import matches
from mmc.experiments.scoreboard import PAPERS, Committed
from mmc.experiments.told import stated

_ByPaper = Mapping[str, Sequence[tuple[Committed, Claim]]]
_HEAD = """# Findings

What the papers say in words, held against the committed results, and the readings of the papers that the numbers led to. Made by
`make readme` from the folder results/; `make test` fails if it is out of date.

A claim is a statement in a config (`claims`). It holds if every difference that it is about has its whole 95 % interval on the
claimed side; it holds in part if some do; it cannot be told if all intervals leave it open; it does not hold if none agrees and one
speaks against it. A claim about some setting of a grid holds if one point agrees, and fails only if all speak against it. The
intervals are in square brackets. Where the paper cross-validates, they are about other partitions of the same rows: they say how sure a
claim is on these data, not what other data would give.
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
    by_paper = {
        paper.authors: [
            (one, claim) for one in committed if one.config.experiment.paper == key for claim in _claims(one, results)
        ]
        for key, paper in PAPERS.items()
    }
    return (
        _HEAD + _counts(by_paper) + _against(by_paper) + _details(by_paper) + _READINGS + "".join(_readings(committed))
    )


def _claims(one: Committed, results: Path) -> list[Claim]:
    """Return a config's claims: as its last run wrote them, or from its reference if that run had none."""
    kept, experiment = results / one.config.name / "claims.md", one.config.experiment
    if not experiment.claims:
        return []
    return from_markdown(kept.read_text("utf-8")) if kept.exists() else stated(experiment, one.table, paired=False)


def _counts(by_paper: _ByPaper) -> str:
    """Return how many claims of each paper ended how."""
    ends = {name: Counter(claim.verdict for _, claim in claims) for name, claims in by_paper.items()}
    ends["all"] = sum(ends.values(), Counter())
    text = "\n| paper | claims | hold | hold in part | cannot be told | do not hold |\n|---|---:|---:|---:|---:|---:|\n"
    for name, count in ends.items():
        text += f"| {name} | {count.total()} | " + " | ".join(str(count[kept]) for kept in Kept) + " |\n"
    return text


def _against(by_paper: _ByPaper) -> str:
    """Return the claims that do not hold, in short."""
    text = "\n## What does not hold\n\n"
    for name, claims in by_paper.items():
        for one, claim in claims:
            if claim.verdict is Kept.FAILS:
                text += f"- {name}, `{one.config.name}`: {markdown(claim.statement)}\n"
    return text


def _details(by_paper: _ByPaper) -> str:
    """Return all claims, a table for each paper, a line for each thing that was measured."""
    text = ""
    for name, claims in by_paper.items():
        text += f"\n## {name}\n\n| experiment | " + " | ".join(HEADS) + " |\n|---|---|---|---|\n"
        for one, claim in claims:
            measured = markdown(claim.measured).replace("; ", "<br>")
            text += f"| `{one.config.name}` | {markdown(claim.statement)} | {measured} | {claim.verdict} |\n"
    return text


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
