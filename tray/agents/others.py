"""Agents of which Hooktray knows only how a process below them looks: nobody is taken for a person there."""

from __future__ import annotations

from tray.text.words import word_set

PROGRAMS = word_set("aider amp cline crush droid goose opencode")
VARIABLES = word_set("AI_AGENT AMP_THREAD_ID CLINE_ACTIVE GOOSE_TERMINAL OPENCODE OPENCODE_CLIENT")
