"""The questions that the rest of the program asks the store, on one consistent snapshot."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from advisor.ranking.times import (
    BestTime,
    EvidenceRule,
    Model,
    Origin,
    ReachedTime,
    TrainingTime,
    at_face_value,
    one_clock,
)
from advisor.store.storage.engine import duckdb
from advisor.store.stored_time import TIME, StoredTime
from price_catalog.builds import GPU_COUNTS
from price_catalog.model import Gpu, Host, Part, Quote, Rental, Source
from price_catalog.providers import provider_name, rental_kind

if TYPE_CHECKING:
    from advisor.ranking.fabric import Link
    from advisor.ranking.fine_tuning import FineTuning
    from advisor.ranking.snapshot import FineTuner
    from advisor.store.predictions import OwnDefinitions
    from bench_runner.records.measurement import Measurement


_OFFLOADING = TIME.index("offloading")
QUERIES_FOLDER = Path(__file__).with_name("queries")


@cache
def query(name: str) -> str:
    """The text of ``queries/<name>.sql``."""
    return (QUERIES_FOLDER / f"{name}.sql").read_text(encoding="utf-8")


_Build = tuple[str, str, int]
"""A model, a GPU and how many of it."""
_WithHost = tuple[float, TrainingTime]
_FILLS_A_HOST = 1_000_000_000
"""Parameters whose optimiser states take the 32 GiB that every machine for training has."""
_BATCH_ROWS = 2_048


class Reader:
    """Answers from one open store; use it inside ``with store.reading() as reader``."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self.connection = connection
        self._models: tuple[Model, ...] | None = None

    def _records(self, name: str, **parameters: object) -> list[dict[str, Any]]:
        answer = self.connection.execute(query(name), parameters or None)
        columns = [column[0] for column in answer.description or ()]
        return [dict(zip(columns, row, strict=True)) for row in answer.fetchall()]

    def _times(self, name: str, **asked: object) -> tuple[StoredTime, ...]:
        return tuple(map(StoredTime, self.connection.execute(query(name), asked).fetchall()))

    def models(self) -> tuple[Model, ...]:
        """Every recipe, by family and size."""
        if self._models is None:
            self._models = tuple(Model(**record) for record in self._records("models"))
        return self._models

    def uncounted_models(self) -> dict[str, str]:
        """Why a model of the user's own, kept by an earlier version, is counted no longer."""
        return self.own_definitions().uncounted

    def own_definitions(self) -> OwnDefinitions:
        """The models and timed trainings of the user's own."""
        from advisor.store.predictions import own_definitions

        return own_definitions(self.connection)

    def own_records(self) -> list[Measurement]:
        """The user's own times that a prediction learns from."""
        from advisor.store.predictions import own_records

        return own_records(self.connection)

    def gpus(self) -> tuple[Gpu, ...]:
        """Every GPU, oldest first."""
        return tuple(
            Gpu(**{**record, "aliases": tuple(record["aliases"])})
            for record in self._records("gpus")
        )

    def hosts(self) -> tuple[Host, ...]:
        """Every host with its parts list, smallest first."""
        parts: dict[str, list[Part]] = defaultdict(list)
        for record in self._records("host_parts"):
            parts[record.pop("host_id")].append(Part(**record))
        found = []
        for record in self._records("hosts"):
            record["takes"] = tuple(record["takes"] or ())
            record["supported"] = tuple(record["supported"] or ())
            found.append(Host(**record, parts=tuple(parts[record["host_id"]])))
        return tuple(found)

    def quotes(self) -> tuple[Quote, ...]:
        """Every quote, by item and date."""
        answer = self.connection.execute(query("quotes"))
        found: list[Quote] = []
        while rows := answer.fetchmany(_BATCH_ROWS):
            found += map(Quote._make, rows)
        return tuple(found)

    def rentals(self, gpu_ids: Sequence[str] | None = None) -> tuple[Rental, ...]:
        """Every hourly price, or those of some GPUs, by GPU, count and date; each provider under
        its one name."""
        # As text: for a list DuckDB loads modules that most answers do without.
        records = self._records("rentals", gpu_ids=None if gpu_ids is None else "\n".join(gpu_ids))
        return tuple(_under_one_name(record) for record in records)

    def sources(self) -> tuple[Source, ...]:
        """Every source."""
        return tuple(Source(**record) for record in self._records("sources"))

    def times(
        self,
        recipe_id: str | None = None,
        *,
        gpu_id: str | None = None,
        gpu_count: int | None = None,
        status: str | None = None,
        origin: Origin | None = None,
    ) -> tuple[TrainingTime, ...]:
        """Every tried setting, those without a time too; each filter that is given applies."""
        asked = {"gpu_id": gpu_id, "gpu_count": gpu_count, "status": status, "origin": origin}
        return self._times("times", recipe_id=recipe_id, **asked)

    def search_times(
        self,
        words: Sequence[str],
        *,
        sort: str = "model",
        descending: bool = False,
        predictions: bool = False,
        limit: int,
    ) -> tuple[TrainingTime, ...]:
        """The first of the times that have every one of these lower-case words.

        ``sort`` is model, gpu, method, days, interval, mfu, verdict, source, basis or day. Evidence
        alone, or the ``predictions`` among it.
        """
        asked = {"sort": sort, "descending": descending, "predictions": predictions}
        return self._times("search_times", words=list(words), **asked, limit=limit)

    def count_times(self, *, predictions: bool = False) -> int:
        """How many times there are, or predictions among them too."""
        asked = {"predictions": predictions}
        (count,) = self.connection.execute(query("count_times"), asked).fetchone() or (0,)
        return int(count)

    def predictions(
        self, recipe_id: str | None = None, gpu_id: str | None = None
    ) -> tuple[TrainingTime, ...]:
        """What was not measured, of one model or all, also where it would not fit."""
        return self._times("predictions", recipe_id=recipe_id, gpu_id=gpu_id)

    def measured_models(self) -> dict[str, int]:
        """How many times each model has; models without one are absent."""
        return dict(self.connection.execute(query("measured_models")).fetchall())

    def predicted_models(self) -> set[str]:
        """The models with a predicted time."""
        return {
            recipe_id
            for (recipe_id,) in self.connection.execute(query("predicted_models")).fetchall()
        }

    def measured_power_w(self) -> dict[str, float]:
        """What one GPU of each kind drew while it was timed, in W; others are absent."""
        return dict(self.connection.execute(query("measured_power")).fetchall())

    def best_times(self, recipe_id: str, evidence: EvidenceRule) -> tuple[BestTime, ...]:
        """Which time stands for each (GPU, count), under ``sound`` or ``published`` evidence."""
        if "+" in recipe_id:  # fine-tuned: nothing of it is kept
            return self.asked_times(recipe_id) if evidence == "sound" else ()
        recorded = self._recorded(recipe_id=recipe_id, gpu_id=None)
        if evidence == "published":
            return tuple(at_face_value(recorded.values()))
        estimates = {_build(time): time for time in self.predictions(recipe_id)}
        with_host = self._with_more_host_memory(recipe_id=recipe_id, gpu_id=None)
        # A recipe that is measured for the first time is none of the store's models yet.
        model = next((each for each in self.models() if each.recipe_id == recipe_id), None)
        return tuple(
            best._replace(host_gib=_host_gib(best.chosen, model))
            for best in _on_one_clock(recorded, estimates, with_host).values()
        )

    def times_on(
        self, gpu: Gpu, count: int, tuning: FineTuning | None = None
    ) -> tuple[tuple[Model, ...], dict[tuple[str, int], ReachedTime]]:
        """Every model, fine-tuned where that is asked, and the time that counts on ``count``
        GPUs of a kind and on more of them, in sound evidence."""
        gpu_id = gpu.gpu_id
        estimates: dict[_Build, TrainingTime]
        if tuning is not None or count not in GPU_COUNTS:
            from advisor.store.asked_times import asked_on  # late: it loads numpy

            counted, reached = asked_on(self.connection, gpu, count, tuning)
            if tuning is not None:
                return counted, reached
            asked = {(recipe_id, gpu_id, n): each for (recipe_id, n), each in reached.items()}
            estimates = {build: each.time for build, each in asked.items()}
            with_host = {build: each.with_host for build, each in asked.items() if each.with_host}
        else:
            estimates = {_build(time): time for time in self.predictions(gpu_id=gpu_id)}
            with_host = self._with_more_host_memory(recipe_id=None, gpu_id=gpu_id)
        recorded = self._recorded(recipe_id=None, gpu_id=gpu_id)
        return self.models(), {
            (build[0], build[2]): ReachedTime(
                best.chosen,
                best.with_host,
                estimates[build].peak_memory_gib if build in estimates else None,
            )
            for build, best in _on_one_clock(recorded, estimates, with_host).items()
            if best.chosen is not None
        }

    def _recorded(self, **asked: str | None) -> dict[_Build, BestTime]:
        """What was recorded of one model or on one kind of GPU."""
        parts: dict[str, dict[_Build, StoredTime]] = defaultdict(dict)
        for time in self._times("best_times", **asked):
            parts[time.use][_build(time)] = time
        published, naive = parts["published"], parts["naive"]
        return {
            build: BestTime(*build[1:], time, published.get(build), naive.get(build))
            for build, time in parts["chosen"].items()
        }

    def asked_times(
        self, recipe_id: str, software: str = "ours", machines: int = 1, link: Link | None = None
    ) -> tuple[BestTime, ...]:
        """What is predicted of each (GPU, count) of other software, over several machines, or of
        fine-tuning."""
        from advisor.store.asked_times import asked_times  # late: it loads numpy

        return asked_times(self.connection, recipe_id, software, machines, link)

    def fine_tuner(self) -> FineTuner:
        """What counts a model that is fine-tuned, the user's own among them."""
        from advisor.store.counted_models import fine_tuner

        kept = any(model.origin == "local" for model in self.models())
        return fine_tuner(self.own_definitions().models if kept else ())

    def _with_more_host_memory(self, **asked: str | None) -> dict[_Build, _WithHost]:
        """Of what gains by it: the GiB of host memory, and the time with it."""
        times = self._times("predicted_with_host", **asked)
        return {_build(time): (float(time.use), time) for time in times}


def _build(time: TrainingTime) -> _Build:
    return time.recipe_id, time.gpu_id, time.gpu_count


def _on_one_clock(
    recorded: Mapping[_Build, BestTime],
    estimates: Mapping[_Build, TrainingTime],
    with_host: Mapping[_Build, _WithHost],
) -> dict[_Build, BestTime]:
    """The times that stand: estimates wherever what was recorded does not."""
    found = {}
    for build in {**recorded, **estimates}:
        estimate = estimates.get(build)
        best = BestTime(*build[1:], estimate, None, None)
        if build in recorded:
            best = one_clock(recorded[build], estimate)
        found[build] = best._replace(with_host=with_host.get(build))
    return found


def _host_gib(time: TrainingTime | None, model: Model | None) -> float | None:
    """What an estimate needs of its host's memory, where some hosts have less."""
    if model is None or model.parameters < _FILLS_A_HOST:
        return None
    if isinstance(time, StoredTime) and not time._row[_OFFLOADING]:
        return None
    from advisor.prediction.physics.memory import host_gib_of  # late: most models are smaller

    return host_gib_of(time, model)


def _under_one_name(record: dict[str, Any]) -> Rental:
    """A rental as the rest of the program knows it, however a feed or a merge spelled it."""
    provider, mark = record["provider"], record.pop("mark")
    return Rental(
        **{
            **record,
            "provider": f"{provider_name(provider)}{mark}",
            "kind": rental_kind(provider, record["kind"]),
        }
    )
