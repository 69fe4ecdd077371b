"""What a browser may do with our pages: the one style sheet and the one script in them, by their hashes."""

from __future__ import annotations

import base64
import functools
import hashlib
from collections.abc import Mapping
from pathlib import Path

STATIC = Path(__file__).parent / "static"

# What every answer of ours carries.
HEADERS: Mapping[str, str] = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src {script}; style-src {style}; img-src 'self'; connect-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Referrer-Policy": "no-referrer",
    "Server": "Hooktray",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


@functools.cache
def style() -> str:
    return (STATIC / "page.css").read_text(encoding="utf-8")


@functools.cache
def script() -> str:
    return (STATIC / "page.js").read_text(encoding="utf-8")


@functools.cache
def headers() -> Mapping[str, str]:
    """Nothing else in a page runs or colours it, wherever it came from."""
    hashes = {"script": _hash(script()), "style": _hash(style())}
    return {name: value.format(**hashes) for name, value in HEADERS.items()}


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
