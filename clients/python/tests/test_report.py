"""Runs against a fake Herdr: FAKE_HERDR names its program."""

import doctest
import json
import os
import queue
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from importlib.metadata import PackageNotFoundError, metadata

import herdr_socket_report
from herdr_socket_report import Flushed, report


class Herdr:
    """A fake Herdr in a folder of its own."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="herdr-py-")
        socket = os.path.join(self._folder.name, "herdr.sock")
        self._process = subprocess.Popen(
            [os.environ["FAKE_HERDR"], "serve", "--socket", socket],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout.readline() == f"ready {socket}\n"
        self.env = {
            "PATH": os.environ["PATH"],
            "HOME": self._folder.name,
            "XDG_RUNTIME_DIR": self._folder.name,
            "HERDR_ENV": "1",
            "HERDR_SOCKET_PATH": socket,
            "HERDR_PANE_ID": "w1:p1",
        }

    def ask(self, **line) -> dict:
        self._process.stdin.write(json.dumps(line) + "\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())

    def seen(self) -> dict:
        return self.ask(do="observe", pane="w1:p1")["pane"]

    def stop(self) -> None:
        self._process.terminate()
        self._process.communicate()
        self._folder.cleanup()


class Reports(unittest.TestCase):
    def setUp(self) -> None:
        self.herdr = Herdr()
        self.addCleanup(self.herdr.stop)

    def start(self, **options):
        said = queue.Queue()
        options.setdefault("env", self.herdr.env)
        pane = report("py-bot", on_receipt=said.put, on_diagnostic=said.put, **options)
        self.addCleanup(pane.close, 5)
        return pane, said

    def diagnostic(self, said) -> dict:
        while True:
            got = said.get(timeout=20)
            if "diagnostic" in got:
                return got

    def test_a_turn_is_working_and_a_prompt_is_blocked_with_its_reason(self):
        pane, said = self.start()
        pane.session("s1", title="Fix the login redirect").tokens(branch="main")
        with pane.turn() as turn:
            with turn.tool("grep"):
                pass
            with turn.prompt("Run cargo test?"):
                self.assertEqual(pane.flush(20), Flushed(True))
                seen = self.herdr.seen()
                self.assertEqual(seen["agent"], "py-bot")
                self.assertEqual(seen["agent_status"], "blocked")
                self.assertEqual(seen["state_labels"]["blocked"], "Run cargo test?")
                self.assertEqual(seen["title"], "Fix the login redirect")
                self.assertEqual(seen["tokens"]["branch"], "main")
        pane.flush(20)
        self.assertIn(self.herdr.seen()["agent_status"], ("idle", "done"))
        self.assertIn("receipt", said.get(timeout=20))
        self.assertTrue(pane.close(20))
        self.assertIsNone(self.herdr.seen().get("agent"))

    def test_bad_input_is_told_and_never_raised(self):
        pane, said = self.start()
        loop = {"event": "title_changed"}
        loop["title"] = loop
        bad = [loop, {"event": "usage_changed", "used": object()}, None, "text", {}]
        for event in bad:
            pane.record(event)
            self.assertEqual(self.diagnostic(said)["diagnostic"], "bad_event")
        pane.tokens(None).title(None)
        with pane.prompt(None), pane.tool(None):
            pass
        self.assertTrue(pane.flush(20).ok)

    def test_a_child_that_dies_is_replaced_and_told_again(self):
        pane, said = self.start()
        pane.session("s2", title="Still here")
        pane.turn().prompt("Go on?")
        self.assertTrue(pane.flush(20).ok)
        os.kill(pane._child._process.pid, signal.SIGKILL)
        self.assertEqual(self.diagnostic(said)["diagnostic"], "child_ended")
        until = time.monotonic() + 20
        while not (pane.active and pane.flush(20).ok):
            self.assertLess(time.monotonic(), until)
        seen = self.herdr.seen()
        self.assertEqual(seen["state_labels"]["blocked"], "Go on?")
        self.assertEqual(seen["title"], "Still here")

    def test_outside_herdr_nothing_is_started_and_nothing_raises(self):
        pane, _ = self.start(env={"PATH": os.environ["PATH"]})
        self.assertFalse(pane.active)
        with pane.turn() as turn, turn.tool("grep"):
            pass
        self.assertEqual(pane.flush(), Flushed(False, "inactive"))
        self.assertTrue(pane.close())

    def test_a_missing_program_is_told_once(self):
        pane, said = self.start(program="/no/such/program")
        self.assertEqual(self.diagnostic(said)["diagnostic"], "no_program")
        with pane.turn():
            pass
        self.assertFalse(pane.active)
        self.assertTrue(pane.close())

    def test_wrong_settings_are_told_and_not_tried_again(self):
        pane, said = self.start(settings={"privacy": "loud"})
        got = self.diagnostic(said)
        self.assertEqual(got["diagnostic"], "wrong_settings")
        self.assertIn("privacy", got["detail"])

    def test_a_host_that_ends_without_a_word_leaves_nothing(self):
        for end in ("", "os._exit(0)", "os.kill(os.getpid(), 9)"):
            host = (
                "import os\nfrom herdr_socket_report import report\n"
                f"pane = report('py-bot')\npane.turn()\npane.flush()\n{end}"
            )
            env = {**self.herdr.env, "PYTHONPATH": os.environ.get("PYTHONPATH", "")}
            subprocess.run([sys.executable, "-c", host], env=env, timeout=60)
            until = time.monotonic() + 20
            while self.herdr.seen().get("agent"):
                self.assertLess(time.monotonic(), until)

    def test_the_readmes_commands_and_its_program_show_what_they_say(self):
        try:
            readme = metadata("herdr-socket-report").get_payload()
        except PackageNotFoundError:
            self.skipTest("for the installed wheel")
        commands, program = (
            readme.split(f"```{language}\n")[1].split("```")[0] for language in ("sh", "python")
        )
        # The wheel is there already.
        commands = "".join(line for line in commands.splitlines(True) if "pip install" not in line)
        scripts = os.path.dirname(sys.executable)
        env = {**self.herdr.env, "PATH": f"{scripts}:{self.herdr.env['PATH']}"}
        for words in (["sh", "-e", "-c", commands], ["herdr-socket-report", "release"]):
            path = shutil.which(words[0], path=env["PATH"])
            subprocess.run([path, *words[1:]], env=env, check=True, timeout=60)
        subprocess.run([sys.executable, "-c", program], env=env, check=True, timeout=60)
        log = json.dumps(self.herdr.ask(do="log"))
        for told in ("working", "my-agent", "Fix the login redirect", "pane.release_agent"):
            self.assertIn(told, log)


def load_tests(_loader, tests, _pattern):
    tests.addTests(doctest.DocTestSuite(herdr_socket_report))
    return tests


if __name__ == "__main__":
    unittest.main()
