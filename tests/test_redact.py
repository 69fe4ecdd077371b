"""No secret is kept: the known shapes, and what stands beside a telling name, become fingerprints."""

from __future__ import annotations

import hashlib
import itertools
import json
import random
import re
import string
from collections.abc import Callable
from typing import Any

import pytest
import regex
from every import every
from proportion import is_in_proportion
from secrets_table import BASE62, CLEAN, HEX, NAMED, PLACEMENTS, SHAPES, any_of

from tray.text import redact, redact_value, redaction, secret_patterns

LOWER = string.ascii_lowercase + string.digits
WORDS = [
    "abandon", "ability", "able", "about", "above", "absent", "absorb", "abstract",
    "absurd", "abuse", "access", "accident", "account", "accuse", "achieve",
]  # fmt: skip


@every("place", PLACEMENTS)
@every("shape", SHAPES)
def test_a_known_shape_is_found_wherever_it_stands(shape: str, place: str) -> None:
    for seed in range(5):
        secret = SHAPES[shape](random.Random(f"{shape}{seed}"))

        redacted = redact(PLACEMENTS[place](secret))

        assert secret not in redacted.text
        assert secret[8:24] not in redacted.text
        assert len(redacted.masks) >= 1


@every("place", NAMED)
def test_a_value_without_a_shape_is_found_by_what_stands_beside_it(place: str) -> None:
    for seed in range(40):
        chance = random.Random(seed)
        secret = (
            "a1"
            + any_of(chance, chance.choice([LOWER, BASE62, HEX, BASE62 + "+._~!#%^"]), chance.randint(8, 60))
            + "z"
        )

        redacted = redact(NAMED[place](secret))

        assert secret not in redacted.text
        assert secret[2:9] not in redacted.text
        assert redacted.masks


@pytest.mark.parametrize("place", ["json", "json in json", "pretty json", "yaml block", "toml", "ruby"])
def test_a_name_is_seen_through_three_layers_of_json(place: str) -> None:
    secret = "k3JxQ9zLmN2vB8cTqW5yRa7q"
    text = NAMED[place](secret)

    for _ in range(3):  # a file's content in a tool's input, and all of it quoted by a hook
        text = json.dumps({"command": text})

        assert secret not in redact(text).text


@every("head", ["PRIVATE", "RSA PRIVATE", "EC PRIVATE", "OPENSSH PRIVATE", "ENCRYPTED PRIVATE"])
@every("wrap", [str, json.dumps, lambda text: json.dumps(json.dumps(text)), lambda text: text.split("-----END")[0]])
def test_a_private_key_is_found_whole_plain_escaped_or_cut_off(head: str, wrap: Callable[[str], str]) -> None:
    lines = [any_of(random.Random(n), BASE62 + "+/", 64) for n in range(12)]
    key = f"-----BEGIN {head} " + "KEY-----\n" + "\n".join(lines) + f"\n-----END {head} " + "KEY-----\n"

    redacted = redact("before " + wrap(key))

    assert [line for line in lines if line[:12] in redacted.text] == []
    assert redacted.masks == ("private key",)
    assert redacted.text.startswith("before ")


@every("count", [12, 24])
@every("lead", ["seed: ", "mnemonic = ", 'seed phrase: "', '"mnemonic": "', "recovery phrase:\n"])
def test_a_seed_phrase_is_found_behind_its_word(count: int, lead: str) -> None:
    phrase = " ".join(random.Random(count).choices(WORDS, k=count))

    assert phrase.split(" ", 1)[1] not in redact(f"{lead}{phrase}").text


@every("line", CLEAN)
def test_a_clean_line_stays_as_it_is(line: str) -> None:
    assert redact(line).text == line


def test_a_mask_is_a_fingerprint_and_shows_nothing_of_the_secret() -> None:
    secret = "hunter" + "2" * 12

    redacted = redact(f"password={secret} and again password={secret}")

    fingerprint = hashlib.sha256(secret.encode()).hexdigest()[:12]
    assert redacted.text == " and again ".join([f"password=[masked password {fingerprint}]"] * 2)
    assert redacted.masks == ("password", "password")


def test_redacting_what_is_redacted_changes_nothing() -> None:
    text = "\n".join(place(shape(random.Random(1))) for shape in SHAPES.values() for place in PLACEMENTS.values())
    named = "\n".join(place("a1b2c3d4e5f6g7h8") for place in NAMED.values())
    once = redact(text + named).text

    assert redact(once).text == once


def test_nested_values_lose_what_their_keys_name() -> None:
    secret, token = "correct horse", SHAPES["github"](random.Random(3))
    value: dict[str, Any] = {
        "password": secret,
        "db": {"passwords": [secret, secret], "password": 12345678, "port": 5432, "secret": None},
        "headers": [["Authorization", secret], ["Cookie", secret], ["X-Api-Key", secret], ["Accept", "text/html"]],
        "har": [{"name": "Set-Cookie", "value": secret}, {"name": "color", "value": "red"}],
        "text": f"use {token}",
        token: True,
        "tokens": 1200,
        "token_count": 12,
        "plain": [1, 2.5, None, "words"],
    }

    found, masks = redact_value(value)

    text = json.dumps(found)
    assert [each for each in (secret, token, "12345678") if each in text] == []
    assert isinstance(found, dict)
    assert found["tokens"] == 1200
    assert found["plain"] == [1, 2.5, None, "words"]
    assert found["headers"][3] == ["Accept", "text/html"]
    assert found["har"][1] == {"name": "color", "value": "red"}
    assert len(masks) == 10
    assert redact_value(found)[0] == found


def test_a_value_nested_beyond_reason_is_masked_and_not_followed() -> None:
    value: Any = "x"
    for _ in range(5000):
        value = [value]

    assert redact_value(value)[1] == ("depth",)


@every(
    "part",
    [
        "eyJ",
        "sk-",
        "SECRET=",
        "token=$TOKEN=",
        "password='",
        'secret="',
        'secret=\\"',
        "://",
        "://a:b",
        "-----BEGIN PRIVATE KEY-----\n",
        "-----BEGIN PRIVATE KEY-----AAAA",
        "authorization: ",
        "cookie: a",
        "seed: abc ",
        "abc ",
        "bearer ",
        "A",
        "a.",
        "\\n",
        "!",
        "-u a:",
        "MMMMMMMMM",
        "passwordpassword",
        "xoxb-",
        "SG.",
        "1",
        "?sig=",
        "\x1b[31m",
        "\x1b]8;;",
        "mysql ",
        "mysql -p",
        "login -p ",
        "secret set a=",
        "create secret --from-literal=a=b ",
        "config set x_token ",
        "htpasswd -b a b ",
        "echo a | ",
        "echo a stdin sudo | ",
        "a:b | chpasswd ",
        "chpasswd <<E\n",
        "machine a login b ",
        "pgpass a:1:a:a:",
        "password '",
        "identified with x by ",
        "a.atlasv1.",
        "[masked ",
        "[masked x 0123456789ab] pass=abc1234 ",
        "aKey_key-key",
        "password',\n",
        "getenv('password',",
        "password: Optional[str",
        "auth=('a','b",
        "ConvertTo-SecureString -a -b 'x' ",
    ],
)
def test_redacting_takes_time_in_proportion(part: str) -> None:
    assert is_in_proportion(redact, part, 2_000)


@every("kind", secret_patterns.TOKENS)
def test_no_token_begins_with_what_is_passed_over(kind: str) -> None:
    passed_over = [sign for sign in string.printable if not re.fullmatch(secret_patterns.TOKEN_STARTS, sign)]

    assert not [sign for sign in passed_over if regex.fullmatch(secret_patterns.TOKENS[kind], sign, partial=True)]


def test_no_telling_name_begins_with_what_is_passed_over() -> None:
    pairs = ("".join(pair) for pair in itertools.product(string.printable, repeat=2))
    passed_over = [pair for pair in pairs if not re.fullmatch(secret_patterns.NAME_STARTS, pair, re.I)]

    assert not [pair for pair in passed_over if regex.fullmatch(secret_patterns.NAMES, pair, regex.I, partial=True)]


def _mixed(seed: int) -> str:
    """Tokens, names and what only begins like one, side by side and inside each other."""
    chance = random.Random(seed)
    names = ["passWord", "api_key", "authAccessKEY", "keykey", "sshkey", "OTP", "pin", "spin", "tokenpwd", "nonce"]
    begins = [*redaction.TOKEN_BEGINS, *redaction.NAME_BEGINS, ":AA", "M", "12345678"]
    parts = (
        [make(chance) for make in SHAPES.values()]
        + names
        + begins
        + ["é", "\u017fecret", "\\n", "%3D", "=", "/", "K"]
    )
    return "".join(f"{chance.choice(parts)}{chance.choice(['', ' ', '_', '.', '-'])}" for _ in range(400))


@every("seed", range(40))
def test_looking_for_beginnings_finds_what_the_patterns_find(seed: int) -> None:
    text = _mixed(seed)

    low = redaction.fold_case(text)
    assert low is not None
    for words in (None, redaction.find_words(low)):
        tokens = [(found.span(), found.lastgroup) for found in redaction.find_tokens(text, words)]
        names = [(found.span(), found["strong"]) for found in redaction.find_names(text, low, words)]

        assert tokens == [(found.span(), found.lastgroup) for found in re.finditer(secret_patterns.TOKEN, text)]
        assert names == [(found.span(), found["strong"]) for found in re.finditer(secret_patterns.NAME, text)]


def test_text_that_grows_when_folded_is_searched_all_the_same() -> None:
    assert "hunter22" not in redact("İ password=hunter22").text


@pytest.mark.parametrize(("keep", "count"), [(8, 1), (20, 1), (60, 1), (66, 2), (100, 2)])
def test_a_secret_at_the_border_of_what_is_kept_is_masked_whole(keep: int, count: int) -> None:
    secret = SHAPES["github"](random.Random(7))
    text = f"use {secret} and then password=hunter2222 and no more"

    kept = redact(text, keep)

    assert secret[:12] not in kept.text
    assert "hunter" not in kept.text
    assert len(kept.masks) == count


def test_many_masks_before_the_border_bring_nothing_in_from_behind_it() -> None:
    """Masks are shorter than long secrets: what was only looked at must not slip into what is kept."""
    secret, last = SHAPES["anthropic"](random.Random(8)), SHAPES["xai"](random.Random(9))
    text = " ".join([secret] * 100)

    kept = redact(f"{text} {last[:30]}", len(text))

    assert last[:20] not in kept.text
    assert kept.text.count("[masked anthropic") == 100
