"""What the shell completes: names of configs, methods, data sets and lists. It must be quick, and never fail."""

from __future__ import annotations

from pathlib import Path

_PATHS = ("sklearn.ensemble.RandomForestClassifier", "sklearn.linear_model.LogisticRegression", "sklearn.svm.SVC")


def configs(incomplete: str) -> list[str]:
    """Return the bundled configs, and the YAML files of the folder that is being typed."""
    from mmc.experiments.config import bundled

    typed = Path(incomplete)
    folder = typed if incomplete.endswith("/") else typed.parent
    try:
        files = sorted(str(path) for path in folder.glob("*.y*ml"))
    except OSError:
        files = []
    return _beginning(incomplete, [*bundled(), *files])


def methods(incomplete: str) -> list[str]:
    """Return the keys of all methods, and the paths of a few others."""
    from mmc.methods import CATALOGUE
    from mmc.plugins import PluginError, registered

    try:
        outside = list(registered("mmc.methods"))
    except PluginError:
        outside = []
    return _beginning(incomplete, [*CATALOGUE, *outside, *_PATHS])


def datasets(incomplete: str) -> list[str]:
    """Return the names of all data sets."""
    from mmc.datasets.registry import REGISTRY, known
    from mmc.plugins import PluginError

    try:
        return _beginning(incomplete, list(known()))
    except PluginError:
        return _beginning(incomplete, list(REGISTRY))


def lists(incomplete: str) -> list[str]:
    """Return what `mmc list` can show."""
    return _beginning(incomplete, ["methods", "solvers", "datasets", "configs"])


def formats(incomplete: str) -> list[str]:
    """Return the formats of `mmc export`."""
    return _beginning(incomplete, ["csv", "parquet", "xlsx", "latex", "markdown"])


def _beginning(incomplete: str, words: list[str]) -> list[str]:
    return [word for word in words if word.startswith(incomplete)]
