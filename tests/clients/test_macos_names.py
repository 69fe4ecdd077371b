"""The names of macOS that Hooktray uses, held against pyobjc's own wheels: its metadata and its helpers.

No Mac runs here. The wheels say that a name is there and how it is called, not what it does.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from clients.packages import CACHE, ENVIRONMENT, LONGEST
from filelock import FileLock

ROOT = Path(__file__).parents[2]
VERSION = "13.0"
PACKAGES = ("pyobjc-core", "pyobjc-framework-Cocoa")
PYTHON = ("--python-version", "3.13", "--implementation", "cp", "--abi", "cp313")
PLATFORM = ("--platform", "macosx_11_0_universal2", *PYTHON)
# What is used -> the file of tray/ that uses it.
USED = {
    "Foundation.NSLocale.preferredLanguages": "language/__init__.py",
    "NSImage.setTemplate_": "desktop/pystray_icon.py",
    "PyObjCTools.AppHelper.callAfter": "desktop/macos.py",
}

pytestmark = [pytest.mark.client, pytest.mark.xdist_group("pyobjc")]


@pytest.fixture(scope="module")
def wheels() -> Path:
    """Both wheels for macOS, unpacked; they are never imported."""
    folder = CACHE / f"pyobjc-{VERSION}"
    CACHE.mkdir(parents=True, exist_ok=True)
    with FileLock(CACHE / "pyobjc.lock"):
        if not (folder / "complete").exists():
            quiet = (
                "--quiet",
                "--disable-pip-version-check",
                "--no-deps",
                "--only-binary",
                ":all:",
                "--dest",
                str(folder),
            )
            wanted = (f"{one}=={VERSION}" for one in PACKAGES)
            argv: list[str] = [sys.executable, "-m", "pip", "download", *quiet, *PLATFORM, *wanted]
            done = subprocess.run(
                argv, env=ENVIRONMENT, capture_output=True, text=True, timeout=LONGEST, check=False
            )  # fmt: skip
            if done.returncode:
                pytest.skip(f"pyobjc's wheels cannot be fetched: {done.stderr.strip()[-200:]}")
            for wheel in folder.glob("*.whl"):
                zipfile.ZipFile(wheel).extractall(folder)
            (folder / "complete").touch()
    return folder


def test_these_are_all_the_names_that_we_use() -> None:
    found = {}
    for path in (ROOT / "tray").rglob("*.py"):
        text = path.read_text()
        for module, name in re.findall(
            r'import_module\("((?:AppKit|Foundation|PyObjCTools)[\w.]*)"\)\.([\w.]+)', text
        ):
            found[f"{module}.{name}"] = str(path.relative_to(ROOT / "tray"))
        for name in re.findall(r"\.(set[A-Z]\w*_)\(", text):
            found[f"NSImage.{name}"] = str(path.relative_to(ROOT / "tray"))

    assert found == USED


def test_call_after_takes_one_function(wheels: Path) -> None:
    tree = ast.parse((wheels / "PyObjCTools" / "AppHelper.py").read_text())
    (function,) = (one for one in tree.body if isinstance(one, ast.FunctionDef) and one.name == "callAfter")

    assert [one.arg for one in function.args.args] == ["func"]
    assert function.args.vararg is not None


def test_set_template_takes_one_boolean(wheels: Path) -> None:
    text = (wheels / "AppKit" / "_metadata.py").read_text()

    (types,) = re.findall(r'r\(b"NSImage", b"setTemplate:", (\{.*\})\)', text)
    assert ast.literal_eval(types) == {"arguments": {2: {"type": "Z"}}}  # 0 and 1 are the object and the selector


def test_the_metadata_omits_preferred_languages(wheels: Path) -> None:
    """It has no line for what takes nothing and returns an object, so this name of ours cannot be held against it."""
    text = (wheels / "Foundation" / "_metadata.py").read_text()

    assert '"NSLocaleLanguageDirection"' in text, "other names of NSLocale's are there"
    assert 'b"preferredLanguages"' not in text
