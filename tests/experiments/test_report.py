"""The report: one page that holds every number, works in a browser and asks nothing of the network."""

import json
import re
import shutil
import subprocess
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from mmc.cli.choices import Places
from mmc.cli.report_verb import report
from mmc.experiments.cells import Cell, Verdict
from mmc.experiments.config import bundled
from mmc.experiments.engines import engine
from mmc.experiments.errors import ConfigError
from mmc.experiments.folders import STORE
from mmc.experiments.layout import measured
from mmc.experiments.outcome import Outcome
from mmc.experiments.report import difference, page, write
from mmc.experiments.run import run
from mmc.experiments.scoreboard import Result, numbers
from mmc.experiments.store import Store
from mmc.experiments.validation import load

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
VOID = {"meta", "link", "img", "br", "hr", "input"}
STUDY = """\
title: 'A <study> & its "figure"'
notes: First reading, see bmpm_heart.
datasets:
  two_norm: {options: {n_pos: 40, n_neg: 50}}
split: {kind: stratified-kfold, folds: 3, repetitions: 2}
methods:
  L: {method: svm, grid: {C_pos: [10, 0.5, 2], C_neg: [1]}}
table: {rows: [C_pos], columns: [method]}
figures:
  boundaries: {kind: boundaries, methods: [L]}
"""


class Reader(HTMLParser):
    """Keeps what the tests ask of a page, and refuses one whose tags do not nest."""

    def __init__(self, text):
        super().__init__()
        self.open, self.ids, self.links, self.attributes, self.tables = [], [], [], [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        if "id" in attrs:
            self.ids.append(attrs["id"])
        self.links += [attrs["href"]] if "href" in attrs else []
        self.attributes += [(tag, name, value or "") for name, value in attrs.items()]
        if tag == "table":
            self.tables.append(attrs.get("class", ""))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """A study of the user's own that was run, a paper's table with verdicts of every kind, and all others not run."""
    folder = tmp_path_factory.mktemp("report")
    (folder / "study.yaml").write_text(STUDY)
    with Store(None) as store:
        study = run(load(folder / "study.yaml"), store, engine(1))
    study.draw(folder / "study")
    found = [Result(study.config, study, study.provenance)]
    for name in bundled():
        config = load(name)
        outcome = Outcome(config, [], {})
        problem = f"no trial has a record of this code: `mmc run {name}`"
        if name == "bmpm_heart":
            problem = ""
            outcome.__dict__["table"] = replace(outcome.table, cells=tuple(_judged(outcome.table.cells)))
        found.append(Result(config, outcome, problem=problem))
    return folder, found


def _judged(cells):
    """Yield cells of every verdict; half of the deviations have an experiment that shows why, half only a sentence."""
    for index, cell in enumerate(cells):
        verdict = (
            (Verdict.MATCH, Verdict.KNOWN, Verdict.DIFFERS, Verdict.KNOWN)[index % 4] if cell.verdict else Verdict.NONE
        )
        see = "bmpm_sensitivity" if index % 4 == 1 else None
        reason = "known why" if verdict is Verdict.KNOWN else ""
        found = {"by_repetition": (50.0, 52.5 + index), "trials": 10, "half_width": 30.0}
        yield replace(cell, verdict=verdict, reason=reason, see=see, **found)


@pytest.fixture(scope="module")
def html(results):
    folder, found = results
    return page(found, folder)


def test_is_well_formed_and_small(html):
    reader = Reader(html)
    assert len(reader.ids) == len(set(reader.ids))
    assert len(html) < 3_000_000


def test_nothing_comes_from_elsewhere(html):
    for tag, name, value in Reader(html).attributes:
        if name in ("src", "href", "action", "poster", "data"):
            assert value.startswith(("#", "data:")), (tag, name, value[:80])
    assert not re.search(r"@import|url\(|https?://", re.sub(r'src="data:[^"]*"', "", html))


def test_every_link_leads_somewhere(html):
    reader = Reader(html)
    assert {link[1:] for link in reader.links if link.startswith("#")} <= set(reader.ids)


def test_a_deviating_cell_links_to_what_explains_it(html):
    heart = html[html.index('id="bmpm_heart"') :]
    links = re.findall(r'class="v v-known" href="#([\w-]+)"', heart[: heart.index("</article>")])
    assert set(links) == {"bmpm_sensitivity", "bmpm_heart-reason-2"}
    assert "known why" in html.split('id="bmpm_heart-reason-2"')[1][:300]


def test_every_experiment_and_every_cell_is_there(html, results):
    reader = Reader(html)
    text = re.sub(r"\s+", " ", html)
    for result in results[1]:
        assert result.config.name in reader.ids
        for cell in result.outcome.table.cells if not result.problem else ():
            assert f'<span class="m">{measured(cell)}</span>' in text
    listed = sum(int(n) for n in re.findall(r"The (\d+) numbers as a list", html))
    alone = sum(int(n) for n in re.findall(r"These (\d+) numbers", html))
    beside = sum(
        cell.reported is not None and (not cell.verdict or not r.config.experiment.reported.counts)
        for r in results[1]
        for cell in (r.table.cells if r.table.judged else ())  # all judged elsewhere: there is no list
    )
    assert listed + alone - beside == len(numbers(results[1])) == 271


def test_the_first_screen_says_what_became_of_the_numbers(html):
    first = re.sub(r"<[^>]+>|\s+", " ", html[html.index("<main") : html.index('class="paper"')])
    assert re.search(r"^\s*Scoreboard\s+4 \(3\)\s+of the 271 numbers", first)  # what is evidence comes first
    assert "We rebuilt the classifiers of five papers" in first
    assert "99 times in 100" in first


def test_every_number_is_a_square_that_says_which_it_is(html):
    squares = re.findall(r'<a href="#([\w-]+)" tabindex="-1" aria-label="([^"]+)"><rect class="s-(\w+)"', html)
    assert len(squares) == 271
    assert {slug for _, _, slug in squares} >= {"match", "known", "differs", "notrun"}
    assert all(" reported " in words for _, words, _ in squares)
    assert any("of the interval" in words for _, words, _ in squares)


def test_tables_can_be_taken_out_of_the_page(html, results):
    reader = Reader(html)
    files = [value for tag, name, value in reader.attributes if name == "data-file"]
    assert {"study.csv", "study.tex", "bmpm_heart.csv"} <= set(files)
    pictures = [value for tag, name, value in reader.attributes if name == "data-picture"]
    assert "boundaries.png" in pictures


def test_what_users_write_is_escaped(html):
    assert "A &lt;study&gt; &amp; its &#34;figure&#34;" in html
    assert "<study>" not in html
    assert 'see <a href="#bmpm_heart">bmpm_heart</a>' in html


def test_the_same_store_gives_the_same_page(html, results, tmp_path):
    folder, found = results
    write(found, folder, tmp_path / "new" / "report.html")
    assert (tmp_path / "new" / "report.html").read_text("utf-8") == html
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["report.html"]


def test_a_number_above_columns_says_what_it_is_of():
    table = Outcome(load("nath_ridge"), [], {}).table
    assert table.columns == ("ridge",)
    assert table.headings((0.0, "error_pos")) == ["ε = 0", "+ve err %"]
    assert replace(table, columns=("method",)).headings(("NL-SOCP", "error")) == ["NL-SOCP", "err %"]


def test_commands_in_a_problem_are_code(html):
    assert "no trial has a record of this code: <code>mmc run bmpm_synthetic</code>" in html


def test_a_paper_shows_the_figures_that_no_config_draws(html, results, tmp_path):
    assert 'alt="time and memory' in html, "the committed one"
    (tmp_path / "scaling").mkdir()
    (tmp_path / "scaling" / "scaling.svg").write_text("<svg/>")
    text = page(results[1], tmp_path)
    chapter = text[text.index('id="paper-gu"') :].split('class="paper"')[0]
    assert 'alt="time and memory' in chapter
    assert "<figcaption>Scaling: time and memory" in chapter
    Reader(text)


def test_without_a_store_the_references_stand_in_and_are_marked(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("mmc.cli.choices.bundled", lambda: {n: bundled()[n] for n in ("breast_cancer", "bsvm_toy")})
    report(None, tmp_path / "report.html", Places(tmp_path))
    printed = capsys.readouterr().out
    assert "12 (6) informative matches" in printed
    assert "From the references, because not run here: breast_cancer, bsvm_toy" in printed
    text = (tmp_path / "report.html").read_text("utf-8")
    assert "Nothing was run here: all numbers are the committed references." in text
    assert text.count("Reference of commit") == 2
    assert "What the papers say in words and we could not confirm" in text
    Reader(text)


def test_a_statement_that_cannot_be_told_is_none_that_does_not_hold(tmp_path, monkeypatch):
    monkeypatch.setattr("mmc.cli.choices.bundled", lambda: {"bsvm_uci": bundled()["bsvm_uci"]})
    report(None, tmp_path / "report.html", Places(tmp_path))
    text = (tmp_path / "report.html").read_text("utf-8")
    assert "1 cannot be told" in text
    assert re.search(r'v-weak">\?</span> [^<]*: cannot be told', text)
    assert not re.search(r"✗</span> [^<]*: cannot be told", text)


def test_a_mixture_says_which_is_which(tmp_path):
    (tmp_path / "study.yaml").write_text(STUDY)
    with Store(tmp_path / STORE) as store:
        run(load(tmp_path / "study.yaml"), store, engine(1))
    report([str(tmp_path / "study.yaml"), "breast_cancer"], tmp_path / "report.html", Places(tmp_path))
    text = (tmp_path / "report.html").read_text("utf-8")
    assert "1 of 2 experiments were run here; the other 1 are committed references" in text
    assert "Reference of commit" in text[text.index('id="breast_cancer"') :]
    assert "Reference of commit" not in text[: text.index('id="breast_cancer"')]


def test_the_report_of_a_study_is_of_the_study(tmp_path, capsys):
    (tmp_path / "study.yaml").write_text(STUDY)
    with pytest.raises(ConfigError, match="no trial has a record"):
        report([str(tmp_path / "study.yaml")], tmp_path / "report.html", Places(tmp_path))
    with Store(tmp_path / STORE) as store:
        run(load(tmp_path / "study.yaml"), store, engine(1))
    report([str(tmp_path / "study.yaml")], tmp_path / "report.html", Places(tmp_path))
    assert "reported numbers" not in capsys.readouterr().out
    text = (tmp_path / "report.html").read_text("utf-8")
    Reader(text)
    assert "<title>A &lt;study&gt; &amp; its" in text
    assert "Nath" not in text
    assert 'id="study"' in text


@pytest.mark.parametrize(("mean", "text"), [(50.0, "0.0"), (49.99, "0.0"), (51.26, "+1.3"), (48.0, "−2.0")])
def test_a_difference_has_the_digits_of_the_paper_and_no_negative_zero(mean, text):
    assert difference(Cell({}, "error", (mean,), reported="50.0")) == text


SELF_TEST = """
<script>
addEventListener("load", () => {
  const found = {};
  const column = (table, index) => [...table.tBodies[0].rows].map((row) => row.cells[index].textContent.trim());
  const head = (table, index) => table.tHead.rows[table.tHead.rows.length - 1].cells[index];
  const table = document.getElementById("study").parentElement.querySelector("table.grid");
  const button = head(table, 0).querySelector("button");
  button.focus();
  found.focused = document.activeElement === button;
  found.orders = [column(table, 0)];
  for (let i = 0; i < 3; i++) {
    button.click();
    found.orders.push(column(table, 0));
  }
  found.states = [head(table, 0).getAttribute("aria-sort")];
  head(table, 1).querySelector("button").click();
  found.states.push(head(table, 0).getAttribute("aria-sort"), head(table, 1).getAttribute("aria-sort"));
  const list = document.getElementById("bmpm_heart").parentElement.querySelector("table.list");
  const differences = [...list.tHead.rows[0].cells].findIndex((cell) => cell.textContent.startsWith("difference"));
  head(list, differences).querySelector("button").click();
  found.differences = [...list.tBodies[0].rows].map((row) => Number(row.cells[differences].dataset.sort));
  found.tables = document.querySelectorAll("table").length;
  found.sortable = document.querySelectorAll("th[aria-sort]").length;
  found.drawn = [...document.images].map((image) => image.complete && image.naturalWidth > 0);
  found.held = [...document.querySelectorAll("table.grid")].map((grid) => {
    const room = grid.parentElement, cell = grid.tBodies[0].rows[0].cells[0];
    room.scrollLeft = room.scrollWidth;
    const moved = cell.getBoundingClientRect().left - room.getBoundingClientRect().left;
    return [room.scrollLeft, cell.offsetWidth < room.clientWidth / 2 ? moved : 0];
  });
  const filter = document.querySelector("form.filter");
  filter.elements.paper.value = "huang";
  filter.dispatchEvent(new Event("input"));
  const seen = [...document.querySelectorAll("article[data-paper]")].filter((article) => !article.hidden);
  found.papers = [...new Set(seen.map((article) => article.dataset.paper))];
  filter.elements.paper.value = "";
  filter.elements.words.value = "no such words";
  filter.dispatchEvent(new Event("input"));
  found.none = filter.querySelector(".found").textContent;
  filter.elements.words.value = "";
  filter.dispatchEvent(new Event("input"));
  const square = document.querySelector("#strip a");
  square.focus();
  square.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight" }));
  found.square = [document.activeElement.getAttribute("aria-label"), document.getElementById("which").textContent];
  found.dark = [...document.images].filter((image) => image.src.startsWith("data:image/svg")).length;
  found.overflow = document.documentElement.scrollWidth - document.documentElement.clientWidth;
  const out = document.createElement("pre");
  out.id = "self-test";
  out.textContent = JSON.stringify(found);
  document.body.append(out);
});
</script>
"""


def browse(text, folder, width=1280):
    """Open a page in headless Chromium; return its DOM, what the console said, and the addresses it asked for."""
    folder.mkdir()
    (folder / "page.html").write_text(text, "utf-8")
    address = (folder / "page.html").as_uri()
    log = folder / "net.json"
    command = [
        *(str(CHROMIUM), "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--dump-dom"),
        *("--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-extensions"),
        *("--disable-dev-shm-usage", "--host-resolver-rules=MAP * ~NOTFOUND", "--enable-logging=stderr"),
        *(f"--window-size={width},900", f"--user-data-dir={folder / 'profile'}", f"--log-net-log={log}", address),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    console = [line for line in done.stderr.splitlines() if ":CONSOLE" in line]
    asked = {
        event["params"]["url"]
        for event in json.loads(log.read_text("utf-8"))["events"]
        if "url" in event.get("params", {}) and _from_page(event["params"])
    }
    return done.stdout, console, asked - {address}


def _from_page(params):
    """Return whether a request is the page's own: the browser's other business has no file as its initiator."""
    return params.get("initiator", "").startswith(("file:", "null")) and not params["url"].startswith("data:")


needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed (apt install chromium)")


@needs_chromium
@pytest.mark.parametrize("width", [1280, 500])
def test_in_a_browser(html, tmp_path, width):
    dom, console, asked = browse(html.replace("</body>", SELF_TEST + "</body>"), tmp_path / "browser", width)
    assert console == []
    assert asked == set()
    found = json.loads(re.search(r'<pre id="self-test">(.*?)</pre>', dom)[1].replace("&amp;", "&"))
    assert found["orders"] == [["10", "0.5", "2"], ["0.5", "2", "10"], ["10", "2", "0.5"], ["10", "0.5", "2"]]
    assert found["states"] == ["none", "none", "ascending"]
    assert found["focused"]
    assert found["papers"] == ["huang"]
    assert found["none"].startswith("0 of ")
    assert found["square"][0] == found["square"][1] != ""
    assert len(found["differences"]) > 10
    assert found["differences"] == sorted(found["differences"])
    assert found["tables"] == len(Reader(html).tables) > 20
    assert found["sortable"] > 100
    assert found["drawn"]
    assert all(found["drawn"])
    assert found["overflow"] <= 0
    assert any(scrolled for scrolled, _ in found["held"]), "a table must be wider than the page"
    assert all(abs(moved) <= 2 for _, moved in found["held"]), "the name of a row stays where it is"


@needs_chromium
def test_the_browser_test_can_fail(tmp_path):
    """A page that asks for something and complains is seen to do both."""
    bad = '<!doctype html><img src="http://127.0.0.1:9/x.png"><script>console.error("oh"); nothing();</script>'
    _, console, asked = browse(bad, tmp_path / "browser")
    assert any("oh" in line for line in console)
    assert any("nothing is not defined" in line for line in console)
    assert asked == {"http://127.0.0.1:9/x.png"}
