"""Whatever lies where an agent's settings are: a clear error that names the file and the remedy, and no lost byte."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest
from connect.sites import NOTHING_ARRIVED, OPERATIONS, Person, tree
from connect.variants import CLAUDE, STARCHILD

from tray.doctor.agent_status import probed_status
from tray.errors import HooktrayError
from tray.sources.configuration import load

if sys.platform != "win32":
    import resource

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="lines for a POSIX shell")

PLACES = {
    "claude-code": (".claude/settings.json", ".claude.json"),
    "shelley": (".config/shelley/hooks/chat-message",),
    "starchild": ("workspace/config/shell_hooks.yaml", "workspace/config/agent.yaml"),
    "x-code": (
        ".x-code/settings.json",
        ".x-code/plugins/installed_plugins.json",
        ".x-code/plugins/cache/local/hooktray/1.0.0/.x-code-plugin/plugin.json",
    ),
}
TEXTS = (
    b"", b"[]", b"null", b'""', b"0", b"true", b"{", b"{}", b"\xef\xbb\xbf", b"\xff\xfe", b"\0\0", b"[" * 100_000,
    b'{"a":' * 900 + b"1" + b"}" * 900, b'{"a": NaN}', b'{"a": 1,}', b"/* open", b'{"hooks": null}', b'{"hooks": []}',
    b'{"hooks": {"Stop": null}}', b'{"hooks": {"Stop": [null]}}', b'{"hooks": {"Stop": [{"hooks": [null, 1]}]}}',
    b'{"hooks": {"Stop": [{"hooks": [{"command": 1}]}]}}', b'{"hooks": {"Stop": [], "Stop": []}}',
    b'{"hooks": {"\\ud800": [{"hooks": [{"type": "command", "command": "\\ud800"}]}]}}', b'{"plugins": null}',
    b'{"plugins": [null, {"id": 1}]}', b'{"enabledPlugins": [1]}', b"9" * 5000, b"hooks", b"hooks:", b"hooks: 1",
    b"hooks:\n- null", b"hooks:\n- {event: 1}", b"hooks:\n\t- a", b"\thooks: []", b"a: &a 1\nb: *a", b"hooks: [a",
    b"hooks: []\t# x", b"---\na: 1\n---\nb: 2\n", b"hooks:\r- event: on_stop\r  command: /bin/echo\r", b"{a: 1}",
    b"hooks: [ # c\n]\n", b"hooks: !!seq []", b"shell_hooks: 1", b"#!/bin/sh\necho mine", b"? [a]\n: 1",
    b"{hooks: [ ], a: 1} # c", b"hooks: [{event: on_stop, command: /bin/echo} # c\n]\n",
    b"hooks: [\n  # lead\n  {event: on_stop, command: /bin/echo}, # one\n  {event: on_stop, command: /bin/true}\n]",
)  # fmt: skip
GENERAL = ("hooks of", "no hook of", "there is nothing")  # that are about no file
ORDER = ("status", "connect", "import", "status", "undo", "disconnect")
CASES = [(agent, place) for agent, places in PLACES.items() for place in places]


def look(person: Person) -> None:
    probed_status(person.site, person.agent, NOTHING_ARRIVED)
    load(person.site.paths)


STEPS: Mapping[str, Callable[[Person], object]] = {**OPERATIONS, "status": look}


def person_with(root: Path, agent: str, place: str, text: bytes) -> Person:
    person = Person(root, agent)
    file = person.home / place
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text)
    file.chmod(0o755 if agent == "shelley" else 0o600)
    return person


def refusal(person: Person, step: str) -> HooktrayError | None:
    try:
        STEPS[step](person)
    except HooktrayError as error:
        return error
    return None


def everything(person: Person) -> tuple[object, object]:
    return tree(person.home), tree(person.site.paths.config.parent)


@pytest.mark.parametrize(("agent", "place"), CASES)
def test_any_text_is_edited_or_refused_and_comes_back(tmp_path: Path, agent: str, place: str) -> None:
    """Any other error than a HooktrayError would be exit code 3."""
    for number, text in enumerate(TEXTS):
        person = person_with(tmp_path / str(number), agent, place, text)
        before = everything(person)
        for step in ORDER:
            state = everything(person)
            if error := refusal(person, step):
                assert everything(person) == state, (text, step)
                assert error.hint.replace("nothing was written", ""), (text, step)  # what to do
                assert str(tmp_path) in error.message or error.message.startswith(GENERAL)
        assert everything(person) == before, text


@pytest.mark.parametrize("text", [b"", b"hooks: yes", b"sources: []", b"# mine", b"hooks: []\r\n", b"{}", b"a: [1"])
@pytest.mark.parametrize("agent", ["claude-code", "shelley", "starchild"])
def test_our_own_file_comes_back_as_the_person_wrote_it(tmp_path: Path, agent: str, text: bytes) -> None:
    hooks = {"claude-code": CLAUDE["CRLF"], "shelley": b"#!/bin/sh\n", "starchild": STARCHILD["CRLF"]}[agent]
    person = person_with(tmp_path, agent, PLACES[agent][0], hooks)
    person.site.paths.config.write_bytes(text)
    before = everything(person)

    for step in ORDER[1:]:
        if error := refusal(person, step):
            assert str(tmp_path) in error.message or error.message.startswith(GENERAL)

    assert everything(person) == before


def folder(file: Path) -> None:
    file.unlink()
    file.mkdir()


def dangling(file: Path) -> None:
    file.unlink()
    file.symlink_to(file.parent / "nowhere" / "x")


def read_only(file: Path) -> None:
    file.chmod(file.stat().st_mode & 0o555)


def file_above(file: Path) -> None:
    file.unlink()
    file.parent.rmdir()
    file.parent.write_text("")


@pytest.mark.parametrize("spoil", [folder, dangling, read_only, file_above])
@pytest.mark.parametrize("agent", ["claude-code", "starchild"])
def test_what_cannot_be_written_is_named_with_what_to_do(
    tmp_path: Path, agent: str, spoil: Callable[[Path], None]
) -> None:
    person = person_with(tmp_path, agent, PLACES[agent][0], b"")
    spoil(person.home / PLACES[agent][0])
    before = everything(person)

    with pytest.raises(HooktrayError) as refusal:
        person.connect()

    assert refusal.value.message.startswith(str((person.home / PLACES[agent][0]).parent))
    assert refusal.value.hint
    assert everything(person) == before


@contextmanager
def size_limit(size: int) -> Iterator[None]:
    """No file grows beyond it, as on a full disk; Python ignores the signal, so that a write fails."""
    usual = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, usual[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, usual)


@pytest.mark.parametrize("size", [0, 100, 1000, 5000, 9000])
@pytest.mark.parametrize("agent", PLACES)
def test_a_full_disk_leaves_everything_as_it_was(tmp_path: Path, agent: str, size: int) -> None:
    texts = {"claude-code": CLAUDE["two spaces"], "starchild": STARCHILD["two"], "shelley": b"#!/bin/sh\n"}
    person = person_with(tmp_path, agent, PLACES[agent][0], texts.get(agent, b"{}"))
    before = everything(person)
    state = person.site.paths.state

    failed = False
    with size_limit(size):
        try:
            person.connect()
        except HooktrayError as error:
            failed = True
            found = error.message, error.hint

    if failed:
        assert "File too large" in found[0]
        assert "room" in found[1]
        assert everything(person) == before
        assert [path for path in state.rglob("*") if path.suffix in (".part", ".json")] == []
    person.connect()
    person.disconnect()
    assert everything(person) == before


@pytest.mark.parametrize("name", ["🎄 and ☃", "naïve", "a'b", os.fsdecode(b"not UTF-8 \xff")])
@pytest.mark.parametrize("agent", ["claude-code", "starchild", "shelley"])
def test_a_path_with_any_letter_works_or_is_named(tmp_path: Path, agent: str, name: str) -> None:
    texts = {"claude-code": CLAUDE["unicode"], "starchild": STARCHILD["unicode"], "shelley": b"#!/bin/sh\n"}
    person = person_with(tmp_path / name, agent, PLACES[agent][0], texts[agent])
    before = everything(person)

    for step in ORDER[1:]:
        if error := refusal(person, step):
            assert error.message.startswith((*GENERAL, str(tmp_path)))

    assert everything(person) == before
