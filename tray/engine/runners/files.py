"""How many files we may have open: enough for a burst of events. A hook soon has what it would have without us:

its limit is set back right after its start, so its very first instructions may still see ours."""

from __future__ import annotations

import contextlib
import sys

ENOUGH = 8192  # each event of a burst may need a dozen

if sys.platform == "linux":  # the only system where the limit of a process that runs already can be set back
    from resource import RLIMIT_NOFILE, getrlimit, prlimit, setrlimit

    GIVEN = getrlimit(RLIMIT_NOFILE)  # before we ask for more

    def widen() -> None:
        """For this process."""
        soft, hard = GIVEN
        with contextlib.suppress(OSError, ValueError):  # then it stays as it is
            setrlimit(RLIMIT_NOFILE, (max(soft, min(hard, ENOUGH)), hard))

    def give_back(pid: int) -> None:
        """To a process that was just started."""
        if getrlimit(RLIMIT_NOFILE) != GIVEN:
            with contextlib.suppress(OSError):  # it has ended already
                prlimit(pid, RLIMIT_NOFILE, GIVEN)

else:

    def widen() -> None:
        """The system's own limit holds."""

    def give_back(pid: int) -> None:
        """Nothing was taken."""
