"""What other labs have measured: recomputed from raw seconds, audited, held against the prediction.

A record may be refused (impossible, or not to be recomputed), counts (inside the prediction's 99 %
interval, or two labs agree), or is kept and does not count. There is no fixed maximum: the limit is
the peak and the memory of the GPU itself.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any

from advisor.ranking.audit import audit_time
from advisor.ranking.times import Standing
from advisor.store.engine import duckdb
from advisor.store.lab_agreement import AGREE_WITHIN, RAW, agreeing_lab, copied_from
from advisor.store.measurement_columns import SETTINGS
from advisor.store.possible_figures import MEMORY_SLACK, MOST_OF_TDP
from advisor.store.store_error import StoreError
from bench_runner.records import timing
from bench_runner.records.measurement import Measurement
from bench_runner.typed_numbers import percent
from price_catalog.model import Gpu, Source

if TYPE_CHECKING:
    from bench_runner.recipes import Recipe

SHARED = Source(
    source_id="shared-by-labs",
    title="Measurements that labs share",
    url=None,
    how_measured=(
        "bench_runner on the machines of the lab that each record names; recomputed here from its "
        "raw seconds"
    ),
    licence=None,
    published_on=None,
)
WIDER = 1.91
"""From a 90 to a 99 % interval of logarithms: Student's t with six degrees of freedom, 3.71 / 1.94,
about which the fit of the tails is centred (a normal distribution would have 1.57)."""
RECOMPUTED_WITHIN = 0.01
"""How far a file's own days may be off what its raw seconds give."""
COPIED = "its seconds are those of"
"""How the reason of a copy begins; a store keeps it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """One record of a lab, recomputed, and what is to be thought of it."""

    record: Measurement
    standing: Standing | None
    """None where it is refused."""
    reason: str
    expected: tuple[float, float] | None = None
    """The prediction's 99 % interval in days, where there is one."""
    is_copy: bool = False
    """Whether its seconds are another lab's, altered."""


class Judge:
    """Holds labs' records against the catalogue, the prediction and one another."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        from advisor.store.predictions import own_records
        from advisor.store.reader import Reader
        from bench_runner.recipes import load_recipes
        from price_catalog.gpu_names import index_gpus

        reader = Reader(connection)
        self._gpus = index_gpus(reader.gpus())
        self._recipes = {recipe.recipe_id: recipe for recipe in load_recipes()}
        self._flops = {model.recipe_id: model.flops_lowest for model in reader.models()}
        self._own = own_records(connection)
        self._fitted: Any = None
        rows = connection.execute(_KNOWN).fetchall()
        self._held = [_held(row) for row in rows]
        self._copies = {row[0] for row in rows if (row[8] or "").startswith(COPIED)}
        self._content = {_content(record) for record, _ in self._held}

    def _alone(self, record: Measurement) -> Judged:
        """One record by itself: refused, ``single`` or ``unconfirmed``."""
        from bench_runner.recipes import recipe_hash
        from price_catalog.gpu_names import normalise

        recipe = self._recipes.get(record.recipe_id)
        gpu = self._gpus.get(normalise(record.gpu))
        why = None
        if record.lab is None:
            why = "it names no lab: write it by advisor export --share FILE --lab NAME"
        elif recipe is None:
            why = f"no recipe that ships is called {record.recipe_id}"
        elif record.recipe_hash != recipe_hash(recipe):
            why = f"it is of another definition of {record.recipe_id}"
        elif gpu is None:
            why = f"no GPU of the catalogue is called {record.gpu}"
        elif record.status != "ok" or record.timing != "synchronised":
            why = "it is no synchronised time"
        else:
            why = _not_recomputable(record, recipe)
        if why is not None or recipe is None or gpu is None:
            return Judged(record=record, standing=None, reason=why or "not known")
        again = _recomputed(record, recipe)
        why = _contradiction(record, again) or self._impossible(again, gpu, recipe)
        if why is not None:
            return Judged(record=again, standing=None, reason=why)
        return self._against_prediction(again, gpu, recipe)

    def files(self, files: Iterable[Iterable[Measurement]]) -> list[tuple[list[Judged], int]]:
        """What is new in each of several files, judged as if all were merged, and how many
        records of each are known already."""
        seen, counts = set(self._content), []
        judged: list[Judged] = []
        for records in files:
            known, before = 0, len(judged)
            for record in records:
                content = _content(record)
                if content in seen:
                    known += 1
                else:
                    seen.add(content)
                    judged.append(self._alone(record))
            counts.append((len(judged) - before, known))
        together = iter(self._together(judged))
        return [(list(islice(together, count)), known) for count, known in counts]

    def _impossible(self, record: Measurement, gpu: Gpu, recipe: Recipe) -> str | None:
        assert record.settings is not None and record.training_days is not None
        audit = audit_time(
            gpu=gpu,
            gpu_count=record.gpu_count,
            precision=recipe.training.precision,
            naive=not record.settings.free_lunch,
            flops=self._flops.get(record.recipe_id),
            training_days=record.training_days,
            training_days_high=record.training_days_high,
        )
        if audit.verdict == "implausible":
            return audit.reason
        if audit.verdict == "unchecked":
            return audit.reason
        peak = record.peak_memory_gib
        if peak is not None and peak > MEMORY_SLACK * gpu.memory_gib:
            return f"it used {peak:.1f} GiB of a GPU that has {gpu.memory_gib:g}: impossible"
        power = record.environment.get("gpu") or {}
        watts = power.get("counted_w") or power.get("power_w")
        if watts is not None and gpu.tdp_w is not None and float(watts) > MOST_OF_TDP * gpu.tdp_w:
            return f"{float(watts):.0f} W is more than a {gpu.name} ({gpu.tdp_w:g} W) can draw"
        return None

    def _against_prediction(self, record: Measurement, gpu: Gpu, recipe: Recipe) -> Judged:
        days = record.training_days or 0.0
        expected = self._expected(record, gpu, recipe)
        if expected is None:
            return Judged(
                record=record,
                standing="unconfirmed",
                reason="nothing predicts this: it counts once a second lab agrees",
            )
        low, high = expected
        assert record.settings is not None
        # Other settings than the fastest may take longer than a prediction says, not less.
        bounded = record.node_count == 1 and record.method != "memory-saving"
        words = f"{days:.3g} days, predicted {low:.3g} to {high:.3g} at 99 %"
        if days < low or (bounded and days > high):
            return Judged(
                record=record,
                standing="unconfirmed",
                reason=f"outside the prediction ({words}): it counts once a second lab agrees",
                expected=expected,
            )
        return Judged(
            record=record,
            standing="single",
            reason=f"inside the prediction ({words})"
            if days <= high
            else f"slower than the fastest settings, as others may be ({words})",
            expected=expected,
        )

    def _expected(
        self, record: Measurement, gpu: Gpu, recipe: Recipe
    ) -> tuple[float, float] | None:
        from advisor.prediction.model.workload import workload_of
        from advisor.prediction.own_records import fit_with
        from advisor.prediction.physics.chip import chip_of
        from advisor.prediction.predict_one import MOST_GPUS, predict

        if record.gpu_count > MOST_GPUS:
            return None
        if self._fitted is None:
            self._fitted = fit_with(self._own)
        assert record.settings is not None
        method = "optimal" if record.settings.free_lunch else "naive"
        answer = predict(
            workload_of(recipe), chip_of(gpu), record.gpu_count, self._fitted, method=method
        )
        middle, low, high = (
            answer.training_days,
            answer.training_days_low,
            answer.training_days_high,
        )
        if method == "optimal" and record.settings.loss != "fused":
            # It cannot be as fast as with the settings that the program writes out.
            middle, low, high = (
                answer.paper_settings_days,
                answer.paper_settings_days_low,
                answer.paper_settings_days_high,
            )
        if middle is None or low is None or high is None:
            return None
        return middle * (low / middle) ** WIDER, middle * (high / middle) ** WIDER

    def _together(self, found: Iterable[Judged]) -> list[Judged]:
        """The same with what the store holds: two labs that agree confirm each other, and a copy
        counts for nothing."""
        judged: list[Judged] = []
        before = [record for record, _ in self._held]
        for each in found:
            judged.append(_unless_copied(each, before))
            before.append(each.record)
        others = [each.record for each in judged if each.standing is not None]
        others += [record for record, _ in self._held]
        return [self._confirmed(each, others) for each in judged]

    def raised(self, found: Iterable[Judged]) -> list[tuple[str, str]]:
        """Ids of the store's own lab records that the new ones confirm, with the reason."""
        fresh = [each.record for each in found if each.standing is not None and not each.is_copy]
        ids = []
        for record, standing in self._held:
            if record.lab is None or standing == "confirmed":
                continue
            if record.measurement_id in self._copies:
                continue
            agreeing = agreeing_lab(record, fresh, self._gpus)
            if agreeing:
                ids.append(
                    (record.measurement_id, f"{agreeing} agrees within {percent(AGREE_WITHIN)}")
                )
        return ids

    def _confirmed(self, each: Judged, others: Sequence[Measurement]) -> Judged:
        if each.standing is None or each.is_copy:
            return each
        agreeing = agreeing_lab(each.record, others, self._gpus)
        if agreeing is None:
            return each
        reason = (
            f"{agreeing} agrees within {percent(AGREE_WITHIN)}; {each.reason.partition(':')[0]}"
        )
        return replace(each, standing="confirmed", reason=reason)


_KNOWN = f"""
    SELECT measurement_id, recipe_id, recipe_hash, gpu, gpu_count, node_count, lab,
        standing, standing_reason, step_s, method, environment,
        {", ".join(SETTINGS)}, {", ".join(RAW)}
    FROM measurement
    WHERE origin = 'local' AND status = 'ok' AND timing = 'synchronised'
"""


def _held(row: Sequence[Any]) -> tuple[Measurement, str | None]:
    from bench_runner.records.measurement import Settings

    at = 12 + len(SETTINGS)
    settings = row[12:at]
    raw: dict[str, Any] = {name: tuple(one) for name, one in zip(RAW, row[at:], strict=True)}
    record = Measurement(
        measurement_id=row[0],
        recipe_id=row[1],
        recipe_hash=row[2],
        gpu=row[3],
        gpu_count=row[4],
        node_count=row[5] or 1,
        lab=row[6],
        step_s=row[9],
        method=row[10],
        environment=json.loads(row[11] or "{}"),
        settings=None
        if settings[0] is None
        else Settings(**dict(zip(SETTINGS, settings, strict=True))),
        status="ok",
        reason=None,
        training_days=None,
        training_days_low=None,
        training_days_high=None,
        timing="synchronised",
        source_id="",
        measured_on=None,
        **raw,
    )
    return record, row[7]


def _unless_copied(each: Judged, before: Iterable[Measurement]) -> Judged:
    original = None if each.standing is None else copied_from(each.record, before)
    if original is None:
        return each
    whose = original.lab or "your own measurement"
    reason = f"{COPIED} {original.measurement_id} ({whose}), altered: a copy does not count"
    return replace(each, standing="unconfirmed", reason=reason, is_copy=True)


def _not_recomputable(record: Measurement, recipe: Recipe) -> str | None:
    settings = record.settings
    if not record.sync_pass_s or not record.update_s:
        return "it has no raw seconds, from which it could be recomputed"
    if settings is None or not settings.micro_batch_size:
        return "it does not say its settings"
    passes = settings.gradient_accumulation_steps
    batch = recipe.training.batch_size
    if not passes or settings.micro_batch_size * passes * record.gpu_count != batch:
        return f"its micro-batch, accumulation and GPUs do not make the recipe's batch of {batch}"
    if passes > 1 and not (record.pass_s or record.first_pass_s):
        return "it times no pass without gradient exchange"
    if min(len(record.sync_pass_s), len(record.update_s)) < 2:
        return "it times a single step"
    if any(second <= 0 for name in ("pass_s", "sync_pass_s") for second in getattr(record, name)):
        return "some of its passes take no time"
    return None


def _recomputed(record: Measurement, recipe: Recipe) -> Measurement:
    """The record with everything that follows from its raw seconds, made anew."""
    assert record.settings is not None and record.settings.gradient_accumulation_steps is not None
    raw = timing.RawSeconds(**{name: getattr(record, name) for name in RAW})
    step = timing.step_time(raw, record.settings.gradient_accumulation_steps)
    total = recipe.training.training_steps
    return replace(
        record,
        step_s=step.step_s,
        training_days=timing.training_days(step.step_s, total),
        training_days_low=timing.training_days(step.step_s_low, total),
        training_days_high=timing.training_days(step.step_s_high, total),
        mfu=None,
    )


def _contradiction(told: Measurement, again: Measurement) -> str | None:
    for name, unit in (("step_s", "s a step"), ("training_days", "days")):
        said, found = getattr(told, name), getattr(again, name)
        if said is not None and abs(said / found - 1) > RECOMPUTED_WITHIN:
            return f"it says {said:.4g} {unit}, its raw seconds give {found:.4g}"
    return None


def _content(record: Measurement) -> str:
    """The same for the same seconds of the same settings, whatever id or lab is written on them."""
    facts = [
        record.recipe_id,
        record.recipe_hash,
        record.gpu_count,
        record.node_count,
        None if record.settings is None else asdict(record.settings),
        *(list(getattr(record, name)) for name in RAW),
    ]
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()


def judge_all(
    connection: duckdb.DuckDBPyConnection, records: Iterable[Measurement]
) -> tuple[list[Judged], list[tuple[str, str]]]:
    """The records of labs as they would be kept, and what they confirm in the store."""
    judge = Judge(connection)
    ((judged, _),) = judge.files([records])
    return judged, judge.raised(judged)


def raise_refused(judged: Iterable[Judged]) -> None:
    """Raise StoreError for the first record that cannot be kept."""
    for each in judged:
        if each.standing is None:
            record = each.record
            raise StoreError(
                f"the record {record.measurement_id} of {record.lab} ({record.recipe_id} on "
                f"{record.gpu_count} x {record.gpu}) is refused: {each.reason}; nothing was added"
            )
