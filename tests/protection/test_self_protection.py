"""What agents may do about Hooktray through their tools, and what they may only talk about."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from every import every
from hypothesis import given
from hypothesis import strategies as st

from tray.agents.agent import NativeTool
from tray.agents.registry import AGENTS
from tray.model.decision import Verdict
from tray.model.event import Event, EventKind, Tool
from tray.protection.protected_paths import ProtectedPaths, with_drive
from tray.protection.self_protection import Protection

SHORTEST = 20  # seconds: Starchild's limit for a tool call, the shortest of all agents

PLACES = ProtectedPaths(
    own=("/home/u/.config/hooktray", "/home/u/.local/state/hooktray"),
    home="/home/u",
    agent_homes={"x-code": "/srv/x"},
    port=8123,
)
CLAUDE = "~/.claude/settings.json"
DENIED = [
    "hooktray off",
    "hooktray  pause 30m",
    "/home/u/.venv/bin/hooktray approve tool_before ./x.sh",
    "hooktray --home /tmp/x revoke guard",
    "hook'tray' off",
    'h"ook"tray o\\ff',
    "hook\\\ntray off",
    "sh -c 'hooktray off'",
    'bash -lc "cd /tmp && hooktray deny guard"',
    "bash -c \"sh -c 'hooktray off'\"",
    "env -i HOME=/x hooktray off",
    "FOO=1 nohup setsid hooktray off &",
    "sudo -u me timeout 5 hooktray off",
    "python -m tray off",
    "python3 -I -m tray --home /x approve a b",
    "python3 -Im tray off",
    "eval 'hooktray off'",
    "x=hooktray; $x off",
    "a=hook b=tray; ${a}${b} off",
    "cmd=off; hooktray $cmd",
    "ls; hooktray off",
    "true && hooktray off || false",
    "(hooktray off)",
    "echo $(hooktray off)",
    'echo "$(hooktray off)"',
    "echo `hooktray off`",
    "echo hooktray off | sh",
    "xargs hooktray revoke < names",
    "find . -name x -exec hooktray off ';'",
    "bash <<EOF\nhooktray off\nEOF",
    "cat <<EOF | bash\nhooktray off\nEOF",
    "cat <<EOF\n$(hooktray off)\nEOF",
    "cat <<E\nx\nE\nhooktray off",
    "cat <<\\E\nx\nE\nhooktray off",
    "cat <<'E F'\nx\nE F\nhooktray off",
    "cat <<-E\n\tE\nhooktray off",
    "cat <<A <<B\nA\nB\nhooktray off",
    "cat <<< x\nhooktray off",
    'cat <<< "a b"; hooktray off',
    "echo $((1<<2))\nhooktray off\n2",
    "# <<E\nhooktray off\nE",
    "echo '<<E'\nhooktray off\nE",
    "x=hooktray; cat <<E\nx=foo\nE\n$x off",
    "python3 - <<E\nimport os; os.system('hooktray off')\nE",
    "hooktray >list off",
    "rm -rf ~/.config/hook*",
    "rm -rf ~/.config/{hooktray,x}",
    "rm -rf ~/.loc?l/state",
    "dd if=/dev/null of=~/.config/hooktray/hooktray.yaml",
    "sort -o ~/.config/hooktray/hooktray.yaml x",
    "rm -rf ~/.local",
    "hooktray <list off",
    "hooktray $'off'",
    "script -qec 'hooktray off' /dev/null",
    "tmux send-keys 'hooktray off' Enter",
    "hookt*y off",
    "python -c 'from tray.store.ledger import Ledger'",
    "if true; then hooktray off; fi",
    "hooktray disconnect claude-code",
    f"echo '{{}}' > {CLAUDE}",
    f"cat <<EOF > {CLAUDE}\n{{}}\nEOF",
    "echo '{}' > $HOME/.claude/settings.json",
    "echo '{}' >> \"${HOME}/.claude/settings.local.json\"",
    "cd ~/.claude && echo '{}' > settings.json",
    "cd .. && tee .claude/settings.json < x",
    "sed -i s/a/b/ .claude/settings.json",
    "rm -rf ~/.local/state/hooktray",
    "rm -rf ~/.local/state",
    "mv .claude/hooks /tmp",
    "cp evil.yaml ~/.config/hooktray/hooktray.yaml",
    "ln -s ~/.claude/settings.json /tmp/x",
    "sqlite3 ~/.local/state/hooktray/hooktray.db 'delete from ledger'",
    "curl --unix-socket ~/.local/state/hooktray/tray.sock http://x/",
    "curl -X POST http://127.0.0.1:8123/approve",
    "truncate -s0 /srv/config/shell_hooks.yaml",
    "tee config/agent.yaml < x",
    "echo x > ~/.config/shelley/hooks/end-of-turn",
    "rm ~/.config/autostart/hooktray.desktop",
    "cp x /srv/x/plugins/cache/a/b/1/hooks.json",
    "chmod 777 ~/.x-code/plugins/cache/a/b/1/hooks/hooks.json",
    "cp /tmp/x/settings.json ~/.claude -v",
    "cp -r /tmp/x/hooks ~/.config/hooktray/",
]
UNCLEAR = [
    "python fix.py ~/.claude/settings.json",
    "hooktray $word",
    '"$(which hooktray)" off',
    "$(echo hooktray) off",
    "`which hooktray` approve a b",
    "awk 'BEGIN{system(\"hooktray off\")}'",
    "echo '{}' | hooktray relay claude-code Stop",
    "echo '{}' | /home/u/.venv/bin/hooktray-hook claude-code Stop",
    "python -I -S /x/tray/relay.py claude-code Stop",
    "python -m tray.relay claude-code Stop",
    "hooktray once claude-code Stop",
    "alias h=hooktray",
    "hooktray off 'unclosed",
    "cat <<E\n$(hooktray\nE",
    "make note MSG='please run hooktray off now'",
    "ln -s /usr/bin/hooktray /tmp/x",
    "hooktray open",
    f"python3 -c \"open('{CLAUDE}', 'w').write('x')\"",
    "python3 - <<'E'\nopen('/home/u/.claude/settings.json', 'w')\nE",
    "node -e \"fs.writeFileSync('/home/u/.claude/settings.json', 'x')\"",
    "awk 'BEGIN{print > \"/home/u/.claude/settings.json\"}'",
    "sed -n 'w /home/u/.claude/settings.json' x",
    "sed 's/a/b/w /home/u/.claude/settings.json' x",
    "cp /tmp/x/.claude ~/ -r",
    "ls ~/.local/state/hooktray | xargs rm",
    "claude --settings '{\"disableAllHooks\": true}' -p x",
    "claude --setting-sources '' -p x",
    "pkill hooktray",
    "kill -STOP $(pgrep -f hooktray)",
    "systemctl --user stop hooktray",
    "killall -9 hooktray",
    "ps aux | grep '[h]ooktray' | awk '{print $2}' | xargs kill -9",
    "kill $(ps aux | grep '[t]ray run' | awk '{print $2}')",
    "lsof -t ~/.local/state/hooktray/hooktray.db | xargs kill",
    "stow -D -t ~ hooktray",
    "schtasks /end /tn Hooktray",
    'powershell -Command "Get-Process hooktray | Stop-Process -Force"',
]
FREE = [
    "hooktray list",
    "hooktray log --json | jq .",
    "hooktray status && hooktray why abc",
    "hooktray on",
    "hooktray test Stop --agent claude-code",
    "cat ~/.claude/settings.json",
    "grep -r PreToolUse .claude/settings.json",
    "cp ~/.claude/settings.json /tmp/backup.json",
    "jq .hooks ~/.claude/settings.json > /tmp/out.json",
    "ls -la ~/.config/hooktray",
    "sqlite3 -readonly ~/.local/state/hooktray/hooktray.db 'select 1'",
    "git commit -m 'Say how hooktray off works'",
    "git commit -m \"$(cat <<'EOF'\nSay how it's done: hooktray off\nEOF\n)\"",
    "cat <<EOF\nhooktray off\nEOF",
    "cat > notes.md <<'EOF'\n$(hooktray off)\nEOF",
    "git log --grep 'hooktray approve'",
    "echo 'to pause: hooktray pause 30m'",
    "rg 'hooktray approve' docs",
    "pip install hooktray",
    "cd hooktray && pytest -q",
    "vim src/settings.py",
    "npm run build --prefix ~/array/hooks",
    "sed -n 1,5p ~/.claude/settings.json",
    "cat docs/hooks.md > /tmp/x",
    "rm -rf build/hooks build/*/hooks ~/tray*",
    "awk '/hooktray off/' notes.md",
    "which hooktray-hook",
    "cat native/relay.c tray/relay.py",
    "python -m pytest tests/relay.py",
    "git push --off",
    "sed -n '/we see/p' ~/.claude/settings.json",
    "cp -r /tmp/x/settings ~/work/",
    "claude -p 'read settings'",
    "systemctl --user status hooktray",
    "pgrep -f hooktray",
    "ps aux | grep vite | awk '{print $2}' | xargs kill -9",
    "stow -D vim",
    "ssh host 'pkill -f tray'",
    "ssh host 'systemctl --user stop hooktray'",
]


def event(tool: str, input: dict[str, Any], agent: str = "claude-code") -> Event:
    return Event(
        id="1", agent=agent, name="x", kind=EventKind.TOOL_BEFORE, cwd="/home/u/p", tool=Tool(name=tool, input=input)
    )


class Confirmed(NamedTuple):
    """The exceptions that a person confirmed."""

    exceptions: tuple[str, ...]


def verdict(found: Event, *allow: str) -> Verdict:
    said = Protection(protected_paths=PLACES, settings=Confirmed(allow)).judge(found)
    return said.output.verdict if said else Verdict.ABSTAIN


@every(
    ("line", "expected"),
    [
        *((line, Verdict.DENY) for line in DENIED),
        *((line, Verdict.ASK) for line in UNCLEAR),
        *((line, Verdict.ABSTAIN) for line in FREE),
    ],
)
@every(("agent", "tool"), [("claude-code", "Bash"), ("x-code", "shell"), ("starchild", "bash")])
def test_a_command_is_judged_by_what_it_does(agent: str, tool: str, line: str, expected: Verdict) -> None:
    assert verdict(event(tool, {"command": line}, agent)).word == expected.word


@every(
    ("agent", "tool", "key"),
    [
        ("claude-code", "Write", "file_path"),
        ("claude-code", "MultiEdit", "file_path"),
        ("starchild", "write_file", "path"),
        ("starchild", "edit_file", "filename"),
        ("x-code", "writeFile", "filePath"),
        ("x-code", "edit", "path"),
    ],
)
@every(
    "path",
    [
        "/home/u/p/.claude/settings.json",
        ".claude/settings.local.json",
        "../.config/hooktray/hooktray.yaml",
        "~/.claude/hooks/guard.sh",
        "/home/u/p/x/../.claude/settings.json",
        "/w/config/shell_hooks.yaml",
        "/w/config/agent.yml",
        "/home/u/.Claude/Settings.json",
    ],
)
def test_no_agent_writes_what_declares_its_hooks(agent: str, tool: str, key: str, path: str) -> None:
    assert verdict(event(tool, {key: path, "content": "{}"}, agent)) is Verdict.DENY


@every(
    ("agent", "tool", "key"),
    [
        ("cline", "apply_patch", "input"),
        ("codex", "apply_patch", "command"),
        ("copilot-cli", "apply_patch", "input"),
        ("droid", "ApplyPatch", "input"),
        ("opencode", "apply_patch", "patchText"),
    ],
)
def test_no_agent_writes_them_by_a_patch(agent: str, tool: str, key: str) -> None:
    files = "*** Add File: a.txt\n+x\n*** Update File: .claude/settings.json\n@@\n-a\n+b\n"

    assert verdict(event(tool, {key: f"*** Begin Patch\n{files}*** End Patch"}, agent)) is Verdict.DENY


@pytest.mark.parametrize("tool", ["Read", "Grep", "mcp__fs__read_file"])
def test_every_agent_may_read_them(tool: str) -> None:
    assert verdict(event(tool, {"path": "/home/u/.claude/settings.json"})) is Verdict.ABSTAIN


def test_a_tool_that_nobody_knows_is_asked_about() -> None:
    assert verdict(event("mcp__fs__write_file", {"path": "/home/u/.claude/settings.json"})) is Verdict.ASK
    assert verdict(event("mcp__term__run", {"command": "hooktray off"})) is Verdict.DENY
    assert verdict(event("mcp__web__fetch", {"url": "http://localhost:8123/x"})) is Verdict.DENY


@pytest.mark.parametrize(
    ("path", "with_its_drive"),
    [
        ("/c/Users/me/x", "c:/Users/me/x"),
        ("/c", "c:/"),
        ("/cd/x", "/cd/x"),
        ("C:/x", "C:/x"),
        ("/é/x", "/é/x"),
        ("", ""),
    ],
)
def test_a_path_of_git_bash_gets_its_drive(path: str, with_its_drive: str) -> None:
    assert with_drive(path) == with_its_drive


def test_writing_about_hooks_in_a_file_of_ones_own_is_free() -> None:
    text = "Run `hooktray off`, then edit ~/.claude/settings.json"

    assert verdict(event("Write", {"file_path": "/home/u/p/README.md", "content": text})) is Verdict.ABSTAIN


def test_an_agent_without_hooks_goes_by_its_name_however_it_is_started() -> None:
    line = "npx @anthropic-ai/claude-code --settings '{\"disableAllHooks\": true}'"

    assert verdict(event("Bash", {"command": line})) is Verdict.ASK
    assert verdict(event("Bash", {"command": line}), "claude") is Verdict.ABSTAIN


@pytest.mark.parametrize("word", ["a/tray{}.txt", "a/setting{}.txt"])
def test_code_that_names_many_other_files_hides_no_file_of_ours(word: str) -> None:
    names = ", ".join(f"'{word.format(number)}'" for number in range(250))

    code = f"[open(one) for one in ({names}, '/w/.claude/settings.json')]"

    assert verdict(event("mcp__python__run", {"code": code})) is Verdict.ASK


@pytest.mark.parametrize("allow", ["hooktray pause", "hooktray p*"])
def test_an_exception_lets_just_that_pass(allow: str) -> None:
    assert verdict(event("Bash", {"command": "hooktray pause 1h"}), allow) is Verdict.ABSTAIN
    assert verdict(event("Bash", {"command": "hooktray pause 1h; hooktray off"}), allow) is Verdict.DENY
    assert verdict(event("Write", {"file_path": CLAUDE}), "~/.claude/*.json") is Verdict.ABSTAIN


def test_an_ordinary_call_costs_next_to_nothing() -> None:
    protection = Protection(protected_paths=PLACES)
    ordinary = event("Bash", {"command": "cd src && pytest -q tests/unit | tail -5", "description": "Run the tests"})

    protection.judge(ordinary)
    calls: list[str] = []
    sys.setprofile(lambda frame, event, _: calls.append(frame.f_code.co_name) if event == "call" else None)
    try:
        protection.judge(ordinary)
    finally:
        sys.setprofile(None)

    assert "judge" in calls
    assert len(calls) <= 10, calls  # a call that is looked at more closely takes hundreds


@every("unit", ["<<a ", "hooktray;", "a ", "$(", "sudo ", "a$b", "((", "|a=b", "{a,b}"])
def test_a_line_that_takes_long_to_read_is_asked_about_before_the_agent_stops_waiting(unit: str) -> None:
    started = time.process_time()
    said = verdict(event("Bash", {"command": "hooktray " + unit * (1_000_000 // len(unit))}))

    assert said >= Verdict.ASK
    assert time.process_time() - started < SHORTEST


def test_no_path_takes_long_to_look_at() -> None:
    started = time.process_time()
    verdict(event("Write", {"file_path": "/.claude/plugins/hooks" * 50_000}))

    assert time.process_time() - started < SHORTEST


def test_a_long_text_that_is_only_written_somewhere_is_nobodys_business() -> None:
    line = "cat > notes.md <<'EOF'\n" + "hooks are run by the tray\n" * 40_000 + "EOF"

    assert verdict(event("Bash", {"command": line})) is Verdict.ABSTAIN


@pytest.mark.skipif(sys.platform == "win32", reason="symbolic links need a right there")
def test_our_files_are_ours_by_whatever_links_they_are_reached(tmp_path: Path) -> None:
    own = tmp_path / "config" / "hooktray"
    own.mkdir(parents=True)
    (tmp_path / "elsewhere").symlink_to(own)
    protection = Protection(protected_paths=ProtectedPaths(own=(own.as_posix(),)))

    said = protection.judge(event("Write", {"file_path": str(tmp_path / "elsewhere" / "hooktray.yaml")}))

    assert said is not None
    assert said.output.verdict is Verdict.DENY


def test_a_call_that_cannot_be_judged_is_asked_about() -> None:
    class Broken:
        @property
        def exceptions(self) -> list[str]:
            raise RuntimeError

    outcome = Protection(protected_paths=PLACES, settings=Broken()).judge(event("Bash", {"command": "hooktray off"}))

    assert outcome is not None
    assert outcome.output.verdict is Verdict.ASK


@pytest.mark.skipif(sys.platform == "win32", reason="its clock of processes ticks 64 times a second")
@every("piece", ["|/", "|a= ", "|a=a ", "a=a ", "'  ", "sh -a ", '" [[', "eval *", "/../|/"])
def test_no_line_takes_longer_than_its_length_explains(piece: str) -> None:
    def seconds(size: int) -> float:
        heard, times = event("Bash", {"command": f"echo 'hook {piece * (size // len(piece))}'"}), []
        for _ in range(3):
            began = time.process_time()
            Protection(protected_paths=PLACES).judge(heard)
            times.append(time.process_time() - began)
        return min(times)

    assert seconds(64_000) < 100 * max(seconds(4_000), 0.0005)  # sixteen times as long


ATTEMPTS = [
    "hooktray off",
    "hooktray pause 30m",
    "rm -rf ~/.config/hooktray",
    "echo {} >~/.claude/settings.json",
    "ls",
]
NOISE = ["", "'", '"', "\\\n", "+", "''", " ", "\N{KELVIN SIGN}"]


@st.composite
def hidden(draw: st.DrawFn) -> str:
    """An attempt with a sign put in somewhere, which a shell may or may not take away again."""
    text = draw(st.sampled_from(ATTEMPTS))
    place = draw(st.integers(0, len(text)))
    return text[:place] + draw(st.sampled_from(NOISE)) + text[place:]


KEYS = st.sampled_from(["command", "file_path", "path", "code", "args"])
inputs = st.dictionaries(KEYS, hidden() | st.lists(hidden(), max_size=2) | st.integers(), min_size=1, max_size=2)
TOOLS = st.sampled_from(["Bash", "Read", "Write", "Edit", "Skill", "mcp__shell__run", "bash", "write_file", "Task"])


OWN_FILE = "/home/u/.config/hooktray/hooktray.yaml"
SPELLINGS = [
    (agent, tool.name, key, spelling)
    for agent, known in AGENTS.items()
    for title, key in (("Bash", "command"), ("Edit", "file_path"), ("Write", "file_path"))
    for tool in [known.tools.get(title) or NativeTool(title)]
    for spelling in tool.keys.get(key, (key,))
]


@every(("agent", "tool", "key", "spelling"), SPELLINGS)
def test_no_argument_hides_one_that_the_agent_looks_at(agent: str, tool: str, key: str, spelling: str) -> None:
    """A model may add arguments that its agent passes over."""
    wrong, right = ("hooktray off", "ls") if key == "command" else (OWN_FILE, "/tmp/x")

    for other in {"command", "file_path", "filePath", "path"} - {spelling}:
        for input in ({other: right, spelling: wrong}, {spelling: wrong, other: right}):
            assert verdict(event(tool, input, agent)) is Verdict.DENY, input


@every("first", ["echo 'a", "cd /tmp", "HOME=/tmp", "cat <<X", "echo \\"])
def test_no_command_of_a_call_hides_the_next_one(first: str) -> None:
    """Where each runs in a shell of its own."""
    call = Tool(name="run_commands", input={"command": ""}, lines=(first, "rm -rf ../.local/state/hooktray", "x'"))
    one = Event(id="1", agent="cline", name="x", kind=EventKind.TOOL_BEFORE, cwd="/home/u/p", tool=call)

    assert verdict(one) is Verdict.DENY


@given(agent=st.sampled_from(["claude-code", "starchild"]), tool=TOOLS, input=inputs)
def test_no_call_is_passed_over_that_deserves_a_word(agent: str, tool: str, input: dict[str, Any]) -> None:
    protection = Protection(protected_paths=ProtectedPaths(own=("/home/u/.config/hooktray",), home="/home/u"))
    call = Tool(name=tool, input=input)
    one = Event(id="0", agent=agent, name="", kind=EventKind.TOOL_BEFORE, cwd="/home/u", tool=call)

    if not protection.applies(agent, call, one.cwd):
        assert protection._findings(one, call) == []


def test_of_a_shells_call_only_its_command_is_searched() -> None:
    """However large its other arguments are, they cost nothing."""
    protection = Protection(protected_paths=PLACES)

    assert not protection.applies("claude-code", Tool(name="Bash", input={"command": "make", "content": "hooktray"}))
    assert protection.applies("claude-code", Tool(name="Bash", input={"command": "hooktray", "content": ""}))
    assert protection.applies("claude-code", Tool(name="mcp__a__b", input={"command": "make", "content": "hooktray"}))
