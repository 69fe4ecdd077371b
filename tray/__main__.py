"""The `hooktray` command. What agents wait for, and the tray, are dispatched before anything heavy is imported."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

RUN = (["run"], ["run", "--headless"])


def main() -> int:
    """Exit code: 0 ok, 1 the user's problem, 2 usage, 3 our bug; of `relay` and `once` the agent's own."""
    argv = sys.argv[1:]
    if argv[:1] == ["relay"]:
        from tray.relay import main as relay

        return relay(argv[1:])
    if argv[:1] == ["once"]:
        from tray.surroundings import taken

        environment = taken(os.environ)  # before anything else is imported: libraries look there as they are
        from tray.once import main as once

        return once(argv[1:], environment)
    if argv in RUN or (argv[:1] == ["--home"] and argv[2:] in RUN):
        return _run(argv)
    from tray.cli import main as cli

    return cli()


def _run(argv: Sequence[str]) -> int:
    """The plain forms of `run`: the libraries that read command lines would stay in the tray as long as it lives."""
    from tray.app.start import start
    from tray.errors import HooktrayError
    from tray.paths import locate

    try:
        return start(locate(argv[1] if argv[0] == "--home" else None), headless=argv[-1] == "--headless")
    except HooktrayError as error:
        print(f"hooktray: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    except Exception as error:  # noqa: BLE001 - the last place that can answer
        from tray.cli import failed

        return failed(error)


if __name__ == "__main__":
    sys.exit(main())
