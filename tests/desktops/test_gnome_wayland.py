"""GNOME Shell 43 with AppIndicator 46, on Wayland."""

from __future__ import annotations

from desktops.contract import Contract
from desktops.gnome_wayland import GnomeWayland


class TestGnomeWayland(Contract):
    shell = GnomeWayland
