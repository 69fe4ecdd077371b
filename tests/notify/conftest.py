"""Fixtures of the tests of alerts."""

from __future__ import annotations

import sys

import pytest
from notify.announced import Announced

if sys.platform == "linux":
    from notify.fixtures import bus, recording, server, shared_server, sound_server

    __all__ = ["bus", "recording", "server", "shared_server", "sound_server"]


@pytest.fixture
def announced() -> Announced:
    return Announced()
