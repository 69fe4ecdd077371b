"""T23: every way to end, in every dialect: broken is never taken for a denial, and never for consent."""

from __future__ import annotations

import contextlib
import json
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping

from house import House

from torture.frame import Tally
from tray.agents.registry import AGENTS
from tray.store.copies import SPARE

TITLE = "broken, deny and allow"
WANTED = {"allow": "nothing", "block": "deny"}  # of a broken hook, by its policy
GONE = "gone"
SIGNALS = (1, 2, 3, 6, 8, 9, 11, 13, 14, 15, 24, 31)
BROKEN: Mapping[str, str] = {
    **{f"signal {number}": f"kill -{number} $$; sleep 5" for number in SIGNALS},
    **{f"exit {code}": f"exit {code}" for code in (3, 4, 77, 125, 126, 127, 128, 137, 139, 143, 254, 255)},
    "no such program": "exec /nonexistent/program",
    "not executable": "exec /etc/passwd",
    "a folder": "exec /tmp",
    "out of time": "sleep 60",
    "too much": "head -c 1100000 /dev/zero",
}
# Exit 0 and a text that is no answer: no opinion, noted where JSON was to come; with `failure: block` a failure.
UNREADABLE: Mapping[str, str] = {
    "half JSON": 'printf \'{"decision": "approve"\'',
    "a list": "printf '[1]'",
    "deep JSON": "printf '[%.0s' $(seq 400)",
    "not UTF-8": "printf '{\\377\\376}'",
    "NULs": "head -c 100 /dev/zero",
}
BRACED = {"half JSON", "not UTF-8"}
# A refusal of another format, or one that is cut off, refuses in a hook of hooktray.yaml, whatever its dialect.
CUT_OFF = 'printf \'{"decision": "block", "reason": "no\''
NOTED = {
    "antigravity": set(),
    "claude-code": BRACED,
    "cline": set(),
    "codex": BRACED,
    "copilot-cli": {*UNREADABLE},
    "cursor": set(),
    "devin": BRACED,
    "droid": BRACED,
    "gemini-cli": set(),
    "grok": BRACED,
    "kimi-code": set(),
    "kiro": set(),
    "opencode": BRACED,
    "qwen-code": BRACED,
    "shelley": set(),
    "starchild": {*UNREADABLE},
    "x-code": {*UNREADABLE},
}
# An interpreter deep inside a line ends with 2 like one who refuses: where 2 means no, nobody can tell them apart.
INSIDE = "python3 /nonexistent.py; exit $?"
# In the other dialects exit code 2 is a failure like any other.
TWO_IS_NO = {*AGENTS} - {"antigravity", "cline", "shelley", "x-code"}


def torture(tally: Tally) -> None:
    """Runs all failures; in the quick form each dialect has different ones, with one policy."""
    for key in (signal.SIGINT, signal.SIGQUIT):
        if signal.getsignal(key) is signal.SIG_IGN:  # a shell began this in the background; hooks inherit that
            signal.signal(key, signal.SIG_DFL)
    broken, unreadable = tally.many(len(BROKEN) // 2, 1), tally.many(len(UNREADABLE), 1)
    for turn, dialect in enumerate(AGENTS):
        scripts = {name: BROKEN[name] for name in list(BROKEN)[turn % broken :: broken]}
        scripts |= {name: UNREADABLE[name] for name in list(UNREADABLE)[turn % unreadable :: unreadable]}
        scripts |= {"cut off": CUT_OFF, "inside": INSIDE, GONE: ""}
        for policy in list(WANTED)[turn % tally.many(2, 1) :: tally.many(2, 1)]:
            _broken(tally, dialect, policy, scripts)
    _spoken(tally)
    _control(tally)


def _broken(tally: Tally, dialect: str, policy: str, scripts: Mapping[str, str]) -> None:
    with _house(tally, policy, {name: (dialect, script) for name, script in scripts.items()}) as house:
        _take_away(house)
        for name in scripts:
            said = _said(house, name)
            hook = house.last.hooks[0]
            told = f"{name} in {dialect}, {policy}: {hook['status']}, {said}, {hook['cause']!r}"
            tally.attack(told, _holds(name, dialect, policy, said, hook))


def _holds(name: str, dialect: str, policy: str, said: str, hook: Mapping[str, object]) -> bool:
    if name == "cut off":
        return (hook["status"], said) == ("ok", "deny")
    if name == "inside":
        return said == ("deny" if dialect in TWO_IS_NO else WANTED[policy])
    if name in UNREADABLE and policy == "allow":
        noted = bool(hook["cause"]) or name not in NOTED[dialect]
        return said == "nothing" and hook["verdict"] == "abstain" and noted
    # Claude Code and Shelley know ordinary codes that say "I failed, go on"; those are failures of ours, too.
    return said == WANTED[policy] and hook["status"] in ("failed", "timed_out") and bool(hook["cause"])


@contextlib.contextmanager
def _house(tally: Tally, policy: str, scripts: Mapping[str, tuple[str, str]]) -> Iterator[House]:
    """Hooks with these dialects and scripts, approved together."""
    house = House(tally.folder / f"house-{time.monotonic_ns()}")
    try:
        (house.paths.config.parent / "gone.py").write_text("print()\n")
        hooks = []
        for number, (title, (dialect, script)) in enumerate(scripts.items()):
            house.script(f"{number}.sh", script)
            hooks.append(
                {
                    "name": title,
                    "event": "tool_before",
                    "matcher": f"<{title}>",
                    "command": "python3 ./gone.py" if title == GONE else f"./{number}.sh",
                    "dialect": dialect,
                    "failure": policy,
                    "timeout": 0.3 if title == "out of time" else 5.0,
                }
            )
        house.configure({"hooks": hooks})
        (batch,) = house.consent.batches
        house.consent.approve_batch(batch.digest, "torture")
        yield house
    finally:
        house.close()


def _take_away(house: House) -> None:
    """Deletes the script after its approval: CPython would exit with 2."""
    script, approved = house.paths.config.parent / "gone.py", house.state(GONE).approved
    copy = house.stores.copies.path(approved, str(script))
    copy.parent.chmod(0o700)
    copy.unlink()
    shutil.rmtree(house.stores.copies.folder / approved / SPARE)  # otherwise the copy is restored from there
    script.unlink()  # otherwise the copy is restored from the unchanged script


def _said(house: House, title: str) -> str:
    return str(house.tool(f"<{title}>").get("hookSpecificOutput", {}).get("permissionDecision", "nothing"))


SPOKEN = {
    "claude-code": "echo no >&2; exit 2",
    "starchild": 'printf \'{"decision": "block", "reason": "no"}\'',
    "x-code": 'printf \'{"decision": "deny", "reason": "no"}\'',
}
# What only looks broken: the agent's own parser reads it, and so is the refusal in it heard.
ODD: Mapping[str, str] = {
    "a key twice": 'printf \'{%s, "reason": "a", "reason": "no"}\'',
    "a byte of Latin-1": 'printf \'{%s, "reason": "caf\\351"}\'',
    "an infinite number": "printf '{%s, \"n\": 1e999}'",
    "a hard space before it": "printf '\\302\\240{%s}'",
    "a deep value": "printf '{%s, \"n\": '; printf '[%%.0s' $(seq 300); printf ']%%.0s' $(seq 300); printf '}'",
}
SPOKEN_LATE = 'printf \'{"decision": "block"}\'; exit 127'  # of Claude Code's dialect, whose JSON counts at any exit
REFUSE = {"claude-code": '"decision": "block"', "starchild": '"decision": "block"', "x-code": '"decision": "deny"'}


def _spoken(tally: Tally) -> None:
    """Who speaks is heard."""
    scripts = {f"{dialect} says it plainly": (dialect, script) for dialect, script in SPOKEN.items()}
    scripts |= {
        f"{dialect} refuses with {way}": (dialect, script % refusal)
        for dialect, refusal in REFUSE.items()
        for way, script in ODD.items()
    }
    scripts["a refusal before exit 127"] = ("claude-code", SPOKEN_LATE)
    with _house(tally, "allow", scripts) as house:
        for title in scripts:
            said = _said(house, title)
            note = tally.keep if title.endswith("plainly") else tally.attack
            note(f"{title}: {said}", said == "deny")


def _control(tally: Tally) -> None:
    """Who reads exit codes alone takes a missing script for a denial, and a JSON parser knows no half a refusal."""
    done = subprocess.run([sys.executable, "/nonexistent.py"], capture_output=True, check=False, timeout=60)
    tally.control("exit 2 is a denial", done.returncode == 2)
    cut_off = subprocess.run(["sh", "-c", CUT_OFF], capture_output=True, check=False, timeout=60).stdout
    try:
        json.loads(cut_off)
    except ValueError:
        tally.control("half a refusal is no JSON", fell=True)
