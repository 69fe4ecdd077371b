"""What an event was about: a call's telling argument, a person's or an agent's own words; redacted, on one line."""

from __future__ import annotations

from pathlib import PurePath

from tray.agents.tools import canonical_input
from tray.model.event import Event
from tray.text import redact_value, sanitise

SUBJECT_LIMIT = 300  # characters that are kept
READ_LIMIT = 4096  # characters of an argument that are looked at

# The arguments that say best what a call does, by their canonical names; the first one that is there counts.
TELLING_ARGUMENTS = (
    *("command", "file_path", "notebook_path", "path", "url", "query", "pattern", "prompt", "skill", "description"),
)
PATH_ARGUMENTS = frozenset({"file_path", "notebook_path", "path"})


def subject(event: Event, *, is_clean: bool = False) -> str:
    """What the call did, or what the event is about: redacted, on one line.

    `is_clean`: the whole payload has no secret, so no part of it is looked at again.
    """
    if event.tool is None:
        return _plain_subject(event, is_clean)
    try:
        arguments = canonical_input(event.agent, event.tool.name, event.tool.input)
    except (TypeError, AttributeError):  # its keys are no words
        return ""
    name = telling = ""
    for word in TELLING_ARGUMENTS:  # a plain loop: every call of a tool comes by here
        if _is_text(arguments.get(word)):
            name = telling = word
            break
    name = name or next((word for word, value in arguments.items() if _is_text(value)), "")
    if not name:
        return ""
    text = _near(arguments[name], event.cwd) if name in PATH_ARGUMENTS else arguments[name]
    masked = text[:READ_LIMIT] if is_clean else _redacted(text, str(name))
    return sanitise(masked if telling or not masked else f"{name}: {masked}", SUBJECT_LIMIT)


def _plain_subject(event: Event, is_clean: bool) -> str:
    """A person's or an agent's own words, a path, or the event's own sort; `other` says nothing."""
    topic = "" if event.topic == "other" else event.topic
    text = event.message or event.prompt or event.path or topic
    return sanitise(text[:READ_LIMIT] if is_clean else _redacted(text, ""), SUBJECT_LIMIT)


def _redacted(text: str, name: str) -> str:
    """Without its secrets. Nothing is kept of what begins so long a secret that it is not read to its end."""
    masked = redact_value({name: text[:READ_LIMIT]})[0]
    shown = str(next(iter(masked.values()), "")) if isinstance(masked, dict) else ""
    return shown if len(text) <= READ_LIMIT or len(shown) > SUBJECT_LIMIT else ""


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _near(path: str, folder: str) -> str:
    """A path as seen from the agent's folder."""
    if not folder or not path.startswith(folder):
        return path
    try:
        return str(PurePath(path).relative_to(folder))
    except ValueError:
        return path
