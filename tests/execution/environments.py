"""A virtual environment of another Hooktray, whose Python runs foreign code at each start."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from house import PRE_TOOL_USE

from tray.execution.isolation import package_folders

CODE = "import json; from tray.{} import {} as made; print(json.dumps(made({})))"
DENY = "cat >/dev/null; echo no >&2; exit 2"


class Environment:
    """A virtual environment with an editable Hooktray, and with code that runs at each start of its Python."""

    def __init__(self, folder: Path) -> None:
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True, timeout=120)
        self.python = folder / "bin" / "python"
        (self.site,) = folder.glob("lib/python*/site-packages")
        (self.site / "editable.pth").write_text("\n".join(package_folders()))
        self.ran = folder / "ran"
        leave = f"open({str(self.ran)!r}, 'a').write"
        (self.site / "evil.pth").write_text(f"import sys; {leave}('pth ')\n")
        for name in ("sitecustomize", "usercustomize"):
            (self.site / f"{name}.py").write_text(f"{leave}('{name} ')\n")

    def ask(self, module: str, name: str, arguments: str = "") -> list[str]:
        """What this environment's own Hooktray says."""
        code = CODE.format(module, name, arguments)
        done = subprocess.run([self.python, "-c", code], capture_output=True, check=True, timeout=60)
        self.ran.unlink(missing_ok=True)
        return list(json.loads(done.stdout))

    def run(self, *argv: str) -> subprocess.CompletedProcess[bytes]:
        environment = {**os.environ, "PYTHONPATH": str(self.site), "PYTHONSTARTUP": str(self.site / "evil.pth")}
        body = json.dumps(PRE_TOOL_USE).encode()
        return subprocess.run(argv, input=body, env=environment, capture_output=True, check=False, timeout=60)
