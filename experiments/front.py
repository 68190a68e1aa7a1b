"""The front door for Python: run a study and get what a notebook wants."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from mmc import plugins as plugin_files
from mmc.experiments.cells import Table
from mmc.experiments.config import Config, bundled
from mmc.experiments.errors import ConfigError
from mmc.experiments.folders import OWN, STORE, earlier_seconds, folder_of, last_run
from mmc.experiments.frames import Records, to_html
from mmc.experiments.outcome import Outcome
from mmc.experiments.reference import REFERENCE, kept_table
from mmc.experiments.store import Store
from mmc.experiments.validation import load

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame


@dataclass(frozen=True)
class Study:
    """A study and what is known of it.

    Attributes
    ----------
    config : Config
        The study itself.
    table : Table
        What was measured, beside what was printed; ``table.to_frame()`` is tidy, one row a cell.
    records : Records
        What every trial left; ``records.to_frame()`` has one row a trial. Empty where only a reference is known.
    figures : dict of str to matplotlib Figure
        The figures of the config, drawn when they are first asked for.
    failures : list of str
        Why trials could not be run, each reason once.
    """

    config: Config
    table: Table
    outcome: Outcome

    @property
    def records(self) -> Records:
        return Records(self.outcome.units, self.outcome.records)

    @property
    def failures(self) -> list[str]:
        return self.outcome.failures

    @cached_property
    def figures(self) -> dict[str, Figure]:
        if not self.config.experiment.figures or not self.outcome.records:
            return {}
        import matplotlib.pyplot as plt

        from mmc.experiments.figures import draw_all

        drawn = dict(draw_all(self.outcome))
        for figure in drawn.values():
            plt.close(figure)  # a notebook shows what its cell returns, and nothing by itself
        return drawn

    def _repr_html_(self) -> str:
        return to_html(self.table)

    def __repr__(self) -> str:
        missing = f", {self.outcome.missing} not run" if self.outcome.missing else ""
        return f"<mmc study {self.config.name!r}: {len(self.table.cells)} cells, {len(self.records)} trials{missing}>"


def run(
    config: str | Path,
    *,
    jobs: int | None = None,
    cluster: str | None = None,
    fresh: bool = False,
    results: str | Path | None = OWN,
    data_dir: str | Path | None = None,
    plugins: Sequence[str | Path] = (),
) -> Study:
    """Run a study and return what it found. A rerun does only what is missing.

    Parameters
    ----------
    config : str or Path
        A YAML file, or the name of a config that comes with mmc.
    jobs : int, optional
        Worker processes; default: one per core.
    cluster : str, optional
        The address of a dask scheduler, or ``local:N``.
    fresh : bool, default False
        Fit everything anew, even where a record exists.
    results : str, Path or None, default "runs"
        The folder for the store and the tables. None keeps all in memory and writes nothing.
    data_dir : str or Path, optional
        The folder with large data sets.
    plugins : sequence of str or Path, optional
        Python files with methods and data sets.

    Returns
    -------
    Study
        The table, the records and the figures.

    Raises
    ------
    UserError
        If the config, its data or the folder cannot be used; the message says what, where and what to do.
    """
    from mmc.experiments import run as runner
    from mmc.experiments.engines import opened

    plugin_files.use(plugins)
    study = load(config)
    folder = None if results is None else Path(results)
    where = None if data_dir is None else Path(data_dir)
    files = None if folder is None else folder_of(folder, study)
    earlier = {} if folder is None else earlier_seconds(study, folder)
    with Store(None if folder is None else folder / STORE) as store, opened(jobs, cluster) as engine:
        outcome = runner.run(study, store, engine, fresh=fresh, data_dir=where, earlier=earlier)
    if files is not None:
        outcome.write(files)
    return Study(study, outcome.table, outcome)


def load_results(folder: str | Path, *, data_dir: str | Path | None = None) -> Study:
    """Return what a run left in its folder, such as ``runs/breast_cancer``. Nothing is fitted.

    A folder of committed results, such as ``results/breast_cancer``, has a table and no records.

    Parameters
    ----------
    folder : str or Path
        The folder of one study.
    data_dir : str or Path, optional
        The folder with large data sets.

    Raises
    ------
    UserError
        If there are no results, or the config that made them is gone.
    """
    from mmc.experiments.run import recall

    folder = Path(folder)
    study = load(_config_of(folder))
    if (folder / REFERENCE).exists():
        return Study(study, kept_table(study, folder), Outcome(study, [], {}))
    store = folder.parent / STORE
    with Store(store if store.exists() else None, readonly=True) as opened:
        outcome = recall(study, opened, None if data_dir is None else Path(data_dir))
    if not outcome.records:
        raise ConfigError(f"{store} has no records of this study by this code; run it again")
    return Study(study, outcome.table, outcome)


def _config_of(folder: Path) -> Path:
    """Return the config whose results a folder holds; raise ConfigError where there is none."""
    left = last_run(folder)
    file, name = left.get("file"), left.get("config")
    if isinstance(file, str):
        path = (folder / file).resolve()
        if not path.is_file():
            raise ConfigError(f"{folder} holds results of {path}, which is not there any more")
        return path
    if isinstance(name, str) and name in bundled():
        return bundled()[name]
    raise ConfigError(f"{folder}: there are no results of a study here; mmc.run or `mmc run` makes them")


def list_methods() -> DataFrame:
    """Return all methods: key, class, where it comes from, what it does, its parameters, its solvers."""
    import pandas as pd

    from mmc.methods.registry import METHODS

    return pd.DataFrame(
        {
            "key": entry.key,
            "class": entry.name,
            "from": entry.origin,
            "summary": entry.summary,
            "parameters": ", ".join(entry.parameters()),
            "solvers": ", ".join(entry.solvers),
        }
        for entry in METHODS.values()
    )
