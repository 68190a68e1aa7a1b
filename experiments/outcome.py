"""What a run has found, and the files that show it."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from mmc.experiments import files, render
from mmc.experiments.claims import Claim, to_markdown
from mmc.experiments.provenance import Provenance
from mmc.experiments.results import Results
from mmc.experiments.told import claims_of
from mmc.methods.solution import Status


@dataclass(frozen=True)
class Outcome(Results):
    """A run: the results, and how they are written and drawn. ``provenance`` is None where it is not known."""

    provenance: Provenance | None = None

    @property
    def trials(self) -> int:
        return sum(len(unit.trials) for unit in self.units)

    @property
    def failures(self) -> list[str]:
        """Why trials could not be run, each reason once."""
        failed = (record.message for record in self.records.values() if record.status is Status.FAILED)
        return list(dict.fromkeys(failed))

    @cached_property
    def claims(self) -> list[Claim]:
        """What the paper says in words, with verdicts."""
        return claims_of(self)

    def write(self, folder: Path, provenance: Provenance | None = None) -> list[str]:
        """Write the table in every format, and the run's provenance; return the names."""
        texts = {f"table.{ending}": make(self.table) for ending, make in render.FORMATS.items()}
        if self.claims:
            texts["claims.md"] = to_markdown(self.claims)
        if known := provenance or self.provenance:
            known = {**known, "file": _relative(self.config.file, folder)}
            texts["run.json"] = json.dumps(known, indent=2, ensure_ascii=False) + "\n"
        for name, text in texts.items():
            files.write(folder / name, text)
        return list(texts)

    def draw(self, folder: Path) -> list[str]:
        """Write the figures as SVG and PNG; return their names."""
        if not self.config.experiment.figures:
            return []
        import matplotlib

        from mmc.experiments.figures import draw_all, save

        matplotlib.use("Agg")  # no window: they become files

        return [path.name for name, figure in draw_all(self) for path in save(name, figure, folder)]


def _relative(file: Path, folder: Path) -> str:
    """Return where a file is, seen from a folder."""
    try:
        return Path(os.path.relpath(file.resolve(), folder.resolve())).as_posix()
    except ValueError:  # another drive of Windows
        return file.resolve().as_posix()
