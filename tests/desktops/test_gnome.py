"""GNOME Shell 43 on X11."""

from __future__ import annotations

from desktops.contract import Contract
from desktops.gnome import Gnome


class TestGnome(Contract):
    shell = Gnome
