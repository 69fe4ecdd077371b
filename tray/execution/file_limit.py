"""Raises our open-file limit, enough for a burst of events; a hook gets the original limit back.

That happens right after its start, so its very first instructions may still see ours.
"""

from __future__ import annotations

import contextlib
import sys

WANTED_LIMIT = 8192  # each event of a burst may need a dozen

if sys.platform == "linux":  # the only system where the limit of a process that runs already can be set back
    from resource import RLIMIT_NOFILE, getrlimit, prlimit, setrlimit

    ORIGINAL_LIMIT = getrlimit(RLIMIT_NOFILE)  # before we ask for more

    def raise_limit() -> None:
        """For this process."""
        soft, hard = ORIGINAL_LIMIT
        with contextlib.suppress(OSError, ValueError):  # then it stays as it is
            setrlimit(RLIMIT_NOFILE, (max(soft, min(hard, WANTED_LIMIT)), hard))

    def restore_limit(pid: int) -> None:
        """To a process that was just started."""
        if getrlimit(RLIMIT_NOFILE) != ORIGINAL_LIMIT:
            with contextlib.suppress(OSError):  # it has ended already
                prlimit(pid, RLIMIT_NOFILE, ORIGINAL_LIMIT)

else:

    def raise_limit() -> None:
        """The system's own limit holds."""

    def restore_limit(pid: int) -> None:
        """Nothing was taken."""
