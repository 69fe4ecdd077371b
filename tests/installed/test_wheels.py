"""What a release builds for Python's own tools: a wheel for each platform, the source; what they install."""

from __future__ import annotations

import json
import re
import stat
import struct
import subprocess
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from installed.ways import DIST, HOUR, LONG, NETWORK, PLAIN, call, source

from tray.execution.isolation import base_interpreter

MACHINES = {  # the wheel's platform -> how the file of a program for it begins, and the number of its processor
    "macosx_11_0_arm64": (b"\xcf\xfa\xed\xfe", 0x0100000C),
    "macosx_11_0_x86_64": (b"\xcf\xfa\xed\xfe", 0x01000007),
    "manylinux_2_17_aarch64.musllinux_1_1_aarch64": (b"\x7fELF", 183),
    "manylinux_2_17_x86_64.musllinux_1_1_x86_64": (b"\x7fELF", 62),
    "win_amd64": (b"MZ", 0x8664),
    "win_arm64": (b"MZ", 0xAA64),
}
HERE = "manylinux_2_17_x86_64.musllinux_1_1_x86_64"
MAX_DISTRIBUTIONS, MAX_SIZE = 30, 70_000_000  # as tests/installers/test_footprint.py has them
NOT_COUNTED = {"hooktray", "pip", "setuptools"}
pytestmark = pytest.mark.timeout(HOUR)
SIZE = """
import importlib.metadata, json, pathlib
found = {}
for one in importlib.metadata.distributions():
    files = (pathlib.Path(str(one.locate_file(file))) for file in one.files or ())
    found[one.name.lower()] = sum(path.stat().st_size for path in files if path.is_file())
print(json.dumps(found))
"""


def processor(program: bytes) -> int:
    """The number of the processor in the header of a program."""
    if program[:4] == b"\x7fELF":
        return int(struct.unpack_from("<H", program, 18)[0])
    if program[:2] == b"MZ":
        return int(struct.unpack_from("<H", program, struct.unpack_from("<I", program, 60)[0] + 4)[0])
    return int(struct.unpack_from("<I", program, 4)[0])


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Tag -> wheel, made as a release makes them."""
    folder = Path(DIST)
    if not DIST or not any(folder.glob("*.whl")):
        checkout = source(tmp_path_factory.mktemp("wheels") / "checkout")
        call(checkout / "installers" / "wheels", environment={"PYTHON": base_interpreter()})
        folder = checkout / "dist"
    return {path.stem.split("-", 4)[4]: path for path in folder.glob("*.whl")}


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty virtual environment."""
    folder = tmp_path_factory.mktemp("environment") / "v"
    call(base_interpreter(), "-m", "venv", folder)
    return folder


def test_each_platform_has_a_wheel_and_there_is_one_for_all_others(wheels: dict[str, Path]) -> None:
    assert set(wheels) == {"any", *MACHINES}


@pytest.mark.parametrize("name", MACHINES)
def test_the_wheel_of_a_platform_has_its_own_relay_and_table(wheels: dict[str, Path], name: str) -> None:
    begin, machine = MACHINES[name]
    ending = ".exe" if name.startswith("win") else ""
    with zipfile.ZipFile(wheels[name]) as wheel:
        (script,) = (one for one in wheel.namelist() if one.endswith(f".data/scripts/hooktray-hook{ending}"))
        relays = [wheel.read(one) for one in (f"tray/native/hooktray-hook{ending}", script)]
        modes = [wheel.getinfo(script).external_attr >> 16]
        tables = {wheel.read(one) for one in wheel.namelist() if one.endswith("/relay.table")}

    assert relays[0] == relays[1]
    assert relays[0].startswith(begin)
    assert processor(relays[0]) == machine
    assert [mode for mode in modes if not mode & stat.S_IXUSR] == []
    assert len(tables) == 1


def test_the_wheel_for_all_others_has_the_portable_relay(wheels: dict[str, Path]) -> None:
    with zipfile.ZipFile(wheels["any"]) as wheel:
        (script,) = (one for one in wheel.namelist() if one.endswith(".data/scripts/hooktray-hook"))

        assert b"tray.relay" in wheel.read(script)
        assert [one for one in wheel.namelist() if one.startswith("tray/native/")] == []


def test_the_source_builds_without_a_compiler_and_says_that_the_relay_is_the_portable_one(
    environment: Path, tmp_path: Path
) -> None:
    checkout = source(tmp_path / "checkout")
    call(environment / "bin" / "pip", "install", "-q", "hatchling")
    call(environment / "bin" / "python", "-m", "hatchling", "build", "-t", "sdist", cwd=checkout)
    (packed,) = (checkout / "dist").glob("hooktray-*.tar.gz")
    install: list[str | Path] = [environment / "bin" / "pip", "wheel", "-v", "--no-deps", "-w", tmp_path, packed]

    without = {**PLAIN, **NETWORK, "CC": "/nowhere/cc"}
    done = subprocess.run(install, env=without, capture_output=True, text=True, timeout=LONG, check=False)

    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    assert "the portable relay" in done.stdout + done.stderr
    (wheel,) = tmp_path.glob("*.whl")
    assert wheel.name.endswith("-py3-none-any.whl")


def test_an_installation_from_the_wheel_is_small(
    wheels: dict[str, Path], tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    cache = {"PIP_CACHE_DIR": str(tmp_path / "cache")}
    for name in ("cold", "warm"):
        python = tmp_path / name / "bin" / "python"
        call(base_interpreter(), "-m", "venv", tmp_path / name)
        version = re.sub(r"pip (\S+) .*\n", r"\1", call(python, "-m", "pip", "--version"))
        begun = time.monotonic()
        call(python, "-m", "pip", "install", "-q", wheels[HERE], environment=cache)
    record_property(f"`pip install` on a warm cache, pip {version}, s", round(time.monotonic() - begun, 1))
    found = json.loads(call(python, "-I", "-c", SIZE))
    counted = {name: size for name, size in found.items() if name not in NOT_COUNTED}
    record_property("distributions", len(counted))
    record_property("of them, MB", round(sum(counted.values()) / 1e6, 1))

    assert len(counted) <= MAX_DISTRIBUTIONS, sorted(counted)
    assert sum(counted.values()) <= MAX_SIZE, sorted(counted.items(), key=lambda one: -one[1])
