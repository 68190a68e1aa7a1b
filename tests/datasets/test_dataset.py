"""The rule for the positive class, which everything that needs one asks."""

import numpy as np
import pytest

from mmc.datasets import DataError, DataSet


def _data(labels, positive=None):
    return DataSet("t", np.zeros((len(labels), 1)), np.array(labels), ("a",), positive)


@pytest.mark.parametrize(
    ("labels", "positive", "expected"),
    [
        (["2", "10"], None, "10"),  # as numbers; as text "2" would be the larger one
        (["-1", "1"], None, "1"),
        (["2", "ten"], None, "ten"),
        (["b", "a"], None, "b"),
        (["b", "a"], "a", "a"),
        (["2", "10"], "2", "2"),
    ],
)
def test_the_positive_class(labels, positive, expected):
    data = _data(labels * 2, positive)
    assert data.positive_class == expected
    assert data.sign().tolist() == [1 if label == expected else -1 for label in labels * 2]
    assert data.sign().dtype == np.intp
    other = next(label for label in labels if label != expected)
    np.testing.assert_array_equal(data.sign(other), -data.sign())


def test_of_several_classes_one_is_named():
    data = _data(["a", "b", "c"])
    assert data.sign("b").tolist() == [-1, 1, -1]
    with pytest.raises(DataError, match=r"'t' has 3 classes; name the positive one"):
        data.sign()
    with pytest.raises(DataError, match=r"'t' has no label 'd': valid: a, b, c"):
        data.sign("d")


def test_classes_are_in_the_order_of_numbers():
    assert list(_data(["10", "9", "2"]).classes) == ["2", "9", "10"]
