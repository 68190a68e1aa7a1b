"""What the documentation tells a reader to type works, and prints what is shown."""

import contextlib
import io
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from mmc.cli import app
from mmc.methods import InfeasibleProblem

ROOT = Path(__file__).parent.parent


def blocks(page, language):
    """Return the fenced blocks of a language, and what stands in the next plain block of each, if that follows."""
    text = (ROOT / "docs" / page).read_text("utf-8")
    return re.findall(rf"```{language}\n(.*?)```(?:\n\n```\n(.*?)```)?", text, re.DOTALL)


def words_of(text):
    """Return the words of a text; without lines; numbers, which differ a little between machines, as #."""
    return re.sub(r"\d[\d.,]*", "#", text.replace("─", "")).split()


@pytest.fixture(scope="module")
def own_data(tmp_path_factory):
    """Type every line of the page on own data; return its folder and what each command printed."""
    folder = tmp_path_factory.mktemp("study")
    text = (ROOT / "docs" / "own_data.md").read_text("utf-8")
    printed, names = {}, {}
    with pytest.MonkeyPatch.context() as patch, contextlib.chdir(folder):
        patch.setenv("COLUMNS", "80")
        for language, code in re.findall(r"```(sh|python)\n(.*?)```", text, re.DOTALL):
            if language == "python":
                with contextlib.redirect_stdout(io.StringIO()) as out:
                    exec(code, names)
                printed[code] = out.getvalue()
                continue
            for line in code.splitlines():
                verb, *rest = shlex.split(line)
                if verb == "mkdir":  # the page's own folder: this one
                    continue
                if verb == "cp":
                    shutil.copy(ROOT / rest[0].removeprefix("../"), rest[1])
                elif verb == "head":
                    printed[line] = "".join(Path(rest[2]).read_text().splitlines(keepends=True)[: int(rest[1])])
                else:
                    assert verb == "mmc", line
                    done = CliRunner().invoke(app, rest)
                    assert done.exit_code == 0, done.exception
                    printed[line] = done.output
    return folder, printed


@pytest.mark.parametrize("name", ["possible", "promised", "predicted", "columns"])
def test_own_data_prints_what_is_shown(own_data, name):
    ((shown, _),) = blocks("own_data.md", name)
    assert any(" ".join(words_of(shown)) in " ".join(words_of(text)) for text in own_data[1].values())


def test_own_data_in_python(own_data):
    outputs = [(own_data[1][code], shown) for code, shown in blocks("own_data.md", "python") if shown]
    assert len(outputs) == 3
    for printed, shown in outputs:
        numbers = [[float(n) for n in re.findall(r"\d\.\d+", text)] for text in (printed, shown)]
        assert numbers[0] == pytest.approx(numbers[1], abs=0.011)


def test_own_data_has_the_numbers_of_the_cards(own_data):
    """What is promised depends on the number of rows alone; the counts of the test part on rounding too."""
    page = (ROOT / "docs" / "own_data.md").read_text("utf-8")
    rows = re.findall(
        r"^\| (\w+) \| (\w+ ≤ .*?) \| (.*?) \| (.*?) \| (.*?) \| none below ([\d.]+) % \|$", page, re.MULTILINE
    )
    assert [row[0] for row in rows] == ["heart", "pima", "breast_cancer", "parts"]
    for name, asked, promised, wrong, other, bound in rows:
        card = (own_data[0] / f"{name}.card.md").read_text("utf-8").replace("\\", "")
        cells = {line.split("|")[1].strip(): line.split("|") for line in card.splitlines() if line.count("≤")}
        limits = [part.split(" ", 1) for part in asked.split(", ")]
        for (label, rate), proven in zip(limits, promised.split(", "), strict=True):
            assert [cell.strip() for cell in cells[label][2:4]] == [rate, proven]
        counts = {label: re.findall(r"\d+", row[4]) for label, row in cells.items()}
        (rest,) = set(counts) - {limits[0][0]}
        for shown, label in ((wrong, limits[0][0]), (other, rest)):
            errors, n = re.findall(r"\d+", shown)
            assert n == counts[label][1]
            assert int(errors) == pytest.approx(int(counts[label][0]), abs=3)
        assert f"below {bound} %, with any hyperplane" in card


def test_the_tutorial(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (known,) = re.findall(r"```\n(label,.*?)```", (ROOT / "docs" / "tutorial.md").read_text("utf-8"), re.DOTALL)
    Path("known.csv").write_text(known)
    names = {}
    refused = 0
    for code, _ in blocks("tutorial.md", "python"):
        try:
            exec(code, names)
        except InfeasibleProblem:
            refused += 1
    assert refused == 1
    assert max(names["model"].worst_case_error_) <= 0.9


def test_other_estimators_run_as_the_page_says(tmp_path, monkeypatch):
    from mmc import plugins

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(plugins.VARIABLE, "")
    (study, _), (several, _) = blocks("other_estimators.md", "yaml")
    ((plugin, _),) = blocks("other_estimators.md", "python")
    Path("study.yaml").write_text(study.replace("table:", "  bagged: {method: bagged}\ntable:"))
    Path("my.py").write_text(plugin)
    done = CliRunner().invoke(app, ["run", "study.yaml", "--plugin", "my.py", "--jobs", "1"])
    assert done.exit_code == 0, done.output
    assert "without a certificate of their optimum: forest, logistic, bagged" in " ".join(done.output.split())
    Path("several.yaml").write_text(several)
    done = CliRunner().invoke(app, ["run", "several.yaml", "--jobs", "1"])
    assert done.exit_code == 0, done.output
    assert "By one classifier of all classes, in its own way: forest, nearest." in " ".join(done.output.split())
    listed = CliRunner().invoke(app, ["list", "datasets", "--plugin", "my.py"]).output
    assert any(line.split()[:1] == ["squares"] and "my.py" in line for line in listed.splitlines())


def test_the_notebook_runs(tmp_path):
    """Execute it in a folder of its own; nothing of it is kept."""
    code = (
        "import sys, nbformat, nbclient\n"
        "book = nbformat.read(sys.argv[1], as_version=4)\n"
        "nbclient.NotebookClient(book, timeout=300, kernel_name='python3').execute()\n"
        "shown = [o for c in book.cells if c.cell_type == 'code' for o in c.outputs]\n"
        "print(*(kind for o in shown for kind in o.get('data', {})))\n"
        "print(*(o['data'].get('text/plain', '') for o in shown if 'data' in o))\n"
    )
    command = [sys.executable, "-c", code, str(ROOT / "docs" / "notebook.ipynb")]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    assert "text/html" in done.stdout
    assert "image/png" in done.stdout
    assert "True" in done.stdout  # the earlier run is the same


def test_the_page_on_python_names_what_there_is():
    ((code, _),) = blocks("python.md", "python")
    with contextlib.chdir(ROOT):
        names = {}
        exec(code.replace('mmc.run("breast_cancer")', 'mmc.load_results("results/breast_cancer")'), names)
    assert len(names["study"].table.to_frame()) > 10


def test_the_page_on_large_data_prints_what_is_shown(tmp_path):
    names = {}
    with contextlib.chdir(tmp_path):
        for code, shown in blocks("large_data.md", "python"):
            with contextlib.redirect_stdout(io.StringIO()) as out:
                exec(code, names)
            assert out.getvalue() == shown


def test_the_page_on_data_from_elsewhere_is_valid(tmp_path):
    from mmc.experiments.validation import load

    ((text, _),) = blocks("python.md", "yaml")
    (tmp_path / "elsewhere.yaml").write_text(text)
    assert load(tmp_path / "elsewhere.yaml").experiment.datasets["credit"].openml == 31
