"""Files that run code at each start of our Python are found, unless an installed package brought them as they are."""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path

import pytest

from tray.execution.python_startup import StartupFile, unexpected_startup_files


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """An environment's folder with a package that brings a .pth file, and with that of virtualenv."""
    folder = tmp_path / "lib" / "site-packages"
    (folder / "pine-1.0.dist-info").mkdir(parents=True)
    (folder / "pine.pth").write_bytes(b"import pine\n")
    (folder / "_virtualenv.pth").write_text("import _virtualenv")
    digest = base64.urlsafe_b64encode(hashlib.sha256(b"import pine\n").digest()).rstrip(b"=").decode()
    (folder / "pine-1.0.dist-info" / "RECORD").write_text(f"pine.pth,sha256={digest},12\npine/sitecustomize.py,,\n")
    return folder


def test_what_packages_and_virtualenv_brought_is_expected(site: Path) -> None:
    assert unexpected_startup_files([str(site)]) == ()


@pytest.mark.parametrize(
    ("name", "changed"),
    [
        ("evil.pth", False),
        ("sitecustomize.py", False),
        ("usercustomize.py", False),
        ("sitecustomize.cpython-311.so", False),
        ("pine.pth", True),
        ("_virtualenv.pth", False),
    ],
)
def test_startup_files_that_no_package_installed_or_that_changed_are_found(
    site: Path, name: str, changed: bool
) -> None:
    (site / name).write_text("import evil\n")

    assert unexpected_startup_files([str(site)]) == (StartupFile(str(site / name), changed=changed),)


def test_a_package_named_sitecustomize_is_found(site: Path) -> None:
    (site / "sitecustomize").mkdir()

    assert unexpected_startup_files([str(site)]) == (StartupFile(str(site / "sitecustomize"), changed=False),)


def test_this_environment_has_none() -> None:
    assert unexpected_startup_files() == ()


def test_a_checkouts_own_folder_is_no_environment(tmp_path: Path) -> None:
    (tmp_path / "evil.pth").write_text("import evil\n")

    assert unexpected_startup_files([str(tmp_path)]) == ()
