"""The Debian package, built without its libraries: what is in it, and where."""

from __future__ import annotations

import configparser
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image

from tray import __version__
from tray.cli.commands import BY_NAME

ROOT = Path(__file__).parent.parent.parent
HOME = "usr/lib/hooktray"
pytestmark = pytest.mark.xdist_group("deb")  # one worker builds it, once


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("deb")
    environment = {**os.environ, "HOME": str(folder), "PIP": f"{sys.executable} -m pip", "SOURCE_DATE_EPOCH": "1"}
    recipe = ROOT / "installers" / "linux" / "deb"
    made = subprocess.run([recipe, "--bare", folder], env=environment, capture_output=True, text=True, timeout=300)
    assert made.returncode == 0, made.stderr
    return Path(made.stdout.strip())


@pytest.fixture(scope="module")
def root(package: Path) -> Path:
    subprocess.run(["dpkg-deb", "-x", package, package.parent / "root"], check=True, timeout=60)
    return package.parent / "root"


def field(package: Path, name: str) -> str:
    return subprocess.check_output(["dpkg-deb", "-f", package, name], text=True, timeout=60).strip()


def said(argv: list[str | Path], **environment: str) -> subprocess.CompletedProcess[str]:
    everything = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "HOME": os.environ["HOME"], **environment}
    return subprocess.run(argv, env=everything, input="", capture_output=True, text=True, timeout=60, check=False)


def size(path: Path) -> tuple[int, int]:
    with Image.open(path) as picture:
        return picture.size


def test_it_says_what_it_is_and_which_python_it_needs(package: Path) -> None:
    minor = re.findall(r">= 3\.(\d+)", field(package, "Depends"))

    assert field(package, "Package") == "hooktray"
    assert re.fullmatch(rf"{re.escape(__version__)}\+(debian|ubuntu)[\d.]+", field(package, "Version"))
    assert field(package, "Depends") == f"python3 (>= 3.{minor[0]}), python3 (<< 3.{int(minor[0]) + 1})"
    assert int(field(package, "Installed-Size")) > 1000


def test_no_script_runs_when_it_is_installed_or_removed(package: Path) -> None:
    control = package.parent / "control"
    subprocess.run(["dpkg-deb", "-e", package, control], check=True, timeout=60)

    assert sorted(path.name for path in control.iterdir()) == ["control", "md5sums"]


def test_everything_is_roots_and_nobody_else_may_write(package: Path) -> None:
    listed = subprocess.check_output(["dpkg-deb", "-c", package], text=True, timeout=60).splitlines()

    assert len(listed) > 100
    assert {line.split()[1] for line in listed} == {"root/root"}
    assert [line for line in listed if line[0] != "l" and "w" in line[5] + line[8]] == []
    assert [line for line in listed if not line.split()[5].startswith("./usr") and line.split()[5] != "./"] == []


def test_no_file_knows_where_it_was_built(root: Path) -> None:
    texts = [path for path in root.rglob("*") if path.is_file() and not path.is_symlink()]
    building = (str(ROOT).encode(), b"/tmp/tmp.")

    assert [path for path in texts if any(place in path.read_bytes() for place in building)] == []


def test_its_commands_run_its_own_python_without_foreign_variables(root: Path) -> None:
    first = (root / HOME / "bin" / "hooktray").read_text().splitlines()[0]

    assert first == f"#!/{HOME}/bin/python3 -I"
    assert (root / HOME / "bin" / "python3").readlink() == Path("/usr/bin/python3")
    assert (root / "usr/bin/hooktray").readlink() == Path("../lib/hooktray/bin/hooktray")
    commands = {path.name for path in (root / HOME / "bin").iterdir()}
    assert commands == {"hooktray", "hooktray-hook", "python", "python3"}


def test_each_of_its_relays_finds_its_table_and_answers_neutrally_where_no_tray_is(root: Path) -> None:
    (tray,) = (root / HOME / "lib").glob("python3*/site-packages/tray")
    shared = root / HOME / "share" / "hooktray" / "relay.table"
    tables = [tray / "relay.table", tray / "native" / "relay.table", shared]
    native = [[str(path)] for path in (tray / "native" / "hooktray-hook", root / HOME / "bin" / "hooktray-hook")]

    assert {table.read_bytes() for table in tables} == {(ROOT / "tray" / "relay.table").read_bytes()}
    for relay in ([sys.executable, "-I", "-S", str(tray / "relay.py")], *native):
        argv = [*relay, "--home", str(root / "nowhere"), "shelley", "system-prompt"]
        assert subprocess.run(argv, input=b"prompt", capture_output=True, timeout=60, check=True).stdout == b"prompt"
        argv[-2:] = ["claude-code", "PreToolUse"]
        assert subprocess.run(argv, input=b"", capture_output=True, timeout=60, check=True).stdout == b""


def test_every_module_comes_with_byte_code(root: Path) -> None:
    (tray,) = (root / HOME / "lib").glob("python3*/site-packages/tray")
    modules = list(tray.rglob("*.py"))

    compiled = {path.name.split(".")[0] for path in tray.rglob("__pycache__/*.pyc")}

    assert len(modules) > 100
    assert [path for path in modules if path.stem not in compiled] == []


def test_the_menu_entry_is_good_and_starts_a_command_that_exists(root: Path) -> None:
    path = root / "usr/share/applications/hooktray.desktop"
    entry = configparser.ConfigParser(interpolation=None)
    entry.read(path)
    program, verb = entry["Desktop Entry"]["Exec"].split()

    assert said(["desktop-file-validate", path]).stdout == ""
    assert (root / "usr/bin" / program).is_symlink()
    assert verb in BY_NAME


def test_the_icon_is_in_the_theme_in_every_size(root: Path) -> None:
    theme = root / "usr/share/icons/hicolor"
    pictures = {path.parent.parent.name: size(path) for path in theme.rglob("hooktray.png")}

    assert set(pictures) >= {"16x16", "22x22", "24x24", "48x48", "256x256"}
    assert [name for name, (width, height) in pictures.items() if name != f"{width}x{height}"] == []
    assert (theme / "scalable/apps/hooktray.svg").read_text().startswith("<svg")


def test_the_unit_starts_the_tray_without_an_icon(root: Path) -> None:
    unit = configparser.ConfigParser(interpolation=None)
    unit.optionxform = str  # type: ignore[assignment,method-assign]
    unit.read(root / "usr/lib/systemd/user/hooktray.service")

    assert unit["Service"]["ExecStart"] == "/usr/bin/hooktray run --headless"
    assert unit["Install"]["WantedBy"] == "default.target"


def test_manual_and_completions_stand_where_they_are_looked_for(root: Path) -> None:
    share = root / "usr/share"

    assert (share / "man/man1/hooktray.1.gz").stat().st_size > 500
    assert (share / "man/man1/hooktray-hook.1.gz").readlink() == Path("hooktray.1.gz")
    assert "complete " in (share / "bash-completion/completions/hooktray").read_text()
    assert (share / "zsh/vendor-completions/_hooktray").read_text().startswith("#compdef hooktray")
    assert "complete --command hooktray" in (share / "fish/vendor_completions.d/hooktray.fish").read_text()
