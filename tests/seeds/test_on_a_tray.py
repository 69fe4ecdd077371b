"""What the documents require, tried on a real tray with the installed relay where less would not show it."""

from __future__ import annotations

import json
import socket
import sys
from collections.abc import Iterator
from contextlib import closing

import pytest
from desk import wait
from seeds.product import Product
from servers import Said, WebServer, completion

from tray.agents.starchild.source import LOCAL_VARIABLE
from tray.sources.configuration import load

GUARD = '#!/bin/sh\ncat >/dev/null\necho \'{"decision": "block", "reason": "it is not published"}\'\n'
CALL = {"tool_name": "bash", "tool_input": {"command": "rm -rf /"}}


@pytest.fixture
def server() -> Iterator[WebServer]:
    """A guard and a model on this machine: each request is refused."""
    refusal = '{"decision": "block", "reason": "by the model"}'
    with closing(
        WebServer(lambda asked: Said(completion(refusal) if "chat" in asked.path else refusal.encode()))
    ) as it:
        yield it


def test_a_false_claim_is_refused_however_often_it_comes(product: Product) -> None:
    product.write("workspace/check_publish.sh", GUARD)
    product.starchild({"event": "on_completion_claim", "command": "./check_publish.sh"}).start()
    claim = {"goal": "publish the site", "summary": "the site is published", "tool_names": ["read_file"]}

    answers = [product.answer("starchild", "on_completion_claim", claim)["decision"] for _ in range(12)]

    assert answers == ["block"] * 12


def test_doctor_typed_into_an_agent_runs_each_approved_hook(product: Product) -> None:
    product.write("workspace/guard.sh", f"#!/bin/sh\ncat >>{product.home}/seen\necho '{{}}'\n")
    product.write("workspace/broken.sh", "#!/bin/sh\ncat >/dev/null\nexit 3\n")
    product.starchild(
        {"event": "pre_tool_call", "command": "./guard.sh"}, {"event": "on_session_end", "command": "./broken.sh"}
    ).start()
    (product.home / "seen").unlink(missing_ok=True)  # of a test run after the approval

    def typed() -> str:
        answer = product.answer("starchild", "on_user_message", {"message": "/hooks doctor"})
        assert answer["decision"] == "block"  # so the model is not asked
        return "" if "This goes on" in answer["reason"] else str(answer["reason"])

    found = wait(typed, 60, "all of it is found")  # a loaded machine may need more than one answer's time
    assert "ok         hook: guard: abstain on starchild's pre_tool_call" in found
    assert "broken     hook: broken: " in found
    assert json.loads((product.home / "seen").read_text())["event"] == "pre_tool_call"


ASKS_A_MODEL = """#!{python}
import json, sys, urllib.request

event = json.load(sys.stdin)
question = {{"model": "small", "messages": [{{"role": "user", "content": json.dumps(event)}}]}}
headers = {{"Content-Type": "application/json"}}
request = urllib.request.Request("{url}/v1/chat/completions", json.dumps(question).encode(), headers)
with urllib.request.urlopen(request, timeout=40) as reply:
    print(json.load(reply)["choices"][0]["message"]["content"])
"""


def test_a_command_hook_asks_a_model_and_its_answer_counts(product: Product, server: WebServer) -> None:
    product.write("workspace/judge.py", ASKS_A_MODEL.format(python=sys.executable, url=server.url))
    product.starchild({"event": "pre_tool_call", "command": "./judge.py", "timeout": 60}).start()

    answer = product.answer("starchild", "pre_tool_call", CALL)

    assert answer == {"decision": "block", "reason": "judge (Hooktray): by the model"}
    assert "rm -rf /" in server.asked[-1].json["messages"][0]["content"]


REFUSED = (
    ("ftp://guard.example/hook", "http"),
    ("http://127.0.0.1:{port}/hook", "this machine"),
    ("http://localhost:{port}/hook", "this machine"),
    ("http://10.0.0.1/hook", "private"),
    ("http://169.254.169.254/latest", "169.254.169.254"),
)


def test_a_url_that_no_hook_may_ask_is_refused_with_its_line_and_the_other_hooks_are_asked(
    product: Product, server: WebServer
) -> None:
    product.write("workspace/guard.sh", GUARD)
    urls = [url.format(port=server.port) for url, _ in REFUSED]
    product.starchild(
        *({"event": "pre_tool_call", "type": "http", "url": url} for url in urls),
        {"event": "pre_tool_call", "command": "./guard.sh"},
    ).start()

    answer = product.answer("starchild", "pre_tool_call", CALL)

    warnings = load(product.paths).warnings
    assert ["shell_hooks.yaml:1:" in warning for warning in warnings] == [True] * len(REFUSED)
    assert [why for _, why in REFUSED if not any(why in warning for warning in warnings)] == []
    assert product.live.states() == {"guard": "approved"}
    assert answer["reason"] == "guard (Hooktray): it is not published"
    assert server.asked == []


def test_a_name_that_leads_to_this_machine_is_refused_when_it_is_asked(product: Product, server: WebServer) -> None:
    name = socket.gethostname()
    try:
        socket.getaddrinfo(name, server.port)
    except OSError:
        pytest.skip("the machine's own name leads nowhere")
    url = f"http://{name}:{server.port}/hook"
    product.starchild({"event": "pre_tool_call", "type": "http", "url": url}).start()

    answer = product.answer("starchild", "pre_tool_call", CALL)

    (hook,) = product.row("rm -rf /").hooks
    assert (answer, hook["status"], server.asked) == ({}, "failed", [])
    assert "refused" in str(hook["cause"])


def test_the_hosts_variable_lets_a_hook_ask_a_local_service(product: Product, server: WebServer) -> None:
    product.live.place.environment[LOCAL_VARIABLE] = "1"  # as the tray is started
    product.starchild({"event": "pre_tool_call", "type": "http", "url": f"{server.url}/hook"})
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(LOCAL_VARIABLE, "1")  # as a person approves
        product.start()

    answer = product.answer("starchild", "pre_tool_call", CALL)

    assert answer["decision"] == "block"
    assert answer["reason"].endswith("by the model")
    assert server.asked[-1].json["tool_input"] == {"command": "rm -rf /"}
