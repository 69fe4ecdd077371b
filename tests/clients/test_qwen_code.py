"""The real Qwen Code, in both versions: all scenes."""

from __future__ import annotations

from clients.qwen_code import QWEN_CODE, QWEN_CODE_0_15
from clients.scenes import Scenes


class TestQwenCode(Scenes):
    client = QWEN_CODE


class TestQwenCode015(Scenes):
    client = QWEN_CODE_0_15
