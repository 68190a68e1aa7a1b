"""What other packages and files bring: methods and data sets, by name.

An installed package registers them by entry points of the groups ``mmc.methods`` and ``mmc.datasets``; a file that the user
names (``--plugin FILE.py``) by its dictionaries ``METHODS`` and ``DATASETS``. Nothing else is ever imported for a config: a
name in it is looked up here, and is never a path to import.
"""

from __future__ import annotations

import ast
import hashlib
import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module, metadata, util
from pathlib import Path
from types import ModuleType
from typing import Literal

Group = Literal["mmc.methods", "mmc.datasets"]
VARIABLE = "MMC_PLUGINS"
_DICTIONARIES: Mapping[Group, str] = {"mmc.methods": "METHODS", "mmc.datasets": "DATASETS"}
_NAME = re.compile(r"[A-Za-z][\w+.-]*")
_loaded: dict[Path, ModuleType] = {}


class PluginError(ValueError):
    """A plugin that cannot be used: the message says which, why, and what to do."""


@dataclass(frozen=True)
class Registered:
    """Something that a plugin brings under a name. It is imported when it is first used.

    ``origin`` says where it comes from; ``file`` is that of a plugin named by the user; ``value`` is an entry point's
    ``module:attribute``, or the key in the file's dictionary.
    """

    name: str
    group: Group
    origin: str
    value: str
    file: Path | None = None
    version: str = ""

    def load(self) -> object:
        """Import and return it; raise PluginError where that fails, whatever the reason."""
        try:
            if self.file is not None:
                return _dictionary(self.file, self.group)[self.value]
            module, _, attributes = self.value.partition(":")
            found: object = import_module(module)
            for attribute in filter(None, attributes.split(".")):
                found = getattr(found, attribute)
            return found
        except PluginError:
            raise
        except Exception as error:  # a plugin's code can fail in any way
            raise PluginError(f"{self.name!r} of {self.origin} cannot be imported: {_said(error)}") from error

    def identity(self) -> dict[str, str]:
        """Return what decides its results: the hash of its source, its version, those of the libraries it imports."""
        files = [self.file] if self.file is not None else _sources(self.value.partition(":")[0])
        sha, libraries = hashlib.sha256(), set[str]()
        for file in files:
            data = file.read_bytes()
            sha.update(file.name.encode() + b"\0" + data + b"\0")
            libraries |= _imported(data)
        versions = {name: _version(name) for name in sorted(libraries)}
        own = {"plugin": self.version} if self.version else {}
        return {**own, "plugin source": sha.hexdigest()[:16], **{k: v for k, v in versions.items() if v}}


def use(files: Iterable[str | Path]) -> None:
    """Load files that the user names, here and in every worker; raise PluginError where one cannot be used."""
    paths = [Path(file).resolve() for file in files]
    for path in paths:
        _module(path)
    if paths:
        known = dict.fromkeys([*_named(), *paths])
        os.environ[VARIABLE] = os.pathsep.join(map(str, known))


def registered(group: Group) -> dict[str, Registered]:
    """Return what is registered, by name; raise PluginError where a name is not one, or there twice."""
    found: dict[str, Registered] = {}
    for entry in (*_installed(group), *_from_files(group)):
        if not _NAME.fullmatch(entry.name) or entry.name.startswith(("sklearn.", "mmc.")):
            raise PluginError(
                f"{entry.origin} registers {entry.name!r}, which is no name: use letters, digits and hyphens"
            )
        if entry.name in found and found[entry.name] != entry:
            raise PluginError(
                f"{entry.name!r} is registered twice, by {found[entry.name].origin} and {entry.origin}: rename one"
            )
        found[entry.name] = entry
    return found


@cache
def _installed(group: Group) -> tuple[Registered, ...]:
    return tuple(
        Registered(
            point.name,
            group,
            f"{point.dist.name} {point.dist.version}" if point.dist else "an installed package",
            point.value,
            version=point.dist.version if point.dist else "",
        )
        for point in metadata.entry_points(group=group)
    )


def _from_files(group: Group) -> Iterator[Registered]:
    for path in _named():
        for name in _dictionary(path, group):
            yield Registered(str(name), group, path.name, str(name), path)


def _named() -> list[Path]:
    """Return the files that the user named, in this process or the one that started it."""
    return [Path(part) for part in os.environ.get(VARIABLE, "").split(os.pathsep) if part]


def _dictionary(path: Path, group: Group) -> Mapping[str, object]:
    found = getattr(_module(path), _DICTIONARIES[group], {})
    if not isinstance(found, Mapping):
        raise PluginError(f"{path}: {_DICTIONARIES[group]} must be a dictionary of names")
    return found


def _module(path: Path) -> ModuleType:
    """Run a plugin's file, once in a process."""
    if path in _loaded:
        return _loaded[path]
    if not path.is_file() or path.suffix != ".py":
        raise PluginError(f"{path}: --plugin needs a Python file; there is none of this name")
    name = f"mmc_plugin_{hashlib.sha256(str(path).encode()).hexdigest()[:12]}"
    spec = util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[name]
        raise PluginError(f"{path} cannot be used: {_said(error)}") from error
    if not any(hasattr(module, word) for word in _DICTIONARIES.values()):
        raise PluginError(f"{path} brings nothing: it needs METHODS or DATASETS, dictionaries of names")
    _loaded[path] = module
    return module


def hash_of(file: str | Path) -> str:
    """Return a short hash of a file's content."""
    return hashlib.sha256(Path(file).read_bytes()).hexdigest()[:16]


@cache
def _sources(module: str) -> list[Path]:
    """Return the source files of the package that a module belongs to, or the module's own."""
    spec = util.find_spec(module.partition(".")[0])
    if spec is None or spec.origin is None:
        return []
    file = Path(spec.origin)
    return sorted(file.parent.rglob("*.py")) if file.name == "__init__.py" else [file]


def _imported(source: bytes) -> set[str]:
    """Return the top names of what a source imports."""
    names = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module.partition(".")[0])
    return names - {"mmc"}


@cache
def _version(library: str) -> str:
    """Return the installed version of what an import names; empty of the standard library."""
    if library in sys.stdlib_module_names:
        return ""
    found = _distributions().get(library, ())
    return ", ".join(f"{name} {metadata.version(name)}" for name in sorted(set(found)))


@cache
def _distributions() -> Mapping[str, list[str]]:
    return metadata.packages_distributions()


def _said(error: Exception) -> str:
    place = f" (line {error.lineno})" if isinstance(error, SyntaxError) else ""
    return f"{type(error).__name__}: {error}{place}"
