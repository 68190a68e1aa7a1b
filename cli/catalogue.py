"""What there is: methods, solvers, data sets, configs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mmc.cli.shell import console
from mmc.datasets import REGISTRY, DataError
from mmc.datasets import verify as verify_one
from mmc.experiments.errors import UserError
from mmc.methods import CATALOGUE, nearest

_WHAT = ("methods", "solvers", "datasets", "configs")


def _table(*heads: str) -> Any:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for head in heads:
        table.add_column(head, overflow="fold")
    return table


def show(what: str) -> None:
    """Print one of the lists."""
    if what not in _WHAT:
        raise UserError(f"there is no list of {what!r}: {nearest(what, _WHAT)}")
    console().print({"methods": _methods, "solvers": _solvers, "datasets": _datasets, "configs": _configs}[what]())


def _methods() -> Any:
    table = _table("key", "class in mmc.methods", "paper", "what it does", "minimises", "parameters")
    for entry in CATALOGUE.values():
        shared = ("kernel", "gamma", "degree", "coef0", "solver", "solver_options", "pos_label")
        own = ", ".join(p for p in entry.parameters() if p not in shared)
        table.add_row(entry.key, entry.name, entry.paper, entry.summary, entry.optimises, own)
    return table


def _solvers() -> Any:
    import ast

    import mmc.methods

    root = Path(mmc.methods.__file__).parent / "solvers"
    table = _table("method", "solver", "what it is")
    for entry in CATALOGUE.values():
        for index, (solver, module) in enumerate(entry.solvers.items()):
            text = ast.get_docstring(ast.parse((root / f"{module}.py").read_text("utf-8"))) or ""
            table.add_row(entry.key, solver + (" (default)" if index == 0 else ""), text.split("\n")[0])
    return table


def _datasets() -> Any:
    table = _table("name", "rows × features", "classes", "kind", "description")
    for entry in REGISTRY.values():
        classes = ", ".join(f"{label} {count}" for label, count in list(entry.classes.items())[:3])
        more = ", …" if len(entry.classes) > 3 else ""
        table.add_row(entry.name, f"{entry.rows} × {entry.features}", classes + more, entry.kind, entry.description)
    return table


def _configs() -> Any:
    from mmc.experiments.config import bundled
    from mmc.experiments.yaml_lines import read

    table = _table("name", "paper", "title")
    for name, path in bundled().items():
        document, _ = read(path)
        table.add_row(name, str(document.get("paper") or ""), str(document.get("title") or ""))
    return table


def show_dataset(name: str) -> None:
    """Print what is known about one data set."""
    if name not in REGISTRY:
        raise UserError(f"unknown data set {name!r}: {nearest(name, REGISTRY)}")
    entry = REGISTRY[name]
    out = console()
    for field in ("name", "description", "source", "licence", "citation"):
        out.print(f"{field + ':':13} {getattr(entry, field)}", soft_wrap=True)
    out.print(f"{'size:':13} {entry.rows} rows × {entry.features} features")
    out.print(f"{'classes:':13} {', '.join(f'{label} {count}' for label, count in entry.classes.items())}")
    out.print(f"{'positive:':13} {entry.positive}")
    if entry.content_hash:
        out.print(f"{'content:':13} sha256 {entry.content_hash}")
    for option, meaning in (entry.options or {}).items():
        out.print(f"{'option:':13} {option} ({meaning.default}): {meaning.meaning}", soft_wrap=True)


def verify(names: list[str] | None, data_dir: Path | None) -> int:
    """Verify data sets; return 1 if one is not what the registry says."""
    out = console()
    wrong = 0
    for name in names or REGISTRY:
        if name not in REGISTRY:
            raise UserError(f"unknown data set {name!r}: {nearest(name, REGISTRY)}")
        try:
            verify_one(name)
        except DataError as error:
            wrong += 1
            out.print(f"✗ {name}: {error}", style="red")
        else:
            out.print(f"✓ {name}")
    return 1 if wrong else 0
