"""T23: every way to end, in every dialect: broken is never taken for a denial, and never for consent."""

from __future__ import annotations

import contextlib
import json
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping

from house import House

from torture.frame import Tally
from tray.agents.registry import AGENTS
from tray.store.copies import SPARE

TITLE = "broken, deny and allow"
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
TWO_IS_NO = (
    "claude-code",
    "codex",
    "copilot-cli",
    "cursor",
    "devin",
    "droid",
    "gemini-cli",
    "grok",
    "kimi-code",
    "kiro",
    "opencode",
    "qwen-code",
    "starchild",
)


def torture(tally: Tally) -> None:
    """All of them; in the quick form each dialect has others."""
    for key in (signal.SIGINT, signal.SIGQUIT):
        if signal.getsignal(key) is signal.SIG_IGN:  # a shell began this in the background; hooks inherit that
            signal.signal(key, signal.SIG_DFL)
    broken, unreadable = tally.many(16, 1), tally.many(len(UNREADABLE), 1)
    for turn, dialect in enumerate(AGENTS):
        names = list(BROKEN)[turn % broken :: broken]
        texts = list(UNREADABLE)[turn % unreadable :: unreadable]
        for policy in ("allow", "block"):
            with _house(tally, f"{dialect}-{policy}") as house:
                for number, name in enumerate(names):
                    _broken(tally, house, dialect, policy, name, f"{dialect}-{policy}-{number}")
                for number, name in enumerate(texts):
                    _unreadable(tally, house, dialect, policy, name, f"{dialect}-{policy}-text-{number}")
                _cut_off(tally, house, dialect, policy)
                _inside(tally, house, dialect, policy)
                _gone(tally, house, dialect, policy)
    with _house(tally, "spoken") as house:
        _spoken(tally, house)
    _control(tally)


@contextlib.contextmanager
def _house(tally: Tally, name: str) -> Iterator[House]:
    """One for few hooks: each new hook has all of the house's read again."""
    house = House(tally.folder / name)
    try:
        yield house
    finally:
        house.close()


def _broken(tally: Tally, house: House, dialect: str, policy: str, name: str, title: str) -> None:
    house.hook(
        title,
        on="tool_before",
        script=BROKEN[name],
        dialect=dialect,
        failure=policy,
        timeout=5.0 if name != "out of time" else 0.3,
        matcher=f"<{title}>",
    )
    said = _said(house, title)
    status = house.last.hooks[0]["status"]
    wanted = "deny" if policy == "block" else "nothing"
    # Claude Code and Shelley know ordinary codes that say "I failed, go on"; those are failures of ours, too.
    tally.attack(
        f"{name} in {dialect}, {policy}: {status}, {said}", status in ("failed", "timed_out") and said == wanted
    )


def _unreadable(tally: Tally, house: House, dialect: str, policy: str, name: str, title: str) -> None:
    house.hook(
        title, on="tool_before", script=UNREADABLE[name], dialect=dialect, failure=policy, matcher=f"<{title}>"
    )
    said = _said(house, title)
    hook = house.last.hooks[0]
    noted = bool(hook["cause"]) or name not in NOTED[dialect]
    if policy == "block":
        held = said == "deny" and hook["status"] == "failed" and bool(hook["cause"])
    else:
        held = said == "nothing" and hook["verdict"] == "abstain" and noted
    tally.attack(f"{name} in {dialect}, {policy}: {hook['status']}, {said}, {hook['cause']!r}", held)


def _cut_off(tally: Tally, house: House, dialect: str, policy: str) -> None:
    title = f"{dialect}-{policy}-cut-off"
    house.hook(title, on="tool_before", script=CUT_OFF, dialect=dialect, failure=policy, matcher=f"<{title}>")
    said = _said(house, title)
    status = house.last.hooks[0]["status"]
    tally.attack(f"half a refusal in {dialect}, {policy}: {status}, {said}", (status, said) == ("ok", "deny"))


def _inside(tally: Tally, house: House, dialect: str, policy: str) -> None:
    title = f"{dialect}-{policy}-inside"
    house.hook(title, on="tool_before", script=INSIDE, dialect=dialect, failure=policy, matcher=f"<{title}>")
    said = _said(house, title)
    wanted = "deny" if dialect in TWO_IS_NO or policy == "block" else "nothing"
    tally.attack(f"an interpreter's own 2 in {dialect}, {policy}: {said}", said == wanted)


def _said(house: House, title: str) -> str:
    return str(house.tool(f"<{title}>").get("hookSpecificOutput", {}).get("permissionDecision", "nothing"))


def _gone(tally: Tally, house: House, dialect: str, policy: str) -> None:
    """What was there when it was approved, and is damaged when it shall run: CPython would exit with 2."""
    folder = house.paths.config.parent
    title = f"gone-{dialect}-{policy}"
    (folder / f"{title}.py").write_text("print()\n")
    state = house.hook(
        title,
        on="tool_before",
        command=f"python3 ./{title}.py",
        dialect=dialect,
        failure=policy,
        matcher=f"<{title}>",
    )
    copy = house.stores.copies.path(state.approved, str(folder / f"{title}.py"))
    copy.parent.chmod(0o700)
    copy.unlink()
    shutil.rmtree(house.stores.copies.folder / state.approved / SPARE)  # else it is restored from there
    (folder / f"{title}.py").unlink()  # while it holds what was approved, its copy is made anew
    said = _said(house, title)
    status = house.last.hooks[0]["status"]
    wanted = "deny" if policy == "block" else "nothing"
    tally.attack(f"{title}: {status}, {said}", status == "failed" and said == wanted)


SPOKEN = {
    "claude-code": ("echo no >&2; exit 2", "deny"),
    "starchild": ('printf \'{"decision": "block", "reason": "no"}\'', "deny"),
    "x-code": ('printf \'{"decision": "deny", "reason": "no"}\'', "deny"),
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


def _spoken(tally: Tally, house: House) -> None:
    """Who speaks is heard."""
    for dialect, (script, wanted) in SPOKEN.items():
        tally.keep(f"{dialect} says it plainly", _says(house, f"says-{dialect}", dialect, script) == wanted)
    for dialect, refusal in REFUSE.items():
        for number, (way, script) in enumerate(ODD.items()):
            said = _says(house, f"odd-{dialect}-{number}", dialect, script % refusal)
            tally.attack(f"{dialect} refuses with {way}: {said}", said == "deny")
    said = _says(house, "late", "claude-code", SPOKEN_LATE)
    tally.attack(f"a refusal before exit 127: {said}", said == "deny")


def _says(house: House, title: str, dialect: str, script: str) -> str:
    house.hook(title, on="tool_before", script=script, dialect=dialect, matcher=f"<{title}>")
    return _said(house, title)


def _control(tally: Tally) -> None:
    """Who reads exit codes alone takes a missing script for a denial, and a JSON parser knows no half a refusal."""
    done = subprocess.run([sys.executable, "/nonexistent.py"], capture_output=True, check=False, timeout=60)
    tally.control("exit 2 is a denial", done.returncode == 2)
    cut_off = subprocess.run(["sh", "-c", CUT_OFF], capture_output=True, check=False, timeout=60).stdout
    try:
        json.loads(cut_off)
    except ValueError:
        tally.control("half a refusal is no JSON", fell=True)
