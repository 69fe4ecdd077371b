"""Test data for redaction: secrets of every known shape, texts around them, and clean lines."""

from __future__ import annotations

import base64
import json
import random
import string
from collections.abc import Callable

BASE62 = string.ascii_letters + string.digits
HEX = "0123456789abcdef"


def any_of(chance: random.Random, alphabet: str, count: int) -> str:
    return "".join(chance.choices(alphabet, k=count))


def _jwt_part(chance: random.Random) -> str:
    return base64.urlsafe_b64encode(('{"a' + any_of(chance, BASE62, 30) + '":1}').encode()).decode().rstrip("=")


# Put together at run time, so that nothing in this file looks like a secret.
SHAPES: dict[str, Callable[[random.Random], str]] = {
    "age": lambda r: "AGE-SECRET-" + "KEY-1" + any_of(r, string.ascii_uppercase + string.digits, 58),
    "anthropic": lambda r: "sk-" + "ant-api03-" + any_of(r, BASE62, 80),
    "atlassian": lambda r: "ATA" + "TT3x" + any_of(r, BASE62, 60),
    "aws id": lambda r: "AK" + "IA" + any_of(r, string.ascii_uppercase + string.digits, 16),
    "aws session id": lambda r: "AS" + "IA" + any_of(r, string.ascii_uppercase + string.digits, 16),
    "databricks": lambda r: "da" + "pi" + any_of(r, HEX, 32),
    "digitalocean": lambda r: "dop" + "_v1_" + any_of(r, HEX, 64),
    "discord": lambda r: "M" + any_of(r, BASE62, 23) + "." + any_of(r, BASE62, 6) + "." + any_of(r, BASE62, 38),
    "docker": lambda r: "dckr" + "_pat_" + any_of(r, BASE62, 27),
    "doppler": lambda r: "dp" + ".pt." + any_of(r, BASE62, 43),
    "figma": lambda r: "fi" + "gd_" + any_of(r, BASE62, 40),
    "github": lambda r: "gh" + "p_" + any_of(r, BASE62, 36),
    "github oauth": lambda r: "gh" + "o_" + any_of(r, BASE62, 36),
    "github server": lambda r: "gh" + "s_" + any_of(r, BASE62, 36),
    "github fine": lambda r: "github" + "_pat_" + any_of(r, BASE62, 22) + "_" + any_of(r, BASE62, 59),
    "gitlab": lambda r: "gl" + "pat-" + any_of(r, BASE62, 20),
    "gitlab deploy": lambda r: "gl" + "dt-" + any_of(r, BASE62, 20),
    "google": lambda r: "AI" + "za" + any_of(r, BASE62, 35),
    "google oauth": lambda r: "ya" + "29." + any_of(r, BASE62, 60),
    "google client": lambda r: "GOC" + "SPX-" + any_of(r, BASE62, 28),
    "grafana": lambda r: "gl" + "sa_" + any_of(r, BASE62, 32) + "_" + any_of(r, HEX, 8),
    "groq": lambda r: "gs" + "k_" + any_of(r, BASE62, 52),
    "huggingface": lambda r: "h" + "f_" + any_of(r, BASE62, 34),
    "jwt": lambda r: ".".join([_jwt_part(r), _jwt_part(r), any_of(r, BASE62, 43)]),
    "linear": lambda r: "lin" + "_api_" + any_of(r, BASE62, 40),
    "mailgun": lambda r: "ke" + "y-" + any_of(r, HEX, 32),
    "newrelic": lambda r: "NR" + "AK-" + any_of(r, string.ascii_uppercase + string.digits, 27),
    "notion": lambda r: "nt" + "n_" + any_of(r, BASE62, 46),
    "npm": lambda r: "np" + "m_" + any_of(r, BASE62, 36),
    "openai": lambda r: "s" + "k-" + "1" + any_of(r, BASE62, 47),
    "openai project": lambda r: "s" + "k-proj-" + "1" + any_of(r, BASE62, 80),
    "perplexity": lambda r: "pp" + "lx-" + any_of(r, BASE62, 48),
    "postman": lambda r: "PM" + "AK-" + any_of(r, HEX, 24) + "-" + any_of(r, HEX, 34),
    "pypi": lambda r: "py" + "pi-AgEI" + any_of(r, BASE62, 100),
    "replicate": lambda r: "r" + "8_" + any_of(r, BASE62, 37),
    "sendgrid": lambda r: "S" + "G." + any_of(r, BASE62, 22) + "." + any_of(r, BASE62, 43),
    "sentry": lambda r: "snt" + "rys_" + any_of(r, BASE62, 60),
    "shopify": lambda r: "shp" + "at_" + any_of(r, HEX, 32),
    "slack bot": lambda r: "xo" + "xb-" + any_of(r, string.digits, 12) + "-" + any_of(r, BASE62, 24),
    "slack app": lambda r: "xa" + "pp-1-" + any_of(r, BASE62, 40),
    "square": lambda r: "sq" + "0csp-" + any_of(r, BASE62, 43),
    "stripe": lambda r: "sk" + "_live_" + any_of(r, BASE62, 24),
    "stripe webhook": lambda r: "wh" + "sec_" + any_of(r, BASE62, 32),
    "supabase": lambda r: "sb" + "p_" + any_of(r, HEX, 40),
    "telegram": lambda r: "1" + any_of(r, string.digits, 9) + ":A" + "A" + any_of(r, BASE62, 33),
    "twilio": lambda r: "S" + "K" + any_of(r, HEX, 32),
    "vault": lambda r: "hv" + "s." + any_of(r, BASE62, 24),
    "xai": lambda r: "xa" + "i-" + any_of(r, BASE62, 80),
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
