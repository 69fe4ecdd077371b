"""What of the agent's environment a hook gets to see (decision 18)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from every import every

from tray.execution.environment import clean, mentioned_in

INJECTIONS = """
    LD_PRELOAD LD_LIBRARY_PATH DYLD_INSERT_LIBRARIES PYTHONPATH PYTHONSTARTUP PYTHONHOME NODE_OPTIONS
    NODE_PATH BASH_ENV ENV BASH_FUNC_ls%% SHELLOPTS BASHOPTS PERL5LIB PERL5OPT PERLLIB PERLIO_DEBUG RUBYOPT RUBYLIB
    GIT_DIR
    GIT_SSH_COMMAND GCONV_PATH IFS PS4 PROMPT_COMMAND JAVA_TOOL_OPTIONS _JAVA_OPTIONS JDK_JAVA_OPTIONS
    CLASSPATH ZDOTDIR LUA_INIT OPENSSL_CONF npm_config_script_shell DOTNET_STARTUP_HOOKS HOOKTRAY_HOME
    HOOKTRAY_RUN LESSOPEN MAKEFLAGS
    LD_AUDIT DYLD_LIBRARY_PATH PYTHONINSPECT PYTHONUSERBASE PYTHONBREAKPOINT PERL5DB LUA_PATH PHP_INI_SCAN_DIR
    GIT_EXTERNAL_DIFF GIT_PAGER GIT_EDITOR GIT_EXEC_PATH GIT_TEMPLATE_DIR LOCPATH NLSPATH HOSTALIASES FPATH CDPATH
    BASH_LOADABLES_PATH MAKEFILES GLIBC_TUNABLES MALLOC_TRACE HOOKTRAY_RUN_AS BASH_FUNC_cut%%
"""
SECRETS = """
    OPENAI_API_KEY ANTHROPIC_API_KEY OPENAI_APIKEY AWS_SECRET_ACCESS_KEY AWS_SESSION_TOKEN GITHUB_TOKEN
    GH_TOKEN CLAUDE_CODE_MESSAGING_TOKEN GITHUB_PAT NPM_AUTH PGPASSWORD MYSQL_PWD DB_PASSWD DB_PASS
    SLACK_WEBHOOK SLACK_WEBHOOK_URL GOOGLE_APPLICATION_CREDENTIALS SESSION_COOKIE SENTRY_DSN JWT_SECRET
    AUTHTOKEN apiKey GPG_PASSPHRASE KEY SSH_KEYS SSHPASS HTTPS_PROXY http_proxy ALL_PROXY
    STRIPE_SECRET JWT SIGNING_KEY MY_PASSPHRASE X_AUTH BASIC_CREDENTIALS
"""
HARMLESS = """
    PATH HOME LANG LC_ALL USER SHELL TERM TMPDIR PWD OLDPWD DISPLAY XAUTHORITY SSH_AUTH_SOCK KEYBOARD
    XKB_KEYBOARD MONKEY HOTKEYS_FILE AUTHOR KEYRING TOKENIZERS_PARALLELISM COMPASS BYPASS DATABASE_URL
    NO_PROXY CLAUDE_PROJECT_DIR CLAUDECODE VIRTUAL_ENV LIBRARY_PATH SystemRoot PATHEXT PASSWORDLESS
"""


@every("name", INJECTIONS.split())
def test_a_variable_that_changes_other_programs_never_reaches_a_hook(name: str) -> None:
    cleaned = clean({name: "x", "HOME": "/h"}, wanted=[name], extra={})

    assert cleaned.environment == {"HOME": "/h"}
    assert cleaned.withheld == (name,)


@every("name", SECRETS.split())
def test_a_secret_reaches_only_the_hook_that_lists_it(name: str) -> None:
    without = clean({name: "x"}, wanted=[], extra={})
    listed = clean({name: "x"}, wanted=[name], extra={})

    assert (without.environment, without.withheld) == ({}, (name,))
    assert (listed.environment, listed.withheld) == ({name: "x"}, ())


@every("name", HARMLESS.split())
def test_an_ordinary_variable_stays(name: str) -> None:
    cleaned = clean({name: "x"}, wanted=[], extra={})

    assert cleaned.environment == {name: "x"}
    assert cleaned.withheld == ()


def test_a_url_with_a_password_in_it_is_a_secret() -> None:
    agent = {"DATABASE_URL": "postgres://me:hunter2@db/x", "SITE": "https://example.com/a:b@c"}

    assert clean(agent, wanted=[], extra={}).withheld == ("DATABASE_URL",)


def test_a_function_of_an_old_shell_is_withheld_whatever_its_name() -> None:
    assert clean({"x": "() { :; }; echo no"}, wanted=["x"], extra={}).environment == {}


def test_the_promised_variables_come_last_and_win() -> None:
    cleaned = clean({"A": "agent", "API_KEY": "k"}, wanted=[], extra={"A": "ours", "API_KEY": "promised"})

    assert cleaned.environment == {"A": "ours", "API_KEY": "promised"}
    assert cleaned.withheld == ()


def test_a_variable_that_no_process_could_be_started_with_is_dropped() -> None:
    agent = {"": "x", "A=B": "x", "C": "a\0b", "D": "d"}

    assert clean(agent, wanted=[], extra={}).environment == {"D": "d"}


def test_a_script_is_said_to_mention_the_withheld_names_that_stand_in_it() -> None:
    script = b'curl -H "$GITHUB_TOKEN" ${LD_PRELOAD} $MY_GITHUB_TOKENS \xff\xfe'

    assert mentioned_in(script, ("GITHUB_TOKEN", "TOKENS", "LD_PRELOAD", "API_KEY")) == ("GITHUB_TOKEN", "LD_PRELOAD")


@pytest.mark.skipif(sys.platform == "win32", reason="the Python that wine runs reads no such variable")
def test_a_python_hook_does_not_load_a_module_that_the_agent_put_in_its_way(tmp_path: Path) -> None:
    (tmp_path / "json.py").write_text("raise SystemExit(66)")
    argv = [sys.executable, "-c", "import json"]
    agent = {"PYTHONPATH": str(tmp_path)}

    assert subprocess.run(argv, env=agent, check=False).returncode == 66
    assert subprocess.run(argv, env=clean(agent, wanted=[], extra={}).environment, check=False).returncode == 0
