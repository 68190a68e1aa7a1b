"""The formats of a table say the same, and no text of a user is a command in any of them."""

import csv
import io
import re
from dataclasses import replace

import pytest
from rich.console import Console

from mmc.experiments import render
from mmc.experiments.cells import Cell, Table, Verdict
from mmc.experiments.terminal import terminal


@pytest.fixture
def table():
    def cell(method, eta, values, **more):
        keys = {"dataset": "pima", "method": method, "eta_pos": eta}
        return Cell(keys, "error_pos", values, **{"trials": 9, **more})

    cells = (
        cell("A", 0.3, (9.0, 10.0, 11.0), reported="10.0", verdict=Verdict.MATCH),
        cell("B", 0.3, (), infeasible=9, reported="×", verdict=Verdict.INFEASIBLE),
        cell("A", 0.5, (20.0, 20.1), reported="9.0", verdict=Verdict.KNOWN, reason="the moon", see="moon"),
        cell("B", 0.5, (2.0, 2.1), infeasible=1, capped=3),
    )
    return Table("t", "a title", ("eta_pos",), ("method",), ("error_pos",), cells, {})


def printed(table, width=120):
    console = Console(file=io.StringIO(), width=width, force_terminal=False)
    for part in terminal(table, width):
        console.print(part)
    return console.file.getvalue()


def renamed(table, name):
    """Return the table with another label for method A."""
    return replace(table, cells=tuple(replace(c, keys={**c.keys, "method": name}) for c in table.cells[::2]))


def test_the_formats_say_the_same(table):
    markdown = render.FORMATS["md"](table)
    assert "| 0.3 | 10.0 ± 1.0 <br> 10.0 +0.0 ✓ | × <br> × ✓ |" in markdown
    assert "2.05 ± 0.07 (× 1/9)†" in markdown
    assert "the moon (see moon)" in markdown
    latex = render.FORMATS["tex"](table)
    assert r"0.3 & 10.0 $\pm$ 1.0 (10.0\checkmark{}) & $\times$ ($\times$\checkmark{}) \\" in latex
    assert latex.count(r"\toprule") == latex.count(r"\bottomrule") == 1
    lines = render.FORMATS["csv"](table).splitlines()
    assert len(lines) == 1 + len(table.cells)
    assert lines[1].startswith("pima,A,0.3,,error_pos,10,1,3,9,0,0,0,10.0,0,match")
    assert "10.0 ± 1.0" in printed(table)


def test_text_in_brackets_is_no_markup_of_the_terminal(table):
    """Otherwise "svm [linear]" prints as "svm", and two methods look alike; "[/x]" is a traceback."""
    shown = printed(renamed(replace(table, title="of [/x] and [bold]all[/bold]"), "svm [linear]"))
    assert "svm [linear]" in shown
    assert "of [/x] and [bold]all[/bold]" in shown


@pytest.mark.parametrize("ending", [*render.FORMATS, "terminal"])
def test_no_control_character_gets_through(table, ending):
    bad = renamed(replace(table, title="t\x1b[2J\x07itle", source="s\x1b]0;x\x07"), "m\x1b[31m\n\u202eethod")
    cells = (*bad.cells, replace(bad.cells[0], reason="be\x1bcause\nof", verdict=Verdict.KNOWN, keys={"dataset": "d"}))
    text = (
        printed(replace(bad, cells=cells))
        if ending == "terminal"
        else render.FORMATS[ending](replace(bad, cells=cells))
    )
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", text)


def test_a_label_cannot_leave_its_place_in_latex(table):
    nasty = "a\n\\input{/etc/passwd} {$x^2$} ~ 50% & #_"
    latex = render.to_latex(renamed(table, nasty))
    assert r"\input" not in latex
    (line,) = [line for line in latex.splitlines() if "passwd" in line]
    inside = line[line.index("{c}{") + 4 : line.rindex("}")]
    bare = re.sub(r"\\text\w+\{\}|\\\^\{\}|\\[{}$&%#_]", "", inside)
    assert not re.search(r"[\\{}$&%#_~^]", bare)


def test_a_row_that_begins_with_a_bracket_is_no_option_of_the_row_before(table):
    latex = render.to_latex(replace(table, labels={"0.3": "[1em]", "0.5": "*"}))
    assert not re.search(r"^\s*[\[*]", latex, flags=re.MULTILINE)


def test_html_and_links_are_text_in_markdown(table):
    markdown = render.to_markdown(renamed(table, "<script>x</script> | ![i](http://h) &lt;"))
    assert "<script>" not in markdown
    assert "](" not in markdown
    assert "&amp;lt;" in markdown
    widths = {len(re.findall(r"(?<!\\)\|", line)) for line in markdown.splitlines() if line.startswith("|")}
    assert len(widths) == 1


@pytest.mark.parametrize("label", ["=1+1", "+A", "-ve", "@SUM(A1)"])
def test_no_cell_of_the_csv_is_a_formula(table, label):
    (row, _) = csv.DictReader(io.StringIO(render.to_csv(renamed(table, label))))
    assert row["method"] == f"'{label}"


def test_numbers_of_the_csv_stay_numbers(table):
    cells = (replace(table.cells[0], by_repetition=(-3.0,), keys={**table.cells[0].keys, "eta_pos": -0.5}),)
    (row,) = csv.DictReader(io.StringIO(render.to_csv(replace(table, cells=cells))))
    assert (row["eta_pos"], row["mean"], row["difference"]) == ("-0.5", "-3", "-13")


def test_a_key_that_is_a_mapping_names_a_row(table):
    cells = tuple(replace(c, keys={**c.keys, "solver_options": {"tol": 1e-3}}) for c in table.cells)
    assert "{'tol': 0.001}" in render.to_markdown(replace(table, rows=("solver_options",), cells=cells))
