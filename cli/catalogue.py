"""What there is: methods, solvers, data sets, configs."""

from __future__ import annotations

from pathlib import Path

from rich import box
from rich.table import Table

from mmc.cli.downloads import Downloads
from mmc.cli.shell import console, resumable
from mmc.datasets import DataError, Entry, known
from mmc.datasets import fetch as fetch_one
from mmc.datasets import verify as verify_one
from mmc.datasets.finding import absent, find
from mmc.experiments.errors import UserError
from mmc.methods.registry import METHODS
from mmc.words import nearest

_WHAT = ("methods", "solvers", "datasets", "configs")


def _table(*heads: str, whole: int = 1) -> Table:
    """Return an empty table; the first ``whole`` columns are names to copy, which are never broken."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, caption_justify="left", caption_style="dim")
    for index, head in enumerate(heads):
        table.add_column(head, overflow="fold", no_wrap=index < whole)
    return table


def show(what: str | None, data_dir: Path | None = None) -> None:
    """Print one of the lists, or which lists there are; ``data_dir`` is where large data sets are looked for."""
    if what is None:
        console().print(_lists())
        return
    if what not in _WHAT:
        raise UserError(f"there is no list of {what!r}: {nearest(what, _WHAT)}")
    lists = {"methods": _methods, "solvers": _solvers, "datasets": lambda: _datasets(data_dir), "configs": _configs}
    console().print(lists[what]())


def _lists() -> Table:
    from mmc.experiments.config import bundled

    pairs = {(key, solver) for key, entry in METHODS.items() for solver in entry.solvers}
    counts = (len(METHODS), len(pairs), len(known()), len(bundled()))
    holds = (
        "classifiers of the papers, and from plugins",
        "algorithms, for each method",
        "data sets by name; a file of yours needs none",
        "tables and figures of the papers, and studies",
    )
    table = _table("command", "", "what it lists", whole=2)
    for what, count, text in zip(_WHAT, counts, holds, strict=True):
        table.add_row(f"mmc list {what}", str(count), text)
    return table


def _methods() -> Table:
    table = _table("key", "class", "from", "what it does", "parameters", whole=3)
    table.caption = (
        "all but lda also take kernel, gamma, degree and coef0; all take solver, solver_options and pos_label\n"
        "scikit-learn's classifiers are named by their path, such as sklearn.ensemble.RandomForestClassifier\n"
        "min d_w / d_b: the ratio that it minimises (Gu & Guo, section 2; `mmc run mmrm_framework`)"
    )
    for entry in METHODS.values():
        shared = ("kernel", "gamma", "degree", "coef0", "solver", "solver_options", "pos_label")
        own = ", ".join(p for p in entry.parameters() if p not in shared)
        minimises = f", min {entry.optimises}" if entry.optimises else ""
        paper = f" ({entry.paper}{minimises})" if entry.paper != entry.origin else ""
        table.add_row(entry.key, entry.name, entry.origin, f"{entry.summary}{paper}", own)
    return table


def _solvers() -> Table:
    import ast
    from importlib.util import find_spec

    table = _table("method", "solver", "what it is", whole=2)
    for entry in METHODS.values():
        for index, (solver, module) in enumerate(entry.solvers.items()):
            spec = find_spec(module if "." in module else f"mmc.methods.solvers.{module}")
            source = Path(spec.origin).read_text("utf-8") if spec is not None and spec.origin else ""
            text = ast.get_docstring(ast.parse(source)) or ""
            table.add_row(entry.key, solver + (" (default)" if index == 0 else ""), text.split("\n")[0])
    return table


def _datasets(data_dir: Path | None) -> Table:
    table = _table("name", "size", "classes", "kind", "from", "description", whole=2)
    table.caption = "size: rows × features; `mmc data show NAME` tells the classes, the source and the licence"
    for entry in known().values():
        kind: str = entry.kind
        if kind == "large":
            kind += ", not here" if absent(entry, data_dir) else ", here"
        size = f"{entry.rows} × {entry.features}" if entry.rows else "–"
        classes = str(len(entry.classes)) if entry.classes else "–"
        table.add_row(entry.name, size, classes, kind, entry.origin, entry.description)
    return table


def _configs() -> Table:
    from mmc.experiments.config import bundled
    from mmc.experiments.yaml_lines import read

    table = _table("name", "paper", "title", "")
    table.caption = "long: more than ten minutes; `mmc run --all` leaves these out without --long"
    for name, path in bundled().items():
        document, _ = read(path)
        long = "long" if document.get("long") else ""
        table.add_row(name, str(document.get("paper") or ""), str(document.get("title") or ""), long)
    return table


def show_dataset(name: str, data_dir: Path | None) -> None:
    """Print what is known about one data set."""
    entry = _entry(name)
    out = console()
    for field in ("name", "description", "source", "licence", "citation"):
        out.print(f"{field + ':':13} {getattr(entry, field)}", soft_wrap=True)
    out.print(f"{'size:':13} {entry.rows} rows × {entry.features} features")
    if entry.n_train:
        out.print(f"{'training:':13} the first {entry.n_train} rows")
    out.print(f"{'classes:':13} {', '.join(f'{label} {count}' for label, count in entry.classes.items())}")
    out.print(f"{'positive:':13} {entry.positive}")
    if entry.content_hash:
        out.print(f"{'content:':13} sha256 {entry.content_hash}")
    for part in entry.parts:
        out.print(f"{'file:':13} {find(entry, part, data_dir) or f'{part.file}, not here: {part.url}'}", soft_wrap=True)
    for option, meaning in (entry.options or {}).items():
        out.print(f"{'option:':13} {option} ({meaning.default}): {meaning.meaning}", soft_wrap=True)


@resumable()
def fetch(names: list[str] | None, data_dir: Path | None) -> None:
    """Download what is missing of large data sets, and say where everything is."""
    out = console()
    for name in names or [name for name, entry in known().items() if entry.kind == "large"]:
        if _entry(name).kind != "large":
            out.print(f"{name}: comes with the package, or is generated; there is nothing to fetch")
            continue
        with Downloads() as bars:
            for file, path, new in fetch_one(name, data_dir, bars):
                out.print(f"{name}: {file} {'fetched to' if new else 'is here already:'} {path}", soft_wrap=True)


def verify(names: list[str] | None, data_dir: Path | None) -> int:
    """Verify data sets; return 1 if one is not what the registry says. A large set may be absent."""
    out = console()
    wrong = 0
    for name in names or known():
        if absent(_entry(name), data_dir):
            out.print(f"– {name}: not on this machine; `mmc data fetch {name}` downloads it")
            continue
        try:
            verify_one(name, data_dir)
        except DataError as error:
            wrong += 1
            out.print(f"✗ {name}: {error}", style="red", soft_wrap=True)
        else:
            out.print(f"✓ {name}")
    return 1 if wrong else 0


def _entry(name: str) -> Entry:
    sets = known()
    if name not in sets:
        raise UserError(f"unknown data set {name!r}: {nearest(name, sets)}")
    return sets[name]
