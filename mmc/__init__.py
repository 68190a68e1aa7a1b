"""The front door: studies as frames, the estimators by name, and saved models. Nothing heavy is imported until it is asked for."""

from __future__ import annotations

from importlib import import_module

DISTRIBUTION = "max-margin-classifiers"
_ELSEWHERE = {
    "save": "mmc.experiments.own.model_file",
    "load": "mmc.experiments.own.model_file",
    "run": "mmc.experiments.front",
    "load_results": "mmc.experiments.front",
    "list_methods": "mmc.experiments.front",
}


def __getattr__(name: str) -> object:
    if name == "__version__":
        from importlib import metadata  # a quarter of the time that `mmc --help` would take

        return metadata.version(DISTRIBUTION)
    if name in _ELSEWHERE:
        there: object = getattr(import_module(_ELSEWHERE[name]), name)
        return there
    if not name.startswith("_"):
        methods = import_module("mmc.methods")
        if name in methods.__all__:
            found: object = getattr(methods, name)
            return found
    raise AttributeError(f"module 'mmc' has no attribute {name!r}")
