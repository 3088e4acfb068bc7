/**
 * What has been said and still counts, so that a new child can be told it
 * again. It keeps one entry for each thing that is open and for each value, so
 * it does not grow with time.
 */
export class Memory {
  #values = new Map();
  #agents = new Map();
  #tools = new Map();
  #prompts = new Map();

  /** Takes in one event. */
  add(event) {
    const agent = event.agent_id ?? "main";
    switch (event.event) {
      case "agent_started":
        this.#agents.set(agent, event);
        break;
      case "agent_settled":
        this.#agents.delete(agent);
        this.#endOpenOf(agent);
        break;
      case "tool_started":
        this.#tools.set(event.tool_id, event);
        break;
      case "tool_finished":
        this.#tools.delete(event.tool_id);
        break;
      case "prompt_opened":
        // The newest prompt is the one whose text is shown.
        this.#prompts.delete(event.prompt_id);
        this.#prompts.set(event.prompt_id, event);
        break;
      case "prompt_closed":
        this.#prompts.delete(event.prompt_id);
        break;
      case "tokens_changed":
      case "labels_changed":
        this.#merge(event);
        break;
      case "session_started":
        if (agent === "main") this.#begin(event);
        break;
      case "session_ended":
        this.#endAll();
        break;
      case "workflow_snapshot":
      case "workflow_unavailable":
        this.#values.set(`workflow ${event.provider}`, event);
        break;
      case "release":
        this.#endAll();
        this.#values.clear();
        break;
      case "flush":
        break;
      default:
        if (event.settles) this.#endAll();
        this.#values.set(event.event, event);
    }
  }

  /** The events that lead a new child to the same picture. */
  *events() {
    const session = this.#values.get("session_started");
    if (session) yield session;
    yield* this.#agents.values();
    yield* this.#tools.values();
    yield* this.#prompts.values();
    for (const [kind, event] of this.#values) {
      if (kind !== "session_started") yield event;
    }
  }

  #begin(event) {
    const before = this.#values.get("session_started");
    if (before && before.session_id !== event.session_id && event.reason !== "compact") {
      // What the main agent left open was the other session's.
      this.#agents.delete("main");
      this.#endOpenOf("main");
      this.#values.delete("state_set");
    }
    this.#values.set("session_started", event);
    // What the session event says itself is newer than what was said before.
    for (const [field, kind] of [
      ["title", "title_changed"],
      ["model", "model_changed"],
      ["used", "usage_changed"],
    ]) {
      if (event[field] !== undefined) this.#values.delete(kind);
    }
  }

  #merge(event) {
    const field = event.event === "tokens_changed" ? "tokens" : "labels";
    const before = this.#values.get(event.event)?.[field];
    this.#values.set(event.event, { ...event, [field]: { ...before, ...event[field] } });
  }

  #endAll() {
    this.#agents.clear();
    this.#tools.clear();
    this.#prompts.clear();
    this.#values.delete("state_set");
  }

  /** Ends the tools and prompts that an agent left open. */
  #endOpenOf(agent) {
    for (const open of [this.#tools, this.#prompts]) {
      for (const [id, event] of open) {
        // A prompt whose agent is null belongs to no turn.
        const owner = event.agent_id === undefined ? "main" : event.agent_id;
        if (owner === agent) open.delete(id);
      }
    }
  }
}
