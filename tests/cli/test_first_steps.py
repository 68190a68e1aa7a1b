"""First steps: a study from a table, a schema for editors, completion in the shell."""

import json
import os
import subprocess
import sys
from pathlib import Path

import jsonschema
import numpy as np
import pytest
from typer.testing import CliRunner

from mmc.cli import app
from mmc.experiments.config import bundled
from mmc.experiments.schema import schema
from mmc.experiments.starting import start
from mmc.experiments.validation import load
from mmc.experiments.values import check_values
from mmc.experiments.yaml_lines import read


def invoke(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


def table(folder, classes=("yes", "no"), rows=60, text=False, name="parts.csv"):
    rng = np.random.default_rng(0)
    lines = ["a,b,c: d,verdict"]
    for i in range(rows):
        label = classes[i % len(classes)]
        first = "red" if i % 3 else "blue"
        lines.append(f"{first if text else rng.normal() + i % len(classes):},{rng.normal()},{i % 7},{label}")
    path = folder / name
    path.write_text("\n".join(lines) + "\n")
    return path


class TestSchema:
    validator = jsonschema.Draft202012Validator(schema())

    def problems(self, document):
        return [error.message for error in self.validator.iter_errors(json.loads(json.dumps(document)))]

    def test_it_is_a_schema_and_takes_every_bundled_config(self):
        jsonschema.Draft202012Validator.check_schema(schema())
        for path in bundled().values():
            assert not self.problems(read(path)[0]), path

    @pytest.mark.parametrize(
        ("method", "word"),
        [
            ({"method": "svm", "C_poss": 1}, "C_poss"),
            ({"method": "svm", "C_pos": -1}, "-1"),
            ({"method": "svm", "C_pos": "much"}, "much"),
            ({"method": "svm", "solver": "libsv"}, "libsv"),
            ({"method": "smv"}, "smv"),
            ({"method": "os.system"}, "os.system"),
            ({"C_pos": 1}, "method"),
        ],
    )
    def test_what_mmc_refuses_an_editor_underlines(self, method, word):
        document = {"title": "t", "datasets": {"pima": None}, "methods": {"x": method}}
        assert any(word in text for text in self.problems(document))

    def test_what_mmc_takes_an_editor_takes(self):
        methods = {
            "a": {"method": "svm", "kernel": "rbf", "C_pos": 2, "tune": {"grid": {"C_neg": [1, 2]}}},
            "b": {"method": "sklearn.svm.SVC", "C": 3},
        }
        assert not self.problems({"title": "t", "datasets": {"pima": None}, "methods": methods})

    def test_the_command_prints_it(self):
        assert json.loads(invoke("schema").output) == json.loads(json.dumps(schema()))


class TestInit:
    def test_the_study_runs(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        done = invoke("init", table(tmp_path), "--target", "verdict")
        assert done.exit_code == 0, done.output
        first = Path("study.yaml").read_text().splitlines()[0]
        assert first == "# yaml-language-server: $schema=mmc.schema.json"
        document = read(Path("study.yaml"))[0]
        jsonschema.validate(json.loads(json.dumps(document)), json.loads(Path("mmc.schema.json").read_text()))
        ran = invoke("run", "study.yaml", "--jobs", "1")
        assert ran.exit_code == 0, ran.output
        assert "err %" in ran.output

    @pytest.mark.parametrize(
        ("given", "options"),
        [
            ({"text": True}, {"encode": True}),
            ({"classes": ("1", "0")}, {"positive": "1"}),
            ({"name": "my: odd # name.csv"}, {"file": "my: odd # name.csv"}),
        ],
    )
    def test_it_fits_the_table(self, tmp_path, given, options):
        start(table(tmp_path, **given), "verdict", tmp_path / "study.yaml")
        config = load(tmp_path / "study.yaml")
        check_values(config)
        (spec,) = config.experiment.datasets.values()
        assert {name: getattr(spec, name) for name in options} == options

    @pytest.mark.parametrize("ids", [[f"P{i:03}" for i in range(60)], range(1, 61)])
    def test_ids_free_text_and_dates_do_not_stop_it(self, tmp_path, ids):
        rows = zip(ids, table(tmp_path).read_text().splitlines()[1:], strict=True)
        lines = [f"{name},2024-{1 + i % 12:02}-0{1 + i // 12},{row}" for i, (name, row) in enumerate(rows)]
        path = tmp_path / "line.csv"
        path.write_text("\n".join(["part,made,a,b,c,verdict", *lines]))
        start(path, "verdict", tmp_path / "study.yaml")
        config = load(tmp_path / "study.yaml")
        check_values(config)
        (spec,) = config.experiment.datasets.values()
        assert spec.drop == ["part"]
        assert "# part: looks like an ID" in (tmp_path / "study.yaml").read_text()

    def test_a_column_of_too_many_texts_is_left_out(self, tmp_path):
        lines = [f"note {i} of {i % 2},{i % 5},{'yes' if i % 3 else 'no'}" for i in range(150)]
        (tmp_path / "notes.csv").write_text("\n".join(["note,a,verdict", *lines]))
        start(tmp_path / "notes.csv", "verdict", tmp_path / "study.yaml")
        assert 'drop: ["note"]  # note: 150 different texts' in (tmp_path / "study.yaml").read_text()
        check_values(load(tmp_path / "study.yaml"))

    def test_several_classes_are_told_apart_by_pairs(self, tmp_path):
        start(table(tmp_path, classes=("a", "b", "c")), "verdict", tmp_path / "study.yaml")
        config = load(tmp_path / "study.yaml")
        check_values(config)
        assert config.experiment.multiclass == "one-vs-one"

    def test_nothing_is_written_over(self, tmp_path):
        (tmp_path / "study.yaml").write_text("mine")
        done = invoke("init", table(tmp_path), "--target", "verdict", "--out", tmp_path / "study.yaml")
        assert "is there already" in str(done.exception)
        assert (tmp_path / "study.yaml").read_text() == "mine"

    def test_a_wrong_target_is_told(self, tmp_path):
        done = invoke("init", table(tmp_path), "--target", "verdct", "--out", tmp_path / "study.yaml")
        assert "did you mean 'verdict'?" in str(done.exception)
        assert not (tmp_path / "study.yaml").exists()


@pytest.mark.parametrize(
    ("words", "completed"),
    [
        ("mmc run breast_", "breast_cancer"),
        ("mmc run my_", "my_study.yaml"),
        ("mmc fit x.csv --methods error", "error-rate"),
        ("mmc data show heart_", "heart_statlog"),
        ("mmc list sol", "solvers"),
        ("mmc export pima --format par", "parquet"),
    ],
)
def test_the_shell_completes(tmp_path, words, completed):
    (tmp_path / "my_study.yaml").write_text("title: x\n")
    env = {
        **os.environ,
        "_MMC_COMPLETE": "complete_bash",
        "COMP_WORDS": words,
        "COMP_CWORD": str(len(words.split()) - 1),
    }
    code = "from mmc.cli import app; app(prog_name='mmc')"
    done = subprocess.run([sys.executable, "-c", code], env=env, cwd=tmp_path, capture_output=True, text=True)
    assert completed in done.stdout.split(), done.stderr
