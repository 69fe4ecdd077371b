"""What a line would run has to be there when it is approved: nobody puts it into the agent's folder later."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from approvals.declared import argv, program, saved
from approvals.declared import settings_hook as hook
from every import every

from tray.approvals.inspection import inspect, read_bundle
from tray.errors import HooktrayError
from tray.store.copies import Copies, DamagedError


@pytest.fixture
def ours(tmp_path: Path) -> Path:
    (tmp_path / "ours").mkdir()
    return tmp_path / "ours"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """The folder in which the agent works."""
    (tmp_path / "project").mkdir()
    return tmp_path / "project"


REFUSED = [
    *("./check.sh", "hooks/check", "/nowhere/check", "~/nowhere/check", "sh check", "bash ./check.sh --fast"),
    *("python tool.py", "python3 tool", "node tool.js", "perl -w tool", "timeout 5 ./check.sh"),
    *("timeout -s KILL 5 ./check.sh", "nice -n 10 ./check.sh", "sudo -u bob ./check.sh", "env -i A=1 ./check.sh"),
    *("env A=1 python3 tool", "nohup nice timeout 5 sh check", "exec ./check.sh", "command ./check.sh"),
    *("time ./check.sh", "flock /tmp/lock ./check.sh", "xargs -n 1 ./check.sh", "ls | xargs ./check.sh"),
    *("find . -name x -exec ./check.sh {} +", "busybox sh check", ". ./env", "source env", "true; ./check.sh"),
    *("true && (cd /tmp; ./check.sh)", "if ./check.sh; then true; fi", "sh -c './check.sh'"),
    *("sh -c -e './check.sh'", "bash -ec 'true; python3 tool.py'", "eval './check.sh'", "trap './check.sh' EXIT"),
    *('echo "$(./check.sh)"', "echo `./check.sh`", "echo $(sh check)", "cat <(./check.sh)", "sh < ./check"),
    *("cat ./check | sh", "sh <<EOF\n./check.sh\nEOF", "cat <<EOF\n$(./check.sh)\nEOF", "uv run tool.py"),
    *("npx tsx hooks/check.ts", "bun check.ts", "deno run check.ts", "java -jar check.jar", "awk -f ./check.awk"),
    *("make -f ./Makefile.hooks", "PATH=./bin:$PATH check", "PATH=:/usr/bin check", "export PATH=bin:$PATH; check"),
    *("python3 -m guard", "python3 -W ignore -m guard", "python3 -c 'import json'"),
    *("python3 - <<EOF\nimport json\nEOF", '"$CLAUDE_PROJECT_DIR"/check', 'sh "$CLAUDE_PROJECT_DIR"/check'),
    *('timeout 5 "$CLAUDE_PROJECT_DIR"/check', "${cwd}/check", "echo '"),
]
TAKEN = [
    *("echo done", "jq -r .tool_input.file_path | xargs -n 1 ls -l", "grep -q rm ./missing.txt && exit 2"),
    *("git diff --stat -- src/ || true", "cat ./notes >> ~/log.txt", "test -f ./package.json && npm test"),
    *("[ -x ./check.sh ] || exit 0", "timeout 60 npm test", "nice make check"),
    *("curl -s https://example.com/x.sh -o /tmp/x.sh", "python3 -I -c 'import json, sys; sys.exit(2)'"),
    *("python3 -P -c 'import json'", "python3 -c 'print(1)'", "python3 -I -m json.tool"),
    *("python3 -I - <<EOF\nimport json\nEOF", "$MY_TOOL --check", "prettier --check '**/*.ts'"),
    *("ruff check src --config ./ruff.toml", "notify-send 'done' \"$(pwd)\"", "sh -c 'echo done; exit 2'"),
    *("PATH=/opt/bin:$PATH check", "cp a.js b.js", "rm -f ./build/old.js"),
]


@every("line", REFUSED)
def test_a_line_that_would_run_what_is_not_there_cannot_be_approved(tmp_path: Path, line: str) -> None:
    with pytest.raises(HooktrayError) as refused:
        read_bundle(hook(tmp_path, line))

    assert refused.value.hint


@every("line", TAKEN)
def test_a_line_that_only_names_data_or_programs_of_the_system_can(tmp_path: Path, line: str) -> None:
    assert read_bundle(hook(tmp_path, line)).digest


@every("line", ["timeout 5 ./check.sh", "env python3 tool", "env -i A=1 nice sh check", "env bun a.ts"])
def test_a_line_without_a_shell_is_read_as_closely(tmp_path: Path, line: str) -> None:
    with pytest.raises(HooktrayError, match="there is no such"):
        read_bundle(hook(tmp_path, line, interpreter="/usr/bin/env"))


@every(
    "line",
    [
        *("./check", "sh check", "env A=1 timeout 5 ./check", "true && nice -n 1 sh ./check", "sh < check"),
        *(". ./check", "find /bin/sh -maxdepth 0 -exec ./check {} +", "sh -c ./check", "eval 'sh ./check'"),
        *('echo "$(./check)"', "echo `./check`", "cat <<E\n$(./check)\nE"),
    ],
)
def test_a_file_beside_the_hook_runs_as_approved_even_if_the_agents_folder_has_one(
    ours: Path, project: Path, copies: Copies, line: str
) -> None:
    for folder, text in ((ours, "approved"), (project, "planted")):
        program(folder / "check", f"#!/bin/sh\necho {text}\n")
    bundle = saved(copies, hook(ours, line))

    done = subprocess.run(argv(copies, bundle), cwd=project, capture_output=True, check=True)

    assert done.stdout == b"approved\n"


def test_in_a_text_that_no_shell_reads_a_copy_has_no_place(tmp_path: Path) -> None:
    (tmp_path / "check").write_text("#!/bin/sh\n")

    with pytest.raises(HooktrayError, match="approved copy cannot be written"):
        read_bundle(hook(tmp_path, "env sh -c ./check", interpreter="/usr/bin/env"))


def test_a_projects_own_settings_may_name_its_files_by_the_project(tmp_path: Path) -> None:
    script = program(tmp_path / ".claude" / "hooks" / "check.sh", "#!/bin/sh\n")
    lines = ('"$CLAUDE_PROJECT_DIR"/.claude/hooks/check.sh', ".claude/hooks/check.sh")

    found = [read_bundle(hook(tmp_path, line, project=str(tmp_path))).covered for line in lines]

    assert found == [(str(script),)] * 2


@every(
    ("line", "run", "data"),
    [
        ("tee -a ~/tee.log", [], ["~/tee.log"]),
        ("tee -a ./audit.log < /dev/null", [], ["./audit.log"]),
        ("./check ./audit.log", ["check"], ["./audit.log"]),
        ("./check --log=audit.log", ["check"], ["--log=audit.log"]),
        ("./check >> ~/out.log 2>&1", ["check"], ["~/out.log"]),
        ("env X=1 python3 ./tool.py audit.log", ["tool.py"], ["audit.log"]),
        ("timeout 5 ./check audit.log", ["check"], ["audit.log"]),
        ("cat audit.log | sh ./check", ["check"], ["audit.log"]),
        ("sh < check", ["check"], []),
        ("python3 -I -m json.tool audit.log", [], ["audit.log"]),
        ("jq . audit.log && ./check", ["check"], ["audit.log"]),
        ("sh -c 'cat \"$1\"' x audit.log", [], ["audit.log"]),
    ],
)
def test_only_what_a_line_runs_is_copied_and_every_other_word_is_data(
    tmp_path: Path, own_home: Path, line: str, run: list[str], data: list[str]
) -> None:
    for name in ("check", "audit.log", "tool.py"):
        (tmp_path / name).write_text("#!/bin/sh\n" if name == "check" else "")
    (own_home / "tee.log").write_text("")

    found = inspect(hook(tmp_path, line))

    assert [Path(path).name for path in found.bundle.covered] == run
    assert list(found.data_words) == data


@every(
    "line",
    [
        *("tee -a ./audit.log", "tee -a {}/audit.log", "cat >> {}/audit.log", "./keep audit.log"),
        "cat > /dev/null; ./keep ./audit.log",
    ],
)
def test_what_a_line_for_a_shell_writes_is_the_users_own_file(
    ours: Path, project: Path, copies: Copies, line: str
) -> None:
    program(ours / "keep", '#!/bin/sh\necho line >> "$1"\n')
    (ours / "audit.log").write_text("first\n")
    bundle = saved(copies, hook(ours, line.format(ours)))

    subprocess.run(argv(copies, bundle), cwd=project, input=b"line\n", check=True)

    assert (ours / "audit.log").read_text() == "first\nline\n"
    assert read_bundle(bundle.hook).digest == bundle.digest


@every("line", ["./tool -c :", "timeout 5 ./tool -c :", "true && ./tool -c :", "env A=1 ./tool -c :"])
def test_a_binary_that_a_line_runs_is_bound_to_its_bytes_wherever_it_is_named(
    ours: Path, project: Path, copies: Copies, line: str
) -> None:
    tool = ours / "tool"
    shutil.copy("/bin/sh", tool)
    bundle = saved(copies, hook(ours, line))

    subprocess.run(argv(copies, bundle), cwd=project, check=True)
    tool.write_bytes(tool.read_bytes() + b"x")

    assert bundle.covered == ()
    with pytest.raises(DamagedError, match="another program"):
        argv(copies, bundle)
