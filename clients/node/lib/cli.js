#!/usr/bin/env node
// The program of this package as a command: `npx herdr-socket-report doctor`.
import { spawnSync } from "node:child_process";

import { bundled } from "./program.js";

// Not the one in PATH, which may be this file.
const { status, signal, error } = spawnSync(bundled(), process.argv.slice(2), { stdio: "inherit" });
if (error?.code === "ENOENT") {
  const platform = `${process.platform}-${process.arch}`;
  console.error(`herdr-socket-report: this package has no program for ${platform}`);
} else if (error) {
  console.error(`herdr-socket-report: ${error.message}`);
}
if (signal) process.kill(process.pid, signal);
process.exitCode = status ?? 1;
