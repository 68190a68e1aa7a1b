"""Where the files of the large sets lie: in a folder of the user's, or in the user's cache.

The folder is given by ``data_dir`` (on the command line ``--data-dir``), else by the environment variable MMC_DATA_DIR;
the files lie in a folder of the set's name inside it, or directly in it.
"""

from __future__ import annotations

import os
from pathlib import Path, PurePosixPath

from mmc.datasets.registry import Entry, Part

VARIABLE = "MMC_DATA_DIR"
ENDINGS = ("", ".gz", ".Z")


def absent(entry: Entry, data_dir: Path | None) -> list[Part]:
    """Return the files of a set that are not on this machine."""
    return [part for part in entry.parts if find(entry, part, data_dir) is None]


def find(entry: Entry, part: Part, data_dir: Path | None) -> Path | None:
    """Return where a file of a set lies, None if it is not on this machine."""
    candidates = (place / name for place in places(entry, data_dir) for name in accepted(part))
    return next((path for path in candidates if path.is_file()), None)


def places(entry: Entry, data_dir: Path | None) -> list[Path]:
    """Return the folders in which the files of a set are looked for, in this order."""
    if data_dir is None and os.environ.get(VARIABLE):
        data_dir = Path(os.environ[VARIABLE])
    given = [] if data_dir is None else [data_dir / entry.name, data_dir]
    return [*given, cache() / entry.name]


def cache() -> Path:
    """Return the user's cache folder, where downloads go."""
    from platformdirs import user_cache_path

    return user_cache_path("mmc", appauthor=False)


def accepted(part: Part) -> list[str]:
    """Return the names under which a file is accepted, the archive that it is downloaded in last."""
    return [name + ending for name in (part.file, *part.also) for ending in ENDINGS] + archives(part)


def archives(part: Part) -> list[str]:
    """Return the name of the archive that a file is downloaded in, if any."""
    name = PurePosixPath(part.url).name
    return [name] if name.endswith(".zip") else []
