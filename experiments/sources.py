"""The code that decides a record: a method's modules, and the versions of the libraries that they call.

Read from the source files without importing them, so that a rerun with nothing to do stays quick.
"""

from __future__ import annotations

import ast
import hashlib
from functools import cache
from importlib import metadata
from pathlib import Path
from types import ModuleType

import mmc.methods
from mmc.methods import CATALOGUE

_ROOT = Path(mmc.methods.__file__).parent
_PREFIX = "mmc.methods"
_DISTRIBUTION = {"sklearn": "scikit-learn"}


@cache
def fingerprint(method: str, solver: str) -> dict[str, str]:
    """Return the hash of the source that fits this method with this solver, and the versions of its libraries."""
    entry = CATALOGUE[method]
    modules, libraries = _closure((f"{_PREFIX}.{entry.module}", f"{_PREFIX}.solvers.{entry.solvers[solver]}"))
    sha = hashlib.sha256()
    for module in modules:
        sha.update(module.encode() + b"\0" + _file(module).read_bytes() + b"\0")
    return {"source": sha.hexdigest()[:16], **{library: version(library) for library in libraries}}


@cache
def source_of(module: ModuleType) -> str:
    """Return the hash of one module's source."""
    return hashlib.sha256(Path(str(module.__file__)).read_bytes()).hexdigest()[:16]


@cache
def version(library: str) -> str:
    """Return the installed version of a library, or ``absent``."""
    try:
        return metadata.version(_DISTRIBUTION.get(library, library))
    except metadata.PackageNotFoundError:
        return "absent"


def _closure(start: tuple[str, ...]) -> tuple[list[str], list[str]]:
    """Follow the imports of modules inside mmc.methods; return them all, and the libraries that they import.

    The catalogue itself is left out: a new entry in it changes no other method's fits.
    """
    todo, seen, libraries = list(start), set(), set()
    while todo:
        module = todo.pop()
        if module in seen or module == _PREFIX or not _file(module).exists():
            continue
        seen.add(module)
        for name in _imports(module):
            top = name.split(".")[0]
            if name.startswith(_PREFIX):
                todo.append(name)
            elif version(top) != "absent":
                libraries.add(top)
    return sorted(seen), sorted(libraries)


@cache
def _imports(module: str) -> frozenset[str]:
    names = set()
    for node in ast.walk(ast.parse(_file(module).read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return frozenset(names)


def _file(module: str) -> Path:
    base = _ROOT.joinpath(*module.split(".")[2:])
    return base / "__init__.py" if base.is_dir() else base.with_suffix(".py")
