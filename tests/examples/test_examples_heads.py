"""What the head comments of the examples say: how to declare a hook, and how to try it."""

from __future__ import annotations

import io
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from every import every
from examples.shelf import EXAMPLES, Shelf

from tray.cli import run_command
from tray.sources.configuration import parse

SCRIPTS = sorted(path.name for path in EXAMPLES.iterdir() if path.suffix in (".sh", ".py", ".mjs"))
DECLARED = yaml.safe_load((EXAMPLES / "hooktray.yaml").read_text())["hooks"]
ENDINGS = (".sh", ".py", ".mjs")

pytestmark = pytest.mark.xdist_group("examples")


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


@every("name", SCRIPTS)
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
    shared: Shelf, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes], name: str
) -> None:
    line = tries(name)
    if piped := re.match(r"echo '(.*?)' \| (hooktray .*)", line):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(piped[1].encode())))
        line = piped[2]
    program, *words = shlex.split(line)
    monkeypatch.setenv("PATH", shared.environment["PATH"])

    code = run_command(["--home", str(shared.house.root / "home"), *words])

    assert (program, code) == ("hooktray", 0), capfdbinary.readouterr()
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


def test_the_judge_is_good_configuration() -> None:
    text = (
        (EXAMPLES / "hooktray.yaml").read_text().replace("\n  # - event", "\n  - event").replace("\n  #   ", "\n    ")
    )

    assert "llm judge" in [hook.name for hook in parse(text, "/c/hooktray.yaml").hooks]


ODD: dict[str, object] = {
    "wrong types": {
        "event": [],
        "hook_event_name": {},
        "session_id": None,
        "cwd": 3,
        "session": 4,
        "tool": "x",
        "tool_name": 7,
        "tool_input": 5,
        "tool_names": 7,
        "message": [1],
        "prompt": {"a": None},
        "notification": 7,
        "response": [],
        "summary": {},
        "last_assistant_message": 4,
        "transcript_path": 9,
        "stop_hook_active": "yes",
    },
    "wrong types inside": {
        "session": {"cwd": 9},
        "tool": {"name": 3, "args": {"path": "x", "content": [], "oldString": "a", "newString": "b"}},
        "tool_input": {"command": ["rm"], "file_path": 7},
        "tool_names": [1, None],
        "transcript_path": "/nowhere",
    },
}
ARGUMENTS = {"cached.py": ["60", "cat"], "rate_limit.py": ["5", "60"], "tests_before_stop.sh": ["true"]}
PROGRAMS = {".py": sys.executable, ".mjs": "node", ".sh": "sh"}


def test_no_example_stumbles_over_a_field_that_is_missing_or_odd(tmp_path: Path) -> None:
    started = {}
    for name in SCRIPTS:
        if name == "webhook_post.mjs":
            continue  # it would need somebody to post to; another test has a server
        for odd, payload in ODD.items():
            argv = [PROGRAMS[Path(name).suffix], str(EXAMPLES / name), *ARGUMENTS.get(name, [])]
            with (tmp_path / "payload").open("w+b") as stdin:
                stdin.write(json.dumps(payload).encode())
                stdin.seek(0)
                (tmp_path / "payload").unlink()
                environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
                started[name, odd] = subprocess.Popen(
                    argv,
                    stdin=stdin,
                    env=environment,
                    cwd=tmp_path,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.PIPE,
                )

    ended = {each: (process.communicate(timeout=60)[1], process.returncode) for each, process in started.items()}
    assert {each: end for each, end in ended.items() if end != (b"", 0)} == {}
