"""Makes foreign text safe to keep: each secret becomes a fingerprint, by its own shape or by the name beside it."""

from __future__ import annotations

import bisect
import hashlib
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from operator import attrgetter

import msgspec
from msgspec.structs import replace

from tray.text.secret_commands import COMMAND_END, COMMAND_LENGTH, COMMANDS
from tray.text.secret_patterns import (
    BARE_VALUE,
    BESIDE,
    CLEAN_TAIL,
    CLEAN_VALUE,
    ENV_VALUE,
    FLAG,
    LEADS,
    MASK,
    NAME,
    PLAIN_VALUE,
    QUOTED_VALUE,
    SEPARATOR,
    SHAPES,
    TAIL,
    TOKEN,
)
from tray.text.words import compiled

OPTION = re.compile(r"-{1,2}[\w.-]{0,64}")
_DEPTH = 100  # levels of a JSON value; what lies deeper is masked whole
_NAMES = 64  # characters before a name that may belong to it
# Control sequences (CSI, OSC and the short ones) of a terminal.
ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]{0,2000}(?:\x07|\x1b\\)?|[ -/]*[0-~])")
_LINE = re.compile(r"[\s\x1b]")
ARGV_LENGTH = 64  # strings at most of a list that may be a command
_HEADERS = frozenset({"authorization", "proxy-authorization", "cookie", "set-cookie"})


class Redacted(msgspec.Struct, frozen=True):
    """The text without its secrets, and the kinds of those that were there, in order, with their fingerprints."""

    text: str
    masks: tuple[str, ...] = ()
    fingerprints: tuple[str, ...] = ()


class _SecretSpan(msgspec.Struct, frozen=True):
    start: int
    end: int
    kind: str


def redact(text: str, keep: int | None = None, names: Collection[str] = ()) -> Redacted:
    """The text with "[masked <kind> <fingerprint>]" for each secret; equal secrets have equal fingerprints.

    A text with secrets loses the escape sequences of terminals, because a secret may contain one.

    With `keep`, only so many characters of the text are returned. A secret at that border is masked as far as the
    text goes: the caller passes more than it keeps, so that no secret is cut to a form that no rule matches.
    `names` of hooks at the start of a text are not names of secrets: `no-secrets: keep secrets out`.
    """
    if "\x1b" in text:
        plain = ESCAPES.sub("", text)
        found = _spans(plain, names)
        return _mask_spans(plain, found, keep) if found else Redacted(text[:keep])
    found = _spans(text, names)
    return _mask_spans(text, found, keep) if found else Redacted(text[:keep])


def _spans(text: str, names: Collection[str]) -> list[_SecretSpan]:
    """Returns the spans of secrets in a text, in order and without overlaps."""
    low = text.lower() if text.isascii() else fold_case(text)
    present = None if low is None else find_words(low)
    found: list[_SecretSpan] = []
    for token in find_tokens(text, present):
        found.append(_SecretSpan(*token.span(), token.lastgroup or "token"))
    for kind, words, shape in SHAPES:
        if present is None or not present.isdisjoint(words):
            for shown in compiled(shape).finditer(text):
                if not shown["value"].startswith("[masked"):
                    found.append(_SecretSpan(*shown.span("value"), kind))
    for word, program, argument in COMMANDS:
        if present is None or word in present:
            found += _command_spans(text, compiled(program), compiled(argument))
    if named := find_names(text, low, present):
        found += _named_spans(text, named, _title_spans(text, names))
    if not found:
        return found
    return _merge_spans(_outside_masks(text, found) if "[masked " in text else found)


def _outside_masks(text: str, spans: list[_SecretSpan]) -> list[_SecretSpan]:
    """Returns the spans that do not begin inside of a mask that the text already has."""
    masks = [mask.span() for mask in MASK.finditer(text)]
    before = [bisect.bisect_left(masks, (span.start, 0)) - 1 for span in spans]
    return [span for span, at in zip(spans, before, strict=True) if at < 0 or span.start >= masks[at][1]]


def _command_spans(text: str, program: re.Pattern[str], argument: re.Pattern[str]) -> Iterator[_SecretSpan]:
    """Yields the secrets among the arguments of a program, up to the end of each command or its next call."""
    command = program.search(text)
    while command:
        start, limit = command.end(), min(len(text), command.end() + COMMAND_LENGTH)
        command = program.search(text, start)
        last = COMMAND_END.search(text, start, limit)
        end = min(last.start() if last else limit, command.start() if command else limit)
        for shown in argument.finditer(text, start, end):
            yield _SecretSpan(*shown.span("value"), "argument")


def _mask_spans(text: str, spans: list[_SecretSpan], keep: int | None) -> Redacted:
    if keep is not None:
        spans = [span for span in spans if span.start < keep]
        text = text[: max([keep, *(span.end for span in spans[-1:])])]
    parts, end, fingerprints = [], 0, []
    for span in spans:
        fingerprints.append(_fingerprint(text[span.start : span.end]))
        parts += [text[end : span.start], mask_text(span.kind, fingerprints[-1])]
        end = span.end
    return Redacted("".join([*parts, text[end:]]), tuple(span.kind for span in spans), tuple(fingerprints))


def redact_value(value: object) -> tuple[object, tuple[str, ...]]:
    """The same through nested JSON values; a key or header named like a secret masks its whole value."""
    masks: list[str] = []
    return _redact_any(value, "", masks, 0), tuple(masks)


def mask_text(kind: str, fingerprint: str) -> str:
    """What replaces a secret."""
    return f"[masked {kind} {fingerprint}]"


def _mask(kind: str, secret: str) -> str:
    return mask_text(kind, _fingerprint(secret))


def _fingerprint(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()[:12]


def _title_spans(text: str, names: Collection[str]) -> list[tuple[int, int]]:
    """Where one of these names is the title of a text or of a line, also of one in JSON."""
    titles = "|".join(re.escape(name) for name in names if compiled(NAME).search(name))
    if not titles:
        return []
    # Twice where a hook has its name itself.
    title = rf"(?:{titles})(?: \(\w+\))?: "  # for an agent it is signed: `no-secrets (Hooktray): …`
    return [found.span() for found in re.finditer(rf"(?:^|(?<=[\"\n])|(?<=\\n))(?:{title})+", text)]


def _named_spans(
    text: str, names: Sequence[re.Match[str]], titles: Sequence[tuple[int, int]]
) -> Iterator[_SecretSpan]:
    """Secrets that a name gives away: `password = x`, `"api_key": "x"`, `--token x`; none by the name in a title."""
    end = 0
    for name in names:
        if any(begin <= name.start() < last for begin, last in titles):
            continue
        value = _value_after(text, name) if name.start() >= end else None
        if value and not _is_call(text, value) and _is_named_secret(text, name, value):
            end = value.end("value")
            yield _SecretSpan(*value.span("value"), name[0].lower().replace("_", " ").replace("-", " "))


def _is_named_secret(text: str, name: re.Match[str], value: re.Match[str]) -> bool:
    shown, quoted = value["value"], _is_quoted(value)
    if name[0].lower() == "pwd" and shown.startswith(("/", "~")):
        return False  # the working directory
    if name["bare"] and not quoted and not _is_flag(text, name.start()) and text[value.start() - 1] != "=":
        return len(shown) >= 6 and not shown.isalpha() and not shown.isdigit() and _is_secret(shown, True, False)
    strong = not name["weak"]
    # NAME=value without spaces is an assignment of a shell, so `a.b` is not an expression there.
    literal = quoted or (strong and name[0].isupper() and text[value.start() - 1] == "=")
    return _is_secret(shown, strong, literal)


def _value_after(text: str, name: re.Match[str]) -> re.Match[str] | None:
    tail = TAIL.match(text, name.end())
    if tail is None or compiled(CLEAN_TAIL).match(tail[0]):
        return None
    separator = compiled(SEPARATOR).match(text, tail.end())
    if separator is None:
        lead = _lead(text, name.start(), tail.end())
        return (
            (compiled(QUOTED_VALUE).match(text, lead.end()) or BARE_VALUE.match(text, lead.end())) if lead else None
        )
    bare = ENV_VALUE if separator[0] == "=" and name[0].isupper() else BARE_VALUE
    return _quoted_or(bare, text, separator.end())


def _quoted_or(bare: re.Pattern[str], text: str, at: int) -> re.Match[str] | None:
    return compiled(QUOTED_VALUE).match(text, at) or bare.match(text, at)


def _lead(text: str, start: int, end: int) -> re.Match[str] | None:
    """Returns what leads from a name to its value without a sign such as `=`."""
    if _is_flag(text, start):
        return FLAG.match(text, end)
    for before, lead in LEADS:
        if (found := lead.match(text, end)) and before.search(text[max(0, start - _NAMES) : start]):
            return found
    return compiled(BESIDE).match(text, end)


def _is_flag(text: str, at: int) -> bool:
    before = text[max(0, at - _NAMES) : at]
    return bool(OPTION.fullmatch(before[before.rfind(" ") + 1 :]))


def _is_quoted(value: re.Match[str]) -> bool:
    return "quote" in value.re.groupindex


def _is_call(text: str, value: re.Match[str]) -> bool:
    """Code, not a value: `token = next(…)`, or the quote that ends a text such as 'Password: '."""
    if _is_quoted(value):
        return value["value"][0] in " ,):;]}+" and not text.startswith(value["quote"], value.end())
    return text[value.end() : value.end() + 1] in {"(", "["} and value["value"].replace(".", "_").isidentifier()


def _is_secret(value: str, strong: bool, quoted: bool) -> bool:
    if compiled(CLEAN_VALUE).fullmatch(value):
        return False
    if strong:
        return quoted or not (_is_code(value) or (len(value) < 4 and value.isdigit()))
    return (
        len(value) >= 8 and not PLAIN_VALUE.fullmatch(value) and (quoted or not _is_code(value)) and " " not in value
    )


def _is_code(value: str) -> bool:
    """An expression such as args.password, which names a secret and is none."""
    parts = value.split(".")
    return len(parts) > 1 and all(part.isidentifier() and not any(map(str.isdigit, part)) for part in parts)


def _merge_spans(spans: list[_SecretSpan]) -> list[_SecretSpan]:
    """Overlapping spans become one, under the name of the one that begins first."""
    merged: list[_SecretSpan] = []
    for span in sorted(spans, key=attrgetter("start", "end", "kind")):
        if merged and span.start < merged[-1].end:
            merged[-1] = replace(merged[-1], end=max(merged[-1].end, span.end))
        else:
            merged.append(span)
    return merged


def _redact_any(value: object, name: str, masks: list[str], depth: int) -> object:
    if depth > _DEPTH:
        masks.append("depth")
        return "[masked depth]"
    if isinstance(value, str):
        return _redact_string(value, name, masks)
    if isinstance(value, Mapping):
        return _redact_mapping(value, name, masks, depth + 1)
    if isinstance(value, list | tuple):
        return _redact_list(value, name, masks, depth + 1)
    if name and isinstance(value, int | float) and not isinstance(value, bool) and _is_password_name(name):
        return _redact_string(str(value), name, masks)
    return value


def _redact_mapping(value: Mapping[object, object], name: str, masks: list[str], depth: int) -> dict[object, object]:
    title = value.get("name", value.get("key"))
    entries: dict[object, object] = {}
    for key, item in value.items():
        own = title if key == "value" and isinstance(title, str) else key if isinstance(key, str) else ""
        safe_key = _redact_string(key, "", masks) if isinstance(key, str) else key
        entries[safe_key] = _redact_any(item, _secret_name(own) or name, masks, depth)
    return entries


def _redact_list(value: list[object] | tuple[object, ...], name: str, masks: list[str], depth: int) -> list[object]:
    if len(value) == 2 and isinstance(value[0], str) and _secret_name(value[0]):
        return [value[0], _redact_any(value[1], _secret_name(value[0]), masks, depth)]
    if not name and 2 <= len(value) <= ARGV_LENGTH and all(isinstance(item, str) for item in value):
        return [*_redact_argv([str(item) for item in value], masks)]
    return [_redact_any(item, name, masks, depth) for item in value]


def _redact_argv(words: Sequence[str], masks: list[str]) -> Iterator[str]:
    """Yields the words of a command, each as it is masked in the whole line: `["sshpass", "-p", "x"]`."""
    spans, start = _spans(" ".join(words), ()), 0
    for word in words:
        end = start + len(word)
        inside = [one for one in spans if one.start < end and start < one.end]
        clipped = [
            replace(one, start=max(one.start - start, 0), end=min(one.end - start, len(word))) for one in inside
        ]
        # A word with white space may be a line by itself, as behind `sh -c`; an escape sequence may hide a secret.
        redacted = _mask_spans(word, clipped, None) if clipped or not _LINE.search(word) else redact(word)
        masks.extend(redacted.masks)
        yield redacted.text
        start = end + 1


def _redact_string(value: str, name: str, masks: list[str]) -> str:
    if name and (name in _HEADERS or _is_secret(value, _is_password_name(name), True)) and value:
        masks.append(name)
        return value if value.startswith("[masked") else _mask(name, value)
    redacted = redact(value)
    masks.extend(redacted.masks)
    return redacted.text


def _secret_name(key: str) -> str:
    """What a key means for its value: the name of a secret, or ""."""
    if key.lower() in _HEADERS:
        return key.lower()
    for found in compiled(NAME).finditer(key[:256]):
        if not compiled(CLEAN_TAIL).match(key, found.end()):
            return found[0].lower().replace("_", " ").replace("-", " ")
    return ""


def _is_password_name(name: str) -> bool:
    found = compiled(NAME).search(name.replace(" ", "_"))
    return bool(found and not found["weak"])


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


# What a token begins with, or what is at a known distance behind its beginning.
TOKEN_BEGINS = _words("""
1//0 ABIA ACCA AC AGE-SECRET-KEY-1 AIza AKCp AKIA AQVN ASIA ATATT3 ATBB ATCTT3 ATTA CCIP CLOJARS_ EZ FLW GOCSPX-
HRKU- LTAI NR PMAK- SG. SK aio_ api_org_ bkaj_ bkat_ bkct_ bkua_ cio csk- dapi dckr_ ddp_ ddw_ doo_v1_ dop_v1_
dor_v1_ dp. dt0 duffel_ ewo eyA eyI eyJ figd_ fm1 fm2 fo1_ gh github_pat_ gl gsk_ hf_ hv ico- key- lin_ lsv2_
napi_ nfb_ nfc_ nfo_ nfp_ nfu_ npm_ ntn_ oauth: ops_eyJ oy2 pat phs_ phx_ pk.eyJ pnb_ pnu_ pplx- pscale_ pul-
pypi- r8_ rdme_ re_ rk_ rnd_ rubygems_ sb_secret_ sbp_ secret_ sgp_ sha256~ shippo_ shp sk- sk. sk_ sl. sm_
sntry sq0 sqa_ sqp_ squ_ tfp_ tgp_v1_ tskey- whsec_ xai- xapp- xkeysib- xox ya29.
""")
TELEGRAM, TELEGRAM_OFFSETS = ":AA", (8, 9, 10)
DISCORD, DISCORD_OFFSETS = re.compile(r"\.(?=[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27})"), (24, 25, 26, 27, 28)
# The same of names, in lower case; what ends in `key` begins with whose it is.
NAME_BEGINS = _words("""
auth bearer contrase credential jwt kennwort key mot nonce otp pass pin pwd salt secret senha signature token
密码 密碼 口令 密钥 密鑰 令牌 пароль パスワード 비밀번호
""")
KEY, OWNER_LENGTH = "key", 11
OWNER = re.compile(
    r"(?:api|access|account|app|auth|client|deploy|encryption|license|master|private|service|shared|signing|ssh|storage"
    r"|webhook)[_-]?\Z"
)
# The characters of texts and of code, the most common ones last. Those that are not here are the rarest.
COMMON_CHARACTERS = "zqjx9876543210kvbwy=/:.gf-mpuhc_dlrsnioate"
# Each of these beginnings and each word of SHAPES, in lower case -> the place of its rarest character.
WORDS = {
    word: word.index(min(word, key=COMMON_CHARACTERS.find))
    for word in (
        *map(str.lower, TOKEN_BEGINS),
        *NAME_BEGINS,
        *(word for _, words, _ in SHAPES for word in words),
        *(word for word, _, _ in COMMANDS),
    )
}
CHARACTERS_PER_TRY = 1024  # of the text, for each place of a word's rarest character that is tried


def fold_case(text: str) -> str | None:
    """In lower case, each character at its place; None when that cannot be."""
    low = text.lower()
    if text.isascii():
        return low
    return low.replace("\u017f", "s") if len(low) == len(text) else None  # `re` takes the long s for an s, too


def find_words(low: str) -> set[str]:
    """Those of WORDS that are in the text, which is in lower case.

    Python finds one character many times faster than two, so it looks for the rarest one of each word first. A plain
    loop: it runs for every text that is kept.
    """
    found, tries = set(), range(len(low) // CHARACTERS_PER_TRY + 1)
    for word, offset in WORDS.items():
        rarest = word[offset]
        at = low.find(rarest, offset)
        for _ in tries:
            if at < 0:
                break
            if low.startswith(word, at - offset):
                found.add(word)
                break
            at = low.find(rarest, at + 1)
        else:
            if at >= 0 and low.find(word, at - offset) >= 0:
                found.add(word)
    return found


def find_tokens(text: str, words: Collection[str] | None = None) -> list[re.Match[str]]:
    """What TOKEN finds in the text. `words` are those of the text, if they are known."""
    places: set[int] = set()
    for begin in TOKEN_BEGINS:  # a plain loop: it runs for every text that is kept
        if (words is None or begin.lower() in words) and begin in text:
            places |= _positions(text, begin)
    if TELEGRAM in text:
        places |= {at - back for at in _positions(text, TELEGRAM) for back in TELEGRAM_OFFSETS}
    for dot in DISCORD.finditer(text):
        places |= {dot.start() - back for back in DISCORD_OFFSETS}
    return _matches(compiled(TOKEN), text, places) if places else []


def find_names(text: str, low: str | None, words: Collection[str] | None = None) -> list[re.Match[str]]:
    """What NAME finds in the text. `low` is the text, folded; `words` are those of it, if known."""
    if low is None:
        return list(compiled(NAME).finditer(text))
    places: set[int] = set()
    for begin in NAME_BEGINS:
        if begin in low if words is None else begin in words:
            places |= _positions(low, begin)
    if KEY in low:
        owners = (OWNER.search(low, max(0, at - OWNER_LENGTH), at) for at in _positions(low, KEY))
        places |= {owner.start() for owner in owners if owner}
    return _matches(compiled(NAME), text, places) if places else []


def _matches(pattern: re.Pattern[str], text: str, places: Iterable[int]) -> list[re.Match[str]]:
    found: list[re.Match[str]] = []
    end = 0
    for at in sorted(places):
        if at >= end and (match := pattern.match(text, at)):
            end = match.end()
            found.append(match)
    return found


def _positions(text: str, part: str) -> set[int]:
    """Every place where `part` begins, also if they overlap."""
    places = set()
    at = text.find(part)
    while at >= 0:
        places.add(at)
        at = text.find(part, at + 1)
    return places
