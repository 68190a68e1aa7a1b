"""The results folder: two configs of one name never overwrite each other."""

import json

import pytest

from mmc.experiments.engines import engine
from mmc.experiments.errors import ConfigError
from mmc.experiments.folders import earlier_seconds, folder_of, last_run, own_study
from mmc.experiments.run import run
from mmc.experiments.store import Store
from mmc.experiments.validation import load

STUDY = "title: t\ndatasets:\n  two_norm: {options: {n_pos: 30, n_neg: 30}}\nmethods:\n  L: {method: lda}\n"


@pytest.fixture
def pair(tmp_path):
    """Two configs of one name."""
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "small.yaml").write_text(STUDY)
    return [load(tmp_path / folder / "small.yaml") for folder in ("a", "b")]


def test_a_folder_belongs_to_one_config(tmp_path, pair):
    mine, other = pair
    with Store(None) as store:
        outcome = run(mine, store, engine(1))
    outcome.write(folder_of(tmp_path / "runs", mine))
    mine.file.write_text(STUDY + "seed: 9\n")
    assert folder_of(tmp_path / "runs", load(mine.file)) == tmp_path / "runs" / "small", "an edited config is the same"
    with pytest.raises(ConfigError, match=r"another config of this name, .*a/small.yaml.*Rename .*b/small.yaml"):
        folder_of(tmp_path / "runs", other)
    mine.file.unlink()
    assert folder_of(tmp_path / "runs", other) == tmp_path / "runs" / "small", "its owner is gone"


def test_a_folder_may_move_with_its_config(tmp_path, pair):
    mine, _ = pair
    with Store(None) as store:
        run(mine, store, engine(1)).write(tmp_path / "a" / "runs" / "small")
    (tmp_path / "a").rename(tmp_path / "moved")
    moved = load(tmp_path / "moved" / "small.yaml")
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "small.yaml").write_text(STUDY)
    assert folder_of(tmp_path / "moved" / "runs", moved)


@pytest.mark.parametrize(
    "text",
    [
        *("", "[", "[]", "null", '{"file": 3, "unit_seconds": [1]}', '{"unit_seconds": {"L": "x"}}', "\ufeff{}"),
        *("[" * 100_000, '{"file": "a\\u0000b"}', json.dumps({"file": "a" * 5000})),
        *('{"unit_seconds": {"L": NaN, "M": -1}}', json.dumps({"unit_seconds": {"L": 10**400}})),
    ],
    ids=lambda text: text[:30],
)
def test_what_cannot_be_read_says_nothing(tmp_path, pair, text):
    (tmp_path / "small").mkdir()
    (tmp_path / "small" / "run.json").write_text(text)
    assert folder_of(tmp_path, pair[0]) == tmp_path / "small"
    assert own_study(tmp_path, "small") is None
    assert earlier_seconds(pair[0], tmp_path) == {}


def test_the_first_folder_that_knows_says_how_long_it_took(tmp_path, pair):
    for name, seconds in (("runs", 1.0), ("results", 2.0)):
        (tmp_path / name / "small").mkdir(parents=True)
        (tmp_path / name / "small" / "run.json").write_text(json.dumps({"unit_seconds": {"L on d": seconds}}))
    assert earlier_seconds(pair[0], tmp_path / "runs", tmp_path / "results") == {"L on d": 1.0}
    assert earlier_seconds(pair[0], tmp_path / "none", tmp_path / "results") == {"L on d": 2.0}
    assert last_run(tmp_path / "none") == {}


def test_a_config_called_dots_stays_inside(tmp_path):
    (tmp_path / "...yaml").write_text(STUDY)
    folder = folder_of(tmp_path / "runs", load(tmp_path / "...yaml"))
    assert folder.parent == tmp_path / "runs"
    assert folder.resolve().parent == (tmp_path / "runs").resolve()


def test_a_link_does_not_lead_out_of_the_results_folder(tmp_path, pair):
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "small").symlink_to(tmp_path / "a", target_is_directory=True)
    with pytest.raises(ConfigError, match="small is a link, not a folder"):
        folder_of(tmp_path / "runs", pair[0])
