"""No secret is kept: the known shapes, and what stands beside a telling name, become fingerprints."""

from __future__ import annotations

import base64
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

from tray.text import redact, redact_value, redaction, secret_patterns

LOWER = string.ascii_lowercase + string.digits
BASE62 = string.ascii_letters + string.digits
HEX = "0123456789abcdef"
WORDS = [
    "abandon", "ability", "able", "about", "above", "absent", "absorb", "abstract",
    "absurd", "abuse", "access", "accident", "account", "accuse", "achieve",
]  # fmt: skip

# Put together at run time, so that nothing in this file looks like a secret.
SHAPES: dict[str, Callable[[random.Random], str]] = {
    "age": lambda r: "AGE-SECRET-" + "KEY-1" + _any(r, string.ascii_uppercase + string.digits, 58),
    "anthropic": lambda r: "sk-" + "ant-api03-" + _any(r, BASE62, 80),
    "atlassian": lambda r: "ATA" + "TT3x" + _any(r, BASE62, 60),
    "aws id": lambda r: "AK" + "IA" + _any(r, string.ascii_uppercase + string.digits, 16),
    "aws session id": lambda r: "AS" + "IA" + _any(r, string.ascii_uppercase + string.digits, 16),
    "databricks": lambda r: "da" + "pi" + _any(r, HEX, 32),
    "digitalocean": lambda r: "dop" + "_v1_" + _any(r, HEX, 64),
    "discord": lambda r: "M" + _any(r, BASE62, 23) + "." + _any(r, BASE62, 6) + "." + _any(r, BASE62, 38),
    "docker": lambda r: "dckr" + "_pat_" + _any(r, BASE62, 27),
    "doppler": lambda r: "dp" + ".pt." + _any(r, BASE62, 43),
    "figma": lambda r: "fi" + "gd_" + _any(r, BASE62, 40),
    "github": lambda r: "gh" + "p_" + _any(r, BASE62, 36),
    "github oauth": lambda r: "gh" + "o_" + _any(r, BASE62, 36),
    "github server": lambda r: "gh" + "s_" + _any(r, BASE62, 36),
    "github fine": lambda r: "github" + "_pat_" + _any(r, BASE62, 22) + "_" + _any(r, BASE62, 59),
    "gitlab": lambda r: "gl" + "pat-" + _any(r, BASE62, 20),
    "gitlab deploy": lambda r: "gl" + "dt-" + _any(r, BASE62, 20),
    "google": lambda r: "AI" + "za" + _any(r, BASE62, 35),
    "google oauth": lambda r: "ya" + "29." + _any(r, BASE62, 60),
    "google client": lambda r: "GOC" + "SPX-" + _any(r, BASE62, 28),
    "grafana": lambda r: "gl" + "sa_" + _any(r, BASE62, 32) + "_" + _any(r, HEX, 8),
    "groq": lambda r: "gs" + "k_" + _any(r, BASE62, 52),
    "huggingface": lambda r: "h" + "f_" + _any(r, BASE62, 34),
    "jwt": lambda r: ".".join([_jwt_part(r), _jwt_part(r), _any(r, BASE62, 43)]),
    "linear": lambda r: "lin" + "_api_" + _any(r, BASE62, 40),
    "mailgun": lambda r: "ke" + "y-" + _any(r, HEX, 32),
    "newrelic": lambda r: "NR" + "AK-" + _any(r, string.ascii_uppercase + string.digits, 27),
    "notion": lambda r: "nt" + "n_" + _any(r, BASE62, 46),
    "npm": lambda r: "np" + "m_" + _any(r, BASE62, 36),
    "openai": lambda r: "s" + "k-" + "1" + _any(r, BASE62, 47),
    "openai project": lambda r: "s" + "k-proj-" + "1" + _any(r, BASE62, 80),
    "perplexity": lambda r: "pp" + "lx-" + _any(r, BASE62, 48),
    "postman": lambda r: "PM" + "AK-" + _any(r, HEX, 24) + "-" + _any(r, HEX, 34),
    "pypi": lambda r: "py" + "pi-AgEI" + _any(r, BASE62, 100),
    "replicate": lambda r: "r" + "8_" + _any(r, BASE62, 37),
    "sendgrid": lambda r: "S" + "G." + _any(r, BASE62, 22) + "." + _any(r, BASE62, 43),
    "sentry": lambda r: "snt" + "rys_" + _any(r, BASE62, 60),
    "shopify": lambda r: "shp" + "at_" + _any(r, HEX, 32),
    "slack bot": lambda r: "xo" + "xb-" + _any(r, string.digits, 12) + "-" + _any(r, BASE62, 24),
    "slack app": lambda r: "xa" + "pp-1-" + _any(r, BASE62, 40),
    "square": lambda r: "sq" + "0csp-" + _any(r, BASE62, 43),
    "stripe": lambda r: "sk" + "_live_" + _any(r, BASE62, 24),
    "stripe webhook": lambda r: "wh" + "sec_" + _any(r, BASE62, 32),
    "supabase": lambda r: "sb" + "p_" + _any(r, HEX, 40),
    "telegram": lambda r: "1" + _any(r, string.digits, 9) + ":A" + "A" + _any(r, BASE62, 33),
    "twilio": lambda r: "S" + "K" + _any(r, HEX, 32),
    "vault": lambda r: "hv" + "s." + _any(r, BASE62, 24),
    "xai": lambda r: "xa" + "i-" + _any(r, BASE62, 80),
}

PLACEMENTS: dict[str, Callable[[str], str]] = {
    "env": lambda secret: f"PATH=/bin\nexport SOMETHING={secret}\nHOME=/home/me",
    "json": lambda secret: json.dumps({"command": "run", "field": [secret, 1], "note": "x\n" + secret + "\n"}),
    "yaml": lambda secret: f"server:\n  setting: {secret}  # mine\n  port: 80\n",
    "url": lambda secret: f"see https://example.com/api?x=1&value={secret}&page=2#top",
    "url of a bot": lambda secret: f"https://api.example.com/bot{secret}/send",
    "escaped url": lambda secret: f"q=https%3A%2F%2Fexample.com%3Fvalue%3D{secret}%26x",
    "header": lambda secret: f"GET / HTTP/1.1\r\nX-Thing: {secret}\r\nHost: example.com\r\n\r\n",
    "prose": lambda secret: f"Then I ran it with `{secret}`, and ({secret}) worked; so did {secret}.",
}

# Values that have no shape of their own: only what stands beside gives them away.
NAMED: dict[str, Callable[[str], str]] = {
    "env": lambda secret: f"DB_PASSWORD={secret}\nPATH=/bin",
    "env of a line": lambda secret: f"env AWS_SECRET_ACCESS_KEY='{secret}' ./run",
    "json": lambda secret: json.dumps({"client_secret": secret, "a": 1}),
    "json in json": lambda secret: json.dumps({"body": json.dumps({"api_key": secret, "a": "b"})}),
    "pretty json": lambda secret: json.dumps({"a": {"accessToken": secret}}, indent=2),
    "yaml": lambda secret: f"db:\n  password: {secret}\n  host: x\n",
    "yaml block": lambda secret: f"db:\n  private_key: |\n    {secret}\n",
    "toml": lambda secret: f'[registry]\nauth_token = "{secret}"\n',
    "python": lambda secret: f"client = Client(api_key='{secret}', retries=3)",
    "ruby": lambda secret: f":secret_key => '{secret}'",
    "ini": lambda secret: f"passwd = {secret}\n",
    "query": lambda secret: f"https://example.com/?access_token={secret}&x=1",
    "url": lambda secret: f"postgres://me:{secret}@db.example.com:5432/main",
    "url without user": lambda secret: f"redis://:{secret}@cache:6379/0",
    "bearer": lambda secret: f"curl -H 'Authorization: Bearer {secret}' https://example.com",
    "basic": lambda secret: f"Authorization: Basic {base64.b64encode(secret.encode()).decode()} {secret}",
    "own header": lambda secret: f"X-Api-Key: {secret}\r\nHost: x",
    "cookie": lambda secret: f"Cookie: theme=dark; sid={secret}; a=b\r\nHost: x",
    "set-cookie": lambda secret: f"set-cookie: sid={secret}; HttpOnly\n",
    "flag": lambda secret: f"deploy --auth-token {secret} --verbose",
    "flag with sign": lambda secret: f"deploy --password={secret} --verbose",
    "curl user": lambda secret: f"curl -u admin:{secret} https://example.com",
    "azure": lambda secret: f"AccountName=x;AccountKey={secret};EndpointSuffix=y",
    "npmrc": lambda secret: f"//registry.example.com/:_authToken={secret}\n",
    "prose": lambda secret: f"The new password is in use: password: {secret}\n",
}

CLEAN = """\
tokens: 1200
token_count = 4096
"max_tokens": 8192,
input_tokens=153 output_tokens=20 total_tokens=173
usage: {"prompt_tokens": 12, "completion_tokens": 40}
commit 3f2a9c8b7d6e5f4a3b2c1d0e9f8a7b6c5d4e3f2a
Merge branch 'main' of github.com:acme/tool into fix-token-refresh
4558ada Start the README; one line length
id: 550e8400-e29b-41d4-a716-446655440000
sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
integrity sha512-abcDEF0123456789abcDEF0123456789abcDEF0123456789==
def tokenize(text: str) -> list[str]:
password: str
password: str = Field(repr=False)
password = None
api_key: str | None = None
token = tokens[index]
token = next(self.tokens)
secret = config.secret
api_key = os.environ["API_KEY"]
apiKey: process.env.API_KEY,
PASSWORD=${PASSWORD}
TOKEN=$GITHUB_TOKEN
token: ${{ secrets.GITHUB_TOKEN }}
export API_KEY=<your key>
"password": "********",
password=[masked password 0123456789ab]
if token == expected_token:
if password != confirm:
SyntaxError: Unexpected token: punctuation
Unexpected token } in JSON at position 12
secretary: Anna
The secret of good tests is that they can fail.
The password must have at least 12 characters.
Forgot your password? Reset it at https://example.com/reset
Enter passphrase for key '/home/me/.ssh/id_ed25519':
secret_name: db-credentials
secretRef: {name: web}
token_url: https://auth.example.com/oauth/token
password_file: /run/secrets/db
tokenizer: cl100k_base
session_id_length: 32
{"session_id": "3f0c2a51-7d1e-4b7a-9c52-5d0d0f6f2b11", "hook_event_name": "Stop"}
CLAUDE_CODE_SESSION_ID=3f0c2a51-7d1e-4b7a-9c52-5d0d0f6f2b11
self.password = settings["password"]
password = getpass.getpass('Password: ', stream)
TOKEN = re.compile(r"[a-z]+")
open(path, pwd=pwd)
def seek(self, cookie, whence=0):
SIGNATURE = 0x08074b50
author: Anna Example
authority=example.com
authors = ["Anna"]
authorization: required
Authorization is handled by the proxy
cookie: none
Docker AuthZ: CVE-2024-41110
Accept cookies: yes
http://localhost:8080/path?x=1&y=2
https://example.com:443/a/b@2x.png
git@github.com:acme/tool.git
ssh://git@example.com:2222/acme/tool.git
npm install left-pad@1.3.0 --save-dev
pip install pytest==8.3.4 hypothesis>=6.120
2024-05-01T12:00:00Z INFO request id=7f3c2a1b took 12ms status=200
ERROR tray.ipc: frame of 70000 bytes from pid 4242
task-runner-configuration-for-2024-and-later
sk-learn is a library
risk-assessment-report-2024-final
the seed phrase should never be shown to anyone who asks for it by mail
key: value
"key": "cache:v2:user:42"
primary_key = "id"
keyboard: qwerty
bearer of good news
data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAUA
/usr/lib/python3.11/site-packages/tokenizers/models.py
credentials: include
credentials: "same-origin"
credentials: 'omit',
credentials: RequestCredentials
secrets: inherit
secret-scanning: read
conan -p
| token | uint256 |
https://example.com/?cachekey=abc123def456
https://example.com/bot/123456789:80/
pw: chromium
max_tokens: 4096
jwt.sign(payload, process.env.JWT_SECRET, 'HS256')
process.env.TOKEN_URL || 'https://auth.example9.com'
describe('password', 'some words')
user.validate_password('some words')
git log --oneline --format='%h %an %s' -8
rm -rf build/ && mkdir -p build/release-2024
""".splitlines()


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
            "a1" + _any(chance, chance.choice([LOWER, BASE62, HEX, BASE62 + "+._~!#%^"]), chance.randint(8, 60)) + "z"
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
    lines = [_any(random.Random(n), BASE62 + "+/", 64) for n in range(12)]
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


def _any(chance: random.Random, alphabet: str, count: int) -> str:
    return "".join(chance.choices(alphabet, k=count))


def _jwt_part(chance: random.Random) -> str:
    return base64.urlsafe_b64encode(('{"a' + _any(chance, BASE62, 30) + '":1}').encode()).decode().rstrip("=")


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


@every("seed", range(40))
def test_the_words_that_are_found_are_those_that_are_there(seed: int) -> None:
    chance = random.Random(seed)
    signs = "".join(redaction.WORDS)
    some = chance.sample([*redaction.WORDS], 12)
    parts = [*some, *(word[:-1] for word in some), *(word[1:] for word in some), *chance.sample(signs, 12), " "]
    for count in (3, 30, redaction.CHARACTERS_PER_TRY):
        low = "".join(chance.choices(parts, k=count))

        assert redaction.find_words(low) == {word for word in redaction.WORDS if word in low}
        behind = chance.choice(signs) * 3 * redaction.CHARACTERS_PER_TRY + low
        assert redaction.find_words(behind) == {word for word in redaction.WORDS if word in behind}


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
