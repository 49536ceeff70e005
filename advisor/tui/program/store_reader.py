"""Reads the store for the screens, in worker threads: touches no widget, returns frozen answers.

The first time, a second process reads it while this one is still loading Textual. Importing DuckDB
and asking the first questions takes about as long as importing Textual does, and threads of one
process would take turns at it. The child is forked, not started again: what both need is loaded
once; it hands its answer over through a pipe. Where there is none (Windows, a large store, a child
that failed) the program reads the store itself a little later.
"""

from __future__ import annotations

import os
import pickle
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, NamedTuple

from advisor.ranking.question import RANK_RULES
from advisor.ranking.typed_question import read_question
from advisor.typed_input import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.ranking.candidates import Candidates
    from advisor.ranking.question import CandidatesKey
    from advisor.ranking.snapshot import Snapshot
    from advisor.ranking.times import BestTime
    from advisor.store import Reader, Store
    from advisor.tui.program.state import State
    from price_catalog.model import Rental


STORE_WAIT_S = 2.0
"""How long one visit waits for a store that others hold; the program then says so, and retries."""
PATIENT_WAIT_S = 10.0
"""The same where a person waits for what is kept."""


class Reading(NamedTuple):
    """What one visit to the store brought."""

    token: tuple[int, ...]
    """Changes when the store does."""
    snapshot: Snapshot
    measured: Mapping[str, int]
    """How many times each model has."""
    rentals: Sequence[Rental] = ()
    """What is rented out, by the hour."""
    key: CandidatesKey | None = None
    """What the candidates are for; None where the inputs were broken."""
    candidates: Candidates | None = None


Place = tuple[str, str, "str | None"]
"""A model, whose software trains it, and the network between two machines."""


class Timed(NamedTuple):
    """What the store knows of how long a model takes."""

    times: tuple[BestTime, ...]
    uncounted: str | None
    """Why there are no estimates of a model of the user's own."""


Read = tuple[Reading, dict[Place, Timed], list[str]]
"""A reading as one process hands it to another: with the times, and what the store said."""


class StoreReader:
    """One store and what was last read of it. Methods run in any thread, one at a time."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.notes: list[str] = []
        self.note: Callable[[str], None] = self.notes.append
        """Told what the store does on its own; until somebody listens, kept in ``notes``."""
        self.preload: Preload | None = None
        """A first reading that another process has under way."""
        self._lock = threading.Lock()
        self._last: Reading | None = None
        self._looked_at: tuple[int, ...] | None = None
        self._times: dict[Place, Timed] = {}

    def changed(self) -> bool:
        """Whether the store may be another than when it was last read, or than when this was asked
        before: one screen may have read already what the others have not. Not while it is read."""
        if self._lock.locked():
            return False
        token = self._store().change_token()
        before, self._looked_at = self._looked_at, token
        return self._last is None or token != self._last.token or before not in (None, token)

    def read(self, state: State) -> Reading:
        """The ingredients of the answer to these inputs, from the store as it is now.

        Broken inputs still bring the snapshot. Raises StoreError or InputError.
        """
        with self._lock, self._worded():
            return self._read(state)

    @contextmanager
    def visit(self) -> Iterator[Reader]:
        """The open store, for one screen's own questions. Raises StoreError or InputError."""
        with self._worded(), self._store().reading() as reader:
            yield reader

    def patient_store(self) -> Store:
        """The store for a thread that keeps something in it; it waits longer and says nothing."""
        from advisor.store import Store

        return Store(self.path, wait_s=PATIENT_WAIT_S, note=lambda _: None)

    def _store(self) -> Store:
        from advisor.store import Store

        return Store(self.path, wait_s=STORE_WAIT_S, note=self.note)

    def read_for_another(self, state: State) -> Read:
        """Read, in a child process, what `first_reading` puts into the parent's reader."""
        return self.read(state), self._times, self.notes

    def first_reading(self, *, wait: bool) -> Reading | None:
        """What another process has read ahead; None where there is nothing, or not yet."""
        preload = self.preload
        if preload is None or not (wait or preload.is_here()):
            return None
        self.preload = None
        read = preload.take()
        if read is None:
            return None
        self._last, self._times, notes = read
        for note in notes:
            self.note(note)
        return self._last

    def _read(self, state: State) -> Reading:
        reading = self.first_reading(wait=True)
        if reading is not None and reading.key is not None:
            return reading
        from advisor.ranking.snapshot import take_snapshot

        store = self._store()
        # The token is taken first: a change while we read makes the next look read again.
        token = store.change_token()
        if self._last is not None and token == self._last.token:
            return self._answer(store, state, self._last)
        with store.reading() as reader:
            found = Reading(
                token, take_snapshot(reader), reader.measured_models(), reader.rentals()
            )
            self._times.clear()
            self._last = self._answer(store, state, found, reader)
        return self._last

    def _answer(
        self, store: Store, state: State, found: Reading, reader: Reader | None = None
    ) -> Reading:
        """With what these inputs ask for; the store is opened for times that are not known yet."""
        from advisor.ranking.row_order import rank
        from advisor.ranking.snapshot import candidates_of
        from advisor.ranking.times import at_face_value

        asked, _ = read_question(state.typed(), found.snapshot, guess_model_by=found.measured)
        if asked is None:
            return found._replace(key=None, candidates=None)
        key = asked.key
        place = key.recipe_id, key.software, key.network
        if place not in self._times:
            with nullcontext(reader) if reader is not None else store.reading() as opened:
                self._times[place] = _timed(opened, found.snapshot, key)
        timed = self._times[place]
        standing = timed.times if key.evidence == "sound" else at_face_value(timed.times)
        candidates = candidates_of(standing, found.snapshot, key, timed.uncounted)
        for rule in RANK_RULES:
            # Sorts the candidates now, in this thread, and not at the first key press.
            rank(candidates, replace(asked.question, rule=rule))
        return found._replace(key=key, candidates=candidates)

    @contextmanager
    def _worded(self) -> Iterator[None]:
        try:
            yield
        except Exception as error:
            from advisor.store import StoreError  # late: it loads DuckDB

            if isinstance(error, StoreError | InputError):
                raise
            # A row that no check foresaw must end in a message, not in a traceback on the screen.
            words = " ".join(f"{type(error).__name__}: {error}".split())[:300]
            raise InputError(
                f"the store {self.path} holds something unexpected ({words}): "
                f"try: advisor rebuild --store {quote(str(self.path))}"
            ) from error


def _timed(reader: Reader, snapshot: Snapshot, key: CandidatesKey) -> Timed:
    from advisor.ranking.snapshot import times_asked, why_uncounted

    times = times_asked(reader, key._replace(evidence="sound"))
    return Timed(times, why_uncounted(reader, snapshot, key.recipe_id, times))


MAX_STORE_BYTES = 16 * 1024 * 1024
"""Handing over what a larger store holds would take longer than reading it here."""
WAIT_S = 0.1
"""A wait that is shorter than drawing an empty screen first, and the answer after it."""


class Preload:
    """A reading under way in a child process."""

    def __init__(self, child: int, pipe: int) -> None:
        """``child`` is its process, ``pipe`` where its answer comes out."""
        self._child = child
        self._content = b""
        self._failed = True
        # A pipe holds less than an answer: somebody has to read it, or the child cannot finish.
        self._thread = threading.Thread(target=self._receive, args=[pipe], daemon=True)
        self._thread.start()

    def _receive(self, pipe: int) -> None:
        with open(pipe, "rb") as file:
            self._content = file.read()
        _, status = os.waitpid(self._child, 0)
        self._failed = status != 0

    def is_here(self) -> bool:
        """Whether the answer has come, waiting for it a moment at most."""
        self._thread.join(WAIT_S)
        return not self._thread.is_alive()

    def take(self) -> Read | None:
        """Wait for what the child read; None where it could not."""
        self._thread.join()
        # Our own child wrote this. One that failed says nothing here: the program tries itself.
        return None if self._failed else pickle.loads(self._content)


def read_ahead(store_path: Path, read: Callable[[], Read]) -> Preload | None:
    """Start ``read``, of that store, in a child process; None where that would not help.

    To be called before anything starts a thread: a fork takes none of them along, but their locks.
    """
    try:
        if sys.platform == "win32" or store_path.stat().st_size > MAX_STORE_BYTES:
            return None
        pipe, answer = os.pipe()
        child = os.fork()
    except OSError:
        return None
    if child == 0:
        os.close(pipe)  # or a child whose parent is gone would wait for somebody to read
        _answer(read, answer)
    os.close(answer)
    return Preload(child, pipe)


def _answer(read: Callable[[], Read], pipe: int) -> None:
    """The child: read, write the pickled answer, and end without a word in any case."""
    failed = 1
    try:
        brought = read()
        with open(pipe, "wb") as file:
            pickle.dump(brought, file, pickle.HIGHEST_PROTOCOL)
        failed = 0
    finally:
        # Nothing of the parent's is tidied up here: neither its terminal nor what it buffered.
        os._exit(failed)
