"""Everything that the checks look at."""

from __future__ import annotations

import os
from collections.abc import Mapping

import msgspec

from tray.agents.connection import Site
from tray.approvals.catalog import HookCatalog
from tray.doctor.agent_sites import hooks_in_question, site, working_folder
from tray.engine.stores import Stores
from tray.ipc.health import TrayHealth
from tray.paths import Paths


class CheckContext(msgspec.Struct, frozen=True, kw_only=True):
    """`tray` is what the running tray reports; None when none runs. `static`: start nothing of the user's."""

    paths: Paths
    stores: Stores
    catalog: HookCatalog
    cwd: str
    environment: Mapping[str, str]
    tray: TrayHealth | None = None
    static: bool = False

    def site(self) -> Site:
        """Returns what the agents' connectors look at; that costs a process."""
        return site(self.paths, hooks=hooks_in_question(self.catalog))


def build_context(
    paths: Paths, stores: Stores, catalog: HookCatalog, tray: TrayHealth | None, *, static: bool
) -> CheckContext:
    return CheckContext(
        paths=paths,
        stores=stores,
        catalog=catalog,
        cwd=str(working_folder()),
        environment=dict(os.environ),
        tray=tray,
        static=static,
    )
