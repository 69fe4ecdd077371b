"""What the one-shot engine takes for itself from the environment of the agent that started it: places and language.

All else is for hooks only. Left in place, it would tell our own libraries whom to trust and what to load
(SSL_CERT_FILE, OPENSSL_CONF), and an agent could interfere before a hook runs.
"""

from __future__ import annotations

from collections.abc import MutableMapping

OWN_VARIABLES = """
APPDATA COMSPEC HOME HOMEDRIVE HOMEPATH HOOKTRAY_HOME LANG LANGUAGE LOCALAPPDATA LOGNAME PATHEXT PROGRAMDATA
SYSTEMDRIVE SYSTEMROOT TEMP TMP TZ USER USERNAME USERPROFILE WINDIR XDG_CONFIG_HOME XDG_DATA_HOME XDG_RUNTIME_DIR
XDG_STATE_HOME
"""


def strip_environment(environment: MutableMapping[str, str]) -> dict[str, str]:
    """Returns all variables, for the hooks; only our own stay in `environment`."""
    variables, own = dict(environment), frozenset(OWN_VARIABLES.split())
    for name in variables:
        if name.upper() not in own and not name.startswith("LC_"):
            del environment[name]
    return variables
