"""What Gemini CLI and the agents that descend from it share, besides the format that they took over."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from tray.agents.claude_shape.protocol import ShapedProtocol
from tray.model.decision import Answer, Decision, Verdict
from tray.model.event import Event


def output_from_text(tool: str, input: Mapping[str, Any], text: str) -> Mapping[str, str]:
    """What a tool gave: for the model, and for the user."""
    return {"llmContent": text, "returnDisplay": text}


class GeminiShapedProtocol(ShapedProtocol, frozen=True):
    """Of a refusal that also stops the agent, it shows the stop's reason only."""

    newline = False

    def render(self, event: Event, decision: Decision) -> Answer:
        if decision.verdict is Verdict.DENY and decision.stop is not None:
            reasons = dict.fromkeys(filter(None, (decision.reason, decision.stop)))
            decision = replace(decision, stop="\n".join(reasons))
        return super().render(event, decision)
