"""MATE 1.26, with openbox in the place of its window manager."""

from __future__ import annotations

from desktops.contract import Contract
from desktops.mate import Mate


class TestMate(Contract):
    shell = Mate
