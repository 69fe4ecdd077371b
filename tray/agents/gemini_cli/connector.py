"""Connects Gemini CLI: our groups in settings.json, the folders that its user trusts, the hooks that are disabled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tray.agents import wire
from tray.agents.claude_shape.connector import ShapedConnector, read_object
from tray.agents.connection import Site
from tray.agents.gemini_cli.protocol import NAME, SETTINGS, SHAPE
from tray.agents.native_runs import in_file, in_project
from tray.edit.file_changes import read_state, resolve_links
from tray.model.hook import Hook
from tray.paths import real_path

HOME = "GEMINI_CLI_HOME"  # names another home, with its own .gemini
TRUSTED_FOLDERS = "trustedFolders.json"
PARENT = "TRUST_PARENT"
UNTRUSTED = "DO_NOT_TRUST"
TRUSTING = (PARENT, "TRUST_FOLDER")


class GeminiConnector(ShapedConnector, frozen=True):
    """A connector that knows which folders Gemini CLI's user trusts: no hook runs in the others."""

    def folder(self, site: Site) -> Path:
        return site.folder(HOME) / self.file.folder

    def switch_files(self, site: Site) -> tuple[Path, ...]:
        return (*self._settings(site), self.folder(site) / TRUSTED_FOLDERS)

    def trust(self, site: Site) -> str:
        settings = self._settings(site)
        for path in settings:
            if off := self.switch_reason(path):
                return off
        if disabled := self._disabled(site, settings):
            return disabled
        security = wire.nested(read_object(self.settings_path(site)), "security")
        if wire.nested(security, "folderTrust").get("enabled") is False:
            return "trusted"
        rules = read_object(self.folder(site) / TRUSTED_FOLDERS)
        match is_trusted(rules, site.cwd):
            case True:
                return "trusted here"
            case False:
                return f"off: {NAME} runs no hook in {site.cwd}: type `/permissions trust` there to trust the folder"
        # In the home folder, the menu shows the state for all folders.
        if site.cwd == site.home:
            return ""
        return f"asks: start `gemini` in {site.cwd} and say that you trust it: until then no hook runs there"

    def _settings(self, site: Site) -> tuple[Path, ...]:
        """The user's file, and the project's."""
        return tuple(dict.fromkeys((self.settings_path(site), site.cwd / self.file.path)))

    def _disabled(self, site: Site, settings: tuple[Path, ...]) -> str:
        """Which of our entries its user disabled, by their name or by their command."""
        words = {word: path for path in settings for word in disabled_hooks(read_object(path))}
        own = self.settings_path(site)
        ours = self.contents(own, read_state(resolve_links(own))) if words else ()
        hits = [words[name] for one in ours if (name := hook_name(one.handler)) in words]
        if not hits:
            return ""
        which = f"off: {len(hits)} of Hooktray's entries are disabled"
        return f"{which}: take them out of `hooksConfig.disabled` in {hits[0]}"


def hook_name(handler: Mapping[str, Any]) -> str:
    """What `/hooks` and `hooksConfig.disabled` call a hook."""
    return wire.text(handler, "name") or wire.text(handler, "command")


def disabled_hooks(settings: Mapping[str, Any]) -> tuple[str, ...]:
    return wire.text_list(wire.nested(settings, "hooksConfig"), "disabled")


def is_trusted(rules: Mapping[str, Any], folder: Path) -> bool | None:
    """By the rule with the longest path that the folder is below; None when there is none."""
    longest, found = -1, None
    here = Path(real_path(str(folder)))
    for path, level in rules.items():
        if level not in (*TRUSTING, UNTRUSTED) or len(path) <= longest:
            continue
        root = Path(path).parent if level == PARENT else Path(path)
        if here.is_relative_to(real_path(str(root))):
            longest, found = len(path), level in TRUSTING
    return found


CONNECTOR = GeminiConnector(SHAPE, SETTINGS, NAME)


def runs_own(site: Site, hook: Hook, connected: Sequence[Path]) -> bool:
    """True if a connected file, or the project's own one, declares the hook."""
    return in_file(site, hook, connected) or in_project(hook, connected, (f"{SETTINGS.folder}/{SETTINGS.name}",))
