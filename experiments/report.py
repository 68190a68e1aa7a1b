"""The report: one HTML page of everything in the store, that needs nothing but itself."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import quote

from markupsafe import Markup, escape

from mmc.experiments import render
from mmc.experiments.claims import FAILS, HOLDS, PARTLY, Claim
from mmc.experiments.config import Experiment, MethodSpec
from mmc.experiments.dataspec import DataSpec
from mmc.experiments.errors import StoreError
from mmc.experiments.figures import FIGURES
from mmc.experiments.figures.svg import compact
from mmc.experiments.grids import Axis, GridSpec
from mmc.experiments.scoreboard import PAPERS, VERDICTS, Number, Paper, Result, Score, by_paper, numbers, score
from mmc.experiments.tables import DIFFERS, KNOWN, MATCH, NOT_RUN, Cell, Table, used
from mmc.methods import CATALOGUE

TEMPLATES = Path(__file__).parent / "templates"
WORDS = {MATCH: "match", KNOWN: "deviate, reason stated", DIFFERS: "differ", NOT_RUN: "not run"}
WORD = {MATCH: "matches", KNOWN: "deviates, reason stated", DIFFERS: "differs", NOT_RUN: "not run", "": "not judged"}
SLUG = {MATCH: "match", KNOWN: "known", DIFFERS: "differs", NOT_RUN: "notrun", "": "none"}
# Figures of a paper's methods that no config draws: the folder and name of the file, and what it shows.
STUDIES = {"gu": {"scaling": "time and memory over the number of points, measured and, as power laws, extrapolated"}}
_SCALES = {
    "none": "features as they are",
    "standard": "features standardised on the training part",
    "unit": "features standardised on the training part, then divided by the root of their number",
    "minmax": "features scaled to [0, 1] on the training part",
}


@dataclass(frozen=True)
class Picture:
    """A figure as a data URI, and what it shows."""

    name: str
    caption: str
    uri: Markup

    @classmethod
    def of(cls, path: Path, caption: str) -> Picture:
        """Return the figure of an SVG file, or of the PNG file beside it, whichever is shorter on the page."""
        text = compact(path.read_text("utf-8")).replace("\n", "")
        text = text.replace("xlink:href", "href")  # all that browsers need
        text = text.replace("'", "&#39;").replace('"', "'")  # quotes that need no escape in an attribute of the page
        uri = "data:image/svg+xml," + quote(text, safe=" ;/?:@=+$,'()*!")
        if (other := path.with_suffix(".png")).exists() and other.stat().st_size * 4 / 3 < len(uri):
            uri = "data:image/png;base64," + base64.b64encode(other.read_bytes()).decode("ascii")
        return cls(_spoken(path.stem), caption, Markup(uri))


@dataclass(frozen=True)
class Heading:
    """A cell above several columns."""

    text: str
    span: int


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
        return title[0].upper() + title[1:]

    @property
    def experiment(self) -> Experiment:
        return self.result.config.experiment

    @property
    def table(self) -> Table:
        return self.result.outcome.table

    @property
    def finished(self) -> bool:
        return not self.result.problem

    @cached_property
    def score(self) -> Score:
        return Score(self.table.counts())

    @cached_property
    def grid(self) -> tuple[list[tuple[Any, ...]], list[tuple[Any, ...]], dict[tuple[Any, Any], Cell]]:
        return render.grid_of(self.table)

    @property
    def headings(self) -> Iterator[list[Heading]]:
        """The rows above the metrics: each value of a column key once, above its columns."""
        columns = self.grid[1]
        for depth in range(len(self.table.columns)):
            row: list[Heading] = []
            last: Any = None
            for column in columns:
                if column[: depth + 1] == last:
                    row[-1] = Heading(row[-1].text, row[-1].span + 1)
                else:
                    row.append(Heading(self.table.headings(column)[depth], 1))
                last = column[: depth + 1]
            yield row

    @property
    def listed(self) -> list[Cell]:
        """The cells that stand beside a reported number."""
        return [cell for cell in self.table.cells if cell.reported is not None]

    @property
    def keys(self) -> list[str]:
        return list(dict.fromkeys([*self.table.rows, *self.table.columns]))

    @cached_property
    def reasons(self) -> list[tuple[str, str | None]]:
        """The stated reasons, each once, with the experiment that shows it."""
        return list(dict.fromkeys((c.reason, c.see) for c in self.table.cells if c.verdict == KNOWN))

    def explained(self, cell: Cell) -> str:
        """Return the anchor of what explains a deviating cell: an experiment, or the reason below the table."""
        if cell.see in self.anchors:
            return str(cell.see)
        return f"{self.name}-reason-{self.reasons.index((cell.reason, cell.see)) + 1}"

    @property
    def footnotes(self) -> list[str]:
        """The notes below the table; the stated reasons and the comparisons of methods have lists of their own."""
        elsewhere = set(self.comparisons)
        notes = (note for note in render.notes(self.table) if note not in elsewhere)
        return [note for note in notes if not note.startswith(render.SYMBOL[KNOWN])]

    @cached_property
    def comparisons(self) -> list[str]:
        """What the same splits or test points say of two methods."""
        return list(render.comparisons(self.table))

    @property
    def problem(self) -> Markup:
        """Why it was not run; commands between backticks as code."""
        return Markup(re.sub(r"`([^`]*)`", r"<code>\1</code>", str(escape(self.result.problem))))

    @cached_property
    def claims(self) -> list[Claim]:
        return self.result.outcome.claims if self.finished else []

    @property
    def readings(self) -> list[Markup]:
        """What the paper left open and how it was read: the config's notes, by paragraph, "see NAME" as a link."""
        parts = (" ".join(part.split()) for part in self.experiment.notes.split("\n\n") if part.strip())
        return [Markup(re.sub(r"\bsee (\w+)", self._link, escape(part))) for part in parts]

    def _link(self, found: re.Match[str]) -> str:
        name = found[1]
        return f'see <a href="#{name}">{name}</a>' if name in self.anchors else found[0]

    @property
    def settings(self) -> list[tuple[str, str]]:
        experiment = self.experiment
        found = [
            ("data", "; ".join(_data(label, spec) for label, spec in experiment.datasets.items())),
            ("scaling", _SCALES[experiment.scale]),
            ("protocol", experiment.split.words()),
            ("seed", str(experiment.seed)),
        ]
        if experiment.multiclass:
            found.append(("several classes", "one classifier for every pair, the class with most votes wins"))
        if "risk" in experiment.table.metrics:
            costs = experiment.costs
            found.append(("costs", f"{costs.pos:g} for an error of the positive class, {costs.neg:g} of the negative"))
        if experiment.grid is not None:
            found.append(("grid", _grid(experiment.grid)))
        if experiment.reported:
            found.append(("reported in", experiment.reported.source))
        return found

    @property
    def methods(self) -> list[tuple[str, str, str, str]]:
        """Label, class, solver and parameters of every method."""
        return [(label, *_method(spec)) for label, spec in self.experiment.methods.items()]

    @property
    def pictures(self) -> Iterator[Picture]:
        """The figures that the last run left in the results folder."""
        for name, spec in self.experiment.figures.items() if self.finished else ():
            for path in sorted({*self.folder.glob(f"{name}.svg"), *self.folder.glob(f"{name}_*.svg")}):
                yield Picture.of(path, FIGURES[spec.kind])

    @property
    def provenance(self) -> list[tuple[str, str]]:
        run = self.result.provenance
        if run is None:
            return []
        gap = run.get("largest_gap")
        machine = run.get("machine", {})
        return [
            ("finished", str(run.get("finished", "")).replace("T", " ").replace("+00:00", " UTC")),
            ("time", f"{run['seconds']:g} s for the last run, {run['fit_seconds']:g} s of fitting in all its records"),
            ("trials", ", ".join(f"{count} {status}" for status, count in run["trials"].items())),
            ("largest gap", "–" if gap is None else f"{gap:.1e} between primal and dual objective, over solved trials"),
            ("commit", str(run.get("commit") or "unknown")),
            ("versions", ", ".join(f"{name} {version}" for name, version in run["versions"].items())),
            ("machine", f"{machine.get('system')}, {machine.get('processor')}, {machine.get('cores')} cores"),
            ("data (sha256)", ", ".join(f"{label} {digest[:16]}" for label, digest in run["data"].items())),
        ]


@dataclass(frozen=True)
class Chapter:
    """One paper on the page."""

    paper: Paper
    score: Score
    sections: list[Section]
    unmeasured: list[Number]
    pictures: list[Picture]

    @property
    def statements(self) -> dict[str, int]:
        """How many statements of the paper hold, hold in part, do not hold."""
        verdicts = [claim.verdict for section in self.sections for claim in section.claims]
        return {verdict: verdicts.count(verdict) for verdict in (HOLDS, PARTLY, FAILS) if verdict in verdicts}


def page(results: Sequence[Result], folder: Path) -> str:
    """Return the report; ``folder`` holds the figures, in a folder for each config."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    found = numbers(results)
    anchors = frozenset(result.config.name for result in results)
    sections = [Section(result, folder / result.config.name, anchors) for result in results]
    sections.sort(key=lambda s: (s.experiment.reported is None and s.experiment.claims is None, s.experiment.title))
    scores = by_paper(found)
    chapters = [
        Chapter(
            paper,
            scores[key],
            [s for s in sections if s.experiment.paper == key],
            [n for n in found if n.paper == key and n.config is None],
            [
                Picture.of(path, caption)
                for name, caption in STUDIES.get(key, {}).items()
                if (path := folder / name / f"{name}.svg").exists()
            ],
        )
        for key, paper in PAPERS.items()
    ]
    others = [s for s in sections if s.experiment.paper not in PAPERS]
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    environment.globals |= {
        "VERDICTS": VERDICTS,
        "SYMBOL": render.SYMBOL,
        "WORDS": WORDS,
        "WORD": WORD,
        "SLUG": SLUG,
        "KNOWN": KNOWN,
        "measured": render.measured,
        "spread_of": render.spread_of,
        "difference": difference,
    }
    text = environment.get_template("page.html").render(total=score(found), chapters=chapters, others=others)
    return re.sub(r"\n\s+", "\n", text)


def write(results: Sequence[Result], folder: Path, out: Path) -> None:
    """Write the report; raise StoreError where that cannot be done."""
    text = page(results, folder)
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        partial = out.with_name(f".{out.name}.partial")
        partial.write_text(text, "utf-8")
        partial.replace(out)
    except OSError as error:
        raise StoreError(f"cannot write the report {out}: {error.strerror}") from None


def _spoken(name: str) -> str:
    """Return a file's name as words: figure4 is Figure 4."""
    words = re.sub(r"(?<=[a-z])(?=\d)", " ", name).replace("_", " ")
    return words[0].upper() + words[1:]


def difference(cell: Cell) -> str:
    """Return how far the measured number is from the reported one, with its sign."""
    if cell.difference is None:
        return ""
    text = f"{cell.difference:+.{cell.decimals}f}"
    return text.replace("-", "−") if float(text) else text[1:]


def _data(label: str, spec: DataSpec | None) -> str:
    assert spec is not None
    details = [str(spec.name)] if spec.name not in (None, label) else []
    details += [f"file {spec.file}"] if spec.file else []
    details += [_pairs(spec.options)] if spec.options else []
    details += [words] if (words := used(spec)) else []
    if spec.knowledge is not None:
        stated = f"{len(spec.knowledge)} stated"
        details.append(f"knowledge sets: {f'file {spec.knowledge}' if isinstance(spec.knowledge, str) else stated}")
    return f"{label} ({', '.join(details)})" if details else label


def _method(spec: MethodSpec) -> tuple[str, str, str]:
    entry = CATALOGUE[spec.method]
    params = dict(spec.params)
    solver = params.pop("solver", None) or next(iter(entry.solvers))
    parts = [_pairs(params)] if params else []
    if spec.grid is not None:
        parts.append(f"grid {_grid(spec.grid)}" + (f", best {spec.best} shown" if spec.best else ""))
    if spec.tune:
        parts.append(f"{_grid(spec.tune.grid)}, by {spec.tune.folds}-fold {spec.tune.metric} inside each training part")
        firsts = spec.tune.first if isinstance(spec.tune.first, dict) else {"": spec.tune.first}
        parts += [
            f"the first {first} repetitions tune for all{on and f' on {on}'}" for on, first in firsts.items() if first
        ]
    return entry.name, str(solver), "; ".join(parts) or "–"


def _grid(grid: GridSpec) -> str:
    if isinstance(grid, list):
        return " | ".join(_pairs(point) for point in grid)
    return " × ".join(f"{name} ∈ {_axis(axis)}" for name, axis in grid.items())


def _axis(axis: list[Any] | Axis) -> str:
    if isinstance(axis, Axis):
        values = axis.values()
        return f"{{{values[0]:g}, {values[1]:g}, …, {values[-1]:g}}}" if len(values) > 2 else f"{{{_values(values)}}}"
    return f"{{{_values(axis)}}}"


def _pairs(params: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} = {_values([value])}" for name, value in params.items())


def _values(values: Sequence[Any]) -> str:
    return ", ".join(_value(value) for value in values)


def _value(value: Any) -> str:
    if isinstance(value, Mapping):
        return f"({_pairs(value)})"
    return f"{value:g}" if isinstance(value, float) else str(value)
