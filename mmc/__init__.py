"""The front door: the estimators by name. Nothing heavy is imported until it is asked for."""

from __future__ import annotations

from importlib import import_module, metadata

DISTRIBUTION = "max-margin-classifiers"


def __getattr__(name: str) -> object:
    if name == "__version__":
        return metadata.version(DISTRIBUTION)
    if not name.startswith("_"):
        methods = import_module("mmc.methods")
        if name in methods.__all__:
            found: object = getattr(methods, name)
            return found
    raise AttributeError(f"module 'mmc' has no attribute {name!r}")
