// Runs against a fake Herdr: FAKE_HERDR names its program. The package under
// test is the one that is installed, or the sources beside this file.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, before, beforeEach, test } from "node:test";

const { report } = await import(process.env.PACKAGE ?? "../lib/index.js");

let folder, herdr, env, answers;

before(async () => {
  folder = mkdtempSync(join(tmpdir(), "herdr-node-"));
  const socket = join(folder, "herdr.sock");
  herdr = spawn(process.env.FAKE_HERDR, ["serve", "--socket", socket], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  answers = createInterface({ input: herdr.stdout })[Symbol.asyncIterator]();
  assert.equal((await answers.next()).value, `ready ${socket}`);
  env = {
    PATH: process.env.PATH,
    HOME: folder,
    NPM_CONFIG_UPDATE_NOTIFIER: "false",
    XDG_RUNTIME_DIR: folder,
    HERDR_ENV: "1",
    HERDR_SOCKET_PATH: socket,
    HERDR_PANE_ID: "w1:p1",
  };
});

after(() => {
  herdr.kill();
  rmSync(folder, { recursive: true, force: true });
});

beforeEach(async () => assert.equal((await seen()).agent ?? null, null));

async function seen() {
  herdr.stdin.write(`${JSON.stringify({ do: "observe", pane: "w1:p1" })}\n`);
  return JSON.parse((await answers.next()).value).pane;
}

function start(options = {}) {
  return report({ agent: "node-bot", env, ...options });
}

/** The process ids of the sidecars that run for this test. */
function children() {
  return readdirSync("/proc").filter((pid) => {
    try {
      const words = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
      const parent = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").pop().split(" ")[1];
      return words[1] === "run" && Number(parent) === process.pid;
    } catch {
      return false;
    }
  });
}

test("a turn is working, a prompt is blocked with its reason, an end is idle", async () => {
  const pane = start();
  pane.session("s1").title("Fix the login redirect").tokens({ branch: "main" });
  const turn = pane.turn();
  turn.tool("grep").end();
  const ask = turn.prompt("Run cargo test?");
  assert.deepEqual(await pane.flush(), { ok: true, reason: undefined });
  let shown = await seen();
  assert.equal(shown.agent, "node-bot");
  assert.equal(shown.agent_status, "blocked");
  assert.equal(shown.state_labels.blocked, "Run cargo test?");
  assert.equal(shown.title, "Fix the login redirect");
  assert.equal(shown.tokens.branch, "main");
  ask.end();
  turn.end({ outcome: "done" });
  turn.end();
  await pane.flush();
  shown = await seen();
  assert.ok(["idle", "done"].includes(shown.agent_status));
  assert.equal(await pane.close(5_000), true);
  assert.equal((await seen()).agent ?? null, null);
});

test("receipts and diagnostics are events", async () => {
  const pane = start();
  const receipt = once(pane, "receipt");
  pane.state("working");
  assert.equal((await receipt)[0].of, "state");
  const diagnostic = once(pane, "diagnostic");
  pane.record({ event: "nonsense" });
  assert.equal((await diagnostic)[0].diagnostic, "bad_line");
  await pane.close(5_000);
});

test("bad input is told and never thrown", async () => {
  const pane = start();
  const kinds = [];
  pane.on("diagnostic", (said) => kinds.push(said.diagnostic));
  const loop = { event: "title_changed" };
  loop.title = loop;
  for (const event of [loop, { event: "usage_changed", used: 1n }, null, undefined, "text", {}]) {
    pane.record(event);
  }
  pane.tokens(null).labels(undefined).title(undefined);
  pane.prompt(null).end();
  pane.tool(undefined).end();
  await pane.flush();
  assert.equal(kinds.filter((kind) => kind === "bad_event").length, 6);
  await pane.close(5_000);
});

test("a child that dies is replaced and told again", async () => {
  const pane = start();
  pane.session("s2", { title: "Still here" }).tokens({ branch: "main" });
  const turn = pane.turn();
  turn.prompt("Go on?");
  await pane.flush();
  const [child] = children();
  const ended = once(pane, "diagnostic");
  process.kill(Number(child), "SIGKILL");
  assert.equal((await ended)[0].diagnostic, "child_ended");
  while (!pane.active) await new Promise((next) => setImmediate(next));
  assert.equal((await pane.flush()).ok, true);
  const shown = await seen();
  assert.equal(shown.agent_status, "blocked");
  assert.equal(shown.state_labels.blocked, "Go on?");
  assert.equal(shown.title, "Still here");
  await pane.close(5_000);
});

test("outside Herdr nothing is started and nothing throws", async () => {
  const pane = start({ env: { PATH: process.env.PATH } });
  assert.equal(pane.active, false);
  pane.session("s").turn().tool("grep").end();
  assert.deepEqual(await pane.flush(), { ok: false, reason: "inactive" });
  assert.equal(await pane.close(), true);
});

test("a missing program is told once and changes nothing else", async () => {
  const pane = start({ program: join(folder, "no-such-program") });
  const [said] = await once(pane, "diagnostic");
  assert.equal(said.diagnostic, "no_program");
  pane.turn().prompt("May I?").end();
  assert.equal(pane.active, false);
  assert.equal(await pane.close(), true);
});

test("wrong settings are told and not tried again", async () => {
  const pane = start({ settings: { privacy: "loud" } });
  const [said] = await once(pane, "diagnostic");
  assert.equal(said.diagnostic, "wrong_settings");
  assert.match(said.detail, /privacy/);
  await pane.close();
});

test("the readme's commands and its program show what they say", async (context) => {
  if (!process.env.PACKAGE) return context.skip("for the installed package");
  const root = new URL("..", import.meta.resolve(process.env.PACKAGE));
  const readme = readFileSync(new URL("README.md", root), "utf8");
  const block = (language) => readme.split(`\`\`\`${language}\n`)[1].split("```")[0];
  const run = async (program, words, input) => {
    const child = spawn(program, words, { env, stdio: ["pipe", "inherit", "inherit"] });
    child.stdin.end(input);
    assert.deepEqual(await once(child, "exit"), [0, null]);
  };
  // The package is there already, in this folder.
  await run("sh", ["-e"], block("sh").replace(/^npm install .*$/m, ""));
  assert.equal((await seen()).agent_status, "working");
  await run("npx", ["herdr-socket-report", "release"]);
  await run(process.execPath, ["--input-type=module"], block("js"));
  herdr.stdin.write('{"do":"log"}\n');
  const log = (await answers.next()).value;
  for (const told of ["my-agent", "Fix the login redirect", "pane.release_agent"]) {
    assert.ok(log.includes(told), told);
  }
});

test("an open pane does not keep the process alive, and its end gives the row back", async () => {
  const script = `
    const { report } = await import(${JSON.stringify(import.meta.resolve(process.env.PACKAGE ?? "../lib/index.js"))});
    const pane = report({ agent: "node-bot" });
    pane.turn();
    await pane.flush();
    pane.turn();
  `;
  const host = spawn(process.execPath, ["--input-type=module", "-e", script], {
    env,
    stdio: "inherit",
  });
  assert.deepEqual(await once(host, "exit"), [0, null]);
  while ((await seen()).agent) await new Promise((next) => setImmediate(next));
});
