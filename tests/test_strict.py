"""The strict loaders take plain values only and say where a text goes wrong."""

from __future__ import annotations

import contextlib
import json
import math
import re
from typing import Any

import pytest
from every import every
from hypothesis import given
from hypothesis import strategies as st
from proportion import is_in_proportion

from tray.errors import ConfigError
from tray.strict.document import Mark, nearest
from tray.strict.json_reader import load_json
from tray.strict.yaml_reader import load_yaml

LIMIT = 1024 * 1024

CONFIG = """\
# a comment
hooks:
  - event: turn_end
    command: ./beep.py
  - event: tool_before
    timeout: 10
    on: yes
alerts: {turn_end: {notify: true}}
"""

SCALARS: list[tuple[str, Any]] = [
    ("on", "on"),
    ("off", "off"),
    ("yes", "yes"),
    ("No", "No"),
    ("true", True),
    ("False", False),
    ("TRUE", True),
    ("tRue", "tRue"),
    ("~", None),
    ("null", None),
    ("", None),
    ("12", 12),
    ("-3", -3),
    ("0", 0),
    ("0644", "0644"),
    ("0o17", "0o17"),
    ("0x1f", "0x1f"),
    ("1_000", "1_000"),
    ("190:20:30", "190:20:30"),
    ("1.5", 1.5),
    ("1e3", 1000.0),
    (".5", 0.5),
    (".inf", ".inf"),
    (".nan", ".nan"),
    ("2001-12-14", "2001-12-14"),
    ("2001-12-14t21:59:43Z", "2001-12-14t21:59:43Z"),
    ("'12'", "12"),
    ('"true"', "true"),
    ("!!str 12", "12"),
    ("!!int 12", 12),
    ("!!float 12", 12.0),
    ("=", "="),
    ("|\n  two\n  lines", "two\nlines\n"),
    ("[a, {b: 1}]", ["a", {"b": 1}]),
]

DEEP = 33
BAD_YAML: list[tuple[str, str | bytes, Mark, str]] = [
    ("alias bomb", "a: &a [x]\nb: &b [*a,*a]\n", Mark(1, 4), "'&a'"),
    ("lone alias", "a: *b\n", Mark(1, 4), "'*b'"),
    ("anchored key", "&k a: 1\n", Mark(1, 1), "'&k'"),
    ("deep flow", "a: " + "[" * 500_000, Mark(1, 35), "deeper than 32"),
    ("deep block", "".join(" " * n + "a:\n" for n in range(DEEP)), Mark(33, 33), "deeper than 32"),
    ("deep mappings", "{a: " * 100_000, Mark(1, 129), "deeper than 32"),
    ("deep dashes", "- " * 100_000, Mark(1, 65), "deeper than 32"),
    ("a million keys", "".join(f"{n:x}k: 1\n" for n in range(1000)) * 1000, Mark(1, 1), "bytes"),
    ("many nodes", "a: [" + "1," * 200_000 + "]", Mark(1, 199_999), "more than 100000"),
    ("huge integer", "a:\n  b: " + "9" * 500_000, Mark(2, 6), "has 500000 characters"),
    ("huge float", "a: 1e999", Mark(1, 4), "too large"),
    ("duplicate key", "a: 1\nb:\n  c: 1\n  d: 2\n  c: 3\n", Mark(5, 3), "first in line 3"),
    ("duplicate quoted", "{a: 1, 'a': 2}", Mark(1, 8), "'a' is given twice"),
    ("NUL", "a: 1\nb: x\x00y\n", Mark(2, 5), "'\\x00'"),
    ("escape character", "a: \x1b[31m\n", Mark(1, 4), "'\\x1b'"),
    ("lone surrogate", "a: \ud800\n", Mark(1, 4), "'\\ud800'"),
    ("not UTF-8", b"a: 1\nb: \xc3\xa9\xff\n", Mark(2, 5), "0xff"),
    ("UTF-16", "a: 1".encode("utf-16"), Mark(1, 1), "not UTF-8"),
    ("tab", "a:\n\tb: 1\n", Mark(2, 1), "a tab cannot indent"),
    ("unclosed quote", 'a: "x\n', Mark(2, 1), "unexpected end"),
    ("unclosed list", "a: [x\nb: 1\n", Mark(2, 2), "',' or ']'"),
    ("colon in text", "a: b: c\n", Mark(1, 5), "not allowed"),
    ("python tag", "a: !!python/object/apply:os.system [ls]\n", Mark(1, 4), "!!python/object/apply"),
    ("own tag", "a: !env HOME\n", Mark(1, 4), "'!env'"),
    ("binary tag", "a: !!binary aGk=\n", Mark(1, 4), "'!!binary'"),
    ("set tag", "a: !!set {x}\n", Mark(1, 4), "'!!set'"),
    ("wrong tag", "a: !!int x\n", Mark(1, 4), "!!int"),
    ("boolean as int", "a: !!int true\n", Mark(1, 4), "!!int"),
    ("merge key", "a: {}\n<<: {b: 1}\n", Mark(2, 1), "merge keys"),
    ("boolean key", "true: 1\n", Mark(1, 1), "'true' is not text"),
    ("number key", "a:\n  1: x\n", Mark(2, 3), "'1' is not text"),
    ("empty key", "~: x\n", Mark(1, 1), "not text"),
    ("list as key", "? [a]\n: 1\n", Mark(1, 3), "not a list"),
    ("two documents", "a: 1\n---\nb: 2\n", Mark(2, 1), "second document"),
]

BAD_JSON: list[tuple[str, str | bytes, Mark, str]] = [
    ("empty", "", Mark(1, 1), "the end of the file"),
    ("blank", " \n ", Mark(2, 2), "the end of the file"),
    ("deep lists", '{"a":\n' + "[" * 500_000, Mark(2, 64), "deeper than 64"),
    ("deep objects", '{"a":' * 100_000, Mark(1, 321), "deeper than 64"),
    ("too long", '"' + "x" * LIMIT + '"', Mark(1, 1), "bytes"),
    ("many nodes", "[" + "1," * 200_000 + "1]", Mark(1, 200_000), "more than 100000"),
    ("huge integer", '{"a": ' + "9" * 500_000 + "}", Mark(1, 7), "has 500000 characters"),
    ("infinite float", "[1e999]", Mark(1, 2), "too large"),
    ("duplicate key", '{"a": 1,\n "b": {"a": 1},\n "a": 2}', Mark(3, 2), "first in line 1"),
    ("duplicate escaped", '{"a": 1, "\\u0061": 2}', Mark(1, 10), "'a' is given twice"),
    ("NaN", '{"a": NaN}', Mark(1, 7), "NaN is not"),
    ("minus infinity", "[1, -Infinity]", Mark(1, 5), "-Infinity is not"),
    ("trailing text", "{}\n x", Mark(2, 2), "'x'"),
    ("two values", "{} {}", Mark(1, 4), "end of the file"),
    ("trailing comma", '{"a": 1,\n}', Mark(2, 1), "a key in double quotes"),
    ("trailing comma in a list", "[1,]", Mark(1, 4), "a value"),
    ("missing comma", '{"a": 1 "b": 2}', Mark(1, 9), "`,` or `}`"),
    ("missing colon", '{"a" 1}', Mark(1, 6), "`:`"),
    ("comment", "{} // x", Mark(1, 4), "'// x'"),
    ("single quotes", "{'a': 1}", Mark(1, 2), "a key in double quotes"),
    ("leading zero", "[01]", Mark(1, 3), "`,` or `]`"),
    ("NUL", '{"a":\x00}', Mark(1, 6), "'\\x00}'"),
    ("NUL in text", '["a\x00"]', Mark(1, 4), "control character"),
    ("tab in text", '["a\tb"]', Mark(1, 4), "control character"),
    ("bad escape", '["\\x"]', Mark(1, 3), "escape"),
    ("unclosed text", '\n["abc', Mark(2, 2), "nterminated"),
    ("unclosed list", "[1", Mark(1, 3), "the end of the file"),
    ("not UTF-8", b'{"a":\n"\xe9"}', Mark(2, 2), "0xe9"),
]

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(), inner, max_size=5),
    max_leaves=20,
)


def test_every_entry_has_the_place_of_its_key_and_of_its_value() -> None:
    document = load_yaml(CONFIG, "c.yaml")
    value: Any = document.value

    assert value["hooks"][1] == {"event": "tool_before", "timeout": 10, "on": "yes"}
    assert document.marks["hooks", 1, "timeout"] == Mark(6, 5)
    assert document.value_marks["hooks", 1, "timeout"] == Mark(6, 14)
    assert document.marks["hooks", 1] == Mark(5, 5)
    assert document.location(("alerts", "turn_end", "notify")) == "c.yaml:8:21"
    assert document.location(("alerts", "turn_end", "notify"), value=True) == "c.yaml:8:29"


def test_a_place_that_is_not_there_is_that_of_the_entry_around_it() -> None:
    document = load_yaml(CONFIG, "c.yaml")

    assert document.location(("hooks", 0, "timeout", "x")) == "c.yaml:3:5"
    assert document.location(("nothing",)) == "c.yaml:1:1"


def test_json_has_the_same_places() -> None:
    document = load_json('{\r\n "é": [1, {"b":\r\n  null}]}', "c.json", limit=LIMIT)

    assert document.value == {"é": [1, {"b": None}]}
    assert document.marks["é",] == Mark(2, 2)
    assert document.value_marks["é",] == Mark(2, 7)
    assert document.location(("é", 1, "b"), value=True) == "c.json:3:3"


@every(("text", "value"), SCALARS)
def test_yaml_scalars_hold_no_surprise(text: str, value: Any) -> None:
    document: Any = load_yaml(f"a: {text}\n", "c.yaml").value
    found = document["a"]

    assert (type(found), found) == (type(value), value)


@pytest.mark.parametrize("text", ["", "# only a comment\n", "---\n", "\ufeff", b"\xef\xbb\xbf", b""])
def test_an_empty_yaml_file_is_an_empty_mapping(text: str | bytes) -> None:
    assert load_yaml(text, "c.yaml").value == {}


def test_a_byte_order_mark_moves_no_place() -> None:
    assert load_yaml(b"\xef\xbb\xbfa: 1", "c.yaml").marks["a",] == Mark(1, 1)
    assert load_json(b'\xef\xbb\xbf{"a": 1}', "c.json", limit=LIMIT).marks["a",] == Mark(1, 2)


@every(("text", "mark", "part"), [case[1:] for case in BAD_YAML], ids=[case[0] for case in BAD_YAML])
def test_bad_yaml_is_refused_at_its_place(text: str | bytes, mark: Mark, part: str) -> None:
    _assert_refused(lambda: load_yaml(text, "c.yaml"), "c.yaml", mark, part)


@every(("text", "mark", "part"), [case[1:] for case in BAD_JSON], ids=[case[0] for case in BAD_JSON])
def test_bad_json_is_refused_at_its_place(text: str | bytes, mark: Mark, part: str) -> None:
    _assert_refused(lambda: load_json(text, "c.json", limit=LIMIT), "c.json", mark, part)


@given(VALUES, st.sampled_from([None, 1, "\t"]), st.booleans())
def test_json_loads_agrees_on_every_valid_document(value: Any, indent: int | str | None, ascii_only: bool) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only)

    found = load_json(text, "c.json", limit=LIMIT).value

    assert found == json.loads(text)
    assert repr(found) == repr(json.loads(text))


@given(st.text(alphabet='{}[]",:0123.eE+-tru\\nal \n\x00é', max_size=30))
def test_whatever_json_loads_refuses_is_refused_here(text: str) -> None:
    try:
        found = load_json(text, "c.json", limit=LIMIT).value
    except ConfigError as error:
        _assert_helpful(error, "c.json")
        return

    assert found == json.loads(text)


@given(
    st.one_of(
        st.text(max_size=60),
        st.text(alphabet="ab:-[]{}&*!|>'\"#?%,~ \n\t1.\x00<=é", max_size=60),
        st.binary(max_size=60),
    )
)
def test_any_yaml_text_is_read_or_refused_with_a_place(text: str | bytes) -> None:
    try:
        document = load_yaml(text, "c.yaml")
    except ConfigError as error:
        _assert_helpful(error, "c.yaml")
        return

    assert _plain(document.value)


@every("load", [load_yaml, lambda text, path: load_json(text, path, limit=LIMIT)])
@every("part", ['"a\\\\', "[1,\n", "a: b\n", '{"a":\n', "#x", "- a\n", "\n", "? "])
def test_reading_takes_time_in_proportion(load: Any, part: str) -> None:
    def read(text: str) -> None:
        with contextlib.suppress(ConfigError):
            load(text, "x")

    assert is_in_proportion(read, part)


def test_the_path_of_an_error_cannot_command_a_terminal() -> None:
    with pytest.raises(ConfigError) as caught:
        load_yaml("a: *b", "x\x1b[31m\u202e.yaml")

    assert caught.value.message.isprintable()


@pytest.mark.parametrize(
    ("word", "known"),
    [("turn_ned", "turn_end"), ("TURN_END", "turn_end"), ("tool", ""), ("zzz", ""), ("", ""), ("x" * 100_000, "")],
)
def test_the_nearest_word_is_offered_or_none(word: str, known: str) -> None:
    assert nearest(word, ["turn_end", "session_end", "tool_before"]) == known


@pytest.mark.parametrize(("word", "known"), [("PreTolUse", "PreToolUse"), ("preTolUse", "preToolUse")])
def test_of_words_that_differ_in_capitals_the_one_in_the_users_own_is_offered(word: str, known: str) -> None:
    assert nearest(word, ["PreToolUse", "preToolUse", "Stop"]) == known


BLOCK = """
hooks:
  - event: a        # why
    prompt: |
      one

      two

    # of the next one
  - {event: b, command: ''}   # short
  -
    event: c
    files:
      - d  # last
# end
"""
GROUPS = """{"hooks": {"Pre": [{"matcher": "Bash",
   "hooks": [
     {"type": "command",
      "command": "x}"},
     {"type":"a"}]}], "Stop": [{"hooks":[{"command":"y"}]}]}}"""


@every(
    ("at", "text"),
    [
        (("hooks", 0), "- event: a        # why\n  prompt: |\n    one\n\n    two"),
        (("hooks", 1), "- {event: b, command: ''}   # short"),
        (("hooks", 2), "event: c\nfiles:\n  - d  # last"),
        (("hooks",), ""),
        (("hooks", 9), ""),
        (("hooks", "Pre", 0, "hooks", 0), '{"type": "command",\n "command": "x}"}'),
        (("hooks", "Pre", 0, "hooks", 1), '{"type":"a"}'),
        (("hooks", "Stop", 0, "hooks", 0), '{"command":"y"}'),
    ],
)
def test_the_excerpt_of_an_entry_is_its_own_lines(at: tuple[str | int, ...], text: str) -> None:
    document = load_json(GROUPS, "x", limit=LIMIT) if len(at) > 2 else load_yaml(BLOCK, "x")

    assert document.excerpt(at).startswith(text)
    assert at == ("hooks", 0) or document.excerpt(at) == text


def _assert_refused(load: Any, path: str, mark: Mark, part: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load()

    assert caught.value.message.startswith(f"{path}:{mark.line}:{mark.column}: ")
    assert part.lower() in caught.value.message.lower()
    _assert_helpful(caught.value, path)


def _assert_helpful(error: ConfigError, path: str) -> None:
    assert re.match(rf"{re.escape(path)}:\d+:\d+: \S", error.message)
    assert error.message.isprintable()
    assert len(error.message) < 250
    assert error.hint


def _plain(value: Any) -> bool:
    if isinstance(value, dict):
        return all(type(key) is str and _plain(item) for key, item in value.items())
    if isinstance(value, list):
        return all(map(_plain, value))
    return type(value) in {str, int, bool, type(None)} or (type(value) is float and math.isfinite(value))
