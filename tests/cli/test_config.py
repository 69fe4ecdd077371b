"""`hooktray config check`: what it says of good files, of bad ones, and of those that cannot be read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from every import every

from tray.cli import run_command
from tray.errors import ConfigError, HooktrayError

HOOK = "- {event: turn_end, command: /bin/true}\n"


def check(folder: Path, text: str | None, *words: str) -> int:
    """The command itself, in this process: its exit code. `text` None: there is no file."""
    path = folder / "hooktray.yaml"
    if text is not None:
        path.write_text(text)
    argv = ["--home", str(folder / "h"), "config", "check", str(path), *words]
    return run_command(argv)


def row(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    return dict(json.loads(capsys.readouterr().out))


@pytest.mark.parametrize(
    ("text", "count"), [("", "0 hooks"), (f"hooks:\n{HOOK}", "1 hook"), (f"hooks:\n{HOOK * 2}", "2 hooks")]
)
def test_a_good_file_is_called_good_with_the_number_of_its_hooks(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, count: str
) -> None:
    assert check(tmp_path, text) == 0

    assert capsys.readouterr().out == f"{tmp_path}/hooktray.yaml: good, {count}.\n"


@pytest.mark.parametrize(
    ("text", "warning", "remedy", "count"),
    [
        ("sources:\n- claude-code: ./nowhere.json\n", "nowhere.json", "correct this path, or put there what", 0),
        (
            f"hooks:\n{HOOK}- {{event: turn_end, command: python3 ./missing.py}}\n",
            "hooktray.yaml:3: ./missing.py: there is no such file",
            "it is looked up in ",
            2,
        ),
    ],
    ids=["source", "script"],
)
def test_warnings_come_first_and_the_file_is_still_good(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, warning: str, remedy: str, count: int
) -> None:
    assert check(tmp_path, text) == 0

    first, second, last = capsys.readouterr().out.splitlines()
    assert first.startswith("Warning: ")
    assert warning in first
    assert second.startswith(f"  {remedy}")
    assert last.endswith(f"good, {count} hooks.")
    check(tmp_path, text, "--json")
    assert [warning in one for one in row(capsys)["warnings"]] == [True]


def test_a_bad_file_is_an_error_with_its_place_and_cure(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        check(tmp_path, "hooks:\n- {event: turn_ends, command: x}\n")

    assert f"{tmp_path}/hooktray.yaml:2:4: hooks[0].event: unknown event `turn_ends`" in str(caught.value)
    assert "`turn_end`" in caught.value.hint


def test_json_output_and_exit_code_report_whether_the_file_is_good(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert check(tmp_path, "", "--json") == 0
    assert row(capsys) == {"file": f"{tmp_path}/hooktray.yaml", "good": True, "problem": None, "warnings": []}
    assert check(tmp_path, "volume: loud\n", "--json") == 1
    found = row(capsys)
    assert (found["good"], ":1:1: volume:" in found["problem"]) == (False, True)


@pytest.mark.parametrize(("make", "said"), [(False, "there is no such file"), (True, "cannot be read")])
def test_what_cannot_be_read_is_named(tmp_path: Path, make: bool, said: str) -> None:
    if make:
        (tmp_path / "hooktray.yaml").mkdir()

    with pytest.raises(HooktrayError) as caught:
        check(tmp_path, None)

    assert f"{tmp_path}/hooktray.yaml: {said}" in caught.value.message


NEAR = {
    "BASH": "Bash", "Bash(git:*)": "Bash", "Edit|Wirte": "Write", "run_shell_comand": "run_shell_command",
    "Edit, MULTIEDIT": "MultiEdit",
}  # fmt: skip
GOOD = (
    "bash", "shell|Shell", "Edit|Write|MultiEdit", "^(Edit|Write)$", "(?i)bash", "Write.*", "mcp__.*",
    "mcp__github__create_issue", "Task", "apply_patch", "send_to_telegram", "*", "",
)  # fmt: skip


@every("tool", [*NEAR, *GOOD])
def test_a_name_that_is_nearly_that_of_a_tool_is_warned_of(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], tool: str
) -> None:
    entry = f"- {{event: tool_before, tool: {json.dumps(tool)}, command: /bin/true}}"
    assert check(tmp_path, f"hooks:\n{entry}\n", "--json") == 0

    warnings = row(capsys)["warnings"]
    assert [f"write `{NEAR[tool]}` if" in one for one in warnings] == ([True] if tool in NEAR else [])
