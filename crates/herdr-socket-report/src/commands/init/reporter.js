// Written by `herdr-socket-report init`, which also takes it away (--remove)
// and brings a newer one (--write).
import { spawn } from "node:child_process"

// One reporter for as long as this process lives; nothing outside Herdr. What
// goes wrong with it is never the agent's concern.
function reporter(agent) {
  if (process.env.HERDR_ENV !== "1") return () => {}
  const child = spawn("herdr-socket-report", ["run", "--leave-state", "--agent", agent], {
    stdio: ["pipe", "ignore", "ignore"],
  })
  let gone = false
  const end = () => (gone = true)
  child.on("error", end)
  child.on("exit", end)
  child.stdin.on("error", end)
  child.unref()
  child.stdin.unref?.()
  return (event, fields = {}) => {
    if (!gone) child.stdin.write(JSON.stringify({ event, ...fields }) + "\n")
  }
}
