"""What one event takes, counted: `.venv/bin/python tests/counts` prints each count beside its budget."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from counts.budgets import BUDGETS, PYTHON, measure, problem, running


def main() -> int:
    print(f"Python {running()}; the budgets are for {PYTHON}")
    problems = []
    for name, count in measure().items():
        print(f"{count:6} of {BUDGETS[name]:6}  {name}")
        problems.append(problem(name, count))
    for text in filter(None, problems):
        print(text)
    return 1 if any(problems) else 0


if __name__ == "__main__":
    sys.exit(main())
