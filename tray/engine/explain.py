"""An open question in full, for a person who wants to see what would run; in the person's language."""

from __future__ import annotations

import json

from tray.engine.user_questions import UserQuestion
from tray.language import say
from tray.text import printable, redact


def details(question: UserQuestion) -> str:
    """All that can be arguments of it, for a person who wants to see what would run; secrets are masked."""
    event, decision = question.event, question.decision
    rows = (
        (say("agent"), event.agent),
        (say("project"), event.project),
        (say("folder"), event.project_folder or event.cwd),
        (say("event"), event.name),
        (say("session"), event.session),
        *((outcome.hook, outcome.output.reason) for outcome in decision.outcomes),
    )
    lines = [f"{name:<8} {value}" for name, value in rows if value]
    if event.tool is not None:
        arguments = json.dumps(dict(event.tool.input), indent=2, ensure_ascii=False, default=str)
        lines += ["", f"{event.tool.name}:", arguments]
    return printable(redact("\n".join(lines)).text) + "\n"
