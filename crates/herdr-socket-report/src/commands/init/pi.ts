
export default function (pi) {
  let tell = () => {}
  let started = false
  let titled = false

  const on = (name, handler) =>
    pi.on(name, async (event, ctx) => {
      try {
        handler(event ?? {}, ctx ?? {})
      } catch {
        // pi's own work goes first.
      }
    })

  const title = (text) => {
    const line = text?.trim().split("\n")[0]
    if (!line || line.startsWith("/")) return
    titled = true
    tell("title_changed", { title: line })
  }

  const context = (ctx) => {
    const { model } = ctx
    if (model) {
      tell("model_changed", { model: model.name ?? model.id, context_window: model.contextWindow })
    }
    const used = ctx.getContextUsage?.()?.tokens
    if (used) tell("usage_changed", { used })
  }

  const session = (ctx) => {
    const session_id = ctx.sessionManager?.getSessionId?.()
    if (!session_id) return
    titled = false
    tell("session_started", { session_id })
    tell("title_changed", { title: null })
    title(pi.getSessionName?.())
    context(ctx)
  }

  on("session_start", (_, ctx) => {
    // Only a person's own pi has a pane.
    if (!ctx.hasUI || (ctx.mode && ctx.mode !== "tui")) return
    if (!started) tell = reporter("pi")
    started = true
    session(ctx)
  })
  on("session_switch", (_, ctx) => session(ctx))
  on("session_fork", (_, ctx) => session(ctx))
  on("before_agent_start", ({ prompt }) => {
    if (!titled) title(prompt)
  })
  on("agent_start", () => tell("agent_started"))
  on("agent_end", (_, ctx) => {
    context(ctx)
    tell("agent_settled")
  })
  on("tool_execution_start", ({ toolCallId, toolName }) =>
    tell("tool_started", { tool_id: toolCallId, tool: toolName }),
  )
  on("tool_execution_end", ({ toolCallId }) => tell("tool_finished", { tool_id: toolCallId }))
  on("turn_end", (_, ctx) => context(ctx))
  on("model_select", (_, ctx) => context(ctx))
  on("session_shutdown", () => tell("session_ended"))
}
