"""What secrets look like: the tables of redact, each pattern linear in the length of the text."""

from __future__ import annotations

import re
from collections.abc import Mapping

from tray.lazy_pattern import lazy_pattern

# Where a token may begin: not inside a word, unless the "word" is the end of an escape (\n, \u003d, %3D).
_START = r"(?:(?<![A-Za-z0-9_-])|(?<=\\[bfnrt])|(?<=\\u[0-9A-Fa-f]{4})|(?<=%[0-9A-Fa-f]{2}))"
_W = r"[A-Za-z0-9_-]"

TOKENS: Mapping[str, str] = {
    "age": r"AGE-SECRET-KEY-1[0-9A-Z]{50,}",
    "anthropic": rf"sk-ant-{_W}{{16,}}",
    "atlassian": r"ATATT3[A-Za-z0-9_=-]{20,}",
    "aws": r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Za-z0-9])",
    "databricks": r"dapi[0-9a-f]{32}",
    "digitalocean": r"do[opr]_v1_[0-9a-f]{40,}",
    "discord": rf"[MNO]{_W}{{23,27}}\.{_W}{{6}}\.{_W}{{27,}}",
    "docker": rf"dckr_(?:pat|oat)_{_W}{{20,}}",
    "doppler": r"dp\.(?:pt|st|ct|sa|scim|audit)\.[A-Za-z0-9._-]{30,}",
    "figma": rf"figd_{_W}{{20,}}",
    "github": r"(?:gh[opsru]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,})",
    "gitlab": r"gl(?:pat|dt|rt|cbt|ptt|ft|imt|agent|oas|soat|ffct)-[A-Za-z0-9_.-]{16,}",
    "google": rf"(?:AIza{_W}{{35}}|ya29\.{_W}{{20,}}|GOCSPX-{_W}{{20,}}|1//0{_W}{{30,}})",
    "grafana": r"gl(?:sa|c)_[A-Za-z0-9+/=_]{20,}",
    "groq": r"gsk_[A-Za-z0-9]{20,}",
    "huggingface": r"(?:hf|api_org)_[A-Za-z0-9]{30,}",
    "jwt": rf"(?:ey[AIJ]|ewo){_W}{{8,}}+(?:\.{_W}*+){{2,4}}",
    "linear": r"lin_(?:api|oauth)_[A-Za-z0-9]{20,}",
    "mailgun": r"key-[0-9a-f]{32}",
    "newrelic": r"NR(?:AK|II|JS)-[A-Za-z0-9-]{16,}",
    "notion": r"(?:ntn_[A-Za-z0-9]{30,}|secret_[A-Za-z0-9]{43})",
    "npm": r"npm_[A-Za-z0-9]{30,}",
    "openai": rf"sk-(?=[A-Za-z_-]*+[0-9]){_W}{{20,}}",
    "perplexity": r"pplx-[A-Za-z0-9]{30,}",
    "postman": r"PMAK-[0-9a-f]{20,}-[0-9a-f]{20,}",
    "pypi": rf"pypi-{_W}{{40,}}",
    "replicate": r"r8_[A-Za-z0-9]{30,}",
    "sendgrid": rf"SG\.{_W}{{16,}}+\.{_W}{{16,}}",
    "sentry": r"sntry[su]_[A-Za-z0-9+/=_-]{30,}",
    "shopify": r"shp(?:at|ca|pa|ss)_[0-9A-Fa-f]{32}",
    "slack": r"(?:xox[a-z](?:\.xox[a-z])?-[A-Za-z0-9-]{10,}|xapp-[0-9]-[A-Za-z0-9-]{10,})",
    "square": rf"sq0[a-z]{{3}}-{_W}{{20,}}",
    "stripe": r"(?:[rs]k_(?:live|test)_[A-Za-z0-9]{16,}|whsec_[A-Za-z0-9+/=]{24,})",
    "supabase": r"sb(?:p_|_secret_)[A-Za-z0-9_-]{20,}",
    "telegram": rf"[0-9]{{8,10}}:AA{_W}{{33}}",
    "twilio": r"(?:SK|AC)[0-9a-f]{32}(?![0-9A-Za-z])",
    "vault": rf"hv[bsr]\.{_W}{{20,}}",
    "xai": r"xai-[A-Za-z0-9]{30,}",
}
# With what any of them begins: most places of a text are passed over at a glance.
TOKEN_STARTS = "[0-9AGMNOPSadefghklnprswxy]"
TOKEN = lazy_pattern(
    f"(?={TOKEN_STARTS}){_START}(?:{'|'.join(f'(?P<{kind}>{shape})' for kind, shape in TOKENS.items())})"
)

_QUOTE = r"\\{0,15}[\"'`]"  # JSON in JSON in JSON: each level doubles the backslashes, and adds one
_IS = rf"(?:(?:{_QUOTE})?\s{{0,4}}[:=]\s{{0,4}}(?:{_QUOTE})?|{_QUOTE}\s{{0,4}},\s{{0,4}}{_QUOTE})"
_PEM_BODY = (
    r"(?:(?:[^-]|-(?!----))*+-----END [A-Z0-9 ]{0,40}-----|(?=[\s\\]*+[A-Za-z0-9+/=]{16})[A-Za-z0-9+/=\s\\]*+)"
)

# Each has the secret in its group `value`, and words in lower case without any of which it need not be tried.
SHAPES: tuple[tuple[str, tuple[str, ...], re.Pattern[str]], ...] = (
    (
        "private key",
        ("private",),
        lazy_pattern(rf"(?P<value>-----BEGIN [A-Z0-9 ]{{0,40}}PRIVATE KEY[A-Z ]{{0,10}}-----{_PEM_BODY})"),
    ),
    (
        "private key",
        ("private-lines",),
        lazy_pattern(r"Private-Lines: [0-9]{1,4}(?P<value>(?:\s|\\[nr])++[A-Za-z0-9+/=\s\\]++)"),
    ),
    ("url password", ("://",), lazy_pattern(r"://[^\s/@:\"'<>]{0,256}:(?P<value>[^\s/\"'<>]{1,512})@")),
    ("url password", ("://",), lazy_pattern(rf"://(?P<value>{_W}{{20,256}}+)@")),
    (
        "webhook",
        ("hooks.slack.com",),
        lazy_pattern(r"hooks\.slack\.com/(?:services|workflows|triggers)/(?P<value>[A-Za-z0-9/_-]{16,})"),
    ),
    ("webhook", ("/webhooks/",), lazy_pattern(rf"/api/webhooks/[0-9]{{6,24}}/(?P<value>{_W}{{30,}})")),
    (
        "signature",
        ("sig=", "signature="),
        lazy_pattern(
            r"[?&](?:sig|signature|X-Amz-Signature|X-Goog-Signature)=(?P<value>[A-Za-z0-9%+/=_-]{16,})", re.I
        ),
    ),
    (
        "curl password",
        ("-u",),
        lazy_pattern(r"\s(?:-u|--user)[\s=]\s{0,4}[\"']?[^\s:\"'@/]{1,128}:(?P<value>[^\s\"'\\]{3,512})"),
    ),
    (
        "authorization",
        ("bearer",),
        lazy_pattern(r"[Bb]earer(?:\s|%20|\+){1,4}(?P<value>(?=[A-Za-z._~+/=-]*+[0-9])[A-Za-z0-9._~+/=-]{12,})"),
    ),
    (
        "authorization",
        ("authorization",),
        lazy_pattern(
            rf"authorization{_IS}"
            r"(?P<value>(?:(?:bearer|basic|token|digest|apikey|negotiate|aws4-hmac-sha256)\s++[^\r\n\"'\\]{4,}|[^\s\"'\\]*[0-9][^\s\"'\\]*))",
            re.I,
        ),
    ),
    (
        "cookie",
        ("cookie",),
        lazy_pattern(
            rf"cookie{_IS}(?P<value>[^\s=;,\"'\\:]{{1,256}}=[^\r\n\"'\\]++)",
            re.I,
        ),
    ),
    (
        "seed phrase",
        ("seed", "mnemonic", "phrase", "words"),
        lazy_pattern(
            r"(?:seed|mnemonic|phrase|words)(?:\W{0,4}[:=]|[^\w\n]{0,3}\sis\b|\W?\")[^\w]{0,6}"
            r"(?P<value>(?:[a-z]{3,8}[ ,]{1,2}){11}(?:(?:[a-z]{3,8}[ ,]{1,2}){3}){0,4}?[a-z]{3,8})"
            r"(?![ ,]{1,2}[a-z]|[a-z])",
            re.I,
        ),
    ),
)

# Names beside which a value is a secret: behind a strong name nearly any is one, behind a weak one what looks random.
_STRONG = (
    r"pass[_-]?word|passwd|pass[_-]?phrase|pwd|secret|credential"
    r"|(?:api|access|account|app|auth|client|deploy|encryption|license|master|private|service|shared|signing|ssh|storage|webhook)[_-]?key"
)
_WEAK = r"token|bearer|auth|signature|jwt|nonce|salt|otp|\bpin"
NAMES = rf"(?P<strong>{_STRONG})|(?P<weak>{_WEAK})"
NAME_STARTS = "[abcdejlmnopstw][acehilnoprstuw]"
NAME = lazy_pattern(rf"(?={NAME_STARTS})(?:{NAMES})", re.I)
TAIL = lazy_pattern(r"[A-Za-z0-9_.-]{0,64}")
# What a name goes on with when it speaks about a secret without holding one: token_count, secretName, tokenizer.
CLEAN_TAIL = lazy_pattern(
    r"s?[_.-]?(?:count|limit|usage|len|type|name|path|file|ur[il]|expir|ttl|max|min|budget|polic|ref|field|format|hint|require"
    r"|enabled|id\b|at\b|scheme|rotat|endpoint|manager|store|size|version|age\b|status|used|per|total|window|iz|ary|less"
    r"|method|mode|provider|source|column|label|prompt|length|strength|reset|class|error|help|or\b|ors\b|ent|z\b|n\b)",
    re.I,
)
SEPARATOR = lazy_pattern(
    rf"(?:{_QUOTE})?[^\S\n]{{0,8}}(?P<sign>:=|=>|=(?!=)|:(?![:/])|%3[Dd])[^\S\n]{{0,8}}(?:[|>][-+]?[^\S\n]{{0,4}}(?:\n|\\{{1,15}}n)\s{{1,32}})?"
)
QUOTED_VALUE = lazy_pattern(
    r"(?P<quote>(?P<depth>\\{0,15})(?P<sign>[\"'`]))"
    r"(?P<value>(?:(?P=depth)(?P=depth)\\(?P=sign)|(?!(?P=quote))(?:\\.|[^\n\\])){1,8192})"
)
BARE_VALUE = lazy_pattern(r"(?P<value>(?:\\(?![bfnrtu\"'`])|[^\s\\\"'`,;&<>(){}\[\]]){1,8192})")
ENV_VALUE = lazy_pattern(r"(?P<value>(?:\\(?![bfnrtu\"'`])|[^\s\\\"'`]){1,8192})")
FLAG = lazy_pattern(r"[^\S\n]{1,4}(?!-)")
CLEAN_VALUE = lazy_pattern(
    r"(?:true|false|null|none|nil|undefined|yes|no|on|off|required|optional|missing|invalid|expired|unknown|empty|redacted|hidden|str|string|int|bool"
    r"|number|any|object|bytes|text|bearer|basic|password|passwd|pwd|passphrase|credentials?|api_?key|user|input|expected|got|token|secret|value|default|auto|and|the|is|not|was|for|must|should"
    r"|\*+|x{3,}|\.{3,}|…|<[^=]{0,80}>?|\$[({]{0,2}[\w.:?-]{0,80}[)}]{0,2}|\{\{[^=]{0,80}|%[({]\w{0,40}[)}]?s?|%[sdr]"
    r"|\[masked[^=]{0,80}"
    r"|(?:process\.|os\.|sys\.)?(?:env|environ|getenv)[.:(\[][\w.\[\]()]{0,80}"
    r"|file:[^=]{0,200}|your[-_ ][\w-]{0,80})[.!?]?",
    re.I | re.S,
)
PLAIN_VALUE = lazy_pattern(r"[A-Za-z_.\-/]{1,23}|[0-9.,%]{1,19}|[A-Z_]+|-?[0-9.]+[a-z]{0,2}|0x[0-9A-Fa-f]{1,16}")
