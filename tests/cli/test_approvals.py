"""Approvals travel as a file: nothing runs by importing them, and one review approves what is the same here."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from connect.trays import by_person
from every import every
from house import House
from user_controls import user_controls

from tray.approvals.callers.person import find_origin
from tray.approvals.catalog import HookCatalog
from tray.cli import run_command
from tray.engine.stores import open_stores
from tray.errors import HooktrayError
from tray.store.approval_file import IMPORTED, import_approvals, parse, read

Document = dict[str, Any]


@pytest.fixture
def guarded(house: House) -> House:
    """With one guard, approved, that is written by its full path."""
    script = house.script("guard.sh", "echo no >&2; exit 2")
    house.hook("guard", on="tool_before", command=str(script), dialect="claude-code")
    house.hook("second", on="turn_end", script="exit 0")
    return house


@pytest.fixture
def exported(guarded: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(guarded.root))
    file = tmp_path / "approvals.json"
    run(guarded.paths.home, "export", str(file))
    return file


def run(home: Path | None, *words: str) -> None:
    run_command(["--home", str(home), "approvals", *words])


def take(house: House, file: Path) -> None:
    """What `approvals import` does for a person."""
    import_approvals(house.paths.database, parse(read(file), str(file), str(house.root)))


def begin_again(house: House) -> None:
    """The same machine without its state."""
    house.stores.journal.close()
    shutil.rmtree(house.paths.state)
    house.paths.prepare()
    house.stores = open_stores(house.paths, create=True)
    house.catalog = HookCatalog(house.paths, house.stores.ledger, house.stores.copies)
    house.consent = user_controls(house.stores, house.catalog)
    house.catalog.refresh()


def test_what_was_exported_says_what_was_approved_and_is_for_its_owner(exported: Path, guarded: House) -> None:
    document = json.loads(exported.read_bytes())

    assert (document["format"], document["version"]) == ("hooktray-approvals", 1)
    assert [(one["way"], one["digest"]) for one in document["hooks"]] == [
        (one.channel, one.digest) for one in guarded.stores.ledger.in_order()
    ]
    assert [file["executable"] for one in document["hooks"] for file in one["files"]] == [True, True]
    assert exported.stat().st_mode & 0o777 == 0o600


def test_importing_runs_nothing_and_one_review_approves_all(exported: Path, guarded: House) -> None:
    begin_again(guarded)
    assert not guarded.consent.batch

    take(guarded, exported)
    guarded.close()
    again = House(guarded.root)
    again.catalog.refresh()

    assert again.tool("ls") == {}, "no imported hook runs before the review"
    assert again.stores.ledger.in_order() == ()
    assert str(again.paths.database.with_name(IMPORTED)) in again.catalog.watched
    batch = again.consent.batch
    assert [one.hook.name for one in batch.hooks] == ["guard", "second"]
    again.consent.approve_batch(batch.digest, "tray")
    assert [one.channel for one in again.stores.ledger.in_order()] == ["tray", "tray"]
    assert not again.consent.batch
    assert again.tool("ls") != {}
    again.close()


def test_an_import_does_not_offer_a_hook_whose_files_differ(exported: Path, guarded: House) -> None:
    begin_again(guarded)
    guarded.script("second.sh", "exit 1")

    take(guarded, exported)
    guarded.catalog.refresh()

    assert [one.hook.name for one in guarded.consent.batch.hooks] == ["guard"]


def test_approvals_follow_to_another_home(exported: Path, guarded: House, tmp_path: Path) -> None:
    guarded.stores.journal.close()
    moved = tmp_path / "elsewhere" / guarded.root.name
    shutil.copytree(guarded.root / "home" / "config", moved / "home" / "config")
    config = moved / "home" / "config" / "hooktray.yaml"
    config.write_text(config.read_text().replace(str(guarded.root), str(moved)))
    other = House(moved)
    other.catalog.refresh()

    take(other, exported)
    other.catalog.refresh()

    assert [one.hook.name for one in other.consent.batch.hooks] == ["guard", "second"]
    other.close()


def test_an_agent_cannot_import(exported: Path, guarded: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLAUDECODE", "1")
    assert find_origin(os.environ, ())

    with pytest.raises(HooktrayError, match="approvals import: this was started by"):
        run(guarded.paths.home, "import", str(exported))

    assert not guarded.paths.database.with_name(IMPORTED).exists()


@by_person
def test_the_command_says_where_each_one_stands(
    exported: Path, guarded: House, capsys: pytest.CaptureFixture[str]
) -> None:
    run(guarded.paths.home, "import", str(exported), "--json")

    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines() if line.startswith("{")]
    assert [(row["name"], row["result"]) for row in rows] == [("guard", "approved"), ("second", "approved")]


def test_a_file_that_is_there_is_not_overwritten(exported: Path, guarded: House) -> None:
    before = exported.read_bytes()

    with pytest.raises(HooktrayError, match="is there already"):
        run(guarded.paths.home, "export", str(exported))

    assert exported.read_bytes() == before


def _first(change: Callable[[Document], object]) -> Callable[[Document], object]:
    return lambda document: change(document["hooks"][0])


CHANGES: dict[str, tuple[Callable[[Document], object], str]] = {
    "another format": (lambda one: one.update(format="x"), "is not an export"),
    "a list": (lambda one: one.update(hooks={}), "hooks: Expected `array`"),
    "newer": (lambda one: one.update(version=2), "written by a newer Hooktray"),
    "no version": (lambda one: one.pop("version"), "expected a number"),
    "twice": (lambda one: one["hooks"].append(one["hooks"][0]), "is given twice"),
    "too many": (lambda one: one.update(hooks=[{}] * 2001), "hooks: Expected `array` of length <= 2000"),
    "null": (lambda one: one["hooks"].append(None), "hooks.2: Expected `object`"),
    "no digest": (_first(lambda one: one.pop("digest")), "`digest`"),
    "another digest": (_first(lambda one: one.update(digest="0" * 64)), "was altered"),
    "another definition": (_first(lambda one: one.update(definition="{}")), "not a definition"),
    "a list as definition": (_first(lambda one: one.update(definition="[]")), "not a definition"),
    "another way": (_first(lambda one: one.update(way=1)), "hooks.0.way: Expected `str`"),
    "a place": (_first(lambda one: one.update(position=["0", 0])), "hooks.0.position.0: Expected `int`"),
    "other bytes": (_first(lambda one: one["files"][0].update(bytes="AAAA")), "bytes were altered"),
    "no bytes": (_first(lambda one: one["files"][0].update(bytes="*")), "bytes were altered"),
    "a relative path": (_first(lambda one: one["files"][0].update(path="../x")), "not a full path"),
    "a path upwards": (_first(lambda one: one["files"][0].update(path="/a/../x")), "not a full path"),
    "a path with NUL": (_first(lambda one: one["files"][0].update(path="/a\0")), "not a full path"),
    "a file twice": (_first(lambda one: one["files"].append(one["files"][0])), "is given twice"),
    "another file": (_first(lambda one: one["files"][0].update(path="/etc/passwd")), "was altered"),
}


@every("name", CHANGES)
def test_what_is_no_whole_export_is_refused_with_its_place(exported: Path, guarded: House, name: str) -> None:
    change, why = CHANGES[name]
    document = json.loads(exported.read_bytes())
    change(document)

    with pytest.raises(HooktrayError, match=why) as refusal:
        parse(json.dumps(document).encode(), str(exported), str(guarded.root))

    assert refusal.value.message.startswith(f"{exported}:")
    assert refusal.value.hint


@every("text", [b"", b"[]", b"null", b"{", b"\xff", b"\0" * 100, b"[" * 100_000, None], ids=range(8))
def test_foreign_and_truncated_files_are_refused(exported: Path, guarded: House, text: bytes | None) -> None:
    with pytest.raises(HooktrayError) as refusal:
        parse(exported.read_bytes()[:-200] if text is None else text, str(exported), str(guarded.root))

    assert str(exported) in refusal.value.message


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes as files")
def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    whys = {pipe: "is not a file", Path("/dev/zero"): "is not a file", tmp_path: "cannot be read|not"}

    for path, why in {**whys, tmp_path / "none": "No such file"}.items():
        with pytest.raises(HooktrayError, match=why):
            read(path)


def test_a_file_beside_the_database_that_was_altered_offers_nothing(exported: Path, guarded: House) -> None:
    begin_again(guarded)
    take(guarded, exported)
    file = guarded.paths.database.with_name(IMPORTED)
    file.write_bytes(file.read_bytes().replace(b'"way": "', b'"way": 1, "x": "'))

    guarded.catalog.refresh()

    assert not guarded.consent.batch
