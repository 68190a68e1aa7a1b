"""Where data come from: what the config says of a registered set is done, and errors can travel."""

import os
import pickle
from pathlib import Path

import pytest

from mmc.experiments.dataspec import DataSpec
from mmc.experiments.errors import ConfigError, PlaceError
from mmc.experiments.plan import plan
from mmc.experiments.sources import source_of
from mmc.experiments.validation import load


def source(spec, seed=0, draw=0):
    return source_of("set", DataSpec(**spec), Path(), None, seed, draw)


def test_missing_cells_of_a_registered_set():
    dropped, imputed = (source({"name": "heart_cleveland", "missing": way}).load() for way in ("drop", "impute"))
    assert len(imputed.y) == len(dropped.y) + dropped.dropped == 303
    with pytest.raises(ConfigError, match="missing"):
        source({"name": "heart_cleveland", "missing": "error"}).load()


def test_the_seed_and_the_draw_decide_a_generated_set():
    spec = {"name": "two_norm", "options": {"n_pos": 20, "n_neg": 20}}
    first, again, other, next_draw = (source(spec, *at).load().content_hash for at in ((1, 0), (1, 0), (2, 0), (1, 1)))
    assert first == again
    assert len({first, other, next_draw}) == 3
    fixed = {**spec, "options": {**spec["options"], "seed": 5}}
    assert source(fixed, 1).load().content_hash == source(fixed, 2).load().content_hash


def test_a_source_is_loaded_once():
    assert source({"name": "pima"}).load() is source({"name": "pima"}).load()


def test_an_error_comes_back_from_a_worker_as_it_was():
    error = pickle.loads(pickle.dumps(PlaceError(("datasets", 1), "wrong")))
    assert (str(error), error.place) == ("wrong", ("datasets", 1))


@pytest.mark.parametrize(
    "changed",
    [
        {"mine: {file: points.csv, target: kind}": "mine: {file: DEVICE, target: kind}"},
        {"target: kind}": "target: kind, knowledge: DEVICE}"},
        {"table: {}": "table: {}\nreported: {file: DEVICE, source: nowhere}"},
    ],
    ids=["points", "knowledge", "reported"],
)
@pytest.mark.parametrize("device", ["/dev/zero", "pipe.csv"])
def test_a_device_and_a_pipe_are_no_files(tmp_path, changed, device):
    """One never ends, the other never begins."""
    (tmp_path / "points.csv").write_text("u,v,kind\n" + "".join(f"{i},{i * i % 7},{'ab'[i % 2]}\n" for i in range(12)))
    (tmp_path / "reported").mkdir()
    for folder in (tmp_path, tmp_path / "reported"):
        os.mkfifo(folder / "pipe.csv")
    text = "title: t\ndatasets:\n  mine: {file: points.csv, target: kind}\nmethods: {L: {method: lda}}\ntable: {}\n"
    for old, new in changed.items():
        text = text.replace(old, new.replace("DEVICE", device))
    (tmp_path / "study.yaml").write_text(text)
    with pytest.raises(ConfigError, match=r"study.yaml:\d: .* a device or a pipe, not a file"):
        plan(load(tmp_path / "study.yaml"))
