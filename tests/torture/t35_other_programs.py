"""T35: other programs under the names of interpreters, and start-up files: no approved hook runs any of them."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from house import House

from torture.frame import Tally

TITLE = "other programs under an interpreter's name, start-up files"
SHELL, QUIET = "/bin/sh", "/bin/true"  # the second is smaller
SYSTEM = "/usr/local/bin:/usr/bin:/bin"
SHELL_BODY = "while read -r line; do :; done; echo no >&2; exit 2\n"
PYTHON_BODY = "import sys\nsys.stdin.read()\nsys.stderr.write('no')\nsys.exit(2)\n"
NODE_BODY = "require('fs').readFileSync(0); process.stderr.write('no'); process.exitCode = 2\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Guard:
    """A hook that denies, and the name of its interpreter."""

    name: str
    program: str
    head: str
    body: str


GUARDS = (
    Guard(name="env", program="sh", head="#!/usr/bin/env sh\n", body=SHELL_BODY),
    Guard(name="split", program="bash", head="#!/usr/bin/env -S A=b bash -e\n", body=SHELL_BODY),
    Guard(name="python", program="python3", head="#!/usr/bin/env python3\n", body=PYTHON_BODY),
    Guard(name="node", program="node", head="#!/usr/bin/env node\n", body=NODE_BODY),
    Guard(name="zsh", program="zsh", head="#!/usr/bin/env zsh\n", body=SHELL_BODY),
    Guard(name="located", program="sh", head="#!/usr/bin/env sh\n", body=f': "$0"; {SHELL_BODY}'),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """One guard in a home of its own; `own` is a folder of programs on its PATH, `early` one before it."""

    root: Path
    house: House
    guard: Guard
    own: Path
    early: Path
    canary: Path

    @property
    def environment(self) -> Mapping[str, str]:
        return {"PATH": f"{self.early}:{self.own}:{SYSTEM}", "HOME": str(self.root)}

    @property
    def evil(self) -> str:
        return f"#!/bin/sh\n: >{self.canary}\nexit 0\n"


Attack = Callable[[Scene], None]


def torture(tally: Tally) -> None:
    for number in range(tally.many(1, 20)):
        for index, guard in enumerate(GUARDS):
            if not shutil.which(guard.program, path=SYSTEM):
                tally.not_run.append(f"{guard.name}: {guard.program} is not installed")
                continue
            for attack in ATTACKS if tally.full else (ATTACKS[index % 2], ATTACKS[-1]):
                _attack(tally, guard, attack, f"{guard.name}-{attack.__name__}-{number}")
            if tally.full or not index:
                _new_version(tally, guard, f"{guard.name}-version-{number}")
        for replace in REPLACED:
            _own_program(tally, replace, f"itself-{replace.__name__}-{number}")
    for name, fell in _controls(tally.folder / "controls"):
        tally.control(name, fell)


def _attack(tally: Tally, guard: Guard, attack: Attack, name: str) -> None:
    """The guard denies before and after the attack, or fails where its interpreter reads a file above the copy."""
    scene = _scene(tally.folder / name, guard)
    try:
        tally.keep(f"{name}: before", _verdict(scene) == "deny")
        attack(scene)
        for _ in range(tally.many(2, 10)):
            found = _verdict(scene)
            is_held = found == "deny" or (found, guard.name, attack) == ("failed", "node", start_up_files)
            tally.attack(f"{name}: {found}", is_held and not scene.canary.exists())
    finally:
        scene.house.close()


def _new_version(tally: Tally, guard: Guard, name: str) -> None:
    """Another version of an interpreter in its place asks no question, and Review has named it as not covered."""
    scene = _scene(tally.folder / name, guard)
    try:
        (state,) = scene.house.catalog.states
        interpreter = str(scene.own / guard.program)
        tally.keep(f"{name}: named", state.inspection is not None and interpreter in state.inspection.uncovered)
        _program(scene.own / guard.program, f"{(scene.own / guard.program).read_text()}# 2\n")
        (state,) = scene.house.catalog.states
        tally.keep(f"{name}: the next version", _verdict(scene) == "deny" and not state.waiting)
    finally:
        scene.house.close()


def _own_program(tally: Tally, replace: Callable[[Path, Path], None], name: str) -> None:
    """A binary that is itself the hook: another one in its place is not run, and waits for a person."""
    root = tally.folder / name
    own = root / "own"
    own.mkdir(parents=True)
    house = House(root)
    hook = own / "tool"
    shutil.copy(SHELL, hook)
    line = f"{hook} -c 'echo no >&2; exit 2'"
    try:
        house.hook("guard", on="tool_before", command=line)
        tally.keep(f"{name}: before", _outcome(house, {"PATH": SYSTEM, "HOME": str(root)}) == "deny")
        evil = shutil.copy(QUIET, root / "evil")
        replace(hook, Path(evil))
        for _ in range(tally.many(2, 10)):
            found = _outcome(house, {"PATH": SYSTEM, "HOME": str(root)})
            tally.attack(f"{name}: {found}", found == "failed" and house.state("guard").waiting)
        done = subprocess.run([*shlex.split(line)], capture_output=True, check=False, timeout=60)
        tally.control(f"by the same line ({name})", done.returncode == 0)
    finally:
        house.close()


def _scene(root: Path, guard: Guard) -> Scene:
    """The guard's interpreter is a program of the user's own, which starts the system's."""
    own, early = root / "own", root / "early"
    for folder in (own, early):
        folder.mkdir(parents=True)
    house = House(root)
    _program(early / "unrelated", "#!/bin/sh\n")
    _program(own / guard.program, f'#!/bin/sh\nexec {shutil.which(guard.program, path=SYSTEM)} "$@"\n')
    scene = Scene(root=root, house=house, guard=guard, own=own, early=early, canary=root / "ran")
    _program(house.paths.config.parent / "guard", guard.head + guard.body)
    state = house.hook("guard", on="tool_before", command="./guard", approved=False)
    path = scene.environment["PATH"]
    state = house.catalog.at_path(state, path)
    house.consent.approve(state.key, state.digest, "test", path)
    return scene


def _verdict(scene: Scene) -> str:
    return _outcome(scene.house, scene.environment)


def _outcome(house: House, environment: Mapping[str, str]) -> str:
    house.tool("ls", environment=environment)
    found = house.last.hooks[0]
    return str(found["verdict"]) if found["status"] == "ok" else str(found["status"])


def _program(path: Path, text: str) -> None:
    draft = path.with_suffix(".draft")
    draft.write_text(text)
    draft.chmod(0o755)
    draft.replace(path)


def new_before_it(scene: Scene) -> None:
    """A new interpreter in a folder that comes earlier on the PATH."""
    _program(scene.early / scene.guard.program, scene.evil)


def new_for_env(scene: Scene) -> None:
    """Another `env` and shell in front of those of the system. What a script itself looks up is not covered."""
    for name in ("env", "sh", "exec"):
        if name != scene.guard.program:
            _program(scene.early / name, scene.evil)


def start_up_files(scene: Scene) -> None:
    """Files that interpreters read by themselves, in the home folder and above the copies."""
    (scene.root / ".zshenv").write_text(f": >{scene.canary}\nexit 0\n")
    (scene.root / "package.json").write_text('{"type": "module"}')
    site = scene.root / ".local/lib/python3.11/site-packages"
    site.mkdir(parents=True)
    (site / "usercustomize.py").write_text(f"open({str(scene.canary)!r}, 'w')\nraise SystemExit(0)\n")


ATTACKS: tuple[Attack, ...] = (new_before_it, new_for_env, start_up_files)


# ---- another binary in the place of one that is itself the hook


def by_rename(hook: Path, evil: Path) -> None:
    evil.replace(hook)


def in_place(hook: Path, evil: Path) -> None:
    hook.write_bytes(evil.read_bytes())


def by_link(hook: Path, evil: Path) -> None:
    hook.unlink()
    hook.symlink_to(evil)


def with_its_size_and_times(hook: Path, evil: Path) -> None:
    """Only the kernel's own ctime differs."""
    before = hook.stat()
    hook.write_bytes(evil.read_bytes().ljust(before.st_size, b"\0"))
    os.utime(hook, ns=(before.st_atime_ns, before.st_mtime_ns))


REPLACED: tuple[Callable[[Path, Path], None], ...] = (by_rename, in_place, by_link, with_its_size_and_times)


def _controls(root: Path) -> Iterator[tuple[str, bool]]:
    """What others do: the same scripts by their own first lines, with the agent's PATH and home."""
    for attack in (new_before_it, start_up_files):
        guard = next(one for one in GUARDS if one.name == ("zsh" if attack is start_up_files else "env"))
        if not shutil.which(guard.program, path=SYSTEM):
            continue
        scene = _scene(root / attack.__name__, guard)
        try:
            attack(scene)
            script = scene.house.paths.config.parent / "guard"
            subprocess.run(
                [script],
                env=scene.environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                check=False,
                timeout=60,
            )
            yield f"by the first line ({attack.__name__})", scene.canary.exists()
        finally:
            scene.house.close()
