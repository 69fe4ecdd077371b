"""A sound pack is somebody else's: what is odd about it is said, and never played."""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from every import every
from sources.packs import DONE, make

from tray.errors import ConfigError
from tray.notify.sound import SOUNDS
from tray.sources import sound_pack
from tray.sources.configuration import parse


def warnings(folder: Path | str) -> tuple[str, ...]:
    return parse(json.dumps({"sound_pack": str(folder)}), "/h/hooktray.yaml").warnings


def test_a_good_pack_says_what_it_is_and_its_licence(tmp_path: Path) -> None:
    pack = sound_pack.read_pack(str(make(tmp_path / "p")))

    assert pack.line == "Orc Peon 1.0.0 by somebody, licence: CC-BY-NC-4.0"
    assert [one.file for one in pack.sounds["task.complete"]] == ["sounds/done.wav"]
    assert sound_pack.read_pack(str(tmp_path / "p" / "openpeon.json")) == pack
    assert warnings(tmp_path / "p") == ()
    without = sound_pack.read_pack(str(make(tmp_path / "q", license="")))
    assert without.line.endswith("licence: none named")


def test_an_older_packs_names_of_categories_count_by_their_alias(tmp_path: Path) -> None:
    old = {"categories": {"complete": {"sounds": [DONE]}}, "category_aliases": {"complete": "task.complete"}}

    assert "task.complete" in sound_pack.read_pack(str(make(tmp_path / "p", **old))).sounds


@pytest.mark.parametrize(
    ("manifest", "said"),
    [
        ({"cesp_version": "2.0"}, "cesp_version: 2.0 is not known"),
        ({"cesp_version": 1}, "$.cesp_version"),
        ({"name": "../x"}, "is not a pack's name"),
        ({"categories": []}, "$.categories"),
        ({"categories": {"task.complete": {"sounds": [{"label": "x"}]}}}, "missing required field `file`"),
        ({"categories": {"task.complete": {"sounds": [DONE] * 1001}}}, "more than 1000 sounds"),
        *((text, "") for text in ("", "{", "[" * 5000, "\x00\xff", '{"name": "x"}')),
    ],
)
def test_an_invalid_manifest_is_reported_with_its_place(
    tmp_path: Path, manifest: dict[str, Any] | str, said: str
) -> None:
    make(tmp_path / "p", **(manifest if isinstance(manifest, dict) else {}))
    if isinstance(manifest, str):
        (tmp_path / "p" / "openpeon.json").write_text(manifest)

    (warning,) = warnings(tmp_path / "p")

    assert warning.startswith("/h/hooktray.yaml:1:2: sound_pack: ")
    assert said in warning


@every("path", ["peon", "/nowhere/peon", "/dev/null"])
def test_a_pack_that_is_not_there_is_said(path: str) -> None:
    (warning,) = warnings(path)

    assert "sound_pack" in warning
    assert "\n" in warning, "with a remedy"


def link(path: Path) -> None:
    outside = path.parents[2] / "outside.wav"
    outside.write_bytes(b"RIFF")
    path.symlink_to(outside)


ODD: dict[str, tuple[Callable[[Path], object], str]] = {
    "too large": (lambda path: path.write_bytes(b"RIFF" + bytes(sound_pack.FILE_LIMIT)), "more than 1048576"),
    "no sound": (lambda path: path.write_text("#!/bin/sh\n"), "not the sound file that its name says"),
    "a folder": (Path.mkdir, "odd.wav"),
    "nothing": (lambda path: None, "cannot be read"),
}
if sys.platform != "win32":
    ODD["a pipe"] = (os.mkfifo, "not a file of the pack's own")
    ODD["a link"] = (link, "not a file of the pack's own")


@pytest.mark.parametrize(("put", "said"), ODD.values(), ids=ODD)
def test_an_invalid_sound_file_is_named_and_not_loaded(
    tmp_path: Path, put: Callable[[Path], object], said: str
) -> None:
    make(tmp_path / "p", {"file": "sounds/odd.wav", "label": "odd"})
    put(tmp_path / "p" / "sounds" / "odd.wav")

    (warning,) = warnings(tmp_path / "p")

    assert "sounds/odd.wav" in warning
    assert said in warning
    assert "our own sound is played instead" in warning


@pytest.mark.parametrize(
    "file", ["../outside.wav", "/etc/passwd", "sounds\\x.wav", "sounds/a b.wav", "x.exe", "", "a/../b.wav"]
)
def test_a_path_that_leads_out_or_is_no_sound_is_not_loaded(tmp_path: Path, file: str) -> None:
    (tmp_path / "outside.wav").write_bytes(b"RIFF")
    pack = sound_pack.read_pack(str(make(tmp_path / "p", {"file": file, "label": ""})))

    with pytest.raises(ConfigError):
        sound_pack.load(pack, pack.sounds["task.complete"][1])


@pytest.mark.parametrize("good", [True, False])
def test_the_digest_of_a_file_counts_where_the_pack_has_one(tmp_path: Path, good: bool) -> None:
    content = (SOUNDS / "tick.wav").read_bytes()
    digest = hashlib.sha256(content if good else b"another").hexdigest()
    make(tmp_path / "p", {**DONE, "sha256": digest})

    assert len(warnings(tmp_path / "p")) == (0 if good else 1)


def test_of_many_odd_sounds_three_are_named(tmp_path: Path) -> None:
    make(tmp_path / "p", *({"file": f"sounds/{number}.wav", "label": ""} for number in range(9)))

    found = warnings(tmp_path / "p")

    assert len(found) == 4
    assert "6 more of its sounds" in found[-1]


def test_a_pack_that_is_put_there_later_is_waited_for(tmp_path: Path) -> None:
    assert str(tmp_path / "p") in parse(json.dumps({"sound_pack": str(tmp_path / "p")}), "/h").watched
