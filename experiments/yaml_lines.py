"""YAML that remembers its lines, so that an error in a config can point at the place."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml

from mmc.experiments.errors import ConfigError

KeyPath = tuple[str | int, ...]


class _Loader(yaml.SafeLoader):
    """YAML 1.2 floats: 1e-3 is a number, not a string."""


_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(r"^[-+]?(?:\d[\d_]*\.?[\d_]*|\.\d[\d_]*)[eE][-+]?\d+$"),
    list("-+.0123456789"),
)


def read(path: Path) -> tuple[Any, dict[KeyPath, int]]:
    """Return the document and the line of every key in it; raise ConfigError for anything that is not YAML."""
    try:
        text = path.read_text("utf-8")
    except FileNotFoundError:
        raise ConfigError(f"{path}: no such file") from None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: cannot be read: {error}") from None
    loader = _Loader(text)
    lines: dict[KeyPath, int] = {}
    try:
        node = loader.get_single_node()
        if node is None:
            raise ConfigError(f"{path}: the file is empty")
        _walk(node, (), lines, path)
        return loader.construct_document(node), lines
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f"{path}:{mark.line + 1}" if mark else str(path)
        raise ConfigError(f"{where}: not valid YAML: {error.problem}") from None
    except yaml.YAMLError as error:
        raise ConfigError(f"{path}: not valid YAML: {error}") from None
    finally:
        loader.dispose()


def line_of(path: KeyPath, lines: dict[KeyPath, int]) -> int:
    """Return the line of a key, or of the nearest part of the document that contains it."""
    while path and path not in lines:
        path = path[:-1]
    return lines.get(path, 1)


def _walk(node: yaml.Node, path: KeyPath, lines: dict[KeyPath, int], file: Path) -> None:
    lines.setdefault(path, node.start_mark.line + 1)
    if isinstance(node, yaml.MappingNode):
        seen = set()
        for key, value in node.value:
            if key.value in seen:
                raise ConfigError(f"{file}:{key.start_mark.line + 1}: {key.value!r} is given twice; keep one of them")
            seen.add(key.value)
            lines[(*path, key.value)] = key.start_mark.line + 1
            _walk(value, (*path, key.value), lines, file)
    elif isinstance(node, yaml.SequenceNode):
        for index, value in enumerate(node.value):
            _walk(value, (*path, index), lines, file)
