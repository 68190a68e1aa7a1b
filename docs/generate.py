"""The pages of the documentation that are made from the code: configs, commands, one page per paper.

`conf.py` calls ``everything`` before a build. Nothing here fits a model or asks the network.
"""

import inspect
import re
import shutil
from pathlib import Path
from types import UnionType
from typing import Union, get_args, get_origin

import typer
import yaml
from jinja2 import Environment, FileSystemLoader

from mmc.cli import app
from mmc.experiments import config, dataspec, grids, splits, statements
from mmc.experiments.claims import from_markdown
from mmc.experiments.config import bundled
from mmc.experiments.figures import FIGURES, options_of
from mmc.experiments.folders import REFERENCE, packaged
from mmc.experiments.layout import LOOKS
from mmc.experiments.reference import kept_table
from mmc.experiments.report import TEMPLATES
from mmc.experiments.score import VERDICTS, Score
from mmc.experiments.scoreboard import PAPERS
from mmc.experiments.validation import load
from mmc.methods import CATALOGUE

HERE = Path(__file__).parent
# The sections of a config: the model, its heading, where it stands.
SECTIONS = (
    (config.Experiment, "The file", "The keys at the top of a config."),
    (dataspec.DataSpec, "A data set", "Below `datasets`, under its label."),
    (dataspec.SetSpec, "A knowledge set", "In the list `knowledge` of a data set."),
    (splits.KFold, "Split: cross-validation", "Below `split`; the default, with three folds."),
    (splits.Partitions, "Split: random partitions", "Below `split`."),
    (splits.Fixed, "Split: the set's own parts", "Below `split`."),
    (config.MethodSpec, "A method", "Below `methods`, under its label."),
    (config.Tune, "Tuning", "The key `tune` of a method."),
    (grids.Axis, "An axis of a grid", "In place of a list of values."),
    (config.TableSpec, "The table", "The key `table`."),
    (config.CostSpec, "Costs", "The key `costs`."),
    (config.FigureSpec, "A figure", "Below `figures`, under its name."),
    (config.Reported, "Reported numbers", "The key `reported`: for tables of a paper."),
    (config.Deviation, "A deviation", "In the list `deviations` of `reported`."),
    (config.FittedSetting, "A fitted setting", "In the list `fitted` of `reported`."),
    (config.Constructed, "By construction", "In the list `by_construction` of `reported`."),
    (config.Repeated, "A repeated number", "In the list `duplicates` of `reported`."),
    (config.Elsewhere, "A number that is judged elsewhere", "In the list `elsewhere` of `reported`."),
    (statements.Ordered, "Claim: an order", "In the list `claims`: two methods, two metrics of one, or a number."),
    (statements.Trend, "Claim: a trend", "In the list `claims`: along a key of the grid."),
    (statements.Share, "Claim: a share", "In the list `claims`: of the repetitions."),
    (statements.Condition, "A condition", "In the list `of` of such a claim."),
)


def everything(out):
    """Write all generated pages into a folder."""
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    (out / "config.md").write_text(config_page(), "utf-8")
    (out / "command.md").write_text(command_page(), "utf-8")
    (out / "python.md").write_text(python_page(), "utf-8")
    for key in PAPERS:
        (out / f"{key}.md").write_text(paper_page(key, out), "utf-8")
    contributing = (HERE.parent / "CONTRIBUTING.md").read_text("utf-8")
    contributing = contributing.replace("# Contributing", "# Adding things", 1)
    contributing = re.sub(r"\[([^\]]+)\]\((?!http)[^)]*\)", r"`\1`", contributing)  # files of the repository, no pages
    (out / "adding.md").write_text(contributing, "utf-8")


def keys():
    """Return what is known of every key, by model."""
    return yaml.safe_load((HERE / "config_keys.yaml").read_text("utf-8"))


def config_page():
    """Return the reference of every key of a config."""
    known = keys()
    parts = [
        "# Config reference\n\nA study is one YAML file. `mmc validate FILE` points at every mistake with its line. "
        "Made from the models that read it; every example below is accepted by them.\n"
    ]
    for model, heading, where in SECTIONS:
        parts.append(f"## {heading}\n\n{where}\n")
        for name, field in model.model_fields.items():
            if field.is_required():
                default = "needed"
            else:
                value = field.get_default(call_default_factory=True)
                value = value.model_dump(exclude_defaults=True, mode="json") if hasattr(value, "model_dump") else value
                default = "default: none" if value in (None, {}, [], "") else f"default: `{flow(value)}`"
            entry = known[model.__name__][name]
            example = f"{name}: {flow(entry['example'])}"
            parts.append(
                f"### `{name}`\n\n{entry['does']} ({kind(field.annotation)}; {default})\n\n```yaml\n{example}\n```\n"
            )
        if model is config.FigureSpec:
            for key in FIGURES:
                figure = options_of(key)
                options = ", ".join(f"`{name}`" for name in figure.model_fields) or "none"
                parts.append(
                    f"- `{key}`: {figure.shows}. Options: {options}. {' '.join(inspect.getdoc(figure).split())}"
                )
            parts.append("")
    return "\n".join(parts)


def flow(value):
    """Return a value as one line of YAML."""
    text = yaml.safe_dump(value, default_flow_style=True, allow_unicode=True, sort_keys=False, width=1000)
    return text.removesuffix("...\n").strip()


def kind(annotation):
    """Return the type of a key in a few words."""
    origin, args = get_origin(annotation), get_args(annotation)
    if origin in (Union, UnionType):
        return " or ".join(dict.fromkeys(kind(arg) for arg in args if arg is not type(None)))
    if origin is not None and hasattr(annotation, "__metadata__"):
        return kind(args[0])
    if args and all(isinstance(arg, (str, int)) for arg in args):
        return " or ".join(f"`{arg}`" for arg in args)
    if origin in (list, tuple):
        return f"list of {kind(args[0])}" if origin is list else "list"
    if origin is dict:
        return "mapping"
    names = {str: "text", int: "whole number", float: "number", bool: "true or false"}
    return names.get(
        annotation, "mapping" if inspect.isclass(annotation) and issubclass(annotation, config.Model) else "value"
    )


def commands():
    """Yield every verb with its click command."""
    root = typer.main.get_command(app)
    for name, command in root.commands.items():
        for inner, verb in getattr(command, "commands", {}).items():
            yield f"mmc {name} {inner}", verb
        if not hasattr(command, "commands"):
            yield f"mmc {name}", command


def command_page():
    """Return the reference of the command."""
    parts = ["# Command reference\n\n`mmc VERB --help` prints the same.\n"]
    for name, command in commands():
        parts.append(f"## {name}\n")
        text, _, example = inspect.cleandoc(command.help or "").partition("Example:")
        parts.append(f"{text.strip()}\n")
        if example:
            parts.append(f"```\n{example.strip()}\n```\n")
        rows = []
        for parameter in command.params:
            if parameter.name == "help":
                continue
            shown = parameter.metavar or parameter.name.upper()
            flag = ", ".join(parameter.opts) if parameter.param_type_name == "option" else shown
            takes = (
                "" if parameter.param_type_name == "argument" or getattr(parameter, "is_flag", False) else f" {shown}"
            )
            variable = f" (or the variable {parameter.envvar})" if parameter.envvar else ""
            rows.append(f"| `{flag}{takes}` | {(getattr(parameter, 'help', '') or '').replace('|', '/')}{variable} |")
        if rows:
            parts += ["| | |", "|---|---|", *rows, ""]
    return "\n".join(parts)


def python_page():
    """Return the list of the classes and functions that a program uses."""
    names = [entry.name for entry in CATALOGUE.values()] + [
        "OneClassSMEM",
        "RateGuarantee",
        "InfeasibleProblem",
        "NotConverged",
    ]
    listed = "\n".join(f"   mmc.methods.{name}" for name in dict.fromkeys(names))
    return (
        "# Python reference\n\n```{eval-rst}\n.. autosummary::\n   :toctree: api\n   :nosignatures:\n\n"
        f"{listed}\n```\n\n## Save and load\n\n```{{eval-rst}}\n.. autofunction:: mmc.save\n\n.. autofunction:: mmc.load\n```\n"
    )


def paper_page(key, out):
    """Return the page of a paper: the problem, the methods and their solvers, a picture, and what we found."""
    paper = PAPERS[key]
    problem = Environment(loader=FileSystemLoader(TEMPLATES)).get_template(f"papers/{key}.html").render()
    problem = "\n".join(line for line in problem.splitlines() if line.strip())
    parts = [f"# {paper.authors}\n\n*{paper.title}*\n", f"```{{raw}} html\n{problem}\n```\n"]
    parts += [
        "## Methods and solvers\n",
        "| method | class | what it does | solvers, default first |",
        "|---|---|---|---|",
    ]
    for entry in CATALOGUE.values():
        if entry.paper == paper.authors:
            solvers = ", ".join(f"`{solver}`" for solver in entry.solvers)
            parts.append(f"| `{entry.key}` | {{class}}`~mmc.methods.{entry.name}` | {entry.summary} | {solvers} |")
    parts += ["", "## What we found\n", *found(key), *picture(key, out)]
    return "\n".join(parts) + "\n"


def experiments(key):
    """Yield the configs of a paper that have committed results."""
    for name in bundled():
        folder = packaged() / name
        study = load(name)
        if study.experiment.paper == key and (folder / REFERENCE).exists():
            yield name, study, folder


def found(key):
    """Yield the verdicts of each experiment of a paper, and its statements."""
    yield "| experiment | verdicts | `mmc run …` |"
    yield "|---|---|---|"
    claims = []
    for name, study, folder in experiments(key):
        score = Score.of(kept_table(study, folder).judged)
        words = ", ".join(f"{score.shown(v)} {LOOKS[v].many}" for v in VERDICTS if score.counts[v]) or "–"
        yield f"| {study.experiment.title} | {words} | `{name}` |"
        if (folder / "claims.md").exists():
            claims += from_markdown((folder / "claims.md").read_text("utf-8"))
    if claims:
        yield "\n| the paper says | measured | verdict |\n|---|---|---|"
        yield from (f"| {c.statement} | {c.measured} | {c.verdict} |".replace("<", "&lt;") for c in claims)
    yield ""


def picture(key, out):
    """Copy the first figure of a paper beside the pages, and yield it."""
    for name, study, folder in experiments(key):
        for path in sorted(folder.glob("*.svg")):
            shutil.copy(path, out / f"{key}.svg")
            yield f"![{study.experiment.title}]({key}.svg)\n"
            yield f"*{study.experiment.title}: drawn by `mmc run {name}`.*"
            return
