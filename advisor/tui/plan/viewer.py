"""Opens a file with the program that the person's desktop opens it with."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path


def opener(environ: Mapping[str, str] = os.environ, platform: str = sys.platform) -> str | None:
    """The desktop's own opener; None on a terminal without a desktop, such as over ssh."""
    if platform == "darwin":
        return shutil.which("open")
    if environ.get("DISPLAY") or environ.get("WAYLAND_DISPLAY"):
        return shutil.which("xdg-open")
    return None


def open_file(path: Path, command: str) -> None:
    """Start it and do not wait; it outlives the program, as a viewer does. Raises OSError."""
    subprocess.Popen(
        [command, str(path.absolute())],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
