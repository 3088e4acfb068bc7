import { EventEmitter } from "node:events";

/** What an agent does. */
export type State = "idle" | "working" | "blocked";

/** Why an agent is blocked. */
export type PromptKind = "approval" | "question" | "auth";

export interface Options {
  /** The agent's name in Herdr's sidebar; `agent` if absent. Take one that Herdr does not know itself. */
  agent?: string;
  /** Other settings of `herdr-socket-report run`, such as `{ privacy: "tool" }`. */
  settings?: Record<string, string | number | boolean>;
  /** The variables that say which pane this is; `process.env` if absent. */
  env?: NodeJS.ProcessEnv;
  /** The sidecar's program; the one in this package, or else in `PATH`, if absent. */
  program?: string;
}

export interface SessionFields {
  /** An absolute path of the session's file. */
  session_path?: string;
  /** Another id than before ends what is open, except with `compact`. */
  reason?: "startup" | "resume" | "clear" | "new" | "fork" | "compact";
  title?: string;
  model?: string;
  /** How many tokens the model's context holds. */
  context_window?: number;
  /** How many tokens of the context are used. */
  used?: number;
}

/** One event of the sidecar's language; `event` names the kind. */
export interface AgentEvent {
  event: string;
  [field: string]: unknown;
}

/** What became of one report. */
export interface Receipt {
  receipt: string;
  of: "state" | "presentation" | "tokens" | "session" | "release" | string;
  seq?: number;
  reason?: string;
  remedy?: string;
}

/** Why reports do not show. Each kind is told once until a success. */
export interface Diagnostic {
  diagnostic: string;
  detail: string;
}

export interface Flushed {
  /** Whether everything before it was delivered. */
  ok: boolean;
  reason?: string;
}

/** Something that ends once: a later `end` changes nothing. */
export interface Open {
  end(): void;
  [Symbol.dispose](): void;
}

/** A turn of an agent: working until it ends. */
export interface Turn extends Open {
  end(how?: { outcome?: "done" | "error" | "cancelled"; message?: string }): void;
  /** A tool that runs, after approval. */
  tool(name: string): Open;
  /** A question to a person: blocked until it ends. */
  prompt(prompt: string | { label?: string; kind?: PromptKind }): Open;
}

/**
 * The agent's pane. No call throws, waits for Herdr, or keeps the process
 * alive. Outside Herdr, and without the program, nothing happens.
 */
export interface Pane extends EventEmitter {
  /** Whether a sidecar runs for this pane. */
  readonly active: boolean;
  /** A session began, or goes on. */
  session(id: string, fields?: SessionFields): this;
  /** What the session is about; `null` takes it off. */
  title(title: string | null): this;
  /** Which model answers, and how many tokens its context holds. */
  model(model: string | null, contextWindow?: number): this;
  /** How many tokens of the context are used. */
  usage(used: number): this;
  /** The host's own tokens; `null` takes one off. */
  tokens(tokens: Record<string, string | null>): this;
  /** Texts for states; `null` falls back to the configured one. */
  labels(labels: Partial<Record<State | "done" | "unknown", string | null>>): this;
  /** The state, for hosts that know only states. */
  state(state: State, label?: string): this;
  /** Begins a turn of the main agent, or of a subagent. */
  turn(agentId?: string): Turn;
  /** A tool that runs outside any turn. */
  tool(name: string, agentId?: string): Open;
  /** A question of no turn. */
  prompt(prompt: string | { label?: string; kind?: PromptKind }): Open;
  /** Gives the row back until the next beginning. */
  release(): this;
  /** Any event of the sidecar's language. */
  record(event: AgentEvent): this;
  /** Waits until everything before it is delivered, `timeout` ms (5 000) at most. */
  flush(timeout?: number): Promise<Flushed>;
  /**
   * Gives the row back and ends the sidecar, which takes `timeout` ms (500) at
   * most. Resolves to whether it ended in time. Later calls change nothing.
   */
  close(timeout?: number): Promise<boolean>;
  [Symbol.asyncDispose](): Promise<boolean>;

  on(event: "receipt", listener: (receipt: Receipt) => void): this;
  on(event: "diagnostic", listener: (diagnostic: Diagnostic) => void): this;
}

/** Begins to show an agent in the pane that this process runs in. */
export function report(options?: Options): Pane;
