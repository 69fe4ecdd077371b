"""The patch of a file tool, such as Codex's `apply_patch`, and the arguments that other agents' hooks look for.

*** Begin Patch
*** Update File: NAME
@@
-old line
+new line
*** Add File: NAME
+first line
*** End Patch
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

BEGIN = "*** Begin Patch"
END = "*** End Patch"
FILES = "file_paths"  # every file that a patch names, in its order
_TARGET = re.compile(r"\*\*\* (Add File|Delete File|Update File|Move to): (.+)")


def text(input: Mapping[str, Any]) -> str:
    """Returns the patch in this input, or "". It is a plain loop because it runs for every tool call."""
    for value in input.values():
        if isinstance(value, str) and BEGIN in value:
            return value
    return ""


def arguments(input: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the canonical arguments of the patch in this input; {} when there is none.

    `file_path` is the first file, FILES has all. A patch that only adds files has `content`, like a Write, and any
    other has `old_string` and `new_string`, like an Edit.
    """
    lines = text(input).partition(BEGIN)[2].splitlines()
    targets = [found.groups() for line in lines if (found := _TARGET.match(line))]
    if not targets:
        return {}
    files = [*dict.fromkeys(path.strip() for _, path in targets)]
    named = {"file_path": files[0], FILES: files}
    body = [line for line in lines if not line.startswith("***")]
    new = "\n".join(line[1:] for line in body if line[:1] in ("+", " "))
    if all(action == "Add File" for action, _ in targets):
        return named | {"content": new}
    return named | {"old_string": "\n".join(line[1:] for line in body if line[:1] in ("-", " ")), "new_string": new}


def further_files(input: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Returns the input with the patch of each file but the first; the target of a move counts as a file."""
    patch, sections = text(input), list[list[str]]()
    open_sections = 0  # how many of the last sections get the following lines
    for line in patch.partition(BEGIN)[2].splitlines():
        if found := _TARGET.match(line):
            is_move = found[1] == "Move to"
            open_sections = open_sections + 1 if is_move else 1
            sections.append([*sections[-1][1:], ""] if is_move and sections else [""])
            sections[-1][0] = f"*** {'Update File' if is_move else found[1]}: {found[2]}"
        elif not line.startswith("***"):
            for section in sections[-open_sections:] if open_sections else ():
                section.append(line)
    key = next((name for name, value in input.items() if value == patch), "")
    return [{**input, key: "\n".join((BEGIN, *section, END))} for section in sections[1:]]


def lost(input: Mapping[str, Any], value: object) -> bool:
    """True if a new input sets arguments that only hooks get, instead of another patch."""
    new = {key: text for key, text in value.items() if key not in input} if isinstance(value, Mapping) else {}
    texts = [text for text in new.values() if isinstance(text, str)]
    return bool(new) and (bool(arguments(input)) or any(text.startswith(BEGIN) for text in texts))


def write(input: Mapping[str, Any]) -> str:
    """Returns the patch for these canonical arguments of an Edit or a Write; "" if they name no file."""
    path, content = input.get("file_path"), input.get("content")
    if not isinstance(path, str) or not path:
        return ""
    if isinstance(content, str):
        head, body = "Add", [f"+{line}" for line in content.splitlines()]
    else:
        old, new = (str(input.get(key, "")).splitlines() for key in ("old_string", "new_string"))
        head, body = "Update", ["@@", *(f"-{line}" for line in old), *(f"+{line}" for line in new)]
    return "\n".join((BEGIN, f"*** {head} File: {path}", *body, END))
