from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from approvals.declared import argv, hook, program, saved
from every import every
from msgspec.structs import replace

from tray.approvals import covered_files
from tray.approvals.inspection import file_stamps, inspect, read_bundle
from tray.errors import HooktrayError
from tray.model.decision import Verdict
from tray.model.hook import Rule
from tray.store.copies import MANIFEST, SPARE, Bundle, Copies, DamagedError


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "project").mkdir()
    return tmp_path / "project"


def script(path: Path, text: str = "#!/bin/sh\necho original\n") -> Path:
    return program(path, text)


def printed(copies: Copies, bundle: Bundle, cwd: Path) -> list[str]:
    """Returns what the hook's script prints if it starts in another folder."""
    quiet = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(argv(copies, bundle), cwd=cwd, env=quiet, capture_output=True, check=True)
    return done.stdout.decode().splitlines()


@pytest.mark.parametrize("becomes", ["edited", "gone", "folder"])
def test_the_approved_copy_runs_after_the_file_was_edited_or_deleted(
    folder: Path, copies: Copies, becomes: str
) -> None:
    guard = script(folder / "guard.sh", '#!/bin/sh\necho original "$1"\n')
    bundle = saved(copies, hook(folder, "./guard.sh one"))
    if becomes == "edited":
        guard.write_text("#!/bin/sh\necho edited\n")
    else:
        guard.unlink()
    if becomes == "folder":
        guard.mkdir()

    assert printed(copies, bundle, folder) == ["original one"]


def test_one_changed_byte_or_word_changes_the_digest(folder: Path) -> None:
    guard = script(folder / "guard.sh")
    before = read_bundle(hook(folder, "./guard.sh")).digest

    guard.chmod(0o700)
    os.utime(guard, (1, 1))
    assert read_bundle(hook(folder, "./guard.sh")).digest == before
    assert read_bundle(hook(folder, "./guard.sh x")).digest != before
    guard.write_bytes(guard.read_bytes() + b"\n")
    assert read_bundle(hook(folder, "./guard.sh")).digest != before


@pytest.mark.parametrize("line", ["bin/guard.sh", "bin/guard.sh ./lib/words.sh"])
def test_listed_files_are_covered_and_keep_their_layout_also_where_a_word_names_them(
    folder: Path, copies: Copies, line: str
) -> None:
    script(folder / "bin" / "guard.sh", '#!/bin/sh\n. "${1:-$(dirname "$0")/../lib/words.sh}"\necho "$WORD"\n')
    script(folder / "lib" / "words.sh", "WORD=together\n")
    bundle = saved(copies, hook(folder, line, files=("lib/*.sh",)))
    script(folder / "lib" / "words.sh", "WORD=changed\n")

    assert printed(copies, bundle, folder) == ["together"]
    assert {Path(path).name for path in bundle.covered} == {"guard.sh", "words.sh"}


def ruin(copies: Copies, bundle: Bundle, folder: Path, damage: str) -> None:
    copy, manifest = copies.path(bundle.digest, str(folder / "guard.sh")), copies.folder / bundle.digest / MANIFEST
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


def ruin_spare(copies: Copies, bundle: Bundle) -> None:
    for spare in (copies.folder / bundle.digest / SPARE).iterdir():
        spare.chmod(0o700)
        spare.write_text("#!/bin/sh\necho evil\n")


@pytest.mark.parametrize("damage", ["edit", "delete", "manifest", "folder", "guest", "link"])
def test_a_damaged_copy_is_restored_only_from_unchanged_files_and_otherwise_fails(
    folder: Path, copies: Copies, damage: str
) -> None:
    guard = script(folder / "guard.sh")
    bundle = saved(copies, hook(folder, "./guard.sh"))
    ruin(copies, bundle, folder, damage)
    ruin_spare(copies, bundle)

    assert Path(argv(copies, bundle)[-1]).read_bytes() == guard.read_bytes()
    assert bundle.file_digests == copies.check(bundle.digest).files
    if damage in ("guest", "link"):  # the copy itself is intact
        return
    ruin(copies, bundle, folder, damage)
    ruin_spare(copies, bundle)
    guard.write_text("#!/bin/sh\necho edited\n")
    with pytest.raises(DamagedError, match=bundle.digest[:8]):
        argv(copies, bundle)


@pytest.mark.parametrize("damage", ["edit", "delete", "guest", "link"])
def test_what_was_altered_in_a_copy_is_restored_before_the_next_start(
    folder: Path, copies: Copies, damage: str
) -> None:
    guard = script(folder / "guard.sh")
    bundle = saved(copies, hook(folder, "./guard.sh"))
    ruin(copies, bundle, folder, damage)
    guard.write_text("#!/bin/sh\necho edited\n")

    assert printed(copies, bundle, folder) == ["original"]
    assert [path.name for path in copies.path(bundle.digest, str(guard)).parent.iterdir()] == ["guard.sh"]


def test_data_that_a_hook_writes_beside_itself_stays_and_what_a_language_would_load_does_not(
    folder: Path, copies: Copies
) -> None:
    script(
        folder / "guard.sh",
        '#!/bin/sh\ncd "$(dirname "$0")" || exit 1\n'
        "echo line >> seen.log\necho {} > state.json\necho {} > package.json\necho > json.py\nwc -l < seen.log\n",
    )
    bundle = saved(copies, hook(folder, "./guard.sh"))

    lines = [printed(copies, bundle, folder) for _ in range(3)]
    argv(copies, bundle)

    assert lines == [["1"], ["2"], ["3"]]
    assert [Path(path).name for path in copies.written_files(bundle.digest)] == ["seen.log", "state.json"]
    assert not list((copies.folder / bundle.digest).rglob("json.py"))


def test_data_that_a_hook_wrote_goes_along_to_its_next_approved_copy(folder: Path, copies: Copies) -> None:
    guard = script(folder / "guard.sh", '#!/bin/sh\necho line >> "$(dirname "$0")/seen.log"\n')
    before = read_bundle(hook(folder, "./guard.sh"))
    copies.save(before)
    printed(copies, before, folder)
    guard.write_text('#!/bin/sh\ncat "$(dirname "$0")/seen.log"\n')
    after = read_bundle(before.hook)
    copies.save(after)

    copies.carry_over(before.digest, after.digest)

    assert printed(copies, after, folder) == ["line"]


@every("line", ["./missing.sh", "no-such-tool --check", "sh missing.sh", "python3 -m guard", "env python3 -m guard"])
def test_what_is_not_there_cannot_be_approved_and_supplied_later(folder: Path, line: str) -> None:
    first = line.split()[0]
    interpreter = f"/usr/bin/{first}" if first in ("sh", "python3", "env") else ""

    with pytest.raises(HooktrayError):
        read_bundle(hook(folder, line, interpreter=interpreter))


def test_an_interpreter_of_the_users_own_is_run_by_its_path_and_named_as_not_covered_and_a_tool_is_copied(
    folder: Path, copies: Copies
) -> None:
    python = script(folder / "bin" / "python3", '#!/bin/sh\nexec cat "$1"\n')
    tool = script(folder / "bin" / "guardtool")
    script(folder / "guard.py", "print()\n")
    found = inspect(hook(folder, "python3 guard.py", interpreter=str(python)))
    copies.save(found.bundle)
    copied = saved(copies, hook(folder, "guardtool --check", interpreter=str(tool)))

    python.write_text("#!/bin/sh\nexit 0\n")  # its next version
    tool.write_text("#!/bin/sh\necho edited\n")

    copy = copies.path(found.bundle.digest, str(folder / "guard.py"))
    assert argv(copies, found.bundle) == [str(python), str(copy)]
    assert found.uncovered == (str(python),)
    assert found.bundle.pinned == {}
    assert printed(copies, copied, folder) == ["original"]


@pytest.mark.parametrize(
    ("words", "given"),
    [
        ("--rules=./rules.json", "--rules={folder}/rules.json"),
        ("--log={folder}/audit.log", "--log={folder}/audit.log"),
        ("./audit.log", "{folder}/audit.log"),
        ("../audit.log", "{above}/audit.log"),
        ("audit.log", "{folder}/audit.log"),
        ("~/audit.log", "{home}/audit.log"),
        ("--log=~/audit.log", "--log={home}/audit.log"),
        ("./not/there/yet.log", "{folder}/not/there/yet.log"),
        ("Bash", "Bash"),
    ],
)
def test_a_word_that_names_data_keeps_the_users_own_path(
    folder: Path, copies: Copies, tmp_path: Path, own_home: Path, words: str, given: str
) -> None:
    script(folder / "guard.sh", '#!/bin/sh\nprintf "%s\\n" "$@"\n')
    for place in (folder / "rules.json", folder / "audit.log", tmp_path / "audit.log", own_home / "audit.log"):
        place.write_text("[]")
    places = {"folder": folder, "above": tmp_path, "home": own_home}
    bundle = saved(copies, hook(folder, f"./guard.sh {words.format(**places)}"))

    assert printed(copies, bundle, tmp_path) == [given.format(**places)]
    assert [Path(path).name for path in bundle.covered] == ["guard.sh"]


def test_a_binary_is_bound_to_its_bytes_and_not_copied(folder: Path, copies: Copies) -> None:
    tool = script(folder / "bin" / "guardtool")
    tool.write_bytes(Path("/bin/sh").read_bytes())
    bundle = saved(copies, hook(folder, "guardtool -c :", interpreter=str(tool)))

    assert bundle.covered == ()
    assert argv(copies, bundle)[0] == str(tool)
    tool.write_bytes(tool.read_bytes() + b"x")
    with pytest.raises(DamagedError, match="another program"):
        argv(copies, bundle)


def test_a_module_beside_the_script_runs_as_approved_whatever_becomes_of_it(folder: Path, copies: Copies) -> None:
    script(folder / "guard.py", "#!/usr/bin/env python3\nfrom words import WORD\nprint(WORD)\n")
    words = script(folder / "words.py", "WORD = 'approved'\n")
    bundle = saved(copies, hook(folder, "./guard.py"))
    places = inspect(bundle.hook).watched_paths
    stamps = file_stamps(bundle.hook, places)

    words.write_text("WORD = 'edited'\n")
    assert file_stamps(bundle.hook, places) != stamps, "the change is seen"
    assert read_bundle(bundle.hook).digest != bundle.digest
    words.unlink()
    assert read_bundle(bundle.hook).digest != bundle.digest
    assert printed(copies, bundle, folder) == ["approved"]


@every("pattern", ["a/**b", "/usr/share/**/*"])
def test_a_pattern_that_is_bad_or_far_too_wide_is_an_error_and_not_a_crash(folder: Path, pattern: str) -> None:
    script(folder / "guard.sh")

    with pytest.raises(HooktrayError):
        read_bundle(hook(folder, "./guard.sh", files=(pattern,)))
    assert file_stamps(hook(folder, "./guard.sh", files=(pattern,)))


def test_a_word_too_long_for_a_file_name_is_just_a_word(folder: Path) -> None:
    one = hook(folder, f"sh -c '{'x' * 5000}'", interpreter="/bin/sh")

    assert read_bundle(one).covered == ()
    assert file_stamps(one)


def test_a_rule_has_a_digest_and_no_files(folder: Path) -> None:
    rule = replace(hook(folder, ""), action=Rule(verdict=Verdict.DENY))

    assert read_bundle(rule).covered == ()
    assert read_bundle(rule).digest


def test_the_signature_sees_an_edit_whose_time_was_set_back(folder: Path) -> None:
    guard = script(folder / "guard.sh", "#!/bin/sh\necho a\n")
    before, status = file_stamps(hook(folder, "./guard.sh")), guard.stat()

    guard.write_text("#!/bin/sh\necho b\n")
    os.utime(guard, ns=(status.st_atime_ns, status.st_mtime_ns))

    assert file_stamps(hook(folder, "./guard.sh")) != before


def test_a_file_that_is_too_large_is_refused_by_its_name(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(covered_files, "MAX_SIZE", 10)
    script(folder / "guard.sh")

    with pytest.raises(HooktrayError, match=r"guard\.sh"):
        read_bundle(hook(folder, "./guard.sh"))
