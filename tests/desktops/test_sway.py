"""sway 1.7 with waybar 0.9.17 and mako 1.7, on Wayland."""

from __future__ import annotations

from desktops.contract import Contract
from desktops.sway import Sway


class TestSway(Contract):
    shell = Sway
