"""One running sidecar, replaced when it ends by itself."""

from __future__ import annotations

import contextlib
import json
import subprocess
import threading
import time
from collections import deque
from typing import Callable, Deque, List, Mapping, Optional

from ._memory import Event, Memory

# A child that ended is replaced after this long, doubling …
AGAIN_S = 1.0
# … up to this.
AGAIN_MOST_S = 60.0
# Most lines that may wait for a child that does not read; what counts by then
# is said again once it reads.
WAITING_MOST = 1024
# The exit code of wrong settings, which another child would meet again.
WRONG_SETTINGS = 2


class Child:
    """Writes lines to a sidecar from a thread of its own, so that no call of
    the host waits for a pipe.

    `line` takes what it prints, and `problem` what is wrong, in words.
    """

    def __init__(
        self,
        program: str,
        args: List[str],
        env: Mapping[str, str],
        line: Callable[[str], None],
        problem: Callable[[str, str], None],
    ) -> None:
        self._command = [program, *args]
        self._env = dict(env)
        self._line, self._problem = line, problem
        self._memory = Memory()
        self._stderr = ""
        self._change = threading.Condition()
        self._waiting: Deque[str] = deque()
        self._behind = True  # A new child has everything to hear.
        self._closing = False
        self._process: Optional[subprocess.Popen[str]] = None
        self._thread = threading.Thread(target=self._run, name="herdr-socket-report", daemon=True)
        self._process = self._start()
        if self._process is not None:
            self._thread.start()

    @property
    def runs(self) -> bool:
        process = self._process
        return process is not None and process.poll() is None

    def write(self, event: Event) -> None:
        """Has an event written, to this child or to the next one."""
        line = json.dumps(event) + "\n"
        with self._change:
            if self._closing:
                return
            # What is kept must not change when the host changes its object.
            self._memory.add(json.loads(line))
            if not self._behind:
                self._waiting.append(line)
            if len(self._waiting) > WAITING_MOST:
                self._waiting.clear()
                self._behind = True
            self._change.notify()

    def close(self, timeout: float) -> bool:
        """Ends the input and waits for the child's end; whether it came."""
        until = time.monotonic() + timeout
        with self._change:
            self._closing = True
            self._change.notify()
        if self._thread.ident is not None:
            self._thread.join(timeout)
        process = self._process
        if process is None:
            return True
        try:
            process.wait(max(0.0, until - time.monotonic()))
            return True
        except subprocess.TimeoutExpired:
            return False

    def _start(self) -> Optional[subprocess.Popen[str]]:
        try:
            process = subprocess.Popen(
                self._command,
                env=self._env,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                encoding="utf-8",
                errors="replace",
                bufsize=1,
            )
        except (OSError, ValueError) as error:
            what = type(error).__name__
            self._problem("no_program", f"{self._command[0]} cannot be started: {what}")
            return None
        threading.Thread(target=self._listen, args=(process,), daemon=True).start()
        self._errors = threading.Thread(target=self._hear_errors, args=(process,), daemon=True)
        self._errors.start()
        return process

    def _run(self) -> None:
        wait = AGAIN_S
        while True:
            process = self._process
            if process is not None:
                self._feed(process)
            with self._change:
                if self._closing:
                    return
            if process is None or not self._ended(process):
                return
            with self._change:
                self._change.wait_for(lambda: self._closing, wait)
                if self._closing:
                    return
                self._waiting.clear()
                self._behind = True
            wait = min(wait * 2, AGAIN_MOST_S)
            self._process = self._start()

    def _feed(self, process: subprocess.Popen[str]) -> None:
        """Writes what waits until the child or the host ends."""
        assert process.stdin is not None
        try:
            while True:
                with self._change:
                    self._change.wait_for(
                        lambda: self._behind or self._waiting or self._closing or not self.runs, 0.5
                    )
                    if not self.runs:
                        break
                    if self._behind:
                        # What waits is part of what is told.
                        self._behind = False
                        self._waiting.clear()
                        lines = [json.dumps(event) + "\n" for event in self._memory.events()]
                    else:
                        lines = list(self._waiting)
                        self._waiting.clear()
                    if not lines and self._closing:
                        break
                for line in lines:
                    process.stdin.write(line)
                process.stdin.flush()
        except OSError:
            # The child has gone; its end says how.
            pass
        finally:
            with contextlib.suppress(OSError):
                process.stdin.close()

    def _ended(self, process: subprocess.Popen[str]) -> bool:
        """Tells of a child's end; whether another one is to follow."""
        code = process.wait()
        if code == WRONG_SETTINGS:
            self._errors.join(1.0)
            self._problem("wrong_settings", self._stderr)
            return False
        how = f"was ended by signal {-code}" if code < 0 else f"ended with code {code}"
        self._problem("child_ended", f"the reporter {how} and is started again")
        return True

    def _listen(self, process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        with process.stdout as lines:
            for line in lines:
                self._line(line)
        with self._change:
            self._change.notify()

    def _hear_errors(self, process: subprocess.Popen[str]) -> None:
        assert process.stderr is not None
        with process.stderr as lines:
            for line in lines:
                self._stderr = line.strip()
