"""The portable relay of the tests that are about the tray: it waits for a tray on a busy machine."""

from __future__ import annotations

import os
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

RELAY = Path(__file__).parent.parent / "tray" / "relay.py"
ACK_LIMIT = 20.0  # seconds; the relay itself gives the event to the one-shot engine after 0.3


def main() -> None:
    spec = spec_from_file_location("relay", RELAY)
    assert spec is not None
    assert spec.loader is not None
    relay = module_from_spec(spec)
    spec.loader.exec_module(relay)
    relay.ACK_LIMIT = ACK_LIMIT  # type: ignore[attr-defined]
    os._exit(relay.main(sys.argv[1:]))


if __name__ == "__main__":
    main()
