"""Sets of OpenML and of scikit-learn: a server on this machine, local copies, and no network."""

import hashlib
import json

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import _openml, load_wine

from mmc.datasets import DataError, openml, shipped
from mmc.experiments.engines import opened
from mmc.experiments.errors import ConfigError, DataAbsent
from mmc.experiments.plan import absent, need_no_download, plan
from mmc.experiments.run import run
from mmc.experiments.store import Store
from mmc.experiments.validation import load

ARFF = """\
@RELATION credit
@ATTRIBUTE age NUMERIC
@ATTRIBUTE class {good,bad}
@ATTRIBUTE colour {red,green}
@DATA
""" + "\n".join(f"{20 + i},{'good' if i % 2 else 'bad'},{'red' if i % 3 else 'green'}" for i in range(30))


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """Return the user's cache, empty."""
    folder = tmp_path / "cache"
    monkeypatch.setattr(openml, "cache", lambda: folder)
    monkeypatch.setattr(shipped, "cache", lambda: folder)
    monkeypatch.delenv("MMC_DATA_DIR", raising=False)
    return folder


@pytest.fixture
def online(server, monkeypatch):
    """Serve one set of OpenML on this machine."""
    for name in ("_DATA_INFO", "_DATA_FEATURES", "_DATA_QUALITIES"):
        path = getattr(_openml, name).partition("openml.org/")[2]
        monkeypatch.setattr(_openml, name, server.url + path)
    features = [("age", "numeric"), ("class", "nominal"), ("colour", "nominal")]
    described = [
        {
            "index": str(i),
            "name": name,
            "data_type": kind,
            "is_target": str(name == "class").lower(),
            "is_ignore": "false",
            "is_row_identifier": "false",
            "number_of_missing_values": "0",
        }
        for i, (name, kind) in enumerate(features)
    ]
    info = {
        "id": "31",
        "name": "credit",
        "description": "made up",
        "version": "1",
        "format": "ARFF",
        "status": "active",
        "file_id": "31",
        "default_target_attribute": "class",
        "url": server.url + "data/v1/download/31",
        "md5_checksum": hashlib.md5(ARFF.encode()).hexdigest(),
    }
    api = "api/v1/json/data/"
    server.files = {
        f"{api}31": json.dumps({"data_set_description": info}).encode(),
        f"{api}features/31": json.dumps({"data_features": {"feature": described}}).encode(),
        f"{api}qualities/31": json.dumps({"data_qualities": {"quality": []}}).encode(),
        "data/v1/download/31": ARFF.encode(),
    }
    return server


@pytest.fixture
def offline(monkeypatch):
    """No server answers."""
    for name in ("_DATA_INFO", "_DATA_FEATURES", "_DATA_QUALITIES"):
        monkeypatch.setattr(_openml, name, "http://127.0.0.1:9/{}")


def test_a_set_is_fetched_once(online, cache):
    data = openml.load(31, None, {"encode": True})
    assert data.classes == {"bad": 15, "good": 15}
    assert data.X.shape[0] == 30
    assert "age" in data.feature_names
    asked = len(online.asked)
    again = openml.load(31, None, {"encode": True})
    assert len(online.asked) == asked
    assert again.content_hash == data.content_hash
    assert (cache / "openml" / "31.parquet").is_file()


def test_the_target_can_be_another_column(online):
    assert openml.load(31, None, {"target": "colour", "encode": True}).classes == {"green": 10, "red": 20}


def test_without_a_network_the_message_says_what_to_do(offline, tmp_path):
    with pytest.raises(DataError, match=r"not on this machine.*could not be fetched") as error:
        openml.load(31, tmp_path, {})
    assert str(tmp_path / "openml" / "31.parquet") in str(error.value)


def test_a_number_that_there_is_not(online):
    with pytest.raises(DataError, match="OpenML's data set 32 is not on this machine"):
        openml.load(32, None, {})


def copied(folder):
    folder.mkdir(parents=True)
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=40), "b": rng.normal(size=40), "y": ["u", "v"] * 20})
    frame.to_parquet(folder / "31.parquet", index=False)


STUDY = """\
title: from elsewhere
datasets:
  credit: {openml: 31}
  wine: {sklearn: wine, positive: class_1}
split: {kind: stratified-kfold, folds: 2}
methods: {tree: {method: sklearn.tree.DecisionTreeClassifier}}
"""


def written(tmp_path, text=STUDY):
    path = tmp_path / "study.yaml"
    path.write_text(text)
    return path


def test_a_study_on_a_local_copy_keeps_the_hash(offline, tmp_path):
    copied(tmp_path / "large" / "openml")
    config = load(written(tmp_path, STUDY.replace("  wine: {sklearn: wine, positive: class_1}\n", "")))
    with Store(None) as store, opened(1) as engine:
        outcome = run(config, store, engine, data_dir=tmp_path / "large")
    assert not outcome.failures
    hashes = outcome.provenance["data"]
    assert hashes["credit"] == openml.load(31, tmp_path / "large", {}).content_hash


def test_what_is_not_here_is_absent_before_a_run(offline, tmp_path):
    config = load(written(tmp_path))
    assert absent(config, None) == ["openml 31"]
    with pytest.raises(DataAbsent, match="not on this machine: openml 31; `mmc run` downloads"):
        need_no_download(config, None)
    with pytest.raises(DataAbsent, match="could not be fetched"):
        plan(config)


def test_a_set_of_scikit_learn():
    data = shipped.load("wine")
    assert data.classes == {"class_0": 59, "class_1": 71, "class_2": 48}
    assert np.array_equal(data.X, load_wine().data)
    assert data.feature_names[0] == "alcohol"


@pytest.mark.parametrize("name", shipped.HERE)
def test_all_that_come_with_scikit_learn(name):
    assert len(shipped.load(name).classes) >= 2


def test_one_that_must_be_fetched_says_so(monkeypatch):
    from sklearn.datasets import _covtype

    monkeypatch.setattr(_covtype, "ARCHIVE", _covtype.ARCHIVE._replace(url="http://127.0.0.1:9/x"))
    with pytest.raises(DataError, match="could not be fetched"):
        shipped.load("covtype")


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("sklearn: wine", "sklearn: wien", "did you mean 'wine'?"),
        ("sklearn: wine", "sklearn: wine, target: x", "'target' is not for a set of scikit-learn"),
        ("sklearn: wine", "sklearn: wine, openml: 3", "not several"),
        ("openml: 31", "openml: -1", "openml"),
        ("openml: 31", "openml: 31, options: {n: 3}", "options are for generated data sets"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(tmp_path, old, new, told):
    with pytest.raises(ConfigError) as error:
        load(written(tmp_path, STUDY.replace(old, new)))
    assert told in str(error.value)
    assert f"study.yaml:{3 if 'openml: 31' in old else 4}:" in str(error.value)
