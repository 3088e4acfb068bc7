#!/bin/sh
# A hook for an agent that calls a command when something happens, with the
# event's name and a text: hook.sh EVENT [TEXT]. It never fails the agent.

AGENT=${AGENT_NAME:-my-agent}

report() {
    command=$1
    shift
    herdr-socket-report "$command" --agent "$AGENT" "$@" || :
}

case ${1:-} in
session-start) report session -- "${2:-unnamed}" ;;
prompt-submit)
    report title -- "${2:-}"
    report state working
    ;;
needs-approval) report state blocked "--label=${2:-needs you}" ;;
approved) report state working ;;
model) report tokens -- "model=${2:-}" ;;
subagent-start) report emit '{"event": "agent_started", "agent_id": "helper"}' ;;
stop) report state idle ;;
session-end) report release ;;
*)
    echo "hook.sh: no event ${1:-}; it takes session-start, prompt-submit, needs-approval," \
        "approved, model, subagent-start, stop and session-end" >&2
    ;;
esac
exit 0
