"""YAML as configs have it: plain values with their lines; everything else is one clear error."""

import math

import pytest

from mmc.experiments.errors import ConfigError
from mmc.experiments.yaml_lines import LARGEST, line_of, read


def reading(tmp_path, text, encoding="utf-8"):
    path = tmp_path / "c.yaml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode(encoding))
    return read(path)


def test_every_key_has_its_line(tmp_path):
    document, lines = reading(tmp_path, "a: 1\nb:\n  c: [x, {d: 2}]\n")
    assert document == {"a": 1, "b": {"c": ["x", {"d": 2}]}}
    assert lines["b", "c"] == 3
    assert lines["b", "c", 1, "d"] == 3
    assert line_of(("b", "nothing", 4), lines) == 2


@pytest.mark.parametrize(
    ("written", "value"),
    [
        *[("1e-3", 1e-3), ("1.", 1.0), (".5", 0.5), ("-3", -3), ("+4", 4), ("010", 10), ("0x1F", 31), ("0o17", 15)],
        *[("yes", "yes"), ("No", "No"), ("on", "on"), ("true", True), ("False", False), ("~", None), ("", None)],
        *[("2024-01-01", "2024-01-01"), ("1:30", "1:30"), ("1_000", "1_000"), ("'5'", "5"), ("0,2", "0,2")],
        *[(".inf", math.inf), ("-.INF", -math.inf), ("1e999", math.inf), ("=", "="), ("10e", "10e")],
    ],
)
def test_plain_words_mean_what_they_mean_in_yaml_1_2(tmp_path, written, value):
    document, _ = reading(tmp_path, f"key: {written}\n")
    assert document["key"] == value
    assert type(document["key"]) is type(value)


def test_not_a_number(tmp_path):
    assert math.isnan(reading(tmp_path, "key: .nan\n")[0]["key"])


BOMB = "a: &a [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{new}: &{new} [{', '.join([f'*{old}'] * 10)}]\n" for old, new in zip("abcdefgh", "bcdefghi", strict=True)
)


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        (BOMB, 1, "more than 50,000 values"),
        ("a: &r [*r]\n", 1, "nested too deeply"),
        ("a: " + "[" * 3000, None, "nested too deeply"),
        ("a: 1\n? [b, c]\n: 2\n", 2, "a key is text"),
        ("a: 1\n---\nb: 2\n", 2, "a second document begins here"),
        ("a:\n\tb: 2\n", 2, "a tab; indent with spaces"),
        ("a: b: c\n", 1, "put text with a colon in quotes"),
        ("a: 1\n  b: 2\n", 2, "a colon inside text, or wrong indentation"),
        ("a: [1, 2\n", None, "the file ends inside quotes or brackets"),
        ("a: 1\na: 2\n", 2, "'a' is given twice"),
        ('a: 1\nb: "\\e[31m"\n', 2, "the character U+001B cannot stand in a config"),
        ('a: 1\n"b\\n": 2\n', 2, "the character U+000A cannot stand in a key"),
        ("a: 1\nb: \x00\n", 2, "the character U+0000 cannot stand in a config"),
        ('a: "\\ud800"\n', 1, "the character U+D800"),
        (b"a: caf\xe9\n", 1, "save the file as UTF-8"),
        ("a: !!python/name:os.system\n", 1, "is not for configs"),
        ("a: !!set {b}\n", 1, "is not for configs"),
        ("a: 1\nb: " + "9" * 5000, 2, "is no number that can be read"),
        ("a: !!int x\n", 1, "is no number that can be read"),
        ("k" * 201 + ": 1\n", 1, "a key of 201 characters"),
        ("a: " + "x" * LARGEST, None, "larger than 500,000 bytes"),
        ("- a\n- b\n", 1, "a config is a mapping of keys"),
        ("", None, "the file is empty"),
        ("a: *b\n", 1, "undefined alias"),
    ],
)
def test_what_is_no_plain_yaml_is_refused_in_a_persons_words(tmp_path, text, line, words):
    with pytest.raises(ConfigError) as caught:
        reading(tmp_path, text)
    place = f"{tmp_path / 'c.yaml'}:" + ("" if line is None else f"{line}: ")
    assert str(caught.value).startswith(place)
    assert words in str(caught.value)


def test_aliases_are_the_same_values(tmp_path):
    assert reading(tmp_path, "a: &x {b: 1}\nc: *x\n")[0] == {"a": {"b": 1}, "c": {"b": 1}}


def test_files_of_other_editors(tmp_path):
    assert reading(tmp_path, "a: é\r\nb: 2\r\n", "utf-8-sig")[0] == {"a": "é", "b": 2}
    assert reading(tmp_path, "a: é\n", "utf-16")[0] == {"a": "é"}


def test_a_folder_is_no_config(tmp_path):
    with pytest.raises(ConfigError, match="cannot be read"):
        read(tmp_path)


def test_a_table_is_no_config_and_the_message_says_what_to_type(tmp_path):
    (tmp_path / "mine.csv").write_text("a,kind\n1,x\n")
    with pytest.raises(ConfigError, match=r"this is a table, not a config; `mmc fit .*mine\.csv --target COLUMN`"):
        read(tmp_path / "mine.csv")
