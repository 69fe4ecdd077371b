"""The withheld variables that a hook asks for, and which of them a person can let through to it."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping

from tray.errors import HooktrayError
from tray.execution.environment import clean, is_injection, is_secret, mentioned_in
from tray.language import say
from tray.model.hook import Command, Hook, Http
from tray.text import sanitise

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}")
MAX_SIZE = 256 * 1024  # bytes of a file that is searched: scripts are shorter
# How shells, Python, JavaScript, Ruby and Perl name a variable of the environment.
REFERENCE = re.compile(
    rb"""\$\{?(\w+)|(?:environ(?:\.get)?|getenv|ENV(?:\.fetch)?)\s*[\[({]\s*["']?(\w+)|process\.env(?:\.|\[["'])(\w+)"""
)
ASSIGNMENT = re.compile(rb"^\s*(?:export\s+|local\s+|readonly\s+)*(\w+)=", re.MULTILINE)


def asked_for(
    hook: Hook, contents: Iterable[bytes], environment: Mapping[str, str], granted: Iterable[str] = ()
) -> tuple[str, ...]:
    """The variables that the hook's files or line name and that it does not get, without those that no hook gets."""
    declared: list[str] = []
    if isinstance(hook.action, Command):
        declared = [hook.action.line]
    elif isinstance(hook.action, Http):
        declared = [value for _, value in hook.action.headers]
    texts = (*(one.encode(errors="replace") for one in declared), *contents)
    text = b"\n".join(one for one in texts if len(one) <= MAX_SIZE)
    named = {next(filter(None, found)).decode() for found in REFERENCE.findall(text)}
    own = {found.decode() for found in ASSIGNMENT.findall(text)}
    wanted = {*hook.env, *granted}
    withheld = clean(environment, wanted=wanted, extra={}).withheld
    names = {*(name for name in named - own if is_secret(name)), *mentioned_in(text, withheld)} - wanted
    return tuple(sorted(name for name in names if not is_injection(name)))


def grant_command(names: Iterable[str], hook: str) -> str:
    """What lets these variables through to the hook of this name."""
    options = " ".join(f"--env {name}" for name in names)
    return f"hooktray approve {options} {shlex.quote(hook)}"


def require_grantable(hook: Hook, names: Iterable[str]) -> tuple[str, ...]:
    """The names in order, each once. Raises HooktrayError for one that no hook, or not this one, can be given."""
    wanted = tuple(sorted(set(names)))
    if not isinstance(hook.action, Command | Http):
        why = say("`{name}` starts no program and fills no header: it needs no variable", name=hook.name)
        raise HooktrayError(why, hint=say("there is nothing to do"))
    for name in wanted:
        if not NAME.fullmatch(name):
            why = say("`{name}` is not the name of a variable", name=sanitise(name, 60))
            raise HooktrayError(why, hint=say("write a name such as MY_TOKEN, without its value"))
        if is_injection(name):
            why = say("`{name}` is given to no hook: it makes programs run other code", name=name)
            raise HooktrayError(why, hint=say("set it in the hook's own script"))
    return wanted
