#!/usr/bin/env python3
"""A host that reports through the sidecar; the standard library is enough."""

import json
import subprocess
import sys


class Pane:
    """The pane this runs in. Without the sidecar nothing is reported."""

    def __init__(self, agent):
        try:
            self.sidecar = subprocess.Popen(
                ["herdr-socket-report", "run", "--agent", agent],
                stdin=subprocess.PIPE,
                text=True,
            )
        except OSError:
            self.sidecar = None

    def tell(self, event, **fields):
        if self.sidecar is None:
            return
        try:
            print(json.dumps({"event": event, **fields}), file=self.sidecar.stdin, flush=True)
        except OSError:
            self.sidecar = None  # It is gone; the work goes on.

    def close(self):
        if self.sidecar is not None:
            self.sidecar.stdin.close()
            self.sidecar.wait()


def main():
    pane = Pane("python-host")
    try:
        pane.tell("session_started", session_id="s-1", title="Fix the login redirect")
        pane.tell("model_changed", model="large-2", context_window=200_000)
        for number, line in enumerate(sys.stdin):
            # One line is one task; one that begins with ? needs an answer first.
            pane.tell("agent_started")
            if line.startswith("?"):
                pane.tell("prompt_opened", prompt_id=str(number), kind="question", label=line[1:].strip())
                input_line = sys.stdin.readline()
                pane.tell("prompt_closed", prompt_id=str(number))
                print("answered:", input_line.strip(), flush=True)
            pane.tell("tool_started", tool_id=str(number), tool="grep")
            pane.tell("tool_finished", tool_id=str(number))
            pane.tell("agent_settled")
    finally:
        pane.close()


if __name__ == "__main__":
    main()
