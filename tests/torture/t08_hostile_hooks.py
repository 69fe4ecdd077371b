"""T08: hooks that answer with floods, drips, garbage and bombs; the declared failure policy stands, and so do we.

Garbage around a refusal that the agent's own parser would read takes nothing from it.
"""

from __future__ import annotations

import json
import random
import subprocess
from collections.abc import Callable

import psutil
from house import PRE_TOOL_USE, House

from torture.frame import Tally
from tray.agents.protocol import fit, parse, render
from tray.agents.registry import AGENTS
from tray.engine.merge import make_outcome, merge
from tray.model.decision import Outcome, Result, Status, Verdict
from tray.model.event import RelayRequest
from tray.model.hook import Failure

TITLE = "hostile answers of hooks"
ROOM = 64 * 1024 * 1024  # bytes that we may grow by
EVENTS = {
    "claude-code": "PreToolUse",
    "shelley": "chat-message",
    "starchild": "pre_tool_call",
    "x-code": "PreToolUse",
}


def torture(tally: Tally) -> None:
    house = House(tally.folder / "house")
    try:
        _garbage(tally, house)
        _refusals(tally)
        _abusers(tally, house)
    finally:
        house.close()
    _control(tally)


def _garbage(tally: Tally, house: House) -> None:
    """Any bytes, read in every dialect: nothing breaks, nothing is allowed, and what is answered is whole."""
    hook = house.hook("h", on="tool_before", command="true", failure="block").hook
    assert hook.failure is Failure.BLOCK
    dice = random.Random(8)
    for number in range(tally.many(200, 10_000)):
        agent = list(EVENTS)[number % 4]
        event = parse(
            RelayRequest(
                agent=agent, event=EVENTS[agent], id="1", body=AGENTS[agent].protocol.sample(EVENTS[agent]), cwd="/"
            )
        )
        stdout = _bytes(dice)
        try:
            reading = AGENTS[agent].protocol.read(event, Result(code=dice.choice((0, 0, 0, 1, 2, 3)), stdout=stdout))
            outcome = make_outcome(event, hook, reading, timed_out=False, ms=1.0)
            answer = render(event, fit(event, merge([outcome])))
        except Exception as error:  # noqa: BLE001 - whatever it is, it must not be
            tally.attack(f"{agent}, {stdout[:80]!r}: {error!r}", held=False)
            continue
        broken = bool(reading.problem)
        by_policy = outcome.output.verdict is Verdict.DENY and outcome.status is Status.FAILED
        tally.attack(f"{agent}, {stdout[:80]!r}", (by_policy if broken else True) and _whole(answer.stdout, agent))


def _whole(stdout: bytes, agent: str) -> bool:
    try:
        return not stdout.strip() or agent == "shelley" or isinstance(json.loads(stdout), dict)
    except ValueError:
        return False


WORDS: tuple[object, ...] = (
    "decision", "allow", "deny", "block", "approve", "ask", "hookSpecificOutput", "permissionDecision",
    "updatedInput",
    "continue", "stopReason", "reason", "hookEventName", "PreToolUse", "systemMessage", "additionalContext", "ok",
    "suppressOutput", "modified_input", "context", "retry", "prompt", "message", "action", "", "\ud800",
    "\x00", "x" * 300,
)  # fmt: skip


def _bytes(dice: random.Random) -> bytes:
    kind = dice.random()
    if kind < 0.15:
        return dice.randbytes(dice.randrange(0, 400))
    text = json.dumps(_value(dice, 0))
    if kind < 0.35:  # damaged
        place = dice.randrange(len(text) + 1)
        text = (
            text[:place]
            + dice.choice(('"', "{", "}", "\\", "\x00", "NaN", "1e999", ",", "[" * 300))
            + text[place + 1 :]
        )
    if kind < 0.4:
        text = "x" * dice.randrange(9) + text + "\n" + text
    if kind > 0.95:
        text = '{"a":' * 5000 + text + "}" * 5000
    return text.encode("utf-8", "surrogatepass")


def _value(dice: random.Random, depth: int) -> object:
    if depth > 3 or dice.random() < 0.3:
        return dice.choice((*WORDS, None, True, False, 0, -1, 1e300, 10**200, [], {}))
    if dice.random() < 0.2:
        return [_value(dice, depth + 1) for _ in range(dice.randrange(4))]
    return {str(dice.choice(WORDS)): _value(dice, depth + 1) for _ in range(dice.randrange(1, 6))}


REFUSE = {"claude-code": b'"decision":"block"', "starchild": b'"decision":"block"', "x-code": b'"decision":"deny"'}
BLANK = (b"", b" \n", "\u00a0".encode(), "\ufeff".encode(), "\u2003\u2028".encode())
DEEP = b"[" * 300 + b"]" * 300
ODD = (
    b'"n":1e999', b'"n":[-1e999]', b'"n":' + b"9" * 5000, b'"n":' + DEEP, b'"s":"caf\xe9"', b'"\xff\xfe":0',
    b'"n":1,"n":2', b'"reason":"a","reason":"b"', b'"s":"\\ud800"', b'"action":7', b'"retry":"x"',
)  # fmt: skip


def _refusals(tally: Tally) -> None:
    """However odd it is besides, an object that refuses is heard, and the answer holds nothing of what is odd."""
    dice = random.Random(23)
    for number in range(tally.many(45, 3_000)):
        agent = list(REFUSE)[number % 3]
        event = parse(
            RelayRequest(
                agent=agent, event=EVENTS[agent], id="1", body=AGENTS[agent].protocol.sample(EVENTS[agent]), cwd="/"
            )
        )
        fields = [REFUSE[agent], *dice.sample(ODD, dice.randrange(1, 5))]
        dice.shuffle(fields)
        stdout = dice.choice(BLANK) + b"{" + b",".join(fields) + b"}" + dice.choice(BLANK)
        reading = AGENTS[agent].protocol.read(event, Result(code=0, stdout=stdout))
        answer = render(event, fit(event, merge([Outcome(hook="h", status=Status.OK, output=reading)])))
        held = reading.verdict is Verdict.DENY and _whole(answer.stdout, agent) and b"nfinity" not in answer.stdout
        tally.attack(f"{agent}, {stdout[:80]!r}", held)


# ---- real processes

ABUSERS = {
    "floods stdout": "head -c 300000000 /dev/zero",
    "floods stderr": "head -c 300000000 /dev/zero >&2; exit 1",
    "floods both": "yes & yes >&2",
    "drips": "while :; do printf x; sleep 0.05; done",
    "reads nothing": "exit 1",
    "reads nothing, slowly": "sleep 30",
    "closes its input": "exec <&-; sleep 30",
    "NULs": "head -c 5000 /dev/zero",
    "bad UTF-8": "printf '\\377\\376{\"decision\":\"allow\"}'",
    "deep": "printf '{\"a\":'; for b in '[' ']'; do head -c 200000 /dev/zero | tr '\\0' $b; done; echo '}'",
    "a refusal, a key twice": "printf '{\"decision\":\"block\",\"reason\":\"a\",\"reason\":\"b\"}'",
    "a refusal in Latin-1": "printf '{\"decision\":\"block\",\"reason\":\"caf\\351\"}'",
    "NaN": "printf '{\"decision\":NaN}'",
    "half an answer": "printf '{\"hookSpecificOutput\":{\"permissionDecision\":\"allow\"'",
    "kills itself": "kill -9 $$",
    "stops itself": "kill -STOP $$",
    "kills its group": "kill -9 0",
    "a long line": "head -c 1048577 /dev/zero | tr '\\0' x",
    "exit 137": "exit 137",
    "exit 255": "exit 255",
    "holds the pipe": "sleep 30 & exit 1",
}  # fmt: skip


PLAIN = {"half an answer", "NaN", "NULs", "bad UTF-8"}  # text without a meaning is no consent


def _abusers(tally: Tally, house: House) -> None:
    payload = {**PRE_TOOL_USE, "tool_input": {"command": "x" * 10_000_000}}
    own = psutil.Process()
    names = list(ABUSERS)[:: tally.many(4, 1)]
    for number, name in enumerate(names):
        house.hook(
            f"a{number}", on="tool_before", script=ABUSERS[name], failure="block", timeout=1.0,
            matcher=f"abuse-{number}-",
            dialect="claude-code",
        )  # fmt: skip
    for number, name in enumerate(names):
        before = own.memory_info().rss
        command = f"abuse-{number}-" + ("x" * 10_000_000 if "input" in name or "reads" in name else "")
        answer = house.relay("claude-code", "PreToolUse", {**payload, "tool_input": {"command": command}})
        hooks = house.last.hooks
        status = hooks[-1]["status"] if hooks else "did not run"
        denied = b'"deny"' in answer.stdout
        grown = own.memory_info().rss - before - 6 * len(command)
        said = f"{name}: {status}, denied {denied}, grown by {grown // 1024} KiB"
        if name in PLAIN:
            tally.attack(said, b'"allow"' not in answer.stdout and grown <= ROOM)
        else:
            wanted = ("ok",) if name.startswith("a refusal") else ("failed", "timed_out")
            tally.attack(said, status in wanted and denied and grown <= ROOM)


def _control(tally: Tally) -> None:
    """Others read to the end, whatever comes, and hang on whoever holds the pipe."""
    flood = subprocess.run(["head", "-c", "100000000", "/dev/zero"], capture_output=True, check=False, timeout=60)
    tally.control("reading all of a flood", len(flood.stdout) > ROOM)
    tally.control("reading JSON as it comes", _breaks(lambda: json.loads('{"a":' * 100_000)))
    try:
        subprocess.run(["sh", "-c", "sleep 3 & exit 1"], capture_output=True, timeout=1, check=False)
    except subprocess.TimeoutExpired:
        tally.control("waiting for the end of the pipe", fell=True)
    else:
        tally.control("waiting for the end of the pipe", fell=False)


def _breaks(read: Callable[[], object]) -> bool:
    try:
        read()
    except RecursionError:
        return True
    return False
