"""Finds a refusal that the hook's own format does not read: in another format's words, misspelt, or among other text.

An output that reads as a refusal must not count as no opinion. This module ignores allows and rewrites: they count in
the hook's own format only.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import islice
from operator import attrgetter
from typing import Any

import msgspec

from tray.agents import lenient, wire
from tray.agents.agent import Agent
from tray.agents.registry import AGENTS, CANONICAL, OWN_FORMAT
from tray.model.decision import HookOutput, Verdict
from tray.model.event import STOP_KINDS, Event
from tray.text import printable
from tray.text.redaction import ESCAPES
from tray.text.words import compiled, word_set

LIMIT = 64 * 1024  # characters at either end of an output that are looked at
FAULTY_LIMIT = 200  # objects with faults that are looked at
FAULTY_LENGTH = 4 * LIMIT  # characters of all of them in which their ends are looked for
MIDDLE_LIMIT = 64  # words between the ends of a long output that are looked at
BROKEN_LIMIT = 4096  # characters of an object that is not JSON
WORD_LIMIT = 40  # characters of an output that is one word
LINE_LENGTH = 200  # characters of a line that are looked at
LINE_LIMIT = 10  # lines of a text without objects; of a longer one only the first and the last are looked at
QUOTED = 60  # characters of a key that a problem quotes
NEAR = 2  # edits at most between a misspelt key and the key that was meant
SHORTEST = 5  # characters at least of a key that may be misspelt
# Output of scripts that were written for another format; it asks for nothing.
NEUTRAL = word_set("continue ok suppressOutput systemMessage")
# Words that no format has but people write. A hook that prints them has failed.
REFUSING = word_set("abort aborted block blocked cancelled denied deny disallow disallowed forbid forbidden prevent "
                    "prevented reject rejected refuse refused stop veto")  # fmt: skip
NAMES = word_set("action answer outcome response result status verdict")  # of a verdict, in a text without objects
PERMITTING = word_set("accept accepted allow allowed approve approved continue ok permit permitted proceed safe")
EXIT_KEYS = word_set("exit exitcode exitstatus returncode")
TRUE, FALSE = word_set("1 true yes"), word_set("0 false no")
# "BLOCKED: no force push", "[guard] deny: rm", "Command blocked by policy"; not "blocked: 0", "deny rules: 4 loaded".
REFUSAL_LINE = rf"""(?ix)[\W_]*+(?:[\w.:/ -]{{1,40}}\][\W_]*+|(?P<name>[\w./-]{{1,40}}:[\W_]++))?
        (?:(?:this\ |the\ )?(?:access|action|call|command|operation|permission|request|tool(?:\ call|\ use)?)
            \ (?:is\ |was\ |has\ been\ )?)?
        (?P<word>{"|".join(sorted(REFUSING))}|refusing|not\ (?:allowed|approved|permitted))
        (?:(?P<end>[^\w=]*$)|"\s*,|\ (?:by|because|due\ to|to)\b(?!\ default)|[\W_]*?(?:[:!\])*\u2014\u2013]|\s-+\s)
            [\W_]*(?!(?:0|none|nothing)\b|(?:\d+|no|false|off|null)[\W_]*(?:$|of\b|\d))\w)"""
HELPING_WORD = re.compile(r"^(?:is|was|should|must|can|be)(?=_|-|[A-Z])")  # before a word: `is_safe`, `shouldBlock`
CURLY_QUOTES = str.maketrans(dict.fromkeys("\u201c\u201d\u201e", '"') | dict.fromkeys("\u2018\u2019", "'"))
REFUSING_VALUE = re.compile(rf"""["'](?:{"|".join(sorted(REFUSING))}|ask|cancel|force_ask)["']""", re.I)
PAIR_LINE = re.compile(r"""["']?([\w-]+)["']?\s*[:=]\s*(.*)""")
NO_LETTERS = re.compile(r"[\W_]+")
STRUCTURE = re.compile(r'"(?:\\.|[^"\\])*"|[{}\[\]]', re.DOTALL)
# Common errors in JSON: comments, and a comma before the end.
FAULTS = re.compile(r'("(?:\\.|[^"\\])*")|//[^\n]*|/\*.*?\*/|,(?=\s*(?:(?://[^\n]*|/\*.*?\*/)\s*)*[}\]])', re.DOTALL)
PAIR = re.compile(r"""[{,\n]\s*(["']?)([A-Za-z_]\w*)\1\s*[:=]\s*(["']?)(\w+)\3(?=\s*(?:[,;}\n]|$))""")
START = re.compile(r"""\{(?=\s*["'\u201c\u201d\w}/])""")
FIRST_KEY = re.compile(r"""\{\s*["']?([A-Za-z_]\w*)["']?\s*[:=]""")
BROKEN_REASON = re.compile(r"""["']?\w*(?:reason|message)["']?\s*:\s*"(.*?)"\s*(?:\}|,\s*["'\n]|$)""", re.I | re.S)


class Found(msgspec.Struct, frozen=True):
    """An object in an output, and its text."""

    fields: Mapping[str, Any]
    text: str


class EventCopy(msgspec.Struct, frozen=True):
    """The event as the hook reads it. Parts of it that the hook prints are not the hook's answer."""

    roots: tuple[Any, ...]  # the hook's input, and the agent's payload
    values: tuple[Any, ...]  # the objects and lists of both
    texts: frozenset[str]  # those with a bracket

    def has(self, value: object) -> bool:
        """True if the value is the event, the event without some of its fields, or an object in it."""
        return value in self.values or any(_is_part(value, root) for root in self.roots)

    def without(self, fields: Mapping[str, Any]) -> Mapping[str, Any]:
        """Returns the fields that the hook added, if it printed the whole event with fields of its own."""
        for root in self.roots:
            if _is_part(root, fields):
                fields = {key: value for key, value in fields.items() if key not in root}
        return fields

    def covers(self, text: str, output: str) -> bool:
        """True if the output quotes a longer text of the event, or a line of one, that contains this text."""
        return any(
            each in output
            for whole in self.texts
            if text in whole
            for each in (whole, *whole.splitlines())
            if text in each and each.strip() != text
        )


NO_COPY = EventCopy((), (), frozenset())


def find(event: Event, agent: Agent, stdout: bytes, *, is_unused: bool = False) -> HookOutput | None:
    """Returns the refusal or question in the output of a hook of this format, or the problem of a near miss.

    `is_unused` is True if the format reads nothing in it. Texts such as messages are looked at only then.
    """
    text = lenient.text(stdout.replace(b"\0", b""))  # UTF-16 has NUL bytes
    text = ESCAPES.sub("", text).strip(lenient.PYTHON)  # colours, as `jq -C` prints them
    if text.startswith('"') and lenient.is_value(text):
        text = str(lenient.loads(text, python=True))
    if _is_plain(agent, text):
        return None
    if "{" not in text:
        return _plain_text(event, agent, text, is_unused)
    objects = [one for part in _parts(text) for one in _objects(part)]
    refusals = [one for one in objects if _refusal_in(event, agent, one.fields, NO_COPY)]
    misses = [one for one in objects if _near_miss(event, agent, one.fields, NO_COPY, is_unused)]
    if not refusals and not misses:  # the usual case: no need to parse the event
        return None
    copy = _event_copy(event, agent)
    own = [_own_refusal(event, agent, one, copy) for one in refusals if not copy.covers(one.text, text)]
    if strictest := max(filter(None, own), key=attrgetter("verdict"), default=None):
        return strictest
    for one in misses:
        is_copy = one.text in copy.texts or copy.covers(one.text, text)
        if not is_copy and (problem := _near_miss(event, agent, one.fields, copy, is_unused)):
            return HookOutput(problem=problem)
    return None


def unknown_keys(event: Event, agent: Agent, stdout: bytes) -> str:
    """Returns why the one object that a hook printed is not an answer; "" if it has a key of its format."""
    try:
        fields = lenient.loads(lenient.text(stdout, lenient.PYTHON), python=True)
    except ValueError:
        return ""
    known = agent.answers.keys
    if not isinstance(fields, dict) or not fields or known is None or not (known | NEUTRAL).isdisjoint(fields):
        return ""
    copy = _event_copy(event, agent)
    if copy.has(fields) or copy.without(fields) is not fields:
        return ""
    return f"output has no key that its format, {agent.id}, knows: {printable(', '.join(map(str, fields)), QUOTED)}"


def _is_plain(agent: Agent, text: str) -> bool:
    """True for an object of known keys and words, for which no other format's module has to be loaded."""
    try:
        fields, end = lenient.first_value(text, 0)
    except ValueError:
        return False
    return end == len(text) and _has_known_words(agent, fields)


def _has_known_words(agent: Agent, fields: object) -> bool:
    if not isinstance(fields, dict):
        return False
    known = agent.answers.keys or frozenset()
    for key, value in fields.items():
        if key in agent.answers.verdicts:
            is_known = (
                isinstance(value, str | bool)
                and agent.answers.verdicts[key].get(value, Verdict.DENY) <= Verdict.ALLOW
            )
        elif key in lenient.NESTED_KEYS:
            is_known = _has_known_words(agent, value)
        elif isinstance(value, str):  # a single word may be another format's verdict
            is_word = len(value.split()) == 1 or compiled(REFUSAL_LINE).match(value[:LINE_LENGTH])
            is_known = key == "hookEventName" or not is_word
        else:
            is_known = not _fold(key).endswith(("decision", "permission"))
        if not is_known or key not in known | agent.answers.verdicts.keys():
            return False
    return not fields or not all(key == "hookEventName" or _fold(key).endswith("reason") for key in fields)


def _plain_text(event: Event, agent: Agent, text: str, is_unused: bool) -> HookOutput | None:
    """Returns what a text without an object means: one word, names and their words as in YAML, or a sentence."""
    lines = [line.strip() for line in text.splitlines() if line.strip(" \t-")]
    if len(lines) > LINE_LIMIT:
        lines = [lines[0], lines[-1]]
    pairs = [found.groups() for line in lines if (found := PAIR_LINE.fullmatch(line))]
    answers = [("decision", text)] if len(text) <= WORD_LIMIT and not pairs else pairs
    reason = next((word for key, word in pairs if _fold(key).endswith("reason")), "")
    refusals = [words for key, word in answers if (words := _formats(agent, key, word))]
    if refusals and len(pairs) in (0, len(lines)):
        return _refusal(event, agent, refusals[0], reason)
    is_refusal = bool(refusals) or any(
        _fold(key) in NAMES | PERMITTING | REFUSING | _verdict_keys() and _means_refusal(event, key, word)
        for key, word in pairs
    )
    if is_unused or " " not in text:
        is_refusal |= _word(text) == "no" or any(_is_refusal(event, line) for line in lines)
    if not is_refusal:
        return None
    return HookOutput(problem=f"output reads as a refusal that {agent.id} does not know: {printable(text, QUOTED)}")


# ---- refusals ----


def _own_refusal(event: Event, agent: Agent, one: Found, copy: EventCopy) -> HookOutput | None:
    """Returns the strictest refusal in an object that is not in a copy of the event."""
    if one.text in copy.texts:
        return HookOutput(problem="output has a refusal that is word for word in the event")
    return _refusal_in(event, agent, one.fields, copy)


def _refusal_in(event: Event, agent: Agent, fields: Mapping[str, Any], copy: EventCopy) -> HookOutput | None:
    """Returns the strictest verdict in an object, with the reason beside or above it."""
    is_stop = event.kind in STOP_KINDS  # the agent stops in any case: a refusal to continue would make it go on
    found = (
        _refusal(event, agent, words, reason)
        for each, reason in _levels(agent, fields, copy)
        for key, value in each.items()
        if (words := _formats(agent, key, value)) and not (is_stop and _fold(key) == "continue")
    )
    return max(found, key=attrgetter("verdict"), default=None)


def _levels(agent: Agent, fields: Mapping[str, Any], copy: EventCopy) -> Iterator[tuple[Mapping[str, Any], str]]:
    """Yields each object that may hold an answer, with its reason; skips rewrites and copies of the event."""
    waiting: list[tuple[Any, str]] = [(fields, "")]
    while waiting:
        value, above = waiting.pop()
        if isinstance(value, list):
            waiting += [(each, above) for each in value if isinstance(each, dict | list)]
            continue
        if copy.has(value):
            continue
        own = copy.without(value)
        own_reason = _reason(own) or above
        yield own, own_reason
        known = agent.answers.keys or frozenset()
        for key, each in own.items():
            is_answer = key not in known or key in lenient.NESTED_KEYS or _fold(key) in _verdict_keys()
            if isinstance(each, dict | list) and is_answer:
                waiting.append((each, own_reason))


def _refusal(event: Event, agent: Agent, words: Mapping[str, Verdict], reason: str) -> HookOutput:
    """Returns the refusal. `words` has the verdict in each format: the hook's own counts first, then the caller's."""
    order = (agent.id, event.agent, OWN_FORMAT, CANONICAL, *words)
    id = next(id for id in order if id in words)
    what = "a refusal" if words[id] is Verdict.DENY else "a question"
    adjustment = f"read as {what} in the format of {id}"
    return HookOutput(verdict=words[id], reason=reason, adjustment=adjustment, read_as=id)


def _formats(agent: Agent, key: object, value: object) -> Mapping[str, Verdict]:
    """Returns the formats in which this pair refuses or asks; none if it means something else in the hook's own."""
    found = _table().get((_fold(key), _word(value)), {})
    is_other = found and agent.id not in found and value in agent.answers.verdicts.get(str(key), ())
    return {} if is_other else found


@cache
def _table() -> Mapping[tuple[str, str | None], Mapping[str, Verdict]]:
    """Returns the refusals and questions of each format, by key and word in folded case."""
    table: dict[tuple[str, str | None], dict[str, Verdict]] = {}
    for id, agent in AGENTS.items():
        for key, words in agent.answers.verdicts.items():
            for word, verdict in words.items():
                if verdict > Verdict.ALLOW:
                    table.setdefault((_fold(key), _word(word)), {})[id] = verdict
    return table


def _reason(fields: Mapping[str, Any]) -> str:
    """Returns the first text under a key such as `reason`, `agent_message` or `permissionDecisionReason`."""
    texts = (value for key, value in fields.items() if _fold(key).endswith(("reason", "message")))
    return next((value for value in texts if isinstance(value, str) and value), "")


# ---- near misses ----


def _near_miss(event: Event, agent: Agent, fields: Mapping[str, Any], copy: EventCopy, is_unused: bool) -> str:
    """Returns why an object that does not refuse may be meant as a refusal; "" if it cannot be."""
    known = agent.answers.keys
    if known is None:
        return ""
    fields = {} if copy.has(fields) else copy.without(fields)
    answers = (fields, *(each for key in lenient.NESTED_KEYS if isinstance(each := fields.get(key), dict)))
    unknown = [str(key) for each in answers for key in each if key not in _answer_keys()]
    key, meant = next(((key, meant) for key in unknown for meant in known if _is_near(key, meant)), ("", ""))
    if key:
        return f"output has a key that its format, {agent.id}, does not know: {printable(key, QUOTED)}, for {meant}?"
    for each, _ in _levels(agent, fields, copy):
        for key, value in each.items():
            if key in agent.answers.verdicts and not _is_word(agent, key, value):
                return f"output has {wire.with_article(key)} that means nothing in its format, {agent.id}"
            is_text = is_unused and key not in NEUTRAL and agent.answers.verdicts.keys().isdisjoint(each)
            if key in agent.answers.verdicts or (key in known and not is_text and _fold(key) not in _verdict_keys()):
                continue
            if _means_refusal(event, key, value):
                return f"output has a key that its format, {agent.id}, does not know: {printable(key, QUOTED)}"
    names = {str(key) for each in answers for key, value in each.items() if value is not None}
    names -= {"hookSpecificOutput", "hookEventName"}
    is_reason = all(_fold(name).endswith("reason") for name in names) and any(map(_reason, answers))
    return "output has a reason and no decision" if is_reason else ""


def _is_word(agent: Agent, key: str, value: object) -> bool:
    """True if the value is a word of this key in any format, or holds further keys."""
    if isinstance(value, dict):
        return True
    formats = (one.answers.verdicts.get(key, {}) for one in AGENTS.values())
    return any(_word(value) == _word(word) for words in (agent.answers.verdicts[key], *formats) for word in words)


def _means_refusal(event: Event, key: str, value: object) -> bool:
    if isinstance(value, list):
        return any(isinstance(each, str) and _means_refusal(event, key, each) for each in value)
    word, name = _word(value), _fold(HELPING_WORD.sub("", key))
    if name == "continue" and event.kind in STOP_KINDS:
        return False
    if (name in PERMITTING or name in _verdict_keys()) and word in FALSE:
        return True
    if (name in REFUSING and word in TRUE) or (name in EXIT_KEYS and str(value) == "2"):
        return True
    return isinstance(value, str) and _is_refusal(event, value)


def _is_refusal(event: Event, text: str | None) -> bool:
    """True if a person reads a refusal in this word or line, which is not the name of an event such as `Stop`."""
    found = compiled(REFUSAL_LINE).match(text[:LINE_LENGTH]) if text else None
    word = found["word"].lower() if found else ""
    is_setting = found and found["name"] and found["end"] is not None and word in REFUSING  # `default: deny`
    return bool(word) and not is_setting and (word != "stop" or event.kind not in STOP_KINDS)


@cache
def _verdict_keys() -> frozenset[str]:
    """Returns the keys of each format that carry a verdict, in folded case."""
    return frozenset(key for key, _ in _table())


def _is_near(one: str, other: str) -> bool:
    """True if two long enough words differ by at most NEAR edits."""
    if min(len(one), len(other)) < SHORTEST or abs(len(one) - len(other)) > NEAR:
        return False
    row: list[int] = [*range(len(other) + 1)]
    for number, sign in enumerate(one, start=1):
        before, row[0] = row[0], number
        for place, each in enumerate(other, start=1):
            before, row[place] = row[place], min(row[place] + 1, row[place - 1] + 1, before + (sign != each))
    return row[-1] <= NEAR


# ---- words ----


def _fold(word: object) -> str:
    """Returns the word in lower case, without separators between its parts."""
    return NO_LETTERS.sub("", str(word)).lower()


def _word(value: object) -> str | None:
    """Returns the value as one word; None if it is not one."""
    if isinstance(value, int) and value in (0, 1):
        return _fold(bool(value))
    return _fold(value) if isinstance(value, str) else None


# ---- copies of the event ----


def _event_copy(event: Event, agent: Agent) -> EventCopy:
    try:
        stdin = lenient.loads(lenient.text(agent.protocol.stdin(event)), python=True)
    except ValueError:
        stdin = {}
    values: list[Any] = []
    texts: set[str] = set()
    waiting = [stdin, event.payload]
    while waiting:
        value = waiting.pop(0)
        if isinstance(value, str):
            texts.add(value.strip())
        elif isinstance(value, Mapping | list) and value:
            values.append(value)
            waiting += value.values() if isinstance(value, Mapping) else value
    return EventCopy((stdin, event.payload), tuple(values), frozenset(text for text in texts if "{" in text))


def _is_part(value: object, whole: object) -> bool:
    """True if everything in this object is also in the other."""
    if not isinstance(value, Mapping) or not isinstance(whole, Mapping) or not value:
        return False
    return all(key in whole and whole[key] == each for key, each in value.items())


# ---- objects in a text ----


def _parts(text: str) -> Iterator[str]:
    """What of the output is looked at: all of it, or its ends and what is around words that refuse."""
    if len(text) <= 2 * LIMIT or lenient.is_object(text):
        yield text
        return
    yield from (text[:LIMIT], text[-LIMIT:])
    end = LIMIT
    for found in islice(REFUSING_VALUE.finditer(text, LIMIT, len(text) - LIMIT), MIDDLE_LIMIT):
        if found.end() > end:
            start, end = max(end, found.start() - BROKEN_LIMIT), found.end() + BROKEN_LIMIT
            yield text[start:end]


def _objects(text: str) -> Iterator[Found]:
    """The outermost objects in a text; also those with small faults, such as a comma too many."""
    faulty, end, left = 0, 0, FAULTY_LENGTH
    for found in START.finditer(text):
        start = found.start()
        if start < end or faulty == FAULTY_LIMIT:
            continue
        fields: Mapping[str, Any] | None
        try:
            fields, end = lenient.first_value(text, start)
        except ValueError:
            closing = _end(text, start, start + left)
            left -= closing - start
            fields, end = _decode_faulty(text, start, closing)
        faulty += fields is None
        if fields is not None:
            yield Found(fields, text[start:end])


def _decode_faulty(text: str, start: int, end: int) -> tuple[Mapping[str, Any] | None, int]:
    """The object with faults between these places, and where it ends."""
    body = FAULTS.sub(r"\1", text[start:end].translate(CURLY_QUOTES))
    for is_json in (True, False):
        try:
            value = lenient.loads(body, python=True) if is_json else ast.literal_eval(body)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            continue
        if isinstance(value, dict):
            return {str(key): each for key, each in value.items()}, end
    return _broken(text[start : start + BROKEN_LIMIT], start)


def _end(text: str, start: int, limit: int) -> int:
    """Where the brackets that open here are closed; the end of the text, or the limit, when they are not."""
    depth = 0
    for found in STRUCTURE.finditer(text, start, limit):
        depth += (found[0] in "{[") - (found[0] in "}]")
        if depth == 0:
            return found.end()
    return min(limit, len(text))


def _broken(body: str, start: int) -> tuple[Mapping[str, Any] | None, int]:
    """Returns the pairs of an answer that is not JSON, such as one with quotes in its reason or without its end."""
    first = FIRST_KEY.match(body)
    if first is None or _fold(first[1]) not in map(_fold, _answer_keys()):
        return None, start
    body = body[: _end(body, 0, BROKEN_LIMIT)]
    reason = BROKEN_REASON.search(body)
    pairs = {found[2]: found[4] for found in PAIR.finditer(body)}
    return {**pairs, "reason": reason[1] if reason else ""}, start + len(body)


@cache
def _answer_keys() -> frozenset[str]:
    """Returns the keys of every format."""
    return NEUTRAL.union(*(agent.answers.keys or () for agent in AGENTS.values()))
