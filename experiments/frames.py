"""Records as a pandas frame, one row a trial; a frame as a file; and a table as HTML for notebooks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from markupsafe import Markup, escape

from mmc.experiments.cells import Cell, Row, Table, scalar
from mmc.experiments.errors import UserError
from mmc.experiments.escape import plain, spreadsheet
from mmc.experiments.layout import Grid, beside, measured
from mmc.experiments.metrics import COUNTED, Costs
from mmc.experiments.notes import notes, summary
from mmc.experiments.records import Record
from mmc.experiments.units import Trial, Unit

if TYPE_CHECKING:
    from pandas import DataFrame


@dataclass(frozen=True)
class Records:
    """The records of a study: one for each trial that was run."""

    units: Sequence[Unit]
    by_key: Mapping[str, Record]

    def __len__(self) -> int:
        return sum(trial.key in self.by_key for unit in self.units for trial in unit.trials)

    def to_frame(self) -> DataFrame:
        """Return one row a trial: where it was run, its parameters, how it ended, its errors and its certificate."""
        import pandas as pd

        return pd.DataFrame(list(self._rows()))

    def _rows(self) -> Iterator[Row]:
        for unit in self.units:
            for trial in unit.trials:
                if (record := self.by_key.get(trial.key)) is not None:
                    yield _record(unit, trial, record)


def _record(unit: Unit, trial: Trial, record: Record) -> Row:
    counts, proof = record.counts, record.proof
    row: Row = {
        "dataset": unit.source.label,
        "method": unit.label,
        "repetition": unit.split.repetition,
        "fold": unit.split.fold,
        "pair": " against ".join(unit.pair) if unit.pair else None,
        "status": str(record.status),
    }
    row |= {name: scalar(value) for name, value in {**trial.point, **(record.chosen or {})}.items() if name not in row}
    for name in ("n_pos", "n_neg", "wrong_pos", "wrong_neg"):
        row[name] = None if counts is None else float(getattr(counts, name))
    for name in ("error", "error_pos", "error_neg"):
        row[name] = None if counts is None else COUNTED[name].value(counts, Costs())
    if record.choice is not None:
        row["error"] = 100 * record.choice.wrong / record.choice.points
    row["certificate"] = ("gap" if proof is not None else "none") if record.status.counted else None
    for name in ("objective", "gap", "iterations"):
        row[name] = None if proof is None else float(getattr(proof, name))
    row |= {"fit_seconds": record.seconds, "train_seconds": record.train_seconds}
    row |= {name: value for name, value in record.facts.items() if name not in row}
    return {**row, "message": record.message or None, "key": record.key}


def to_html(table: Table) -> str:
    """Return a table as HTML: the paper's layout, then its notes. All text of users is escaped."""
    grid = Grid.of(table)
    heads = [*(table.label(key) for key in table.rows), *(" ".join(table.headings(c)) for c in grid.columns)]
    rows = []
    for place in grid.rows:
        cells = [Markup("<th>{}</th>").format(plain(table.label(part))) for part in place]
        cells += [_html_cell(cell, table.spread) for cell in grid.line(place)]
        rows.append(Markup("<tr>{}</tr>").format(Markup("").join(cells)))
    head = Markup("").join(Markup("<th>{}</th>").format(plain(text)) for text in heads)
    below = [line for line in (summary(table), *notes(table)) if line]
    return str(
        Markup("<p><b>{}</b></p><table><thead><tr>{}</tr></thead><tbody>{}</tbody></table>{}").format(
            plain(table.title),
            head,
            Markup("").join(rows),
            Markup("").join(Markup("<p><small>{}</small></p>").format(plain(line)) for line in below),
        )
    )


def _html_cell(cell: Cell | None, spread: str) -> Markup:
    if cell is None:
        return Markup("<td></td>")
    printed = Markup("<br><small>{}</small>").format(plain(beside(cell))) if cell.reported is not None else Markup("")
    return Markup("<td>{}{}</td>").format(escape(measured(cell, spread)), printed)


def write_frame(frame: DataFrame, path: Path, form: str) -> None:
    """Write a frame as csv, parquet or xlsx; raise UserError where the file cannot be written."""
    if form != "parquet":
        text = frame.select_dtypes(exclude="number").columns
        frame = frame.assign(**{name: frame[name].map(_harmless) for name in text})
    writers: dict[str, Callable[[], object]] = {
        "csv": lambda: frame.to_csv(path, index=False),
        "parquet": lambda: frame.to_parquet(path, index=False),
        "xlsx": lambda: frame.to_excel(path, index=False, engine="openpyxl"),
    }
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        writers[form]()
    except OSError as error:
        raise UserError(f"cannot write {path}: {error.strerror or error}") from None


def _harmless(value: object) -> object:
    """Return text that a spreadsheet does not take for a formula."""
    return spreadsheet(value) if isinstance(value, str) else value
