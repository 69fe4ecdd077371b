"""What a person reads before approving: the definition, each covered file in full, and what changed."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from tray.approvals import startup_files
from tray.approvals.catalog import REMOVED, HookState
from tray.approvals.checks import describe, problems
from tray.approvals.dependencies import Inclusion
from tray.approvals.dependencies.analysis import InclusionKind
from tray.approvals.inspection import Inspection
from tray.approvals.program_pins import program_names
from tray.approvals.shell_hooks import uncovered_words
from tray.execution.environment import clean, mentioned_in
from tray.language import phrase, say
from tray.model.decision import Verdict
from tray.model.hook import Action, Command, Hook, Http, Prompt, Rule
from tray.store.copies import Copies, DamagedError
from tray.store.pins import Pins
from tray.text import first_line, printable

INCLUSION_TEXTS = {
    InclusionKind.FOLDER: phrase("in a folder that {script} lists"),
    InclusionKind.HOOKS: phrase("in the same folder of hooks"),
    InclusionKind.IMPORTED: phrase("loaded by {script}"),
    InclusionKind.LISTED: phrase("named by `files:` or part of the plugin"),
    InclusionKind.NAMED: phrase("named by {script}"),
    InclusionKind.PACKAGE: phrase("part of a package that {script} imports"),
    InclusionKind.RUN: phrase("run by the command"),
}
LIMIT = 4_000_000  # characters: what is approved is shown whole


def review(state: HookState, copies: Copies, environment: Mapping[str, str]) -> str:
    """The full text of one proposal, out of the copy that an approval of it would put in force."""
    lines = [*_lines(state, copies), *_withheld(state, copies, environment)]
    return printable("\n".join(lines), LIMIT) + "\n"


def write_review(state: HookState, copies: Copies, environment: Mapping[str, str], folder: Path) -> Path:
    """The same as a file below `folder`, to be opened or read at a terminal."""
    folder.mkdir(mode=0o700, exist_ok=True)
    path = folder / f"{state.hook.name.replace('/', '-')[:60]}-{state.digest[:8]}.txt"
    path.write_text(review(state, copies, environment), encoding="utf-8")
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


def format_definition(definition: str) -> list[str]:
    """The definition in words: a rule's verdict is kept as a number, which says nothing to a reader."""
    document = json.loads(definition)
    if document.get("kind") == Rule.__name__:
        document["action"]["verdict"] = Verdict(document["action"]["verdict"]).word
    return json.dumps(document, indent=2, ensure_ascii=False).splitlines()


def _lines(state: HookState, copies: Copies) -> Iterator[str]:
    hook = state.hook
    yield say("{name}, declared in {source}", name=hook.name, source=hook.source)
    yield say("Digest of what would be approved: {digest}", digest=state.digest)
    if state.digest == REMOVED:
        yield say("This hook is no longer declared. Approving that revokes it; until then its approved copy runs.")
        return
    yield ""
    yield from _findings(state, copies)
    before = _approved_definition(state, copies)
    now = format_definition(hook.definition)
    if before and before != now:
        yield say("What changed in the definition since it was approved:")
        yield from _diff(before, now)
        yield ""
    yield say("Definition:")
    yield from now
    yield ""
    yield from _programs(state)
    yield from _files(state, copies)


def _programs(state: HookState) -> Iterator[str]:
    """The PATH that an approval would record, the programs that are found on it, and what else they read."""
    if state.pins is None or state.inspection is None:
        return
    yield say("PATH of the hook, unless a terminal with another one approves it:")
    yield from (f"  {folder}" for folder in state.pins.path.split(os.pathsep))
    yield ""
    if state.pins.programs:
        yield say("Programs, as they are found on that PATH:")
        yield from (
            f"  {name}: {_program_text(state.pins, path)}" for name, path in sorted(state.pins.programs.items())
        )
        yield ""
    missing = [name for name in program_names(state.inspection).required if name not in state.pins.programs]
    if missing:
        yield say("Not found on that PATH: {names}", names=", ".join(missing))
        yield ""
    files = startup_files.start_up_files(state.inspection, state.pins)
    if files:
        yield say("Not covered, although it can change what the programs do:")
        yield from (f"  {one.path}: {say(one.reason, program=one.program)}" for one in files)
        yield ""


def _program_text(pins: Pins, path: str) -> str:
    if path in pins.approved:
        return say("{path}, bound to its bytes: when they change, you are asked once for all hooks", path=path)
    return path


def _files(state: HookState, copies: Copies) -> Iterator[str]:
    if not state.covered:
        yield say("No file is covered: only the definition above is approved.")
    for path in state.covered:
        now = _text(copies.path(state.digest, path))
        yield f"--- {path}"
        yield from now
        yield from _changes(path, now, state, copies)
    yield ""
    yield from _uncovered(state.hook)
    yield say(
        "Not covered: programs of the system, and what these scripts load without naming it; `files:` adds files."
    )


def _findings(state: HookState, copies: Copies) -> Iterator[str]:
    """What the inspection of the files found, before anything of the hook has run."""
    inspection = state.inspection
    if inspection is None:
        return
    found = problems(inspection)
    if found:
        yield say("Found wrong, before anything of it has run:")
        yield from (f"  {describe(problem)}" for problem in found)
        yield ""
    if inspection.dependencies.files:
        yield say("Covered, and run as it is now:")
        yield from (
            f"  {path}: {_inclusion_text(reason)}" for path, reason in sorted(inspection.dependencies.files.items())
        )
        yield ""
    for title, names in _uncovered_data(inspection, copies.written_files(state.approved) if state.approved else ()):
        yield title
        yield from (f"  {name}" for name in names)
        yield ""
    yield _trial_text(state.hook)
    yield ""


def _uncovered_data(inspection: Inspection, beside: tuple[str, ...]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """What is not covered, by kind."""
    kinds = (
        (say("Data, not covered: the hook reads and writes your own files"), inspection.data_words),
        (
            say("Data beside the scripts, not covered: logs, and what a script writes"),
            inspection.dependencies.data_files,
        ),
        (
            say("Not covered, although code is loaded from there: it runs as it is at that moment"),
            inspection.dependencies.uncopied,
        ),
        (say("Written by the hook beside its approved copy, not covered"), beside),
    )
    yield from ((f"{title}:", names) for title, names in kinds if names)


def _inclusion_text(reason: Inclusion) -> str:
    location = f"{reason.script}:{reason.line}" if reason.line else reason.script
    return say(INCLUSION_TEXTS[reason.kind], script=location)


def _trial_text(hook: Hook) -> str:
    """What an approval starts by itself."""
    if isinstance(hook.action, Command):
        return say(
            "After the approval it runs once on a test event, with HOOKTRAY_TEST=1; a failure is shown with Undo."
        )
    if isinstance(hook.action, Rule):
        return say("A rule starts no program: it has no test run.")
    return say("After the approval nothing is sent: this hook has no test run.")


def _uncovered(hook: Hook) -> Iterator[str]:
    if not isinstance(hook.action, Command) or not hook.action.shell:
        return
    yield say("A shell runs this line as it stands, with the copies in place of the files above.")
    names = uncovered_words(hook, hook.action)
    if names:
        yield say("Not covered, as the shell finds or makes it when the hook runs: {names}", names=", ".join(names))


def _changes(path: str, now: list[str], state: HookState, copies: Copies) -> Iterator[str]:
    if not state.approved or state.approved == state.digest:
        return
    try:
        copies.check(state.approved)
    except DamagedError as damage:
        yield damage.message
        return
    before = _text(copies.path(state.approved, path))
    yield ""
    yield say("What changed in {path} since it was approved:", path=path)
    yield from _diff(before, now)


def _diff(before: list[str], now: list[str]) -> Iterator[str]:
    import difflib  # nobody reads a review at the start

    return difflib.unified_diff(before, now, "approved", "now", lineterm="")


def _approved_definition(state: HookState, copies: Copies) -> list[str]:
    if not state.approved:
        return []
    try:
        return format_definition(copies.check(state.approved).definition)
    except DamagedError:
        return []


def _withheld(state: HookState, copies: Copies, environment: Mapping[str, str]) -> Iterator[str]:
    """The variables that the scripts mention and will not get."""
    if state.digest == REMOVED:
        return
    names = clean(environment, wanted=state.hook.env, extra={}).withheld
    texts = b"\n".join(_bytes(copies.path(state.digest, path)) for path in state.covered)
    mentioned = mentioned_in(texts, names)
    if mentioned:
        yield say(
            "Withheld, although a script speaks of them: {names}. "
            "`env:` in the hook, or beside its source, lets one through.",
            names=", ".join(mentioned),
        )


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def _text(path: Path) -> list[str]:
    return _bytes(path).decode("utf-8", "replace").splitlines()
