"""The scoreboard: what became of every number that the papers print. None is ever dropped."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path

from mmc.experiments.cells import DIFFERS, KNOWN, MATCH, NOT_RUN, Cell
from mmc.experiments.config import Config
from mmc.experiments.errors import UserError
from mmc.experiments.outcome import Outcome
from mmc.experiments.provenance import Provenance
from mmc.experiments.run import recall
from mmc.experiments.store import Store
from mmc.experiments.verdicts import RESERVED, Row, matches, read_reported

VERDICTS = (MATCH, KNOWN, DIFFERS, NOT_RUN)
_LEAST_FAVOURABLE = (DIFFERS, KNOWN, MATCH, NOT_RUN)


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


@dataclass(frozen=True)
class Result:
    """What there is of a config: its outcome (empty where it was not run), its last run, what stood in the way."""

    config: Config
    outcome: Outcome
    provenance: Provenance | None = None
    problem: str = ""


@dataclass(frozen=True)
class Number:
    """A number that a paper printed, and what became of it."""

    paper: str
    file: str
    row: Row
    verdict: str = NOT_RUN
    config: str | None = None
    why: str = "no experiment measures it yet"

    @property
    def keys(self) -> Row:
        """Where the number stands in the paper's table."""
        return {key: value for key, value in self.row.items() if key not in RESERVED and value != ""}


@dataclass(frozen=True)
class Score:
    """How many numbers have which verdict."""

    counts: Mapping[str, int] = field(default_factory=lambda: dict.fromkeys(VERDICTS, 0))

    @property
    def total(self) -> int:
        return sum(self.counts.values())

    def __str__(self) -> str:
        counts = self.counts
        return (
            f"of {self.total} reported numbers, {counts[MATCH]} match, {counts[KNOWN]} deviate for a stated reason, "
            f"{counts[DIFFERS]} differ, {counts[NOT_RUN]} not run"
        )


def recall_all(configs: Iterable[Config], store: Store, data_dir: Path | None = None) -> Iterator[Result]:
    """Yield what the store has of each config.

    One that is not finished, or whose data are not on this machine, has an empty outcome and says why: half a run
    would be judged by means over too few repetitions.
    """
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


def numbers(results: Sequence[Result]) -> list[Number]:
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


def _number(number: Number, results: Sequence[Result]) -> Number:
    found = [
        Number(number.paper, number.file, number.row, cell.verdict, result.config.name, result.problem or cell.reason)
        for result in results
        for cell in _cells(number, result)
    ]
    return min(found, key=lambda n: _LEAST_FAVOURABLE.index(n.verdict), default=number)


def _cells(number: Number, result: Result) -> list[Cell]:
    """Return the cells of a config's table that carry a verdict on this number."""
    reported = result.config.experiment.reported
    if reported is None or reported.file != number.file or not matches(reported.where, number.row):
        return []
    keys = {key: value for key, value in number.keys.items() if key not in reported.where}
    return [
        cell
        for cell in result.outcome.table.cells
        if cell.verdict and cell.metric == number.row["metric"] and matches(keys, cell.keys)
    ]


def score(found: Iterable[Number]) -> Score:
    """Count the verdicts."""
    counts = dict.fromkeys(VERDICTS, 0)
    for number in found:
        counts[number.verdict] += 1
    return Score(counts)


def by_paper(found: Sequence[Number]) -> dict[str, Score]:
    """Return the score of each paper, by its key; a paper that prints no numbers has an empty one."""
    return {key: score(n for n in found if n.paper == key) for key in PAPERS}


def to_markdown(found: Sequence[Number]) -> str:
    """Return the scoreboard as a Markdown table."""
    lines = [
        "| paper | numbers | match | deviate for a stated reason | differ | not run |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    rows = [(PAPERS[key].authors, of) for key, of in by_paper(found).items()] + [("all", score(found))]
    lines += [f"| {name} | {of.total} | " + " | ".join(str(of.counts[v]) for v in VERDICTS) + " |" for name, of in rows]
    return "\n".join(lines) + "\n"
