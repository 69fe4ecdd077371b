#!/usr/bin/env python3
"""Refuses shell commands that destroy more than a build folder.

Answers in: starchild and claude-code, unchanged. Needs Python 3.10.
When it breaks it exits 1, which is "failed"; with `failure: block` that refuses the command.
It reads a command as a shell would split it, so that a commit message about `rm -rf /` passes. It is a seat belt and
no cage: whoever wants to hide a command from it can.

Declare:
    - {event: tool_before, tool: Bash, command: ./destructive_commands.py, failure: block}
Try:
    echo '{"tool_name":"Bash","tool_input":{"command":"rm -rf /"}}' |
        hooktray test PreToolUse --hook destructive_commands --payload - --expect deny
"""

import json
import re
import shlex
import sys
from collections.abc import Callable, Iterator
from itertools import pairwise, takewhile

Words = list[str]

# Before the command proper: `sudo -E nice rm …` is an `rm`.
PREFIXES = {"!", "{", "builtin", "command", "do", "doas", "else", "env", "exec", "if", "nice", "nohup", "sudo"}
PREFIXES |= {"then", "time", "timeout", "while", "xargs"}
SHELLS = {"bash", "dash", "ksh", "sh", "zsh"}
INTERPRETERS = SHELLS | {"node", "perl", "python", "python3", "ruby"}
FETCHERS = {"curl", "wget"}
WHOLE = {"data", "dev", "home", "mnt", "opt", "proc", "root", "srv", "sys", "usr", "var", "Users", "Volumes"}
EVERYTHING_IN = {"bin", "boot", "etc", "lib", "lib64", "sbin", "Library", "System", "Windows"}
NARROWING = {"-empty", "-iname", "-ipath", "-mmin", "-mtime", "-name", "-newer", "-path", "-regex", "-size"}
HARMLESS_DEVICES = re.compile(r"/dev/(null|zero|full|stdout|stderr|tty|fd/\d+)$")
FORK_BOMB = re.compile(r"([\w:.]+)\s*\(\)\s*\{\s*\1\s*\|\s*\1\s*&")
QUOTED = re.compile(r"'[^']*'")  # there the shell looks for nothing
INNER = re.compile(r"\$\(([^()]*)\)|`([^`]*)`")
HEREDOC = re.compile(r"^(.*)<<-?\s*(['\"]?)(\w+)\2(.*)\n(?:.*\n)*?\s*\3$", re.MULTILINE)
SQL = re.compile(
    r"\b(drop\s+(table|database|schema)|truncate\s+\w)|\bdelete\s+from\s+[\w.\"`]+\s*(;|$)", re.IGNORECASE
)


def main() -> None:
    event = json.load(sys.stdin)
    given = event.get("tool_input")
    command = given.get("command") if isinstance(given, dict) else None
    reason = danger(command) if isinstance(command, str) else ""
    if reason:
        print(json.dumps({"decision": "block", "reason": f"{reason}. If this is meant, let a person run it."}))


def danger(command: str) -> str:
    """Why a person should run this themselves; "" when nothing speaks against it."""
    if FORK_BOMB.search(command):
        return "A function that starts itself for ever"
    for inner in INNER.finditer(QUOTED.sub("", command)):
        reason = danger(inner[1] or inner[2] or "")
        if reason:
            return reason
    before = ""  # the command whose output this one reads
    for words, piped in simple_commands(command):
        reason = _judge(words, before)
        if reason:
            return reason
        before = words[0].rsplit("/", 1)[-1] if piped else ""
    return ""


def simple_commands(command: str) -> Iterator[tuple[Words, bool]]:
    """Each command of the line without its prefixes, and whether its output goes on into the next one."""
    words: Words = []
    for token in [*_tokens(HEREDOC.sub(_without_body, command)), ";"]:
        if not token or token.strip(";&|()\n"):
            words.append(token)
            continue
        words = _proper(words)
        if words:
            yield words, token.strip("()\n") in ("|", "|&")
        words = []


def _tokens(command: str) -> Words:
    lexer = shlex.shlex(command.replace("\\\n", " "), posix=True, punctuation_chars=";&|()<>\n")
    lexer.whitespace, lexer.whitespace_split, lexer.commenters = " \t\r", True, ""
    try:
        return list(lexer)
    except ValueError:  # an open quote: then better too many commands than too few
        return [part.strip("'\"") for part in re.findall(r"[;&|()<>\n]|[^\s;&|()<>]+", command)]


def _without_body(found: re.Match[str]) -> str:
    """A here-document is text, unless a shell reads it."""
    readers = {word.rsplit("/", 1)[-1] for word in found[1].split()}
    return found[0] if readers & SHELLS else f"{found[1]}{found[4]}"


def _proper(words: Words) -> Words:
    """The command without assignments, prefixes and their options."""
    skipping = False
    for index, word in enumerate(words):
        if re.match(r"\w+=", word):
            continue
        if word in PREFIXES:
            skipping = True
        elif not (skipping and re.match(r"-|\d", word)):
            return words[index:]
    return []


def _judge(words: Words, before: str) -> str:
    name, rest = words[0].rsplit("/", 1)[-1], words[1:]
    if name in INTERPRETERS and (_runs_download(rest) or (before in FETCHERS and _reads_stdin(rest))):
        return "It runs what it downloads, unread"
    for arrow, target in pairwise(rest):
        if arrow in (">", ">>", ">|") and _device(target):
            return f"It writes over the device {target}"
    if name in SHELLS and "-c" in {option[:1] + option[-1:] for option in rest if option.startswith("-")}:
        return danger(" ".join(word for word in rest if not word.startswith("-")))
    rule = RULES.get(name.split(".")[0])
    return rule(rest) if rule else ""


def _runs_download(rest: Words) -> bool:
    """`sh -c "$(curl …)"`, `bash <(curl …)`."""
    read = any(arrow == "<(" and word in FETCHERS for arrow, word in pairwise(rest))
    return read or any(re.match(r"(\$\(|`)\s*(curl|wget)\b", word) for word in rest)


def _reads_stdin(rest: Words) -> bool:
    return not rest or rest[0] == "-" or rest[0].startswith("-s")


def _device(path: str) -> bool:
    return path.startswith("/dev/") and not HARMLESS_DEVICES.match(path)


def precious(path: str) -> bool:
    """Whether nobody means to lose all of this: a home, a system folder, the whole project, a variable's root."""
    if re.match(r"\$\{?\w+\}?/+\*?$", path) and "HOME" not in path and "PWD" not in path:
        return True  # with the variable unset this is /
    path = re.sub(r"^(\$HOME|\$\{HOME\})(?=/|$)", "~", path)
    path = re.sub(r"^(\$PWD|\$\{PWD\}|\$\(pwd\))(?=/|$)", ".", path)
    parts = [part for part in path.split("/") if part not in ("", ".", "*", ".*")]
    if not path.startswith("/"):
        return bool(path) and (not parts or set(parts) == {".."} or parts in (["~"], [".git"]))
    if not parts or parts[0] in EVERYTHING_IN:
        return True
    return (len(parts) == 1 and parts[0] in WHOLE) or (len(parts) == 2 and parts[0] in ("home", "Users"))


def _flags(rest: Words) -> str:
    """All one-letter options together."""
    return "".join(word[1:] for word in rest if re.match(r"-\w+$", word))


def _paths(rest: Words) -> Words:
    return [word for word in rest if not word.startswith("-")]


def _rm(rest: Words) -> str:
    if not set(_flags(rest)) & {"r", "R"} and "--recursive" not in rest:
        return ""
    lost = [path for path in _paths(rest) if precious(path)]
    return f"It deletes {lost[0]} with all that is in it" if lost else ""


def _find(rest: Words) -> str:
    if "-delete" not in rest and not re.search(r"-exec(dir)? (\S*/)?(rm|shred)\b", " ".join(rest)):
        return ""
    roots = list(takewhile(lambda word: word[:1] not in "-(!", rest)) or ["."]
    if any(precious(root) and root not in (".", "./") for root in roots):
        return f"It deletes all over {roots[0]}"
    return "" if NARROWING & set(rest) or not any(precious(root) for root in roots) else "It deletes all files here"


def _git(rest: Words) -> str:
    while rest and rest[0].startswith("-"):
        rest = rest[2:] if rest[0] in ("-C", "-c") else rest[1:]
    verb, rest = (rest[0], rest[1:]) if rest else ("", [])
    flags, joined = _flags(rest), " ".join(rest)
    lossy = {
        "branch": "D" in flags,
        "checkout": bool(re.search(r"(^|\s)(-- )?\.$", joined)) or "f" in flags,
        "clean": "f" in flags and "n" not in flags,
        "filter-branch": True,
        "push": "f" in flags
        or bool({"--force", "--mirror"} & set(rest))
        or any(word[0] == "+" for word in rest if word),
        "reflog": rest[:1] in (["expire"], ["delete"]),
        "reset": "--hard" in rest,
        "restore": joined in (".", "--worktree .") or joined.endswith(" ."),
        "stash": rest[:1] in (["clear"], ["drop"]),
    }
    return f"`git {verb}` in this form loses work for good" if lossy.get(verb) else ""


def _on_devices(what: str) -> Callable[[Words], str]:
    return lambda rest: next((f"It {what} {word}" for word in rest if _device(word.removeprefix("of="))), "")


def _recursive_rights(rest: Words) -> str:
    deep = "R" in _flags(rest) or "--recursive" in rest
    lost = [path for path in _paths(rest)[1:] if precious(path)]
    return f"It changes the rights of all of {lost[0]}" if deep and lost else ""


def _when(pattern: str, reason: str) -> Callable[[Words], str]:
    return lambda rest: reason if re.search(pattern, " ".join(rest)) else ""


def _sql(rest: Words) -> str:
    return "It destroys tables or their rows" if SQL.search(" ".join(rest)) else ""


POWER = _when(r"", "It stops this machine")
RULES: dict[str, Callable[[Words], str]] = {
    "blkdiscard": _on_devices("empties"),
    "chmod": _recursive_rights,
    "chown": _recursive_rights,
    "crontab": _when(r"(^|\s)-r", "It deletes all timed jobs"),
    "dd": _on_devices("writes over"),
    "docker": _when(r"^(system|volume) prune|^volume rm", "It deletes data of containers"),
    "eval": lambda rest: danger(" ".join(rest)),
    "find": _find,
    "git": _git,
    "halt": POWER,
    "kill": _when(r"-(9|KILL) -1$", "It ends every process"),
    "kubectl": _when(r"\bdelete (ns|namespaces?|pvc?)\b|\bdelete\b.*--all\b", "It deletes what a cluster holds"),
    "mariadb": _sql,
    "mkfs": _on_devices("formats"),
    "mysql": _sql,
    "parted": _on_devices("repartitions"),
    "poweroff": POWER,
    "psql": _sql,
    "reboot": POWER,
    "rm": _rm,
    "shred": _on_devices("writes over"),
    "shutdown": POWER,
    "sqlite3": _sql,
    "terraform": _when(r"^destroy|-destroy\b", "It destroys infrastructure"),
    "wipefs": _on_devices("wipes"),
}

if __name__ == "__main__":
    main()
