from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

import pytest

from tray.errors import HooktrayError
from tray.paths import locate


def test_home_holds_everything_below_it(tmp_path: Path) -> None:
    paths = locate(str(tmp_path))

    assert paths.config == tmp_path / "config" / "hooktray.yaml"
    assert paths.socket == tmp_path / "state" / "tray.sock"
    assert paths.database.parent == paths.state


def test_the_option_wins_over_the_variable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOOKTRAY_HOME", str(tmp_path / "variable"))

    assert locate(str(tmp_path / "option")).home == tmp_path / "option"
    assert locate().home == tmp_path / "variable"


def test_without_either_the_platforms_own_folders_are_used(own_home: Path) -> None:
    paths = locate()

    assert paths.home is None
    assert paths.config == own_home / ".config" / "hooktray" / "hooktray.yaml"
    assert paths.state == own_home / ".local" / "state" / "hooktray"


def test_folders_are_made_for_us_alone(tmp_path: Path) -> None:
    paths = locate(str(tmp_path / "new"))

    paths.prepare()

    for folder in (paths.config.parent, paths.state, paths.logs, paths.copies):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_an_open_folder_is_closed_to_others(tmp_path: Path) -> None:
    paths = locate(str(tmp_path))
    paths.state.mkdir(mode=0o777)
    paths.state.chmod(0o777)

    paths.prepare()

    assert stat.S_IMODE(paths.state.stat().st_mode) == 0o700


@pytest.mark.parametrize("kind", ["link", "file"])
def test_a_link_or_a_file_in_a_folders_place_is_refused(tmp_path: Path, kind: str) -> None:
    paths = locate(str(tmp_path / "home"))
    (tmp_path / "home").mkdir()
    (tmp_path / "elsewhere").mkdir()
    if kind == "link":
        paths.state.symlink_to(tmp_path / "elsewhere")
    else:
        paths.state.write_text("")

    with pytest.raises(HooktrayError, match="state"):
        paths.prepare()


@pytest.mark.skipif(sys.platform == "win32" or os.getuid() != 0, reason="only root can give a folder away")
def test_a_folder_of_another_user_is_refused(tmp_path: Path) -> None:
    paths = locate(str(tmp_path))
    paths.state.mkdir()
    os.chown(paths.state, 12345, 12345)

    with pytest.raises(HooktrayError, match="belongs to user 12345"):
        paths.prepare()
