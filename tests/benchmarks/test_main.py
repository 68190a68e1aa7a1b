"""The rows of a run as a page: the ratio beside its target, and what was missed."""

from benchmarks.__main__ import text
from benchmarks._shared import row


def test_a_page_says_which_targets_were_met():
    rows = [
        row("fit", "SVC", 1 / 6, 3.0, 1.0),
        row("path", "Clarabel", 8, 1.0, 4.0, "one note"),
        row("Gram", "SVC", None, 1.0, 1.0),
    ]
    page = text(rows)
    assert "| fit | SVC | 3,000 | 1,000 | 0.333 | 0.167 | met |" in page
    assert "| path | Clarabel | 1,000 | 4,000 | 4 | 8 | missed |\n| | one note |" in page
    assert "| Gram | SVC | 1,000 | 1,000 | 1 |  |  |" in page
