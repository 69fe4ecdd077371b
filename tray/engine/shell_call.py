"""What a shell line does to Hooktray or to an agent's hook settings, as far as its words tell."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from itertools import groupby
from pathlib import PurePath

from tray.engine.protected import Places
from tray.engine.shell_line import TOO_LONG, Text, Word, inner, read
from tray.engine.shell_path import READERS, TALKERS, WRITERS, Finding, names, touched
from tray.model.decision import Verdict

DEPTH = 5


VERBS = names("adopt approve connect deny disconnect off pause release revoke")
FREE = names("check config connections doctor export help list log on open paths replay schema stats status test why")
SHELLS = names(
    "ash at bash batch crontab dash eval expect fish gnome-terminal ksh parallel screen script sh socat source ssh "
    "su systemd-run tmux unbuffer watch xargs xdotool xterm ydotool zsh ."
)
PYTHONS = re.compile(r"(?:python|pypy)[\d.]*")
INTERPRETERS = names("lua node perl php ruby")
INNER = re.compile(r"\$\(|`|<\(")
HOME = re.compile(r"(?:(?<=[\s=:>])|^)~(?=/|\s|$)")
PIPED = re.compile(
    r"\|&?\s*(?:\w+=\S*\s+)*(?:sudo\s+)?(?:/\S*/)?"
    r"(?:(?:ba|da|z|k|a|fi)?sh|at|batch|parallel|(?:python|pypy)[\d.]*|perl|ruby|node)\b"
)
CODE = re.compile(r"\b(?:from|import)\s+tray\b|\bhooktray\b.{0,40}\b(?:approve|off|revoke|pause|deny)\b", re.DOTALL)


def shell_call(line: str, cwd: str, places: Places, depth: int = 0) -> Iterator[Finding]:
    """Everything in this line that is not an agent's business."""
    if places.page(line):
        yield Finding(Verdict.DENY, "Hooktray's own page is for a person:", "page")
    if depth > DEPTH:
        yield Finding(Verdict.ASK, "too many shells inside each other;", "shell")
        return
    line = HOME.sub(lambda _: places.home, line.replace("\\\n", ""))
    try:
        _, texts = read(line, {})
        bare = _without(texts, line)
        found, _ = read(line, _variables(bare, places, cwd))
    except ValueError as error:
        if error.args[0] == TOO_LONG or "hooktray" in line:
            yield Finding(Verdict.ASK, "a line that cannot be read may be about Hooktray;", "shell")
        return
    piped, made = PIPED.search(bare) is not None, False  # `$(echo hooktray) off` makes a name of another command
    for number, group in groupby(found, key=lambda word: word.command):
        command = list(group)
        yield from _command(command, cwd, places, depth, piped)
        for text in (one for one in texts if one.command == number):
            yield from _given(text, _leader([word.text for word in command]), cwd, places, depth, piped)
        cwd = _moved(command, cwd, places)
        made = made or "hooktray" in [word.text for word in command]
        if made and command[0].text in VERBS:
            yield Finding(Verdict.ASK, "it cannot be seen what runs here;", "hooktray")


def _without(texts: Sequence[Text], line: str) -> str:
    """The line without what it gives to its commands."""
    starts = [0, *(text.end for text in texts)]
    ends = [*(text.start for text in texts), len(line)]
    return "".join(line[start:end] for start, end in zip(starts, ends, strict=True))


def _given(text: Text, leader: str, cwd: str, places: Places, depth: int, piped: bool) -> Iterator[Finding]:
    """A text that a shell or an interpreter runs, and the commands that the shell puts into any other."""
    if leader in SHELLS or piped:
        yield from shell_call(text.text, cwd, places, depth + 1)
    elif CODE.search(text.text) and (PYTHONS.fullmatch(leader) or leader in INTERPRETERS):
        yield Finding(Verdict.DENY, "code that drives Hooktray is for a person:", "hooktray")
    if text.held:
        return
    try:
        for one in inner(text.text):
            yield from shell_call(one, cwd, places, depth + 1)
    except ValueError:
        if "hooktray" in text.text:
            yield Finding(Verdict.ASK, "a text that cannot be read may run Hooktray;", "shell")


def _variables(line: str, places: Places, cwd: str) -> dict[str, str]:
    """What the line itself sets, and what every shell knows."""
    known = {"HOME": places.home, "PWD": cwd}
    for name, value in re.findall(
        r"(?:^|[\s;&|(])(?:export\s+)?([A-Za-z_]\w*)=(\"[^\"]*\"|'[^']*'|[^\s;&|()]*)", line
    ):
        plain = value.strip("\"'")
        known[name] = re.sub(r"\$\{?(\w+)\}?", lambda found: known.get(found[1], found[0]), plain)
    return known


def _moved(command: Sequence[Word], cwd: str, places: Places) -> str:
    if len(command) > 1 and command[0].text in ("cd", "pushd"):
        return places.absolute(command[1].text, cwd)
    return cwd


def _command(command: Sequence[Word], cwd: str, places: Places, depth: int, piped: bool) -> Iterator[Finding]:
    texts = [word.text for word in command]
    leader = _leader(texts)
    says = (leader in READERS and not _runs(texts, leader)) or (leader == "git" and bool(TALKERS & set(texts[:4])))
    if not says or piped:
        told = [word.text for word in command if word.redirected in ("", "<<<")]
        yield from _cli(told, leader, sure=leader not in WRITERS)
    yield from _inside(command, leader, cwd, places, depth, says and not piped)
    for word in command:
        yield from touched(word, texts, leader, cwd, places)


def _runs(texts: Sequence[str], leader: str) -> bool:
    """Whether it makes a reader run something."""
    return leader == "awk" and any("system" in text or "|" in text for text in texts)


def _leader(texts: Sequence[str]) -> str:
    """The program that a command is about: behind assignments, `sudo`, `env -i` and their like."""
    skipping = names("builtin command doas env exec ionice nice nohup setsid stdbuf sudo time timeout")
    for text in texts:
        name = PurePath(text).name
        if (
            re.match(r"[A-Za-z_]\w*=", text)
            or name in skipping
            or text.startswith("-")
            or re.fullmatch(r"[\d.]+[smh]?", text)
        ):
            continue
        return name
    return ""


def _cli(texts: Sequence[str], leader: str, *, sure: bool) -> Iterator[Finding]:
    """Our command, by whatever path, and what it is told to do."""
    for index in range(len(texts)):
        behind = _behind(texts, index)
        if behind is None:
            continue
        verb = _verb(behind)
        if verb in VERBS:
            verdict = Verdict.DENY if sure and not INNER.search(texts[index]) else Verdict.ASK
            yield Finding(verdict, f"`hooktray {verb}` is for a person:", f"hooktray {verb}")
        elif verb == "relay":
            yield Finding(Verdict.ASK, "an event that did not happen is not an agent's to send;", "hooktray relay")
        elif (verb and verb not in FREE and verb != "run") or (
            not verb and leader in ("xargs", "parallel", "alias", "ln", "cp")
        ):
            yield Finding(Verdict.ASK, "it cannot be seen what `hooktray` is told to do here;", "hooktray")


def _behind(texts: Sequence[str], index: int) -> Sequence[str] | None:
    """The words behind our command when it stands at `index`; None when it does not."""
    text = texts[index]
    name = PurePath(text.rpartition("=")[2]).name.removesuffix(".exe")
    if name == "hooktray" or (set(name) & set("*?[") and fnmatchcase("hooktray", name) and "hook" in name):
        return texts[index + 1 :]
    if name == "hooktray-relay" or text.endswith("tray/relay.py"):
        return ["relay"]
    if INNER.search(text) and re.search(r"\bhooktray\b", text):
        return texts[index + 1 :]
    module = re.fullmatch(r"-\w*m(tray[\w.]*)?", text)
    if module is None:
        return None
    named, *behind = [module[1], *texts[index + 1 :]] if module[1] else [*texts[index + 1 :], ""]
    if named == "tray.relay":
        return ["relay"]
    return behind if named in ("tray", "tray.__main__") else None


def _verb(behind: Sequence[str]) -> str:
    rest = iter(behind)
    for text in rest:
        if text == "--home":
            next(rest, None)
        elif not text.startswith("-"):
            return text
    return ""


def _inside(
    command: Sequence[Word], leader: str, cwd: str, places: Places, depth: int, says: bool
) -> Iterator[Finding]:
    """Lines and code inside a word: of `sh -c`, of `eval`, of `$(…)` in quotes, of `python -c`."""
    texts = [word.text for word in command]
    for index, word in enumerate(command):
        if INNER.search(word.text) and word.raw[:1] != "'":
            yield from shell_call(_unwrapped(word.text), cwd, places, depth + 1)
        elif leader in SHELLS and " " in word.text.strip():
            yield from shell_call(word.text, cwd, places, depth + 1)
        elif index and re.fullmatch(r"-\w*[ce]", texts[index - 1]) and not says and CODE.search(word.text):
            verdict = Verdict.DENY if PYTHONS.fullmatch(leader) else Verdict.ASK
            yield Finding(verdict, "code that drives Hooktray is for a person:", "hooktray")
        elif not says and len(word.text.split()) > 1 and CODE.search(word.text):
            yield Finding(Verdict.ASK, "a text that may be run speaks of switching Hooktray's guards;", "hooktray")


def _unwrapped(text: str) -> str:
    return re.sub(r"\$\(|<\(|[`)]", "\n", text)
