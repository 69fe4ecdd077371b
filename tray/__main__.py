"""The `hooktray` command. The relay and the one-shot engine are dispatched before anything heavy is imported."""

from __future__ import annotations

import sys


def main() -> int:
    """Exit code: 0 ok, 1 the user's problem, 2 usage, 3 our bug; of `relay` and `once` the agent's own."""
    argv = sys.argv[1:]
    if argv[:1] == ["relay"]:
        from tray.relay import main as relay

        return relay(argv[1:])
    if argv[:1] == ["once"]:
        from tray.once import main as once

        return once(argv[1:])
    from tray.cli import main as cli

    return cli()


if __name__ == "__main__":
    sys.exit(main())
