"""Builds the native relay: for this machine when Hooktray is installed, for others when wheels are made.

HOOKTRAY_TARGET, read when a wheel is built, says for whom: unset = this machine, if it has a C compiler; `none` =
nobody, a wheel for every platform; or a name of TARGETS, which takes the package `ziglang` (installers/wheels does).
A relay that cannot be built for this machine is left out, and agents get the portable one; it never fails an install.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import platform
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

HERE = Path(__file__).parent
SOURCES_DIGEST = "sources.sha256"  # beside the relay of an editable install; tray/relay_program.py compares it
COMPILE = ("-std=c11", "-Os", "-Wall", "-Wextra", "-c")
FREESTANDING_MACHINES = ("aarch64", "x86_64")
PORTABLE_SCRIPT = """#!python
import sys

from tray.relay import main

sys.exit(main(sys.argv[1:]))
"""
PORTABLE = (
    "Hooktray is built with the portable relay, which is slower: it needs Python at each event. "
    "The native one needs a C compiler (cc, or CC) on Linux and macOS."
)


class Recipe(NamedTuple):
    """How the relay is put together."""

    sources: tuple[str, ...] = ("relay.c",)
    compile: tuple[str, ...] = ()
    link: tuple[str, ...] = ()


class Target(NamedTuple):
    """A platform that wheels are made for."""

    zig: str
    tag: str  # of the wheel
    recipe: Recipe


LIBC = Recipe()
# linux.c instead of libc: nothing may be taken from there, nor be put in by the compiler.
FREESTANDING = Recipe(
    ("relay.c", "linux.c"),
    ("-ffreestanding", "-fno-stack-protector", "-U_FORTIFY_SOURCE", "-fno-pie", "-fno-asynchronous-unwind-tables"),
    ("-static", "-nostdlib", "-no-pie", "-Wl,--build-id=none", "-Wl,-z,norelro"),
)
# Two parts to map instead of four: the start takes 4 % less. zig does not know the word, and makes three by itself.
MERGED_SEGMENTS = FREESTANDING._replace(link=(*FREESTANDING.link, "-Wl,-z,noseparate-code"))
WINDOWS = Recipe(link=("-municode", "-lws2_32", "-lbcrypt"))
TARGETS = {
    "linux-arm64": Target("aarch64-linux-musl", "manylinux_2_17_aarch64.musllinux_1_1_aarch64", FREESTANDING),
    "linux-x86_64": Target("x86_64-linux-musl", "manylinux_2_17_x86_64.musllinux_1_1_x86_64", FREESTANDING),
    "macos-arm64": Target("aarch64-macos.11.0", "macosx_11_0_arm64", LIBC),
    "macos-x86_64": Target("x86_64-macos.11.0", "macosx_11_0_x86_64", LIBC),
    "windows-arm64": Target("aarch64-windows-gnu", "win_arm64", WINDOWS),
    "windows-x86_64": Target("x86_64-windows-gnu", "win_amd64", WINDOWS),
}


class RelayHook(BuildHookInterface):  # type: ignore[type-arg]
    """Puts the relay into the wheel: beside the code, where agents' settings point to, and as a command."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="hooktray-hook-"))
        name = os.environ.get("HOOKTRAY_TARGET", "")
        built = self._build(name)
        installed = Path(self.root) / "tray" / "native"
        # A copy: of a file that is put into two places of the wheel, hatchling leaves the first one out.
        table = Path(shutil.copy(Path(self.root) / "tray" / "relay.table", self._folder))
        if built is None:
            if version == "editable" and (old := installed / "hooktray-hook").exists():
                # Agents may run it, so it is not taken away; but it would be taken for what this source makes.
                raise RuntimeError(f"relay.c cannot be compiled here any more; remove {old} to go on without it")
            script = self._folder / "hooktray-hook"
            script.write_text(PORTABLE_SCRIPT)
            if not name:
                self.app.display_warning(PORTABLE)
            build_data["shared_scripts"][str(script)] = "hooktray-hook"
            return
        build_data["shared_scripts"][str(built)] = built.name  # which finds its table in `share/hooktray`
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{TARGETS[name].tag if name else own_tag()}"
        if version == "editable":
            install(table, installed / table.name)
            install(built, installed / built.name)
            (installed / SOURCES_DIGEST).write_text(sources_digest())
        else:
            build_data["force_include"][str(table)] = f"tray/native/{table.name}"
            build_data["force_include"][str(built)] = f"tray/native/{built.name}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        shutil.rmtree(self._folder)

    def _build(self, name: str) -> Path | None:
        if name == "none":
            return None
        if not name:
            return for_this_machine(self._folder / "hooktray-hook")
        if name not in TARGETS:
            raise ValueError(f"HOOKTRAY_TARGET: expected none or one of {', '.join(TARGETS)}, got {name!r}")
        target = TARGETS[name]
        built = self._folder / ("hooktray-hook.exe" if name.startswith("windows") else "hooktray-hook")
        make([sys.executable, "-m", "ziglang", "cc", "-target", target.zig], target.recipe, built)
        return built


def for_this_machine(built: Path) -> Path | None:
    """The relay made by this machine's C compiler, after it has shown that it runs; None when there is none."""
    compiler = shutil.which(os.environ.get("CC") or "cc")
    if compiler is None or sys.platform == "win32":
        return None
    freestanding = sys.platform == "linux" and platform.machine() in FREESTANDING_MACHINES
    for recipe in (MERGED_SEGMENTS, FREESTANDING, LIBC) if freestanding else (LIBC,):
        with contextlib.suppress(subprocess.CalledProcessError):
            make([compiler], recipe, built, stderr=subprocess.DEVNULL)
            if _runs(built):
                return built
    return None


def make(compiler: list[str], recipe: Recipe, built: Path, stderr: int | None = None) -> None:
    """Compile and link `built`, in its own folder; in two steps, since zig has no headers when there is no libc."""
    objects = []
    for source in recipe.sources:
        objects.append(str(built.with_name(f"{source}.o")))
        command = [*compiler, *COMPILE, *recipe.compile, "-o", objects[-1], str(HERE / source)]
        subprocess.run(command, check=True, stderr=stderr)
    subprocess.run([*compiler, "-s", "-o", str(built), *objects, *recipe.link], check=True, stderr=stderr)


def _runs(built: Path) -> bool:
    try:
        shown = subprocess.run([str(built)], input=b"", capture_output=True, timeout=10, check=False)
    except (OSError, subprocess.SubprocessError):
        return False
    return (shown.returncode, shown.stdout, shown.stderr) == (0, b"", b"")


def sources_digest() -> str:
    """As tray/relay_program.py has it; what is built cannot import that."""
    return hashlib.sha256(b"".join(path.read_bytes() for path in sorted(HERE.glob("*.[ch]")))).hexdigest()


def own_tag() -> str:
    return sysconfig.get_platform().replace("-", "_").replace(".", "_")


def install(built: Path, place: Path) -> None:
    """Whole or not at all: an agent may be running the one that is there."""
    place.parent.mkdir(exist_ok=True)
    draft = place.with_name(f"{place.name}.new")
    shutil.copy(built, draft)
    draft.replace(place)
