"""A command that empties, moves or opens a folder above our files is about our files."""

from __future__ import annotations

from pathlib import Path

from every import every
from msgspec.structs import replace
from protection.calls import PLACES, lines, pairs, shell

from tray.model.decision import Verdict

# Words for the home, and for a folder between it and our files.
HOMES = ["~", "~/", "$HOME", '"$HOME"', "${HOME}", "${HOME:?}", "/home/u", "/home/u/", "/home", "/*", "..", "../"]
INNER = ["~/.config", "$HOME/.local", "/home/u/.local/state", "../.config", "~/.conf*", "~/.*"]


@every(("way", "folder"), pairs(lines("ways to take a folder away"), HOMES + INNER))
def test_what_takes_away_a_folder_above_our_files_takes_them_away(way: str, folder: str) -> None:
    assert shell(way.replace("{p}", folder)) >= Verdict.ASK


@every("line", lines("folders taken away by name"))
def test_what_finds_our_files_below_such_a_folder_is_seen(line: str) -> None:
    assert shell(line) >= Verdict.ASK


@every("line", lines("harmless to folders"))
def test_folders_without_our_files_are_their_owners_business(line: str) -> None:
    assert shell(line) is Verdict.ABSTAIN


@every(
    ("setting", "folder"),
    [
        (".codex/hooks.json", ".codex"),
        (".codex/config.toml", ".codex"),
        (".github/hooks/lint.json", ".github"),
        (".config/opencode/opencode.json", ".config"),
        (".cursor/hooks.json", ".cursor"),
    ],
)
def test_a_folder_with_an_agents_hook_settings_is_one_of_them(tmp_path: Path, setting: str, folder: str) -> None:
    project = tmp_path / setting.replace("/", "-")
    (project / setting).parent.mkdir(parents=True)
    (project / setting).write_text("{}")
    other = tmp_path / "other" / folder
    other.mkdir(parents=True, exist_ok=True)
    places = replace(PLACES, home=(tmp_path / "home").as_posix())

    found = [shell(f"rm -rf {one.as_posix()}", places=places) for one in (project / folder, other)]

    assert found == [Verdict.DENY, Verdict.DENY if folder == ".cursor" else Verdict.ABSTAIN]
