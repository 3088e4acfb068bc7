"""What has been said and still counts, for a new child."""

from __future__ import annotations

from typing import Any, Dict, Iterator

Event = Dict[str, Any]


class Memory:
    """Keeps one entry for each thing that is open and for each value, so it
    does not grow with time."""

    def __init__(self) -> None:
        self._values: Dict[str, Event] = {}
        self._agents: Dict[str, Event] = {}
        self._tools: Dict[str, Event] = {}
        self._prompts: Dict[str, Event] = {}

    def add(self, event: Event) -> None:
        """Takes in one event."""
        kind = event["event"]
        agent = event.get("agent_id", "main")
        if kind == "agent_started":
            self._agents[agent] = event
        elif kind == "agent_settled":
            self._end_agent(agent)
        elif kind == "tool_started":
            self._tools[event.get("tool_id")] = event
        elif kind == "tool_finished":
            self._tools.pop(event.get("tool_id"), None)
        elif kind == "prompt_opened":
            # The newest prompt is the one whose text is shown.
            self._prompts.pop(event.get("prompt_id"), None)
            self._prompts[event.get("prompt_id")] = event
        elif kind == "prompt_closed":
            self._prompts.pop(event.get("prompt_id"), None)
        elif kind == "tokens_changed":
            self._merge(event, "tokens")
        elif kind == "labels_changed":
            self._merge(event, "labels")
        elif kind == "session_started":
            if agent == "main":
                self._begin(event)
        elif kind == "session_ended":
            self._end_all()
        elif kind in ("workflow_snapshot", "workflow_unavailable"):
            self._values[f"workflow {event.get('provider')}"] = event
        elif kind == "release":
            self._end_all()
            self._values.clear()
        elif kind != "flush":
            if event.get("settles"):
                self._end_all()
            self._values[kind] = event

    def events(self) -> Iterator[Event]:
        """The events that lead a new child to the same picture."""
        if "session_started" in self._values:
            yield self._values["session_started"]
        for open_ in (self._agents, self._tools, self._prompts):
            yield from open_.values()
        for kind, event in self._values.items():
            if kind != "session_started":
                yield event

    def _begin(self, event: Event) -> None:
        before = self._values.get("session_started")
        other = before is not None and before.get("session_id") != event.get("session_id")
        if other and event.get("reason") != "compact":
            # What the main agent left open was the other session's.
            self._end_agent("main")
            self._values.pop("state_set", None)
        self._values["session_started"] = event
        # What the session event says itself is newer than what was said before.
        for field, kind in (
            ("title", "title_changed"),
            ("model", "model_changed"),
            ("used", "usage_changed"),
        ):
            if field in event:
                self._values.pop(kind, None)

    def _end_agent(self, agent: str) -> None:
        self._agents.pop(agent, None)
        # A prompt whose agent is None belongs to no turn.
        for open_ in (self._tools, self._prompts):
            for key in [k for k, e in open_.items() if e.get("agent_id", "main") == agent]:
                del open_[key]

    def _merge(self, event: Event, field: str) -> None:
        before = self._values.get(event["event"], {}).get(field) or {}
        self._values[event["event"]] = {**event, field: {**before, **(event.get(field) or {})}}

    def _end_all(self) -> None:
        for open_ in (self._agents, self._tools, self._prompts):
            open_.clear()
        self._values.pop("state_set", None)
