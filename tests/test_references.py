"""The files and tests that pages, docstrings and comments name exist."""

from __future__ import annotations

import ast
import functools
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest
from every import every

ROOT = Path(__file__).parent.parent
FOLDERS = ("tray", "tests", "docs", "icons", "installers", "native", ".ci")
PAGES = [
    *(ROOT / name for name in ("README.md", "CHANGELOG.md", "pyproject.toml")),
    *sorted(path for folder in (*FOLDERS, "examples") for path in (ROOT / folder).rglob("*.md")),
    *sorted(ROOT.glob("native/*.[ch]")),
]
PAGES.remove(ROOT / "docs" / "generated" / "coverage.md")  # measured before a release: a module may go meanwhile
PLACE = re.compile(
    r"`((?:tray|tests|docs|icons|native|installers|examples|\.ci)/[\w./*-]*)"
    r"|(?<![\w/.-])((?:tray|tests|docs|icons|native|installers|\.ci)/[\w./-]*\.(?:[ch]|md|py))\b"
)
TEST = re.compile(r"((?:[\w-]+/)*test_\w+\.py)::(\w+)")
FILE = re.compile(r"(?<![\w./-])((?:[\w-]+/)*\w+\.(?:[ch]|md|py))\b(?!/)")
STATEMENT = {tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT}  # a string after one of these is a docstring
# Names of built files, of other projects, and of examples.
ELSEWHERE = re.compile(r"^(?:dist|tray/native)/|/pine\.py$|^docs/plugin-hooks\.md$|^tNN_name\.py$|your")


def named(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def missing_tests(text: str) -> list[str]:
    return [f"{path}::{name}" for path, name in TEST.findall(text) if name not in _tests(ROOT / path)]


@functools.cache
def _tests(path: Path) -> set[str]:
    if not path.exists():
        return set()
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.ClassDef)}


@every("path", PAGES, ids=named)
def test_a_page_names_files_and_tests_that_are_there(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    places = {(quoted or plain).rstrip("./") for quoted, plain in PLACE.findall(text)} - {""}
    missing = [one for one in places if not any(list(base.glob(one)) for base in (path.parent, ROOT))]

    assert [place for place in missing if not ELSEWHERE.search(place)] == []
    assert missing_tests(text) == []


def prose(path: Path) -> Iterator[str]:
    """The comments and docstrings of a module; none if the module names no file."""
    text = path.read_text(encoding="utf-8")
    if not FILE.search(text):
        return
    before = tokenize.NEWLINE
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT or (token.type == tokenize.STRING and before in STATEMENT):
            yield token.string
        if token.type not in {tokenize.COMMENT, tokenize.NL}:
            before = token.type


@pytest.mark.parametrize("folder", FOLDERS)
def test_docstrings_and_comments_name_files_and_tests_that_are_there(folder: str) -> None:
    """By the whole path, or by that from tray/, tests/ or the module's own folder on."""
    missing = [
        (named(path), reference)
        for path in (ROOT / folder).rglob("*.py")
        for text in prose(path)
        for reference in (
            *(file for file in FILE.findall(text) if not ELSEWHERE.search(file) and not _exists(file, path.parent)),
            *missing_tests(text),
        )
    ]

    assert missing == []


def _exists(file: str, folder: Path) -> bool:
    return any((place / file).exists() for place in (ROOT, ROOT / "tray", ROOT / "tests", folder, folder.parent))
