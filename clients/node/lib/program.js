import { accessSync, constants } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const NAME = "herdr-socket-report";

/** Where the package keeps the program for this platform. */
export function bundled() {
  const root = join(dirname(fileURLToPath(import.meta.url)), "..");
  return join(root, "bin", `${process.platform}-${process.arch}`, NAME);
}

/** The program that came with the package, else the one in PATH. */
export function program() {
  try {
    accessSync(bundled(), constants.X_OK);
    return bundled();
  } catch {
    return NAME;
  }
}
