// Plays the turns of opencode and pi through the plugins that `init` writes.
// Each line of the input is one step; each answer says that it was taken.
import { createInterface } from "node:readline"

const [name, file] = process.argv.slice(2)
const plugin = await import(file)

const ctx = {
  hasUI: true,
  mode: "tui",
  sessionManager: { getSessionId: () => "p-1" },
  model: { id: "m-1", name: "Large", contextWindow: 200000 },
  getContextUsage: () => ({ tokens: 34000 }),
}
const handlers = {}
const pi = { on: (event, handler) => (handlers[event] = handler), getSessionName: () => undefined }

let play
if (name === "pi") {
  plugin.default(pi)
  play = ([event, payload]) => handlers[event](payload, ctx)
} else {
  const hooks = await plugin.HerdrSocketReport({})
  play = ([event, payload]) =>
    hooks[event] ? hooks[event](payload) : hooks.event({ event: { type: event, properties: payload } })
}

for await (const line of createInterface({ input: process.stdin })) {
  await play(JSON.parse(line))
  console.log("played")
}
