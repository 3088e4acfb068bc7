"""Shows an agent's state in its Herdr pane.

>>> from herdr_socket_report import report
>>> with report("my-agent", env={}) as pane:  # outside Herdr nothing happens
...     with pane.turn() as turn:
...         with turn.prompt("Run cargo test?"):
...             pass
"""

from ._pane import Flushed, Open, Pane, Turn, report

__all__ = ["Flushed", "Open", "Pane", "Turn", "report"]
