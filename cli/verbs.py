"""The verbs that work on configs: run, validate, show, plot."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table as RichTable

from mmc.cli.beside import Later, beside
from mmc.cli.choices import Places, Power, Selection
from mmc.cli.progress import Display
from mmc.cli.shell import Told, console, resumable, spelling
from mmc.experiments import run as runner
from mmc.experiments.cells import Table
from mmc.experiments.claims import Claim
from mmc.experiments.config import Config
from mmc.experiments.drawn import kept
from mmc.experiments.errors import ConfigError, DataAbsent, TrialError
from mmc.experiments.folders import REFERENCE, folder_of, last_run
from mmc.experiments.outcome import Outcome
from mmc.experiments.plan import absent, plan
from mmc.experiments.reference import kept_table
from mmc.experiments.store import Store
from mmc.experiments.terminal import terminal
from mmc.experiments.validation import check_figures
from mmc.experiments.values import check_values

_SHOWN = 10
_log = logging.getLogger("mmc")
_log.setLevel(logging.INFO)
_log.addHandler(Told())


@resumable()
def run(selection: Selection, places: Places, power: Power, fresh: bool = False) -> int:
    """Run configs one after the other; each table is printed and written as soon as it is there.

    Return 1 if a trial failed because its workers died. With ``--all``, a config whose data are missing is reported and
    skipped.
    """
    configs = selection.configs(places.results)
    out = console()
    troubles: list[str] = []
    failed = 0
    with (
        Store(places.store) as store,
        Display(out, configs) as watch,
        power.engine(watch) as engine,
        beside() as later,
    ):
        watch.expect(places.outlook(configs, store))
        for config in watch.each():
            try:
                folder = folder_of(places.results, config)
                outcome = runner.run(
                    config,
                    store,
                    engine,
                    fresh=fresh,
                    data_dir=places.data_dir,
                    watch=watch,
                    earlier=places.earlier(config),
                )
            except (ConfigError, TrialError) as error:
                if selection.everything and isinstance(error, DataAbsent):
                    print_table(Outcome(config, [], {}).table, out)
                    not_run(config, error, out)
                else:
                    troubles.append(f"{config.name}: {error}" if len(configs) > 1 else str(error))
                continue
            failed += _finish(outcome, folder, out, later)
    close(selection, "run", configs, watch, out)
    if troubles:
        raise ConfigError("\n".join(troubles))
    return 1 if failed else 0


def _finish(outcome: Outcome, folder: Path, out: Console, later: Later) -> int:
    """Write and print what a run has found, and draw it ``later``; return how many reasons there are for failed trials."""
    files = outcome.write(folder)
    print_table(outcome.table, out)
    out.print(_claims(outcome.claims))
    tell_failures(outcome, out)

    def draw() -> None:
        drawn = kept(outcome, folder, outcome.draw) if outcome.config.experiment.figures else []
        out.print(f"written to {folder}/: {', '.join(files + drawn)}\n", style="dim")

    later(draw)
    return len(outcome.failures)


def tell_failures(outcome: Outcome, out: Console) -> None:
    """Print which trials could not be run, and why."""
    for reason in outcome.failures[:_SHOWN]:
        out.print(f"failed: {reason}", style="red", soft_wrap=True)
    if more := outcome.failures[_SHOWN:]:
        out.print(f"… and {len(more)} more")
    if outcome.failures:
        out.print("The next run tries them again.", style="red")


def close(selection: Selection, verb: str, configs: Sequence[Config], watch: Display, out: Console) -> None:
    """Print what is to be said about all configs together."""
    if len(configs) > 1:
        out.print(watch.closing(), soft_wrap=True)
    if left_out := selection.left_out(verb):
        out.print(left_out, style="yellow", soft_wrap=True)


def not_run(config: Config, error: DataAbsent, out: Console) -> None:
    """Print that a config was skipped because of its data."""
    out.print(f"{config.name}: not run: {str(error).splitlines()[0]}\n", style="yellow", soft_wrap=True)


def validate(selection: Selection) -> None:
    """Check configs and say how much work each is."""
    for config in selection.configs():
        check_values(config)
        if away := absent(config, None):
            console().print(f"{config.file}: ok, but not on this machine: {', '.join(away)}", soft_wrap=True)
            continue
        units = plan(config)
        check_figures(config, units)
        runner.warn(config, units)
        console().print(f"{config.file}: ok, {sum(len(u.trials) for u in units)} trials", soft_wrap=True)


def show(selection: Selection, places: Places) -> None:
    """Print the tables from the store; where it has none, the reference, marked as such."""
    out = console()
    for outcome in _recalled(selection, places, out, tables=True):
        if outcome.missing:
            name = outcome.config.name
            done = f"{outcome.trials - outcome.missing} of {outcome.trials} trials"
            partial = f"{name}: {done} are done, the table is of these: `mmc run {name}` does the rest"
            out.print(partial, style="yellow", soft_wrap=True)
        print_table(outcome.table, out)
        tell_failures(outcome, out)


def plot(selection: Selection, places: Places) -> None:
    """Draw the figures again from the store; where it has nothing, say where those of the reference are."""
    out = console()
    for outcome in _recalled(selection, places, out, tables=False):
        name, folder = outcome.config.name, folder_of(places.results, outcome.config)
        if outcome.missing:
            incomplete = f"{name}: {outcome.missing} trials have no record of this code yet: run `mmc run {name}`"
            if not selection.everything:
                raise ConfigError(incomplete)
            out.print(incomplete, style="yellow", soft_wrap=True)
            continue
        for file in outcome.draw(folder) or ["(this config has no figures)"]:
            out.print(f"{folder}/{file}" if "." in file else f"{name}: {file}")


def _recalled(selection: Selection, places: Places, out: Console, tables: bool) -> Iterator[Outcome]:
    """Yield what the store has of each config; print the reference of one of which it has nothing."""
    configs = selection.configs(places.results)
    with Store(places.store if places.store.exists() else None, readonly=True) as store:
        for config in configs:
            try:
                outcome = runner.recall(config, store, places.data_dir)
            except DataAbsent as error:
                if not _reference(config, places, out, tables):
                    if not selection.everything:
                        raise
                    not_run(config, error, out)
                continue
            if outcome.records:
                yield outcome
            elif not _reference(config, places, out, tables):
                nothing = f"{places.store} has no records of {config.name} yet: `mmc run {config.name}` makes them"
                if not selection.everything:
                    raise ConfigError(nothing)
                out.print(nothing, style="yellow", soft_wrap=True)


def _reference(config: Config, places: Places, out: Console, tables: bool) -> bool:
    """Print what is committed of a config, marked as such: the table if wanted, and where the figures are.

    Return whether there is any.
    """
    folder = places.reference(config)
    if not (folder / REFERENCE).exists():
        return False
    commit = last_run(folder).get("commit") or "unknown"
    mark = f"{config.name}: not run here. This is the reference of commit {commit}, from {folder}/"
    out.print(f"{mark}; `mmc run {config.name}` makes your own.", style="yellow", soft_wrap=True)
    if tables:
        print_table(kept_table(config, folder), out)
    for picture in sorted(folder.glob("*.svg")):
        out.print(str(picture), soft_wrap=True)
    return True


def _claims(claims: Sequence[Claim]) -> RichTable:
    grid = RichTable.grid(padding=(0, 1, 0, 0))
    grid.add_column(justify="right", min_width=14)
    for claim in claims:
        grid.add_row(f"{claim.verdict}:", f"{claim.statement}\n{claim.measured}")
    return grid


def print_table(table: Table, out: Console) -> None:
    """Print a table as wide as the console."""
    for part in terminal(table, out.width, spelling(out.encoding)):
        if part:
            out.print(part)
