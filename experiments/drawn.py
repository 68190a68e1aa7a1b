"""Figures that need not be drawn again: a note beside them says what they were made of."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path

from mmc.experiments import files
from mmc.experiments.fingerprint import version
from mmc.experiments.results import Results

NOTE = ".figures.json"


def kept(results: Results, folder: Path, draw: Callable[[Path], list[str]]) -> list[str]:
    """Return the names of the figures in a folder; ``draw`` them unless those of the same records and code are there."""
    note, made_of = folder / NOTE, _made_of(results)
    try:
        known = json.loads(note.read_text("utf-8"))
        names = [str(name) for name in known["files"]]
        same = known["of"] == made_of and all((folder / name).is_file() for name in names)
    except (OSError, ValueError, KeyError, TypeError):
        same = False
    if not same:
        names = draw(folder)
        files.write(note, json.dumps({"of": made_of, "files": names}))
    return names


def _made_of(results: Results) -> str:
    """Return a hash of the config, of which records there are, and of the code that shows them."""
    sha = hashlib.sha256(results.config.experiment.model_dump_json().encode())
    for key, record in sorted(results.records.items()):
        sha.update(f"{key} {record.status}\n".encode())
    for source in sorted(Path(__file__).parent.rglob("*.py")):
        sha.update(source.read_bytes())
    sha.update(f"{version('matplotlib')} {version('numpy')}".encode())
    return sha.hexdigest()
