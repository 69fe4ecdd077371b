"""What the user can do on the page: what loosens a gate is read first and confirmed with a token of its own."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping

import msgspec
from msgspec.structs import replace

from tray.approvals.batch import summary_lines
from tray.approvals.catalog import REMOVED, HookCatalog, HookState
from tray.approvals.controls import Controls
from tray.approvals.guarded_settings import GuardedSetting
from tray.approvals.passphrase import generate
from tray.approvals.review import Section, hook_id, sections
from tray.approvals.user_action import UserAction
from tray.approvals.variables import require_grantable
from tray.engine.user_questions import UserQuestions
from tray.errors import HooktrayError
from tray.language import count, phrase, say
from tray.store.copies import Copies
from tray.web.question_form import QuestionPage, answers, fields
from tray.web.request_checks import OneTimeTokens
from tray.web.review_diff import FileDiff, review_diff
from tray.web.templating import sentence

CHANNEL = "page"
TRIAL_TIMEOUT = 5.0  # seconds that the page waits for the test run after an approval
CONFIRMATION_LIFETIME = 900.0  # seconds that a confirmation stays good: long enough to read a script
PAUSES: Mapping[str, tuple[float | None, str]] = {
    "30m": (1800.0, phrase("Pause all hooks for 30 minutes?")),
    "1h": (3600.0, phrase("Pause all hooks for 1 hour?")),
    "tomorrow": (None, phrase("Pause all hooks until tomorrow?")),
}


class PageReview(msgspec.Struct, frozen=True, kw_only=True):
    """One hook as it is read before it is approved."""

    name: str
    source: str
    sections: tuple[Section, ...]
    changes: tuple[FileDiff, ...]


class PageQuestion(msgspec.Struct, frozen=True, kw_only=True):
    """What a confirmation shows; `button` is the label of its button, `back_link` the target of the last one.

    `deny` is the label of a button between them, which turns down what was shown.
    """

    title: str
    button: str
    token: str
    back_link: str
    text: str = ""
    notes: tuple[str, ...] = ()
    reviews: tuple[PageReview, ...] = ()
    digest: str = ""
    is_destructive: bool = True
    deny: str = ""
    deny_token: str = ""
    takes_passphrase: bool = False  # `text` is one that was made, in whose place the user may type another


class PageActions:
    """Asks, and does what was confirmed. Every action goes through the same controls as the menu's."""

    def __init__(self, controls: Controls, catalog: HookCatalog, copies: Copies, questions: UserQuestions) -> None:
        self._controls = controls
        self._catalog = catalog
        self._copies = copies
        self._questions = questions
        self._tokens: OneTimeTokens[UserAction] = OneTimeTokens()

    def question(self, action: str, target: str, variable: str = "") -> PageQuestion | None:
        """The question before an action; None for an unknown action or without anything to do it to.

        Raises HooktrayError for a variable that cannot be let through.
        """
        if action in VARIABLES:
            return self._about_variable(action, target, variable)
        if action == BATCH:
            return self._about_batch(target)
        if action in HOOKS:
            one = self.find_hook(target)
            if one and action in possible_actions(one, self._controls.state.hooks_off):
                return self._about_hook(action, one)
            return self._about_setting(action, target)
        if action in SWITCH:
            return self._about_switch(action, target)
        if action in REQUESTS:
            return self._about_request(action, target)
        return self._about_passphrase(action) if action in PASSPHRASES else None

    def open_question(self, id: str) -> QuestionPage | None:
        """The page of an agent's form; None when it is closed."""
        one = self._questions.find(id)
        if one is None or one.form is None:
            return None
        token = self._issue(UserAction(action=ANSWER, key=id))
        return QuestionPage(question=one, fields=fields(one.form), token=token)

    def answer(self, id: str, sent: Mapping[str, str]) -> bool:
        """Answer an agent's form, or decline it; False when it is closed already.

        Raises HooktrayError for a question without an answer, and for a token that is not this form's.
        """
        one = self._questions.find(id)
        if one is None or one.form is None:
            return False
        given = answers(one.form, sent) if sent.get("act") != "decline" else None
        if self._tokens.redeem(sent.get("token", "")) != UserAction(action=ANSWER, key=id):
            raise HooktrayError(say(INVALID_TOKEN), hint=say("open the question again"))
        if given is None:
            return self._questions.answer(id, allow=False, channel=CHANNEL)
        return self._questions.answer_form(id, given, channel=CHANNEL)

    def confirm(self, token: str, own: str = "", again: str = "") -> UserAction:
        """Do what this token was issued for. Raises HooktrayError when it is not valid.

        `own` is the user's own passphrase, typed twice, in the place of the one that was offered.
        """
        user_action = self._tokens.redeem(token)
        if user_action is None or user_action.action == ANSWER:
            raise HooktrayError(say(INVALID_TOKEN), hint=say("go back, read it again and confirm"))
        if user_action.action == "passphrase" and (own or again):
            if own != again:
                why = say("the two entries differ")
                raise HooktrayError(why, hint=say("nothing was changed; ask once more"))
            user_action = replace(user_action, key=own)
        self._controls.perform(user_action, CHANNEL)
        if user_action.action in TRIED:
            self._controls.trials.describe(user_action.key, TRIAL_TIMEOUT)  # the hook's page shows the result
        return user_action

    def _issue(self, user_action: UserAction) -> str:
        return self._tokens.issue(user_action, CONFIRMATION_LIFETIME)

    def find_hook(self, target: str) -> HookState | None:
        return next((one for one in self._catalog.states if hook_id(one.key) == target), None)

    def pending_settings(self) -> tuple[GuardedSetting, ...]:
        return tuple(one for one in self._catalog.settings() if one.waiting)

    def _about_hook(self, action: str, one: HookState) -> PageQuestion:
        is_review = action in ("approve", "deny")
        texts = REMOVED_HOOKS if is_review and one.digest == REMOVED else HOOKS
        title, button, note = texts[action]
        question = self._question(
            UserAction(action=action, key=one.key, digest=one.digest if is_review else ""),
            say(title, name=one.hook.name), say(button), say(note), *([sentence(one.health)] if one.health else []),
            back=f"/hooks/{hook_id(one.key)}", reviews=(self._review(one),) if one.digest and is_review else (),
        )  # fmt: skip
        if action != "approve" or "deny" not in possible_actions(one):
            return question
        label = say("Keep the approved copy") if one.approved and one.digest != REMOVED else say(texts["deny"][1])
        deny = UserAction(action="deny", key=one.key, digest=one.digest)
        return replace(question, deny=label, deny_token=self._issue(deny))

    def _about_variable(self, action: str, target: str, variable: str) -> PageQuestion | None:
        """Let a withheld variable through to an approved hook, or no longer."""
        one = self.find_hook(target)
        if one is None or not one.approved or (action == "withhold" and variable not in one.granted):
            return None
        require_grantable(one.hook, (variable,))
        title, button, note = VARIABLES[action]
        user_action = UserAction(action=action, key=one.key, variables=(variable,))
        question = say(title, variable=variable, name=one.hook.name)
        return self._question(user_action, question, say(button), say(note), back=f"/hooks/{hook_id(one.key)}")

    def _review(self, one: HookState) -> PageReview:
        return PageReview(
            name=one.hook.name,
            source=str(one.hook.source),
            sections=sections(one, self._copies, os.environ),
            changes=review_diff(one, self._copies),
        )

    def _about_batch(self, target: str) -> PageQuestion | None:
        """The imported hooks, or those of a source that wait; `target` is the beginning of the digest, or ""."""
        controls = self._controls
        batches = controls.batches if target else (controls.batch,)
        found = next((one for one in batches if one and one.digest.startswith(target)), None)
        if found is None:
            return None
        number = len(found.hooks)
        title = count("Approve {n} unchanged hook?", "Approve {n} unchanged hooks?", number)
        if found.source:
            title = count("Approve {n} hook?", "Approve {n} hooks?", number)
        return self._question(
            UserAction(action=BATCH, digest=found.digest), title, say("Approve all"),
            *summary_lines(found), back="/hooks", reviews=tuple(map(self._review, found.hooks)),
        )  # fmt: skip

    def _about_switch(self, action: str, target: str) -> PageQuestion | None:
        if action == "off":
            note = say("No guard runs until you switch them on again. Alerts stay.")
            title, button = say("Switch all hooks off?"), say("Switch off")
            return self._question(UserAction(action="off"), title, button, note, back="/switch")
        if target not in PAUSES:
            return None
        seconds, title = PAUSES[target]
        note = say("No guard runs until the pause is over. Alerts stay.")
        return self._question(
            UserAction(action="pause", seconds=seconds), say(title), say("Pause"), note, back="/switch"
        )

    def _about_passphrase(self, action: str) -> PageQuestion | None:
        is_set = self._controls.passphrase.is_set
        if action == "forget":
            note = say("Terminals and browsers that Hooktray does not know can then confirm nothing.")
            title, button = say("Forget the passphrase?"), say("Forget it")
            return self._question(UserAction(action=action), title, button, note, back="/switch") if is_set else None
        made = generate()
        title = say("Change the passphrase?") if is_set else say("Set a passphrase?")
        note = say("Write it down. Hooktray keeps no copy and does not show it again.")
        question = self._question(
            UserAction(action=action, key=made), title, say("Set it"), note, back="/switch", text=made
        )
        return replace(question, takes_passphrase=True)

    def _about_setting(self, action: str, target: str) -> PageQuestion | None:
        one = next((one for one in self.pending_settings() if hook_id(one.key) == target), None)
        if one is None or action not in ("approve", "deny"):
            return None
        title, button = SETTINGS[action]
        setting = UserAction(action=action, key=one.key, digest=one.digest)
        note = say("It loosens a gate or sends data out, so it takes effect only after you confirm it.")
        return self._question(setting, say(title), say(button), note, back="/hooks", text=f"{one.text}\n")

    def _about_request(self, action: str, target: str) -> PageQuestion | None:
        request = next((one for one in self._controls.requests if one.id == target), None)
        if request is None:
            return None
        undo = request.is_undo and action == "allow"
        title = say("Undo “{what}”?", what=request.summary) if undo else say("{what}?", what=request.summary)
        button = say(REQUESTS[action][request.is_undo])
        note = say("Asked by {who}. Allow it only if that was you.", who=request.requester)
        if request.is_undo:
            note = say("It was done in {who}.", who=request.requester)
        return self._question(UserAction(action=action, key=request.id), title, button, note, back="/hooks")

    def _question(
        self,
        user_action: UserAction,
        title: str,
        button: str,
        *notes: str,
        back: str,
        text: str = "",
        reviews: tuple[PageReview, ...] = (),
    ) -> PageQuestion:
        return PageQuestion(
            title=title, button=button, token=self._issue(user_action), back_link=back, text=text, notes=notes,
            reviews=reviews, digest=user_action.digest if user_action.digest != REMOVED else "",
            is_destructive=user_action.action in DESTRUCTIVE,
        )  # fmt: skip


def possible_actions(one: HookState, off: Collection[str] = ()) -> tuple[str, ...]:
    """The actions that a hook's state allows, as in the menu; `off` are the hooks that were switched off."""
    proposed = one.digest not in ("", one.approved)
    actions = []
    if proposed:
        actions.append("approve")
    if proposed and one.waiting:
        actions.append("deny")
    if one.approved and one.digest != REMOVED:
        actions.append("revoke")
    if one.failed_trial:
        actions.append("undo")
    if one.approved:
        actions.append("enable" if one.key in off else "disable")
    return tuple(actions)


INVALID_TOKEN = phrase("this confirmation was used already, or is too old")
ANSWER = "answer"  # of a form; no confirmation
BATCH = "batch"  # the action that approves several hooks together
TRIED = frozenset({"approve", "grant"})  # what starts a test run
DESTRUCTIVE = frozenset({"forget", "revoke", "deny", "disable", "off", "pause", "allow", "undo", "grant"})
HOOKS = {  # title, button and note of the question before each action
    "approve": (
        phrase("Approve {name}?"), phrase("Approve"),
        phrase("What runs is a private copy of exactly these bytes."),
    ),
    "deny": (
        phrase("Deny {name}?"), phrase("Deny"),
        phrase("What was approved before goes on running; a new hook stays out."),
    ),
    "disable": (
        phrase("Switch off {name}?"), phrase("Switch off"),
        phrase("It stays approved, but is not asked until you switch it on again."),
    ),
    "enable": (
        phrase("Switch on {name}?"), phrase("Switch on"),
        phrase("Its approved copy is asked again from then on."),
    ),
    "revoke": (
        phrase("Revoke {name}?"), phrase("Revoke"),
        phrase("Nothing of this hook runs from then on."),
    ),
    "undo": (
        phrase("Take back the last approval of {name}?"), phrase("Undo"),
        phrase("What was approved before it counts again; a new hook no longer runs."),
    ),
}  # fmt: skip
REMOVED_HOOKS = {  # of hooks that are no longer declared
    "approve": (
        phrase("Revoke {name}?"), phrase("Revoke it"),
        phrase("It is no longer declared. Nothing of it runs from then on."),
    ),
    "deny": (
        phrase("Keep {name}?"), phrase("Keep it"),
        phrase("It is no longer declared; its approved copy goes on running."),
    ),
}  # fmt: skip
VARIABLES = {
    "grant": (
        phrase("Let {variable} through to {name}?"), phrase("Let it through"),
        phrase("The hook then gets it from each agent's environment. It is tried once on a test event."),
    ),
    "withhold": (
        phrase("Withhold {variable} from {name}?"), phrase("Withhold it"),
        phrase("The hook no longer gets it."),
    ),
}  # fmt: skip
SETTINGS = {
    "approve": (phrase("Approve this setting?"), phrase("Approve")),
    "deny": (phrase("Deny this setting?"), phrase("Deny")),
}
REQUESTS = {  # the labels for what was requested, and for what was done already
    "allow": (phrase("Allow"), phrase("Undo")),
    "dismiss": (phrase("Dismiss"), phrase("Keep")),
}
IMMEDIATE = frozenset({"on", "resume"})  # need no confirmation
SWITCH = frozenset({"off", "pause"})
PASSPHRASES = frozenset({"forget", "passphrase"})
