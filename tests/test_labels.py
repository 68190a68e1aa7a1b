"""The order of labels, which decides the positive class everywhere."""

import numpy as np
import pytest

from mmc.labels import ordered, positive_label


@pytest.mark.parametrize(
    ("labels", "positive"),
    [
        (["2", "10"], "10"),
        ([2, 10], 10),
        (np.array([10.0, 2.0, 2.0]), 10.0),
        (np.array(["-1", "1"]), "1"),
        (["1e1", "9"], "1e1"),
        (["b", "a"], "b"),
        (["2", "10", "x"], "x"),
        (["2", "10 "], "10 "),
        (["nan", "7"], "nan"),  # no number, so all are text
        ([True, False], True),
        ([(1, 2), (0, 3)], (1, 2)),
    ],
)
def test_the_larger_label_is_positive_as_a_number_if_all_are(labels, positive):
    assert positive_label(labels) == positive
    assert positive_label(list(labels)[::-1]) == positive


def test_the_order_does_not_depend_on_how_the_labels_come():
    assert ordered(["10", "9", "10", "1", "1.0"]) == ["1", "1.0", "9", "10"]
    assert ordered(["10", "9", "b", "1"]) == ["1", "10", "9", "b"]
