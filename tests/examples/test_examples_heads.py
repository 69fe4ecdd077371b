"""What the head comments of the examples say: how to declare a hook, and how to try it."""

from __future__ import annotations

import io
import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from examples.shelf import EXAMPLES, Shelf, shelf

from tray.cli import app, testing  # noqa: F401 - it adds its command
from tray.sources import hooktray
from tray.sources.configuration import parse

SCRIPTS = sorted(path.name for path in EXAMPLES.iterdir() if path.suffix in (".sh", ".py", ".mjs"))
DECLARED = yaml.safe_load((EXAMPLES / "hooktray.yaml").read_text())["hooks"]
ENDINGS = (".sh", ".py", ".mjs")

pytestmark = pytest.mark.xdist_group("examples")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shelf]:
    found = shelf(tmp_path_factory.mktemp("heads"))
    yield found
    found.house.close()


def head(name: str) -> str:
    """The first comment of a script, without its comment signs."""
    text = (EXAMPLES / name).read_text().partition("\n")[2]
    if name.endswith(".py"):
        return text.split('"""')[1]
    lines = text.splitlines()
    end = next(index for index, line in enumerate(lines) if not line.startswith(("#", "//")))
    return "\n".join(re.sub(r"^(#|//) ?", "", line) for line in lines[:end])


def tries(name: str) -> str:
    return " ".join(line.strip() for line in head(name).split("Try:\n")[1].strip().splitlines())


def test_each_language_has_at_least_four_examples() -> None:
    assert [len([name for name in SCRIPTS if name.endswith(ending)]) >= 4 for ending in ENDINGS] == [True] * 3


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_head_declares_what_the_configuration_declares(name: str) -> None:
    text = head(name)
    entries = [yaml.safe_load(line)[0] for line in text.splitlines() if line.strip().startswith("- {")]

    assert entries
    assert [entry for entry in entries if entry not in DECLARED] == []
    assert re.search(r"^Answers in: ", text, re.MULTILINE)
    assert "Needs " in text
    assert "exit" in text or "never fails" in text or "never stops anything" in text or "nothing is said" in text


def test_every_script_is_declared_and_every_declared_script_is_there() -> None:
    words = {word for hook in DECLARED for word in str(hook.get("command", "")).split() if word.startswith("./")}

    assert words == {f"./{name}" for name in SCRIPTS}
    assert all((EXAMPLES / name).stat().st_mode & 0o111 for name in SCRIPTS)


@pytest.mark.parametrize("name", SCRIPTS)
def test_what_a_head_tells_to_try_comes_out_as_it_says(
    place: Shelf, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes], name: str
) -> None:
    line = tries(name)
    if piped := re.match(r"echo '(.*?)' \| (hooktray .*)", line):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(piped[1].encode())))
        line = piped[2]
    program, *words = shlex.split(line)
    monkeypatch.setenv("PATH", place.environment["PATH"])

    code = app(["--home", str(place.house.root / "home"), *words], standalone_mode=False)

    assert (program, code or 0) == ("hooktray", 0), capfdbinary.readouterr()
    assert capfdbinary.readouterr().out


def test_the_index_names_every_example() -> None:
    index = (EXAMPLES / "README.md").read_text()

    assert [name for name in SCRIPTS if f"]({name})" not in index] == []
    assert [name for name in re.findall(r"\]\(([\w.]+)\)", index) if not Path(EXAMPLES / name).exists()] == []


def test_the_judge_is_one_prompt_hook_once_its_comment_signs_are_gone() -> None:
    text = (EXAMPLES / "hooktray.yaml").read_text()
    lines = [line.replace("  # ", "  ", 1) for line in text.splitlines() if line.startswith("  # ")]
    block = "\n".join(line for line in lines if not line.startswith(("  ----", "  llm:")))
    (judge,) = yaml.safe_load(block)

    assert (judge["type"], judge["name"]) == ("prompt", "llm judge")
    assert "$TOOL_INPUT" in judge["prompt"]


@pytest.mark.skipif("prompt" not in hooktray.KEYS, reason="this version has no prompt hooks")
def test_the_judge_is_good_configuration() -> None:
    text = (
        (EXAMPLES / "hooktray.yaml").read_text().replace("\n  # - event", "\n  - event").replace("\n  #   ", "\n    ")
    )

    assert "llm judge" in [hook.name for hook in parse(text, "/c/hooktray.yaml").hooks]
