"""The workflows of .github, linted against the part of the format that they use; no runner is part of our tests."""

from __future__ import annotations

import re
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import jsonschema
import portable
import pytest
import yaml

ROOT = Path(__file__).parent.parent
FILES = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
TEXT, NAMES = {"type": "string", "minLength": 1}, {"type": "array", "items": {"type": "string"}, "minItems": 1}
LEVEL = {"enum": ["none", "read", "write"]}
PERMISSIONS = {
    "type": "object",
    "properties": {"attestations": LEVEL, "contents": LEVEL, "id-token": LEVEL},
    "additionalProperties": False,
}
STEP = {
    "type": "object",
    "properties": {
        "env": {"type": "object", "additionalProperties": TEXT},
        "name": TEXT,
        "run": TEXT,
        "shell": {"enum": ["bash"]},
        "uses": {"type": "string", "pattern": r"^actions/[a-z-]+@v\d+$"},
        "with": {"type": "object"},
        "working-directory": TEXT,
    },
    "additionalProperties": False,
    "oneOf": [{"required": ["name", "run"]}, {"required": ["uses"]}],
}
JOB = {
    "type": "object",
    "properties": {
        "container": {
            "type": "object",
            "properties": {"image": TEXT, "options": TEXT},
            "required": ["image"],
            "additionalProperties": False,
        },
        "name": TEXT,
        "needs": NAMES,
        "permissions": PERMISSIONS,
        "runs-on": {"type": "string", "pattern": r"^(ubuntu-24\.04|windows-2022|\$\{\{ matrix\.system \}\})$"},
        "steps": {"type": "array", "items": STEP, "minItems": 1},
        "strategy": {
            "type": "object",
            "properties": {
                "fail-fast": {"type": "boolean"},
                "matrix": {"type": "object", "additionalProperties": NAMES},
            },
            "required": ["matrix"],
            "additionalProperties": False,
        },
        "timeout-minutes": {"type": "integer", "minimum": 1, "maximum": 60},
    },
    "required": ["name", "runs-on", "steps", "timeout-minutes"],
    "additionalProperties": False,
}
SCHEMA = {
    "type": "object",
    "properties": {
        "concurrency": {"type": "object"},
        "jobs": {"type": "object", "patternProperties": {"^[a-z0-9-]+$": JOB}, "additionalProperties": False},
        "name": TEXT,
        "on": {"type": "object"},
        "permissions": {"const": {"contents": "read"}},
    },
    "required": ["jobs", "name", "on", "permissions"],
    "additionalProperties": False,
}


class Loader(yaml.SafeLoader):
    """Words such as `on` stay words, as the format's own reader takes them."""


Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in found if tag != "tag:yaml.org,2002:bool"]
    for first, found in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
Loader.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile("true|false"), list("tf"))


def read(path: Path) -> dict[str, Any]:
    return dict(yaml.load(path.read_text(), Loader))


def test_all_workflows_are_there() -> None:
    assert [path.name for path in FILES] == ["nightly.yml", "release.yml", "tests.yml"]


def test_each_night_the_clients_are_tried_in_their_newest_versions() -> None:
    nightly = read(ROOT / ".github" / "workflows" / "nightly.yml")
    step = nightly["jobs"]["newest-clients"]["steps"][-1]

    assert nightly["on"]["schedule"]
    assert (step["run"], step["env"]["CLIENTS_NEWEST"]) == ("tests/all tests/clients", "1")


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_workflow_is_whole_and_says_that_it_was_not_run(path: Path) -> None:
    jsonschema.validate(read(path), SCHEMA)

    assert path.read_text().startswith("# Not run here: ")
    assert "://" not in path.read_text()


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_its_expressions_name_what_there_is(path: Path) -> None:
    jobs = read(path)["jobs"]
    for name, job in jobs.items():
        known = {f"matrix.{key}" for key in job.get("strategy", {}).get("matrix", {})}
        known |= {"github.ref", "github.ref_name", "github.token", "strategy.job-index"}
        assert set(re.findall(r"\$\{\{ (.*?) \}\}", str(job))) <= known, name
        assert set(job.get("needs", ())) <= set(jobs), name


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_its_lines_are_shell_and_its_programs_and_tests_exist(path: Path) -> None:
    for job in read(path)["jobs"].values():
        for line in (step["run"] for step in job["steps"] if "run" in step):
            plain = re.sub(r"\$\{\{.*?\}\}", "x", line)
            assert subprocess.run(["sh", "-n"], input=plain, text=True, check=False).returncode == 0, line
            named = re.findall(r"(?<!\S)(?:installers|tests|\.ci)(?:/[\w.-]+)*", plain)
            assert [name for name in named if not (ROOT / name).exists()] == [], line


def test_every_python_that_the_project_supports_is_tested() -> None:
    jobs = read(ROOT / ".github" / "workflows" / "tests.yml")["jobs"]
    oldest = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["requires-python"]

    assert jobs["ubuntu-24-04"]["strategy"]["matrix"]["python"] == ["3.11", "3.12", "3.13", "3.14"]
    assert oldest == ">=3.11"
    assert {"macos-14", "windows-2022"} == set(jobs["others"]["strategy"]["matrix"]["system"])


def test_a_release_has_a_package_for_each_release_of_debian_and_ubuntu_and_all_that_pip_takes() -> None:
    jobs = read(ROOT / ".github" / "workflows" / "release.yml")["jobs"]
    names = [line.split()[0] for line in (ROOT / "installers" / "linux" / "releases").read_text().splitlines()]

    assert jobs["packages"]["strategy"]["matrix"]["image"] == [name.replace("-", ":") for name in names]
    assert {
        job: step["with"]["path"].split()
        for job in jobs
        for step in jobs[job]["steps"]
        if step.get("with", {}).get("name", "").startswith("release-") and "upload-artifact" in step["uses"]
    } == {
        "wheels": ["dist/*.whl", "dist/*.tar.gz"],
        "packages": ["dist/*.deb"],
        "setup": ["dist/*.exe"],
    }
    assert set(jobs["draft"]["needs"]) == {"wheels", "packages", "setup"}


def test_the_setup_of_a_release_is_made_from_the_wheel_that_has_the_relay_for_windows() -> None:
    jobs = read(ROOT / ".github" / "workflows" / "release.yml")["jobs"]
    frozen, setup, draft = jobs["frozen"], jobs["setup"], jobs["draft"]
    (freezing,) = (step for step in frozen["steps"] if "hooktray.spec" in step.get("run", ""))
    (kept,) = fetched(draft)

    assert (frozen["needs"], fetched(frozen)) == (["wheels"], [{"name": "release-wheels", "path": "dist"}])
    assert " dist/hooktray-*-win_amd64.whl " in freezing["run"]
    assert freezing["shell"] == "bash", "PowerShell does not expand `*`"
    assert (setup["needs"], fetched(setup)) == (["frozen"], [{"name": "frozen", "path": "payload"}])
    assert any("build.py payload" in step.get("run", "") for step in setup["steps"])
    assert kept["pattern"] == "release-*", "what is frozen is no part of a release"


def fetched(job: dict[str, Any]) -> list[dict[str, Any]]:
    return [step["with"] for step in job["steps"] if "download-artifact" in step.get("uses", "")]


@pytest.mark.parametrize("platform", ["darwin", "win32"])
def test_other_systems_run_files_that_are_there(platform: str) -> None:
    places = [
        Path(one.removeprefix("--ignore=")) for one in portable.arguments(platform) if str(portable.TESTS) in one
    ]

    assert len(places) >= len(portable.PLACES) + len(portable.LINUX_ONLY)
    assert [place for place in places if not place.exists()] == []
