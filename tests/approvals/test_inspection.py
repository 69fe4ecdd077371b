from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from approvals.declared import hook

from tray.approvals import covered_files
from tray.approvals.command_resolver import CommandResolver
from tray.approvals.inspection import file_stamps, inspect, read_bundle
from tray.errors import HooktrayError
from tray.model.decision import Verdict
from tray.model.hook import Hook, Match, Rule, Source
from tray.store.copies import MANIFEST, SPARE, Bundle, Copies, DamagedError


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "project").mkdir()
    return tmp_path / "project"


@pytest.fixture
def copies(tmp_path: Path) -> Copies:
    (tmp_path / "copies").mkdir()
    return Copies(tmp_path / "copies")


def script(path: Path, text: str = "#!/bin/sh\necho original\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


def saved(copies: Copies, declared: Hook) -> Bundle:
    """The bundle of a hook, kept as an approval keeps it."""
    bundle = read_bundle(declared)
    copies.save(bundle)
    return bundle


def test_what_runs_is_the_copy_and_not_the_file(folder: Path, copies: Copies) -> None:
    guard = script(folder / "guard.sh")
    bundle = saved(copies, hook(folder, "./guard.sh one"))
    guard.write_text("#!/bin/sh\necho edited\n")

    argv = CommandResolver(copies).argv(bundle.hook, bundle.digest)

    assert argv[1:] == ("one",)
    assert subprocess.run(argv, capture_output=True, check=True).stdout == b"original\n"


@pytest.mark.parametrize(
    "change",
    ["append", "chmod", "definition"],
)
def test_one_byte_or_one_word_makes_another_digest(folder: Path, change: str) -> None:
    guard = script(folder / "guard.sh")
    before = read_bundle(hook(folder, "./guard.sh"))
    line = "./guard.sh"
    if change == "append":
        guard.write_bytes(guard.read_bytes() + b"\n")
    elif change == "chmod":
        guard.chmod(0o700)
    else:
        line = "./guard.sh x"

    after = read_bundle(hook(folder, line))

    assert (after.digest != before.digest) is (change != "chmod")


def test_a_touched_file_with_the_same_bytes_is_the_same_bundle(folder: Path) -> None:
    guard = script(folder / "guard.sh")
    before = read_bundle(hook(folder, "./guard.sh")).digest

    os.utime(guard, (1, 1))

    assert read_bundle(hook(folder, "./guard.sh")).digest == before


def test_listed_files_are_covered_and_keep_their_layout(folder: Path, copies: Copies) -> None:
    script(folder / "bin" / "guard.sh", '#!/bin/sh\n. "$(dirname "$0")/../lib/words.sh"\necho "$WORD"\n')
    script(folder / "lib" / "words.sh", "WORD=together\n")
    bundle = saved(copies, hook(folder, "bin/guard.sh", files=("lib/*.sh",)))
    script(folder / "lib" / "words.sh", "WORD=changed\n")

    done = subprocess.run(CommandResolver(copies).argv(bundle.hook, bundle.digest), capture_output=True, check=True)

    assert done.stdout == b"together\n"
    assert {Path(path).name for path in bundle.covered} == {"guard.sh", "words.sh"}


def test_a_script_behind_an_interpreter_is_covered_and_the_interpreter_is_not(folder: Path, copies: Copies) -> None:
    script(folder / "guard.sh")
    bundle = saved(copies, hook(folder, "sh guard.sh", interpreter="/bin/sh"))

    argv = CommandResolver(copies).argv(bundle.hook, bundle.digest)

    assert argv[0] == "/bin/sh"
    assert argv[1] == str(copies.path(bundle.digest, str(folder / "guard.sh")))


@pytest.mark.parametrize("swap", ["gone", "folder"])
def test_what_lies_in_the_originals_place_is_not_looked_at_when_it_runs(
    folder: Path, copies: Copies, swap: str
) -> None:
    guard = script(folder / "guard.sh")
    bundle = saved(copies, hook(folder, "./guard.sh"))
    guard.unlink()
    if swap == "folder":
        guard.mkdir()

    argv = CommandResolver(copies).argv(bundle.hook, bundle.digest)

    assert subprocess.run(argv, capture_output=True, check=True).stdout == b"original\n"


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


DAMAGES = ["edit", "delete", "manifest", "folder", "guest", "link"]


@pytest.mark.parametrize("damage", ["edit", "delete", "manifest", "folder"])
def test_a_copy_that_cannot_be_restored_is_refused_and_nothing_else_runs_in_its_place(
    folder: Path, copies: Copies, damage: str
) -> None:
    guard = script(folder / "guard.sh")
    bundle = saved(copies, hook(folder, "./guard.sh"))
    ruin(copies, bundle, folder, damage)
    ruin_spare(copies, bundle)
    guard.write_text("#!/bin/sh\necho edited\n")

    with pytest.raises(DamagedError, match=bundle.digest[:8]):
        CommandResolver(copies).argv(bundle.hook, bundle.digest)


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
    CommandResolver(copies).argv(bundle.hook, bundle.digest)

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


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_copy_is_made_anew_while_the_files_hold_what_was_approved(
    folder: Path, copies: Copies, damage: str
) -> None:
    guard = script(folder / "guard.sh")
    bundle = saved(copies, hook(folder, "./guard.sh"))
    ruin(copies, bundle, folder, damage)
    ruin_spare(copies, bundle)

    argv = CommandResolver(copies).argv(bundle.hook, bundle.digest)

    assert bundle.file_digests == copies.check(bundle.digest).files
    assert Path(argv[-1]).read_bytes() == guard.read_bytes()


def test_too_many_bytes_are_refused_with_the_file_that_was_one_too_much(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(covered_files, "MAX_SIZE", 10)
    script(folder / "guard.sh")

    with pytest.raises(HooktrayError, match=r"guard\.sh"):
        read_bundle(hook(folder, "./guard.sh"))


def test_saving_the_same_bundle_twice_leaves_one_copy_and_no_draft(folder: Path, copies: Copies) -> None:
    script(folder / "guard.sh")
    bundle = read_bundle(hook(folder, "./guard.sh"))

    copies.save(bundle)
    copies.save(bundle)

    assert [path.name for path in copies.folder.iterdir()] == [bundle.digest]


def test_a_damaged_copy_is_mended_when_the_same_bundle_is_saved_again(folder: Path, copies: Copies) -> None:
    guard = script(folder / "guard.sh")
    bundle = saved(copies, hook(folder, "./guard.sh"))
    copy = copies.path(bundle.digest, str(guard))
    copy.chmod(0o700)
    copy.write_text("#!/bin/sh\necho evil\n")

    copies.save(bundle)

    done = subprocess.run(CommandResolver(copies).argv(bundle.hook, bundle.digest), capture_output=True, check=True)
    assert done.stdout == b"original\n"


@pytest.mark.parametrize(
    "line",
    ["./missing.sh", "no-such-tool-anywhere --check", "sh missing.sh", "python3 -m guard", "env python3 -m guard"],
)
def test_what_is_not_there_cannot_be_approved_and_supplied_later(folder: Path, line: str) -> None:
    first = line.split()[0]
    interpreter = f"/usr/bin/{first}" if first in ("sh", "python3", "env") else ""

    with pytest.raises(HooktrayError):
        read_bundle(hook(folder, line, interpreter=interpreter))


def test_a_tool_of_the_users_own_is_copied_like_a_script(folder: Path, copies: Copies) -> None:
    tool = script(folder / "bin" / "guardtool")
    bundle = saved(copies, hook(folder, "guardtool --check", interpreter=str(tool)))
    tool.write_text("#!/bin/sh\necho edited\n")

    done = subprocess.run(CommandResolver(copies).argv(bundle.hook, bundle.digest), capture_output=True, check=True)

    assert done.stdout == b"original\n"


def test_an_interpreter_of_the_users_own_is_run_by_its_path_and_named_as_not_covered(
    folder: Path, copies: Copies
) -> None:
    python = script(folder / "bin" / "python3", '#!/bin/sh\nexec cat "$1"\n')
    script(folder / "guard.py", "print()\n")
    found = inspect(hook(folder, "python3 guard.py", interpreter=str(python)))
    copies.save(found.bundle)

    python.write_text("#!/bin/sh\nexit 0\n")  # its next version

    assert CommandResolver(copies).argv(found.bundle.hook, found.bundle.digest)[0] == str(python)
    assert found.uncovered == (str(python),)
    assert found.bundle.pinned == {}


ECHO = '#!/bin/sh\nprintf "%s\\n" "$@"\n'


def printed(copies: Copies, bundle: Bundle, cwd: Path) -> list[str]:
    """What the script of this unit is given, started in another folder."""
    argv, quiet = (
        CommandResolver(copies).argv(bundle.hook, bundle.digest),
        {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
    )
    done = subprocess.run(argv, cwd=cwd, env=quiet, capture_output=True, check=True)
    return done.stdout.decode().splitlines()


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
    script(folder / "guard.sh", ECHO)
    for place in (folder / "rules.json", folder / "audit.log", tmp_path / "audit.log", own_home / "audit.log"):
        place.write_text("[]")
    places = {"folder": folder, "above": tmp_path, "home": own_home}
    bundle = saved(copies, hook(folder, f"./guard.sh {words.format(**places)}"))

    assert printed(copies, bundle, tmp_path) == [given.format(**places)]
    assert [Path(path).name for path in bundle.covered] == ["guard.sh"]


def test_a_log_named_as_an_argument_grows_where_the_user_keeps_it(
    folder: Path, copies: Copies, tmp_path: Path
) -> None:
    script(folder / "audit.sh", '#!/bin/sh\necho line >> "$1"\n')
    log = folder / "audit.log"
    log.write_text("first\n")
    bundle = saved(copies, hook(folder, "./audit.sh ./audit.log"))

    for _ in range(2):
        subprocess.run(CommandResolver(copies).argv(bundle.hook, bundle.digest), cwd=tmp_path, check=True)

    assert log.read_text() == "first\nline\nline\n"
    assert read_bundle(bundle.hook).digest == bundle.digest  # and the log is no change of the hook


def test_a_file_that_the_user_lists_is_covered_also_where_a_word_names_it(folder: Path, copies: Copies) -> None:
    script(folder / "guard.sh", '#!/bin/sh\ncat "${1#--rules=}"\n')
    script(folder / "rules.json", "[1]")
    bundle = saved(copies, hook(folder, "./guard.sh --rules=./rules.json", files=("rules.json",)))
    script(folder / "rules.json", "[]")

    done = subprocess.run(CommandResolver(copies).argv(bundle.hook, bundle.digest), capture_output=True, check=True)

    assert done.stdout == b"[1]"


def test_a_copy_from_before_goes_on_with_the_data_that_was_approved_with_it(folder: Path, copies: Copies) -> None:
    guard, rules = script(folder / "guard.sh", '#!/bin/sh\ncat "$1"\n'), script(folder / "rules.json", "[1]")
    old = Bundle(
        hook=hook(folder, "./guard.sh ./rules.json"),
        contents={str(path): path.read_bytes() for path in (guard, rules)},
        executable=frozenset({str(guard)}),
    )
    copies.save(old)
    rules.write_text("[]")

    assert printed(copies, old, folder) == ["[1]"]
    assert read_bundle(old.hook).digest != old.digest


def test_a_binary_is_bound_to_its_bytes_and_not_copied(folder: Path, copies: Copies) -> None:
    tool = folder / "bin" / "guardtool"
    tool.parent.mkdir()
    tool.write_bytes(Path("/bin/sh").read_bytes())
    tool.chmod(0o755)
    bundle = saved(copies, hook(folder, "guardtool -c :", interpreter=str(tool)))

    assert bundle.covered == ()
    assert CommandResolver(copies).argv(bundle.hook, bundle.digest)[0] == str(tool)
    tool.write_bytes(tool.read_bytes() + b"x")
    with pytest.raises(DamagedError, match="another program"):
        CommandResolver(copies).argv(bundle.hook, bundle.digest)


def test_a_module_beside_the_script_runs_as_approved_whatever_becomes_of_it(folder: Path, copies: Copies) -> None:
    script(folder / "guard.py", "#!/usr/bin/env python3\nfrom words import WORD\nprint(WORD)\n")
    words = script(folder / "words.py", "WORD = 'approved'\n")
    bundle = saved(copies, hook(folder, "./guard.py"))
    seen = []
    for change in ("edit", "delete"):
        words.write_text("WORD = 'edited'\n") if change == "edit" else words.unlink()
        seen += printed(copies, bundle, folder)
        assert read_bundle(bundle.hook).digest != bundle.digest

    assert seen == ["approved", "approved"]


def test_the_signature_sees_a_change_of_what_a_script_imports(folder: Path) -> None:
    script(folder / "guard.py", "from words import WORD\n")
    words = script(folder / "words.py", "WORD = 1\n")
    one = hook(folder, "python3 guard.py", interpreter="/usr/bin/python3")
    places = inspect(one).watched_paths
    before = file_stamps(one, places)

    words.write_text("WORD = 2\n")

    assert file_stamps(one, places) != before


def test_tidying_keeps_what_is_wanted_and_nothing_else(folder: Path, copies: Copies) -> None:
    script(folder / "guard.sh")
    wanted = copies.save(read_bundle(hook(folder, "./guard.sh")))
    script(folder / "guard.sh", "#!/bin/sh\necho other\n")
    copies.save(read_bundle(hook(folder, "./guard.sh")))
    for draft in (".draft-old", ".draft-new"):
        (copies.folder / draft).mkdir()
    os.utime(copies.folder / ".draft-old", (1, 1))

    copies.prune({wanted})

    assert {path.name for path in copies.folder.iterdir()} == {wanted, ".draft-new"}  # somebody may be at work there


@pytest.mark.parametrize("pattern", ["a/**b", "/usr/share/**/*"])
def test_a_pattern_that_is_bad_or_far_too_wide_is_an_error_and_not_a_crash(folder: Path, pattern: str) -> None:
    script(folder / "guard.sh")

    with pytest.raises(HooktrayError):
        read_bundle(hook(folder, "./guard.sh", files=(pattern,)))
    assert file_stamps(hook(folder, "./guard.sh", files=(pattern,)))


def test_a_word_too_long_for_a_file_name_is_just_a_word(folder: Path) -> None:
    bundle = read_bundle(hook(folder, f"sh -c '{'x' * 5000}'", interpreter="/bin/sh"))

    assert bundle.covered == ()


def test_a_rule_has_a_digest_and_no_files(folder: Path) -> None:
    rule = Hook(
        name="rule",
        source=Source(kind="hooktray", path="x"),
        match=Match(event="tool_before"),
        action=Rule(verdict=Verdict.DENY),
        dialect="starchild",
    )

    assert read_bundle(rule).covered == ()
    assert read_bundle(rule).digest


def test_the_signature_sees_an_edit_whose_time_was_set_back(folder: Path) -> None:
    guard = script(folder / "guard.sh", "#!/bin/sh\necho a\n")
    before, status = file_stamps(hook(folder, "./guard.sh")), guard.stat()

    guard.write_text("#!/bin/sh\necho b\n")
    os.utime(guard, ns=(status.st_atime_ns, status.st_mtime_ns))

    assert file_stamps(hook(folder, "./guard.sh")) != before
