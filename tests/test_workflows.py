"""The workflows of .github name files and commands that exist, and a release has every package."""

from __future__ import annotations

import re
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import portable
import pytest
import yaml

ROOT = Path(__file__).parent.parent
FILES = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def jobs(name: str) -> dict[str, Any]:
    return dict(yaml.safe_load((ROOT / ".github" / "workflows" / name).read_text())["jobs"])


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_the_parts_of_a_workflow_exist(path: Path) -> None:
    found = jobs(path.name)
    for name, job in found.items():
        known = {f"matrix.{key}" for key in job.get("strategy", {}).get("matrix", {})}
        known |= {"github.ref", "github.ref_name", "github.token", "strategy.job-index"}
        assert set(re.findall(r"\$\{\{ (.*?) \}\}", str(job))) <= known, name
        assert set(job.get("needs", ())) <= set(found), name
        for step in job["steps"]:
            assert re.match(r"actions/[a-z-]+@v\d+$", step.get("uses", "actions/checkout@v4")), step
            line = re.sub(r"\$\{\{.*?\}\}", "x", step.get("run", ""))
            assert subprocess.run(["sh", "-n"], input=line, text=True, check=False).returncode == 0, line
            programs = re.findall(r"(?<!\S)(?:installers|tests|\.ci)(?:/[\w.-]+)*", line)
            assert [one for one in programs if not (ROOT / one).exists()] == [], line


def test_every_supported_python_and_system_is_tested() -> None:
    tests = jobs("tests.yml")

    assert tests["ubuntu-24-04"]["strategy"]["matrix"]["python"] == ["3.11", "3.12", "3.13", "3.14"]
    assert tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["requires-python"] == ">=3.11"
    assert {"macos-14", "windows-2022"} == set(tests["others"]["strategy"]["matrix"]["system"])


def test_a_release_has_a_package_for_each_system_and_its_setup_has_the_relay_of_the_wheel_for_windows() -> None:
    release = jobs("release.yml")
    systems = [line.split()[0] for line in (ROOT / "installers" / "linux" / "releases").read_text().splitlines()]
    kept = {
        job: step["with"]["path"].split()
        for job, found in release.items()
        for step in found["steps"]
        if step.get("with", {}).get("name", "").startswith("release-") and "upload-artifact" in step["uses"]
    }
    (freezing,) = (step for step in release["frozen"]["steps"] if "hooktray.spec" in step.get("run", ""))

    assert release["packages"]["strategy"]["matrix"]["image"] == [name.replace("-", ":") for name in systems]
    assert kept == {"wheels": ["dist/*.whl", "dist/*.tar.gz"], "packages": ["dist/*.deb"], "setup": ["dist/*.exe"]}
    assert set(release["draft"]["needs"]) == kept.keys()
    assert " dist/hooktray-*-win_amd64.whl " in freezing["run"]
    assert freezing["shell"] == "bash", "PowerShell does not expand `*`"


@pytest.mark.parametrize("platform", ["darwin", "win32"])
def test_the_tests_that_other_systems_run_exist(platform: str) -> None:
    named = [word.removeprefix("--ignore=") for word in portable.arguments(platform) if str(portable.TESTS) in word]

    assert [place for place in named if not Path(place).exists()] == []
