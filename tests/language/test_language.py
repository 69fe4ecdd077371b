"""The catalogues are complete, match the code, and are chosen by locale."""

from __future__ import annotations

import ast
import re
import string
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from babel.messages.catalog import Catalog, Message
from babel.messages.mofile import read_mo
from babel.messages.pofile import read_po
from every import every
from scripts import loaded

from tray.language import FOLDER, count, pick_language, say
from tray.notify.alert import CHANNELS

pytestmark = pytest.mark.xdist_group("language")  # one worker reads the sentences once
PACKAGE = FOLDER.parent
catalogues = loaded("docs/catalogues.py")
MARKS = ("say", "phrase", "count", "plural")
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef)
WORDS = re.compile(r"[a-z]{2,} [a-z]{2,}")
HAN = re.compile(r"[\u4e00-\u9fff]")
TAG = re.compile(r"<[^>]*>")


@cache
def chinese() -> Catalog:
    with (FOLDER / "zh_CN.po").open("rb") as file:
        return read_po(file)


def messages(catalogue: Catalog) -> list[Message]:
    return [one for one in catalogue if one.id]


def forms(text: object) -> tuple[str, ...]:
    """Returns the text, or the singular and the plural of a sentence with a number."""
    return (text,) if isinstance(text, str) else tuple(text) if isinstance(text, tuple | list) else ()


def translations(catalogue: Catalog) -> dict[tuple[str, ...], tuple[str, ...]]:
    return {forms(one.id): forms(one.string) for one in messages(catalogue)}


@cache
def sentences() -> list[Message]:
    """Returns the sentences of the code and the templates."""
    return messages(catalogues.sentences(PACKAGE))


def english(folder: str = "") -> list[str]:
    """Returns the sentences below the folder, in the singular."""
    return [forms(one.id)[0] for one in sentences() if any(file.startswith(folder) for file, _ in one.locations)]


def names(text: str) -> tuple[set[str], list[str]]:
    """Returns the placeholders and the tags of a sentence."""
    return {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}, sorted(TAG.findall(text))


def marked(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in MARKS and node.args:
            text = node.args[0]
            if isinstance(text, ast.Constant) and isinstance(text.value, str):
                yield text.value


def test_the_chinese_catalogue_has_the_sentences_of_the_code() -> None:
    found = [one.id for one in messages(chinese())]

    assert found == [one.id for one in sentences()], "run python docs/catalogues.py"
    assert not chinese().obsolete


def test_babel_finds_every_sentence_of_the_code() -> None:
    """On Python 3.11, Babel finds no call inside an f-string."""
    assert {text for path in PACKAGE.rglob("*.py") for text in marked(path)} <= {*english()}


def test_every_sentence_has_a_chinese_one() -> None:
    assert [one.id for one in messages(chinese()) if one.fuzzy or not all(forms(one.string)) or not one.string] == []
    untouched = {forms(one.id)[0] for one in messages(chinese()) if not HAN.search("".join(forms(one.string)))}
    assert untouched == {"{word} ({number})", "{agent} {event} {when}", "{what}?"}  # nothing but names


def test_a_translation_names_what_the_sentence_names() -> None:
    pairs = [(forms(one.id)[-1], text) for one in messages(chinese()) for text in forms(one.string)]

    assert [one for one, text in pairs if names(text) != names(one)] == []


def test_a_sentence_of_the_page_cannot_end_an_attribute() -> None:
    pages = {*english("web/templates/")}
    found = [(*one, *other) for one, other in translations(chinese()).items() if one[0] in pages]

    assert [text for texts in found for text in texts if '"' in TAG.sub("", text)] == []


def test_the_compiled_catalogue_is_in_step_with_its_source() -> None:
    with (FOLDER / "zh_CN.mo").open("rb") as file:
        compiled = read_mo(file)

    assert translations(compiled) == translations(chinese())


@pytest.mark.parametrize("package", ["app", "desktop", "notify"])
def test_what_is_read_in_passing_is_short(package: str) -> None:
    assert [one for one in english(f"{package}/") if len(one) > 80 or one.endswith(".")] == []


@pytest.mark.parametrize(
    "module",
    ["approvals/review.py", "engine/sentence.py", "ipc/requests.py", "notify/policy.py", "notify/alert_gate.py"],
)
def test_no_sentence_is_put_together_beside_the_catalogues(module: str) -> None:
    """Two English words in a row are a sentence; what names something for machines has no spaces."""
    tree = ast.parse((PACKAGE / module).read_text(encoding="utf-8"))
    known = {text for one in messages(chinese()) for text in forms(one.id)}
    texts = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    docs = {ast.get_docstring(node, clean=False) for node in ast.walk(tree) if isinstance(node, DOCUMENTED)}

    assert [text for text in texts if WORDS.search(text) and text not in {*known, *docs, *CHANNELS}] == []


@every(
    ("environment", "wanted"),
    [
        ({}, "en"),
        ({"LANG": "zh_CN.UTF-8"}, "zh_CN"),
        ({"LANG": "zh_SG.UTF-8"}, "zh_CN"),
        ({"LANG": "zh_TW.UTF-8"}, "en"),
        ({"LANG": "zh-Hans-CN"}, "zh_CN"),
        ({"LANG": "de_DE.UTF-8"}, "en"),
        ({"LANG": "zh_CN.UTF-8", "LC_ALL": "C.UTF-8"}, "en"),
        ({"LANG": "en_GB.UTF-8", "LC_MESSAGES": "zh_CN"}, "zh_CN"),
        ({"LANG": "en_GB.UTF-8", "LANGUAGE": "de:zh_CN:en"}, "zh_CN"),
    ],
)
def test_the_locale_chooses(environment: dict[str, str], wanted: str) -> None:
    assert pick_language(environment) == wanted


def test_the_reader_gets_his_language(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LANGUAGE", "zh_CN")
    chinese = say("Only {name}", name="{x}"), count("{n} agent", "{n} agents", 1)
    monkeypatch.setenv("LANGUAGE", "en")

    assert chinese == ("仅 {x}", "1 个代理")
    assert (say("Only {name}", name="{x}"), count("{n} agent", "{n} agents", 2)) == ("Only {x}", "2 agents")


def test_a_sentence_that_nobody_translated_is_said_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LANGUAGE", "zh_CN")

    text = "nobody knows this one"
    assert say(text) == text
