"""Every method by its key: ours, classes of scikit-learn by their public path, and what plugins register.

A key never makes mmc import anything but scikit-learn: `sklearn.MODULE.CLASS` is taken apart here, the module must be one that
scikit-learn lists as public, the class one that this module lists, and what is found must be a classifier of scikit-learn. Every
other key is ours or registered.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module, metadata
from typing import TYPE_CHECKING, cast

from mmc import plugins
from mmc.methods import CATALOGUE, Method
from mmc.plugins import PluginError, Registered
from mmc.words import nearest, nearest_registered

if TYPE_CHECKING:
    from mmc.methods.base import BinaryMethod, PathFitter

SKLEARN = "sklearn."
_NOT_MODULES = frozenset(
    {"clone", "config_context", "experimental", "externals", "get_config", "set_config", "show_versions"}
)


@dataclass(frozen=True)
class Outside(Method):
    """A method from scikit-learn or a plugin; ``registered`` says which plugin."""

    registered: Registered | None = None

    def load(self) -> type[BinaryMethod]:
        """Return the class; raise PluginError where a plugin's cannot be had."""
        kind = _sklearn_class(self.key) if self.registered is None else _plugin_class(self.registered)
        return cast("type[BinaryMethod]", kind)  # or any classifier: `start` knows which

    @property
    def foreign(self) -> bool:
        from mmc.methods.base import BinaryMethod

        return not issubclass(self.load(), BinaryMethod)

    def parameters(self) -> tuple[str, ...]:
        from mmc.methods.outside import parameters_of

        return parameters_of(self.load())

    def start(self, params: Mapping[str, object], seed: int) -> PathFitter:
        from mmc.methods.outside import Adapted

        kind = self.load()
        if not self.foreign:
            return kind(**params)
        return cast("PathFitter", Adapted(kind, params, seed, self.origin))

    def seeded(self, params: Collection[str]) -> bool:
        return "random_state" in self.parameters() and "random_state" not in params

    def modules(self, solver: str) -> tuple[str, ...]:
        return ("mmc.methods.outside",)

    def identity(self) -> dict[str, str]:
        if self.registered is not None:
            return {"origin": self.origin, **_plugin_identity(self.registered)}
        return {"origin": self.origin, "class source": _hash_of_class(self.key)}


class Registry(Mapping[str, Method]):
    """All methods by key. It lists ours and those of plugins; a class of scikit-learn is found by its path too."""

    def __getitem__(self, key: str) -> Method:
        """Return a method; raise KeyError, with a sentence that says why and what to do, where there is none."""
        if key in CATALOGUE:
            return CATALOGUE[key]
        if key.startswith(SKLEARN):
            return _of_sklearn(key)
        found = _registered()
        if key not in found:
            raise KeyError(_unknown(key, [*CATALOGUE, *found]))
        return _of_plugin(found[key])

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and not self.problem(key)

    def __iter__(self) -> Iterator[str]:
        yield from CATALOGUE
        yield from _registered()

    def __len__(self) -> int:
        return len(CATALOGUE) + len(_registered())

    def problem(self, key: str) -> str:
        """Return why there is no method of this key, and what to do; empty if there is one."""
        try:
            self[key]
        except KeyError as error:
            return str(error.args[0])
        except PluginError as error:
            return str(error)
        return ""


METHODS = Registry()


def _registered() -> dict[str, Registered]:
    found = plugins.registered("mmc.methods")
    for key, entry in found.items():
        if key in CATALOGUE:
            raise PluginError(f"{entry.origin} registers {key!r}, which is a method of mmc: it needs another name")
    return found


def _unknown(key: str, known: Collection[str]) -> str:
    if "." in key or ":" in key:
        return (
            f"{key!r} is not registered, and a config never imports code: name a class of scikit-learn by its path, such as "
            "sklearn.ensemble.RandomForestClassifier, install a package that registers it, or use --plugin FILE.py"
        )
    path = (
        f"; classes of scikit-learn are named by their path: sklearn.MODULE.{key}" if key.endswith("Classifier") else ""
    )
    return f"unknown method {key!r}: {nearest_registered(key, known)}{path}"


# -- scikit-learn -------------------------------------------------------------------------------------------------


@cache
def _of_sklearn(key: str) -> Method:
    kind = _sklearn_class(key)
    origin = f"scikit-learn {metadata.version('scikit-learn')}"
    return Outside(key, kind.__name__, kind.__module__, "scikit-learn", _first_line(kind), {}, origin=origin)


@cache
def _sklearn_class(key: str) -> type:
    """Return a public classifier of scikit-learn; raise KeyError with a sentence where the path leads to none."""
    import sklearn

    _, *steps = key.split(".")
    if len(steps) != 2:
        raise KeyError(f"{key!r}: a class of scikit-learn is named sklearn.MODULE.CLASS")
    module, name = steps
    public = [word for word in sklearn.__all__ if word not in _NOT_MODULES]
    if module not in public:
        raise KeyError(f"{key!r}: scikit-learn has no public module {module!r}: {nearest(module, public)}")
    inside = import_module(f"sklearn.{module}")
    listed = getattr(inside, "__all__", None) or [word for word in vars(inside) if not word.startswith("_")]
    known = [word for word in listed if _usable(vars(inside).get(word))]
    found = vars(inside).get(name) if name in listed else None
    if not _usable(found):
        what = "is no classifier" if found is not None else f"is not in sklearn.{module}"
        raise KeyError(f"{key!r}: {name} {what}: {nearest(name, known)}")
    assert isinstance(found, type)
    from mmc.methods.outside import required_of

    if required := required_of(found):
        raise KeyError(
            f"{key!r} is built around {required[0]!r}, which a config cannot give; register it in a --plugin file"
        )
    return found


def _usable(found: object) -> bool:
    """Whether something is a class of scikit-learn that classifies: by what it is, not by what it is called."""
    from sklearn.base import BaseEstimator, ClassifierMixin

    return (
        isinstance(found, type)
        and issubclass(found, ClassifierMixin)
        and issubclass(found, BaseEstimator)
        and not inspect.isabstract(found)
        and found.__module__.partition(".")[0] == "sklearn"
        and sys.modules.get(found.__module__) is not None
    )


@cache
def _hash_of_class(key: str) -> str:
    file = inspect.getsourcefile(_sklearn_class(key))
    return plugins.hash_of(file) if file else ""


# -- plugins ------------------------------------------------------------------------------------------------------


def _of_plugin(entry: Registered) -> Method:
    from mmc.methods import Method as Described

    kind = _plugin_class(entry)
    own = vars(kind).get("entry")
    if isinstance(own, Described):
        facts = own.solvers, own.optimises, own.facts, own.bounds
        return Outside(entry.name, kind.__name__, kind.__module__, own.paper, own.summary, *facts, entry.origin, entry)
    return Outside(
        entry.name,
        kind.__name__,
        kind.__module__,
        entry.origin,
        _first_line(kind),
        {},
        origin=entry.origin,
        registered=entry,
    )


def _plugin_class(entry: Registered) -> type:
    from mmc.methods.outside import is_classifier, required_of

    kind = entry.load()
    if not is_classifier(kind):
        raise PluginError(f"{entry.name!r} of {entry.origin} is no classifier: it must be a class with fit and predict")
    if required := required_of(kind):
        raise PluginError(f"{entry.name!r} of {entry.origin}: its parameter {required[0]!r} needs a default")
    return kind


@cache
def _plugin_identity(entry: Registered) -> dict[str, str]:
    return entry.identity()


def _first_line(kind: type) -> str:
    """Return the first sentence of a class's documentation."""
    text = inspect.getdoc(kind) or ""
    return " ".join(text.partition("\n\n")[0].split()).rstrip(".")
