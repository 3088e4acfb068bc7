import { spawn } from "node:child_process";

/** A child that ended is replaced after this long, doubling … */
const AGAIN_MS = 1_000;
/** … up to this. */
const AGAIN_MOST_MS = 60_000;
/** Most bytes that may wait for a child that does not read. */
const WAITING_MOST = 1 << 20;
/** The exit code of wrong settings, which another child would meet again. */
const WRONG_SETTINGS = 2;

/**
 * One running sidecar, replaced when it ends by itself. It never keeps the
 * host's process alive and never throws.
 */
export class Child {
  #options;
  #process = null;
  #timer = null;
  #wait = AGAIN_MS;
  #behind = false;
  #closed = false;
  #stderr = "";

  /**
   * `program`, `args` and `env` say what to start; `told` gives the events a
   * new child has to know; `line` takes what it prints; `problem` what is
   * wrong, in words.
   */
  constructor(options) {
    this.#options = options;
    this.#start();
  }

  get runs() {
    return this.#process !== null;
  }

  /** Writes a line, if a child is there to read it. */
  write(text) {
    const stdin = this.#process?.stdin;
    if (!stdin || this.#behind) return;
    stdin.write(text);
    if (stdin.writableLength > WAITING_MOST) {
      // What counts by then is said again once it reads.
      this.#behind = true;
    }
  }

  /** Ends the input and waits for the child's end, `timeout` ms at most. */
  close(timeout) {
    this.#closed = true;
    clearTimeout(this.#timer);
    const child = this.#process;
    if (!child) return Promise.resolve(true);
    return new Promise((resolve) => {
      // While somebody waits, the wait itself keeps the process alive.
      child.ref();
      const late = setTimeout(() => {
        child.unref();
        resolve(false);
      }, timeout);
      child.once("exit", () => {
        clearTimeout(late);
        resolve(true);
      });
      child.stdin.end();
    });
  }

  #start() {
    const { program, args, env } = this.#options;
    let child;
    try {
      child = spawn(program, args, { env, stdio: ["pipe", "pipe", "pipe"] });
    } catch (error) {
      this.#options.problem("no_program", `${program} cannot be started: ${error.code}`);
      return;
    }
    child.once("error", (error) => {
      if (this.#process !== child) return;
      this.#process = null;
      this.#options.problem("no_program", `${program} cannot be started: ${error.code}`);
    });
    // Its last words are read by then.
    child.once("close", (code, signal) => this.#ended(child, code, signal));
    // Its end is news enough; a write to it must not be an error of the host.
    for (const stream of child.stdio) stream.on("error", () => {});
    child.stdin.on("drain", () => this.#catchUp());
    lines(child.stdout, this.#options.line);
    this.#stderr = "";
    lines(child.stderr, (line) => {
      this.#stderr = line;
    });
    child.unref();
    for (const stream of child.stdio) stream.unref?.();
    this.#process = child;
    this.#behind = false;
    for (const event of this.#options.told()) this.write(event);
  }

  #catchUp() {
    if (!this.#behind) return;
    this.#behind = false;
    for (const event of this.#options.told()) this.write(event);
  }

  #ended(child, code, signal) {
    if (this.#process !== child) return;
    this.#process = null;
    if (this.#closed) return;
    if (code === WRONG_SETTINGS) {
      this.#options.problem("wrong_settings", this.#stderr);
      return;
    }
    const how = signal ? `was ended by ${signal}` : `ended with code ${code}`;
    this.#options.problem("child_ended", `the reporter ${how} and is started again`);
    this.#timer = setTimeout(() => this.#start(), this.#wait);
    this.#timer.unref();
    this.#wait = Math.min(this.#wait * 2, AGAIN_MOST_MS);
  }
}

/** Gives each whole line of a stream of text. */
function lines(stream, give) {
  let rest = "";
  stream.setEncoding("utf8");
  stream.on("data", (text) => {
    const parts = (rest + text).split("\n");
    rest = parts.pop();
    parts.filter(Boolean).forEach(give);
  });
}
