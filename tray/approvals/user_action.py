"""UserAction, which the user confirms on the page or by a command, and `perform`, which carries it out."""

from __future__ import annotations

import msgspec

from tray.approvals.controls import Controls


class UserAction(msgspec.Struct, frozen=True, kw_only=True):
    """One action on exactly one thing, as it was shown."""

    action: str
    key: str = ""
    digest: str = ""
    variables: tuple[str, ...] = ()  # of the environment
    path: str = ""  # the PATH of the terminal that approves
    seconds: float | None = None  # of a pause, which may be of one agent or session
    agent: str = ""
    session: str = ""


def perform(controls: Controls, one: UserAction, channel: str) -> None:
    """Do what was confirmed. Raises HooktrayError if it cannot be done any more."""
    match one.action:
        case "allow" | "dismiss":
            controls.resolve(one.key, accept=one.action == "allow")
        case "approve":
            controls.approve(one.key, one.digest, channel, one.path, one.variables)
        case "batch":
            controls.approve_batch(one.digest, channel)
        case "deny":
            controls.deny(one.key, one.digest, channel)
        case "disable" | "enable":
            controls.set_hook(one.key, one.action == "enable", channel)
        case "forget":
            controls.forget_passphrase(channel)
        case "grant":
            controls.grant(one.key, one.variables, channel)
        case "off" | "on":
            controls.set_enabled(one.action == "on", channel)
        case "passphrase":
            controls.set_passphrase(one.key, channel)
        case "pause":
            controls.pause(one.seconds, channel, agent=one.agent, session=one.session)
        case "resume":
            controls.resume(channel)
        case "revoke":
            controls.revoke(one.key, channel)
        case "undo":
            controls.undo_approval(one.key, channel)
        case "withhold":
            controls.withhold(one.key, one.variables, channel)
        case unknown:
            raise ValueError(unknown)
