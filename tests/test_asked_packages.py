"""The four packages that the product is asked to use do their part: pystray, Pillow, plyer and PyYAML."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from notify import parts

from tray.desktop.linux import query_screen

ROOT = Path(__file__).parent.parent
PACKAGES = ("pystray", "Pillow", "plyer", "PyYAML")
# Package -> what the product does with it, in a fresh interpreter that has a screen, a bus and a notification server.
USES = {
    "PIL": "from tray.desktop.artwork import IconState, draw; draw(IconState.ON, 22)",
    "plyer": (
        "import asyncio; from notify.samples import alert; from tray.notify.fallback_backends import PlyerBackend;"
        "asyncio.run(PlyerBackend().send(alert()))"
    ),
    "pystray": (
        "from desktop.recorded_clicks import NoClicks; from tray.desktop.icon import choose_icon;"
        "icon = choose_icon(None, NoClicks()); assert 'Pystray' in type(icon).__name__, icon"
    ),
    "yaml": "from tray.strict.yaml_reader import load_yaml; load_yaml('hooks: []', 'hooktray.yaml')",
}


@pytest.fixture
def environment(tmp_path: Path) -> Iterator[dict[str, str]]:
    found = {**os.environ, "HOME": str(tmp_path), "PYTHONPATH": str(ROOT / "tests")}
    screen = ("Xvfb", "-displayfd", "1", "-screen", "0", "640x480x24", "-nolisten", "tcp", "-noreset")
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    with parts.session_bus(tmp_path, found) as bus, parts.process(*screen, environment=found, **options) as x:
        assert x.stdout is not None
        found |= {"DBUS_SESSION_BUS_ADDRESS": bus, "DISPLAY": f":{x.stdout.readline().decode().strip()}"}
        tint2 = parts.process("tint2", environment=found, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        with parts.recording_server(tmp_path, found), tint2:
            parts.wait(lambda: query_screen(found).xembed, "tint2 has a tray")
            yield found


def test_each_of_them_is_a_dependency_on_every_system() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]

    for package in PACKAGES:
        (line,) = (line for line in project["dependencies"] if line.startswith(package))
        assert ";" not in line, "a marker leaves a system out"


@pytest.mark.desktop
@pytest.mark.parametrize("package", USES)
def test_what_the_product_does_with_it_loads_it(package: str, environment: dict[str, str]) -> None:
    show = f"import sys; print({package!r} in sys.modules)"

    done = subprocess.run(
        [sys.executable, "-c", f"{show}\n{USES[package]}\n{show}"],
        env=environment, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip

    assert done.stdout.split() == ["False", "True"], done.stderr
