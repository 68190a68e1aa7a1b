"""Files that the user names: what they bring, and what is said where they cannot be used."""

import numpy as np
import pytest

from mmc import plugins
from mmc.datasets import DataError, known, load
from mmc.methods.registry import METHODS
from mmc.plugins import PluginError

GOOD = """\
import numpy as np
from sklearn.linear_model import RidgeClassifier
from sklearn.svm import LinearSVC

class Mine(RidgeClassifier):
    "The best there is."

def rows():
    X = np.arange(20.0).reshape(10, 2)
    return X, [0] * 5 + [1] * 5

METHODS = {"mine": Mine, "theirs": LinearSVC}
DATASETS = {"rows": rows}
"""


@pytest.fixture
def named(tmp_path, monkeypatch):
    """Return a function that writes a plugin and names it."""
    monkeypatch.setenv(plugins.VARIABLE, "")

    def use(text, name="my.py"):
        path = tmp_path / name
        path.write_text(text)
        plugins.use([path])
        return path

    return use


def test_a_file_brings_methods_and_data_sets(named):
    named(GOOD)
    assert METHODS["mine"].origin == "my.py"
    assert METHODS["mine"].summary == "The best there is"
    assert "alpha" in METHODS["mine"].parameters()
    assert known()["rows"].origin == "my.py"
    data = load("rows")
    assert data.classes == {"0": 5, "1": 5}
    assert data.X.shape == (10, 2)
    assert "mine" in list(METHODS)


def test_without_the_file_there_is_nothing(monkeypatch):
    monkeypatch.setenv(plugins.VARIABLE, "")
    assert "mine" not in METHODS
    assert "rows" not in known()


def test_the_same_name_in_another_file_is_another_method(named, monkeypatch):
    named(GOOD, "one.py")
    one = METHODS["mine"].identity()["plugin source"]
    monkeypatch.setenv(plugins.VARIABLE, "")
    named(GOOD + "# changed\n", "two.py")
    assert METHODS["mine"].identity()["plugin source"] != one
    assert "scikit-learn" in METHODS["mine"].identity()["sklearn"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("def f(:\n", "SyntaxError"),
        ("1 / 0\n", "ZeroDivisionError"),
        ("import nothing_of_this_name\n", "ModuleNotFoundError"),
        ("x = 1\n", "brings nothing"),
    ],
)
def test_a_file_that_cannot_be_used_is_told(named, text, told):
    with pytest.raises(PluginError, match=told):
        named(text, f"{abs(hash(text))}.py")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("METHODS = {'svm': 3}", "is a method of mmc"),
        ("METHODS = {'sklearn.x.Y': 3}", "is no name"),
        ("METHODS = {'no space': 3}", "is no name"),
        ("METHODS = {'x': 3}", "is no classifier"),
        ("from sklearn.ensemble import VotingClassifier\nMETHODS = {'x': VotingClassifier}", "needs a default"),
        ("METHODS = [3]", "must be a dictionary"),
    ],
)
def test_what_is_no_method_is_told(named, text, told):
    named(text, f"m{abs(hash(text))}.py")
    assert told in METHODS.problem("x")


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ("3", "must be a function"),
        ("lambda: 3", "must return X and y"),
        ("lambda: 1 / 0", "ZeroDivisionError"),
        ("lambda: ([['a']], [1])", "no numbers"),
        ("lambda: ([[1.0], [float('nan')]], [0, 1])", "missing or not finite"),
        ("lambda: ([[1.0], [2.0]], [1])", "one row for each label"),
        ("lambda: ([[1.0], [2.0]], [1, 1])", "one class only"),
        ("lambda: ([[1.0], [2.0]], [1, 2], ['a', 'b'])", "2 names for 1 features"),
    ],
)
def test_what_is_no_data_set_is_told(named, value, told):
    named(f"DATASETS = {{'x': {value}}}", f"d{abs(hash(value))}.py")
    with pytest.raises(DataError, match=told):
        load("x")


def test_labels_are_written_as_in_files(named):
    named("DATASETS = {'x': lambda: ([[1.0], [2.0], [3.0]], [1.0, 2.0, 1.0])}", "labels.py")
    assert np.array_equal(load("x").y, ["1", "2", "1"])


def test_two_files_with_one_name_are_refused(named):
    named(GOOD, "a.py")
    named(GOOD, "b.py")
    assert "registered twice, by a.py and b.py" in METHODS.problem("mine")
