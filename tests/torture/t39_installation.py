"""T39: the installation: startup files, and writes into our Python environment."""

from __future__ import annotations

import itertools
import shutil
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from execution.test_isolation import DENY, Environment
from house import House
from msgspec.structs import replace
from protection.test_environments import DEVELOPMENT
from protection.test_self_protection import event

from torture.frame import Tally
from tray.model.decision import Verdict
from tray.protection.protected_paths import ProtectedPaths, find_environments
from tray.protection.self_protection import Protection

TITLE = "the installation"
SITE = "lib/python3.11/site-packages"
TARGETS = (
    f"{SITE}/evil.pth", f"{SITE}/__a.pth", f"{SITE}/sitecustomize.py", f"{SITE}/usercustomize.py",
    f"{SITE}/sitecustomize/__init__.py", f"{SITE}/msgspec/__init__.py", f"{SITE}/psutil.py", "pyvenv.cfg",
    "bin/python", "bin/python3", "bin/hooktray",
)  # fmt: skip
WRITES = (
    "echo x > {}", "echo x >> {}", "printf x | tee {}", "printf x | tee -a {}", "cp /tmp/x {}", "cp -f /tmp/x -t {d}",
    "mv /tmp/{n} {d}", "ln -sf /tmp/x {}", "install -m 644 /tmp/x {}", "touch {}", "truncate -s 0 {}",
    "dd if=/tmp/x of={}",
    "sed -i s/a/b/ {}", "rm -f {}", "rm -rf {d}", "chmod 777 {}", "rsync /tmp/x {}",
    "curl -o {} http://x", "wget -O {} http://x",
    "cat > {} <<'EOF'\nimport os\nEOF", "cd {d} && echo x > {n}", "F={}; echo x > $F", "sh -c 'echo x > {}'",
    "bash -c \"cp /tmp/x {}\"", "env A=1 cp /tmp/x {}", "sudo cp /tmp/x {}", "true && (echo x > {})",
)  # fmt: skip
TAKES = (
    "rm -rf {}", "mv {} /tmp/gone", "rsync -a --delete /tmp/empty/ {}/", "find {} -delete",
    "find {} -type f -exec rm {{}} +",
    "shred -u {}", "sh -c 'rm -rf {}'", "rm -r {}*", "true; rm -rf {}", "nohup rm -rf {} &",
)  # fmt: skip


def torture(tally: Tally) -> None:
    with ThreadPoolExecutor(1) as pool:  # it waits for processes
        started = pool.submit(_startup_files, tally)
        _commands(tally)
        started.result()


# ---- commands and file tools


def _commands(tally: Tally) -> None:
    root = tally.folder / "project" / ".venv"
    site = root / SITE
    for target in TARGETS:
        path = root / target
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    (tally.folder / "link").symlink_to(root)
    places = ProtectedPaths(home=str(tally.folder), environments=find_environments([str(site)], [str(root)]))
    guard, naive = (
        Protection(protected_paths=places),
        Protection(protected_paths=ProtectedPaths(home=str(tally.folder))),
    )
    passed = 0
    for tool, input in _calls(tally.folder, root):
        found = replace(event(tool, input), cwd=str(root.parent))
        verdict = guard.judge(found)
        tally.attack(f"{tool} {input}", verdict is not None and verdict.output.verdict >= Verdict.ASK)
        passed += naive.judge(found) is None
    tally.control("a self-protection that knows no environment", passed > 0)
    for line in DEVELOPMENT:
        found = replace(event("Bash", {"command": line}), cwd=str(root.parent))
        tally.keep(line, guard.judge(found) is None)


def _calls(folder: Path, root: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    spellings = (
        str(root),
        ".venv",
        "./.venv",
        "../project/.venv",
        "~/project/.venv",
        "$PWD/.venv",
        str(folder / "link"),
    )
    for spelling, target in itertools.product(spellings, TARGETS):
        path = f"{spelling}/{target}"
        folder_of, _, name = path.rpartition("/")
        for form in WRITES:
            if "{d}" not in form or target.startswith(SITE):
                yield "Bash", {"command": form.replace("{d}", folder_of).replace("{n}", name).replace("{}", path)}
        if not spelling.startswith(("~", "$")):
            yield "Write", {"file_path": path, "content": "x"}
            yield "Edit", {"file_path": path, "old_string": "a", "new_string": "b"}
            yield "mcp__fs__write_file", {"path": path, "content": "x"}
    for spelling, form in itertools.product(spellings[:-1], TAKES):
        for below in ("", "/lib", f"/{SITE}"):
            yield "Bash", {"command": form.format(spelling + below)}


# ---- code at each start


def _startup_files(tally: Tally) -> None:
    """An environment full of startup files: the one-shot engine runs none of them, and denies."""
    house = House(tally.folder / "once")
    house.hook("guard", on="tool_before", script=DENY)
    house.close()
    environment = Environment(tally.folder / "environment")
    options = ("--home", str(house.paths.home), "claude-code", "PreToolUse")
    command = environment.ask("execution.isolation", "one_shot_command")
    plain = (str(environment.python), "-I", "-m", "tray", "once")
    for number, write in enumerate(_startup_writes(environment)):
        write()
        for _ in range(tally.many(1, 20)):
            done = environment.run(*command, *options)
            denied = b'"permissionDecision":"deny"' in done.stdout.replace(b" ", b"")
            tally.attack(f"startup file {number}", denied and not environment.ran.exists())
            environment.ran.unlink(missing_ok=True)
        environment.run(*plain, *options)
        tally.control(f"startup file {number}, by the environment's own python", environment.ran.exists())
        environment.ran.unlink(missing_ok=True)


def _startup_writes(environment: Environment) -> Iterator[Callable[[], object]]:
    evil, custom = environment.site / "evil.pth", environment.site / "sitecustomize.py"
    yield lambda: None  # all of them, as they were made
    yield lambda: shutil.move(evil, evil.with_name("zzz.pth"))
    yield lambda: shutil.move(custom, custom.with_name("usercustomize.py"))
    yield lambda: shutil.move(evil.with_name("zzz.pth"), evil.with_name("_virtualenv.pth"))
