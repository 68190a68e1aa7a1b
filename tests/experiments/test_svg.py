"""A smaller SVG shows the same picture."""

import io
import re
from xml.etree import ElementTree

import matplotlib
import numpy as np
import pytest

from mmc.experiments.figures.svg import compact, on_any_ground, simplified

matplotlib.use("Agg")
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def pair():
    """A figure with markers, curves, an image and words, as matplotlib writes it and made compact."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots()
    x = np.linspace(0, 1, 300)
    axes.plot(x, np.sin(9 * x), "--", label="sine & <more>")
    axes.scatter(x, x**2, c=["red"] * 150 + ["blue"] * 150)
    axes.scatter(x, x**3, alpha=0.5)
    axes.vlines(x[::10], 0, 1)
    axes.imshow(np.eye(8), extent=(0, 1, -1, 0), interpolation="none")
    axes.set_title("a  title")
    axes.legend()
    buffer = io.StringIO()
    with matplotlib.rc_context({"svg.fonttype": "none"}):
        figure.savefig(buffer, format="svg")
    plt.close(figure)
    return buffer.getvalue(), compact(buffer.getvalue())


def test_it_is_smaller_and_has_the_same_elements(pair):
    before, after = pair
    assert len(after) < 0.7 * len(before)
    trees = [ElementTree.fromstring(text) for text in pair]
    for tag in ("use", "path", "text", "image", "clipPath"):
        counts = [len(list(tree.iter(SVG + tag))) for tree in trees]
        assert counts[0] == counts[1] > 0, tag
    names = [e.get("id") for e in trees[1].iter() if e.get("id")]
    assert len(names) == len(set(names))
    asked, given = (
        [a or b for a, b in re.findall(r'href="#([^"]+)"|url\(#([^)]+)\)', text)] for text in (after, before)
    )
    assert set(asked) <= set(names)
    assert len(set(asked)) == len(set(given))


def test_once_more_changes_nothing(pair):
    assert compact(pair[1]) == pair[1]


def test_every_marker_keeps_its_place_and_style(pair):
    found = []
    for text in pair:
        tree = ElementTree.fromstring(text)
        up = {child: parent for parent in tree.iter() for child in parent}
        marks = []
        for use in tree.iter(SVG + "use"):
            node, style = use, use.get("style")
            while style is None:
                node = up[node]
                style = node.get("style")
            marks.append((float(use.get("x")), float(use.get("y")), style))
        found.append(marks)
    for (x, y, style), (x2, y2, style2) in zip(*found, strict=True):
        assert abs(x - x2) <= 0.01
        assert abs(y - y2) <= 0.01
        assert style == style2


def test_what_is_seen_through_is_not_grouped():
    mark = '<use xlink:href="#m" x="1" y="2" style="fill: red; opacity: 0.5"/>'
    assert compact(f"{mark}\n{mark}").count("opacity") == 2
    faint = mark.replace("; opacity", "; fill-opacity")
    assert compact(f"{faint}\n{faint}").count("opacity") == 1


@pytest.mark.parametrize("near", [0.001, 0.04, 1.0])
def test_no_point_is_far_from_the_simpler_line(near):
    t = np.linspace(0, 7, 500)
    line = np.column_stack([40 * t, 100 * np.sin(t**2)])
    kept = simplified(line, near)
    assert 2 < len(kept) < len(line)
    assert (kept[0] == line[0]).all()
    assert (kept[-1] == line[-1]).all()
    a, d = kept[:-1], np.diff(kept, axis=0)
    share = np.clip(((line[:, None] - a) * d).sum(-1) / (d * d).sum(-1), 0, 1)
    away = np.linalg.norm(line[:, None] - a - share[..., None] * d, axis=-1).min(axis=1)
    assert away.max() <= near + 1e-9


def test_a_line_that_turns_back_keeps_its_end():
    there_and_back = np.array([[0.0, 0], [10, 0], [5, 0]])
    assert simplified(there_and_back, 0.04).tolist() == there_and_back.tolist()


def test_a_hatched_region_is_dark_in_the_dark():
    hatched = '<svg><pattern id="h"><rect width="73" height="73" fill="#ffffff"/></pattern></svg>'
    dark = on_any_ground(hatched).partition("prefers-color-scheme: dark")[2]
    assert "pattern rect[fill='#ffffff']{fill:#0d1117}" in dark
