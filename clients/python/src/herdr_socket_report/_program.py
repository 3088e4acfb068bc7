"""Where the sidecar's program is."""

from __future__ import annotations

import os
import shutil
import sysconfig

NAME = "herdr-socket-report"


def program() -> str:
    """The program that the wheel has installed, else the one in PATH."""
    schemes = [sysconfig.get_default_scheme()]
    # `pip install --user` has another folder for programs.
    schemes.append(sysconfig.get_preferred_scheme("user") if os.name == "posix" else schemes[0])
    for scheme in schemes:
        path = os.path.join(sysconfig.get_path("scripts", scheme), NAME)
        if os.access(path, os.X_OK):
            return path
    return shutil.which(NAME) or NAME
