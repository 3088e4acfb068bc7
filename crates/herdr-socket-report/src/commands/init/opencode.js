
export const HerdrSocketReport = async () => {
  const tell = reporter("opencode")
  const subagents = new Set()
  const windows = new Map()
  let main
  const agent = (session) => (subagents.has(session) ? session : "main")

  const events = {
    "session.created": ({ info }) => {
      if (info.parentID) subagents.add(info.id)
      else begin(info)
    },
    "session.updated": ({ info }) => {
      if (!info.parentID && !subagents.has(info.id)) begin(info)
    },
    "session.status": ({ sessionID, status }) =>
      tell(status?.type === "idle" ? "agent_settled" : "agent_started", { agent_id: agent(sessionID) }),
    "session.idle": ({ sessionID }) => tell("agent_settled", { agent_id: agent(sessionID) }),
    "session.error": ({ sessionID }) => tell("agent_settled", { agent_id: agent(sessionID) }),
    "permission.asked": ({ id, sessionID, permission, patterns }) =>
      tell("prompt_opened", {
        prompt_id: id,
        kind: "approval",
        label: [permission, patterns?.join(" ")].filter(Boolean).join(": "),
        agent_id: agent(sessionID),
      }),
    "permission.replied": ({ requestID, permissionID }) =>
      tell("prompt_closed", { prompt_id: requestID ?? permissionID }),
    "question.asked": ({ id, sessionID, questions }) =>
      tell("prompt_opened", {
        prompt_id: id,
        kind: "question",
        label: questions?.[0]?.question,
        agent_id: agent(sessionID),
      }),
    "question.replied": ({ requestID }) => tell("prompt_closed", { prompt_id: requestID }),
    "question.rejected": ({ requestID }) => tell("prompt_closed", { prompt_id: requestID }),
    "message.updated": ({ info }) => {
      if (info.role !== "assistant" || subagents.has(info.sessionID)) return
      if (info.modelID) {
        tell("model_changed", { model: info.modelID, context_window: windows.get(info.modelID) })
      }
      const { input = 0, output = 0, cache = {} } = info.tokens ?? {}
      const used = input + output + (cache.read ?? 0) + (cache.write ?? 0)
      if (used > 0) tell("usage_changed", { used })
    },
  }

  function begin(info) {
    if (info.id !== main) tell("session_started", { session_id: info.id })
    main = info.id
    // A new session is called so until it has a title.
    if (info.title && !info.title.startsWith("New session")) {
      tell("title_changed", { title: info.title })
    }
  }

  return {
    event: async ({ event }) => {
      try {
        events[event.type]?.(event.properties ?? {})
      } catch {
        // opencode's own work goes first.
      }
    },
    "chat.params": async ({ model }) => {
      if (model?.id && model.limit?.context) windows.set(model.id, model.limit.context)
    },
    "tool.execute.before": async ({ tool, sessionID, callID }) =>
      tell("tool_started", { tool_id: callID, tool, agent_id: agent(sessionID) }),
    "tool.execute.after": async ({ callID }) => tell("tool_finished", { tool_id: callID }),
  }
}
