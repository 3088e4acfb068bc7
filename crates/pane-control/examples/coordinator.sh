#!/bin/sh
# Gives a pane each line of stdin as a task, one after the other.
# usage: coordinator.sh PANE < tasks
pane=$1
report=${HERDR_SOCKET_REPORT:-herdr-socket-report}
number=0
while IFS= read -r task; do
    number=$((number + 1))
    # The same name for the same task: run again, this script types nothing twice.
    operation="$(basename "$0")-$pane-$number"
    "$report" pane push --pane "$pane" --operation "$operation" -- "$task"
    case $? in
    0) ;;
    6) echo "$pane is not free" >&2; exit 1 ;;
    7) "$report" pane push --pane "$pane" --operation "$operation" -- "$task" || exit 1 ;;
    8) echo "$pane is gone" >&2; exit 1 ;;
    *) echo "look at $pane before you repeat anything" >&2; exit 1 ;;
    esac
    # A shell has no status to wait for; an agent has.
    "$report" pane tick --pane "$pane" >/dev/null || continue
    "$report" pane wait --pane "$pane" --until idle,blocked --timeout 900 || exit 1
done
