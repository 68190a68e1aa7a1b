"""Downloads of the large sets, by pooch, into the user's cache.

A download is decoded and compared with the registry before it is kept, as plain content gzipped anew: what lies in the
cache is what was verified. A failed download is tried again from its beginning (pooch cannot resume one); files that
are complete stay, so that the next attempt has fewer to fetch.
"""

from __future__ import annotations

import gzip
import logging
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import Protocol

from mmc.datasets.dataset import DataError
from mmc.datasets.finding import ENDINGS, VARIABLE, absent, archives, cache, find, places
from mmc.datasets.originals import content, decode, read_part
from mmc.datasets.registry import Entry, Part

_RETRIES = 2
_CONNECT, _READ = 10, 60  # seconds without an answer


class DownloadBar(Protocol):
    """The display of one download, like tqdm's."""

    @property
    def total(self) -> int | None: ...
    @total.setter
    def total(self, size: int) -> None: ...
    def update(self, n: int, /) -> object: ...
    def reset(self) -> object: ...
    def close(self) -> object: ...


Bars = Callable[[str], DownloadBar]  # from the name of a file


def fetch(entry: Entry, data_dir: Path | None = None, bars: Bars | None = None) -> Iterator[tuple[str, Path, bool]]:
    """Yield (file, where it is, whether it was downloaded now) for each file of a set; raise DataError if one fails."""
    missing = absent(entry, data_dir)
    for part in entry.parts:
        if part not in missing:
            path = find(entry, part, data_dir)
            read_part(entry, part, path)
            assert path is not None
            yield part.file, path, False
    for url in dict.fromkeys(part.url for part in missing):
        wanted = [part for part in missing if part.url == url]
        data = _download(entry, url, data_dir, bars)
        for part in wanted:
            try:
                plain = content(part, data, url)
                decode(entry, part, plain, url)
            except DataError as error:
                raise DataError(f"{error}\n{_by_hand(entry, data_dir)}") from None
            yield part.file, _keep(entry, part, plain), True


def _download(entry: Entry, url: str, data_dir: Path | None, bars: Bars | None) -> bytes:
    import pooch

    file = PurePosixPath(url).name
    logger = pooch.get_logger()
    level = logger.level
    logger.setLevel(logging.WARNING)
    try:
        with tempfile.TemporaryDirectory(prefix="mmc-") as folder:
            downloader = pooch.HTTPDownloader(
                progressbar=bars(file) if bars else False, chunk_size=1 << 16, timeout=(_CONNECT, _READ)
            )
            shelf = pooch.create(folder, "", registry={file: None}, urls={file: url}, retry_if_failed=_RETRIES)
            return Path(shelf.fetch(file, downloader=downloader)).read_bytes()
    except OSError as error:  # all errors of requests are such
        raise DataError(
            f"data set {entry.name!r} is not on this machine, and {url} could not be downloaded "
            f"({_reason(error)})\n{_by_hand(entry, data_dir)}"
        ) from None
    finally:
        logger.setLevel(level)


def _keep(entry: Entry, part: Part, plain: bytes) -> Path:
    path = cache() / entry.name / f"{part.file}.gz"
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        partial.write_bytes(gzip.compress(plain, compresslevel=1, mtime=0))
        partial.replace(path)
    except OSError as error:
        with suppress(OSError):
            partial.unlink()
        raise DataError(f"{path} cannot be written: {error.strerror or error}") from None
    return path


def _by_hand(entry: Entry, data_dir: Path | None) -> str:
    """Return what a user without a network can do, and where the files were looked for."""
    missing = absent(entry, data_dir)
    given = data_dir is not None or os.environ.get(VARIABLE)
    endings = " or ".join(filter(None, ENDINGS))
    lines = [f"missing files (each as it is, or compressed, with the ending {endings}):"]
    for part in missing:
        lines.append(f"  {' or '.join((part.file, *part.also, *archives(part)))}")
    lines.append("folders that were searched:")
    for place in places(entry, data_dir):
        lines.append(f"  {place}" + ("" if place.is_dir() else " (there is no such folder)"))
    if not given:
        lines.append(f"  (--data-dir was not given, and {VARIABLE} is not set)")
    lines.append("to do without this machine's network, download")
    lines += [f"  {url}" for url in dict.fromkeys(part.url for part in missing)]
    lines.append(
        f"elsewhere, put the files into FOLDER/{entry.name} or FOLDER, any folder of yours, and name it by --data-dir FOLDER "
        f"or {VARIABLE}=FOLDER"
    )
    return "\n".join(lines)


def _reason(error: Exception) -> str:
    """Return the innermost cause: that of requests' errors is buried under the names of its own classes."""
    while error.args and isinstance(inner := getattr(error.args[0], "reason", error.args[0]), Exception):
        error = inner
    return str(error.args[-1] if error.args else error) or type(error).__name__
