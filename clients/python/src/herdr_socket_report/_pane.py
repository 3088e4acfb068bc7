"""The pane as a host sees it."""

from __future__ import annotations

import atexit
import itertools
import json
import os
import threading
from dataclasses import dataclass
from typing import Any, Callable, Dict, Mapping, Optional, Union

from ._child import Child
from ._program import program as find_program

Listener = Callable[[Dict[str, Any]], None]

CLOSE_S = 0.5
FLUSH_S = 5.0


@dataclass(frozen=True)
class Flushed:
    """Whether everything before a flush was delivered, and if not, why."""

    ok: bool
    reason: Optional[str] = None


def report(
    agent: Optional[str] = None,
    *,
    settings: Optional[Mapping[str, object]] = None,
    on_receipt: Optional[Listener] = None,
    on_diagnostic: Optional[Listener] = None,
    env: Optional[Mapping[str, str]] = None,
    program: Optional[str] = None,
) -> Pane:
    """Begins to show an agent in the pane that this process runs in.

    `agent` is its name in Herdr's sidebar (`agent` if absent; take one that
    Herdr does not know itself). `settings` are others of
    `herdr-socket-report run`, such as `{"privacy": "tool"}`. `env` says which
    pane this is (`os.environ` if absent), `program` which sidecar to start (the
    installed one if absent).
    """
    words = ["run", "--receipts"]
    for name, value in {"agent": agent, **(settings or {})}.items():
        if value is not None:
            words += ["--" + name.replace("_", "-"), str(value)]
    environment = dict(os.environ if env is None else env)
    return Pane(words, environment, program, on_receipt, on_diagnostic)


class Open:
    """Something that ends once: by `end()`, or at the end of its `with`."""

    def __init__(self, end: Callable[[], object]) -> None:
        self._end: Optional[Callable[[], object]] = end

    def end(self) -> None:
        """Ends it; a later call changes nothing."""
        end, self._end = self._end, None
        if end is not None:
            end()

    def __enter__(self) -> Open:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()


class Turn:
    """A turn of an agent: working until it ends."""

    def __init__(self, pane: Pane, agent_id: Optional[str]) -> None:
        self._pane, self._agent_id, self._over = pane, agent_id, False

    def tool(self, name: str) -> Open:
        """A tool that runs, after approval."""
        return self._pane.tool(name, agent_id=self._agent_id)

    def prompt(self, label: Optional[str] = None, kind: str = "approval") -> Open:
        """A question to a person (`approval`, `question` or `auth`): blocked
        until it ends."""
        return self._pane._prompt(label, kind, {"agent_id": self._agent_id or "main"})

    def end(self, outcome: Optional[str] = None, message: Optional[str] = None) -> None:
        """Ends it (`done`, `error` or `cancelled`); a later call changes
        nothing."""
        if not self._over:
            self._over = True
            said = {"outcome": outcome, "message": message, "agent_id": self._agent_id}
            self._pane._say("agent_settled", **said)

    def __enter__(self) -> Turn:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        self.end("error" if kind is not None else None)


class Pane:
    """The agent's pane. No call raises or waits for Herdr (but for `flush` and
    `close`, which keep to their time). Outside Herdr, and without the program,
    nothing happens."""

    def __init__(
        self,
        words: list[str],
        env: Dict[str, str],
        program: Optional[str],
        on_receipt: Optional[Listener],
        on_diagnostic: Optional[Listener],
    ) -> None:
        self._receipt, self._diagnostic = on_receipt, on_diagnostic
        self._ids = itertools.count(1)
        self._flushes: Dict[str, tuple[threading.Event, list[Flushed]]] = {}
        self._child: Optional[Child] = None
        # Outside Herdr there is nothing to report to.
        if env.get("HERDR_ENV") == "1":
            self._child = Child(
                program or find_program(), words, env, self._heard, self._tell_problem
            )
            atexit.register(self.close)

    @property
    def active(self) -> bool:
        """Whether a sidecar runs for this pane."""
        return self._child is not None and self._child.runs

    def record(self, event: Mapping[str, Any]) -> Pane:
        """Any event of the sidecar's language; `event` names the kind."""
        kind = event.get("event") if isinstance(event, Mapping) else None
        try:
            if not isinstance(kind, str):
                raise TypeError("an event names its kind")
            if self._child is not None:
                self._child.write(dict(event))
        except (TypeError, ValueError, RecursionError) as error:
            what = kind if isinstance(kind, str) else "an event without a kind"
            detail = f"{what} cannot be written as JSON: {type(error).__name__}"
            self._tell_problem("bad_event", detail)
        return self

    def session(self, session_id: str, **fields: Any) -> Pane:
        """A session began, or goes on (`title`, `model`, `context_window`,
        `used`, `reason`, `session_path`)."""
        return self._say("session_started", session_id=session_id, **fields)

    def title(self, title: Optional[str]) -> Pane:
        """What the session is about; None takes it off."""
        return self.record({"event": "title_changed", "title": title})

    def model(self, model: Optional[str], context_window: Optional[int] = None) -> Pane:
        """Which model answers, and how many tokens its context holds."""
        event: Dict[str, Any] = {"event": "model_changed", "model": model}
        if context_window is not None:
            event["context_window"] = context_window
        return self.record(event)

    def usage(self, used: int) -> Pane:
        """How many tokens of the context are used."""
        return self._say("usage_changed", used=used)

    def tokens(self, tokens: Optional[Mapping[str, Optional[str]]] = None, **more: Any) -> Pane:
        """The host's own tokens; None takes one off."""
        return self._say("tokens_changed", tokens={**(tokens or {}), **more})

    def labels(self, **labels: Optional[str]) -> Pane:
        """Texts for states; None falls back to the configured one."""
        return self._say("labels_changed", labels=labels)

    def state(self, state: str, label: Optional[str] = None) -> Pane:
        """`idle`, `working` or `blocked`, for hosts that know only states."""
        return self._say("state_set", state=state, label=label)

    def turn(self, agent_id: Optional[str] = None) -> Turn:
        """Begins a turn of the main agent, or of a subagent."""
        self._say("agent_started", agent_id=agent_id)
        return Turn(self, agent_id)

    def tool(self, name: str, agent_id: Optional[str] = None) -> Open:
        """A tool that runs outside any turn."""
        tool_id = f"tool-{next(self._ids)}"
        self._say("tool_started", tool_id=tool_id, tool=str(name), agent_id=agent_id)
        return Open(lambda: self._say("tool_finished", tool_id=tool_id, agent_id=agent_id))

    def prompt(self, label: Optional[str] = None, kind: str = "approval") -> Open:
        """A question of no turn (`approval`, `question` or `auth`)."""
        return self._prompt(label, kind, {"agent_id": None})

    def release(self) -> Pane:
        """Gives the row back until the next beginning."""
        return self._say("release")

    def flush(self, timeout: float = FLUSH_S) -> Flushed:
        """Waits until everything before it is delivered, `timeout` seconds at
        most."""
        if not self.active:
            return Flushed(False, "inactive")
        name, done = f"flush-{next(self._ids)}", (threading.Event(), [])
        self._flushes[name] = done
        self.record({"event": "flush", "id": name, "timeout_ms": int(timeout * 1000)})
        # The child keeps to the time, and this is for one that hangs.
        done[0].wait(timeout)
        self._flushes.pop(name, None)
        return done[1][0] if done[1] else Flushed(False, "timeout")

    def close(self, timeout: float = CLOSE_S) -> bool:
        """Gives the row back and ends the sidecar, within `timeout` seconds;
        whether it ended in time. Later calls change nothing."""
        atexit.unregister(self.close)
        child, self._child = self._child, None
        return child is None or child.close(timeout)

    def __enter__(self) -> Pane:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _prompt(self, label: Optional[str], kind: str, whose: Dict[str, Any]) -> Open:
        prompt_id = f"prompt-{next(self._ids)}"
        event: Dict[str, Any] = {"event": "prompt_opened", "prompt_id": prompt_id, "kind": kind}
        if label is not None:
            event["label"] = str(label)
        self.record({**event, **whose})
        return Open(lambda: self._say("prompt_closed", prompt_id=prompt_id))

    def _say(self, event: str, **fields: Any) -> Pane:
        """Records an event without the fields that are not given."""
        given = {name: value for name, value in fields.items() if value is not None}
        return self.record({"event": event, **given})

    def _heard(self, line: str) -> None:
        try:
            said: Union[Dict[str, Any], object] = json.loads(line)
        except ValueError:
            return
        if not isinstance(said, dict):
            return
        if "flushed" in said:
            done = self._flushes.get(said["flushed"])
            if done is not None:
                done[1].append(Flushed(bool(said.get("ok")), said.get("reason")))
                done[0].set()
        elif "receipt" in said and self._receipt is not None:
            self._receipt(said)
        elif "diagnostic" in said and self._diagnostic is not None:
            self._diagnostic(said)

    def _tell_problem(self, kind: str, detail: str) -> None:
        if self._diagnostic is not None:
            self._diagnostic({"diagnostic": kind, "detail": detail})
