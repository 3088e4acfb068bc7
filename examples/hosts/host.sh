#!/bin/sh
# A host that reports through the sidecar; a POSIX shell alone is enough.
set -eu

# Makes a JSON string of $1: one line, quotes and backslashes escaped.
quoted() {
    printf '"%s"' "$(printf '%s' "$1" | tr -d '\000-\037' | sed 's/[\\"]/\\&/g')"
}

# Says an event: its name, and its other fields as JSON.
tell() {
    printf '{"event": "%s"%s}\n' "$1" "${2:+, $2}" >&3
}

# One line is one task; one that begins with ? needs an answer first.
work() {
    number=0
    tell session_started '"session_id": "s-1", "title": "Fix the login redirect"'
    tell model_changed '"model": "large-2", "context_window": 200000'
    while IFS= read -r line; do
        number=$((number + 1))
        tell agent_started
        case $line in
        \?*)
            label=$(quoted "${line#\?}")
            tell prompt_opened "\"prompt_id\": \"$number\", \"kind\": \"question\", \"label\": $label"
            IFS= read -r answer || answer=
            tell prompt_closed "\"prompt_id\": \"$number\""
            printf 'answered: %s\n' "$answer" >&4
            ;;
        esac
        tell tool_started "\"tool_id\": \"$number\", \"tool\": \"grep\""
        tell tool_finished "\"tool_id\": \"$number\""
        tell agent_settled
    done
}

# Events go down the pipe; what the host prints goes to its own stdout.
{ work 3>&1 4>&5 | herdr-socket-report run --agent shell-host; } 5>&1
