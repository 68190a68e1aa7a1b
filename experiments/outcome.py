"""What a run has found, and the files that show it."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from mmc.experiments import render
from mmc.experiments.claims import CLAIMS, Claim, to_markdown
from mmc.experiments.config import Config
from mmc.experiments.plan import Unit
from mmc.experiments.provenance import Provenance
from mmc.experiments.records import Record
from mmc.experiments.tables import Table, gather
from mmc.experiments.writing import write_file
from mmc.methods.solution import Status


@dataclass(frozen=True)
class Outcome:
    """A run: its records, its table, and what its figures are drawn from. ``provenance`` is None where it is not known."""

    config: Config
    units: Sequence[Unit]
    records: Mapping[str, Record]
    provenance: Provenance | None = None

    @cached_property
    def table(self) -> Table:
        return gather(self.config, list(self.units), self.records)

    @property
    def trials(self) -> int:
        return sum(len(unit.trials) for unit in self.units)

    @property
    def missing(self) -> int:
        """How many trials have no record: the config or the code has changed since the last run."""
        return sum(trial.key not in self.records for unit in self.units for trial in unit.trials)

    @property
    def failures(self) -> list[str]:
        """Why trials could not be run, each reason once."""
        failed = (record.message for record in self.records.values() if record.status is Status.FAILED)
        return list(dict.fromkeys(failed))

    @cached_property
    def claims(self) -> list[Claim]:
        """What the paper says in words, with verdicts."""
        name = self.config.experiment.claims
        return list(CLAIMS[name](self)) if name else []

    def write(self, folder: Path, provenance: Provenance | None = None) -> list[str]:
        """Write the table as CSV, Markdown and LaTeX, and the run's provenance; return the names."""
        files = {
            "table.csv": render.to_csv(self.table),
            "table.md": render.to_markdown(self.table),
            "table.tex": render.to_latex(self.table),
        }
        if self.claims:
            files["claims.md"] = to_markdown(self.claims)
        if known := provenance or self.provenance:
            known = {**known, "file": _relative(self.config.file, folder)}
            files["run.json"] = json.dumps(known, indent=2, ensure_ascii=False) + "\n"
        for name, text in files.items():
            write_file(folder / name, text)
        return list(files)

    def draw(self, folder: Path) -> list[str]:
        """Write the figures as SVG and PNG; return their names."""
        if not self.config.experiment.figures:
            return []
        from mmc.experiments.figures import draw_all, save

        drawn = draw_all(self.config, self.units, self.records, self.table)
        return [path.name for name, figure in drawn for path in save(name, figure, folder)]


def _relative(file: Path, folder: Path) -> str:
    """Return where a file is, seen from a folder."""
    try:
        return Path(os.path.relpath(file.resolve(), folder.resolve())).as_posix()
    except ValueError:  # another drive of Windows
        return file.resolve().as_posix()
