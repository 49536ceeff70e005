"""One visitor's program: a child process that speaks Textual's packets, and ends with its page."""

from __future__ import annotations

import asyncio
import os
from contextlib import suppress
from typing import Any

from textual_serve.app_service import AppService

from bench_runner.processes import WATCHED_PARENT, child_environment

MAX_COLUMNS, MAX_ROWS = 1000, 400
END_WITHIN_S = 2.0


class RefusedError(Exception):
    """A visitor's page sent what no page of ours sends."""


class ServedProgram(AppService):  # type: ignore[misc]  # it has no type hints to check against
    """Starts the program without a shell, and leaves nothing of it running."""

    def __init__(self, command: list[str], **keywords: Any) -> None:
        super().__init__("", **keywords)
        self._words = command

    def _build_environment(self, width: int = 80, height: int = 24) -> dict[str, str]:
        environment = child_environment(super()._build_environment(width=width, height=height))
        return environment | {WATCHED_PARENT: str(os.getpid())}

    async def _open_app_process(self, width: int = 80, height: int = 24) -> Any:
        process = await asyncio.create_subprocess_exec(
            *self._words,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            # A traceback, with the values of its variables, is for nobody's terminal.
            stderr=asyncio.subprocess.DEVNULL,
            env=self._build_environment(width=width, height=height),
            start_new_session=True,
        )
        nothing = asyncio.StreamReader()
        nothing.feed_eof()
        process.stderr = nothing
        self._process, self._stdin = process, process.stdin
        return process

    async def take(self, message: object) -> None:
        """Hand on what the page sent. Raises RefusedError."""
        if not isinstance(message, list) or not message:
            raise RefusedError
        kind, value = message[0], message[1] if len(message) > 1 else None
        if kind == "stdin" and isinstance(value, str):
            await self.send_bytes(value.encode("utf-8", errors="replace"))
        elif kind == "resize" and isinstance(value, dict):
            width, height = value.get("width"), value.get("height")
            await self.set_terminal_size(*checked_size(width, height))
        elif kind == "ping":
            return
        elif kind == "blur":
            await self.blur()
        elif kind == "focus":
            await self.focus()
        else:
            raise RefusedError

    async def end(self) -> None:
        """End the program, whether or not it answers."""
        process = self._process
        with suppress(Exception):
            await asyncio.wait_for(self.stop(), END_WITHIN_S)
        if process is not None and process.returncode is None:
            self.terminate()
            with suppress(asyncio.TimeoutError):
                await asyncio.wait_for(process.wait(), END_WITHIN_S)
        if process is not None and process.returncode is None:
            with suppress(ProcessLookupError):
                process.kill()
        self.close()

    def close(self) -> None:
        """Let go of it; what has not ended is killed."""
        if self._process is not None:
            transport = getattr(self._process, "_transport", None)
            if transport is not None:
                transport.close()

    def terminate(self) -> None:
        """Ask it to end, without waiting."""
        if self._process is not None and self._process.returncode is None:
            with suppress(ProcessLookupError):
                self._process.terminate()


def checked_size(width: object, height: object) -> tuple[int, int]:
    """Columns and rows of a terminal that somebody can see. Raises RefusedError."""
    if type(width) is not int or type(height) is not int:
        raise RefusedError
    if not (0 < width <= MAX_COLUMNS and 0 < height <= MAX_ROWS):
        raise RefusedError
    return width, height
