"""Everything that the checks look at."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from tray.app import Stores
from tray.approvals.catalog import HookCatalog
from tray.lazy_dataclass import dataclass
from tray.paths import Paths

if TYPE_CHECKING:
    from tray.agents.connection import Site
    from tray.ipc.health import TrayHealth


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckContext:
    """`tray` is what the running tray reports; None when none runs. `static`: start nothing of the user's."""

    paths: Paths
    stores: Stores
    catalog: HookCatalog
    site: Callable[[], Site]  # costs a process
    cwd: str
    environment: Mapping[str, str]
    tray: TrayHealth | None = None
    static: bool = False
