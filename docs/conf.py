"""Sphinx: `make docs` builds the site into build/docs, without a network."""

import re
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
import generate  # noqa: E402

import mmc  # noqa: E402

generate.everything(HERE / "generated")

project = "mmc"
author = "the mmc developers"
copyright = "the mmc developers; BSD-3-Clause"
release = version = mmc.__version__
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
]
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3
autosummary_generate = True
numpydoc_show_class_members = False
templates_path = ["_templates"]
exclude_patterns = ["_build"]
suppress_warnings = ["config.cache", "misc.highlighting_failure"]
html_theme = "furo"
html_title = f"mmc {release}"
html_static_path: list[str] = []
sphinx_gallery_conf = {
    "examples_dirs": str(HERE.parent / "examples" / "gallery"),
    "gallery_dirs": "gallery",
    "filename_pattern": r"/plot_",
    "download_all_examples": False,
    "show_signature": False,
    "write_computation_times": False,
}


def _escape(app, what, name, obj, options, lines):
    """Escape the last underscore of a name in a type: reStructuredText takes it for a link."""
    for index, line in enumerate(lines):
        if re.match(r"\w+(, \w+)* : ", line):
            name, colon, kind = line.partition(" : ")
            lines[index] = name + colon + re.sub(r"(?<=\w)_(?=[,)]|$)", r"\\_", kind)


def _inside(app, name, source):
    """Name files of the repository that are no pages, instead of a link that leads out of the site. Pictures stay."""
    source[0] = re.sub(r"(?<!!)\[([^\]]+)\]\(\.\./[^)]*\)", r"`\1`", source[0])


def setup(app):
    """Read pages and docstrings before anything else does."""
    app.connect("source-read", _inside)
    app.connect("autodoc-process-docstring", _escape, priority=400)
