"""The data: a registry of sets by name, vendored files, generators, downloads, and readers for a user's own file.

Nothing heavier than the standard library is imported until a set is loaded.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from mmc.datasets.dataset import DataError, DataSet
from mmc.datasets.loading import fetch, load, verify
from mmc.datasets.registry import REGISTRY, Entry, Option, known

if TYPE_CHECKING:
    from mmc.datasets.files import load_file
    from mmc.datasets.openml import load as load_openml
    from mmc.datasets.shipped import load as load_shipped

__all__ = [
    "REGISTRY",
    "DataError",
    "DataSet",
    "Entry",
    "Option",
    "fetch",
    "known",
    "load",
    "load_file",
    "load_openml",
    "load_shipped",
    "verify",
]
_LAZY = {"load_file": ("files", "load_file"), "load_openml": ("openml", "load"), "load_shipped": ("shipped", "load")}


def __getattr__(name: str) -> object:
    if name in _LAZY:  # they need numpy
        module, function = _LAZY[name]
        found: object = getattr(import_module(f"mmc.datasets.{module}"), function)
        return found
    raise AttributeError(f"module 'mmc.datasets' has no attribute {name!r}")
