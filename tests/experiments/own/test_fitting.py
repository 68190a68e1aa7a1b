"""The whole way: from a table to a promise, a card, a file and predictions."""

import json
import re
from dataclasses import replace
from decimal import ROUND_CEILING, ROUND_FLOOR
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from pandas._libs.parsers import STR_NA_VALUES

import mmc
from mmc.experiments.own import card, picture, predicting, reading
from mmc.experiments.own.errors import ModelFileError, NotPossible, RequestError, TableError
from mmc.experiments.own.fitting import Request, choose, examples_of, finish
from mmc.experiments.own.model_file import save
from mmc.experiments.own.possible import possible
from mmc.experiments.own.predicting import predict
from mmc.methods.order_statistics import upper_bound
from mmc.words import percent
from tests.experiments.own.making import parts
from tests.experiments.test_report import browse, needs_chromium


def unwatched(done, total, what):
    assert 0 <= done <= total


@pytest.fixture(scope="module")
def request_(tmp_path_factory):
    path = tmp_path_factory.mktemp("own") / "parts.csv"
    parts().to_csv(path, index=False)
    return Request(path, "verdict", {"defect": 0.1}, methods=["LogisticRegression", "lda"])


@pytest.fixture(scope="module")
def outcome(request_):
    return finish(choose(request_, unwatched))


@pytest.fixture
def model(outcome, tmp_path):
    save(outcome.model, tmp_path / "parts.model", outcome.facts)
    return tmp_path / "parts.model"


def test_the_promise_is_that_of_the_calibration_part(outcome):
    chosen, promise = outcome.chosen, outcome.model.guarantee_["defect"]
    rows = chosen.parts.calibration
    labels = outcome.model.predict(chosen.examples.frame.iloc[rows])
    own = chosen.examples.y[rows] == "defect"
    assert promise.n == own.sum()
    assert promise.errors == (labels[own] == "fine").sum()
    assert promise.bound == upper_bound(promise.rank - 1, promise.n, 0.95) <= 0.1


def test_the_test_part_is_counted_as_it_is(outcome):
    chosen = outcome.chosen
    rows = chosen.parts.test
    labels, y = outcome.model.predict(chosen.examples.frame.iloc[rows]), chosen.examples.y[rows]
    for label, measured in outcome.measured.items():
        assert measured.n == (y == label).sum()
        assert measured.errors == ((y == label) & (labels != label)).sum()
        low, high = measured.interval
        assert low <= measured.errors / measured.n <= high


def test_the_same_seed_gives_the_same_model_another_one_does_not(request_, outcome):
    again = finish(choose(request_, unwatched))
    other = finish(choose(replace(request_, seed=1), unwatched))
    assert again.model.thresholds_.tolist() == outcome.model.thresholds_.tolist()
    assert other.model.thresholds_.tolist() != outcome.model.thresholds_.tolist()


def test_the_choice_sees_the_training_part_only(request_, tmp_path):
    """Whatever the other rows hold, the ranking of the classifiers is the same."""
    chosen = choose(request_, unwatched)
    table = pd.read_csv(request_.path)
    held = np.concatenate([chosen.parts.calibration, chosen.parts.test])
    table.loc[held, "weight"] = np.random.default_rng(0).normal(20, 5, len(held))
    table.to_csv(tmp_path / "other.csv", index=False)
    other = choose(replace(request_, path=tmp_path / "other.csv"), unwatched)
    assert [(e.name, e.area) for e in other.tried] == [(e.name, e.area) for e in chosen.tried]


def test_what_became_of_each_column(outcome):
    became = {column.name: column.became for column in outcome.columns}
    assert became["made"].startswith("year, month, day")
    assert became["machine"] == "3 categories, as 0 or 1"
    assert became["weight"] == "scaled; median for missing cells"
    assert became["plant"] == "not used: the same in every row"
    assert outcome.chosen.examples.left_out == {"part_id": "not used: looks like an ID"}


def test_an_id_can_be_named_or_kept_and_columns_left_out(request_):
    examples = examples_of(replace(request_, keep=["part_id"], drop=["alloy"]))
    assert "part_id" in examples.frame
    assert "alloy" not in examples.frame
    assert examples.id is None
    assert examples_of(replace(request_, id="machine")).id == "machine"


@pytest.mark.parametrize("gives", [lambda bad: np.where(bad, "scrap", "ship"), lambda bad: np.where(bad, "2024", None)])
def test_a_column_that_is_the_answer_is_told(request_, tmp_path, gives):
    table = parts()
    table["booking"] = gives(table["verdict"] == "defect")
    table.to_csv(tmp_path / "leak.csv", index=False)
    chosen = choose(replace(request_, path=tmp_path / "leak.csv"), unwatched)
    assert [w for w in chosen.examples.warnings if w.startswith("'booking' looks like the answer itself")]
    assert not [w for w in choose(request_, unwatched).examples.warnings if "answer" in w]


def test_copies_are_told(request_, tmp_path):
    table = parts().drop(columns="part_id")
    pd.concat([table, table.head(20)]).to_csv(tmp_path / "copies.csv", index=False)
    (warning,) = examples_of(replace(request_, path=tmp_path / "copies.csv")).warnings
    assert warning.startswith("20 of 620 rows equal another one")


def test_two_rates_with_abstention_keep_both(request_):
    both = {"defect": 0.08, "fine": 0.08}
    request = replace(request_, max_error=both, abstain="unsure")
    outcome = finish(choose(request, unwatched))
    assert sum(measured.abstained for measured in outcome.measured.values()) > 0
    assert all(promise.bound <= 0.08 for promise in outcome.promises)
    with pytest.raises(NotPossible, match=r"nearest to both: .* With --abstain LABEL"):
        finish(choose(replace(request, abstain=None), unwatched))


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"max_error": {"defect": 0.0}}, RequestError, "between 0 and 1"),
        ({"max_error": {"defect": 1.5}}, RequestError, "between 0 and 1"),
        ({"max_error": {"defekt": 0.1}}, RequestError, "did you mean 'defect'"),
        ({"confidence": 1.0}, RequestError, "--confidence"),
        ({"abstain": "unsure"}, RequestError, "needs a rate for both"),
        ({"abstain": "fine", "max_error": {"defect": 0.1, "fine": 0.1}}, RequestError, "is a class"),
        ({"target": "verdikt"}, RequestError, "did you mean 'verdict'"),
        ({"target": "machine", "max_error": {}}, TableError, "3 different labels"),
        ({"drop": ["verdict"]}, RequestError, "is the target"),
        ({"max_error": {"defect": 0.001}}, TableError, r"It needs \d+ rows"),
    ],
)
def test_what_cannot_be_meant_is_refused(request_, change, error, message):
    with pytest.raises(error, match=message):
        choose(replace(request_, **change), unwatched)


def test_what_is_possible(request_):
    chosen = choose(replace(request_, max_error={}), unwatched)
    found = {(entry.label, entry.rate): entry for entry in possible(chosen)}
    assert len(found) == 10
    assert found["defect", 0.01].left is None  # 1 % needs 298 in the calibration part, 600 rows have 200 defects
    assert found["defect", 0.05].left >= found["defect", 0.1].left >= found["defect", 0.2].left
    assert picture.of_possible(chosen).count('class="line') == 4  # two classifiers, and the legend


def test_predictions_do_not_depend_on_the_size_of_the_parts(outcome, model, tmp_path):
    new = parts(90, seed=7).drop(columns="verdict")
    new.loc[[3, 50], "alloy"] = "Z9"
    new.to_csv(tmp_path / "new.csv", index=False)
    whole = predict(model, tmp_path / "new.csv", tmp_path / "whole.csv")
    pieces = predict(model, tmp_path / "new.csv", tmp_path / "pieces.csv", rows=7)
    assert whole.labels == pieces.labels
    assert whole.new["alloy"] == pieces.new["alloy"] == 2
    one, many = (pd.read_csv(tmp_path / name) for name in ("whole.csv", "pieces.csv"))
    assert list(one.columns) == ["part_id", "label", "score", "abstained"]
    assert (one["part_id"] == new["part_id"]).all()
    assert (one["label"] == many["label"]).all()
    assert one["score"].to_numpy() == pytest.approx(many["score"].to_numpy(), abs=1e-6)
    assert (one["label"] == np.where(one["score"] > 0, "fine", "defect")).all()
    assert {file.name for file in tmp_path.iterdir() if "part" in file.suffix} == set()


ODD = '''part_id ,note,"made",machine,alloy,weight,roughness,plant
P1,"two
lines, one comma",31.01.2024,north,A1, 20.5,1e0,Ulm
P2,,01.02.2024,"south ",?,NA,#NA,Ulm
"P3","say ""hi""",02.02.2024,west,B7,20.5 ,-nan,

P4,x,,north,A2,?,0.25,Ulm
'''


@pytest.mark.parametrize(
    ("cell", "other"),
    [("P1", "P1"), ("0.25", "+0.25"), (",west", ', "west"'), (",B7", ", NA"), ("0.25,Ulm", "0.25"), ('"P3"', " P3")],
)
def test_the_quick_way_to_read_is_the_other_ones(outcome, model, tmp_path, monkeypatch, cell, other):
    """Spaces, quotes, lines inside a cell, all words for a missing cell. What only the other one reads is read too."""
    (tmp_path / "new.csv").write_text(ODD.replace(cell, other))

    def never(*args):
        raise AssertionError("the quick way was enough")

    with monkeypatch.context() as patched:
        patched.setattr(predicting, "chunks", never if cell == other else predicting.chunks)
        predict(model, tmp_path / "new.csv", tmp_path / "quick.csv", rows=3)
    monkeypatch.setattr(predicting, "_quick", lambda path, table, rows: iter_of(TableError("no")))
    predict(model, tmp_path / "new.csv", tmp_path / "slow.csv", rows=3)
    assert (tmp_path / "quick.csv").read_text() == (tmp_path / "slow.csv").read_text()
    assert pd.read_csv(tmp_path / "quick.csv")["part_id"].str.strip().tolist() == ["P1", "P2", "P3", "P4"]


def iter_of(error):
    raise error
    yield


def test_the_words_for_a_missing_cell_are_those_of_pandas():
    assert set(reading.MISSING) == STR_NA_VALUES | {"?"}


def test_a_model_of_a_csv_predicts_parquet(outcome, model, tmp_path):
    new = parts(40, seed=8)
    new.to_csv(tmp_path / "new.csv", index=False)
    new.assign(made=pd.to_datetime(new["made"], format="%d.%m.%Y")).to_parquet(tmp_path / "new.parquet")
    for kind in ("csv", "parquet"):
        predict(model, tmp_path / f"new.{kind}", tmp_path / f"{kind}.out")
    assert (tmp_path / "csv.out").read_text() == (tmp_path / "parquet.out").read_text()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: t.drop(columns="weight"), "no column 'weight'"),
        (lambda t: t.rename(columns={"weight": "Weight"}), "did you mean 'Weight'"),
        (lambda t: t.assign(weight="heavy"), "finite numbers, but row 1 has 'heavy'"),
        (lambda t: t.assign(made="yesterday"), "dates like '31.12.2024'"),
        (lambda t: t.assign(alloy=range(len(t))), "'alloy' held text"),
        (lambda t: t.head(0), "no rows"),
    ],
)
def test_a_table_that_does_not_fit_leaves_no_file(outcome, model, tmp_path, change, message):
    change(parts(30, seed=9)).to_csv(tmp_path / "new.csv", index=False)
    with pytest.raises(TableError, match=message):
        predict(model, tmp_path / "new.csv", tmp_path / "out.csv")
    assert {file.name for file in tmp_path.iterdir()} == {"parts.model", "new.csv"}


def test_without_an_id_rows_are_numbered(outcome, model, tmp_path):
    parts(30, seed=9).drop(columns="part_id").to_csv(tmp_path / "new.csv", index=False)
    predict(model, tmp_path / "new.csv", tmp_path / "out.csv", rows=11)
    assert pd.read_csv(tmp_path / "out.csv")["row"].tolist() == list(range(1, 31))


def test_a_model_without_columns_cannot_predict_tables(outcome, tmp_path):
    mmc.save(outcome.model, tmp_path / "bare.model")
    with pytest.raises(ModelFileError, match="does not know its columns"):
        predict(tmp_path / "bare.model", tmp_path / "new.csv", tmp_path / "out.csv")


def test_the_loaded_model_predicts_frames(outcome, model):
    frame = outcome.chosen.examples.frame.head(50)
    assert (mmc.load(model).predict(frame) == outcome.model.predict(frame)).all()


class Page(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.links, self.open = set(), [], []

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.links += [value for name, value in attrs if name in ("src", "href", "xlink:href")]


def test_two_limits_without_an_undecided_zone_say_how_much_room_they_have(request_, outcome, tmp_path):
    assert card.room_of(outcome) is None
    both = finish(choose(replace(request_, max_error={"defect": 0.3, "fine": 0.4}), unwatched))
    most = both.model.guarantee_.feasible_up_to
    assert most >= 0.95
    room = card.room_of(both)
    assert percent(most, ROUND_FLOOR) in room
    assert percent(1 - most, ROUND_CEILING) in room
    for path in card.write(both, tmp_path / "both"):
        assert room in path.read_text("utf-8")


def test_the_card_says_what_is_promised_and_loads_nothing(outcome, tmp_path):
    markdown, html = card.write(outcome, tmp_path / "parts")
    page = Page()
    page.feed(html.read_text("utf-8"))
    assert "svg" in page.tags
    assert "script" not in page.tags
    assert page.links == ["data:,"]
    for text in (markdown.read_text("utf-8"), html.read_text("utf-8")):
        assert "Where it stops being true" in text
        assert "same population" in text
        assert "bounds on the training moments" in text
        for row in card.rows_of(outcome):
            assert row.promised in text
            assert row.interval in text
        for entry in outcome.chosen.tried:
            assert entry.name in text


LAYOUT = """<script>
const box = name => document.querySelector(name).getBoundingClientRect();
document.body.insertAdjacentHTML("beforeend", `<pre id="layout">${JSON.stringify({
  below: box("main").top - box("header").bottom,
  shifted: box("main").left - box("header").left,
  overflow: document.documentElement.scrollWidth - innerWidth,
  title: document.querySelector("h1").scrollWidth - document.querySelector("h1").clientWidth,
})}</pre>`);
</script></body>"""


@needs_chromium
@pytest.mark.parametrize("width", [1280, 500])
def test_the_card_in_a_browser_has_its_title_above_the_promise(outcome, tmp_path, width):
    page = card.write(outcome, tmp_path / "parts")[1].read_text("utf-8")
    assert "script-src" not in page
    page = re.sub(r'<meta http-equiv="Content-Security-Policy".*?>', "", page).replace("</body>", LAYOUT)
    dom, _, asked = browse(page, tmp_path / "browser", width)
    found = json.loads(re.search(r'<pre id="layout">(.*?)</pre>', dom)[1])
    assert asked == set()
    assert found["below"] >= 0
    assert found["shifted"] == 0
    assert found["overflow"] <= 0
    assert found["title"] <= 0


def test_names_from_files_are_shown_and_never_run(request_, tmp_path):
    evil = "<script>alert(1)</script>|`x`"
    table = parts().rename(columns={"weight": evil})
    table["verdict"] = np.where(table["verdict"] == "defect", "<b>bad</b>", "fine")
    table.to_csv(tmp_path / "evil.csv", index=False)
    request = replace(request_, path=tmp_path / "evil.csv", max_error={"<b>bad</b>": 0.1})
    markdown, html = card.write(finish(choose(request, unwatched)), tmp_path / "evil")
    for text in (html.read_text("utf-8"), re.sub(r"\\.", "", markdown.read_text("utf-8"))):
        assert "<script>" not in text
        assert "<b>bad" not in text
    rows = [line for line in markdown.read_text("utf-8").splitlines() if "script" in line]
    assert all(len(re.findall(r"(?<!\\)\|", line)) == 5 for line in rows)
