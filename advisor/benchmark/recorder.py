"""Runs a benchmark's child and keeps what it finds in the store as it comes."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import closing, suppress
from typing import TYPE_CHECKING, Any

from advisor.benchmark.benchmark_plan import Plan
from advisor.benchmark.runner_process import Run
from advisor.costs.amount_words import are, counted
from advisor.store.own_rows import MEASURED_HERE
from advisor.store.storage.locate import typed_path
from advisor.typed_input import InputError
from bench_runner.records import journal
from bench_runner.records.measurement import Measurement

if TYPE_CHECKING:
    from advisor.store import Store


def follow(run: Run, recorder: Recorder) -> Generator[dict[str, Any]]:
    """The events of a run; each record is kept once its event was handed on, and all at the end."""
    with closing(run.events()) as events:
        for event in events:
            try:
                yield event
            finally:
                recorder.take(event)
    recorder.finish()


class Recorder:
    """Appends records to the store as they come; what it does not take now is tried again.

    A record is also in the runner's file, so nothing is lost where the store stays closed.
    """

    def __init__(self, store: Store, plan: Plan) -> None:
        """Raises InputError where the file of earlier records cannot be read."""
        self.kept = 0
        """How many records the store has taken, those that it had among them."""
        self._store = store
        self._plan = plan
        self._waiting: list[Measurement] = []
        self._closed: str | None = None
        """Why the store does not take what waits."""
        self._refused: str | None = None
        """Why a record was dropped."""
        self._recipe = plan.own_recipe
        self._seen: set[str] = set()
        self._owned = plan.owned_host()
        try:
            earlier = journal.read(plan.request.records_file)
        except ValueError as error:
            raise InputError(str(error)) from None
        self._earlier = {record.measurement_id for record in earlier}

    @property
    def problem(self) -> str | None:
        """Why a record is not in the store; None where all are."""
        return self._closed or self._refused

    @property
    def waiting(self) -> int:
        """How many records the store has not taken yet."""
        return len(self._waiting)

    def take(self, event: Mapping[str, Any]) -> None:
        """Keep the record of an event, where it has one.

        A trial's is written at once; what was left out or known before waits for the next trial.
        """
        row = event.get("best") if event["event"] == "search-finished" else event.get("record")
        if isinstance(row, dict):
            try:
                self._add(journal.from_json(row))
            except (ValueError, TypeError) as error:
                self._refused = f"a record cannot be kept: {error}"
        if event["event"] in ("trial-finished", "search-finished"):
            self._write()

    def finish(self) -> None:
        """Keep what the runner wrote and did not live to tell, and what the store refused."""
        try:
            written = journal.read(self._plan.request.records_file)
        except ValueError as error:
            self._refused = str(error)
            written = []
        for record in written:
            if record.measurement_id not in self._earlier:
                with suppress(ValueError):
                    self._add(record)
        self._write()
        if self.kept:
            with suppress(ValueError):  # a store that is held: the next merge or rebuild does it
                self._store.update_predictions()

    def words(self) -> str:
        """What became of the records."""
        plan = self._plan
        if self._closed is not None:
            missing = f"{counted(self.waiting, 'record')} {are(self.waiting)} not in the store"
            return (
                f"{missing} ({self._closed}); bring in what is missing by: "
                f"advisor merge --mine {typed_path(plan.request.records_file)} "
                f"--store {typed_path(plan.store_path)}"
            )
        text = f"{counted(self.kept, 'record')} of this run {are(self.kept)} in {plan.store_path}"
        return text if self._refused is None else f"{text}; {self._refused}"

    def _add(self, record: Measurement) -> None:
        """Put a record on the list. Raises StoreError where the store would refuse it."""
        from advisor.store.own_rows import own_tables

        if record.measurement_id not in self._seen:
            self._seen.add(record.measurement_id)
            own_tables(measurement=[record])
            self._waiting.append(record)

    def _write(self) -> None:
        from advisor.store import StoreError

        if not self._waiting:
            return
        try:
            self._store.append_measurements(self._waiting, [MEASURED_HERE])
            if any(r.status == "ok" and r.training_days is not None for r in self._waiting):
                self._add_own()
        except StoreError as error:
            self._closed = str(error)
            return
        self.kept += len(self._waiting)
        self._waiting, self._closed = [], None

    def _add_own(self) -> None:
        """With the first time, the machine itself and the recipe of a file."""
        if self._owned is not None:
            self._store.add(host=[self._owned])
        if self._recipe is not None:
            self._store.add_recipes([self._recipe])
        self._owned, self._recipe = None, None
