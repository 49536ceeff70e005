"""Runs a benchmark's child and keeps what it finds in the store as it comes."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import closing, suppress
from shlex import quote
from typing import TYPE_CHECKING, Any

from advisor.benchmark.benchmark_plan import Plan
from advisor.benchmark.runner_process import Run
from advisor.costs.amount_words import are, counted
from advisor.store.own_rows import MEASURED_HERE
from advisor.typed_input import InputError
from bench_runner.records import journal
from bench_runner.records.measurement import Measurement

if TYPE_CHECKING:
    from advisor.prediction.model.own_model import OwnModel
    from advisor.store import Store
    from price_catalog.model import Host


def follow(run: Run, recorder: Recorder) -> Generator[dict[str, Any]]:
    """The events of a run; each record is kept once its event was handed on, and all at the end."""
    with closing(run.events()) as events:
        for event in events:
            try:
                yield event
            finally:
                recorder.take(event)
    recorder.finish()


def keep_records(
    store: Store, records: Sequence[Measurement], recipe: OwnModel | None, host: Host | None = None
) -> int:
    """Keep records as the user's own, with a first time the recipe of a file and the machine, too;
    how many were new. Raises StoreError."""
    added = store.add([MEASURED_HERE], measurement=records)
    if any(record.status == "ok" for record in records):
        store.add(host=filter(None, [host]), recipe=filter(None, [recipe]))
    return added


class Recorder:
    """Keeps a model's records in the store as trials end: those of the runner's file, where nothing
    is lost if the store stays closed."""

    def __init__(self, store: Store, plan: Plan) -> None:
        """Raises InputError where the file of earlier records cannot be read."""
        self.kept = 0
        """How many records of the model are in the store."""
        self.waiting = 0
        """How many are not."""
        self.problem: str | None = None
        """Why they are not."""
        self._store = store
        self._plan = plan
        try:
            journal.read(plan.request.records_file)
        except ValueError as error:
            raise InputError(str(error)) from None

    def take(self, event: Mapping[str, Any]) -> None:
        """Keep what is on record once a trial or the search has ended."""
        if event["event"] in ("trial-finished", "search-finished"):
            self._keep()

    def finish(self) -> None:
        """Keep what the runner wrote and did not live to tell, and what the store refused."""
        self._keep()
        if self.kept:
            with suppress(ValueError):  # a store that is held: the next merge or rebuild does it
                self._store.update_predictions()

    def words(self) -> str:
        """What became of the records."""
        plan = self._plan
        if self.problem is None:
            of = f"{counted(self.kept, 'record')} of {plan.recipe_id}"
            return f"{of} {are(self.kept)} in {plan.store_path}"
        missing = f"{counted(self.waiting, 'record')} {are(self.waiting)} not in the store"
        return (
            f"{missing} ({self.problem}); bring in what is missing by: "
            f"advisor merge --mine {quote(str(plan.request.records_file))} "
            f"--store {quote(str(plan.store_path))}"
        )

    def _keep(self) -> None:
        try:
            records = journal.read(self._plan.request.records_file)
            records = [each for each in records if each.recipe_id == self._plan.recipe_id]
            self.waiting = len(records) - self.kept
            if self.waiting:
                own_host = self._plan.owned_host() if self._is_timed(records) else None
                keep_records(self._store, records, self._plan.own_recipe, own_host)
        except ValueError as error:  # of the file, or a StoreError
            self.problem = str(error)
        else:
            self.kept, self.waiting, self.problem = len(records), 0, None

    def _is_timed(self, records: Sequence[Measurement]) -> bool:
        """Whether one has a time of this machine: machines of other GPUs may share the file."""
        here, count = self._plan.here, self._plan.request.gpu_count
        names = {gpu.name for gpu in here.gpus} if here is not None else set()
        return any(
            record.status == "ok" and record.gpu in names and record.gpu_count == count
            for record in records
        )
