"""What a person reads before approving: the definition, each covered file in full, and what changed."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from tray.engine.approval.checks import describe, problems
from tray.engine.approval.covering import Survey
from tray.engine.approval.dependencies import Reason
from tray.engine.approval.dependencies.reading import Why
from tray.engine.approval.lines import uncovered
from tray.engine.approval.roster import REMOVED, Standing
from tray.engine.runners.environment import clean, mentioned
from tray.language import phrase, say
from tray.model.decision import Verdict
from tray.model.hook import Action, Command, Hook, Http, Prompt, Rule
from tray.store.copies import Copies, DamagedError
from tray.text import first_line, printable

BECAUSE = {
    Why.FOLDER: phrase("in a folder that {script} lists"),
    Why.HOOKS: phrase("in the same folder of hooks"),
    Why.IMPORTED: phrase("loaded by {script}"),
    Why.LISTED: phrase("named by `files:` or part of the plugin"),
    Why.NAMED: phrase("named by {script}"),
    Why.PACKAGE: phrase("part of a package that {script} imports"),
    Why.RUN: phrase("run by the command"),
}
LIMIT = 4_000_000  # characters: what is approved is shown whole


def review(standing: Standing, copies: Copies, environment: Mapping[str, str]) -> str:
    """The full text of one proposal, out of the copy that an approval of it would put in force."""
    lines = [*_lines(standing, copies), *_withheld(standing, copies, environment)]
    return printable("\n".join(lines), LIMIT) + "\n"


def written(standing: Standing, copies: Copies, environment: Mapping[str, str], folder: Path) -> Path:
    """The same as a file below `folder`, to be opened or read at a terminal."""
    folder.mkdir(mode=0o700, exist_ok=True)
    path = folder / f"{standing.hook.name.replace('/', '-')[:60]}-{standing.digest[:8]}.txt"
    path.write_text(review(standing, copies, environment), encoding="utf-8")
    return path


def runs(action: Action) -> str:
    """What it does, in one line."""
    if isinstance(action, Rule):
        return f"rule: {action.verdict.word}"
    if isinstance(action, Http):
        return f"POST {action.url}"
    if isinstance(action, Prompt):
        return f"{'agent' if action.agent else 'prompt'}: {first_line(action.text, 120)}"
    return action.line


def pretty(definition: str) -> list[str]:
    """The definition in words: a rule's verdict is kept as a number, which says nothing to a reader."""
    found = json.loads(definition)
    if found.get("kind") == Rule.__name__:
        found["action"]["verdict"] = Verdict(found["action"]["verdict"]).word
    return json.dumps(found, indent=2, ensure_ascii=False).splitlines()


def _lines(standing: Standing, copies: Copies) -> Iterator[str]:
    hook = standing.hook
    yield say("{name}, declared in {source}", name=hook.name, source=hook.source)
    yield say("Digest of what would be approved: {digest}", digest=standing.digest)
    if standing.digest == REMOVED:
        yield say("This hook is no longer declared. Approving that revokes it; until then its approved copy runs.")
        return
    yield ""
    yield from _found(standing, copies)
    before = _approved_definition(standing, copies)
    now = pretty(hook.definition)
    if before and before != now:
        yield say("What changed in the definition since it was approved:")
        yield from difflib.unified_diff(before, now, "approved", "now", lineterm="")
        yield ""
    yield say("Definition:")
    yield from now
    yield ""
    yield from _files(standing, copies)


def _files(standing: Standing, copies: Copies) -> Iterator[str]:
    if not standing.covered:
        yield say("No file is covered: only the definition above is approved.")
    for path in standing.covered:
        now = _text(copies.path(standing.digest, path))
        yield f"--- {path}"
        yield from now
        yield from _changes(path, now, standing, copies)
    yield ""
    yield from _uncovered(standing.hook)
    yield say(
        "Not covered: programs of the system, and what these scripts load without naming it; `files:` adds files."
    )


def _found(standing: Standing, copies: Copies) -> Iterator[str]:
    """What a look at the files found, before anything of the hook has run."""
    survey = standing.survey
    if survey is None:
        return
    wrong = problems(survey)
    if wrong:
        yield say("Found wrong, before anything of it has run:")
        yield from (f"  {describe(lack)}" for lack in wrong)
        yield ""
    if survey.look.files:
        yield say("Covered, and run as it is now:")
        yield from (f"  {path}: {_because(reason)}" for path, reason in sorted(survey.look.files.items()))
        yield ""
    for title, names in _left(survey, copies.written_files(standing.approved) if standing.approved else ()):
        yield title
        yield from (f"  {name}" for name in names)
        yield ""
    yield _after(standing.hook)
    yield ""


def _left(survey: Survey, beside: tuple[str, ...]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """What is not covered, by kind."""
    kinds = (
        (say("Data, not covered: the hook reads and writes your own files"), survey.data),
        (say("Data beside the scripts, not covered: logs, and what a script writes"), survey.look.left),
        (say("Not covered, although code is loaded from there: it runs as it is at that moment"), survey.look.live),
        (say("Written by the hook beside its approved copy, not covered"), beside),
    )
    yield from ((f"{title}:", names) for title, names in kinds if names)


def _because(reason: Reason) -> str:
    place = f"{reason.script}:{reason.line}" if reason.line else reason.script
    return say(BECAUSE[reason.why], script=place)


def _after(hook: Hook) -> str:
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
    names = uncovered(hook, hook.action)
    if names:
        yield say("Not covered, as the shell finds or makes it when the hook runs: {names}", names=", ".join(names))


def _changes(path: str, now: list[str], standing: Standing, copies: Copies) -> Iterator[str]:
    if not standing.approved or standing.approved == standing.digest:
        return
    try:
        copies.check(standing.approved)
    except DamagedError as damage:
        yield damage.message
        return
    before = _text(copies.path(standing.approved, path))
    yield ""
    yield say("What changed in {path} since it was approved:", path=path)
    yield from difflib.unified_diff(before, now, "approved", "now", lineterm="")


def _approved_definition(standing: Standing, copies: Copies) -> list[str]:
    if not standing.approved:
        return []
    try:
        return pretty(copies.check(standing.approved).definition)
    except DamagedError:
        return []


def _withheld(standing: Standing, copies: Copies, environment: Mapping[str, str]) -> Iterator[str]:
    """The variables that the scripts speak of and will not get, so that nobody has to find out the hard way."""
    if standing.digest == REMOVED:
        return
    names = clean(environment, wanted=standing.hook.env, extra={}).withheld
    texts = b"\n".join(_bytes(copies.path(standing.digest, path)) for path in standing.covered)
    spoken = mentioned(texts, names)
    if spoken:
        yield say(
            "Withheld, although a script speaks of them: {names}. `env:` in the hook lets one through.",
            names=", ".join(spoken),
        )


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def _text(path: Path) -> list[str]:
    return _bytes(path).decode("utf-8", "replace").splitlines()
