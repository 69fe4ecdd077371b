"""The environment a hook gets: the agent's, without what would change other programs and without its secrets."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from functools import lru_cache

import msgspec

from tray.text.words import word_set

USER_PACKAGES = "PYTHONUSERBASE"  # in a hook's `env:` it lets Python load the user's own packages
INJECTIONS = word_set(
    # shells
    "BASHOPTS BASH_ENV BASH_LOADABLES_PATH BASH_XTRACEFD CDPATH ENV EXECIGNORE FPATH GLOBIGNORE IFS PROMPT_COMMAND "
    "PS4 SHELLOPTS ZDOTDIR "
    # interpreters and virtual machines
    "CLASSPATH COR_ENABLE_PROFILING COR_PROFILER CORECLR_ENABLE_PROFILING CORECLR_PROFILER DOTNET_STARTUP_HOOKS "
    "JAVA_TOOL_OPTIONS JDK_JAVA_OPTIONS NODE_OPTIONS NODE_PATH NODE_REPL_EXTERNAL_MODULE PHPRC "
    "PHP_INI_SCAN_DIR RUBYLIB RUBYOPT TCLLIBPATH _JAVA_OPTIONS __PYVENV_LAUNCHER__ "
    # the C library and what loads plug-ins by name
    "GCONV_PATH GETCONF_DIR GLIBC_TUNABLES HOSTALIASES LOCPATH MALLOC_TRACE NLSPATH OPENSSL_CONF OPENSSL_ENGINES "
    "OPENSSL_MODULES RESOLV_HOST_CONF "
    # tools that start another program
    "LESSCLOSE LESSOPEN MAKEFILES MAKEFLAGS"
)
INJECTION_PREFIXES = (
    "BASH_FUNC_",
    "CORECLR_PROFILER_",
    "COR_PROFILER_",
    "DYLD_",
    "GIT_",
    "HOOKTRAY_",  # ours: a hook must not need our place, and a project must not move it
    "LD_",
    "LUA_",
    "NPM_CONFIG_",
    "PERL",  # PERL5OPT, PERLLIB, and PERLIO_DEBUG, which has Perl write to a file
    "PYTHON",
)
SECRET_PARTS = word_set("AUTH AUTHORIZATION BEARER DSN JWT KEY KEYS PASS PASSPHRASE PAT PWD SSHPASS")
SECRET_ENDINGS = tuple(
    word_set(
        "ACCESSKEY APIKEY COOKIE CREDENTIAL ENCRYPTIONKEY MASTERKEY PASSWD PASSWORD PRIVATEKEY SECRET SECRETKEY "
        "SIGNINGKEY TOKEN WEBHOOK"
    )
)
HARMLESS = frozenset({"OLDPWD", "PWD", "SSH_AUTH_SOCK"})  # look like secrets, are places
FUNCTION = "() {"  # how old shells pass functions on
USERINFO = re.compile(r"://[^/\s:@]*:[^/\s@]+@")  # a URL with a password in it
NAMES = 1024  # names of variables that are remembered
WITHHELD = re.compile(r"; (\w+(?:, \w+)*) is withheld from it")
WORD = re.compile(rb"[A-Za-z_][A-Za-z0-9_]*")


class CleanEnvironment(msgspec.Struct, frozen=True, kw_only=True):
    """What the hook gets, and the names of the agent's variables that it does not get."""

    environment: Mapping[str, str]
    withheld: tuple[str, ...] = ()


def clean(
    agent_environment: Mapping[str, str], *, wanted: Collection[str], extra: Mapping[str, str]
) -> CleanEnvironment:
    """The agent's environment for a hook that asked for the secrets in `wanted`; `extra` is laid over it."""
    kept: dict[str, str] = {}
    withheld: list[str] = []
    for name, value in agent_environment.items():
        if not name or "=" in name or "\0" in name + value:
            continue  # no process can be started with such a one
        secret = is_secret(name) or ("://" in value and USERINFO.search(value) is not None)
        if is_injection(name) or value.startswith(FUNCTION) or (secret and name not in wanted):
            withheld.append(name)
        else:
            kept[name] = value
    kept.update(extra)
    return CleanEnvironment(environment=kept, withheld=tuple(sorted(set(withheld) - extra.keys())))


def mentioned_in(script: bytes, withheld: Collection[str]) -> tuple[str, ...]:
    """The withheld variables whose names are in this script."""
    words = set(WORD.findall(script))
    return tuple(sorted(name for name in withheld if name.encode(errors="surrogateescape") in words))


def add_withheld(cause: str, stderr: bytes, withheld: Collection[str]) -> str:
    """The cause of a failure, with the withheld variables that the hook named in what it wrote."""
    named = [name for name in mentioned_in(stderr, withheld) if not is_injection(name)]
    return f"{cause}; {', '.join(named)} is withheld from it" if named else cause


def withheld_in(cause: str) -> tuple[str, ...]:
    """The variables that such a cause names."""
    found = WITHHELD.search(cause)
    return tuple(found[1].split(", ")) if found else ()


# The names hardly change from event to event, and what they mean never does.
@lru_cache(maxsize=NAMES)
def is_injection(name: str) -> bool:
    """Whether a variable of this name would make another program do something else; no hook gets it."""
    upper = name.upper()
    return upper in INJECTIONS or upper.startswith(INJECTION_PREFIXES)


@lru_cache(maxsize=NAMES)
def is_secret(name: str) -> bool:
    """Whether a variable of this name looks like a secret, or names a host for the traffic."""
    upper = name.upper()
    if upper in HARMLESS:
        return False
    if upper.endswith("_PROXY") and upper != "NO_PROXY":
        return True
    parts = re.split(r"[^A-Z0-9]+", upper)
    return any(part in SECRET_PARTS or part.removesuffix("S").endswith(SECRET_ENDINGS) for part in parts)
