"""Our entries in agents' settings, as they are now, compared with what `connect` wrote and recorded.

The whole of each entry counts: its group's matcher and other conditions, its command, time limit and every other key.
What surrounds it, and how the file is laid out, does not.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from msgspec.structs import replace

from tray.agents import relay_command
from tray.agents.agent import Connector
from tray.agents.connection import EntryContent, Site
from tray.agents.registry import AGENTS
from tray.connect import connectors
from tray.doctor.finding import Cause, Finding, found, listed
from tray.edit.backups import Backup
from tray.edit.file_changes import read_state
from tray.errors import PACKAGE_ERRORS, HooktrayError

OFF = "off: "  # a connector's word for an agent that does not run our entries
EVENTS_SHOWN = 3

Recorded = tuple[tuple[Backup, tuple[EntryContent, ...]], ...]


def recorded_entries(site: Site, agent: str) -> Recorded:
    """What `connect` wrote for this agent and Hooktray has not removed: each file with our entries in it."""
    connector = connectors()[agent]
    places = ((backup, _written(connector, backup)) for backup in site.backups.of_agent(agent))
    return tuple((backup, written) for backup, written in places if written)


def changed_entries(site: Site, agent: str, recorded: Recorded | None = None) -> tuple[Finding, ...]:
    """How our entries differ from what `connect` wrote for this agent; empty when they do not, or there are none."""
    connector = connectors()[agent]
    recorded = recorded_entries(site, agent) if recorded is None else recorded
    changes = [one for place in recorded for one in _file_findings(site, connector, agent, *place)]
    return tuple(changes) or tuple(_switched_off(site, agent, recorded)) or tuple(_wanted(site, agent, recorded))


def watched_files(site: Site, agent: str, recorded: Recorded) -> tuple[Path, ...]:
    """The files whose change may change the result."""
    connector = connectors()[agent]
    switches = [file for backup, _ in recorded for file in connector.switch_files(_site_of(site, backup.path))]
    programs = [Path(one) for _, written in recorded for one in _programs(site, written)]
    return tuple(dict.fromkeys((*(backup.path for backup, _ in recorded), *switches, *programs)))


def fingerprint(findings: Iterable[Finding]) -> str:
    """The same for the same state of the files: what a person has left as it is."""
    rows = sorted(
        (one.cause.name, json.dumps({key: str(value) for key, value in one.values.items()}, sort_keys=True))
        for one in findings
    )
    return hashlib.sha256(json.dumps(rows).encode()).hexdigest() if rows else ""


def _written(connector: Connector, backup: Backup) -> tuple[EntryContent, ...]:
    """Our entries as we wrote them."""
    try:
        return connector.contents(backup.path, backup.after)
    except HooktrayError:
        return ()


def _site_of(site: Site, path: Path) -> Site:
    """The same for the project, the workspace or the home that the settings file belongs to."""
    return replace(site, cwd=path.parent.parent, scope="", workspace="")


def _file_findings(
    site: Site, connector: Connector, agent: str, backup: Backup, written: tuple[EntryContent, ...]
) -> Iterator[Finding]:
    path = backup.path
    values = {"file": str(path), "reconnect": reconnect_command(site, agent, (str(path),))}
    try:
        state = read_state(path)
        entries = connector.contents(path, state)
    except HooktrayError as error:
        yield found(Cause.ENTRY_UNREADABLE, agent, **values, problem=error.message)
        return
    affected = tuple(one.event for one in written)
    if state is None:
        if _is_place_there(backup):
            yield found(Cause.ENTRY_FILE_GONE, agent, **values, affected=affected)
        return
    changes: dict[tuple[Cause, str], list[str]] = {}
    for one in written:
        if change := _change(one, [entry for entry in entries if entry.event == one.event]):
            changes.setdefault(change, []).append(one.event)
    for (cause, what), events in changes.items():
        yield found(cause, agent, **values, events=_names(events), what=what, affected=tuple(events))
    gone = next((program for program in _programs(site, written) if not Path(program).exists()), "")
    if gone and not changes:
        yield found(Cause.ENTRY_RELAY_GONE, agent, **values, program=gone, affected=affected)


def _programs(site: Site, written: Iterable[EntryContent]) -> tuple[str, ...]:
    """What our entries start, but for the relay at its own place, which the tray puts back by itself."""
    parsed = filter(None, map(_parsed, written))
    files = dict.fromkeys(file for one in parsed for file in one.required_files)
    return tuple(file for file in files if Path(file).is_absolute() and file != str(site.paths.relay))


def _change(written: EntryContent, entries: list[EntryContent]) -> tuple[Cause, str] | None:
    """What is wrong with one entry, and which of its keys differ; None when it is there as it was written."""
    if written in entries:
        return None
    if not entries:
        return Cause.ENTRY_GONE, ""
    entry = entries[0]
    if entry.conditions != written.conditions:
        return Cause.ENTRY_NARROWED, _differing(written.conditions, entry.conditions)
    if _target(entry) != _target(written):
        return Cause.ENTRY_ELSEWHERE, ""
    return Cause.ENTRY_ALTERED, _differing(written.handler, entry.handler)


def _target(entry: EntryContent) -> tuple[object, ...]:
    """The relay that it starts, and the folder that this leads to."""
    parsed = _parsed(entry)
    return (parsed.state_folder, parsed.required_files) if parsed else ()


def _parsed(entry: EntryContent) -> relay_command.RelayCommand | None:
    handler = entry.handler
    line = [str(handler.get("command", "")), *map(str, handler.get("args", ()))]
    return relay_command.parse(line if len(line) > 1 else line[0])


def _differing(one: Mapping[str, object], other: Mapping[str, object]) -> str:
    return ", ".join(key for key in sorted({*one, *other}) if one.get(key) != other.get(key))


def _names(events: Sequence[str]) -> str:
    return listed([event for event in events if event], EVENTS_SHOWN) or "*"


def _is_place_there(backup: Backup) -> bool:
    """Whether the place that the file belongs to is still there: settings go with a project that is deleted."""
    made = set(backup.folders)
    anchor = next(folder for folder in backup.path.parents if folder not in made)
    return anchor.is_dir() or backup.path.parent.parent.is_dir()


def _switched_off(site: Site, agent: str, recorded: Recorded) -> Iterator[Finding]:
    for backup, _ in recorded:
        if reason := switch_reason(_site_of(site, backup.path), agent):
            yield found(Cause.ENTRY_SWITCHED_OFF, agent, remedy=reason)
            return


def missing_events(site: Site, agent: str, present: Collection[str]) -> tuple[str, ...]:
    """The needed events that are not among those with an entry; none where it is not known what is needed."""
    needed = site.needed.get(agent, frozenset()) if site.needed is not None else frozenset()
    return tuple(sorted(event for event in needed if event not in present and "<" not in event))


def _wanted(site: Site, agent: str, recorded: Recorded) -> Iterator[Finding]:
    """A hook needs events that had no entry when `connect` wrote them."""
    present = {one.event for _, written in recorded for one in written}
    if not recorded or "" in present:  # one entry for all events
        return
    if wanted := missing_events(site, agent, present):
        files = tuple(str(backup.path) for backup, _ in recorded)
        reconnect = reconnect_command(site, agent, files)
        yield found(
            Cause.ENTRY_WANTED, agent, file=files[0], events=_names(wanted), affected=wanted, reconnect=reconnect
        )


def switch_reason(site: Site, agent: str) -> str:
    """Why the agent runs no hook of ours, as far as its own files say; "" when they do not."""
    try:
        trust = connectors()[agent].trust(site)
    except HooktrayError:
        return ""  # an unreadable file of another scope
    return trust.removeprefix(OFF) if trust.startswith(OFF) else ""


def reconnect_command(site: Site, agent: str, files: tuple[str, ...]) -> str:
    """The command that writes these entries again, and no others."""
    try:
        find_options = AGENTS[agent].connect_options
        options = find_options()(site, files) if find_options else ""
    except PACKAGE_ERRORS as error:
        AGENTS.failure(agent, "connect_options", error)
        options = ""
    return f"hooktray connect {agent}{options}"
