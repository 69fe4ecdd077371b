"""KDE Plasma 5.27 on X11."""

from __future__ import annotations

from desktops.contract import Contract
from desktops.kde import Kde


class TestKde(Contract):
    shell = Kde
