"""The verb that compares: run anew, and say which cells moved from the committed reference."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress

from rich import box
from rich.console import Console
from rich.table import Table as RichTable

from mmc.cli.choices import Places, Power, Selection
from mmc.cli.progress import Display
from mmc.cli.shell import console, resumable
from mmc.cli.verbs import close, not_run, tell_failures
from mmc.experiments import run as runner
from mmc.experiments.cells import Table
from mmc.experiments.check import Change, compare
from mmc.experiments.config import Config
from mmc.experiments.engines.base import Engine
from mmc.experiments.errors import ConfigError, DataAbsent
from mmc.experiments.folders import folder_of
from mmc.experiments.outcome import Outcome
from mmc.experiments.plan import need_no_download
from mmc.experiments.reference import read_reference, write_reference
from mmc.experiments.store import Store
from mmc.methods.registry import METHODS

_SHOWN = 30


def check(selection: Selection, places: Places, power: Power) -> int:
    """Run configs anew and compare with their references; return 1 if any cell moved."""
    out = console()
    moved = 0
    configs = selection.configs(places.results)
    with Display(out, configs) as watch, power.engine(watch) as engine:
        with Store(None) as nothing:
            watch.expect(places.outlook(configs, nothing))
        for config in _here(watch, selection, places, out):
            folder = places.reference(config)
            reference = read_reference(folder_of(folder.parent, config))
            with Store(None) as store:
                outcome = _run(config, store, engine, places, watch)
            changes = compare(outcome.table, reference)
            moved += len(changes)
            _tell(config, outcome.table, changes, out)
            if changes:
                hint = f"If this is meant: `mmc check {config.name} --update` makes the reference and its tables anew; commit them."
                out.print(hint, soft_wrap=True)
            tell_failures(outcome, out)
    close(selection, "check", configs, watch, out)
    return 1 if moved else 0


@resumable()
def update(selection: Selection, places: Places, power: Power) -> int:
    """Write the references, with tables and figures, from the user's own runs, and print what moved; what runs lack is run first.

    Return 1 if a trial failed: then there is no reference.
    """
    out = console()
    failed = 0
    configs = selection.configs(places.results)
    with (
        Store(places.store) as store,
        Display(out, configs) as watch,
        power.engine(watch) as engine,
    ):
        watch.expect(places.outlook(configs, store))
        for config in _here(watch, selection, places, out):
            folder = folder_of(places.references, config)
            outcome = _run(config, store, engine, places, watch)
            if outcome.failures:
                tell_failures(outcome, out)
                failed += 1
                continue
            with suppress(ConfigError):  # there is none yet, or one of another form
                _tell(config, outcome.table, compare(outcome.table, read_reference(folder)), out)
            write_reference(outcome.table, folder)
            outcome.write(folder)
            outcome.draw(folder)
            out.print(f"{config.name}: reference written to {folder}/, {len(outcome.table.cells)} cells")
    close(selection, "check", configs, watch, out)
    return 1 if failed else 0


def _here(watch: Display, selection: Selection, places: Places, out: Console) -> Iterator[Config]:
    """Yield the configs whose data are on this machine; one that is missing in ``--all`` is reported and skipped."""
    for config in watch.each():
        try:
            if selection.everything:
                need_no_download(config, places.data_dir)
        except DataAbsent as error:
            not_run(config, error, out)
        else:
            yield config


def _run(config: Config, store: Store, engine: Engine, places: Places, watch: Display) -> Outcome:
    earlier = places.earlier(config)
    return runner.run(config, store, engine, data_dir=places.data_dir, watch=watch, earlier=earlier)


def _tell(config: Config, table: Table, changes: Sequence[Change], out: Console) -> None:
    """Print which cells moved."""
    if not changes:
        out.print(f"{config.name}: {len(table.cells)} cells, none moved")
        return
    out.print(f"{config.name}: {len(changes)} of {len(table.cells)} cells moved", style="red bold")
    listed = _moved(changes[:_SHOWN], table)
    if out.measure(listed, options=out.options.update(width=1000)).maximum <= out.width:
        out.print(listed)
    else:
        out.print("\n".join(f"  {change}" for change in changes[:_SHOWN]))
    if len(changes) > _SHOWN:
        out.print(f"… and {len(changes) - _SHOWN} more")
    for line in _pointers(config, table, changes):
        out.print(line, soft_wrap=True)


def _moved(changes: Sequence[Change], table: Table) -> RichTable:
    names = [name for name in changes[0].keys if len({str(cell.keys.get(name, "")) for cell in table.cells}) > 1]
    out = RichTable(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in (*names, ""):
        out.add_column(name, no_wrap=True)
    reported = any(change.reported for change in changes)
    for name in ("before", "after", "moved by", "allowed", *(["reported"] if reported else [])):
        out.add_column(name, justify="right", no_wrap=True)
    for change in changes:
        by = "" if change.moved is None else f"{change.moved:+.3g}"
        place = (*(change.keys.get(name, "") for name in names), change.metric)
        numbers = (change.before, change.after, by, f"{change.tolerance:.2g}", change.reported)
        out.add_row(*place, *numbers[: 5 if reported else 4])
    return out


def _pointers(config: Config, table: Table, changes: Sequence[Change]) -> Iterator[str]:
    """Yield where to look."""
    moved = Counter(change.keys["method"] for change in changes)
    total = Counter(str(cell.keys["method"]) for cell in table.cells)
    for label, spec in config.experiment.methods.items():
        entry = METHODS[spec.method]
        solver = f"solver {spec.params.get('solver') or entry.solver}" if entry.solvers else entry.origin
        counted = f"{moved[label]} of {total[label]} cells moved" if moved[label] else "none moved"
        yield f"  {label} ({spec.method}, {solver}): {counted}"
