// Puts a built sidecar where the package looks for it: bin/PLATFORM-ARCH/.
// A release that packs for several platforms runs this once for each.
import { chmodSync, copyFileSync, existsSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { bundled } from "../lib/program.js";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const built =
  process.env.HERDR_SOCKET_REPORT_BUILT ??
  join(root, "../../target/release/herdr-socket-report");
if (!existsSync(built)) {
  console.error(
    `There is no program at ${built}. Build it with ` +
      "`cargo build --release -p herdr-socket-report`, or name a built one in " +
      "HERDR_SOCKET_REPORT_BUILT.",
  );
  process.exit(1);
}
const target = bundled();
mkdirSync(dirname(target), { recursive: true });
copyFileSync(built, target);
chmodSync(target, 0o755);
