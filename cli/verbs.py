"""The verbs that work on configs: run, validate, show, check."""

from __future__ import annotations

import logging
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from mmc.cli.progress import Display
from mmc.cli.shell import console
from mmc.experiments import render
from mmc.experiments import run as runner
from mmc.experiments.cells import Table
from mmc.experiments.check import Change, compare
from mmc.experiments.claims import Claim
from mmc.experiments.config import Config, bundled
from mmc.experiments.engine import engine
from mmc.experiments.errors import ConfigError, DataAbsent, TrialError
from mmc.experiments.plan import absent, need_no_download, plan
from mmc.experiments.reference import read_reference, write_reference
from mmc.experiments.store import Store
from mmc.experiments.validation import check_figures, load
from mmc.experiments.values import check_values
from mmc.methods import CATALOGUE

_SHOWN = 30
_log = logging.getLogger("mmc")
_log.setLevel(logging.INFO)


class _Told(logging.Handler):
    """Prints to what stderr is at the moment: a live display stands in for it to stay below."""

    def emit(self, record: logging.LogRecord) -> None:
        print(self.format(record), file=sys.stderr)


_log.addHandler(_Told())


def _configs(names: list[str] | None, everything: bool) -> list[Config]:
    if everything:
        names = [*bundled(), *(names or [])]
    if not names:
        raise ConfigError("name a config, such as breast_cancer, or use --all; `mmc list configs` shows them")
    return [load(name) for name in dict.fromkeys(names)]


def _short(verb: str, names: list[str] | None, everything: bool, long: bool) -> tuple[list[Config], str]:
    """Return the configs without those that ``--all`` alone leaves out, and a line that names these."""
    configs = _configs(names, everything)
    if not everything or long:
        return configs, ""
    away = [c.name for c in configs if c.experiment.long and c.name not in (names or ())]
    how = f"`mmc {verb} --all --long` takes them in, `mmc {verb} NAME` runs one"
    line = f"left out, because they take more than ten minutes each: {', '.join(away)}; {how}"
    return [c for c in configs if c.name not in away], line if away else ""


def run(
    names: list[str] | None,
    everything: bool,
    jobs: int,
    fresh: bool,
    results: Path,
    data_dir: Path | None,
    long: bool = False,
) -> None:
    """Run configs one after the other; each table is printed and written as soon as it is there.

    Of all of them (``everything``), one whose data cannot be had is told, and is no failure.
    """
    configs, left_out = _short("run", names, everything, long)
    out = console()
    troubles = []
    with Store(results / runner.STORE) as store, Display(out, configs, results) as watch:
        for config in watch.each():
            try:
                outcome = runner.run(config, store, engine(jobs), fresh=fresh, data_dir=data_dir, watch=watch)
            except (ConfigError, TrialError) as error:
                if everything and isinstance(error, DataAbsent):
                    _print(runner.Outcome(config, [], {}).table, out)
                    _not_run(config, error, out)
                else:
                    troubles.append(f"{config.name}: {error}" if len(configs) > 1 else str(error))
                continue
            folder = results / config.name
            files = outcome.write(folder, store.provenance(config.name))
            _print(outcome.table, out)
            out.print(_claims(outcome.claims))
            files += outcome.draw(folder)
            out.print(f"written to {folder}/: {', '.join(files)}\n", style="dim")
    if len(configs) > 1:
        out.print(watch.closing(), soft_wrap=True)
    if left_out:
        out.print(left_out, style="yellow", soft_wrap=True)
    if troubles:
        raise ConfigError("\n".join(troubles))


def _not_run(config: Config, error: DataAbsent, out: Any) -> None:
    out.print(f"{config.name}: not run: {str(error).splitlines()[0]}\n", style="yellow", soft_wrap=True)


def validate(names: list[str] | None, everything: bool) -> None:
    """Check configs and say how much work each is."""
    for config in _configs(names, everything):
        check_values(config)
        if away := absent(config, None):
            console().print(f"{config.file}: ok, but not on this machine: {', '.join(away)}", soft_wrap=True)
            continue
        units = plan(config)
        check_figures(config, units)
        console().print(f"{config.file}: ok, {sum(len(u.trials) for u in units)} trials", soft_wrap=True)


def show(names: list[str] | None, everything: bool, results: Path, data_dir: Path | None) -> None:
    """Print the tables from the store."""
    for outcome in _recalled(names, everything, results, data_dir):
        _print(outcome.table, console())


def plot(names: list[str] | None, everything: bool, results: Path, data_dir: Path | None) -> None:
    """Draw the figures again from the store."""
    for outcome in _recalled(names, everything, results, data_dir):
        name, folder = outcome.config.name, results / outcome.config.name
        if outcome.missing:
            incomplete = f"{name}: {outcome.missing} trials have no record of this code yet: run `mmc run {name}`"
            if not everything:
                raise ConfigError(incomplete)
            console().print(incomplete, style="yellow", soft_wrap=True)
            continue
        for file in outcome.draw(folder) or ["(this config has no figures)"]:
            console().print(f"{folder}/{file}" if "." in file else f"{name}: {file}")


def _recalled(
    names: list[str] | None, everything: bool, results: Path, data_dir: Path | None
) -> Iterator[runner.Outcome]:
    configs = _configs(names, everything)
    if not (results / runner.STORE).exists():
        raise ConfigError(f"there is no store in {results}/ yet: `mmc run {configs[0].name}` makes it")
    with Store(results / runner.STORE) as store:
        for config in configs:
            try:
                outcome = runner.recall(config, store, data_dir)
            except DataAbsent as error:
                if not everything:
                    raise
                _not_run(config, error, console())
                continue
            if outcome.records:
                yield outcome
                continue
            nothing = f"the store has no records of {config.name} yet: `mmc run {config.name}` makes them"
            if not everything:
                raise ConfigError(nothing)
            console().print(nothing, style="yellow", soft_wrap=True)


def check(
    names: list[str] | None,
    everything: bool,
    jobs: int,
    update: bool,
    results: Path,
    data_dir: Path | None,
    long: bool = False,
) -> int:
    """Run configs anew and compare with their references; return 1 if any cell moved. An update takes the store's."""
    out = console()
    moved = 0
    configs, left_out = _short("check", names, everything, long)
    with Display(out, configs, results) as watch:
        for config in watch.each():
            try:
                if everything:
                    need_no_download(config, data_dir)
                reference = None if update else read_reference(results / config.name)
                with Store(results / runner.STORE if update else None) as store:
                    table = runner.run(config, store, engine(jobs), data_dir=data_dir, watch=watch).table
            except DataAbsent as error:
                if not everything:
                    raise
                _not_run(config, error, out)
                continue
            if reference is None:
                write_reference(table, results / config.name)
                out.print(f"{config.name}: reference written, {len(table.cells)} cells")
                continue
            changes = compare(table, reference)
            moved += len(changes)
            _tell(config, table, changes, out)
    if len(configs) > 1:
        out.print(watch.closing(), soft_wrap=True)
    if left_out:
        out.print(left_out, style="yellow", soft_wrap=True)
    return 1 if moved else 0


def _tell(config: Config, table: Table, changes: Sequence[Change], out: Any) -> None:
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


def _moved(changes: Sequence[Change], table: Table) -> Any:
    from rich import box
    from rich.table import Table as RichTable

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
    """Yield where to look, and what to do if it was meant."""
    moved = Counter(change.keys["method"] for change in changes)
    total = Counter(str(cell.keys["method"]) for cell in table.cells)
    for label, spec in config.experiment.methods.items():
        solver = spec.params.get("solver") or next(iter(CATALOGUE[spec.method].solvers))
        counted = f"{moved[label]} of {total[label]} cells moved" if moved[label] else "none moved"
        yield f"  {label} ({spec.method}, solver {solver}): {counted}"
    name = config.name
    yield f"If this is meant: `mmc run {name}` makes the table anew, `mmc check {name} --update` its reference; commit both."


def _claims(claims: Sequence[Claim]) -> Any:
    from rich.table import Table as RichTable

    grid = RichTable.grid(padding=(0, 1, 0, 0))
    grid.add_column(justify="right", min_width=14)
    for claim in claims:
        grid.add_row(f"{claim.verdict}:", f"{claim.statement}\n{claim.measured}")
    return grid


def _print(table: Table, out: Any) -> None:
    for part in render.terminal(table, out.width):
        if part:
            out.print(part)
