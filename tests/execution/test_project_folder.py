from __future__ import annotations

import os
from contextlib import closing
from pathlib import Path

import pytest

from tray.errors import HooktrayError
from tray.execution.project_folder import ProjectFolder
from tray.execution.request_job import Deadline


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "project" / "src").mkdir(parents=True)
    (tmp_path / "project" / "src" / "a.py").write_text("one\ntwo\nthree\n")
    (tmp_path / "project-2").mkdir()
    (tmp_path / "project-2" / "b.py").write_text("not for you")
    return tmp_path / "project"


def test_a_file_is_shown_from_a_line_on(project: Path) -> None:
    assert ProjectFolder(str(project)).read("src/a.py", 2) == "two\nthree"


def test_a_link_that_stays_inside_is_followed(project: Path) -> None:
    (project / "link.py").symlink_to("src/a.py")

    assert ProjectFolder(str(project)).read("link.py").startswith("one")


@pytest.mark.parametrize(
    "path", ["../project-2/b.py", "src/../../project-2/b.py", "/etc/passwd", "out/b.py", "\0", ""]
)
def test_nothing_outside_of_the_folder_is_read(project: Path, path: str) -> None:
    (project / "out").symlink_to(project.parent / "project-2")

    with pytest.raises(HooktrayError):
        ProjectFolder(str(project)).read(path)


def test_a_pipe_is_no_file_and_keeps_nobody_waiting(project: Path) -> None:
    os.mkfifo(project / "pipe")

    with pytest.raises(HooktrayError, match="not a file"):
        ProjectFolder(str(project)).read("pipe")


def test_searches_pass_over_links_out_and_what_is_too_large(project: Path) -> None:
    (project / "out.py").symlink_to(project.parent / "project-2" / "b.py")
    (project / "large.txt").write_bytes(b"two\n" * 400_000)

    assert ProjectFolder(str(project)).grep("two|you") == "src/a.py:2: two"


@pytest.mark.parametrize("pattern", ["(", "x" * 501])
def test_a_pattern_that_is_none_is_told(project: Path, pattern: str) -> None:
    with pytest.raises(HooktrayError, match="pattern"):
        ProjectFolder(str(project)).grep(pattern)


def test_an_evil_pattern_runs_out_of_time(project: Path) -> None:
    (project / "evil.txt").write_text("a" * 60 + "b")

    with pytest.raises(HooktrayError, match="too long"):
        ProjectFolder(str(project)).grep(r"^(a|aa|a?a)+$")


@pytest.mark.parametrize("root", ["", "/", "/nowhere-at-all"])
def test_what_is_no_project_shows_nothing(root: str) -> None:
    with pytest.raises(HooktrayError, match="no project folder"):
        ProjectFolder(root).glob("*")


def test_a_folder_that_holds_the_home_is_no_project(own_home: Path) -> None:
    with pytest.raises(HooktrayError, match="no project folder"):
        ProjectFolder(str(own_home)).glob("*")


def test_a_search_ends_when_its_time_is_over(project: Path) -> None:
    with closing(Deadline(60)) as deadline:
        deadline.end("timed out")

        with pytest.raises(HooktrayError, match="time is over"):
            ProjectFolder(str(project), deadline).glob("*")
