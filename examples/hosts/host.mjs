// A host that reports through the sidecar; Node alone is enough.

import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

/** Starts the sidecar. Without it nothing is reported. */
function openPane(agent) {
  const sidecar = spawn("herdr-socket-report", ["run", "--agent", agent], {
    stdio: ["pipe", "ignore", "inherit"],
  });
  const ended = new Promise((done) => sidecar.on("exit", done).on("error", done));
  // One that is gone is no reason to stop.
  sidecar.stdin.on("error", () => {});
  return {
    tell: (event, fields = {}) => {
      if (sidecar.stdin.writable) sidecar.stdin.write(JSON.stringify({ event, ...fields }) + "\n");
    },
    close: async () => {
      sidecar.stdin.end();
      await ended;
    },
  };
}

const pane = openPane("node-host");
try {
  pane.tell("session_started", { session_id: "s-1", title: "Fix the login redirect" });
  pane.tell("model_changed", { model: "large-2", context_window: 200_000 });
  let number = 0;
  let question = null;
  for await (const line of createInterface({ input: process.stdin })) {
    // One line is one task; one that begins with ? needs an answer first.
    const id = String(number++);
    if (question === null) pane.tell("agent_started");
    if (question === null && line.startsWith("?")) {
      question = id;
      pane.tell("prompt_opened", { prompt_id: id, kind: "question", label: line.slice(1).trim() });
      continue;
    }
    if (question !== null) {
      pane.tell("prompt_closed", { prompt_id: question });
      question = null;
      console.log("answered:", line.trim());
    }
    pane.tell("tool_started", { tool_id: id, tool: "grep" });
    pane.tell("tool_finished", { tool_id: id });
    pane.tell("agent_settled");
  }
} finally {
  await pane.close();
}
