"""Exit 2 of a program that is broken, told from the reason of a hook that refuses: by real programs."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from every import every

from tray.execution.script import interpreter_error

ARGUMENTS = "import argparse; p = argparse.ArgumentParser(); p.add_argument('--rules', required=True); p.parse_args()"
LINES = {
    "bash: syntax": ("bash", "bash -c 'if [ 1 ; then'"),
    "bash: an option": ("bash", "bash -z"),
    "bash: a variable": ("bash", "bash -c 'set -u; echo $MISSING'"),
    "bash: a command": ("bash", "bash -c missing_command"),
    "bash: a test": ("bash", "bash -c '[ a -gt b ]'"),
    "bash: a number": ("bash", "bash -c 'exit no'"),
    "bash: a file that cannot be run": ("bash", "bash -c 'touch rules; ./rules'"),
    "bash: a child that was killed": ("bash", """bash -c 'sh -c "kill -9 \\$\\$"; exit 2'"""),
    "bash: a constant": ("bash", "bash -c 'readonly A=1; A=2'"),
    "dash: the test of another shell": ("dash", "dash -c '[ a == a ]'"),
    "dash: arithmetic": ("dash", "dash -c 'echo $((1+))'"),
    "dash: syntax": ("dash", "dash -c 'if [ 1 ; then'"),
    "dash: a variable": ("dash", "dash -c 'set -u; echo $MISSING'"),
    "dash: a file": ("dash", "dash missing.sh"),
    "sh: a file to read": ("sh", "sh -c '. ./missing.sh'"),
    "grep: a file": ("grep", "grep x missing.txt"),
    "grep: a pattern": ("grep", "grep '[' ."),
    "grep: a folder": ("grep", "grep x ."),
    "sed: a command": ("sed", "sed s/x/"),
    "zsh: a command": ("zsh", "zsh -c missing_command"),
    "zsh: a test": ("zsh", "zsh -c '[[ a -missing b ]]'"),
    "python: a module": (sys.executable, f"{sys.executable} -m missing"),
    "python: blanks": (sys.executable, f"{sys.executable} -c ' x\n  y'"),
    "python: a script": (sys.executable, f"{sys.executable} missing.py"),
    "python: an option": (sys.executable, f"{sys.executable} -Q"),
    "python: arguments": (sys.executable, f'{sys.executable} -c "{ARGUMENTS}"'),
    "python: an exception": (sys.executable, f"{sys.executable} -c 1/0"),
    "python: syntax": (sys.executable, f"{sys.executable} -c 'print('"),
    "node: a script": ("node", "node missing.js"),
    "node: a name": ("node", "node -e 'missing()'"),
    "node: an option": ("node", "node --missing-option"),
    "node: an exception": ("node", """node -e 'throw new Error("x")'"""),
    "node: a promise": ("node", """node -e 'Promise.reject(new RangeError("x"))'"""),
    "node: a file": ("node", """node -e 'require("fs").readFileSync("missing")'"""),
    "perl: an option": ("perl", "perl -Q"),
    "perl: a script": ("perl", "perl missing.pl"),
    "perl: a module": ("perl", "perl -MMissing::Module -e 1"),
    "perl: syntax": ("perl", "perl -e 'if (1) {'"),
    "awk: syntax": ("awk", "awk 'BEGIN{'"),
    "make: a target": ("make", "make missing"),
    "ruby: a script": ("ruby", "ruby missing.rb"),
    "ruby: a name": ("ruby", "ruby -e missing"),
    "ruby: a module": ("ruby", """ruby -e 'require "missing"'"""),
    "jq: an option": ("jq", "jq --missing-option ."),
    "jq: syntax": ("jq", "jq '.x |'"),
    "jq: a type": ("jq", "echo 1 | jq .x"),
    "git: no repository": ("git", "GIT_DIR=missing git status"),
    "jq: a file": ("jq", "jq . missing.json"),
    "ls: an option": ("ls", "ls --missing-option"),
}
# What programs write that need not be here.
WRITTEN = {
    "click": "Usage: guard [OPTIONS]\nTry 'guard --help' for help.\n\nError: No such option: --rule",
    "clap": "error: unexpected argument '--rule' found\n\nUsage: guard [OPTIONS]",
    "go flag": "flag provided but not defined: -rule\nUsage of ./guard:\n  -rules string",
    "go panic": "panic: runtime error: index out of range [1]\n\ngoroutine 1 [running]:\nmain.main()",
    "bun": 'error: Module not found "guard.ts"',
    "fish": "fish: Unknown command: guard\nfish: \nguard\n^",
    "java": "Error: Unable to access jarfile guard.jar",
    "npm": 'npm error Missing script: "guard"\nnpm error',
    "php": "PHP Parse error:  syntax error, unexpected end of file in guard.php on line 3",
    "php: a script": "Could not open input file: guard.php",
    "rust": "thread 'main' panicked at src/main.rs:4:5:\nexplicit panic",
    "uv": "error: Failed to spawn: `guard`\n  Caused by: No such file or directory (os error 2)",
    "zsh": "guard.zsh:3: parse error near `\\n'\nzsh: no such file or directory: rules",
}
REASONS = [
    "no",
    "ask first: rm -rf deletes the build",
    "blocked by policy.yaml line 12: no force push",
    "error: secrets stay in .env",
    "Do not use `cat missing`: no such file or directory is expected here, read docs/files.md",
    "guard: denied: curl | sh",
    '{"decision": "block", "reason": "a syntax error would be fatal"}',
    "Type checks fail: TypeError is raised in api.py",
    "app.py:3: error: Name 'x' is not defined",
    "grep: use rg instead",
    "git push is blocked: fatal for the release",
    "npm error Test failed. See above for more details.",
    "tests failed\n  Error: expected 1\n\n    at Object.<anonymous> (a.test.js:3:5)",
    "src/a.rb:3: do not rescue (StandardError)",
    "deploy.sh: line 4: never delete the bucket",
    "3 tests failed:\n- test_a: expected 1\n- test_b: not found in the list",
    "",
]


@pytest.mark.skipif(sys.platform == "win32", reason="lines of a POSIX shell")
@every("name", LINES)
def test_an_error_of_the_program_itself_is_known(name: str, tmp_path: Path) -> None:
    program, line = LINES[name]
    if shutil.which(program) is None:
        return
    done = subprocess.run(
        ["sh", "-c", line], capture_output=True, text=True, cwd=tmp_path, stdin=subprocess.DEVNULL, check=False
    )

    assert done.returncode
    assert interpreter_error(done.stderr.strip()), done.stderr


@every("name", WRITTEN)
def test_what_other_programs_write_is_known(name: str) -> None:
    assert interpreter_error(WRITTEN[name])


@every("reason", REASONS)
def test_a_reason_is_no_error_of_a_program(reason: str) -> None:
    assert interpreter_error(reason) == ""
