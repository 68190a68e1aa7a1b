"""The verbs for data of one's own: fit a table, predict another one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

from rich import box
from rich.progress import BarColumn, Progress, ProgressColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from mmc.cli.shell import console
from mmc.experiments.own import card, picture, streaming
from mmc.experiments.own.errors import NotPossible, RequestError
from mmc.experiments.own.fitting import Chosen, Outcome, Request, choose, finish
from mmc.experiments.own.model_file import outdated, save
from mmc.experiments.own.possible import possible
from mmc.experiments.own.predicting import predict as predict_table
from mmc.words import percent

if TYPE_CHECKING:
    from mmc.experiments.own.choosing import Watch

_WIDTH = 80
_SHOWN = 6  # classifiers in the table of those tried
_COLUMNS = 40  # rows in the table of columns


def rates(given: Sequence[str]) -> dict[str, float]:
    """Return the rates of ``--max-error LABEL=RATE``."""
    found: dict[str, float] = {}
    for text in given:
        label, equals, rate = text.rpartition("=")
        try:
            value = float(rate)
        except ValueError:
            equals = ""
        if not equals or not label:
            raise RequestError(f"--max-error {text!r} is not LABEL=RATE, such as defect=0.05")
        if label in found:
            raise RequestError(f"--max-error names {label!r} twice; give each class one rate")
        found[label] = value
    return found


def fit(request: Request, out: Path | None, memory: float | None = None) -> None:
    """Choose, calibrate, test, save and explain; without rates show what is possible.

    A file of more than ``memory`` bytes, by default a share of the machine's memory, is streamed.
    """
    screen = _Screen()
    stem = Path(request.path.stem) if out is None else out.with_suffix("")
    streamed = streaming.too_large(request.path, memory)
    if streamed:
        screen.say(
            f"{request.path} is large beside the memory: it is read in passes, for methods that need moments only, and the "
            f"classifier is chosen on a sample of {streaming.SAMPLE:,} training rows",
            style="dim",
        )
    with _progress() as (watch, read):
        chosen = streaming.choose_streamed(request, watch, read) if streamed else choose(request, watch)
    _parts(screen, chosen)
    if not request.max_error:
        _possible(screen, chosen, stem.with_name(stem.name + ".possible.svg"))
        return
    try:
        with _progress() as (_, read):
            outcome = streaming.finish_streamed(chosen, read) if streamed else finish(chosen)
    except NotPossible:
        _tried(screen, chosen, in_card=False)
        raise
    _columns(screen, outcome)
    _tried(screen, chosen)
    _result(screen, outcome)
    model = stem.with_name(stem.name + ".model") if out is None else out
    save(outcome.model, model, outcome.facts)
    written = [model, *card.write(outcome, stem)]
    screen.say(f"written: {', '.join(map(str, written))}", style="dim")
    screen.say(f"next: mmc predict {model} NEW.csv", style="dim")


def predict(model: Path, table: Path, out: Path | None) -> None:
    """Predict a table with a saved model; count what was predicted and what was strange."""
    screen = _Screen()
    target = out or Path(f"{table.stem}.predictions.csv")
    with _bar(TextColumn("{task.completed:,.0f} rows"), TimeElapsedColumn()) as bar:
        task = bar.add_task("")
        summary = predict_table(model, table, target, lambda rows: bar.update(task, completed=rows))
    counts = ", ".join(f"{count:,} {label}" for label, count in sorted(summary.labels.items()))
    screen.say(f"{summary.rows:,} rows: {counts}")
    for name, count in summary.new.items():
        if count:
            screen.warn(
                f"{name!r}: {count:,} cells hold a category that training did not have; treated as none of the known"
            )
    if old := outdated(summary.facts):
        screen.warn(
            f"the model was fitted with {', '.join(old)}; its promise holds for the versions it was fitted with"
        )
    second = summary.facts.classes[1]
    screen.say(
        f"written: {target} ({summary.id or 'row'}, label, score, abstained; a score above 0 means {second})",
        style="dim",
    )


class _Screen:
    """Prints at 80 columns; text of files cannot reach the terminal as a command."""

    def __init__(self) -> None:
        self._console = console()
        self._width = min(_WIDTH, self._console.width)

    def say(self, text: str, style: str = "") -> None:
        self._console.print(_plain(text, style), width=self._width)

    def warn(self, text: str) -> None:
        self.say(f"look at this: {text}", style="yellow")

    def table(self, heads: Sequence[str], rows: Iterable[Sequence[str]], numbers: Sequence[int] = ()) -> None:
        grid = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
        for at, head in enumerate(heads):
            grid.add_column(_plain(head), justify="right" if at in numbers else "left", overflow="fold")
        for row in rows:
            grid.add_row(*map(_plain, row))
        self._console.print(grid, width=self._width)
        self._console.print()


def _plain(text: str, style: str = "") -> Text:
    """Return text without control characters and without markup."""
    return Text("".join(mark if mark.isprintable() else "·" for mark in text), style=style)


def _bar(*columns: ProgressColumn) -> Progress:
    """Return a live line that leaves nothing behind; none where the output is not a terminal."""
    out = console()
    return Progress(*columns, console=out, transient=True, disable=not out.is_terminal)


@contextmanager
def _progress() -> Iterator[tuple[Watch, Watch]]:
    """Yield what to call with classifiers that are tried, and with bytes that are read."""
    columns = (TextColumn("{task.description}"), BarColumn(24), TextColumn("about"), TimeRemainingColumn())
    with _bar(*columns, TextColumn("left")) as bar:
        task = bar.add_task("reading")

        def watch(done: int, total: int, what: str) -> None:
            bar.update(task, completed=done, total=total, description=f"trying {what}" if what else "finishing")

        def read(done: int, total: int, what: str) -> None:
            words = f"{what}: {done / 1e6:,.0f} of {total / 1e6:,.0f} MB"
            bar.update(task, completed=done, total=total, description=words)

        yield watch, read


def _parts(screen: _Screen, chosen: Chosen) -> None:
    words = []
    for name, counts in chosen.sizes:
        shown = ", ".join(f"{n:,} {label}" for n, label in zip(counts, chosen.examples.classes, strict=True))
        words.append(f"{name} {sum(counts):,} ({shown})")
    screen.say(f"{sum(sum(counts) for _, counts in chosen.sizes):,} rows: {'; '.join(words)}")
    for warning in chosen.examples.warnings:
        screen.warn(warning)


def _columns(screen: _Screen, outcome: Outcome) -> None:
    rows = [(c.name, c.holds, str(c.missing or ""), c.became) for c in outcome.columns]
    rows += [(name, "", "", reason) for name, reason in outcome.chosen.examples.left_out.items()]
    screen.table(("column", "holds", "missing", "became"), rows[:_COLUMNS], numbers=[2])
    if len(rows) > _COLUMNS:
        screen.say(f"… and {len(rows) - _COLUMNS} more, in the model card")


def _tried(screen: _Screen, chosen: Chosen, in_card: bool = True) -> None:
    limits = " and ".join(f"{label} ≤ {percent(rate)}" for label, rate in chosen.request.max_error.items())
    screen.say(f"Cross-validated on the training part, with {limits} kept; the first is chosen:")
    rows = [(e.name, percent(round(e.left(chosen.expected), 3)), f"{e.area:.3f}") for e in chosen.tried[:_SHOWN]]
    screen.table(("classifier", card.what_is_left(chosen), "area under ROC"), rows, numbers=[1, 2])
    if len(chosen.tried) > _SHOWN:
        screen.say(f"… and {len(chosen.tried) - _SHOWN} more{', in the model card' if in_card else ''}")
    for entry in chosen.failed:
        screen.say(f"{entry.name}: {entry.problem}")


def _result(screen: _Screen, outcome: Outcome) -> None:
    request = outcome.chosen.request
    level = percent(request.confidence)
    heads = ["class", "asked", "promised", "wrong in test", "interval"]
    rows = [[r.label, r.asked, r.promised, r.measured, r.interval, r.undecided] for r in card.rows_of(outcome)]
    if request.abstain is None:
        rows = [row[:-1] for row in rows]
    else:
        heads.append(request.abstain)
    screen.say(f"Promised by the calibration part, measured on the test part, at {level} confidence:")
    screen.table(heads, rows, numbers=range(1, 6))
    if room := card.room_of(outcome):
        screen.say(f"{room} (--abstain).")
    for label in outcome.doubts:
        screen.warn(f"the test part speaks against the promise for {label!r}: do the rows come from one population?")
    screen.say(f"For comparison, bounds on the training moments, as the papers' methods give them: {outcome.bounds}.")


def _possible(screen: _Screen, chosen: Chosen, path: Path) -> None:
    rows = []
    for entry in possible(chosen):
        short = entry.left is None
        left = (
            f"{entry.needs - entry.rows:,} rows too few"
            if entry.left is None
            else f"{percent(round(entry.left, 3))} of {entry.other}"
        )
        rows.append((f"{percent(entry.rate)} of {entry.label}", f"{entry.needs:,}", left, "" if short else entry.by))
    level = percent(chosen.request.confidence)
    screen.say(f"What a limit on a class needs, in rows of this class, for a promise at {level} confidence:")
    screen.table(("at most wrong", "rows needed", "leaves wrong, about", "by"), rows, numbers=[1])
    path.write_text(picture.of_possible(chosen), encoding="utf-8")
    label = chosen.examples.classes[0]
    screen.say(
        "By cross-validation in the training part. Rows that can calibrate or test later (seed "
        f"{chosen.request.seed}) have not been looked at."
    )
    screen.say(f"written: {path}", style="dim")
    screen.say(
        f"next: the same command with a rate of your choice, such as --max-error {quote(label + '=0.1')}", style="dim"
    )


def init(table: Path, target: str, out: Path) -> None:
    """Write a study of a table and say how to go on."""
    from mmc.experiments.starting import start

    for path in start(table, target, out):
        console().print(f"written: {path}", soft_wrap=True)
    console().print(f"next: mmc run {out}", soft_wrap=True)
