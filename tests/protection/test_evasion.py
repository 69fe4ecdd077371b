"""Agents that are started without their user's hooks, and the tray ended, by whatever line."""

from __future__ import annotations

from collections.abc import Iterator

from every import every
from protection.test_self_protection import event, verdict

from tray.agents.agent import Agent
from tray.agents.registry import AGENTS
from tray.model.decision import Verdict

PLAIN = "{} -p hi"
# With a variable that turns hooks off, or leads to another home.
SETTING = [
    "{v}=/tmp/x {p} -p hi",
    "A=1 {v}=1 {p}",
    "env {v}=1 {p} -p hi",
    "env -S '{v}=1 {p} -p hi'",
    "export {v}=/tmp/x; {p}",
    "export {v}=/tmp/x\n{p}",
    "{v}=1; export {v}; {p}",
    "declare -x {v}=1 && {p}",
    "sh -c '{v}=1 {p} -p hi'",
    'bash -lc "export {v}=1; {p} -p hi"',
    "eval '{v}=1 {p}'",
    "({v}=/tmp/x {p})",
    "nohup env {v}=1 {p} &",
    "timeout 60 env {v}=1 {p}",
    "systemd-run --user -E {v}=1 {p}",
    "systemd-run --user --setenv={v}=1 {p}",
    "tmux new -d '{v}=1 {p}'",
    "env -u {v} {p}",
    "unset {v}; {p}",
]
OPTION = [
    "{p} {o}",
    "{p} {o}=x -p hi",
    "{p} -p hi {o} x",
    "exec {p} {o}",
    "timeout 60 {p} {o}",
    "sudo -n {p} {o}",
    "sh -c '{p} {o}'",
    "tmux new -d {p} {o}",
    "tmux new -d '{p} {o}'",
    "xargs {p} {o} < x",
    "/opt/bin/{p} {o}",
]
# In a place where its user's hooks are not.
BOXES = [
    "env -i {}",
    "env - PATH=$PATH {}",
    "env --ignore-environment {} -p hi",
    "env -u HOME {}",
    "env -uHOME {}",
    "env --unset=HOME {}",
    "unset HOME; {}",
    "HOME=/tmp/x {}",
    "export HOME=/tmp/x; {}",
    "bwrap --tmpfs ~/.local/share {}",
    "bwrap --dev-bind / / sh -c '{} -p hi'",
    "unshare -rm {} -p hi",
    "chroot /srv {}",
    "firejail --private {}",
    "docker run -it image {} -p hi",
    "docker run image sh -c 'cd /w && {} -p hi'",
    "docker compose run app {}",
    "podman exec box {} -p hi",
    "sudo {}",
    "sudo -u other {} -p hi",
    "su - bob -c '{} -p hi'",
]
PROGRAMS = [(agent, program) for agent in AGENTS.values() for program in sorted(agent.programs)]


def variables() -> Iterator[tuple[str, str]]:
    for agent, program in PROGRAMS:
        for name in sorted({*agent.off_variables, agent.home_variable} - {""}):
            yield program, name


def options() -> Iterator[tuple[str, str]]:
    for agent, program in PROGRAMS:
        for name in sorted(agent.off_options):
            yield program, name


@every(("agent", "program"), PROGRAMS)
def test_an_agent_is_started_freely_with_its_users_hooks(agent: Agent, program: str) -> None:
    lines = ["{0} -p hi", "{0}", "FOO=1 {0} -p hi", "timeout 60 {0}", "tmux new -d '{0}'", "unset FOO; {0}"]
    others = ["HOME=/tmp make {0}", "env A=1 ls {0}", "docker build -t {0} .", "docker logs {0}", "which {0}"]
    others += ["docker run --name {0} redis", "sudo apt-get install {0}", "git commit -m '{0} --pure --bare'"]

    found = {line: verdict(event("Bash", {"command": line.format(program)})) for line in (*lines, *others)}

    assert found == dict.fromkeys(found, Verdict.ABSTAIN)


@every(("program", "variable"), variables())
@every("line", SETTING)
def test_no_variable_of_an_agent_turns_its_hooks_off_unasked(program: str, variable: str, line: str) -> None:
    assert verdict(event("Bash", {"command": line.format(p=program, v=variable)})) is Verdict.ASK


@every(("program", "option"), options())
@every("line", OPTION)
def test_no_option_of_an_agent_turns_its_hooks_off_unasked(program: str, option: str, line: str) -> None:
    assert verdict(event("Bash", {"command": line.format(p=program, o=option)})) is Verdict.ASK


@every(("agent", "program"), PROGRAMS)
@every("line", BOXES)
def test_no_agent_is_put_where_its_hooks_are_not_unasked(agent: Agent, program: str, line: str) -> None:
    assert verdict(event("Bash", {"command": line.format(program)})) is Verdict.ASK


def test_the_switches_that_are_known_are_in_the_agents_tables() -> None:
    known = {name for agent in AGENTS.values() for name in (*agent.off_variables, *agent.off_options)}

    assert known >= {"CLAUDE_CODE_SIMPLE", "CLAUDE_CODE_SAFE_MODE", "--safe-mode", "--setting-sources", "--settings"}
    assert known >= {"--bare", "--pure", "OPENCODE_PURE", "CURSOR_CONFIG_DIR", "XDG_CONFIG_HOME"}


@every(
    "line",
    [
        "claude plugin install x@y",
        "claude plugins install x",
        "claude plugin enable x",
        "claude plugin marketplace add ./m",
        "claude --plugin-dir . -p hi",
        "claude --plugin-url=http://x",
        "claude -p '/plugin install x'",
        "sh -c 'claude plugin install x'",
        "npx @anthropic-ai/claude-code plugin install x",
        "gemini extensions install http://x",
        "qwen extensions link .",
    ],
)
def test_code_that_answers_for_hooks_is_brought_by_a_person(line: str) -> None:
    assert verdict(event("Bash", {"command": line})) is Verdict.DENY


@every("line", ["claude plugin list", "claude mcp list", "claude -p 'fix plugin add x'", "gemini extensions list"])
def test_what_brings_no_code_is_free(line: str) -> None:
    assert verdict(event("Bash", {"command": line})) is Verdict.ABSTAIN


@every(
    "line",
    [
        "pkill -f hook",
        "pkill -f tray",
        "pkill -9 -f 'tray.*run'",
        "pkill hook",
        "pkill python",
        "pkill -u u",
        "make stop\npkill python",
        "true\nkillall python3",
        "pkill -f .",
        "killall hooktray",
        "killall -r 'hook.*'",
        "killall -u u",
        "killall python3",
        "killall5 -9",
        "kill -9 -1",
        "kill -s KILL -- -1",
        "kill $(pgrep -f hook)",
        "pgrep -f tray | xargs kill",
        "loginctl terminate-user u",
        "loginctl kill-session 2",
        "taskkill /F /IM python.exe",
        "systemctl --user edit hooktray",
        "systemctl --user edit --stdin hooktray.service",
        "systemctl --user set-property hooktray.service MemoryMax=1M",
        "systemctl --user set-environment HOOKTRAY_HOME=/tmp/x",
        "systemctl --user set-environment HOME=/tmp",
        "systemctl --user unset-environment HOOKTRAY_HOME",
        "systemctl --user mask hooktray.socket",
        "systemctl --user disable --now hooktray",
        "systemctl --user revert hooktray.service",
        "systemctl --user stop 'hook*'",
        "systemctl --user stop '*.socket'",
        "systemctl --user stop graphical-session.target",
        "systemctl --user exit",
        "launchctl setenv HOOKTRAY_HOME /tmp/x",
        "launchctl bootout gui/501/io.hooktray",
        "launchctl disable gui/501/io.hooktray",
        "launchctl unload ~/Library/LaunchAgents/io.hooktray.plist",
        "busctl --user call org.freedesktop.systemd1 / x.Manager StopUnit ss hooktray.service x",
        "schtasks /delete /tn Hooktray",
    ],
)
def test_ending_or_altering_the_tray_is_asked_about(line: str) -> None:
    assert verdict(event("Bash", {"command": line})) is Verdict.ASK


@every(
    "line",
    [
        "echo x > ~/.config/systemd/user/hooktray.service.d/x.conf",
        "cp /tmp/x ~/.config/systemd/user/hooktray.socket.d/o.conf",
        "tee ~/.config/systemd/user/service.d/x.conf < x",
        "rm -rf ~/.config/systemd/user/default.target.wants/hooktray.service",
        "ln -sf /dev/null ~/.config/systemd/user/hooktray.service",
        "echo HOOKTRAY_HOME=/tmp >> ~/.config/environment.d/x.conf",
        "rm ~/Library/LaunchAgents/io.hooktray.plist",
    ],
)
def test_what_starts_the_tray_is_a_persons_to_change(line: str) -> None:
    assert verdict(event("Bash", {"command": line})) is Verdict.DENY


@every(
    "line",
    [
        "killall node",
        "pkill -f vite",
        "pkill -f 'python manage.py runserver'",
        "pkill -P 1234",
        "kill 1234",
        "kill -1 1234",
        "kill -9 %1",
        "kill $(pgrep -f vite)",
        "pgrep -f hook",
        "pidof python3",
        "make stop\npkill -f vite",
        "systemctl --user restart pipewire",
        "systemctl --user stop pipewire.service",
        "systemctl --user daemon-reload",
        "systemctl --user edit pipewire.service",
        "systemctl --user set-environment FOO=1",
        "systemctl --user status hooktray",
        "launchctl setenv FOO 1",
        "launchctl list",
        "loginctl list-sessions",
        "echo x > ~/.config/systemd/user/other.service.d/x.conf",
        "cat ~/.config/systemd/user/hooktray.service.d/x.conf",
    ],
)
def test_other_processes_and_services_are_free(line: str) -> None:
    assert verdict(event("Bash", {"command": line})) is Verdict.ABSTAIN
