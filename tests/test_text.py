"""Foreign text is harmless when shown and holds no secret when kept."""

from __future__ import annotations

import html
import sys
import unicodedata

from every import every
from hypothesis import given
from hypothesis import strategies as st
from proportion import is_in_proportion

from tray.text import escape_markup, first_line, printable, sanitise

HOSTILE = st.text(
    st.one_of(
        st.characters(),
        st.sampled_from(
            "\u200d\ufe0f\u0301\u0316\u0338\u202e\x1b[]0;m\\\x9b\x07 \n\t\ud800\u2adc\u0958\u1100\u1161😀👩🏽"
        ),
    )
)

LINES = [
    ("plain text stays", "plain text stays"),
    ("  two \t\r\n lines\u2028and\u3000more  ", "two lines and more"),
    ("\x1b[31mred\x1b[0m \x9b1mbold\x9b0m", "red bold"),
    ("\x1b]8;;http://x.example\x07link\x1b]8;;\x1b\\ end", "link end"),
    ("\x1b]0;never closed", "0;never closed"),
    ("\x1bPq#0\x1b\\sixel \x1b(Bset \x1bcreset", "sixel set reset"),
    ("pay\u202efdp.exe\u2066x\u2069", "payfdp.exex"),
    ("zero\u200bwidth\ufeff\u2060 \u00adsoft", "zerowidth soft"),
    ("tag\U000e0041\U000e007fs", "tags"),
    ("a\x00b\x7fc\x85d", "abc d"),
    ("lone\ud800 non\ufffe\ufdd0char\U0010ffff", "lone nonchar"),
    ("e\u200b\u0301te\u0301", "été"),
    ("👩\u200d💻 \u2764\ufe0f\u200d🔥 a\u200db", "👩\u200d💻 \u2764\ufe0f\u200d🔥 ab"),
    ("\u3164\u2800", ""),
    ("z" + "\u0301\u0316" * 40, "ź" + "\u0316" * 4 + "\u0301" * 3),
]


@every(("text", "shown"), LINES)
def test_a_line_shows_only_what_it_says(text: str, shown: str) -> None:
    assert sanitise(text, 200) == shown


def test_no_control_or_format_character_of_unicode_survives() -> None:
    known = [chr(code) for code in range(sys.maxunicode + 1) if unicodedata.category(chr(code)) not in {"Cn", "Co"}]
    everything = " ".join(f"a{char}b" for char in known)

    shown = sanitise(everything, sys.maxunicode * 8)

    assert {char for char in shown if unicodedata.category(char) in {"Cc", "Cf", "Cs", "Zl", "Zp"}} == set()
    assert len(shown) > len(known) * 2


@given(HOSTILE, st.integers(min_value=-1, max_value=40))
def test_sanitising_is_bounded_clean_and_changes_nothing_the_second_time(text: str, limit: int) -> None:
    shown = sanitise(text, limit)

    assert len(shown) <= max(limit, 0)
    assert sanitise(shown, limit) == shown
    assert shown == unicodedata.normalize("NFC", shown).strip()
    assert {char for char in shown if unicodedata.category(char) in {"Cc", "Cf", "Cs"}} <= {"\u200d"}


@given(HOSTILE, st.integers(min_value=0, max_value=40))
def test_printable_text_keeps_lines_and_nothing_else_that_commands(text: str, limit: int) -> None:
    shown = printable(text, limit)

    assert len(shown) <= limit
    assert printable(shown, limit) == shown
    assert {char for char in shown if unicodedata.category(char) in {"Cc", "Cf", "Cs"}} <= {"\u200d", "\n"}


@every(
    ("text", "limit", "shown"),
    [
        ("abcdef", 6, "abcdef"),
        ("abcdefg", 6, "abcde…"),
        ("abcd efg", 6, "abcd…"),
        ("abq\u0301\u0316d", 5, "ab…"),
        ("ab👩\u200d💻d", 5, "ab…"),
        ("ab👍🏽cd", 4, "ab…"),
        ("abc", 1, "…"),
        ("abc", 0, ""),
        ("x" + "\u0301" * 5000 + "secret part", 20, "x" + "\u0301" * 8 + "…"),
    ],
)
def test_a_cut_is_marked_and_never_splits_a_letter(text: str, limit: int, shown: str) -> None:
    assert sanitise(text, limit) == unicodedata.normalize("NFC", shown)


def test_printable_keeps_the_shape_of_a_traceback() -> None:
    text = '\x1b[1mTraceback\x1b[0m:\r\n\tFile "x"\rError\u2028end\n\n'

    assert printable(text) == 'Traceback:\n    File "x"\nError\nend'


def test_the_first_line_is_the_first_with_something_in_it() -> None:
    assert first_line("\n \u200b\n\x1b[31m\n  no: -rf \n more") == "no: -rf"
    assert first_line("\n\n") == ""


@given(HOSTILE)
def test_markup_is_escaped_as_the_standard_library_does(text: str) -> None:
    assert escape_markup(text) == html.escape(text, quote=False)


@every("part", ["\u0300\u0316", "\x1b]", "\x1b[1;", "\x1b[ ", "\u200d", "👩\u200d", "é ", "\n"])
def test_sanitising_takes_time_in_proportion(part: str) -> None:
    assert is_in_proportion(lambda text: (sanitise(text, 500), printable(text)), part)


def test_text_of_several_plain_lines_comes_out_as_any_other() -> None:
    lines = ["", "no\n", "one\ntwo", "\n one\n\n  two \n \n", " x", "a  b\n\n", "tab\tx\n", "x" * 30 + "\n"]

    for text in lines:
        assert printable(text, 20) == printable(f"\x1b[0m{text}", 20)  # which is not plain
