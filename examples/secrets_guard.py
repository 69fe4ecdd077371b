#!/usr/bin/env python3
"""Keeps keys, passwords and wallet seed phrases out of tools and messages, and warns when you type one in.

Answers in: starchild and claude-code, unchanged. Needs Python 3.10.
A prompt gets a warning that only you see; a tool call or an outbound message is refused. The reason names the kind
of secret and never the secret. When it breaks it exits 1, which is "failed".

Declare (the first two refuse when the guard is broken, the third only warns):
    - {event: tool_before, name: secrets in tools, command: ./secrets_guard.py, failure: block}
    - {event: outbound_message, name: secrets in messages, command: ./secrets_guard.py, failure: block}
    - {event: prompt, name: secrets in prompts, command: ./secrets_guard.py}
Try:
    echo '{"event":"on_outbound_message","notification":"-----BEGIN PRIVATE KEY-----"}' |
        hooktray test on_outbound_message --agent starchild --hook "secrets in messages" --payload - --expect deny
"""

import json
import re
import sys
from collections.abc import Iterator
from typing import Any

KINDS = {
    "a private key": r"-----BEGIN (?:[A-Z]+ )*PRIVATE KEY(?: BLOCK)?-----",
    "an AWS access key": r"\b(?:AKIA|ASIA)[A-Z2-7]{16}\b",
    "a GitHub token": r"\b(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{40,})",
    "a GitLab token": r"\bglpat-[A-Za-z0-9_-]{20,}",
    "a Google API key": r"\bAIza[A-Za-z0-9_-]{35}\b",
    "a model provider's key": r"\bsk-(?:ant-|proj-|or-)?[A-Za-z0-9_-]{24,}",
    "a payment key": r"\b[rs]k_live_[A-Za-z0-9]{20,}",
    "a Slack token": r"\bxox[abeprs]-[A-Za-z0-9-]{20,}",
    "a password in an address": r"\b[a-z][a-z0-9+.-]*://[^\s/:@$<{]+:[^\s/:@$<{]{4,}@[\w.-]+",
    "a wallet's private key": r"(?i)private.?key\W{1,6}(?:0x)?[0-9a-f]{64}\b",
    "a secret": r"(?i)\b(?:api|access|auth|client|secret)[_-]?(?:key|secret|token)\s*[:=]\s*['\"]?[\w/+-]{20,}",
}
PATTERNS = {kind: re.compile(pattern) for kind, pattern in KINDS.items()}
PLACEHOLDER = re.compile(r"(?i)example|placeholder|changeme|your[_-]|x{6,}|0{8,}|1234567|\.\.\.")
# A seed phrase is 12 to 24 plain words of 3 to 8 letters and nothing else; a sentence has little words in between.
PHRASE = re.compile(r"(?<![\w'])[a-z]{3,8}(?:[ \t]+(?:\d+[.)] ?)?[a-z]{3,8}){11,23}(?![\w'])")
LENGTHS = (12, 15, 18, 21, 24)
LITTLE = re.compile(
    r"\b(and|are|but|did|does|for|from|had|has|have|her|him|his|how|its|may|our|out|per|she|the|their|them|these|those|was"
    r"|were|which|who|whose|why|would|your|into|also|been|being|than|too|via|yet|nor)\b"
)


def main() -> None:
    event = json.load(sys.stdin)
    found = next((kind for text in texts(event) for kind in secrets(text)), "")
    if not found:
        return
    if (event.get("event") or event.get("hook_event_name")) in ("on_user_message", "UserPromptSubmit"):
        told = f"Your message holds what looks like {found}. The model reads it; change it if that was not meant."
        print(json.dumps({"systemMessage": told}))
        return
    reason = f"This holds what looks like {found}. Leave it out: read it from the environment where it is used."
    print(json.dumps({"decision": "block", "reason": reason}))


def texts(event: Any) -> Iterator[str]:
    """What leaves by this event: a tool's input, a message, a prompt."""
    for key in ("tool_input", "notification", "response", "delta", "message", "prompt"):
        yield from _strings(event.get(key))


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _strings(inner)


def secrets(text: str) -> list[str]:
    """The kinds of secrets in a text."""
    found = [kind for kind, pattern in PATTERNS.items() if any(_real(each[0]) for each in pattern.finditer(text))]
    return found + (["a wallet's seed phrase"] if any(_is_seed(each[0]) for each in PHRASE.finditer(text)) else [])


def _real(match: str) -> bool:
    return not PLACEHOLDER.search(match)


def _is_seed(phrase: str) -> bool:
    words = re.findall(r"[a-z]+", phrase)
    return len(words) in LENGTHS and not LITTLE.search(phrase) and len(set(words)) > len(words) // 3


if __name__ == "__main__":
    main()
