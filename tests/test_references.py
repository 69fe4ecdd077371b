"""What a page, a docstring or a comment names is there: each file, and each test by its name."""

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
CODE = sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py"))
PAGES = [
    ROOT / "README.md",
    ROOT / "CHANGELOG.md",
    *sorted(ROOT.glob("docs/**/*.md")),
    *sorted(ROOT.glob("tests/**/*.md")),
]
TEXTS = [ROOT / "pyproject.toml", *sorted(ROOT.glob("native/*.[ch]")), *sorted(ROOT.glob("tests/torture/*.c"))]
OURS = re.compile(r"(?<![\w/.-])((?:tray|tests|docs|icons|native|installers|\.ci)/[\w./-]*\.(?:[ch]|md|py))\b")
TEST = re.compile(r"((?:[\w-]+/)*test_\w+\.py)::(\w+)")
FILE = re.compile(r"(?<![\w./-])((?:[\w-]+/)*\w+\.(?:[ch]|md|py))\b(?!/)")
STATEMENT = {tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT}  # a string after one of these is a docstring
ELSEWHERE = {  # files that are none of ours
    "docs/plugin-hooks.md",  # X-Code's
    "tNN_name.py",  # a form
    "tray/agents/pine.py",  # of docs/new-agent.md, which a reader writes
}


def named(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def missing_tests(text: str) -> list[str]:
    """Of tests named with their file those that are not there."""
    return [f"{path}::{name}" for path, name in TEST.findall(text) if name not in _tests(ROOT / path)]


@functools.cache
def _tests(path: Path) -> set[str]:
    if not path.exists():
        return set()
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.ClassDef)}


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


@every("path", [*PAGES, *TEXTS], ids=named)
def test_a_page_names_files_and_tests_that_are_there(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    files = {*OURS.findall(text)} - ELSEWHERE

    assert sorted(file for file in files if not (ROOT / file).exists()) == []
    assert missing_tests(text) == []


@pytest.mark.parametrize("folder", FOLDERS)
def test_docstrings_and_comments_name_files_and_tests_that_are_there(folder: str) -> None:
    """By the whole path, or by that from tray/, tests/ or the module's own folder on."""
    missing = [
        (named(path), reference)
        for path in CODE
        if path.is_relative_to(ROOT / folder)
        for text in prose(path)
        for reference in (
            *(file for file in FILE.findall(text) if file not in ELSEWHERE and not _exists(file, path.parent)),
            *missing_tests(text),
        )
    ]

    assert missing == []


def _exists(file: str, folder: Path) -> bool:
    return any((place / file).exists() for place in (ROOT, ROOT / "tray", ROOT / "tests", folder, folder.parent))
