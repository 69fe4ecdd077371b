"""What secrets look like: the tables of redact, each pattern linear in the length of the text."""

from __future__ import annotations

import re
from collections.abc import Mapping

# Where a token may begin: not inside a word, unless the "word" is the end of an escape (\n, \u003d, %3D, \033[1;31m).
_START = (
    r"(?:(?<![A-Za-z0-9_-])|(?<=/bot)|(?<=\\[bfnrt])|(?<=\\u[0-9A-Fa-f]{4})|(?<=%[0-9A-Fa-f]{2})"
    r"|(?<=\[[mK])|(?<=[\[;][0-9][mK])|(?<=[\[;][0-9]{2}[mK])|(?<=[\[;][0-9]{3}[mK]))"
)
_W = r"[A-Za-z0-9_-]"

TOKENS: Mapping[str, str] = {
    "adafruit": r"aio_[A-Za-z0-9]{28}",
    "age": r"AGE-SECRET-KEY-1[0-9A-Z]{50,}",
    "airtable": r"pat[A-Za-z0-9]{14}\.[0-9a-f]{64}",
    "alibaba": r"LTAI[A-Za-z0-9]{20}",
    "anthropic": rf"sk-ant-{_W}{{16,}}",
    "artifactory": r"AKCp[A-Za-z0-9]{60,}",
    "atlassian": r"ATATT3[A-Za-z0-9_=-]{20,}",
    "aws": r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Za-z0-9])",
    "bitbucket": r"AT(?:BB|CTT3)[A-Za-z0-9_=-]{24,}",
    "brevo": r"xkeysib-[0-9a-f]{40,}",
    "buildkite": r"bk(?:ua|at|aj|ct)_[0-9a-f]{40}",
    "cerebras": r"csk-[A-Za-z0-9]{40,}",
    "circleci": r"CCI(?:PAT|PRJ)_[A-Za-z0-9_]{20,}",
    "clojars": r"CLOJARS_[a-z0-9]{60}",
    "crates_io": r"cio[A-Za-z0-9]{32}(?![A-Za-z0-9])",
    "databricks": r"dapi[0-9a-f]{32}",
    "deno": r"dd[pw]_[A-Za-z0-9]{36}",
    "digitalocean": r"do[opr]_v1_[0-9a-f]{40,}",
    "discord": rf"[MNO]{_W}{{23,27}}\.{_W}{{6}}\.{_W}{{27,}}",
    "docker": rf"dckr_(?:pat|oat)_{_W}{{20,}}",
    "doppler": r"dp\.(?:pt|st|ct|sa|scim|audit)\.[A-Za-z0-9._-]{30,}",
    "dropbox": rf"sl\.(?:u\.)?{_W}{{100,}}",
    "duffel": rf"duffel_(?:live|test)_{_W}{{40,}}",
    "dynatrace": r"dt0[a-z][0-9]{2}\.[A-Z0-9]{24}\.[A-Z0-9]{64}",
    "easypost": r"EZ[AT]K[A-Za-z0-9]{50,}",
    "figma": rf"figd_{_W}{{20,}}",
    "flutterwave": r"FLW(?:PUB|SEC)K_?(?:TEST)?-[A-Za-z0-9-]{12,}",
    "fly": r"(?:fm[12]r?_[A-Za-z0-9+/=_,-]{40,}|fo1_[A-Za-z0-9_-]{40,})",
    "github": r"(?:gh[opsru]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,})",
    "gitlab": r"gl(?:pat|dt|rt|cbt|ptt|ft|imt|agent|oas|soat|ffct)-[A-Za-z0-9_.-]{16,}",
    "google": rf"(?:AIza{_W}{{35}}|ya29\.{_W}{{20,}}|GOCSPX-{_W}{{20,}}|1//0{_W}{{30,}})",
    "grafana": r"gl(?:sa|c)_[A-Za-z0-9+/=_]{20,}",
    "groq": r"gsk_[A-Za-z0-9]{20,}",
    "heroku": rf"HRKU-{_W}{{36,}}",
    "huggingface": r"(?:hf|api_org)_[A-Za-z0-9]{30,}",
    "infracost": r"ico-[A-Za-z0-9]{32}",
    "jwt": rf"(?:ey[AIJ]|ewo){_W}{{8,}}+(?:\.{_W}*+){{2,4}}",
    "langsmith": r"lsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}",
    "linear": r"lin_(?:api|oauth)_[A-Za-z0-9]{20,}",
    "mailgun": r"key-[0-9a-f]{32}",
    "mapbox": rf"[ps]k\.eyJ{_W}{{30,}}\.{_W}{{20,}}",
    "neon": r"napi_[a-z0-9]{40,}",
    "netlify": r"nf[pcoub]_[A-Za-z0-9]{36}",
    "newrelic": r"NR(?:AK|II|JS)-[A-Za-z0-9-]{16,}",
    "notion": r"(?:ntn_[A-Za-z0-9]{30,}|secret_[A-Za-z0-9]{43})",
    "npm": r"npm_[A-Za-z0-9]{30,}",
    "nuget": r"oy2[a-z0-9]{43}",
    "onepassword": rf"ops_eyJ{_W}{{40,}}",
    "openai": rf"sk-(?=[A-Za-z_-]*+[0-9]){_W}{{20,}}",
    "openshift": rf"sha256~{_W}{{40,}}",
    "perplexity": r"pplx-[A-Za-z0-9]{30,}",
    "planetscale": r"pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_.-]{32,}",
    "posthog": r"ph[xs]_[A-Za-z0-9]{40,}",
    "postman": r"PMAK-[0-9a-f]{20,}-[0-9a-f]{20,}",
    "prefect": r"pn[ub]_[A-Za-z0-9]{36}",
    "pulumi": r"pul-[0-9a-f]{40}",
    "pypi": rf"pypi-{_W}{{40,}}",
    "readme": r"rdme_[a-z0-9]{70}",
    "render": r"rnd_[A-Za-z0-9]{28,}",
    "replicate": r"r8_[A-Za-z0-9]{30,}",
    "resend": r"re_[A-Za-z0-9]{8}_[A-Za-z0-9]{20,}",
    "rubygems": r"rubygems_[0-9a-f]{48}",
    "sendgrid": rf"SG\.{_W}{{16,}}+\.{_W}{{16,}}",
    "sentry": r"sntry[su]_[A-Za-z0-9+/=_-]{30,}",
    "settlemint": r"sm_(?:aat|pat|sat)_[A-Za-z0-9]{16,}",
    "shippo": r"shippo_(?:live|test)_[0-9a-f]{40}",
    "shopify": r"shp(?:at|ca|pa|ss)_[0-9A-Fa-f]{32}",
    "slack": r"(?:xox[a-z](?:\.xox[a-z])?-[A-Za-z0-9-]{10,}|xapp-[0-9]-[A-Za-z0-9-]{10,})",
    "sonar": r"sq[uap]_[0-9a-f]{40}",
    "sourcegraph": r"sgp_(?:[0-9a-f]{16}_|local_)?[0-9a-f]{40}",
    "square": rf"sq0[a-z]{{3}}-{_W}{{20,}}",
    "stripe": r"(?:[rs]k_(?:live|test)_[A-Za-z0-9]{16,}|whsec_[A-Za-z0-9+/=]{24,})",
    "supabase": r"sb(?:p_|_secret_)[A-Za-z0-9_-]{20,}",
    "tailscale": r"tskey-[a-z]{2,12}-[A-Za-z0-9-]{12,}",
    "telegram": rf"[0-9]{{8,10}}:AA{_W}{{33}}",
    "together": rf"tgp_v1_{_W}{{40,}}",
    "trello": r"ATTA[0-9A-Fa-f]{60,}",
    "twilio": r"(?:SK|AC)[0-9a-f]{32}(?![0-9A-Za-z])",
    "twitch": r"oauth:[a-z0-9]{30}(?![a-z0-9])",
    "typeform": rf"tfp_{_W}{{40,}}",
    "vault": rf"hv[bsr]\.{_W}{{20,}}",
    "xai": r"xai-[A-Za-z0-9]{30,}",
    "yandex": rf"AQVN{_W}{{35,38}}",
}
# With what any of them begins: most places of a text are passed over at a glance.
TOKEN_STARTS = "[0-9ACEFGHLMNOPSabcdefghiklnoprstwxy]"
TOKEN = f"(?={TOKEN_STARTS}){_START}(?:{'|'.join(f'(?P<{kind}>{shape})' for kind, shape in TOKENS.items())})"

_QUOTE = r"\\{0,15}[\"'`]"  # JSON in JSON in JSON: each level doubles the backslashes, and adds one
_IS = rf"(?:(?:{_QUOTE})?\s{{0,4}}[:=]\s{{0,4}}(?:{_QUOTE})?|{_QUOTE}\s{{0,4}},\s{{0,4}}{_QUOTE})"
_PEM_BODY = (
    r"(?:(?:[^-]|-(?!----))*+-----END [A-Z0-9 ]{0,40}-----|(?=[\s\\]*+[A-Za-z0-9+/=]{16})[A-Za-z0-9+/=\s\\]*+)"
)

# Each has the secret in its group `value`, and words in lower case without any of which it need not be tried.
SHAPES: tuple[tuple[str, tuple[str, ...], str], ...] = (
    (
        "private key",
        ("private",),
        rf"(?P<value>-----BEGIN [A-Z0-9 ]{{0,40}}PRIVATE KEY[A-Z ]{{0,10}}-----{_PEM_BODY})",
    ),
    (
        "private key",
        ("private-lines",),
        r"Private-Lines: [0-9]{1,4}(?P<value>(?:\s|\\[nr])++[A-Za-z0-9+/=\s\\]++)",
    ),
    ("url password", ("://",), r"://[^\s/@:\"'<>]{0,256}:(?P<value>[^\s/\"'<>]{1,512})@"),
    ("url password", ("://",), rf"://(?P<value>{_W}{{20,256}}+)@"),
    (
        "webhook",
        ("hooks.slack.com",),
        r"hooks\.slack\.com/(?:services|workflows|triggers)/(?P<value>[A-Za-z0-9/_-]{16,})",
    ),
    ("webhook", ("/webhooks/",), rf"/api/webhooks/[0-9]{{6,24}}/(?P<value>{_W}{{30,}})"),
    (
        "signature",
        ("sig=", "signature="),
        r"(?i)[?&](?:sig|signature|X-Amz-Signature|X-Goog-Signature)=(?P<value>[A-Za-z0-9%+/=_-]{16,})",
    ),
    ("azure", ("q~",), rf"{_START}(?P<value>[\w~.]{{3}}[0-9]Q~[\w~.-]{{31,34}})"),
    ("terraform", (".atlasv1.",), rf"(?P<value>[A-Za-z0-9]{{14}}\.atlasv1\.{_W}{{40,80}})"),
    (
        "netrc password",
        ("machine",),
        (
            r"machine\s{1,8}\S{1,256}(?:\s|\\n){1,8}login(?:\s|\\n){1,8}\S{1,256}?(?:\s|\\n){1,8}password(?:\s|\\n){1,8}"
            r"(?P<value>(?:(?!\\n)[^\s\"']){1,256})"
        ),
    ),
    (
        "pgpass",
        ("pgpass",),
        r"(?<![\w.])[\w.*-]{1,128}:(?:[0-9]{1,5}|\*):[\w.*-]{1,64}:[\w.*-]{1,64}:(?P<value>[^\s\"'\\:]{1,256})",
    ),
    (
        "sql password",
        ("password", "identified"),
        (
            r"(?i)\b(?:password(?:\s{1,4}for\s{1,4}[^\s=]{1,128}\s{0,4}=)?|identified(?:\s{1,4}with\s{1,4}[\w'\"]{1,64})?\s{1,4}(?:by|as)(?:\s{1,4}(?:password|values))?)"
            r"(?:\s{1,4}|\s{0,4}\(\s{0,4})(?P<q>\\{0,15}['\"])(?!\[masked)(?P<value>(?:(?!(?P=q))[^\n]){1,256})(?P=q)"
        ),
    ),
    (
        "xml password",
        ("value=",),
        (
            r"(?i)(?:key|name|type)=\\{0,15}\"[^\"\n]{0,64}?(?:password|passwd|pwd|secret|token)\\{0,15}\"\s{1,8}value=\\{0,15}\"(?!\[masked)"
            r"(?P<value>[^\"\\\n]{1,256})"
        ),
    ),
    (
        "chpasswd",
        ("chpasswd",),
        r"(?<![\w.-])[\w.-]{1,64}:(?!\$)(?P<value>[^\s\"'|\\]{1,256})(?:\\{0,15}[\"'])?\s{0,4}\|\s{0,4}(?:sudo\s{1,4}(?:-\S{1,8}\s{1,4}){0,4})?chpasswd",
    ),
    (
        "chpasswd",
        ("chpasswd",),
        r"chpasswd[^\n\\]{0,64}<<-?\s{0,4}[\"'\\]{0,2}\w{1,32}[\"']?(?:\n|\\n)\s{0,8}[\w.-]{1,64}:(?P<value>[^\s\"'\\]{1,256})",
    ),
    (
        "piped password",
        ("stdin", "sudo", "with-token", "passphrase-fd", "secret", "login -", "insert"),
        (
            r"\b(?:echo|printf)\s{1,4}(?:-\w{1,2}\s{1,4}){0,2}(?:\\{0,15}[\"']%s(?:\\{1,15}n)?\\{0,15}[\"']\s{1,4})?"
            r"(?P<q>\\{0,15}[\"'])?(?![$<%{*-]|\[masked)(?P<value>(?(q)(?:(?!(?P=q))[^\n]){1,256}|[^\s\"'\\;|&<>()]{1,256}))(?(q)(?P=q))"
            r"\s{0,4}\|[^\n|;]{0,160}?(?:--password-stdin|--stdin\b|sudo\s(?:-\w{1,4}\s){0,3}-\w{0,4}S|--with-token|--passphrase-fd|stdin\b"
            r"|secrets?\s(?:put|set|create|add)|secret-tool\sstore|login\s-(?=\s|$|[\"'])|pass\sinsert)"
        ),
    ),
    (
        "curl password",
        ("-u",),
        r"\s(?:-u|--user)[\s=]\s{0,4}[\"']?(?![+$])[^\s:\"'@/]{1,128}:(?!\d{1,7}(?![^\s]))(?P<value>(?![$%])[^\s\"'\\]{3,512})",
    ),
    (
        "authorization",
        ("bearer",),
        r"[Bb]earer(?:\s|%20|\+){1,4}(?P<value>(?=[A-Za-z._~+/=-]*+[0-9])[A-Za-z0-9._~+/=-]{12,})",
    ),
    (
        "authorization",
        ("authorization",),
        (
            rf"(?i)authorization{_IS}"
            r"(?P<value>(?:(?:bearer|basic|token|digest|apikey|negotiate|aws4-hmac-sha256)\s++[^\r\n\"'\\]{4,}|[^\s\"'\\]*[0-9][^\s\"'\\]*))"
        ),
    ),
    (
        "authorization",
        ("auth",),
        rf"\bauth\s?[=:]\s?[\w.]{{0,32}}\(\s{{0,4}}{_QUOTE}[^\n\"'\\]{{1,128}}{_QUOTE},\s{{0,4}}{_QUOTE}(?P<value>[^\n\"'\\]{{1,256}})",
    ),
    (
        "cookie",
        ("cookie",),
        rf"(?i)cookie{_IS}(?P<value>[^\s=;,\"'\\:]{{1,256}}=[^\r\n\"'\\]++)",
    ),
    (
        "seed phrase",
        ("seed", "mnemonic", "phrase", "words"),
        (
            r"(?i)(?:seed|mnemonic|phrase|words)(?:\W{0,4}[:=]|[^\w\n]{0,3}\sis\b|\W?\")[^\w]{0,6}"
            r"(?P<value>(?:[a-z]{3,8}[ ,]{1,2}){11}(?:(?:[a-z]{3,8}[ ,]{1,2}){3}){0,4}?[a-z]{3,8})"
            r"(?![ ,]{1,2}[a-z]|[a-z])"
        ),
    ),
)

# Names beside which a value is a secret: behind a strong name nearly any is one, behind a weak one what looks random.
_STRONG = (
    r"pass[_-]?word|passwd|pass[_-]?phrase|pass[_-]?code|passwort|pwd|secret|credential|contrase[nñ]a|kennwort|senha"
    r"|mot[ _-]de[ _-]passe|密码|密碼|口令|密钥|密鑰|令牌|пароль|パスワード|비밀번호"
    r"|(?<=[a-z0-9_-])(?<!by)(?<!com)(?<!tres)(?<!sur)(?<!over)(?<!under)(?<!im)pass(?![a-z])"
    r"|(?:api|access|account|app|auth|client|deploy|encryption|license|master|private|service|shared|signing|ssh|storage|webhook)[_-]?key"
)
# Words after which a `key` is not a secret, and the end of `_KEY`, `-key` and `Key` behind other words.
PUBLIC_OWNERS = [
    "any",
    "arrow",
    "cache",
    "composite",
    "config",
    "dict",
    "env",
    "event",
    "foreign",
    "group",
    "hash",
    "host",
    "hot",
    "idempotency",
    "index",
    "issue",
    "item",
    "json",
    "lookup",
    "map",
    "message",
    "object",
    "partition",
    "press",
    "primary",
    "public",
    "query",
    "registry",
    "row",
    "routing",
    "search",
    "shard",
    "sort",
    "table",
    "translation",
    "unique",
]
_OWNED_KEY = (
    "".join(rf"(?<!{owner})(?<!{owner}[_-])" for owner in PUBLIC_OWNERS)
    + r"(?:(?<=[a-z0-9][_-])key|(?-i:(?<=[a-z0-9])Key))(?![a-z])"
)
_WEAK = rf"token|bearer|auth|signature|jwt|nonce|salt|otp|\bpin(?!e)|{_OWNED_KEY}"
_BARE = (
    r"(?<![a-z0-9_-])pass(?![a-z])"  # also a word of test results: behind `=`, as an option, in quotes it is a name
)
NAMES = rf"(?P<strong>{_STRONG})|(?P<bare>{_BARE})|(?P<weak>{_WEAK})"
NAME_STARTS = "[abcdejklmnopstw][acehilnoprstuw]"
NAME = rf"(?i)(?={NAME_STARTS}|[^\x00-\x7f])(?:{NAMES})"
TAIL = re.compile(r"[A-Za-z0-9_.-]{0,64}")
# What a name goes on with when it speaks about a secret without holding one: token_count, secretName, tokenizer.
CLEAN_TAIL = (
    r"(?i)s?[_.-]?(?:count|limit|usage|len|type|name|path|file|ur[il]|expir|ttl|max|min|budget|polic|ref|field|format|hint|require"
    r"|enabled|id\b|at\b|scheme|rotat|endpoint|manager|store|size|version|age\b|status|used|per|total|window|iz|ary|less"
    r"|method|mode|provider|source|column|label|prompt|length|strength|reset|class|error|help|or\b|ors\b|ent|z\b|n\b)"
)
# The type between a name and its text: `password: str | None = "x"`, of Go `password string = "x"`.
_TYPE = (
    r"(?:\??:[^\S\n]{0,4}|[^\S\n])(?i:(?:[\w.]{1,24}\[|&(?:'[a-z]{1,16} )?)?(?:secret)?(?:str|string|bytes)\]?\??"
    rf"(?: \| (?:none|null|undefined))?)[^\S\n]{{0,4}}(?==[^\S\n]{{0,8}}(?:SecretStr\()?{_QUOTE})"
)
SEPARATOR = (
    rf"(?:{_QUOTE}\]?)?(?:{_TYPE})?[^\S\n]{{0,8}}(?P<sign>>(?=[^<>\n]{{1,512}}</)|:=|=>|=(?!=)|:(?![:/])|[\uff1a是为]|%3[Dd])[^\S\n]{{0,8}}(?:[|>][-+]?[^\S\n]{{0,4}}(?:\n|\\{{1,15}}n)\s{{1,32}})?"
    rf"(?:(?:SecretStr\(|[bru@])(?={_QUOTE}))?"
)
QUOTED_VALUE = (
    r"(?P<quote>(?P<depth>\\{0,15})(?P<sign>[\"'`]))"
    r"(?P<value>(?:(?P=depth)(?P=depth)\\(?P=sign)|(?!(?P=quote))(?:\\.|[^\n\\])){1,8192})"
)
BARE_VALUE = re.compile(r"(?P<value>(?:\\(?![bfnrtu\"'`])|[^\s\\\"'`,;&<>(){}\[\]]){1,8192})")
ENV_VALUE = re.compile(r"(?P<value>(?:\\(?![bfnrtu\"'`])|[^\s\\\"'`]){1,8192})")
FLAG = re.compile(r"[^\S\n]{1,4}(?!-)")
_GAP = r"(?:\s|\\{1,15}n){0,32}"
# What comes before a name, and what leads from it to a text: `fill("#password", "x")`, `env.DB_PASSWORD || "x"`.
LEADS = tuple(
    (re.compile(rf"(?:{before})\s*[^,;{{)\n]*\Z", re.I), re.compile(rf"{lead}{_GAP}(?={_QUOTE})"))
    for before, lead in (
        (r"\.(?:fill|type)\(", r"[\"'`\]\\]{1,40}\)?\s{0,4},"),
        (r"(?:env|\benviron\.get|\benv\.fetch|\bsetdefault|\bdefine)\(", rf"{_QUOTE}\s{{0,4}},"),
        (r"env", r"[\"'`\])\\]{0,40}\s{0,4}(?:\|\||\?[?:]|\bor\b)"),
    )
)
# The same whatever is before the name: `name: X\n value: x`, `get("#password").fill("x")`, `setPassword("x")`.
BESIDE = (
    rf"(?:{_QUOTE}\s{{0,4}},|(?:{_QUOTE})?(?:\n|\\{{1,15}}n)){_GAP}(?:{_QUOTE})?value(?:{_QUOTE})?\s{{0,4}}[:=]\s{{0,4}}"
    rf"|[\"'`\]\\]{{1,40}}\)\.(?:fill|type|send_?[kK]eys|setValue|press_?[sS]equentially)\(\s{{0,4}}(?={_QUOTE})"
    rf"|(?:(?<=set_password)|(?<=setPassword))\((?={_QUOTE})"
)
MASK = re.compile(r"\[masked [\w .-]{1,40} [0-9a-f]{12}\]")
CLEAN_VALUE = (
    r"(?is)(?:true|false|null|none|nil|undefined|yes|no|on|off|ok|passed|failed|success|required|optional|missing|invalid|expired|unknown|empty|redacted|hidden|(?:secret)?(?:str|string|bytes)|int|bool"
    r"|number|any|object|text|include|same-origin|omit|inherit|read|write|bearer|basic|password|passwd|pwd|passphrase|(?:request)?credentials?|api_?key|user|input|expected|got|token|secret|value|default|auto|and|the|is|not|was|for|must|should"
    r"|\*+|x{3,}|\.{3,}|…|<[^=]{0,80}>?|\$[({]{0,2}[\w.:?-]{0,80}[)}]{0,2}|\{\{[^=]{0,80}|%[({]\w{0,40}[)}]?s?|%[sdr]"
    r"|\[masked[^=]{0,80}"
    r"|(?:process\.|os\.|sys\.)?(?:env|environ|getenv)[.:(\[][\w.\[\]()]{0,80}"
    r"|file:[^=]{0,200}|your[-_ ][\w-]{0,80})[.!?]?"
)
PLAIN_VALUE = re.compile(r"[A-Za-z_.\-/]{1,23}|[0-9.,%]{1,19}|[A-Z_]+|-?[0-9.]+[a-z]{0,2}|0x[0-9A-Fa-f]{1,16}")
