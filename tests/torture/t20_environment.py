"""T20: variables of a project that make another program of a hook's interpreter, or tell it a secret."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

from house import House

from torture.frame import Tally

TITLE = "variables that change what a hook is"
KINDS = {
    "bash": "#!/bin/bash\n",
    "perl": "#!/usr/bin/perl\n",
    "python": "#!/usr/bin/env python3\n",
    "sh": "#!/bin/sh\n",
}
SECRETS = (
    "AWS_SECRET_ACCESS_KEY", "ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GITHUB_TOKEN", "GH_TOKEN", "NPM_TOKEN",
    "DB_PASSWORD",
    "PGPASSWORD", "MYSQL_PWD", "SLACK_WEBHOOK", "STRIPE_SECRET", "JWT", "SESSION_COOKIE", "SENTRY_DSN", "SSHPASS",
    "HTTP_PROXY", "https_proxy", "ALL_PROXY", "SIGNING_KEY", "MY_PASSPHRASE", "X_AUTH", "BASIC_CREDENTIALS",
)  # fmt: skip


def torture(tally: Tally) -> None:
    house = House(tally.folder / "house")
    try:
        _hooks(tally, house)
    finally:
        house.close()


def _hooks(tally: Tally, house: House) -> None:
    canary = tally.folder / "ran"
    traps = dict(_traps(tally.folder / "traps", canary))
    for kind, head in KINDS.items():
        body = "import os\nopen(os.environ['SAW'], 'w').write('\\n'.join(os.environ))\n" if kind == "python" else ""
        body = body or (
            'open(F, ">", $ENV{SAW}); print F join("\\n", keys %ENV);\n'
            if kind == "perl"
            else 'env | cut -d= -f1 >"$SAW"\n'
        )
        path = house.paths.config.parent / f"{kind}-hook"
        path.write_text(head + body)
        path.chmod(0o755)
        house.hook(kind, on="tool_before", command=f"./{path.name}", matcher=f"run {kind}")
    names = list(traps)[:: tally.many(7, 1)]
    for kind in KINDS:
        for name in [*names, *SECRETS[:: tally.many(7, 1)]]:
            saw = tally.folder / f"saw-{kind}"
            saw.unlink(missing_ok=True)
            value = traps.get(name, "s3cr3t-k3JxQ9zLmN2vB8cT")
            environment = {"PATH": os.environ["PATH"], "SAW": str(saw), name: value}
            house.tool(f"run {kind}", environment=environment)
            seen = saw.read_text().split() if saw.exists() else ["the hook did not run"]
            tally.attack(f"{name} for {kind}: {seen}", not canary.exists() and saw.exists() and name not in seen)
            canary.unlink(missing_ok=True)
    for kind in KINDS:
        _control(tally, house.paths.config.parent / f"{kind}-hook", kind, traps, canary)


def _control(tally: Tally, hook: Path, kind: str, traps: Mapping[str, str], canary: Path) -> None:
    """The same hooks with the agent's environment as it is."""
    weak = {"bash": "BASH_ENV", "perl": "PERL5OPT", "python": "PYTHONPATH", "sh": ""}[kind]
    if not weak or not shutil.which(kind if kind != "python" else "python3"):
        return
    environment = {"PATH": os.environ["PATH"], "SAW": os.devnull, weak: traps[weak]}
    if kind == "perl":
        environment["PERL5LIB"] = traps["PERL5LIB"]
    subprocess.run([hook], env=environment, check=False, timeout=60, capture_output=True)
    tally.control(f"{kind} and {weak}", canary.exists())
    canary.unlink(missing_ok=True)


def _traps(folder: Path, canary: Path) -> Iterator[tuple[str, str]]:
    folder.mkdir()
    shell = folder / "rc"
    shell.write_text(f": >{canary}\n")
    shell.chmod(0o755)
    (folder / "Evil.pm").write_text(f'open(E, ">", "{canary}"); 1;\n')
    for name in ("sitecustomize.py", "usercustomize.py", "startup.py"):
        (folder / name).write_text(f"open({str(canary)!r}, 'w').close()\n")
    yield from dict.fromkeys(
        ("BASH_ENV", "ENV", "PROMPT_COMMAND", "PS4", "LD_PRELOAD", "LD_AUDIT", "PYTHONSTARTUP",
         "PYTHONINSPECT", "LESSOPEN",
         "GIT_SSH_COMMAND", "GIT_EXTERNAL_DIFF", "GIT_PAGER", "GIT_EDITOR", "PERLIO_DEBUG", "PERL5DB", "RUBYOPT"),
        str(shell),
    ).items()  # fmt: skip
    yield from dict.fromkeys(
        ("PYTHONPATH", "PYTHONHOME", "PYTHONUSERBASE", "PERL5LIB", "PERLLIB", "RUBYLIB", "NODE_PATH",
         "LD_LIBRARY_PATH",
         "GCONV_PATH", "LOCPATH", "NLSPATH", "CLASSPATH", "LUA_PATH", "PHP_INI_SCAN_DIR", "ZDOTDIR", "FPATH",
         "CDPATH",
         "GIT_EXEC_PATH", "GIT_DIR", "GIT_TEMPLATE_DIR", "OPENSSL_CONF", "HOSTALIASES", "BASH_LOADABLES_PATH",
         "DYLD_INSERT_LIBRARIES", "DYLD_LIBRARY_PATH", "MAKEFILES", "HOOKTRAY_HOME", "HOOKTRAY_RUN_AS"),
        str(folder),
    ).items()  # fmt: skip
    yield "PERL5OPT", "-MEvil"
    yield "NODE_OPTIONS", f"--require {shell}"
    yield "JAVA_TOOL_OPTIONS", f"-javaagent:{shell}"
    yield "BASH_FUNC_cut%%", f"() {{ : >{canary}; }}"
    yield "SHELLOPTS", "xtrace"
    yield "BASHOPTS", "extdebug"
    yield "IFS", "e"
    yield "GLIBC_TUNABLES", "glibc.malloc.check=3"
    yield "MALLOC_TRACE", str(canary)
    yield "PYTHONBREAKPOINT", "os.system"
