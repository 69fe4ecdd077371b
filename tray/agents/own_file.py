"""Connects an agent by a file that has only Hooktray's entries, in the user's folder or in a project."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tray.agents.connection import Site
from tray.agents.settings_connector import EntryConnector
from tray.edit.file_changes import File, FileChange, FileState, read_state, resolve_links
from tray.errors import HooktrayError


class OwnFileConnector(EntryConnector, frozen=True, kw_only=True):
    """Writes the whole file, and removes it. If `others` is set, it refuses a file with other content."""

    agent: str
    restart_hint: str
    others: tuple[str, str] = ("", "")  # the error about other content, and the hint
    keeps_mode: bool = True  # otherwise `connect` sets the file's mode to 0600

    def text(self, site: Site, present: frozenset[str]) -> bytes:
        """Returns the whole file, with entries for the needed events and for those in `present`."""
        raise NotImplementedError

    def rest(self, state: FileState, path: Path) -> FileState:
        """Returns the file without Hooktray's entries; None if it has nothing else."""
        raise NotImplementedError

    def notes(self, site: Site) -> tuple[str, ...]:
        return (self.restart_hint,)

    def connect_change(self, site: Site, path: Path) -> FileChange | None:
        real = resolve_links(path)
        current = read_state(real)
        rest = self.rest(current, path)
        what, hint = self.others
        if what and rest is not None:
            raise HooktrayError(f"{path}: {what}", hint=hint)
        present = frozenset(one.event for one in self.relay_entries(site) if one.path == str(path))
        mode = current.mode if self.keeps_mode and isinstance(current, File) else 0o600
        after = File(text=self.text(site, present), mode=mode)
        if current == after:
            return None
        backup = site.backups.as_written(real, current)
        origin = backup.before if backup else rest
        return FileChange(path=real, before=current, after=after, origin=origin, display_path=path)

    def disconnect_change(self, site: Site, path: Path) -> FileChange | None:
        """Restores the file of before `connect`. If it was edited since, only Hooktray's entries go."""
        real = resolve_links(path)
        current = read_state(real)
        backup = site.backups.as_written(real, current)
        after = backup.before if backup and backup.agent == self.agent else self.rest(current, path)
        return None if after == current else FileChange(path=real, before=current, after=after, display_path=path)


class ScopedFileConnector(OwnFileConnector, frozen=True, kw_only=True):
    """The file is below the user's folder; with the scope `project`, it is below the project's."""

    name: str  # as people call the agent
    variable: str  # the environment variable that names the parent of `folder`
    usual: str  # the usual parent of `folder`, in the user's home
    folder: str = ""
    project_folder: str
    file: Path

    def home(self, site: Site) -> Path:
        """The folder of the user's settings."""
        return site.folder(self.variable, self.usual) / self.folder

    def settings_path(self, site: Site) -> Path:
        scope = site.scope or "user"
        if scope not in ("user", "project"):
            raise HooktrayError(f"{self.name} has no scope `{scope}`", hint="write one of: user, project")
        return (self.home(site) if scope == "user" else site.cwd / self.project_folder) / self.file

    def settings_paths(self, site: Site) -> tuple[Path, ...]:
        """Returns the file of this scope; without a scope, the user's and those of projects."""
        own = self.settings_path(site)
        return (own,) if site.scope else (own, *self.other_paths(site))

    def is_installed(self, site: Site) -> bool:
        return self.home(site).is_dir()

    def connect_options(self, site: Site, files: Sequence[str]) -> str:
        """The scope of these files, unless they are the user's."""
        if not files or str(self.home(site) / self.file) in files:
            return ""
        return f" --scope project in {Path(files[0]).parents[2]}"
