"""The limit of open files: more for the tray, and what was given to whatever it starts."""

from __future__ import annotations

import subprocess
import sys

import pytest

LOOK = """
import resource, time
resource.setrlimit(resource.RLIMIT_NOFILE, (200, 3000))
from tray.execution import command, hook_process
hook_process.raise_limit()
line = "until [ $(ulimit -n) = 200 ]; do :; done; ulimit -Hn"
job = command.Job(argv=("/bin/sh", "-c", line), cwd="/", environment={})
hook, = command.run([job], time.monotonic() + 20, None)
print(resource.getrlimit(resource.RLIMIT_NOFILE), hook.stdout.decode().split())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the limit stays as it is")
def test_the_tray_takes_more_files_and_its_hooks_soon_have_as_many_as_without_it() -> None:
    done = subprocess.run([sys.executable, "-c", LOOK], capture_output=True, text=True, timeout=60, check=True)

    assert done.stdout.strip() == "(3000, 3000) ['3000']"
