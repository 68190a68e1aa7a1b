"""Knowledge sets from a file."""

import numpy as np
import pytest

from mmc.methods.shapes import load_knowledge


def write(tmp_path, text):
    path = tmp_path / "sets.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_file_of_mixed_sets(tmp_path):
    path = write(
        tmp_path,
        "label,width,height,radius,s_1_1,s_1_2,s_2_2\n"
        "1,0.5,2.0,0.75,,,\n"
        "-1, 3.0, 1.0, , 0.25, 0.1, 0.5\n"
        "\n"
        "-1,4.0,0.0,,,,\n",
    )
    X, y, shapes = load_knowledge(path)
    np.testing.assert_array_equal(X, [[0.5, 2], [3, 1], [4, 0]])
    np.testing.assert_array_equal(y, [1, -1, -1])
    np.testing.assert_array_equal(shapes[1], [[0.25, 0.1], [0.1, 0.5]])
    assert (shapes[0], shapes[2]) == (0.75, 0)


def test_a_file_of_points_with_names_for_labels(tmp_path):
    X, y, shapes = load_knowledge(write(tmp_path, "a,b,kind\n1,2,ill\n3,4,well\n"), label="kind")
    np.testing.assert_array_equal(X, [[1, 2], [3, 4]])
    assert list(y) == ["ill", "well"]
    assert shapes == [0, 0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1: no column 'label'; the columns are none"),
        ("x,y\n1,2\n", "line 1: no column 'label'; the columns are x, y"),
        ("label,radius\n1,2\n", "line 1: no column for a coordinate"),
        ("label,x,x\n1,2,3\n", "line 1: column 'x' occurs twice"),
        ("label,x,s_1_2\n1,2,3\n", "line 1: column 's_1_2' is outside a Σ of 1 coordinates"),
        ("label,x\n", "no knowledge sets"),
        ("label,x\n1,2\n1\n", "line 3: 1 cells; the header has 2"),
        ("label,x\n1,2\n,3\n", "line 3, column 'label': no label"),
        ("label,x\n1,two\n", "line 2, column 'x': 'two' is not a number"),
        ("label,x\n1,\n", "line 2, column 'x': '' is not a number"),
        ("label,x\n1,inf\n", "line 2, column 'x': 'inf' is not finite"),
        ("label,x,radius\n1,2,-3\n", "line 2, column 'radius': the radius -3 is negative"),
        ("label,x,radius,s_1_1\n1,2,3,4\n", "line 2, column 's_1_1': the row also has a radius"),
        ("label,x,y,s_1_1,s_2_2\n1,2,3,4,5\n", "line 2, column 's_1_2': missing"),
        ("label,x,y,s_1_1,s_1_2,s_2_1,s_2_2\n1,2,3,4,0,1,5\n", "line 2, column 's_2_1': 1 differs from s_1_2"),
        ("label,x,y,s_1_1,s_1_2,s_2_2\n1,2,3,1,2,1\n", "line 2, columns 's_1_1' to 's_2_2': .* not positive semi"),
    ],
)
def test_a_bad_file_is_refused_with_line_and_column(tmp_path, text, message):
    path = write(tmp_path, text)
    with pytest.raises(ValueError, match=message) as error:
        load_knowledge(path)
    assert str(path) in str(error.value)
