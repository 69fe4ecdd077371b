"""What any page says is there, is there: files, links, commands, options, settings, events."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from every import every
from house import House

from tray import settings
from tray.agents.registry import AGENTS
from tray.cli.command_line import HELP, parameters
from tray.cli.commands import COMMANDS, UserCommand, first_words
from tray.sources import hooktray
from tray.sources.configuration import parse

ROOT = Path(__file__).parent.parent
FOLDERS = ("docs", "installers", "examples", "tests")
PAGES = sorted([ROOT / "README.md", *(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.md"))])
PAGES.remove(ROOT / "docs" / "generated" / "coverage.md")  # measured before a release: a module may go meanwhile
OURS = re.compile(r"`((?:tray|tests|docs|icons|native|installers|examples|\.ci)/[\w./*-]*)")
OUTSIDE = {"relay", "once"}  # not of the command line that people type
GENERATED = re.compile(r"^(?:dist|tray/native)/|/pine\.py$")  # and the agent of docs/new-agent.md, which nobody has


def named(page: Path) -> str:
    return str(page.relative_to(ROOT))


@every("page", PAGES, ids=named)
def test_every_file_that_a_page_names_exists(page: Path) -> None:
    places = {place.rstrip(".") for place in OURS.findall(page.read_text())}
    here = [page.parent, ROOT]

    missing = [one for one in places if not any(one and list(base.glob(one.rstrip("/"))) for base in here)]

    assert [place for place in missing if not GENERATED.search(place) and "your" not in place] == []


@every("page", PAGES, ids=named)
def test_every_link_of_a_page_leads_somewhere(page: Path) -> None:
    links = re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text())

    assert [link for link in links if "://" not in link and not (page.parent / link).exists()] == []


def anchors(page: Path) -> set[str]:
    """What each heading of a page is called in a link, as GitHub makes it."""
    headings = re.findall(r"^#+ (.*)", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


@every("page", PAGES, ids=named)
def test_every_heading_that_a_link_of_a_page_names_is_there(page: Path) -> None:
    links = re.findall(r"\]\(([^)#\s:]*)#([^)\s]+)\)", page.read_text())

    assert [link for link in links if link[1] not in anchors(page.parent / link[0] if link[0] else page)] == []


def flags(command: UserCommand) -> list[str]:
    return [flag for one in parameters(command.function()) for flag in one.declared.flags]


def lines(page: Path) -> list[list[str]]:
    """Every command of ours that a page shows, as words; what stands behind a pipe or a comment is not its own."""
    text = page.read_text()
    shown = re.findall(r"`hooktray ((?:--?[\w-]+ )?[a-z][^`]*)`", text)
    shown += re.findall(
        r"^(?:\$ )?hooktray ([a-z][^\n|#]*)", "\n".join(re.findall(r"```\w*\n(.*?)```", text, re.DOTALL)), re.M
    )
    return [shlex.split(re.split(r"[|#;<>]", line)[0]) for line in shown if "'" not in line]


@every("page", PAGES, ids=named)
def test_every_command_and_option_that_a_page_shows_exists(page: Path) -> None:
    for verb, *words in lines(page):
        if verb in OUTSIDE or verb.startswith("-"):
            continue
        assert verb in dict(first_words()), f"{named(page)}: hooktray {verb}"
        known = {*HELP, *(flag for one in COMMANDS if one.name.split()[0] == verb for flag in flags(one))}
        options = [word.strip("[]") for word in words if word.strip("[]").startswith("--")]
        assert [word for word in options if word not in known] == [], f"{named(page)}: hooktray {verb}"


@every("page", PAGES, ids=named)
def test_every_piece_of_settings_that_a_page_shows_can_be_read(page: Path) -> None:
    for text in re.findall(r"```yaml\n(.*?)```", page.read_text(), re.DOTALL):
        if re.match(r"(?:#.*\n)*(?:hooks|sources|llm|alerts|" + "|".join(settings.KEYS) + "):", text):
            parse(text, "/c/hooktray.yaml")  # raises what `hooktray list` would say


def test_every_event_of_an_agent_that_the_table_names_is_that_agents() -> None:
    table = (ROOT / "docs" / "agents" / "README.md").read_text()
    rows = re.findall(r"^\| [\w ()-]+ \| `([\w-]+)` \| ([^|]*) \|$", table, re.MULTILINE)

    assert [agent for agent, _ in rows] == sorted(AGENTS)
    for agent, events in rows:
        known = {name.split("/")[0] for name in AGENTS[agent].events}
        assert [name for name in re.findall(r"`([^`]+)`", events) if name.split("/")[0] not in known] == []


def test_every_canonical_event_in_a_pages_settings_is_one() -> None:
    shown = {
        word
        for page in PAGES
        for text in re.findall(r"```yaml\n(.*?)```", page.read_text(), re.DOTALL)
        for word in re.findall(r"event: (\w+)", text)
    }

    assert len(shown) >= 2
    assert shown <= {*hooktray.KINDS, *(name for known in AGENTS.values() for name in known.events)}


def test_what_the_relay_and_the_journal_take_is_told_where_it_is_measured() -> None:
    measured = [ROOT / "docs" / "generated" / "performance.md", ROOT / "docs" / "generated" / "torture.md"]
    places = [ROOT / "tray" / "doctor" / "finding.py", *(page for page in PAGES if page not in measured)]
    times = re.compile(r"(?:relay|rows|Python process)[^.|\n]*?\d(?:\.\d+)? (?:ms|KB)\b")

    assert [(named(place), found) for place in places for found in times.findall(place.read_text())] == []


def test_what_is_still_open_is_one_short_list_with_the_accidents_first() -> None:
    text = (ROOT / "docs" / "security.md").read_text()

    assert re.findall(r"^##+ (.*)", text, re.MULTILINE) == [
        *("What it stops", "What it does not stop", "Accidents", "Attacks", "What you must do"),
    ]
    assert len(text.split()) <= 600


@every("page", [page for page in PAGES if page.parent.name in {"docs", "agents"}], ids=named)
def test_each_page_is_short_enough_to_be_read(page: Path) -> None:
    if page.name not in ("decisions.md", "requirements.md"):  # tables to look things up in
        assert len(page.read_text().split()) <= 1200


@pytest.mark.parametrize(
    "name", ["approvals", "attacks", "failures", "person", "self-protection", "without-the-tray"]
)
def test_each_page_about_what_is_guarded_says_where_that_ends(name: str) -> None:
    assert "(security.md" in (ROOT / "docs" / f"{name}.md").read_text()


def test_the_architecture_names_every_package() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text()
    packages = {path.name for path in (ROOT / "tray").iterdir() if path.is_dir() and (path / "__init__.py").exists()}

    assert [name for name in sorted(packages) if f"`tray/{name}/`" not in text] == []


def test_each_law_is_on_its_page_and_has_its_tests() -> None:
    numbers = re.findall(r"^(\d+)\. ", (ROOT / "docs" / "laws.md").read_text(), re.MULTILINE)
    tested = re.findall(r"^\| L(\d+) \|", (ROOT / "docs" / "decisions.md").read_text(), re.MULTILINE)

    assert numbers == tested == [str(number) for number in range(1, 13)]


def test_the_architectures_layers_are_those_that_are_checked() -> None:
    contract = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"][0]
    layers = [{part.strip().replace(".", "/") for part in layer.split("|")} for layer in contract["layers"]]
    table = (ROOT / "docs" / "architecture.md").read_text().split("| layer |")[1].split("\n\n")[0].splitlines()[2:]

    cells = [row.split("|")[1] for row in table]
    shown = [
        {name.removesuffix("/").removesuffix(".py") for name in re.findall(r"`(tray/[^`]+)`", cell)} for cell in cells
    ]

    assert [{"tray/__main__"}, *shown] == layers


def test_each_program_of_the_contributors_page_can_be_started() -> None:
    text = (ROOT / "docs" / "contributing.md").read_text().split("## One command each")[1].split("## ")[0]
    programs = re.findall(r"\| `(?:\.venv/bin/python )?((?:tests|\.ci|installers)/[\w.-]+)", text)

    assert len(programs) > 6
    for program in programs:
        path = ROOT / program
        assert path.is_dir() or path.suffix == ".py" or path.stat().st_mode & 0o111, program


def test_each_program_that_writes_pages_is_in_the_contributors_table() -> None:
    text = (ROOT / "docs" / "contributing.md").read_text().split("## What programs write")[1].split("## ")[0]
    programs = [path.relative_to(ROOT) for path in (*ROOT.glob("docs/*.py"), *ROOT.glob("icons/*.py"))]

    assert [str(path) for path in programs if f"python {path}" not in text] == []
    assert [
        page for page in ("coverage", "performance", "torture") if f"`docs/generated/{page}.md`" not in text
    ] == []
    folders = sorted({path.parent.name for path in ROOT.glob("docs/*/*.png")})
    assert [name for name in folders if f"`docs/{name}/`" not in text] == []


def test_the_lines_of_the_guide_that_try_a_hook_succeed_as_they_stand(house: House) -> None:
    guide = (ROOT / "docs" / "writing-hooks.md").read_text()
    script = house.paths.config.parent / "no-secrets.sh"
    script.write_text(guide.split("```sh\n")[1].split("```")[0])
    script.chmod(0o755)
    house.configure(guide.split("```yaml\n")[1].split("```")[0])
    (state,) = house.catalog.states
    house.consent.approve(state.key, state.digest, "test")
    session = guide.split("```console\n")[1].split("```")[0]
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    environment = {
        "PATH": path,
        "HOME": os.environ["HOME"],
        "HOOKTRAY_HOME": str(house.paths.home),
        "LC_ALL": "C.UTF-8",
    }

    typed = re.findall(r"^\$ (.*)$", session, re.MULTILINE)
    done = [
        subprocess.run(["sh", "-c", line], env=environment, capture_output=True, text=True, timeout=60)
        for line in typed
    ]

    assert [(one.returncode, "as expected" in one.stdout) for one in done] == [(0, True), (0, True)]
