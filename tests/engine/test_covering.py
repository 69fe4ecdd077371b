from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tray.engine.approval import covering as module
from tray.engine.approval.covering import Covering, signature, survey
from tray.errors import HooktrayError
from tray.model.decision import Verdict
from tray.model.hook import Command, Hook, Match, Rule, Source
from tray.store.copies import MANIFEST, Copies, DamagedError, Unit


def hook(folder: Path, line: str, *, files: tuple[str, ...] = (), interpreter: str = "") -> Hook:
    return Hook(
        name="guard",
        source=Source(kind="hooktray", path=str(folder / "hooktray.yaml")),
        match=Match(event="tool_before"),
        action=Command(line=line, folder=str(folder), interpreter=interpreter),
        files=files,
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "project").mkdir()
    return tmp_path / "project"


@pytest.fixture
def kept(tmp_path: Path) -> Copies:
    (tmp_path / "copies").mkdir()
    return Copies(tmp_path / "copies")


def script(path: Path, text: str = "#!/bin/sh\necho original\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


def test_what_runs_is_the_copy_and_not_the_file(folder: Path, kept: Copies) -> None:
    guard = script(folder / "guard.sh")
    unit = survey(hook(folder, "./guard.sh one"))
    kept.keep(unit)
    guard.write_text("#!/bin/sh\necho edited\n")

    argv = Covering(kept).argv(unit.hook, unit.digest)

    assert argv[1:] == ("one",)
    assert subprocess.run(argv, capture_output=True, check=True).stdout == b"original\n"


@pytest.mark.parametrize(
    "change",
    ["append", "chmod", "definition"],
)
def test_one_byte_or_one_word_makes_another_digest(folder: Path, change: str) -> None:
    guard = script(folder / "guard.sh")
    before = survey(hook(folder, "./guard.sh"))
    line = "./guard.sh"
    if change == "append":
        guard.write_bytes(guard.read_bytes() + b"\n")
    elif change == "chmod":
        guard.chmod(0o700)
    else:
        line = "./guard.sh x"

    after = survey(hook(folder, line))

    assert (after.digest != before.digest) is (change != "chmod")


def test_a_touched_file_with_the_same_bytes_is_the_same_unit(folder: Path) -> None:
    guard = script(folder / "guard.sh")
    before = survey(hook(folder, "./guard.sh")).digest

    os.utime(guard, (1, 1))

    assert survey(hook(folder, "./guard.sh")).digest == before


def test_listed_files_are_covered_and_keep_their_layout(folder: Path, kept: Copies) -> None:
    script(folder / "bin" / "guard.sh", '#!/bin/sh\n. "$(dirname "$0")/../lib/words.sh"\necho "$WORD"\n')
    script(folder / "lib" / "words.sh", "WORD=together\n")
    unit = survey(hook(folder, "bin/guard.sh", files=("lib/*.sh",)))
    kept.keep(unit)
    script(folder / "lib" / "words.sh", "WORD=changed\n")

    done = subprocess.run(Covering(kept).argv(unit.hook, unit.digest), capture_output=True, check=True)

    assert done.stdout == b"together\n"
    assert {Path(path).name for path in unit.covered} == {"guard.sh", "words.sh"}


def test_a_script_behind_an_interpreter_is_covered_and_the_interpreter_is_not(folder: Path, kept: Copies) -> None:
    script(folder / "guard.sh")
    unit = survey(hook(folder, "sh guard.sh", interpreter="/bin/sh"))
    kept.keep(unit)

    argv = Covering(kept).argv(unit.hook, unit.digest)

    assert argv[0] == "/bin/sh"
    assert argv[1] == str(kept.path(unit.digest, str(folder / "guard.sh")))


@pytest.mark.parametrize("swap", ["gone", "folder"])
def test_what_lies_in_the_originals_place_is_not_looked_at_when_it_runs(
    folder: Path, kept: Copies, swap: str
) -> None:
    guard = script(folder / "guard.sh")
    unit = survey(hook(folder, "./guard.sh"))
    kept.keep(unit)
    guard.unlink()
    if swap == "folder":
        guard.mkdir()

    argv = Covering(kept).argv(unit.hook, unit.digest)

    assert subprocess.run(argv, capture_output=True, check=True).stdout == b"original\n"


def ruin(kept: Copies, unit: Unit, folder: Path, damage: str) -> None:
    copy, manifest = kept.path(unit.digest, str(folder / "guard.sh")), kept.folder / unit.digest / MANIFEST
    if damage == "edit":
        copy.chmod(0o700)
        copy.write_text("#!/bin/sh\necho evil\n")
    elif damage == "delete":
        copy.unlink()
    elif damage == "manifest":
        manifest.write_text(manifest.read_text().replace("guard", "other"))
    elif damage == "guest":
        (copy.parent / "json.py").write_text("raise SystemExit")
    elif damage == "link":
        (copy.parent / "json").symlink_to(folder, target_is_directory=True)
    else:
        manifest.unlink()


DAMAGES = ["edit", "delete", "manifest", "folder", "guest", "link"]


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_copy_is_refused_and_nothing_else_runs_in_its_place(
    folder: Path, kept: Copies, damage: str
) -> None:
    guard = script(folder / "guard.sh")
    unit = survey(hook(folder, "./guard.sh"))
    kept.keep(unit)
    ruin(kept, unit, folder, damage)
    guard.write_text("#!/bin/sh\necho edited\n")

    with pytest.raises(DamagedError, match=unit.digest[:8]):
        Covering(kept).argv(unit.hook, unit.digest)


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_copy_is_made_anew_while_the_files_hold_what_was_approved(
    folder: Path, kept: Copies, damage: str
) -> None:
    guard = script(folder / "guard.sh")
    unit = survey(hook(folder, "./guard.sh"))
    kept.keep(unit)
    ruin(kept, unit, folder, damage)

    argv = Covering(kept).argv(unit.hook, unit.digest)

    assert unit.sums == kept.check(unit.digest).files
    assert Path(argv[-1]).read_bytes() == guard.read_bytes()


def test_too_many_bytes_are_refused_with_the_file_that_was_one_too_much(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "SIZE", 10)
    script(folder / "guard.sh")

    with pytest.raises(HooktrayError, match=r"guard\.sh"):
        survey(hook(folder, "./guard.sh"))


def test_keeping_the_same_unit_twice_leaves_one_copy_and_no_draft(folder: Path, kept: Copies) -> None:
    script(folder / "guard.sh")
    unit = survey(hook(folder, "./guard.sh"))

    kept.keep(unit)
    kept.keep(unit)

    assert [path.name for path in kept.folder.iterdir()] == [unit.digest]


def test_a_damaged_copy_is_mended_when_the_same_unit_is_kept_again(folder: Path, kept: Copies) -> None:
    guard = script(folder / "guard.sh")
    unit = survey(hook(folder, "./guard.sh"))
    kept.keep(unit)
    copy = kept.path(unit.digest, str(guard))
    copy.chmod(0o700)
    copy.write_text("#!/bin/sh\necho evil\n")

    kept.keep(unit)

    done = subprocess.run(Covering(kept).argv(unit.hook, unit.digest), capture_output=True, check=True)
    assert done.stdout == b"original\n"


@pytest.mark.parametrize(
    "line",
    ["./missing.sh", "no-such-tool-anywhere --check", "sh missing.sh", "python3 -m guard", "env python3 -m guard"],
)
def test_what_is_not_there_cannot_be_approved_and_supplied_later(folder: Path, line: str) -> None:
    first = line.split()[0]
    interpreter = f"/usr/bin/{first}" if first in ("sh", "python3", "env") else ""

    with pytest.raises(HooktrayError):
        survey(hook(folder, line, interpreter=interpreter))


def test_a_tool_of_the_users_own_is_copied_like_a_script(folder: Path, kept: Copies) -> None:
    tool = script(folder / "bin" / "guardtool")
    unit = survey(hook(folder, "guardtool --check", interpreter=str(tool)))
    kept.keep(unit)
    tool.write_text("#!/bin/sh\necho edited\n")

    done = subprocess.run(Covering(kept).argv(unit.hook, unit.digest), capture_output=True, check=True)

    assert done.stdout == b"original\n"


def test_an_interpreter_of_the_users_own_is_bound_to_its_bytes(folder: Path, kept: Copies) -> None:
    python = script(folder / "bin" / "python3", '#!/bin/sh\nexec cat "$1"\n')
    script(folder / "guard.py", "print()\n")
    unit = survey(hook(folder, "python3 guard.py", interpreter=str(python)))
    kept.keep(unit)
    assert Covering(kept).argv(unit.hook, unit.digest)[0] == str(python)

    python.write_text("#!/bin/sh\nexit 0\n")

    with pytest.raises(DamagedError, match="another program"):
        Covering(kept).argv(unit.hook, unit.digest)


def test_a_file_named_behind_an_equals_sign_is_covered(folder: Path, kept: Copies) -> None:
    script(folder / "guard.sh", '#!/bin/sh\ncat "${1#--rules=}"\n')
    script(folder / "rules.json", "[1]")
    unit = survey(hook(folder, "./guard.sh --rules=./rules.json"))
    kept.keep(unit)
    script(folder / "rules.json", "[]")

    done = subprocess.run(Covering(kept).argv(unit.hook, unit.digest), capture_output=True, check=True)

    assert done.stdout == b"[1]"


def test_tidying_keeps_what_is_wanted_and_nothing_else(folder: Path, kept: Copies) -> None:
    script(folder / "guard.sh")
    wanted = kept.keep(survey(hook(folder, "./guard.sh")))
    script(folder / "guard.sh", "#!/bin/sh\necho other\n")
    kept.keep(survey(hook(folder, "./guard.sh")))
    for draft in (".draft-old", ".draft-new"):
        (kept.folder / draft).mkdir()
    os.utime(kept.folder / ".draft-old", (1, 1))

    kept.tidy({wanted})

    assert {path.name for path in kept.folder.iterdir()} == {wanted, ".draft-new"}  # somebody may be at work there


@pytest.mark.parametrize("pattern", ["a/**b", "/usr/share/**/*"])
def test_a_pattern_that_is_bad_or_far_too_wide_is_an_error_and_not_a_crash(folder: Path, pattern: str) -> None:
    script(folder / "guard.sh")

    with pytest.raises(HooktrayError):
        survey(hook(folder, "./guard.sh", files=(pattern,)))
    assert signature(hook(folder, "./guard.sh", files=(pattern,)))


def test_a_word_too_long_for_a_file_name_is_just_a_word(folder: Path) -> None:
    unit = survey(hook(folder, f"sh -c '{'x' * 5000}'", interpreter="/bin/sh"))

    assert unit.covered == ()


def test_a_rule_has_a_digest_and_no_files(folder: Path) -> None:
    rule = Hook(
        name="rule",
        source=Source(kind="hooktray", path="x"),
        match=Match(event="tool_before"),
        action=Rule(verdict=Verdict.DENY),
    )

    assert survey(rule).covered == ()
    assert survey(rule).digest


def test_the_signature_sees_an_edit_whose_time_was_set_back(folder: Path) -> None:
    guard = script(folder / "guard.sh", "#!/bin/sh\necho a\n")
    before, status = signature(hook(folder, "./guard.sh")), guard.stat()

    guard.write_text("#!/bin/sh\necho b\n")
    os.utime(guard, ns=(status.st_atime_ns, status.st_mtime_ns))

    assert signature(hook(folder, "./guard.sh")) != before
