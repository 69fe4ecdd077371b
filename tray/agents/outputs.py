"""A tool's output as text, and the same output with another text in it: some agents know only text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tray.agents import wire


def as_text(output: Any) -> str:
    """What a reader would call the output's text; JSON when it has none."""
    if output is None or isinstance(output, str):
        return output or ""
    if isinstance(output, list):
        return _blocks(output)
    if not isinstance(output, dict):
        return wire.dumps(output).decode("utf-8", "replace")
    if isinstance(output.get("stdout"), str):
        return "\n".join(part for part in (output["stdout"], wire.text(output, "stderr")) if part)
    if isinstance(output.get("output_for_prompt"), str):
        return str(output["output_for_prompt"])
    if isinstance(output.get("llmContent"), str):
        return str(output["llmContent"])
    if isinstance(wire.nested(output, "file").get("content"), str):
        return str(output["file"]["content"])
    content = output.get("content")
    if isinstance(content, list) and _is_blocks(content):
        return _blocks(content)
    return wire.dumps(output).decode("utf-8", "replace")


def with_text(output: Any, text: str) -> Any:
    """The output with this text in it, in the shape it came in; None when it has no place for a text."""
    if output is None or isinstance(output, str):
        return text
    if _is_blocks(output):
        return blocks(text)
    if not isinstance(output, dict):
        return None
    if isinstance(output.get("stdout"), str):
        return output | {"stdout": text} | ({"stderr": ""} if "stderr" in output else {})
    if isinstance(output.get("output_for_prompt"), str):  # its `output` has the bytes
        return output | {"output_for_prompt": text, "output": []}
    file = output.get("file")
    if isinstance(file, dict) and isinstance(file.get("content"), str):
        return output | {"file": file | {"content": text}}
    if _is_blocks(output.get("content")):
        return output | {"content": blocks(text)}
    return None


def blocks(text: str) -> list[dict[str, str]]:
    """The text as the one content block of an output."""
    return [{"type": "text", "text": text}]


def from_text(tool: str, input: Mapping[str, Any], text: str) -> Any:
    """A text as Claude Code's own tool would have put it, for hooks that look into it."""
    if tool == "Bash":
        return {"stdout": text, "stderr": "", "interrupted": False, "isImage": False}
    if tool == "Read":
        lines = len(text.splitlines())
        file = {"filePath": wire.text(input, "file_path"), "content": text, "numLines": lines}
        return {"type": "text", "file": file | {"startLine": 1, "totalLines": lines}}
    return text


def same_shape(output: Any, value: Any) -> bool:
    """Whether the agent could take `value` for `output`: another type it would ignore, and show the old one."""
    return output is None or wire.JSON_TYPES.get(type(output), "object") == wire.JSON_TYPES.get(type(value), "object")


def _is_blocks(value: Any) -> bool:
    return isinstance(value, list) and any(isinstance(each, dict) and "text" in each for each in value)


def _blocks(blocks: list[Any]) -> str:
    if not _is_blocks(blocks):
        return wire.dumps(blocks).decode("utf-8", "replace")
    return "\n".join(wire.text(block, "text") for block in blocks if isinstance(block, dict))
