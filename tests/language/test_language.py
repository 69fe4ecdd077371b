"""What people read: the catalogues are whole, in step with the code, and chosen by locale."""

from __future__ import annotations

import ast
import re
import string
import subprocess
import sys
from pathlib import Path

import pytest
from every import every

from tray.language import FOLDER, build, count, pick_language, say
from tray.notify.alert import CHANNELS

EN, ZH = (build.parse_po(FOLDER / f"{name}.po") for name in ("en", "zh_CN"))
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef)
WORDS = re.compile(r"[a-z]{2,} [a-z]{2,}")
HAN = re.compile(r"[\u4e00-\u9fff]")


def names(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}


def test_the_english_catalogue_is_what_the_code_says() -> None:
    assert build.english(build.collect()) == EN, "run python -m tray.language.build"


def test_every_sentence_has_a_chinese_one() -> None:
    assert list(ZH) == list(EN)
    assert [one for one, entry in ZH.items() if not all(entry.translations) or not entry.translations] == []
    untouched = {one for one, entry in ZH.items() if not HAN.search("".join(entry.translations))}
    assert untouched == {"{word} ({number})", "{agent} {event} {when}", "{what}?"}  # nothing but names


def test_a_translation_names_what_the_sentence_names() -> None:
    pairs = [(entry.many or one, text) for one, entry in ZH.items() for text in entry.translations]
    wrong = [one for one, text in pairs if names(text) != names(one)]

    assert wrong == []


def test_the_compiled_catalogue_is_in_step_with_its_source() -> None:
    assert (FOLDER / "zh_CN.mo").read_bytes() == build.render_mo("zh_CN", ZH)


def test_sentences_begin_and_end_calmly() -> None:
    assert [one for one in EN if len(one) > 160 or one.endswith("!") or one != one.strip()] == []


def test_only_a_button_of_the_page_that_asks_first_ends_in_dots() -> None:
    code = [one for path in FOLDER.parent.iterdir() if path.is_dir() for one in build.collect(path)]
    pages = build.collect(FOLDER.parent / "web")

    assert [one for one in code if one.endswith("…") and one not in pages] == []


@pytest.mark.parametrize("package", ["app", "desktop", "notify"])
def test_what_is_read_in_passing_is_short(package: str) -> None:
    assert [one for one in build.collect(FOLDER.parent / package) if len(one) > 80 or one.endswith(".")] == []


@pytest.mark.parametrize(
    "module",
    ["approvals/review.py", "engine/explain.py", "ipc/requests.py", "notify/policy.py", "notify/throttle.py"],
)
def test_no_sentence_is_put_together_beside_the_catalogues(module: str) -> None:
    """Two English words in a row are a sentence; what names something for machines has no spaces."""
    tree = ast.parse((FOLDER.parent / module).read_text(encoding="utf-8"))
    known = {text for entry in EN.values() for text in (entry.one, entry.many)}
    texts = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    docs = {ast.get_docstring(node, clean=False) for node in ast.walk(tree) if isinstance(node, DOCUMENTED)}

    assert [text for text in texts if WORDS.search(text) and text not in {*known, *docs, *CHANNELS}] == []


@pytest.mark.parametrize("name", ["tray.once", "tray.relay"])
def test_what_answers_without_a_tray_has_no_catalogues(name: str) -> None:
    code = f"import sys, {name}, tray.engine.pipeline; print('tray.language' in sys.modules)"
    done = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, timeout=60)

    assert (done.stdout, done.stderr) == ("False\n", "")


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


def test_a_catalogue_survives_being_written_and_read(tmp_path: Path) -> None:
    entries = {
        'a "b" \\ {c}\n': build.CatalogEntry('a "b" \\ {c}\n', "", ("d\n\\",)),
        "one": build.CatalogEntry("one", "many", ("x", "y")),
    }
    path = tmp_path / "x.po"
    path.write_text(build.render_po("en", entries), encoding="utf-8")

    assert build.parse_po(path) == entries
