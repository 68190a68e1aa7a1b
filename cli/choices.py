"""What the options of the verbs say, as objects: which configs, where the files are, who does the work."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from mmc.cli.progress import Display
from mmc.experiments import run as runner
from mmc.experiments.config import Config, bundled
from mmc.experiments.engines import opened
from mmc.experiments.engines.base import Engine, Tell
from mmc.experiments.errors import ConfigError, UserError
from mmc.experiments.escape import file_name
from mmc.experiments.folders import OWN, REFERENCE, REFERENCES, STORE, earlier_seconds, own_study, packaged
from mmc.experiments.store import Store
from mmc.experiments.validation import load


@dataclass(frozen=True)
class Selection:
    """Which configs: those that are named, or all bundled ones; without ``long``, the long ones only if named."""

    names: tuple[str, ...] = ()
    everything: bool = False
    long: bool = True

    def configs(self, results: Path | None = None) -> list[Config]:
        """Return the configs, long ones left out as said; raise ConfigError if there is none.

        A name that is no file and not bundled may be that of a study that was run before: ``results`` has its folder.
        """
        if not self.names and not self.everything:
            raise ConfigError("name a config, such as breast_cancer, or use --all; `mmc list configs` shows them")
        named = [_study(name, results) for name in self.names]
        every = [load(name) for name in dict.fromkeys([*(bundled() if self.everything else ()), *named])]
        return [config for config in every if not self._away(config)]

    def left_out(self, verb: str) -> str:
        """Return a line that names the configs that ``--all`` alone leaves out; empty if there are none."""
        away = [config.name for config in map(load, bundled() if self.everything else ()) if self._away(config)]
        how = f"`mmc {verb} --all --long` takes them in, `mmc {verb} NAME` runs one"
        return f"left out, because they take more than ten minutes each: {', '.join(away)}; {how}" if away else ""

    def _away(self, config: Config) -> bool:
        return self.everything and not self.long and config.experiment.long and config.name not in self.names


def _study(name: str, results: Path | None) -> str:
    """Return the file of a study that was run before, if that is what a name means; else the name."""
    if results is None or name in bundled() or Path(name).suffix in (".yaml", ".yml") or Path(name).exists():
        return name
    return str(own_study(results, name) or name)


@dataclass(frozen=True)
class Places:
    """Where things are: the user's own runs, the references that are committed, the large data sets."""

    results: Path = OWN
    references: Path = REFERENCES
    data_dir: Path | None = None

    @property
    def store(self) -> Path:
        return self.results / STORE

    def reference(self, config: Config) -> Path:
        """Return the folder of a config's committed results: that of ``references``, else what came with the package."""
        named = self.references / file_name(config.name)
        ours = packaged() / file_name(config.name)
        bundle = config.name in bundled() and config.file.resolve() == bundled()[config.name].resolve()
        return ours if bundle and not (named / REFERENCE).exists() and (ours / REFERENCE).exists() else named

    def earlier(self, config: Config) -> dict[str, float]:
        """Return what units of a config took before, here or when the reference was made."""
        return dict(earlier_seconds(config, self.results, self.reference(config).parent))

    def outlook(self, configs: list[Config], store: Store) -> list[float | None]:
        """Return the seconds of fitting that each of several configs still takes."""
        return [self._seconds(config, store) for config in configs] if len(configs) > 1 else []

    def _seconds(self, config: Config, store: Store) -> float | None:
        try:
            return runner.seconds_left(config, store, self.data_dir, self.earlier(config))
        except UserError:  # it is told when it is this config's turn
            return 0.0


@dataclass(frozen=True)
class Power:
    """Who does the work: so many processes of this machine (None: one per core), or a cluster."""

    jobs: int | None = None
    cluster: str | None = None

    @contextmanager
    def engine(self, display: Display) -> Iterator[Engine]:
        tell: Tell = display.workers
        with opened(self.jobs, self.cluster, tell) as engine:
            yield engine
