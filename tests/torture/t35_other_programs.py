"""T35: other programs under the names of interpreters, and start-up files: no approved hook runs any of them."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from house import House

from torture.frame import Tally

TITLE = "other programs under an interpreter's name, start-up files"
SYSTEM = "/usr/local/bin:/usr/bin:/bin"
SHELL_BODY = "cat >/dev/null; echo no >&2; exit 2\n"
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
            for attack in ATTACKS if tally.full else (ATTACKS[index % 6], ATTACKS[-1]):
                _attack(tally, guard, attack, f"{guard.name}-{attack.__name__}-{number}")
            if tally.full or not index:
                _one_question(tally, guard, f"{guard.name}-question-{number}")
    for name, fell in _controls(tally.folder / "controls"):
        tally.control(name, fell)


def _attack(tally: Tally, guard: Guard, attack: Attack, name: str) -> None:
    """The guard denies before; after the attack it denies or has failed, and nothing else has run."""
    with_scene = _scene(tally.folder / name, guard)
    try:
        tally.keep(f"{name}: before", _verdict(with_scene) == "deny")
        attack(with_scene)
        for _ in range(tally.many(2, 10)):
            found = _verdict(with_scene)
            tally.attack(f"{name}: {found}", found in ("deny", "failed") and not with_scene.canary.exists())
    finally:
        with_scene.house.close()


def _one_question(tally: Tally, guard: Guard, name: str) -> None:
    """A replaced interpreter is one question for all its hooks, and they run again once a person has answered it."""
    scene = _scene(tally.folder / name, guard, hooks=5)
    try:
        replaced_in_place(scene)
        failed = _verdict(scene) == "failed"
        questions = [one for one in scene.house.catalog.settings() if one.waiting]
        tally.attack(f"{name}: {len(questions)} questions", failed and len(questions) == 1)
        for one in questions:
            scene.house.controls().approve(one.key, one.digest, "test")
        tally.keep(f"{name}: approved again", scene.house.tool("ls", environment=scene.environment) is not None)
        tally.keep(f"{name}: runs", scene.canary.exists())
    finally:
        scene.house.close()


def _scene(root: Path, guard: Guard, hooks: int = 1) -> Scene:
    """The guard's interpreter is a program of the user's own, which starts the system's."""
    own, early = root / "own", root / "early"
    for folder in (own, early):
        folder.mkdir(parents=True)
    house = House(root)
    _program(early / "unrelated", "#!/bin/sh\n")
    _program(own / guard.program, f'#!/bin/sh\nexec {shutil.which(guard.program, path=SYSTEM)} "$@"\n')
    scene = Scene(root=root, house=house, guard=guard, own=own, early=early, canary=root / "ran")
    for number in range(hooks):
        name = f"guard{number}"
        _program(house.paths.config.parent / name, guard.head + guard.body)
        state = house.hook(name, on="tool_before", command=f"./{name}", approved=False)
        house.consent.approve(state.key, state.digest, "test", scene.environment["PATH"])
    return scene


def _verdict(scene: Scene) -> str:
    scene.house.tool("ls", environment=scene.environment)
    found = scene.house.last.hooks[0]
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
    """Another `env`, `cat` and shell in front of those of the system."""
    for name in ("env", "cat", "sh", "exec"):
        if name != scene.guard.program:
            _program(scene.early / name, scene.evil)


def replaced_by_rename(scene: Scene) -> None:
    _program(scene.own / scene.guard.program, scene.evil)


def replaced_in_place(scene: Scene) -> None:
    (scene.own / scene.guard.program).write_text(scene.evil)


def replaced_by_link(scene: Scene) -> None:
    _program(scene.root / "evil", scene.evil)
    path = scene.own / scene.guard.program
    path.unlink()
    path.symlink_to(scene.root / "evil")


def replaced_with_its_times(scene: Scene) -> None:
    """Same size, same times as before: only the kernel's own ctime differs."""
    path = scene.own / scene.guard.program
    before = path.stat()
    text = scene.evil.encode()
    path.write_bytes(text[: before.st_size] if len(text) > before.st_size else text.ljust(before.st_size, b"\n"))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def start_up_files(scene: Scene) -> None:
    """Files that interpreters read by themselves, in the home folder and above the copies."""
    (scene.root / ".zshenv").write_text(f": >{scene.canary}\nexit 0\n")
    (scene.root / "package.json").write_text('{"type": "module"}')
    site = scene.root / ".local/lib/python3.11/site-packages"
    site.mkdir(parents=True)
    (site / "usercustomize.py").write_text(f"open({str(scene.canary)!r}, 'w')\nraise SystemExit(0)\n")


ATTACKS: tuple[Attack, ...] = (
    new_before_it, new_for_env, replaced_by_rename, replaced_in_place, replaced_by_link, replaced_with_its_times,
    start_up_files,
)  # fmt: skip


def _controls(root: Path) -> Iterator[tuple[str, bool]]:
    """What others do: the same scripts by their own first lines, with the agent's PATH and home."""
    for attack in (new_before_it, replaced_in_place, start_up_files):
        guard = next(one for one in GUARDS if one.name == ("zsh" if attack is start_up_files else "env"))
        if not shutil.which(guard.program, path=SYSTEM):
            continue
        scene = _scene(root / attack.__name__, guard)
        try:
            attack(scene)
            script = scene.house.paths.config.parent / "guard0"
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
