"""What a person reads before approving: what was declared, each covered file, what changed, and what it may do."""

from __future__ import annotations

import difflib
import enum
import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from itertools import accumulate
from pathlib import Path

import msgspec

from tray.approvals.catalog import REMOVED, HookState
from tray.approvals.checks import problems
from tray.approvals.review_facts import facts, uncovered, unseen
from tray.approvals.variables import asked_for, grant_command
from tray.errors import HooktrayError, store_error
from tray.language import count, say
from tray.model.decision import Verdict
from tray.model.hook import Action, Failure, Http, Prompt, Rule
from tray.store.copies import Copies, DamagedError, Manifest
from tray.text import first_line, printable

LIMIT = 4_000_000  # characters: what is approved is shown whole
TERMINAL_LIMIT = 40_000  # characters of files that a terminal shows; the rest is in the text that it names
GUTTER = "| "  # before each line that is not ours: it cannot pass for one of ours

# Definitions as rows such as a person writes them: what is set, by the names of `hooktray.yaml`.
NAMES = {  # of the fields that definitions in ledgers have, where `hooktray.yaml` calls them otherwise
    "agents": "agent",
    "aside": "async",
    "background": "background_seconds",
    "line": "command",
    "pattern": "matcher",
    "text": "prompt",
    "verdict": "decision",
}
FIRST = ("name", "event", "agent", "tool", "matcher", "type", "command", "url", "prompt", "decision", "reason")
# The defaults: empty, or what every hook has that declares nothing else.
DEFAULTS: Mapping[str, object] = {"background": 600.0, "enabled": True, "failure": Failure.DEFAULT.value}
EMPTY: tuple[object, ...] = ("", [], {}, False, None)


class SectionKind(enum.Enum):
    """What a part of a review shows."""

    DECLARED = "declared"  # what the user wrote, or the definition in rows
    CHANGES = "changes"
    FILE = "file"
    DETAILS = "details"
    FACTS = "facts"  # `rows`: one line each, with its label
    PROBLEMS = "problems"
    UNCOVERED = "uncovered"  # the first lines: what an approval does not cover


FOREIGN = frozenset({SectionKind.CHANGES, SectionKind.DECLARED, SectionKind.FILE})


class Section(msgspec.Struct, frozen=True, kw_only=True):
    """One part of a review. Page, terminal and text file show the same ones in the same order."""

    kind: SectionKind
    title: str = ""
    lines: tuple[str, ...] = ()
    rows: tuple[tuple[str, str], ...] = ()


def hook_id(key: str) -> str:
    """A hook's name in an address of the page: its key may hold anything, this holds hex digits."""
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def sections(state: HookState, copies: Copies, environment: Mapping[str, str]) -> tuple[Section, ...]:
    """All of one proposal: the bytes that its digest names, and that an approval of it would put in force."""
    return tuple(_sections(state, copies, environment))


def require_readable(one: HookState) -> HookState:
    """Returns the hook. Raises HooktrayError if its files cannot be read: then there is nothing to decide."""
    if not one.digest:
        why = say("`{name}` cannot be decided as it stands: {why}", name=one.hook.name, why=one.health)
        raise HooktrayError(why, hint=one.remedy)
    return one


def review(state: HookState, copies: Copies, environment: Mapping[str, str], file_limit: int = LIMIT) -> str:
    """The same as a text; what is beyond so many characters of files is left out, and counted."""
    title = say("{name}, declared in {source}", name=state.hook.name, source=state.hook.source)
    return printable("\n".join([title, *_text_lines(sections(state, copies, environment), file_limit)]), LIMIT) + "\n"


def write_review(state: HookState, copies: Copies, environment: Mapping[str, str], folder: Path) -> Path:
    """The same as a file below `folder`, to be opened or read at a terminal."""
    folder.mkdir(mode=0o700, exist_ok=True)
    path = folder / f"{state.hook.name.replace('/', '-')[:60]}-{state.digest[:8]}.txt"
    try:
        path.write_text(review(state, copies, environment), encoding="utf-8")
    except OSError as error:
        raise store_error(path, error) from error
    return path


def describe_action(action: Action) -> str:
    """What it does, in one line."""
    if isinstance(action, Rule):
        return f"rule: {action.verdict.word}"
    if isinstance(action, Http):
        return f"POST {action.url}"
    if isinstance(action, Prompt):
        return f"{'agent' if action.agent else 'prompt'}: {first_line(action.text, 120)}"
    return action.line


def _text_lines(parts: tuple[Section, ...], file_limit: int) -> Iterator[str]:
    for part in parts:
        yield ""
        if part.title:
            yield part.title
        if part.kind is SectionKind.FACTS:
            width = max((len(label) for label, _ in part.rows), default=0)
            yield from (f"  {label:<{width}}  {text}" for label, text in part.rows)
            continue
        shown = list(part.lines)
        if part.kind is SectionKind.FILE:
            sizes = accumulate(map(len, part.lines))
            shown = [line for line, size in zip(part.lines, sizes, strict=True) if size <= file_limit]
            file_limit -= sum(map(len, shown))
        gutter = GUTTER if part.kind in FOREIGN else ""
        yield from (f"{gutter}{line}" for line in shown)
        if more := len(part.lines) - len(shown):
            yield count("… and {n} more line", "… and {n} more lines", more)


def _sections(state: HookState, copies: Copies, environment: Mapping[str, str]) -> Iterator[Section]:
    if state.digest == REMOVED:
        gone = say("This hook is no longer declared. Approving that revokes it; until then its approved copy runs.")
        yield Section(kind=SectionKind.PROBLEMS, lines=(gone,))
        return
    if lines := unseen(state.hook):
        yield Section(kind=SectionKind.PROBLEMS, lines=lines)
    if names := uncovered(state):
        lines = tuple(f"  {name}" for name in names)
        yield Section(kind=SectionKind.UNCOVERED, title=say("Not covered by an approval:"), lines=lines)
    text = state.hook.source.text
    declared = text.splitlines() if text else definition_rows(state.hook.definition)
    yield Section(kind=SectionKind.DECLARED, lines=tuple(declared))
    before = _changed_approval(state, copies)
    if isinstance(before, Manifest):
        title = say("What changed in the definition since it was approved:")
        if lines := _diff(definition_rows(before.definition), definition_rows(state.hook.definition)):
            yield Section(kind=SectionKind.CHANGES, title=title, lines=lines)
    for path in state.covered:
        now = _lines(_contents(state)[path])
        yield Section(kind=SectionKind.FILE, title=f"{path}:", lines=tuple(now))
        title = say("What changed in {path} since it was approved:", path=path)
        if isinstance(before, DamagedError):
            yield Section(kind=SectionKind.CHANGES, title=title, lines=(before.message,))
        elif before and (lines := _diff(_approved_lines(copies.path(state.approved, path)), now)):
            yield Section(kind=SectionKind.CHANGES, title=title, lines=lines)
    if isinstance(before, Manifest):
        for path in sorted(before.files.keys() - {*state.covered}):
            yield Section(kind=SectionKind.CHANGES, title=say("No longer part of it: {path}", path=path))
    if details := tuple(_details(state, copies)):
        yield Section(kind=SectionKind.DETAILS, title=say("Details:"), lines=details)
    digest = ((say("Digest"), state.digest),) if state.digest else ()
    yield Section(kind=SectionKind.FACTS, rows=(*facts(state), *digest))
    found = [f"  {problem}" for problem in problems(state.inspection)] if state.inspection else []
    withheld = asked_for(state.hook, _contents(state).values(), environment, state.granted)
    for name in dict.fromkeys((*state.asks_for, *withheld)):
        command = grant_command((name,), state.hook.name)
        found.append(
            "  " + say("{name} is withheld from it: `{command}` lets it through", name=name, command=command)
        )
    if found:
        yield Section(kind=SectionKind.PROBLEMS, title=say("Before you approve it:"), lines=tuple(found))


def _changed_approval(state: HookState, copies: Copies) -> Manifest | DamagedError | None:
    """Returns the approved manifest, or the damage of its copy; None if nothing, or the same content, is approved."""
    if not state.approved or state.approved == state.digest:
        return None
    try:
        return copies.check(state.approved)
    except DamagedError as damage:
        return damage


def _details(state: HookState, copies: Copies) -> Iterator[str]:
    """Yields the files that the hook wrote beside its copy, and how programs are found."""
    if state.approved and (written := copies.written_files(state.approved)):
        yield "  " + say("Written by the hook beside its approved copy, not covered") + ":"
        yield from (f"    {name}" for name in written)
    if state.inspection is None or not state.inspection.search_path:
        return
    yield "  " + say("PATH of the hook (or of the terminal that approves it):")
    yield from (f"    {folder}" for folder in state.inspection.search_path.split(os.pathsep))
    programs = [one for one in sorted(state.inspection.bundle.pinned.items()) if not os.path.isabs(one[0])]  # noqa: PTH117
    if programs:
        yield "  " + say("Programs, as they are found on that PATH:")
        yield from (f"    {name}: {path}" for name, path in programs)
    if missing := state.inspection.missing_programs:
        yield "  " + say("Not found on that PATH: {names}", names=", ".join(missing))


def _diff(before: list[str], now: list[str]) -> tuple[str, ...]:
    return tuple(difflib.unified_diff(before, now, "approved", "now", lineterm=""))


def _contents(state: HookState) -> Mapping[str, bytes]:
    """The files of the proposal as they were read. Their copy on disk may be damaged or gone by now."""
    return state.inspection.bundle.contents if state.inspection is not None else {}


def _approved_lines(path: Path) -> list[str]:
    try:
        return _lines(path.read_bytes())
    except OSError:  # a new file of this hook
        return []


def _lines(whole: bytes) -> list[str]:
    return whole.decode("utf-8", "replace").splitlines()


def definition_rows(definition: str) -> list[str]:
    """`key: value` for all that a definition sets; a text of several lines follows its key, indented."""
    fields = _object(json.loads(definition))
    del fields["source"]
    kind = str(fields.pop("kind")).lower()
    action, match = _object(fields.pop("action")), _object(fields.pop("match"))
    if kind == Rule.__name__.lower():
        action["verdict"] = Verdict(int(str(action["verdict"]))).word
    elif action.pop("agent", False):
        kind = "agent"
    values: dict[str, object] = {"type": kind}
    for part in (match, action, fields):
        values |= {NAMES.get(key, key): one for key, one in part.items() if one not in (*EMPTY, DEFAULTS.get(key))}
    order = [*(key for key in FIRST if key in values), *sorted(values.keys() - set(FIRST))]
    rows = []
    for key in order:
        lines = _text(values[key]).splitlines() or [""]
        rows += [f"{key}: {lines[0]}"] if len(lines) == 1 else [f"{key}:", *(f"  {line}" for line in lines)]
    return rows


def _object(value: object) -> dict[str, object]:
    if not isinstance(value, dict):
        raise ValueError(f"not a hook's definition: {value!r:.40}")
    return value


def _text(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(": ".join(map(str, one)) if isinstance(one, list) else str(one) for one in value)
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"{value:g}" if isinstance(value, float) else str(value)
