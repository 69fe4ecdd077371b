"""Agents of which Hooktray knows only programs and variables, so that it does not take them for a person."""

from __future__ import annotations

from tray.text.words import word_set

PROGRAMS = word_set("aider amp crush goose")
VARIABLES = word_set("AI_AGENT AMP_THREAD_ID GOOSE_TERMINAL")
# Windows in which agents run as well as the terminals of people: they are no agents, their extension hosts may be.
EDITORS = word_set(
    "clion code code-insiders code-oss codium cursor emacs goland idea java nvim phpstorm pycharm rider rubymine "
    "rustrover vim webstorm windsurf zed zed-editor zeditor"
)
