"""Agents' tools do not change the Python that Hooktray runs from, and a project's own environment stays usable."""

from __future__ import annotations

import sys
import sysconfig
from pathlib import Path

import pytest
from every import every
from msgspec.structs import replace
from protection.calls import ORDINARY_TOOLS, PLACES, event, lines, shell, verdict

from tray.engine.stores import find_protected_paths
from tray.model.decision import Verdict
from tray.paths import locate
from tray.protection.protected_paths import ProtectedPaths, find_environments

ROOT = "/home/u/p/.venv"
SITE = f"{ROOT}/lib/python3.11/site-packages"
TOOL = "/home/u/.local/share/pipx/venvs/hooktray"
RELAY = "/home/u/.local/share/hooktray/bin"
USER_SITE = "/home/u/.local/lib/python3.11/site-packages"

SHARED = replace(
    PLACES, environments=find_environments([SITE], [ROOT], ["/home/u/.pyenv/versions/3.11.7/lib/python3.11"])
)
OWN = replace(
    PLACES,
    own=(*PLACES.own, TOOL, RELAY),
    environments=find_environments([f"{TOOL}/lib/python3.11/site-packages"], [TOOL]),
)
UV = replace(PLACES, environments=find_environments([], ["/home/u/.local/share/uv/tools/hooktray"]))
USER = replace(PLACES, environments=find_environments([USER_SITE], []))
ALL = replace(
    OWN, environments=find_environments([SITE, USER_SITE], [ROOT, TOOL, "/home/u/.local/share/uv/tools/hooktray"])
)


@every("line", lines("development"))
def test_a_project_with_hooktray_in_its_environment_is_worked_on_freely(line: str) -> None:
    assert [shell(line, places=places) for places in (SHARED, OWN, UV, USER)] == [Verdict.ABSTAIN] * 4


def test_no_ordinary_call_is_refused_for_the_sake_of_the_environment() -> None:
    cases = [event("Bash", {"command": line}) for line in lines("ordinary")]
    cases += [event(*tool) for tool in ORDINARY_TOOLS]

    assert [one.tool for one in cases if verdict(one, places=ALL)] == []


@every(
    ("line", "expected"),
    [
        *((line, Verdict.DENY) for line in lines("denied in an environment")),
        *((line, Verdict.ASK) for line in lines("asked about in an environment")),
    ],
)
def test_a_command_that_changes_hooktrays_environment_is_denied_or_asked_about(line: str, expected: Verdict) -> None:
    assert shell(line, places=SHARED) is expected


@every(
    ("places", "line"),
    [
        *((OWN, line) for line in lines("managed installations")),
        *((UV, f"uv tool {words}") for words in ("upgrade hooktray", "upgrade --all", "uninstall hooktray")),
    ],
)
def test_an_installed_hooktray_is_changed_only_after_a_question(places: ProtectedPaths, line: str) -> None:
    assert shell(line, places=places) is Verdict.ASK


@every("line", lines("an environment of our own"))
def test_an_environment_of_our_own_and_the_relays_folder_are_protected_like_our_files(line: str) -> None:
    assert shell(line, places=OWN) is Verdict.DENY


@every(
    ("places", "path", "expected"),
    [
        (SHARED, f"{SITE}/evil.pth", Verdict.DENY),
        (SHARED, f"{SITE}/sitecustomize/__init__.py", Verdict.DENY),
        (SHARED, f"{ROOT}/pyvenv.cfg", Verdict.DENY),
        (SHARED, f"{SITE}/msgspec/__init__.py", Verdict.ASK),
        (SHARED, f"{ROOT}/bin/activate", Verdict.ABSTAIN),
        (SHARED, "/home/u/p/setup.py", Verdict.ABSTAIN),
        (SHARED, "/home/u/p/sitecustomize.py", Verdict.ABSTAIN),
        (OWN, f"{TOOL}/lib/python3.11/site-packages/msgspec/__init__.py", Verdict.DENY),
        (OWN, f"{RELAY}/relay.table", Verdict.DENY),
        (OWN, f"{SITE}/evil.pth", Verdict.ABSTAIN),
        (USER, f"{USER_SITE}/usercustomize.py", Verdict.DENY),
        (USER, f"{USER_SITE}/requests/api.py", Verdict.ASK),
    ],
)
@every("tool", ["Write", "Edit"])
def test_a_file_tool_is_judged_too(places: ProtectedPaths, path: str, expected: Verdict, tool: str) -> None:
    assert verdict(event(tool, {"file_path": path, "content": "x"}), places=places) is expected


@pytest.mark.skipif(sys.platform == "win32", reason="symbolic links need a right there")
def test_a_link_leads_nobody_into_the_environment(tmp_path: Path) -> None:
    site = tmp_path / "env" / "lib" / "site-packages"
    site.mkdir(parents=True)
    (tmp_path / "link").symlink_to(site)
    places = ProtectedPaths(home="/home/u", environments=find_environments([str(site)], [str(tmp_path / "env")]))

    for found in (
        event("Write", {"file_path": str(tmp_path / "link" / "evil.pth")}),
        event("Bash", {"command": f"echo x > {tmp_path}/link/evil.pth"}),
    ):
        assert verdict(found, places=places) is Verdict.DENY


def test_a_relative_path_inside_the_environment_is_seen() -> None:
    found = replace(event("Bash", {"command": "mv x y; rm -rf msgspec"}), cwd=SITE)

    assert verdict(found, places=SHARED) is Verdict.ASK


@pytest.mark.skipif(sys.prefix == sys.base_prefix, reason="no environment, but the Python itself")
def test_the_environment_that_a_process_runs_from_is_found(tmp_path: Path) -> None:
    found = find_protected_paths(locate(str(tmp_path)), {}).environments

    assert Path(sys.prefix).as_posix() in found.shared
    assert Path(sysconfig.get_path("purelib")).as_posix() in found.packages
    assert locate(str(tmp_path)).relay_folder.as_posix() in find_protected_paths(locate(str(tmp_path)), {}).own


def test_an_environment_is_told_by_what_made_it() -> None:
    ours = ("/h/.local/share/pipx/venvs/hooktray", "/h/.local/share/uv/tools/hooktray", "/usr/lib/hooktray")
    found = find_environments([f"{ours[0]}/lib/python3/site-packages", SITE], [*ours, ROOT, "/h/src/hooktray/.venv"])

    assert found.own == ours
    assert found.shared == (ROOT, "/h/src/hooktray/.venv")
    assert (found.packages, found.tools) == ((SITE,), frozenset({"pipx", "uv"}))
