"""The ``mmc`` command: parse, show progress, print. Heavy imports wait until a verb needs them."""

from __future__ import annotations

import gc
import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from mmc.cli import completing
from mmc.threads import ONE_THREAD

os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")  # to look for them reads a file of every package
gc.set_threshold(100_000)  # what imports make stays: to look through it again and again is a fifth of the start

app = typer.Typer(
    name="mmc",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Classifiers that keep the error of each class under control, and their papers' tables, rerun.\n\n"
    "Your own table:     mmc fit parts.csv --target verdict\n\n"
    "A paper's table:    mmc run breast_cancer",
)
data_app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="The data sets: list, show, fetch, verify.")
app.add_typer(data_app, name="data")

Configs = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="CONFIG", help="Paths of YAML files, or names of bundled configs.", autocompletion=completing.configs
    ),
]
Jobs = Annotated[
    int | None,
    typer.Option(
        "--jobs", "-j", metavar="N", min=1, help="Worker processes, at most one per core.", show_default="all cores"
    ),
]
Cluster = Annotated[
    str | None,
    typer.Option(
        "--cluster",
        metavar="ADDRESS",
        envvar="MMC_CLUSTER",
        help="A dask cluster in place of this machine: tcp://host:8786, or local:4.",
    ),
]
Results = Annotated[
    Path,
    typer.Option(
        "--results", envvar="MMC_RESULTS_DIR", help="Folder for your runs: the tables, and the store of records."
    ),
]
References = Annotated[
    Path, typer.Option("--references", help="Folder of the committed results that yours are compared with.")
]
DataDir = Annotated[
    Path | None, typer.Option("--data-dir", envvar="MMC_DATA_DIR", help="Folder with the large data sets.")
]
Plugin = Annotated[
    list[Path] | None,
    typer.Option(
        "--plugin",
        metavar="FILE.py",
        envvar="MMC_PLUGINS",
        help="A Python file of yours with methods and data sets; repeat it.",
        callback=lambda files: _use(files),
    ),
]
All = Annotated[bool, typer.Option("--all", help="Every bundled config.")]
AllQuick = Annotated[
    bool, typer.Option("--all", help="Every bundled config but those that take more than ten minutes each.")
]
Long = Annotated[bool, typer.Option("--long", help="With --all: also the configs that take longer.")]


def main() -> None:
    """Run the command; show what the user must fix as one message, with exit code 2."""
    from mmc.cli.shell import guarded

    code = guarded(app)
    gc.freeze()  # all of it ends with the process: to look through it once more is a sixth of a short run
    sys.exit(code)


def _one_thread() -> None:
    """Keep numpy from starting threads: workers have one each, and this process plans and prints."""
    for name, one in ONE_THREAD.items():
        os.environ.setdefault(name, one)


def _use(files: list[Path] | None) -> list[Path] | None:
    """Load the plugins that the user names, before the verb asks for anything of them."""
    from mmc import plugins

    plugins.use(files or ())
    return files


def _version(wanted: bool) -> None:
    if wanted:
        import mmc

        typer.echo(f"mmc {mmc.__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    pass


@app.command()
def run(
    configs: Configs = None,
    everything: AllQuick = False,
    long: Long = False,
    jobs: Jobs = None,
    cluster: Cluster = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Fit everything anew, even where a record exists.")] = False,
    results: Results = Path("runs"),
    references: References = Path("results"),
    data_dir: DataDir = None,
    plugin: Plugin = None,
) -> None:
    """Run experiments and print their tables. A rerun does only what is missing.

    Example:  mmc run configs/breast_cancer.yaml --jobs 2
    """
    _one_thread()
    from mmc.cli import verbs
    from mmc.cli.choices import Places, Power, Selection

    chosen = Selection(tuple(configs or ()), everything, long)
    places = Places(results, references, data_dir)
    raise typer.Exit(verbs.run(chosen, places, Power(jobs, cluster), fresh))


@app.command()
def validate(configs: Configs = None, everything: All = False, plugin: Plugin = None) -> None:
    """Check configs without running anything. Every problem is told with its file and line.

    Example:  mmc validate my_study.yaml
    """
    from mmc.cli import verbs
    from mmc.cli.choices import Selection

    verbs.validate(Selection(tuple(configs or ()), everything))


@app.command()
def show(
    configs: Configs = None,
    everything: All = False,
    results: Results = Path("runs"),
    references: References = Path("results"),
    data_dir: DataDir = None,
    plugin: Plugin = None,
) -> None:
    """Print the tables again, from the store. Nothing is fitted; what was never run is shown from the references.

    Example:  mmc show breast_cancer
    """
    from mmc.cli import verbs
    from mmc.cli.choices import Places, Selection

    verbs.show(Selection(tuple(configs or ()), everything), Places(results, references, data_dir))


@app.command()
def plot(
    configs: Configs = None,
    everything: All = False,
    results: Results = Path("runs"),
    references: References = Path("results"),
    data_dir: DataDir = None,
    plugin: Plugin = None,
) -> None:
    """Draw the figures again, from the store. Nothing is fitted anew.

    Example:  mmc plot nath_table2
    """
    from mmc.cli import verbs
    from mmc.cli.choices import Places, Selection

    verbs.plot(Selection(tuple(configs or ()), everything), Places(results, references, data_dir))


@app.command()
def check(
    configs: Configs = None,
    everything: AllQuick = False,
    long: Long = False,
    jobs: Jobs = None,
    cluster: Cluster = None,
    update: Annotated[
        bool, typer.Option("--update", help="Write the references anew: from your runs, or run now what these lack.")
    ] = False,
    results: Results = Path("runs"),
    references: References = Path("results"),
    data_dir: DataDir = None,
    plugin: Plugin = None,
) -> None:
    """Run anew and compare with the committed results. Exit code 1 where a cell moved beyond its tolerance.

    Example:  mmc check breast_cancer
    """
    _one_thread()
    from mmc.cli import check_verb
    from mmc.cli.choices import Places, Power, Selection

    chosen = Selection(tuple(configs or ()), everything, long)
    places = Places(results, references, data_dir)
    raise typer.Exit((check_verb.update if update else check_verb.check)(chosen, places, Power(jobs, cluster)))


@app.command(short_help="Write one HTML page: of all papers, or of your studies.")
def report(
    configs: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="CONFIG",
            help="Report these studies alone; without: all papers.",
            autocompletion=completing.configs,
        ),
    ] = None,
    out: Annotated[Path, typer.Option("--out", help="The page to write.")] = Path("report.html"),
    results: Results = Path("runs"),
    references: References = Path("results"),
    data_dir: DataDir = None,
    plugin: Plugin = None,
) -> None:
    """Write one HTML page: of all papers with the scoreboard, or of the studies you name. Nothing is fitted.

    Example:  mmc report my_study.yaml --out report.html
    """
    from mmc.cli import report_verb
    from mmc.cli.choices import Places

    report_verb.report(configs, out, Places(results, references, data_dir))


@app.command(short_help="Turn your table into a classifier that keeps error rates.")
def fit(
    table: Annotated[Path, typer.Argument(metavar="TABLE", help="A CSV, TSV, Parquet or Excel file.")],
    target: Annotated[str, typer.Option("--target", metavar="COLUMN", help="The column with the two classes.")],
    max_error: Annotated[
        list[str] | None,
        typer.Option("--max-error", metavar="LABEL=RATE", help="The largest error rate of a class; once or twice."),
    ] = None,
    confidence: Annotated[
        float, typer.Option("--confidence", metavar="SHARE", help="How sure the promise must be.")
    ] = 0.95,
    abstain: Annotated[
        str | None, typer.Option("--abstain", metavar="LABEL", help="The label for rows between two rates' thresholds.")
    ] = None,
    methods: Annotated[
        list[str] | None,
        typer.Option(
            "--methods",
            metavar="NAME",
            help="Try these: keys of mmc or classes of scikit-learn; repeat it.",
            autocompletion=completing.methods,
        ),
    ] = None,
    id_column: Annotated[
        str | None,
        typer.Option("--id", metavar="COLUMN", help="The column that names the rows; it is not learnt from."),
    ] = None,
    drop: Annotated[
        list[str] | None, typer.Option("--drop", metavar="COLUMN", help="A column to leave out; repeat it.")
    ] = None,
    keep: Annotated[
        list[str] | None, typer.Option("--keep", metavar="COLUMN", help="A column to use although it looks like an ID.")
    ] = None,
    test_size: Annotated[
        float, typer.Option("--test-size", metavar="SHARE", help="The share of the rows to test on.")
    ] = 0.2,
    calibration: Annotated[
        float | None,
        typer.Option(
            "--calibration",
            metavar="SHARE",
            help="The share of the rows to calibrate on.",
            show_default="0.3, or up to 0.5 as needed",
        ),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Decides the parts and every draw.")] = 0,
    out: Annotated[
        Path | None, typer.Option("--out", help="The model to write.", show_default="TABLE's name, .model")
    ] = None,
    memory: Annotated[
        float | None,
        typer.Option(
            "--memory",
            metavar="MB",
            min=0,
            help="Read a file that is larger than this in passes.",
            show_default="1/8 of the machine's",
        ),
    ] = None,
    plugin: Plugin = None,
) -> None:
    """Turn a table into a classifier whose error rates hold on new data. Without rates: show what is possible.

    Example:  mmc fit parts.csv --target verdict --max-error defect=0.05
    """
    from mmc.cli import own
    from mmc.experiments.own.fitting import Request

    rates = own.rates(max_error or [])
    chosen = (methods or [], id_column, drop or [], keep or [], test_size, calibration, seed)
    own.fit(Request(table, target, rates, confidence, abstain, *chosen), out, None if memory is None else 1e6 * memory)


@app.command(short_help="Predict a table with a saved model.")
def predict(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="A model that `mmc fit` wrote.")],
    table: Annotated[Path, typer.Argument(metavar="TABLE", help="New rows, with the same columns.")],
    out: Annotated[
        Path | None, typer.Option("--out", help="The CSV file to write.", show_default="TABLE's name, .predictions.csv")
    ] = None,
) -> None:
    """Predict a table with a saved model: label, score and abstention of each row.

    Example:  mmc predict parts.model new.csv --out predictions.csv
    """
    from mmc.cli import own

    own.predict(model, table, out)


@app.command()
def export(
    config: Annotated[
        str,
        typer.Argument(
            metavar="CONFIG",
            help="The path of a YAML file, or the name of a bundled config.",
            autocompletion=completing.configs,
        ),
    ],
    form: Annotated[
        str,
        typer.Option(
            "--format",
            metavar="FORMAT",
            help="csv, parquet, xlsx, latex or markdown.",
            autocompletion=completing.formats,
        ),
    ] = "csv",
    out: Annotated[
        Path | None, typer.Option("--out", help="The file to write.", show_default="CONFIG's name here")
    ] = None,
    records: Annotated[bool, typer.Option("--records", help="One row a trial in place of the table.")] = False,
    results: Results = Path("runs"),
    data_dir: DataDir = None,
    plugin: Plugin = None,
) -> None:
    """Write a table for other programs, tidy: one row a cell. It comes from the store: nothing is fitted.

    Example:  mmc export breast_cancer --format xlsx
    """
    from mmc.cli import export_verb
    from mmc.cli.choices import Places

    export_verb.export(config, form, out, records, Places(results, data_dir=data_dir))


@app.command(short_help="Print a JSON schema of configs, for editors.")
def schema(plugin: Plugin = None) -> None:
    """Print a JSON schema of configs, with the parameters of every method: editors complete and check with it.

    Example:  mmc schema > mmc.schema.json
    """
    import json

    from mmc.experiments.schema import schema as made

    typer.echo(json.dumps(made(), indent=1))


@app.command(short_help="Write a commented study of your table.")
def init(
    table: Annotated[Path, typer.Argument(metavar="TABLE", help="A CSV, TSV, Parquet, Excel, ARFF or libsvm file.")],
    target: Annotated[str, typer.Option("--target", metavar="COLUMN", help="The column with the classes.")],
    out: Annotated[Path, typer.Option("--out", help="The config to write.")] = Path("study.yaml"),
) -> None:
    """Write a commented study of your table that runs as it is, and the schema beside it that editors use.

    Example:  mmc init parts.csv --target verdict
    """
    from mmc.cli import own

    own.init(table, target, out)


@app.command("list")
def list_(
    what: Annotated[
        str | None,
        typer.Argument(metavar="WHAT", help="methods, solvers, datasets or configs.", autocompletion=completing.lists),
    ] = None,
    plugin: Plugin = None,
) -> None:
    """List methods, solvers, datasets or configs. Without WHAT: how many there are of each.

    Example:  mmc list methods
    """
    from mmc.cli import catalogue

    catalogue.show(what)


@data_app.command("list")
def data_list(data_dir: DataDir = None, plugin: Plugin = None) -> None:
    """List the data sets, and whether the large ones are on this machine.

    Example:  mmc data list
    """
    from mmc.cli import catalogue

    catalogue.show("datasets", data_dir)


@data_app.command("show")
def data_show(
    name: Annotated[str, typer.Argument(help="A data set of `mmc data list`.", autocompletion=completing.datasets)],
    data_dir: DataDir = None,
) -> None:
    """Show what is known of a data set: source, licence, size, files.

    Example:  mmc data show pima
    """
    from mmc.cli import catalogue

    catalogue.show_dataset(name, data_dir)


@data_app.command("fetch")
def data_fetch(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="NAME", help="Default: every set that needs it.", autocompletion=completing.datasets),
    ] = None,
    data_dir: DataDir = None,
) -> None:
    """Download large data sets into your cache. What is there already is checked and stays where it is.

    Example:  mmc data fetch usps isolet
    """
    from mmc.cli import catalogue

    catalogue.fetch(names, data_dir)


@data_app.command("verify")
def data_verify(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="NAME", help="Default: all.", autocompletion=completing.datasets)
    ] = None,
    data_dir: DataDir = None,
) -> None:
    """Load data sets and compare them with the registry. Rows, classes and content must agree; nothing is downloaded.

    Example:  mmc data verify
    """
    from mmc.cli import catalogue

    raise typer.Exit(catalogue.verify(names, data_dir))
