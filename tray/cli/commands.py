"""The table of commands: to add one, write its function in a module of this folder, and a line here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module

import msgspec

from tray.cli.command_line import (
    PROGRAM,
    CommandParser,
    Option,
    Parameter,
    UsageError,
    did_you_mean,
    parameters,
)

ABOUT = "One tray for every coding agent's hooks. Without a command: the status."
ABOUT_RELAY = "What an agent runs is `hooktray relay AGENT [EVENT]`, or `hooktray-hook`, which is quicker."


class UserCommand(msgspec.Struct, frozen=True):
    """One command: the words that people type, `module:function` below tray.cli, and what it does.

    The function takes the Paths and what its annotations declare, and returns an exit code or nothing, which is 0.
    """

    name: str
    place: str
    help: str

    def function(self) -> Callable[..., int | None]:
        module, _, name = self.place.partition(":")
        function: Callable[..., int | None] = getattr(import_module(f"tray.cli.{module}"), name)
        return function

    def parser(self) -> CommandParser:
        return CommandParser(f"{PROGRAM} {self.name}", self.help, parameters(self.function()))


# In the order in which users meet them.
COMMANDS = (
    UserCommand("run", "run:run", "Start the tray; a second start says so and ends."),
    UserCommand("status", "tray_reports:status", "Whether hooks run, and what waits for you."),
    UserCommand("sessions", "sessions:show_sessions", "Every session of your agents: what waits for you first."),
    UserCommand("focus", "requests:focus", "Bring the terminal of a session to the front: window, tab and pane."),
    UserCommand("open", "requests:open_page", "Show the page in your browser; the tray opens it."),
    UserCommand("list", "tray_reports:list_hooks", "Every hook: where it is declared, and its state."),
    UserCommand("log", "history:log", "The latest decisions, newest first."),
    UserCommand("why", "history:why", "A readable account of one decision."),
    UserCommand("on", "requests:on", "Switch the hooks on."),
    UserCommand("off", "requests:off", "Switch all hooks off: you confirm it here, or in the tray's menu."),
    UserCommand(
        "pause",
        "requests:pause",
        "Pause hooks, all or those of one agent or session: you confirm it here, or in the tray's menu.",
    ),
    UserCommand(
        "review",
        "review:review",
        "Show a hook as it is read before it is approved; at a terminal, approve it there with your passphrase.",
    ),
    UserCommand(
        "approve",
        "requests:approve",
        "Approve a hook, or confirm a setting: you confirm it here, in the tray's menu or on the page.",
    ),
    UserCommand("deny", "requests:deny", "Reject a hook or a setting."),
    UserCommand(
        "revoke", "requests:revoke", "Take a hook's approval back: you confirm it here, or in the tray's menu."
    ),
    UserCommand(
        "passphrase",
        "requests:passphrase",
        "Set, change or forget the passphrase, which confirms what you ask for at a terminal.",
    ),
    UserCommand(
        "approvals export",
        "approvals:export_file",
        "Write every approval in force into a new file: definition, digest, time, way, and the bytes of its files.",
    ),
    UserCommand(
        "approvals import",
        "approvals:import_file",
        "Take approvals from a file as proposals: nothing runs before you have approved them in one review.",
    ),
    UserCommand(
        "connect", "agents:connect", "Have agents tell Hooktray of every event: writes our entry into their settings."
    ),
    UserCommand(
        "agents",
        "agents:list_agents",
        "The state of each agent: installed, connected, trusted, firing, last event, and what to do.",
    ),
    UserCommand(
        "disconnect",
        "agents:disconnect",
        "Take our entries out of agents' settings again; untouched files get their old bytes back.",
    ),
    UserCommand(
        "import-hooks",
        "agents:import_hooks",
        "Move your own hooks of an agent out of its settings and below Hooktray; they wait for your approval.",
    ),
    UserCommand(
        "test",
        "testing:test",
        "Send a synthetic event through relay, tray and hooks, and show what the agent would be told.",
    ),
    UserCommand(
        "doctor",
        "doctor:doctor",
        "Try every approved hook and every connected agent; exit 1 when something is broken.",
    ),
    UserCommand("push list", "push:show", "Where notifications are pushed to, as confirmed; no URL is shown."),
    UserCommand("push test", "push:test", "Send a test to each address; exit 1 when one of them fails."),
    UserCommand("push add", "push:add", "Keep the URL of a service, and print what the settings take in its place."),
    UserCommand(
        "stats",
        "history:stats",
        "How often each hook ran, failed and how long it took; what each agent was answered.",
    ),
    UserCommand(
        "export",
        "history:export",
        "All decisions, newest first, as JSON Lines or as CSV; redacted, as they are kept.",
    ),
    UserCommand(
        "replay",
        "history:replay",
        "What would happen now, were this event to come again. Nothing is sent, approved or written down.",
    ),
    UserCommand(
        "autostart",
        "autostart:autostart",
        "Start the tray when you log in and, with systemd, at the first event of an agent; or not.",
    ),
    UserCommand(
        "config check",
        "config:check",
        "Read a hooktray.yaml and say what is wrong, with line, column and the nearest valid word.",
    ),
    UserCommand("schema", "config:schema", "The JSON Schema of hooktray.yaml."),
    UserCommand("paths", "config:show_paths", "Where everything is."),
    UserCommand("completion", "completion:completion", "Print the completion of a shell; packages bring it along."),
    UserCommand("help", "overview:show_help", "Explain a command, or list all of them."),
)
GROUPS = {
    "approvals": "What you approved, as a file.",
    "config": "The settings file.",
    "push": "Notifications on your phone or in a chat.",
}
BY_NAME = {command.name: command for command in COMMANDS}

# The words in front of the command.
GLOBAL = (
    Parameter("home", str, False, "", Option("--home", metavar="DIR", help="Keep everything below DIR.")),
    Parameter("version", bool, False, False, Option("--version", help="Print the version.")),
)


def root_parser() -> CommandParser:
    """The parser of `hooktray` itself; its help lists the commands."""
    return CommandParser(PROGRAM, ABOUT, GLOBAL, first_words(), ABOUT_RELAY)


def group_parser(group: str) -> CommandParser:
    """The parser of a first word that has commands below it."""
    below = [(name.split()[1], one.help) for name, one in BY_NAME.items() if name.startswith(f"{group} ")]
    return CommandParser(f"{PROGRAM} {group}", GROUPS[group], (), below)


def first_words() -> list[tuple[str, str]]:
    """What may come first, with its help: a command, or a group of them."""
    words = {command.name.split()[0]: command.help for command in COMMANDS}
    return [(word, GROUPS.get(word, help)) for word, help in words.items()]


def split_globals(words: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
    """The options in front of the command, and the words from the command on."""
    end = 0
    while end < len(words) and words[end].startswith("-"):
        end += 2 if words[end] == "--home" else 1
    return words[:end], words[end:]


def find_command(words: Sequence[str]) -> tuple[UserCommand | None, Sequence[str]]:
    """The command that the words begin with, if any, and the words after it."""
    for length in (1, 2):
        if command := BY_NAME.get(" ".join(words[:length])):
            return command, words[length:]
    return None, words


def explain(words: Sequence[str]) -> int:
    """Answer words that begin with no command: help for a group, else a UsageError that names the nearest."""
    parser, rest = (group_parser(words[0]), words[1:]) if words[0] in GROUPS else (root_parser(), words)
    if not rest:
        parser.print_help()
        return 2
    if rest[0].startswith("-"):
        parser.values(rest[:1])
    raise UsageError(
        f"No such command '{rest[0]}'{did_you_mean(rest[0], [name for name, _ in parser.commands])}", parser
    )
