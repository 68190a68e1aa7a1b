"""The scoreboard: what became of every number that the papers print. None is ever dropped."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from importlib import resources
from pathlib import Path
from typing import Protocol

from mmc.experiments.cells import Cell, Table, Verdict
from mmc.experiments.claims import Claim, from_markdown
from mmc.experiments.config import Config
from mmc.experiments.errors import UserError
from mmc.experiments.folders import REFERENCE, last_run
from mmc.experiments.layout import LOOKS, measured
from mmc.experiments.outcome import Outcome
from mmc.experiments.places import fixed_by, matches
from mmc.experiments.provenance import Provenance
from mmc.experiments.reference import kept_table
from mmc.experiments.run import recall
from mmc.experiments.score import VERDICTS, Score
from mmc.experiments.store import Store
from mmc.experiments.verdicts import RESERVED, Row, read_reported

_LEAST_FAVOURABLE = (
    Verdict.DIFFERS,
    Verdict.KNOWN,
    Verdict.WEAK,
    Verdict.FITTED,
    Verdict.CONSTRUCTED,
    Verdict.INFEASIBLE,
    Verdict.MATCH,
    Verdict.NOT_RUN,
)


@dataclass(frozen=True)
class Paper:
    """A paper: its key in the configs, and the files of ``configs/reported`` that hold what it printed."""

    key: str
    authors: str
    title: str
    reported: tuple[str, ...] = ()


PAPERS: dict[str, Paper] = {
    paper.key: paper
    for paper in (
        Paper(
            "nath",
            "Nath & Bhattacharyya",
            "Maximum Margin Classifiers with Specified False Positive and False Negative Error Rates",
            ("nath_table1.csv", "nath_table2.csv", "nath_table3.csv"),
        ),
        Paper(
            "huang",
            "Huang et al.",
            "Biased Minimax Probability Machine for Medical Diagnosis",
            ("bmpm_tables.csv",),
        ),
        Paper(
            "gu",
            "Gu & Guo",
            "Max-Margin Ratio Machine",
            ("mmrm_table1.csv", "mmrm_table2.csv", "mmrm_figure2.csv"),
        ),
        Paper(
            "pothin",
            "Pothin & Richard",
            "Incorporating Prior Information into Support Vector Machines in the Form of Ellipsoidal Knowledge Sets",
            ("smem.csv",),
        ),
        Paper("pendse", "Pendse", "BSVM: A Banded Support Vector Machine"),
    )
}


class Measured(Protocol):
    """What a config measured, and what stood in the way."""

    @property
    def config(self) -> Config: ...

    @property
    def table(self) -> Table: ...

    @property
    def problem(self) -> str: ...


@dataclass(frozen=True)
class Committed:
    """A config with the table that is committed."""

    config: Config
    table: Table
    problem: str = ""


@dataclass(frozen=True)
class Result:
    """What there is of a config: its outcome (empty where it was not run), its last run, what stood in the way.

    Where the committed reference stands in for a run, ``folder`` is its place, and ``lacks`` says why it stands in.
    """

    config: Config
    outcome: Outcome
    provenance: Provenance | None = None
    problem: str = ""
    folder: Path | None = None
    lacks: str = ""

    @cached_property
    def table(self) -> Table:
        return self.outcome.table if self.folder is None else kept_table(self.config, self.folder)

    @cached_property
    def claims(self) -> list[Claim]:
        """What the paper says in words, with verdicts."""
        if self.folder is None:
            return [] if self.problem else self.outcome.claims
        kept = self.folder / "claims.md"
        return from_markdown(kept.read_text("utf-8")) if kept.exists() else []

    @property
    def reference(self) -> str:
        """The commit of the reference that stands in for a run; empty where the run is one's own."""
        return "" if self.folder is None else str((self.provenance or {}).get("commit") or "unknown")


@dataclass(frozen=True)
class Number:
    """A number that a paper printed, and what became of it."""

    paper: str
    file: str
    row: Row
    verdict: Verdict = Verdict.NOT_RUN
    config: str | None = None
    why: str = "no experiment measures it yet"
    same_as: str = ""
    distance: float | None = None  # from the measured number, in half-widths of the interval
    measured: str = ""

    @property
    def keys(self) -> Row:
        """Where the number stands in the paper's table."""
        return {key: value for key, value in self.row.items() if key not in RESERVED and value != ""}


def recall_all(
    configs: Iterable[Config],
    store: Store,
    data_dir: Path | None = None,
    reference: Callable[[Config], Path] | None = None,
) -> Iterator[Result]:
    """Yield what the store has of each config.

    One that is not finished, or whose data are not on this machine, has an empty outcome and says why: half a run
    would be judged by means over too few repetitions. Where ``reference`` says that there is one, it stands in.
    """
    for result in _own(configs, store, data_dir):
        folder = reference(result.config) if reference and result.problem else None
        if folder is None or not (folder / REFERENCE).exists():
            yield result
        else:
            yield Result(result.config, result.outcome, last_run(folder), folder=folder, lacks=result.problem)


def _own(configs: Iterable[Config], store: Store, data_dir: Path | None) -> Iterator[Result]:
    for config in configs:
        nothing = Outcome(config, [], {})
        try:
            outcome = recall(config, store, data_dir)
        except UserError as error:
            yield Result(config, nothing, problem=str(error))
        else:
            if outcome.missing:
                total = sum(len(unit.trials) for unit in outcome.units)
                lacking = "no trial has" if outcome.missing == total else f"{outcome.missing} of {total} trials lack"
                how = f"mmc run {config.name}" + (" (more than ten minutes)" if config.experiment.long else "")
                yield Result(config, nothing, problem=f"{lacking} a record of this code: {how}")
            else:
                yield Result(config, outcome, outcome.provenance)


def numbers(results: Sequence[Measured]) -> list[Number]:
    """Return every reported number of every paper with its verdict, in the order of the files.

    Where several configs measure the same number, the least favourable verdict counts.
    """
    folder = Path(str(resources.files("mmc.configs"))) / "reported"
    return [
        _number(Number(paper.key, file, row), results)
        for paper in PAPERS.values()
        for file in paper.reported
        for row in read_reported(folder / file, {})
    ]


def _number(number: Number, results: Sequence[Measured]) -> Number:
    found = [
        replace(
            number,
            verdict=cell.verdict,
            config=result.config.name,
            why=result.problem or cell.reason,
            same_as=cell.same_as,
            distance=_distance(cell),
            measured=measured(cell, result.table.spread),
        )
        for result in results
        for cell in _cells(number, result)
    ]
    return min(found, key=lambda n: _LEAST_FAVOURABLE.index(n.verdict), default=number)


def _distance(cell: Cell) -> float | None:
    """Return how far the printed number is from the measured one: 1 is the edge of the interval."""
    return None if cell.difference is None or not cell.half_width else -cell.difference / cell.half_width


def _cells(number: Number, result: Measured) -> list[Cell]:
    """Return the cells of a config's table that carry a verdict on this number."""
    reported = result.config.experiment.reported
    if (
        reported is None
        or not reported.counts
        or reported.file != number.file
        or not matches(reported.where, number.row)
    ):
        return []
    keys = {key: value for key, value in number.keys.items() if key not in fixed_by(reported.where)}
    return [
        cell
        for cell in result.table.cells
        if cell.verdict and cell.metric == number.row["metric"] and matches(keys, cell.keys)
    ]


score = Score.of


def by_paper(found: Sequence[Number]) -> dict[str, Score]:
    """Return the score of each paper, by its key; a paper that prints no numbers has an empty one."""
    return {key: Score.of(n for n in found if n.paper == key) for key in PAPERS}


def to_markdown(found: Sequence[Number]) -> str:
    """Return the scoreboard as a Markdown table: in brackets the distinct numbers, without those that repeat others."""
    lines = [
        "| paper | " + " | ".join(LOOKS[verdict].many for verdict in VERDICTS) + " | all |",
        "|---|---:|" + "---:|" * len(VERDICTS),
    ]
    rows = [(PAPERS[key].authors, of) for key, of in by_paper(found).items()] + [("all", Score.of(found))]
    lines += [f"| {name} | " + " | ".join(map(of.shown, VERDICTS)) + f" | {of.total} |" for name, of in rows]
    return "\n".join(lines) + "\n"
