"""A saved model predicts as it did; no file makes reading it run code or touch memory that is not its own."""

import io
import json
import os
import pickle
from zipfile import ZipFile

import numpy as np
import pytest
import skops.io as sio
from sklearn.ensemble import (
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

import mmc
from mmc.experiments.own.candidates import Training, portfolio
from mmc.experiments.own.choosing import fitted
from mmc.experiments.own.errors import ModelFileError
from mmc.experiments.own.model_file import FORMAT, load_with_facts, outdated
from mmc.experiments.own.trusted import REFUSED
from mmc.methods import CATALOGUE

DRAW = np.random.default_rng(0)
Y = np.where(DRAW.random(60) < 0.4, "defect", "fine")
X = DRAW.normal(size=(60, 3)) + (Y == "fine")[:, None]


def altered(path, change, name="mmc.json"):
    """Rewrite one JSON file inside a model."""
    with ZipFile(path) as archive:
        files = {member: archive.read(member) for member in archive.namelist()}
    content = json.loads(files[name])
    change(content)
    files[name] = json.dumps(content).encode()
    with ZipFile(path, "w") as archive:
        for member, data in files.items():
            archive.writestr(member, data)


@pytest.fixture
def saved(tmp_path):
    mmc.save(LogisticRegression().fit(X, Y), tmp_path / "a.model")
    return tmp_path / "a.model"


@pytest.mark.parametrize("family", portfolio([], 0), ids=lambda family: family.name)
def test_every_candidate_comes_back_as_it_was(tmp_path, family):
    for name, estimator, problem in fitted(family, Training(X, Y, "defect")):
        assert not problem, name
        model = mmc.RateGuarantee(estimator, {"defect": 0.3}, calibration="prefit").fit(X, Y)
        mmc.save(model, tmp_path / "a.model")
        back = mmc.load(tmp_path / "a.model")
        assert back.decision_function(X) == pytest.approx(model.decision_function(X), rel=1e-9, abs=1e-9)
        assert (back.predict(X) == model.predict(X)).all()
        assert back.guarantee_ == model.guarantee_
        assert [file.name for file in tmp_path.iterdir()] == ["a.model"]


@pytest.mark.filterwarnings("ignore::mmc.methods.solution.BoundWarning")  # a narrow kernel
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("key", CATALOGUE)
def test_every_method_can_be_saved(tmp_path, key, kernel):
    kind = CATALOGUE[key].load()
    own = {"kernel": kernel, "gamma": 0.3} if "kernel" in kind().get_params() else {}
    apart = X + 8 * (Y == "fine")[:, None]  # a hard margin needs it
    model = kind(**own, pos_label="defect").fit(apart, Y)
    mmc.save(model, tmp_path / "a.model")
    assert (mmc.load(tmp_path / "a.model").predict(apart) == model.predict(apart)).all()


def test_a_pickle_is_never_read(tmp_path):
    class Bomb:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "ran"),)

    (tmp_path / "a.model").write_bytes(pickle.dumps(Bomb()))
    with pytest.raises(ModelFileError, match="is a pickle"):
        mmc.load(tmp_path / "a.model")
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("share", [0.001, 0.1, 0.5, 0.9, 0.999])
def test_a_model_cut_short_is_refused(saved, share):
    data = saved.read_bytes()
    saved.write_bytes(data[: max(4, int(share * len(data)))])
    with pytest.raises(ModelFileError, match="damaged or cut short"):
        mmc.load(saved)


def test_a_flipped_bit_is_noticed(saved):
    data = bytearray(saved.read_bytes())
    with ZipFile(saved) as archive:
        at = archive.getinfo("schema.json").header_offset + 200
    data[at] ^= 1
    saved.write_bytes(bytes(data))
    with pytest.raises(ModelFileError, match="damaged"):
        mmc.load(saved)


def test_a_newer_format_says_so(saved):
    altered(saved, lambda facts: facts.update(format=FORMAT + 1, surprise=[1]))
    with pytest.raises(ModelFileError, match=f"newer mmc: it has format {FORMAT + 1}"):
        mmc.load(saved)


def test_false_facts_are_refused(saved):
    altered(saved, lambda facts: facts.update(classes=[1, 2]))
    with pytest.raises(ModelFileError, match="wrong entry 'classes"):
        mmc.load(saved)


def test_other_versions_are_told(saved):
    altered(saved, lambda facts: facts["versions"].update({"scikit-learn": "1.0"}))
    (old,) = outdated(load_with_facts(saved)[1])
    assert old.startswith("scikit-learn 1.0 (here ")


@pytest.mark.parametrize("content", [b"", b"nothing of ours"])
def test_other_files_are_refused(tmp_path, content):
    (tmp_path / "a.model").write_bytes(content)
    with pytest.raises(ModelFileError, match="`mmc fit` writes a model"):
        mmc.load(tmp_path / "a.model")


def test_other_archives_and_absent_files_are_refused(tmp_path):
    with pytest.raises(ModelFileError, match="no such file"):
        mmc.load(tmp_path / "absent.model")
    sio.dump(LogisticRegression(), tmp_path / "a.model")
    with pytest.raises(ModelFileError, match="no model that mmc wrote"):
        mmc.load(tmp_path / "a.model")


def test_a_type_that_is_not_on_the_list_is_named(saved):
    def change(schema):
        schema["content"]["content"]["C"] = {
            "__class__": "system",
            "__module__": "os",
            "__loader__": "FunctionNode",
            "content": "system",
        }

    altered(saved, change, "schema.json")
    with pytest.raises(ModelFileError, match=r"it holds 'os.system'"):
        mmc.load(saved)


def test_what_cannot_be_read_back_is_not_written(tmp_path):
    for model, word in ((mmc.SVM(kernel=_kernel), "_kernel"), (SVC(), "sklearn.svm._classes.SVC")):
        with pytest.raises(ModelFileError, match=word):
            mmc.save(model.fit(X, Y), tmp_path / "a.model")
    assert not list(tmp_path.iterdir())


def _kernel(a, b):
    return a @ b.T


def test_refused_types_are_real():
    assert {f"{SVC.__module__}.{SVC.__qualname__}"} <= REFUSED


def forged(model, change, path):
    """Save a model after a change of what its trees' arrays hold."""
    mmc.save(model, path)
    with ZipFile(path) as archive:
        files = {member: archive.read(member) for member in archive.namelist()}
    changed = 0
    for member, data in files.items():
        if member.endswith(".npy"):
            array = np.load(io.BytesIO(data), allow_pickle=False)
            if array.dtype.names and change(array):
                buffer = io.BytesIO()
                np.save(buffer, array)
                files[member], changed = buffer.getvalue(), changed + 1
    assert changed
    with ZipFile(path, "w") as archive:
        for member, data in files.items():
            archive.writestr(member, data)


def _field(name, value):
    def change(array):
        if name not in array.dtype.names:
            return False
        array[name][0] = value
        return True

    return change


TREES = [RandomForestClassifier(3, random_state=0), GradientBoostingClassifier(n_estimators=3)]


@pytest.mark.parametrize(
    ("model", "name", "value"),
    [(model, *pair) for model in TREES for pair in (("left_child", 10**9), ("right_child", 0), ("feature", 3))]
    + [
        (HistGradientBoostingClassifier(max_iter=3, min_samples_leaf=5), *pair)
        for pair in (("left", 10**9), ("right", 0), ("feature_idx", 3), ("feature_idx", -5), ("is_categorical", 1))
    ],
)
def test_trees_that_lead_astray_are_refused(tmp_path, model, name, value):
    """A child out of bounds, a circle, or a feature that is not there would read memory that is not the tree's."""
    model.fit(X, Y)
    mmc.save(model, tmp_path / "a.model")
    assert (mmc.load(tmp_path / "a.model").predict(X) == model.predict(X)).all()
    forged(model, _field(name, value), tmp_path / "a.model")
    with pytest.raises(ModelFileError, match="tree is not what a fit would have made"):
        mmc.load(tmp_path / "a.model")


def test_an_ensemble_cannot_demand_fewer_columns_than_its_trees(tmp_path):
    model = RandomForestClassifier(3, random_state=0).fit(X, Y)
    model.n_features_in_ = 1
    mmc.save(model, tmp_path / "a.model")
    with pytest.raises(ModelFileError, match="a tree is not"):
        mmc.load(tmp_path / "a.model")


def test_a_vocabulary_beyond_its_size_is_refused(tmp_path):
    words = TfidfVectorizer().fit(["one two", "two three"])
    words.vocabulary_["one"] = 1000
    mmc.save(make_pipeline(words), tmp_path / "a.model")
    with pytest.raises(ModelFileError, match="a vocabulary is not"):
        mmc.load(tmp_path / "a.model")
