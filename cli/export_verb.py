"""The verb that writes a table, or its records, for other programs."""

from __future__ import annotations

from pathlib import Path

from mmc.cli.choices import Places
from mmc.cli.shell import console
from mmc.experiments import files, render
from mmc.experiments import run as runner
from mmc.experiments.errors import ConfigError, UserError
from mmc.experiments.frames import Records, write_frame
from mmc.experiments.store import Store
from mmc.experiments.validation import load
from mmc.words import nearest

FRAMES = {"csv": "csv", "parquet": "parquet", "xlsx": "xlsx"}
TEXTS = {"latex": "tex", "markdown": "md"}


def export(name: str, form: str, out: Path | None, records: bool, places: Places) -> None:
    """Write the table of a config, or its records, from the store; nothing is fitted."""
    if form not in {**FRAMES, **TEXTS}:
        raise UserError(f"there is no format {form!r}: {nearest(form, {**FRAMES, **TEXTS})}")
    if records and form not in FRAMES:
        raise UserError(f"records have no layout for {form}: take csv, parquet or xlsx")
    config = load(name)
    with Store(places.store if places.store.exists() else None, readonly=True) as store:
        outcome = runner.recall(config, store, places.data_dir)
    if not outcome.records:
        raise ConfigError(f"{places.store} has no records of {config.name} yet: `mmc run {config.name}` makes them")
    ending = {**FRAMES, **TEXTS}[form]
    path = out or Path(f"{config.name}{'_records' if records else ''}.{ending}")
    if form in TEXTS:
        files.write(path, render.FORMATS[ending](outcome.table))
    else:
        frame = Records(outcome.units, outcome.records).to_frame() if records else outcome.table.to_frame()
        write_frame(frame, path, form)
    missing = f"; {outcome.missing} trials are not run yet" if outcome.missing else ""
    console().print(f"written to {path}{missing}", soft_wrap=True)
