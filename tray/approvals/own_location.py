"""Whether a script's result may depend on where its file is: such a script runs from its copy, not from a descriptor.

This reads the text and errs on the careful side. What a script loads beside itself is found by `dependencies/`.
"""

from __future__ import annotations

import re

from tray.execution.script import VERSION
from tray.lazy_pattern import lazy_pattern

# How `node` takes a descriptor for what it is: it looks for `/proc/self/fd/N` among the files otherwise.
DESCRIPTOR_OPTIONS = {"node": ("--preserve-symlinks-main",)}
# Texts that name the script, its folder, or all files of its process.
SHELL = lazy_pattern(
    r"\$\{?0|\$_\b|\$\{_\b|BASH_SOURCE|BASH_ARGV0|\bcaller\b|\bdirname\b|\bbasename\b|%x|%N|funcfiletrace|functrace"
    r"|funcsourcetrace|ZSH_ARGZERO|ZSH_SCRIPT|/proc/|/dev/fd"
)
PYTHON = lazy_pattern(
    r"__file__|__spec__|__loader__|__cached__|import\s+__main__|sys\.modules|\bargv\b(?!\s*\[\s*[1-9])|sys\.path\b|co_filename"
    r"|\b(?:import|from)\b[^\n#]*\b(?:inspect|runpy|importlib|pkgutil|zipapp|zipimport|multiprocessing|concurrent|argparse"
    r"|optparse|click|typer|fire|docopt|unittest|doctest|linecache)\b|%\((?:filename|pathname|module)\)"
    r"|\{(?:filename|pathname|module)\}|/proc/|/dev/fd"
)
PERL = lazy_pattern(
    r"\$0|\$\{0|__FILE__|FindBin|PROGRAM_NAME|\bcaller\b|Pod::Usage|\brequire\s*[\"'(]|\bdo\s*[\"'(]|\buse\s+lib\b|@INC"
    r"|/proc/|/dev/fd"
)
RUBY = lazy_pattern(
    r"\$0|__FILE__|__dir__|PROGRAM_NAME|require_relative|\bload\b|\bcaller|optparse|\bDATA\b|\$LOAD_PATH|\$:|/proc/|/dev/fd"
)
NODE = lazy_pattern(
    r"__dirname|__filename|\bargv\b(?!\s*(?:\[\s*[2-9]|\.\s*slice\(\s*[2-9]))|argv0|\bmodule\s*\.\s*(?!exports)|require\s*\."
    r"|^\s*(?:import|export)\b|\bimport\s*[({.]|worker_threads|\bfork\s*\(|\bcluster\b|\.stack\b|/proc/|/dev/fd",
    re.MULTILINE,
)
REQUIRED = lazy_pattern(r"\brequire\s*\(\s*([^)]*)\)")
LITERAL = lazy_pattern(r"""(['"`])(?:node:)?([\w/]+)\1\s*""")
PATTERNS = {
    **dict.fromkeys(("ash", "bash", "dash", "ksh", "sh", "zsh"), SHELL),
    "node": NODE,
    "nodejs": NODE,
    "perl": PERL,
    "pypy": PYTHON,
    "python": PYTHON,
    "ruby": RUBY,
}


def is_known(interpreter: str) -> bool:
    """Whether scripts of this interpreter can be read for their use of their own place."""
    return VERSION.sub("", interpreter) in PATTERNS


def uses_location(interpreter: str, whole: bytes) -> bool:
    """Whether a script for this interpreter may have another result when it is run from a descriptor."""
    name = VERSION.sub("", interpreter)
    pattern = PATTERNS.get(name)
    if pattern is None or b"\0" in whole:
        return True
    text = whole.decode("utf-8", "replace")
    return pattern.search(text) is not None or (pattern is NODE and _requires_files(text))


def descriptor_options(interpreter: str) -> tuple[str, ...]:
    """What is in front of the descriptor's path in the interpreter's words."""
    return DESCRIPTOR_OPTIONS.get(VERSION.sub("", interpreter), ())


def _requires_files(text: str) -> bool:
    """Whether `require` may load anything but modules of Node itself."""
    from tray.approvals.dependencies.javascript import BUILTIN  # only a script of Node needs it

    for found in REQUIRED.finditer(text):
        name = LITERAL.fullmatch(found[1])
        if name is None or name[2].split("/")[0] not in BUILTIN:
            return True
    return len(REQUIRED.findall(text)) != len(re.findall(r"\brequire\b", text))
