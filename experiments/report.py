"""The report: one HTML page of everything in the store, that needs nothing but itself."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from markupsafe import Markup, escape

from mmc.experiments import files, settings
from mmc.experiments.cells import Cell, Table, Verdict
from mmc.experiments.claims import Claim, Kept
from mmc.experiments.config import Experiment
from mmc.experiments.escape import file_name
from mmc.experiments.figures import options_of
from mmc.experiments.folders import packaged
from mmc.experiments.latex import to_latex
from mmc.experiments.layout import LOOKS, Grid, Heading, headings, measured, sign, spread_of
from mmc.experiments.notes import Reason, comparisons, footnotes, reasons
from mmc.experiments.pictures import Picture
from mmc.experiments.render import to_csv
from mmc.experiments.score import VERDICTS, Score
from mmc.experiments.scoreboard import PAPERS, Number, Paper, Result, by_paper, numbers
from mmc.experiments.strip import strip

TEMPLATES = Path(__file__).parent / "templates"
# Figures of a paper's methods that no config draws: the folder and name of the file, and what it shows.
STUDIES = {"gu": {"scaling": "time and memory over the number of points, measured and, as power laws, extrapolated"}}

# How the verdict on a statement looks: the class of its mark, and the mark.
_KINDS = {
    Kept.HOLDS: ("match", "✓"),
    Kept.PARTLY: ("known", "≈"),
    Kept.OPEN: ("weak", "?"),
    Kept.FAILS: ("differs", "✗"),
}


@dataclass(frozen=True)
class Section:
    """One experiment on the page."""

    result: Result
    folder: Path
    anchors: frozenset[str]

    @property
    def name(self) -> str:
        return self.result.config.name

    @property
    def heading(self) -> str:
        """The title without the authors, whose name stands above."""
        paper = PAPERS.get(self.experiment.paper or "")
        title = self.experiment.title.removeprefix(paper.authors).lstrip(",: ") if paper else self.experiment.title
        return title[:1].upper() + title[1:]

    @property
    def experiment(self) -> Experiment:
        return self.result.config.experiment

    @property
    def table(self) -> Table:
        return self.result.table

    @property
    def finished(self) -> bool:
        return not self.result.problem

    @cached_property
    def score(self) -> Score:
        return Score.of(self.table.cells)

    @cached_property
    def grid(self) -> Grid:
        return Grid.of(self.table)

    @property
    def headings(self) -> Iterator[list[Heading]]:
        """The rows above the metrics."""
        return headings(self.table, self.grid.columns)

    @property
    def listed(self) -> list[Cell]:
        """The cells that stand beside a reported number."""
        return [cell for cell in self.table.cells if cell.reported is not None]

    @property
    def keys(self) -> list[str]:
        return list(dict.fromkeys([*self.table.rows, *self.table.columns]))

    @cached_property
    def reasons(self) -> list[Reason]:
        """What the config says of cells: why they deviate, what was fitted, what holds by construction."""
        return reasons(self.table)

    def explained(self, cell: Cell) -> str:
        """Return the anchor of what explains a cell: an experiment, or the reason below the table."""
        if cell.see in self.anchors:
            return str(cell.see)
        mine = (cell.verdict, cell.reason, cell.see)
        return f"{self.name}-reason-{[(r.verdict, r.text, r.see) for r in self.reasons].index(mine) + 1}"

    @property
    def footnotes(self) -> list[str]:
        """The notes below the table; reasons and the comparisons of methods have lists of their own."""
        return list(footnotes(self.table))

    @cached_property
    def comparisons(self) -> list[str]:
        """What the same splits or test points say of two methods."""
        return list(comparisons(self.table))

    @property
    def problem(self) -> Markup:
        """Why it was not run; commands between backticks as code."""
        return _as_code(self.result.problem)

    @property
    def claims(self) -> list[Claim]:
        return self.result.claims

    @property
    def downloads(self) -> dict[str, str]:
        """The table as files, by ending."""
        return {"csv": to_csv(self.table), "tex": to_latex(self.table)} if self.finished else {}

    @property
    def lacking(self) -> Markup:
        """Why the reference stands in for a run of one's own."""
        return _as_code(self.result.lacks)

    @property
    def origin(self) -> str:
        """Where the numbers come from, where it is not a run of one's own."""
        return self.result.reference

    @property
    def readings(self) -> list[Markup]:
        """What the paper left open and how it was read: the config's notes, by paragraph, "see NAME" as a link."""
        parts = (" ".join(part.split()) for part in self.experiment.notes.split("\n\n") if part.strip())
        return [Markup(re.sub(r"\bsee (\w+)", self._link, escape(part))) for part in parts]

    def _link(self, found: re.Match[str]) -> str:
        name = found[1]
        return f'see <a href="#{name}">{name}</a>' if name in self.anchors else found[0]

    @property
    def pictures(self) -> Iterator[Picture]:
        """The figures that the last run left in the results folder."""
        for given, spec in self.experiment.figures.items() if self.finished else ():
            name = file_name(given)
            folder = self.result.folder or self.folder
            for path in sorted({*folder.glob(f"{name}.svg"), *folder.glob(f"{name}_*.svg")}):
                yield Picture.of(path, options_of(spec.kind).shows)

    @property
    def settings(self) -> list[tuple[str, str]]:
        return settings.settings(self.experiment)

    @property
    def methods(self) -> list[tuple[str, str, str, str]]:
        """Label, class, solver and parameters of every method."""
        return settings.methods(self.experiment)

    @property
    def provenance(self) -> list[tuple[str, str]]:
        return settings.provenance(self.result.provenance or {})


def _as_code(text: str) -> Markup:
    """Return a text whose parts between backticks are code."""
    return Markup(re.sub(r"`([^`]*)`", r"<code>\1</code>", str(escape(text))))


@dataclass(frozen=True)
class Chapter:
    """One paper on the page."""

    paper: Paper
    score: Score
    sections: list[Section]
    unmeasured: list[Number]
    pictures: list[Picture]

    @property
    def doubts(self) -> list[tuple[str, Claim]]:
        """The statements of the paper that do not hold, or hold in part, with the section that shows it."""
        return [(s.name, claim) for s in self.sections for claim in s.claims if claim.verdict is not Kept.HOLDS]

    @property
    def statements(self) -> dict[str, int]:
        """How many statements of the paper have which verdict."""
        verdicts = [claim.verdict for section in self.sections for claim in section.claims]
        return {verdict: verdicts.count(verdict) for verdict in Kept if verdict in verdicts}


def page(results: Sequence[Result], folder: Path, papers: bool = True) -> str:
    """Return the report of all papers, or of studies alone; ``folder`` holds the figures, in a folder for each config."""
    anchors = frozenset(result.config.name for result in results)
    sections = [Section(result, folder / file_name(result.config.name), anchors) for result in results]
    if not papers:
        title = sections[0].experiment.title if len(sections) == 1 else f"{len(sections)} studies"
        return _rendered(title=title, papers=False, chapters=[], others=sections, sections=sections)
    found = numbers(results)
    sections.sort(key=lambda s: (s.experiment.reported is None and s.experiment.claims is None, s.experiment.title))
    chapters = _chapters(sections, found, folder)
    others = [s for s in sections if s.experiment.paper not in PAPERS]
    total = Score.of(found)
    title = f"Five papers, rerun: {total.distinct[Verdict.MATCH]} distinct numbers match that could have differed"
    board = {
        "total": total,
        "strip": strip(found),
        "methods": sorted({m.method for s in sections for m in s.experiment.methods.values()}),
    }
    return _rendered(title=title, papers=True, chapters=chapters, others=others, sections=sections, **board)


def _chapters(sections: Sequence[Section], found: Sequence[Number], folder: Path) -> list[Chapter]:
    scores = by_paper(found)
    studies = {key: [*_studies(key, folder)] for key in PAPERS}
    return [
        Chapter(
            paper,
            scores[key],
            [s for s in sections if s.experiment.paper == key],
            [n for n in found if n.paper == key and n.config is None],
            studies[key],
        )
        for key, paper in PAPERS.items()
    ]


def _studies(key: str, folder: Path) -> Iterator[Picture]:
    """Yield the figures of a paper's methods that no config draws: of one's own, or those that are committed."""
    for name, caption in STUDIES.get(key, {}).items():
        places = [parent / name / f"{name}.svg" for parent in (folder, packaged())]
        if path := next((path for path in places if path.exists()), None):
            yield Picture.of(path, caption)


def _rendered(**parts: object) -> str:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    environment.globals |= {
        "VERDICTS": VERDICTS,
        "KINDS": _KINDS,
        "LOOKS": LOOKS,
        "V": Verdict,
        "sign": sign,
        "measured": measured,
        "spread_of": spread_of,
        "difference": difference,
    }
    text = environment.get_template("page.html").render(**parts)
    return re.sub(r"\n\s+", "\n", text)


def write(results: Sequence[Result], folder: Path, out: Path, papers: bool = True) -> None:
    """Write the report; raise StoreError where that cannot be done."""
    files.write(out, page(results, folder, papers))


def difference(cell: Cell) -> str:
    """Return how far the measured number is from the reported one, with its sign."""
    if cell.difference is None:
        return ""
    text = f"{cell.difference:+.{cell.decimals}f}"
    return text.replace("-", "−") if float(text) else text[1:]
