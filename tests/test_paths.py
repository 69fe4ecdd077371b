from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from tray.errors import HooktrayError
from tray.installation import installed_relay
from tray.paths import locate
from tray.store.db import open_db


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


def plain(place: Path, target: Path) -> None:
    target.mkdir(mode=0o755)
    place.symlink_to(target)


def open_to_all(place: Path, target: Path) -> None:
    plain(place, target)
    target.chmod(0o777)


def open_above(place: Path, target: Path) -> None:
    (target.parent / "shared").mkdir()
    (target.parent / "shared").chmod(0o777)
    plain(place, target.parent / "shared" / "dots")


def foreign_above(place: Path, target: Path) -> None:
    (target.parent / "theirs").mkdir()
    plain(place, target.parent / "theirs" / "dots")
    os.chown(target.parent / "theirs", 12345, 12345)


def of_a_foreign_group(place: Path, target: Path) -> None:
    plain(place, target)
    os.chown(target, -1, 12345)
    target.chmod(0o775)


def of_another_user(place: Path, target: Path) -> None:
    plain(place, target)
    os.chown(target, 12345, 12345)


def chained(place: Path, target: Path) -> None:
    plain(target.with_name("second"), target)
    target.with_name("first").symlink_to("second")
    place.symlink_to(target.with_name("first"))


def chained_through_a_shared_folder(place: Path, target: Path) -> None:
    shared = target.with_name("shared")
    shared.mkdir()
    shared.chmod(0o777)
    plain(shared / "second", target)
    place.symlink_to(shared / "second")


def dangling(place: Path, target: Path) -> None:
    place.symlink_to(target)


def loop(place: Path, target: Path) -> None:
    place.symlink_to(place.name)


def to_a_file(place: Path, target: Path) -> None:
    target.write_text("")
    place.symlink_to(target)


LINKS: Mapping[str, tuple[Callable[[Path, Path], None], str]] = {  # what is refused, with the reason
    "to an own folder": (plain, ""),
    "a chain": (chained, ""),
    "to a folder that all may write": (open_to_all, "other users may write in"),
    "to one below such a folder": (open_above, "other users may write in"),
    "to one below another user's": (foreign_above, "other users may write in"),
    "to one of another group": (of_a_foreign_group, "other users may write in"),
    "through a folder that all may write": (chained_through_a_shared_folder, "other users may write in"),
    "to one of another user": (of_another_user, "belongs to user 12345"),
    "to nothing": (dangling, "No such file or directory"),
    "a loop": (loop, "Too many levels of symbolic links"),
    "to a file": (to_a_file, "is not a folder"),
}


@pytest.mark.skipif(sys.platform == "win32" or os.getuid() != 0, reason="only root can give a folder away")
@pytest.mark.parametrize("name", ["config", "state", "logs", "bin"])
@pytest.mark.parametrize("case", LINKS)
def test_a_folder_of_ours_may_be_a_link_if_nobody_else_may_write_its_target(
    tmp_path: Path, case: str, name: str
) -> None:
    make, reason = LINKS[case]
    place = tmp_path / "home" / name
    place.parent.mkdir()
    make(place, tmp_path / "target")

    def use() -> None:
        paths = locate(str(tmp_path / "home"))
        paths.prepare()
        installed_relay.install(paths, open_db(paths.database, create=True))

    if not reason:
        use()
        assert place.is_symlink()
        assert any((tmp_path / "target").iterdir()) or name in ("config", "logs")
        assert stat.S_IMODE((tmp_path / "target").stat().st_mode) == (0o700 if name in ("state", "logs") else 0o755)
        return
    with pytest.raises(HooktrayError, match=reason) as caught:
        use()
    assert caught.value.message.startswith(f"{place}: this link leads to")
    assert caught.value.hint
