"""Lists the arguments of programs that are secrets, from the programs' manuals. Each pattern is linear."""

from __future__ import annotations

import re

# One argument: a word or a quoted text. Variables, placeholders, masks and options are not secrets.
_ARG = (
    r"(?P<q>\\{0,15}[\"'])?(?![$<%{*-]|\[masked)"
    r"(?P<value>(?(q)(?:(?!(?P=q))[^\n]){1,512}|[^\s\"'\\;|&<>()]{1,512}))"
)
_WORD = r"(?:\\{0,15}[\"'])?[\w.@/:+-]{1,128}(?:\\{0,15}[\"'])?"  # an argument that is passed over
_NO_PORT = r"(?![0-9]{1,5}(?![^\s]))(?![0-9]{1,5}:)"
COMMAND_LENGTH = 2000  # characters of a command that are searched for secrets
COMMAND_END = re.compile(r"[\n;|]|&&|\\{1,15}n")


def _option(names: str, *, attached: bool = False, arg: str = _ARG) -> str:
    """Returns a pattern of an option's argument, behind white space or `=`; with `attached` behind its name."""
    return rf"(?<!\S)(?:{names})" + (arg if attached else rf"(?:\s{{1,4}}|=){arg}")


# `config set NAME value`: the name of a secret, not of a setting about one.
_SET_NAME = (
    r"\s(?![\w./:-]*(?i:helper|path|file|url|type|user|name|count|limit|expir|store|provider|format|enabled)(?![\w.:-]))"
    r"[\w./:-]{0,64}(?i:secret|token|passw|_pass|-pass|api_?key|access_?key|private_?key)[\w.-]{0,32}\s{1,4}" + _ARG
)

# HTTPie and xh.
_HTTP_AUTH = rf"(?<!\S)(?:-a|--auth)[\s=]{{1,4}}[\w.@-]{{1,64}}:{_ARG}"

# Options and arguments that hold a secret: a word of the command, its program (and subcommand), the argument. Each
# command is searched up to its end.
COMMANDS: tuple[tuple[str, str, str], ...] = tuple(
    (word, rf"(?<![\w.-])(?:{program})(?![\w-])", argument)
    for word, program, argument in (
        ("mysql", r"mysql\w*", _option("-p", attached=True)),
        ("maria", r"mariadb(?:-\w+)?|mariabackup", _option("-p", attached=True)),
        ("mycli", "mycli", _option("-p", attached=True)),
        ("sshpass", "sshpass", rf"(?<!\S)-p\s{{0,4}}{_ARG}"),
        ("login", "login", _option("-p", arg=_NO_PORT + _ARG)),
        (
            "login",
            r"(?:vault|cargo|bw|npm|op|hcp|snyk|railway)\s{1,4}(?:login|auth)",
            rf"\s(?:{_WORD}\s{{1,4}})?{_ARG}(?=\s*(?:$|[\"'\\]))",
        ),
        ("redis", r"redis-(?:cli|benchmark)|valkey-cli|keydb-cli", _option("-a")),
        ("redis", r"redis-cli|valkey-cli", rf"(?i:(?<!\S)auth)\s{{1,4}}(?:default\s{{1,4}})?{_ARG}"),
        ("ldap", r"ldap\w+", rf"(?<!\S)-(?:[a-zA-Z]{{0,6}}w|s|a)\s{{1,4}}{_ARG}"),
        ("sqlcmd", "sqlcmd", rf"(?<!\S)-P\s{{0,4}}{_ARG}"),
        ("bcp", "bcp", rf"(?<!\S)-P\s{{0,4}}{_ARG}"),
        ("osql", "osql", rf"(?<!\S)-P\s{{0,4}}{_ARG}"),
        ("mosquitto", r"mosquitto_\w+", _option("-P")),
        ("ipmi", r"ipmi\w+", _option("-P")),
        ("zip", "zip|unzip|zipcloak", rf"(?<!\S)-P\s{{0,4}}{_ARG}"),
        ("7z", "7z[az]?|7zz|p7zip", _option("-p", attached=True)),
        ("rar", "rar|unrar", _option("-h?p", attached=True)),
        ("mongo", r"mongo\w*", _option("-p", arg=_NO_PORT + _ARG)),
        ("cqlsh", "cqlsh", _option("-p")),
        ("beeline", "beeline", _option("-p")),
        ("conan", r"conan\s{1,4}user", _option("-p")),
        ("twine", r"twine\s{1,4}upload", _option("-p")),
        ("poetry", r"poetry\s{1,4}publish", _option("-p")),
        (
            "poetry",
            r"poetry\s{1,4}config",
            rf"\s(?:http-basic\.\S{{1,64}}\s{{1,4}}{_WORD}|pypi-token\.\S{{1,64}})\s{{1,4}}{_ARG}",
        ),
        ("rdesktop", "rdesktop", _option("-p")),
        ("freerdp", r"[xw]l?freerdp3?", rf"(?<!\S)/p:{_ARG}"),
        ("cmdkey", "cmdkey", rf"(?i:/pass:){_ARG}"),
        ("net", r"net(?:\.exe)?\s{1,4}use", rf"\s\\\\\S{{1,128}}\s{{1,4}}(?!/){_ARG}"),
        ("useradd", "useradd", _option("-p")),
        ("usermod", "usermod", _option("-p")),
        ("snmp", r"snmp\w+", _option("-[AX]")),
        (
            "htpasswd",
            "htpasswd",
            rf"(?<!\S)-[A-Za-z]*(?:n[A-Za-z]*b|b[A-Za-z]*n)[A-Za-z]*\s{{1,4}}{_WORD}\s{{1,4}}{_ARG}",
        ),
        (
            "htpasswd",
            "htpasswd",
            rf"(?<!\S)-(?![A-Za-z]*n)[A-Za-z]*b[A-Za-z]*\s{{1,4}}(?:-\w\s{{1,4}})?{_WORD}\s{{1,4}}{_WORD}\s{{1,4}}{_ARG}",
        ),
        ("openssl", "openssl", rf"(?<![\w-])pass:{_ARG}"),
        ("openssl", "openssl", _option("-[kK]|-passwd")),
        (
            "keytool",
            "keytool|jarsigner|apksigner",
            _option(r"-(?:dest|src)?(?:store|key)pass(?:wd)?|--ks-pass|--key-pass"),
        ),
        ("smb", r"smb\w+", rf"(?<!\S)(?:-U|--user)[\s=]{{0,4}}{_WORD}%{_ARG}"),
        ("lftp", "lftp", rf"(?<!\S)-u\s{{0,4}}{_WORD},{_ARG}"),
        ("sqlplus", r"sqlplus|sqlldr|expdp|impdp|rman", r"\s[\w$#]{1,64}/(?P<value>[^\s@/\"']{2,128})@"),
        ("http", r"https?(?=\s)", _HTTP_AUTH),
        ("xh", r"xhs?(?=\s)", _HTTP_AUTH),
        ("doppler", r"doppler\s{1,4}secrets\s{1,4}set", rf"\s[A-Z][A-Z0-9_]{{1,64}}\s{{1,4}}{_ARG}"),
        ("env:set", r"env:set", _SET_NAME),
        ("ncftp", r"ncftp\w*", _option("-p")),
        ("composer", r"composer\s{1,4}config", rf"\shttp-basic\.\S{{1,64}}\s{{1,4}}{_WORD}\s{{1,4}}{_ARG}"),
        ("secret", r"secrets?\s{1,4}(?:set|create|put|add)", _option("-b", attached=True)),
        ("sudo", "sudo", rf"(?<!\S)-\w{{0,4}}S[^\n|;]{{0,120}}?<<<\s{{0,4}}{_ARG}"),
        ("stdin", r"[\w-]{0,32}stdin", rf"<<<\s{{0,4}}{_ARG}"),
        ("wget", "wget", _option("--(?:http-|ftp-|proxy-)?password")),
        (
            "creds",
            r"skopeo|podman|buildah|oras|crane|ctr",
            rf"--(?:src-|dest-)?creds[\s=]{{1,4}}[\w.@-]{{1,64}}:{_ARG}",
        ),
        ("curl", "curl", rf"(?<!\S)-[A-Za-z]{{0,8}}[uU]\s{{0,4}}(?:\\{{0,15}}[\"'])?[\w.@-]{{1,64}}:{_ARG}"),
        ("env", "ENV", _SET_NAME),
        (
            "user",
            r"etcdctl|http|curl|consul|influx",
            rf"(?<!\S)--(?:proxy-)?user[\s=]{{1,4}}(?:\\{{0,15}}[\"'])?[\w.@-]{{1,64}}:{_ARG}",
        ),
        ("nuget", "nuget", _option("-k|-[Aa]pi[Kk]ey|--api-key")),
        (
            "rabbitmq",
            r"rabbitmqctl\s{1,4}(?:add_user|change_password|authenticate_user)",
            rf"\s{_WORD}\s{{1,4}}{_ARG}",
        ),
        ("samba", r"samba-tool\s{1,4}user", rf"\s(?:create|add)\s{{1,4}}{_WORD}\s{{1,4}}{_ARG}"),
        ("nmcli", "nmcli", rf"\s(?:password|wifi-sec\.psk|802-11-wireless-security\.psk)\s{{1,4}}{_ARG}"),
        ("wpa_", "wpa_passphrase", rf"\s{_WORD}\s{{1,4}}{_ARG}"),
        ("ssh-keygen", "ssh-keygen", _option("-[NP]")),
        ("gpg", "gpg2?", _option("--passphrase")),
        ("security", r"security\s{1,4}(?:add|create|unlock|set)-[\w-]+", _option("-[wp]")),
        (
            "secret",
            r"secrets?\s{1,4}(?:set|create|put|add)",
            _option("--body|-b|--value|-v|--secret-string|--data-value"),
        ),
        (
            "secret",
            r"secrets?\s{1,4}(?:set|create|put|add|import)",
            rf"(?<!\S)(?:\\{{0,15}}[\"'])?[A-Za-z_][\w.-]{{0,64}}={_ARG}",
        ),
        ("secret", r"secretsmanager\s{1,4}[\w-]+", _option("--secret-string|--secret-binary")),
        ("secret", r"create\s{1,4}secret", rf"--from-literal[\s=]{{1,4}}(?:\\{{0,15}}[\"'])?[\w.-]{{1,128}}={_ARG}"),
        ("secret", r"create\s{1,4}secret", _option("--docker-password")),
        ("securestring", "(?i:ConvertTo-SecureString)", rf"(?<=tring)\s+(?:-\w+\s+){{0,3}}(?=[\\\"']){_ARG}"),
        ("securestring", r"put-parameter", _option("--value")),
        ("vault", r"vault\s{1,4}(?:kv\s{1,4})?(?:put|patch|write)", rf"\s[A-Za-z_][\w.-]{{0,64}}=(?!@){_ARG}"),
        ("pulumi", r"pulumi\s{1,4}config\s{1,4}set", rf"--secret\s{{1,4}}{_WORD}\s{{1,4}}{_ARG}"),
        ("set", r"(?:config(?:ure)?\s{1,4})?set(?:x|env)?", _SET_NAME),
        ("config", "config", _SET_NAME),
        ("chpasswd", r"chpasswd", rf"<<<\s{{0,4}}(?:\\{{0,15}}[\"'])?[\w.-]{{1,64}}:{_ARG}"),
    )
)
