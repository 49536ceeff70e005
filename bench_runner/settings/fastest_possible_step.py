"""The least seconds that a step may take with settings that are not timed, by what is timed: what
cannot fit and what cannot win is left out with a reason. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import median

from bench_runner.records.measurement import Measurement, Settings, Sharding
from bench_runner.settings.batch_and_sharding import STAGES, label

WORTH_TRYING = 0.02
"""A candidate must be able to save this share of the best step; so much may the answer miss."""

# The least factors from the cost of a pass that was timed to that of one that was not.
RECOMPUTED, RECOMPUTED_AT_MOST = 1.2, 1.4
"""Activation checkpointing repeats the forward pass, a third of the work."""
ZERO = 0.8
"""DeepSpeed keeps the weights in half precision, so it may beat a pass in mixed precision."""
COMPILED = 0.6
"""The most that compilation may save of an uncompiled pass."""
SHARDED_FSDP = 0.93
"""FSDP casts parameters once where autocast casts them in every pass."""
OTHER_EXCHANGE = 0.7
"""Another way to shard or offload, by what it exchanges."""

CHECKPOINTED = 0.1
"""The least share of the activations that checkpointing keeps."""
MANY_DOUBLINGS = 10
"""As many as ever matter; where the climb saw no memory, as many as that are granted."""
CANNOT_FIT = 1.05
"""Predicted states must exceed the memory by this factor before a candidate is left out."""

_BY_COST: tuple[Sharding | None, ...] = (
    None,
    "zero-1",
    "fsdp-shard-grad-op",
    "zero-2",
    "fsdp-full-shard",
    "zero-3",
)
GIB = 1024**3


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """What the planner knows of the task and the machine."""

    gpu_count: int
    batch_size: int
    parameters: int | None
    """Of the model; None where its architecture is not counted."""
    half_precision: bool
    usable_memory_gib: float | None
    """Device memory of one GPU."""
    host_memory_gib: float | None


def without_micro_batch(settings: Settings) -> Settings:
    """The combination alone, as the space lists it."""
    return replace(settings, micro_batch_size=None, gradient_accumulation_steps=None)


def promise(settings: Settings) -> tuple[int, int, int]:
    """Sort key: what costs least first; offloading last, because it is the dearest."""
    place = _BY_COST.index(settings.sharding)
    return (int(settings.offloading), int(settings.activation_checkpointing), place)


def best_of(done: Sequence[Measurement]) -> Measurement | None:
    """The fastest record with a time, or None; what changes the training only where nothing else
    has one."""
    timed = [record for record in done if record.status == "ok" and record.step_s is not None]
    changes = {id(r): r.settings is not None and r.settings.changes_training for r in timed}
    return min(timed, key=lambda r: (changes[id(r)], r.step_s or 0.0), default=None)


def model_states_gib(settings: Settings, situation: Situation) -> float | None:
    """The least that weights, gradients and Adam's states take of one GPU, without activations."""
    parameters = situation.parameters
    if parameters is None:
        return None
    n, sharding = situation.gpu_count, settings.sharding
    small = 2 if situation.half_precision else 4
    master = 12 if situation.half_precision else 8
    if sharding is None:
        per_parameter = 16.0
    elif sharding == "fsdp-shard-grad-op":
        per_parameter = small + (0 if settings.offloading else 16 / n)
    elif sharding == "fsdp-full-shard":
        per_parameter = 0.0 if settings.offloading else 16 / n
    elif sharding == "zero-3":
        per_parameter = 0.0 if settings.offloading else (2 * small + master) / n
    else:
        gradients = small if sharding == "zero-1" and not settings.offloading else small / n
        states = 0.0 if settings.offloading else master / n
        per_parameter = small + gradients + states
    return parameters * per_parameter / GIB


def host_states_gib(settings: Settings, situation: Situation) -> float:
    """Host memory that offloaded states take, all ranks of one machine together."""
    if not settings.offloading or situation.parameters is None:
        return 0.0
    return situation.parameters * (16 if situation.half_precision else 12) / GIB


class LeastStep:
    """What records of some kernels allow to conclude about settings that have none."""

    def __init__(self, done: Sequence[Measurement], situation: Situation) -> None:
        self._situation = situation
        self._timed = [record for record in done if record.status == "ok"]
        self._best = best_of(done)

    def why_left_out(self, settings: Settings) -> str | None:
        """The sentence that leaves a candidate out, or None where it has to be tried."""
        states = model_states_gib(settings, self._situation)
        usable = self._situation.usable_memory_gib
        if states is not None and usable is not None and states > CANNOT_FIT * usable:
            return (
                f"cannot fit: weights, gradients and optimiser states alone take {states:.1f} GiB "
                f"of {usable:.1f} GiB"
            )
        host = self._situation.host_memory_gib
        states = host_states_gib(settings, self._situation)
        if host is not None and states > CANNOT_FIT * host:
            return (
                f"cannot fit: offloaded states take {states:.0f} GiB of {host:.0f} GiB of "
                "host memory"
            )
        floor, best = self.floor(settings), self._best
        if floor is None or best is None or best.step_s is None or best.settings is None:
            return None
        least_s, judge = floor
        # What promises most is tried, whatever the others say.
        if promise(settings) == (0, 0, 0) or least_s < (1 - WORTH_TRYING) * best.step_s:
            return None
        return (
            f"cannot win: at best {least_s:.3g} s a step, judged by {label(judge)}, and "
            f"{label(best.settings)} takes {best.step_s:.3g} s"
        )

    def floor(self, settings: Settings) -> tuple[float, Settings] | None:
        """The least seconds that a step may take, and the timed settings that say so; None where
        nothing is timed. Each record sets a floor, and the highest counts."""
        gpus = self._situation.gpu_count
        floors = []
        for record in self._timed:
            other = record.settings
            assert other is not None
            cost_s = _least_cost_s(record, settings) / (1 + self._gain(record, settings))
            overhead_s = 0.0
            if settings.offloading or not other.offloading:
                # Sharding, whichever it is, divides the update at best.
                newly = settings.sharding is not None and other.sharding is None
                divided = newly or _exchanges_less(settings, other)
                overhead_s = _overhead_s(record) / (gpus if divided else 1)
            floors.append((self._situation.batch_size / gpus * cost_s + overhead_s, other))
        return max(floors, key=lambda floor: floor[0], default=None)

    def _gain(self, record: Measurement, settings: Settings) -> float:
        """What larger micro-batches may gain over a record's, as far as these settings' memory
        allows them; 0 where throughput had stopped growing or the recipe's batch allows none."""
        climb = record.environment.get("climb") or {}
        if climb.get("at_the_end") or str(climb.get("stopped_by")).startswith("throughput"):
            return 0.0
        rates = _rates(record)
        doublings = self._doublings(record, settings)
        if doublings == 0:
            return 0.0
        if len(rates) < 2:
            return float("inf")
        last = max(0.0, rates[-1][1] / rates[-2][1] - 1)
        # Where a pass takes a + b x size, the last doubling's gain tells a / (b x size).
        rest = last / (1 - last) if last < 1 else float("inf")
        if rest == float("inf"):
            return rest
        return float((1 + rest) / (1 + rest / 2**doublings) - 1)

    def _doublings(self, record: Measurement, settings: Settings) -> int:
        """How often the micro-batch may double, by a straight line through the climb's peaks."""
        assert record.settings is not None
        probes = [p for p in record.environment.get("probes") or [] if p["fits"]]
        peaks = [(p["micro_batch_size"], p.get("peak_memory_gib")) for p in probes]
        known = [(size, float(peak)) for size, peak in peaks if peak is not None]
        usable = self._situation.usable_memory_gib
        if len(known) < 2 or usable is None:
            return MANY_DOUBLINGS
        (before, low), (size, high) = known[-2:]
        slope = max(0.0, high - low) / (size - before)
        mine = model_states_gib(settings, self._situation)
        others = model_states_gib(record.settings, self._situation)
        constant = 0.0
        if mine is not None and others is not None:
            constant = max(0.0, high - slope * size - max(0.0, others - mine))
        if settings.activation_checkpointing and not record.settings.activation_checkpointing:
            slope *= CHECKPOINTED
        count = 0
        while count < MANY_DOUBLINGS and (
            constant + slope * size * 2 ** (count + 1) <= CANNOT_FIT * usable
        ):
            count += 1
        return count


def _least_cost_s(record: Measurement, settings: Settings) -> float:
    """The least seconds per sample of one GPU's passes with other settings than a record's, at the
    record's micro-batch size."""
    other = record.settings
    assert other is not None and other.micro_batch_size is not None
    cost_s = median(_passes(record)) / other.micro_batch_size
    if _is_eager_zero(settings) and not _is_eager_zero(other):
        if rates := _rates(record):  # of the climb, which runs without compilation
            cost_s = 1 / max(rate for _, rate in rates)
    elif _is_eager_zero(other) and not _is_eager_zero(settings):
        cost_s *= COMPILED
    if settings.offloading and not other.offloading:
        pass  # what it moves is more than sharding may save
    elif _is_zero(settings) and not _is_zero(other):
        cost_s *= ZERO
    elif other.sharding is None and settings.sharding is not None:
        cost_s *= SHARDED_FSDP
    if _exchanges_less(settings, other):
        cost_s *= OTHER_EXCHANGE
    if settings.activation_checkpointing and not other.activation_checkpointing:
        cost_s *= RECOMPUTED
    elif other.activation_checkpointing and not settings.activation_checkpointing:
        cost_s /= RECOMPUTED_AT_MOST
    return cost_s


def _exchanges_less(settings: Settings, other: Settings) -> bool:
    """Whether settings may exchange or move less than others: another way to shard, a lower stage
    of the same, or no offloading."""
    if other.offloading and not settings.offloading:
        return True
    if other.sharding is None or settings.sharding == other.sharding:
        return False
    same_way = settings.sharding is not None and _is_zero(settings) == _is_zero(other)
    return not same_way or STAGES[settings.sharding] < STAGES[other.sharding]


def _is_zero(settings: Settings) -> bool:
    return (settings.sharding or "").startswith("zero-")


def _is_eager_zero(settings: Settings) -> bool:
    """Whether DeepSpeed runs it uncompiled, as it does in the paper's space."""
    return _is_zero(settings) and settings.compilation in (None, "none")


def _passes(record: Measurement) -> tuple[float, ...]:
    return record.pass_s or record.first_pass_s or record.sync_pass_s


def _overhead_s(record: Measurement) -> float:
    """What a step takes beyond its passes."""
    assert record.settings is not None
    assert record.settings.gradient_accumulation_steps is not None
    assert record.step_s is not None
    passes = record.settings.gradient_accumulation_steps * median(_passes(record))
    return max(0.0, record.step_s - passes)


def _rates(record: Measurement) -> list[tuple[int, float]]:
    climb = record.environment.get("climb") or {}
    rates = climb.get("samples_per_s") or {}
    return sorted((int(size), float(rate)) for size, rate in rates.items())
