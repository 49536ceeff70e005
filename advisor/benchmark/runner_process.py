"""Starts bench_runner as a child process, follows its events, cancels it, keeps what it measured.

The child leads a process group of its own and every process under it carries a mark, so that the
whole tree can be ended. Its records are appended to the store one by one, as trials end.
"""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import uuid
from collections.abc import Generator, Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import IO, Any

from advisor.benchmark.measurement_request import Ending, Request
from advisor.files import write_whole
from advisor.typed_input import InputError, install_words
from bench_runner.launch.processes import (
    MAX_LINE,
    WATCHED_PARENT,
    child_environment,
    end_group,
    log_tail,
    module_command,
)
from bench_runner.records.journal import event_of

RUNNER = tuple(module_command("bench_runner"))
MARK = "ADVISOR_BENCH"
"""Environment variable by which every process under a run is known."""
PATIENCE_S = 30.0
"""How long to wait after SIGINT. The runner itself needs up to 12 s to end a trial's process
group."""


class Run:
    """One child process from its start to its end. `cancel` may be called from any thread."""

    def __init__(
        self, request: Request, *, runner: Sequence[str] = RUNNER, patience_s: float = PATIENCE_S
    ) -> None:
        """Start it. Raises InputError where its folders cannot be made or it cannot be started."""
        self.request = request
        self.is_cancelled = False
        self._patience_s = patience_s
        self._mark = uuid.uuid4().hex
        self._enders: list[threading.Timer] = []
        self._finished: dict[str, Any] | None = None
        self._error: str | None = None
        logs = request.work_directory.absolute() / "logs"
        try:
            logs.mkdir(parents=True, exist_ok=True)
            request.records_file.absolute().parent.mkdir(parents=True, exist_ok=True)
            if request.recipe_text is not None:
                Path(request.recipe).parent.mkdir(exist_ok=True)
                write_whole(Path(request.recipe), request.recipe_text, overwrite=True)
            name = f"{datetime.now():%Y%m%d-%H%M%S}-{self._mark[:6]}.log"
            self.log_file = logs / name
            with self.log_file.open("wb") as log:
                self.process = subprocess.Popen(
                    [*runner, *request.words()],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=log,
                    env=child_environment() | {MARK: self._mark, WATCHED_PARENT: str(os.getpid())},
                    start_new_session=True,
                )
        except OSError as error:
            name = f" ({error.filename})" if error.filename else ""
            raise InputError(
                f"the benchmark could not be started: {error.strerror}{name}; name another folder "
                "with --work"
            ) from None

    def events(self) -> Generator[dict[str, Any]]:
        """The runner's events as they come; a line that is no event comes as ``noise``.

        Ends when the runner has. Nothing of it is left then.
        """
        assert self.process.stdout is not None
        try:
            for event in _events(self.process.stdout):
                if event["event"] == "search-finished":
                    self._finished = event
                elif event["event"] == "error":
                    self._error = str(event.get("message"))
                yield event
            self.process.wait()
        finally:
            for ender in self._enders:
                ender.cancel()
            self._end()  # whoever followed may have stopped before the end
            self.process.stdout.close()

    def cancel(self) -> None:
        """End it: interrupt it, and end all of it by force when that takes too long or this is
        asked again. Returns at once. Finished trials are kept."""
        if self.process.poll() is not None:
            return
        if not self.is_cancelled:
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGINT)
        self._enders.append(
            threading.Timer(0 if self.is_cancelled else self._patience_s, self._end)
        )
        self.is_cancelled = True
        self._enders[-1].daemon = True
        self._enders[-1].start()

    def _end(self) -> None:
        end_group(self.process, self._mark, MARK)

    def ending(self) -> Ending:
        """How it ended, once `events` has."""
        code = self.process.returncode
        tail = log_tail(self.log_file)
        finished = self._finished
        suggestion = None
        if self.is_cancelled or (finished is not None and finished.get("cancelled")):
            kind, message = "cancelled", "cancelled; what was measured before is kept"
        elif self._error is not None or code == 2:
            kind, message = "refused", self._error or (tail[-1] if tail else "wrong input")
        elif finished is not None and finished.get("best") is not None:
            kind = "answered"
            message = "every setting was tried or left out for a reason"
            if self.request.search == "fast" and "all" in self.request.methods.split(","):
                message = "the fast search has ended; settings made of what lost were passed over"
            if not finished.get("complete", True):
                message = "the time was up: this is the best so far"
        elif finished is not None:
            kind, message = "no-time", "no setting has a time: the table says why for each"
        else:
            how = f"signal {-code}" if code is not None and code < 0 else f"exit code {code}"
            kind, message = "failed", f"the benchmark ended by itself with {how}"
            suggestion = suggest(code, tail)
        return Ending(
            kind=kind,
            message=" ".join(message.split()),
            log_file=self.log_file,
            log_tail=tail,
            suggestion=suggestion,
        )


def _events(stdout: IO[bytes]) -> Iterator[dict[str, Any]]:
    for line in stdout:
        if (event := event_of(line)) is not None:
            yield event
        elif text := line.decode("utf-8", errors="replace").strip():
            yield {"event": "noise", "text": text[:MAX_LINE]}


def last_log_line(work_directory: Path, since_s: float = 0.0) -> str | None:
    """The last line that the newest trial wrote, where that was after this moment of the epoch."""
    logs = []
    for path in (work_directory / "trials").glob("*/log.txt"):
        with suppress(OSError):
            logs.append((path.stat().st_mtime, path))
    newest_s, path = max(logs, default=(-1.0, work_directory))
    tail = log_tail(path, lines=1) if newest_s >= since_s else ()
    return tail[-1] if tail else None


def suggest(code: int | None, tail: Sequence[str]) -> str:
    """One thing to do about a run that ended by itself."""
    text = "\n".join(tail)
    if "ModuleNotFoundError" in text or "No module named" in text:
        return f"install what a benchmark needs: {install_words('bench')}"
    if "No space left" in text:
        return "free some disk, or name another folder with --work"
    if code in (-9, 137):
        return "the system killed it, most often for lack of host memory: free some, and try again"
    return "start it again: finished trials are kept and not measured twice"
