"""Saved models: a skops file with facts of our own beside it. Reading one runs no code that the file brings."""

from __future__ import annotations

import io
import json
import warnings
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path
from zipfile import ZIP_DEFLATED, BadZipFile, ZipFile

import skops.io as sio
from pydantic import BaseModel, ConfigDict, ValidationError
from sklearn.base import BaseEstimator
from sklearn.exceptions import InconsistentVersionWarning

from mmc.experiments.own.columns import Column
from mmc.experiments.own.errors import ModelFileError
from mmc.experiments.own.trusted import REFUSED, TRUSTED, types_in, unsound
from mmc.words import near_file

FORMAT = 1
_FACTS, _SCHEMA = "mmc.json", "schema.json"
_LARGEST = 1 << 32  # bytes unpacked: a small file can hide a large one
_PACKAGES = ("max-margin-classifiers", "scikit-learn", "skrub", "numpy", "pandas")


class TableFacts(BaseModel):
    """What a model demands of a table."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    target: str
    id: str | None
    columns: tuple[Column, ...]


class ModelFacts(BaseModel):
    """What a model file says of itself."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: int = FORMAT
    versions: Mapping[str, str]
    classes: tuple[str, ...]
    table: TableFacts | None = None


def save(model: BaseEstimator, path: str | Path, table: TableFacts | None = None) -> None:
    """Save a fitted model, so that ``load`` and ``mmc predict`` can read it without running code of the file.

    Parameters
    ----------
    model : estimator
        A fitted method of mmc, a classifier of scikit-learn, or a pipeline or RateGuarantee of them.
    path : str or Path
        The file to write. It is written whole or not at all.
    table : TableFacts, optional
        What the model demands of a table: ``mmc predict`` needs it.

    Raises
    ------
    ModelFileError
        If the model has a part that a saved model may not have, such as a function of your own.
    """
    path = Path(path)
    data, problem = _dumped(model)
    if problem:
        raise ModelFileError(f"{path}: the model cannot be saved: {problem}")
    facts = ModelFacts(
        versions={name: metadata.version(name) for name in _PACKAGES},
        classes=tuple(map(str, getattr(model, "classes_", ()))),
        table=table,
    )
    with ZipFile(data, "a", ZIP_DEFLATED) as archive:
        archive.writestr(_FACTS, facts.model_dump_json(indent=1))
    partly = path.with_name(path.name + ".part")
    try:
        partly.write_bytes(data.getvalue())
        partly.replace(path)
    except OSError as error:
        raise ModelFileError(f"cannot write {path}: {error.strerror}") from None


def unsaveable(model: BaseEstimator) -> str:
    """Return why a model cannot be saved; empty if it can."""
    return _dumped(model)[1]


def load(path: str | Path) -> BaseEstimator:
    """Return a model that ``save`` or ``mmc fit`` wrote. No code of the file is run: it may come from anyone.

    Parameters
    ----------
    path : str or Path
        The file.

    Returns
    -------
    estimator
        The fitted model.

    Raises
    ------
    ModelFileError
        If the file is no such model, is damaged, comes from a newer mmc, or has a part of a type that is not on the
        fixed list; the message names it.
    """
    return load_with_facts(path)[0]


def load_with_facts(path: str | Path) -> tuple[BaseEstimator, ModelFacts]:
    """Return a model and what its file says of it."""
    path = Path(path)
    _check_kind(path)
    try:
        data = path.read_bytes()
        with ZipFile(io.BytesIO(data)) as archive:
            if sum(member.file_size for member in archive.infolist()) > _LARGEST:
                raise ModelFileError(f"{path} unpacks to more than 4 GiB, which is no model that mmc wrote")
            if archive.testzip() is not None:
                raise BadZipFile
            if not {_FACTS, _SCHEMA} <= set(archive.namelist()):
                raise ModelFileError(f"{path} is an archive, but no model that mmc wrote: save models with mmc.save")
            facts = _facts(path, json.loads(archive.read(_FACTS)))
        if untrusted := _untrusted(data):
            raise ModelFileError(
                f"{path} is refused: it holds {_list(untrusted)}, which a model of mmc may not have. Nothing of it was run"
            )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", InconsistentVersionWarning)  # `outdated` tells it
            model = sio.loads(data, trusted=list(TRUSTED))
        problem = unsound(model)
    except ModelFileError:
        raise
    except Exception:  # a hostile file can break anywhere in its reading
        raise ModelFileError(f"{path} is damaged or cut short; copy it again, or fit the model anew") from None
    if problem or not isinstance(model, BaseEstimator):
        raise ModelFileError(f"{path} is refused: {problem or 'what it holds'} is not what a fit would have made")
    return model, facts


def outdated(facts: ModelFacts) -> list[str]:
    """Return the packages whose versions differ from those that the model was fitted with."""
    here = {name: metadata.version(name) for name in _PACKAGES}
    return [f"{name} {old} (here {here[name]})" for name, old in facts.versions.items() if here.get(name, old) != old]


def _dumped(model: BaseEstimator) -> tuple[io.BytesIO, str]:
    stream = io.BytesIO()
    try:
        stream.write(sio.dumps(model, compression=ZIP_DEFLATED))
        untrusted = _untrusted(stream.getvalue())
    except (TypeError, ValueError, AttributeError) as error:  # skops has no way to write some part
        return stream, str(error)
    return stream, f"a saved model may not have {_list(untrusted)}" if untrusted else ""


def _untrusted(data: bytes) -> set[str]:
    """Return the types in a skops file that are not trusted. Nothing of it is built."""
    with ZipFile(io.BytesIO(data)) as archive:
        refused = set(types_in(json.loads(archive.read(_SCHEMA)))) & REFUSED
    return refused | (set(sio.get_untrusted_types(data=data)) - set(TRUSTED))


def _check_kind(path: Path) -> None:
    if not path.is_file():
        near = near_file(path.name, (file.name for file in path.parent.glob("*.model")))
        raise ModelFileError(f"{path}: no such file{near or '; `mmc fit` writes a model'}")
    with path.open("rb") as file:
        start = file.read(4)
    if start[:2] == b"PK":
        return
    if start[:1] == b"\x80":
        raise ModelFileError(
            f"{path} is a pickle. Reading a pickle can run any code, so mmc does not; save the model with mmc.save"
        )
    raise ModelFileError(f"{path} is {'empty' if not start else 'no model that mmc wrote'}; `mmc fit` writes a model")


def _facts(path: Path, found: object) -> ModelFacts:
    written = found.get("format") if isinstance(found, dict) else None
    if isinstance(written, int) and written > FORMAT:
        raise ModelFileError(
            f"{path} was written by a newer mmc: it has format {written}, this one reads up to {FORMAT}. Update mmc"
        )
    try:
        return ModelFacts.model_validate_json(json.dumps(found), strict=True)
    except ValidationError as error:
        place = ".".join(map(str, error.errors()[0]["loc"]))
        raise ModelFileError(f"{path} is damaged: {_FACTS} has a wrong entry {place!r}") from None


def _list(types: set[str]) -> str:
    shown = sorted(types)
    more = f" and {len(shown) - 3} more" if len(shown) > 3 else ""
    return ", ".join(repr(name) for name in shown[:3]) + more
