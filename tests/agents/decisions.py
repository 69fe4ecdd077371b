"""Decisions of every kind, as hypothesis makes them up: also those that no agent can carry."""

from __future__ import annotations

from hypothesis import strategies as st

from tray.model.decision import Decision, Rewrite, Target, Verdict

WORDS = st.sampled_from(["", "because", "é", "half \ud800 pair"])
VALUES = st.one_of(
    st.sampled_from([None, "", " ", "text", 7, ["a"], {}, {"command": "ls"}, {"command": 7, "new": []}, {1: 2}]),
    st.sampled_from([{"command": float("inf")}, {"command": {1, 2}}, {"command": "\ud800"}, "\ud800"]),
)
# Fields of an agent's own, as a hook's output has let them through: with a value of the type that the agent wants.
EXTRAS = st.sampled_from(
    [
        ("terminalSequence", "\a"),
        ("sessionTitle", "t"),
        ("watchPaths", ["/a"]),
        ("suppressOriginalPrompt", True),
        ("updatedPermissions", []),
        ("cwd", "/tmp"),
        ("slug", "s"),
        ("no-such-field", 1),
    ]
)
DECISIONS = st.builds(
    Decision,
    verdict=st.sampled_from([one for one in Verdict if one is not Verdict.UNJUDGED]),
    reason=WORDS,
    rewrite=st.none() | st.builds(Rewrite, target=st.sampled_from(Target), value=VALUES),
    context=WORDS,
    notes=st.lists(WORDS, max_size=2).map(tuple),
    stop=st.none() | WORDS,
    retry=st.booleans(),
    extra=st.lists(EXTRAS, max_size=1).map(tuple),
)
