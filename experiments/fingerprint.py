"""The code that decides a record: the worker's modules, the method's and the solver's, and their libraries' versions.

Read from the source files without importing them, so that a rerun with nothing to do stays quick.
"""

from __future__ import annotations

import hashlib
import re
import sys
from collections.abc import Iterable
from functools import cache
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

from mmc.methods import Method

WORKER = "mmc.experiments.trials"
# Fronts are not followed. A new method or data set changes no fit of another one, and data are in the key by content.
_FRONTS = frozenset({"mmc", "mmc.datasets", "mmc.experiments", "mmc.methods", "mmc.methods.registry", "mmc.plugins"})
DISTRIBUTION = {"sklearn": "scikit-learn"}
_DECIDES_NOTHING = sys.stdlib_module_names | {"pydantic"}  # it checks configs
_STATEMENT = re.compile(r"^[ \t]*(?:from[ \t]+([\w.]+)[ \t]+)?import[ \t]+(\([^)]*\)|[^(\n#;]+)", re.MULTILINE)
_COMMENT = re.compile(r"#.*")
_NAMED = re.compile(r"([\w.]+|\*)(?:\s+as\s+\w+)?")


def fingerprint(method: Method, solver: str) -> dict[str, str]:
    """Return the hash of the source that makes a record of this method with this solver, and its libraries' versions."""
    return {**_fingerprint((WORKER, *method.modules(solver))), **method.identity()}


def details(start: Iterable[str]) -> dict[str, str]:
    """Return the hash of each module that these modules need, and the version of each library."""
    modules, libraries = closure(start)
    return {**{module: _hash(module) for module in modules}, **{library: version(library) for library in libraries}}


@cache
def version(library: str) -> str:
    """Return the installed version of a library, or ``absent``."""
    try:
        return metadata.version(DISTRIBUTION.get(library, library))
    except metadata.PackageNotFoundError:
        return "absent"


def closure(start: Iterable[str]) -> tuple[list[str], list[str]]:
    """Follow the imports of modules inside mmc, lazy ones too; return them all, and the libraries that they import."""
    todo, seen, libraries = list(start), set[str](), set[str]()
    while todo:
        module = todo.pop()
        if module in seen or module in _FRONTS or not _file(module).exists():
            continue
        seen.add(module)
        for name in _imports(module):
            top = name.split(".")[0]
            if top == "mmc":
                todo.append(name)
            elif top not in _DECIDES_NOTHING and version(top) != "absent":
                libraries.add(top)
    return sorted(seen), sorted(libraries)


@cache
def _fingerprint(start: tuple[str, ...]) -> dict[str, str]:
    modules, libraries = closure(start)
    sha = hashlib.sha256()
    for module in modules:
        sha.update(module.encode() + b"\0" + _source(module) + b"\0")
    return {"source": sha.hexdigest()[:16], **{library: version(library) for library in libraries}}


@cache
def _hash(module: str) -> str:
    """Return the hash of a module's source, as it was when it was first asked for: that is what this process runs."""
    return hashlib.sha256(_source(module)).hexdigest()[:16]


@cache
def _source(module: str) -> bytes:
    return _file(module).read_bytes()


@cache
def _imports(module: str) -> frozenset[str]:
    return imported(_source(module).decode("utf-8"))


def imported(source: str) -> frozenset[str]:
    """Return what a source imports. Only its import statements are looked at: to parse the whole takes many times as long."""
    names = set[str]()
    for module, listed in _STATEMENT.findall(source):
        parts = [part.strip() for part in _COMMENT.sub("", listed).strip("() \t\n").split(",")]
        found = [_NAMED.fullmatch(part) for part in parts if part]
        words = [match[1] for match in found if match]
        if len(words) == len(found):  # if not, it is a sentence that begins with this word
            names.update((module, *(f"{module}.{word}" for word in words)) if module else words)
    return frozenset(names)


@cache
def _file(module: str) -> Path:
    """Return where the source of a module would be."""
    front = max((front for front in _FRONTS if f"{module}.".startswith(f"{front}.")), key=len)
    base = _folder(front).joinpath(*module.removeprefix(front).split(".")[1:])
    return base / "__init__.py" if base.is_dir() else base.with_suffix(".py")


@cache
def _folder(front: str) -> Path:
    """Return the folder of a front. Only fronts are imported, to find their folders."""
    spec = find_spec(front)
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent
