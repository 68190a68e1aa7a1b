"""The data: a registry of sets by name, vendored files, generators, downloads, and readers for a user's own file.

Nothing heavier than the standard library is imported until a set is loaded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mmc.datasets.dataset import DataError, DataSet
from mmc.datasets.loading import fetch, load, verify
from mmc.datasets.registry import REGISTRY, Entry, Option, known

if TYPE_CHECKING:
    from mmc.datasets.files import load_file

__all__ = ["REGISTRY", "DataError", "DataSet", "Entry", "Option", "fetch", "known", "load", "load_file", "verify"]


def __getattr__(name: str) -> object:
    if name == "load_file":  # its readers need numpy
        from mmc.datasets.files import load_file

        return load_file
    raise AttributeError(f"module 'mmc.datasets' has no attribute {name!r}")
