"""What a shell line does to Hooktray or to an agent's hook settings, as far as its words tell."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import PurePath

from tray.engine.protection.disguise import UNSEEN, disguised, unhooked
from tray.engine.protection.paths import (
    HANDED,
    READERS,
    TALKERS,
    WRITERS,
    Finding,
    arriving,
    named,
    names,
    patched,
    touched,
)
from tray.engine.protection.places import Places, finds
from tray.engine.shell_line import TOO_LONG, Text, Word, inner, read
from tray.model.decision import Verdict

DEPTH = 5


VERBS = names("adopt approve connect deny disconnect off pause release revoke")
PASSED_OVER = names(
    "! builtin command do doas elif else env exec if ionice nice nohup setsid stdbuf sudo then time timeout until "
    "while {"
)
FREE = names("check config connections doctor export help list log on paths replay schema stats status test why")
SHELLS = names(
    "ash at bash batch crontab dash eval expect fish gnome-terminal ksh parallel screen script sh socat source ssh "
    "su systemd-run tmux unbuffer watch xargs xdotool xterm ydotool zsh ."
)
PYTHONS = re.compile(r"(?:python|pypy)[\d.]*")
INTERPRETERS = names("lua node perl php ruby")
SAYING = {"gh": names("discussion issue pr release"), "git": TALKERS}  # with one of these they talk
PATCHERS = names("apply_patch git patch")
INNER = re.compile(r"\$\(|`|<\(")
HOME = re.compile(r"(?:(?<=[\s=:>])|^)~(?=/|\s|$)")
PIPED = re.compile(
    r"\|&?\s*(?:\w+=[^\s|]*\s+)*(?:sudo\s+)?(?:/[^\s|]*/)?"
    r"(?:(?:ba|da|z|k|a|fi)?sh|at|batch|crontab|parallel|(?:python|pypy)[\d.]*|perl|ruby|node)\b"
    # What a shell is told comes out of other commands: `eval $(…)`, `bash <(…)`, `sh -c "$(…)"`.
    r"|(?:^|[\s;&|(])(?:eval|source|\.|(?:ba|da|z|k|a|fi)?sh)\s+(?:-\S+\s+)*\"?(?:\$\(|<\(|`)"
)
CODE = re.compile(
    r"\b(?:from|import)\s+tray\b|\bhooktray\b.{0,40}\b(?:approve|off|revoke|pause|deny)\b"
    r"|(?:run_module|__import__|import_module)\(\s*[\"']tray\b",
    re.DOTALL,
)
PASTED = re.compile(r"([\"'])\s*(?:\+\s*)?\1")  # of "hook" + "tray"
WRAPPING = names("cProfile coverage pdb profile runpy trace")  # Python modules that run the one named behind them


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
    if HANDED.search(bare):
        yield from (one for word in found for one in named(word.text, cwd, places))
    piped, made = PIPED.search(bare) is not None, False  # `$(echo hooktray) off` makes a name of another command
    for number, group in groupby(found, key=lambda word: word.command):
        command = list(group)
        yield from _command(command, cwd, places, depth, piped)
        for text in (one for one in texts if one.command == number):
            yield from _given(text, _leader([word.text for word in command]), cwd, places, depth, piped)
        yield from disguised(command, _leader([word.text for word in command]), line, VERBS)
        cwd = _moved(command, cwd, places)
        made = made or any(_may_be_ours(word.text) for word in command)
        if made and command[0].text in VERBS:
            yield Finding(Verdict.ASK, UNSEEN, "hooktray")


def speaks(text: str) -> bool:
    """Whether code or a line of text drives us."""
    return CODE.search(PASTED.sub("", text)) is not None


def _without(texts: Sequence[Text], line: str) -> str:
    """The line without what it gives to its commands."""
    starts = [0, *(text.end for text in texts)]
    ends = [*(text.start for text in texts), len(line)]
    return "".join(line[start:end] for start, end in zip(starts, ends, strict=True))


def _may_be_ours(text: str) -> bool:
    """Our name, or a pattern that finds it: `hooktra[y]`."""
    name = PurePath(text).name.lower()
    return name == "hooktray" or ("hook" in name and bool(set(name) & set("*?[")) and finds(name, "hooktray"))


def _given(text: Text, leader: str, cwd: str, places: Places, depth: int, piped: bool) -> Iterator[Finding]:
    """A text that a shell or an interpreter runs, and the commands that the shell puts into any other."""
    if leader in SHELLS or piped:
        yield from shell_call(text.text, cwd, places, depth + 1)
    elif PYTHONS.fullmatch(leader) or leader in INTERPRETERS:
        if speaks(text.text):
            yield Finding(Verdict.DENY, "code that drives Hooktray is for a person:", "hooktray")
        yield from named(text.text, cwd, places)
    elif leader in PATCHERS:
        yield from patched(text.text, cwd, places)
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
    says = (leader in READERS and not _runs(texts, leader)) or bool(SAYING.get(leader, frozenset()) & set(texts[:4]))
    if not says or piped:
        told = [word.text for word in command if word.redirected in ("", "<<<")]
        yield from _cli(told, leader, sure=leader not in WRITERS)
    yield from _inside(command, leader, cwd, places, depth, says and not piped)
    for word in command:
        yield from touched(word, texts, leader, cwd, places)
    yield from arriving(texts, leader, cwd, places)
    yield from unhooked(texts, leader)


def _runs(texts: Sequence[str], leader: str) -> bool:
    """Whether it makes a reader run something."""
    return leader == "awk" and any("system" in text or "|" in text for text in texts)


def _leader(texts: Sequence[str]) -> str:
    """The program that a command is about: behind assignments, `sudo`, `env -i` and their like."""
    for place, text in enumerate(texts):
        name = PurePath(text).name
        if (
            (place > 1 and texts[place - 2 : place] == ["exec", "-a"])  # what it shall call itself
            or re.match(r"[A-Za-z_]\w*=", text)
            or name in PASSED_OVER
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
        elif verb == "open":
            yield Finding(Verdict.ASK, "Hooktray's page is for a person;", "hooktray open")
        elif verb == "relay":
            yield Finding(Verdict.ASK, "an event that did not happen is not an agent's to send;", "hooktray relay")
        elif (verb and verb not in FREE and verb not in ("run", ".")) or (
            not verb and leader in ("xargs", "parallel", "alias", "ln", "cp")
        ):
            yield Finding(Verdict.ASK, "it cannot be seen what `hooktray` is told to do here;", "hooktray")


def _behind(texts: Sequence[str], index: int) -> Sequence[str] | None:
    """The words behind our command when it stands at `index`; None when it does not."""
    text = texts[index]
    name = PurePath(re.sub(r"^.*(?:=|EXEC:|SYSTEM:)", "", text)).name.lower().removesuffix(".exe")
    led = index == 0 and len(name.strip("*?[]")) > 1 and finds(name, "hooktray")  # a name that a shell finds
    if led or _may_be_ours(name):
        return texts[index + 1 :]
    if name == "hooktray-relay" or text.endswith("tray/relay.py"):
        return ["relay"]
    if INNER.search(text) and re.search(r"\bhooktray\b", text):
        return texts[index + 1 :]
    module = re.fullmatch(r"-\w*m(tray[\w.]*)?", text)
    if module is None:
        return None
    named, *behind = [module[1], *texts[index + 1 :]] if module[1] else [*texts[index + 1 :], ""]
    if named in WRAPPING:
        named, *behind = [*(text for text in behind if not text.startswith("-")), ""]
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
        elif index and _is_code(texts, index, leader) and not speaks(word.text):
            yield from named(word.text, cwd, places)
        elif index and re.fullmatch(r"-\w*[ce]", texts[index - 1]) and not says and speaks(word.text):
            verdict = Verdict.DENY if PYTHONS.fullmatch(leader) else Verdict.ASK
            yield Finding(verdict, "code that drives Hooktray is for a person:", "hooktray")
        elif (not says or _set(texts, index, leader)) and len(word.text.split()) > 1 and speaks(word.text):
            yield Finding(Verdict.ASK, "a text that may be run speaks of switching Hooktray's guards;", "hooktray")


def _is_code(texts: Sequence[str], index: int, leader: str) -> bool:
    """Whether the word is code for an interpreter, which may open files: of `-c`, `-e`, `-r`, of awk."""
    if leader == "awk" or leader.endswith("awk"):
        return ">" in texts[index] or "system" in texts[index]
    if leader == "sed":  # its own commands that write, and run
        return re.search(r"(?:^|[\s;}\d$/|,#gpI])[wWe]\s", texts[index]) is not None
    known = leader in INTERPRETERS or PYTHONS.fullmatch(leader) is not None
    return known and re.fullmatch(r"-\w*[ceEr]", texts[index - 1]) is not None


def _set(texts: Sequence[str], index: int, leader: str) -> bool:
    """Whether the word sets what another program will run: `GIT_PAGER='…' git log`, `git -c core.pager='…'`."""
    if leader == "git" and index and texts[index - 1] == "-c":
        return True
    return all(re.match(r"[A-Za-z_]\w*=", text) for text in texts[: index + 1])


def _unwrapped(text: str) -> str:
    return re.sub(r"\$\(|<\(|[`)]", "\n", text)
