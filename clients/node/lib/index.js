import { EventEmitter } from "node:events";

import { Child } from "./child.js";
import { Memory } from "./memory.js";
import { program } from "./program.js";

/** Shows an agent in its Herdr pane. See `index.d.ts` and the README. */
export function report(options = {}) {
  return new Pane(options ?? {});
}

const CLOSE_MS = 500;
const FLUSH_MS = 5_000;

class Pane extends EventEmitter {
  #memory = new Memory();
  #child = null;
  #closed = false;
  #ids = 0;
  #flushes = new Map();

  constructor(options) {
    super();
    const env = { ...(options.env ?? process.env) };
    // Outside Herdr there is nothing to report to.
    if (env.HERDR_ENV !== "1") return;
    const args = ["run", "--receipts"];
    for (const [name, value] of Object.entries({ agent: options.agent, ...options.settings })) {
      if (value !== undefined && value !== null) {
        args.push(`--${name.replaceAll("_", "-")}`, String(value));
      }
    }
    this.#child = new Child({
      program: options.program ?? program(),
      args,
      env,
      told: () => Array.from(this.#memory.events(), line),
      line: (text) => this.#heard(text),
      problem: (kind, detail) => {
        // A host that listens can only do so after this call.
        queueMicrotask(() => this.emit("diagnostic", { diagnostic: kind, detail }));
      },
    });
  }

  get active() {
    return !this.#closed && (this.#child?.runs ?? false);
  }

  record(event) {
    if (this.#closed) return this;
    try {
      if (typeof event?.event !== "string") throw new TypeError("an event names its kind");
      const text = line(event);
      // What is kept must not change when the host changes its object.
      this.#memory.add(JSON.parse(text));
      this.#child?.write(text);
    } catch (error) {
      const kind = typeof event?.event === "string" ? event.event : "an event without a kind";
      const detail = `${kind} cannot be written as JSON: ${error.name}`;
      queueMicrotask(() => this.emit("diagnostic", { diagnostic: "bad_event", detail }));
    }
    return this;
  }

  session(id, fields = {}) {
    return this.record({ event: "session_started", session_id: id, ...fields });
  }

  title(title) {
    return this.record({ event: "title_changed", title: title ?? null });
  }

  model(model, contextWindow) {
    return this.record({
      event: "model_changed",
      model: model ?? null,
      context_window: contextWindow,
    });
  }

  usage(used) {
    return this.record({ event: "usage_changed", used });
  }

  tokens(tokens) {
    return this.record({ event: "tokens_changed", tokens: tokens ?? {} });
  }

  labels(labels) {
    return this.record({ event: "labels_changed", labels: labels ?? {} });
  }

  state(state, label) {
    return this.record({ event: "state_set", state, label });
  }

  release() {
    return this.record({ event: "release" });
  }

  turn(agentId) {
    this.record({ event: "agent_started", agent_id: agentId });
    return new Turn(this, agentId);
  }

  tool(tool, agentId) {
    const tool_id = this.#id("tool");
    this.record({ event: "tool_started", tool_id, tool: String(tool), agent_id: agentId });
    return new Open(() => this.record({ event: "tool_finished", tool_id, agent_id: agentId }));
  }

  prompt(prompt, agentId = null) {
    const { label, kind } = typeof prompt === "object" && prompt ? prompt : { label: prompt };
    const prompt_id = this.#id("prompt");
    this.record({
      event: "prompt_opened",
      prompt_id,
      kind: kind ?? "approval",
      label: label === undefined || label === null ? undefined : String(label),
      agent_id: agentId,
    });
    return new Open(() => this.record({ event: "prompt_closed", prompt_id }));
  }

  flush(timeout = FLUSH_MS) {
    if (!this.active) return Promise.resolve({ ok: false, reason: "inactive" });
    const id = this.#id("flush");
    return new Promise((resolve) => {
      // The child keeps to the time, and this is for one that hangs.
      const late = setTimeout(() => this.#flushed(id, { ok: false, reason: "timeout" }), timeout);
      this.#flushes.set(id, (answer) => {
        clearTimeout(late);
        resolve(answer);
      });
      this.record({ event: "flush", id, timeout_ms: timeout });
    });
  }

  async close(timeout = CLOSE_MS) {
    this.#closed = true;
    const closed = (await this.#child?.close(timeout)) ?? true;
    for (const id of [...this.#flushes.keys()]) this.#flushed(id, { ok: false, reason: "ended" });
    return closed;
  }

  [Symbol.asyncDispose ?? Symbol.for("Symbol.asyncDispose")]() {
    return this.close();
  }

  #id(kind) {
    this.#ids += 1;
    return `${kind}-${this.#ids}`;
  }

  #heard(text) {
    let said;
    try {
      said = JSON.parse(text);
    } catch {
      return;
    }
    if ("flushed" in said) {
      this.#flushed(said.flushed, { ok: said.ok === true, reason: said.reason });
    } else if (said.receipt) {
      this.emit("receipt", said);
    } else if (said.diagnostic) {
      this.emit("diagnostic", said);
    }
  }

  #flushed(id, answer) {
    this.#flushes.get(id)?.(answer);
    this.#flushes.delete(id);
  }
}

/** Something that ends once. */
class Open {
  #end;

  constructor(end) {
    this.#end = end;
  }

  end() {
    this.#end?.();
    this.#end = null;
  }

  [Symbol.dispose ?? Symbol.for("Symbol.dispose")]() {
    this.end();
  }
}

class Turn extends Open {
  #pane;
  #agent;
  #how = {};

  constructor(pane, agent) {
    super(() => pane.record({ event: "agent_settled", agent_id: agent, ...this.#how }));
    this.#pane = pane;
    this.#agent = agent;
  }

  tool(tool) {
    return this.#pane.tool(tool, this.#agent);
  }

  prompt(prompt) {
    return this.#pane.prompt(prompt, this.#agent ?? "main");
  }

  end(how = {}) {
    this.#how = how;
    super.end();
  }
}

function line(event) {
  return `${JSON.stringify(event)}\n`;
}
