"""The cases of all documents, by their number in docs/requirements.md."""

from __future__ import annotations

from seeds.required_by_claude_code import CLAUDE_CODE
from seeds.required_by_shelley import SHELLEY
from seeds.required_by_starchild import STARCHILD
from seeds.required_by_x_code import X_CODE
from seeds.requirement import Cases

CASES: Cases = {**CLAUDE_CODE, **SHELLEY, **STARCHILD, **X_CODE}
