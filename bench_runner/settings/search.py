"""Which settings to try next, which to leave out and why, when to stop. Pure.

Exhaustive tries everything. Fast starts from the most promising settings and leaves out what
cannot fit or cannot win: for each candidate it takes the most favourable step that the records so
far allow, and leaves the candidate out where even that would not beat the best.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Literal, get_args

from bench_runner.records.measurement import Measurement, Settings, Sharding
from bench_runner.settings.paper_space import SHARDINGS, label

Strategy = Literal["fast", "exhaustive"]
STRATEGIES: tuple[Strategy, ...] = get_args(Strategy)

WORTH_TRYING = 0.02
"""A candidate must be able to save this share of the best step; so much may the answer miss."""
RECOMPUTED = 1.2
"""Activation checkpointing repeats the forward pass, a third of the work; the least it costs."""
EAGER_ZERO = 0.8
"""DeepSpeed keeps the weights in half precision, so it may beat an uncompiled mixed-precision
pass by this factor, but it is not compiled."""
RECOMPUTED_AT_MOST = 1.4
"""... and the most."""
COMPILED = 0.6
"""The most that compilation may save of an uncompiled pass."""
OTHER_EXCHANGE = 0.7
"""The most that another way to shard or offload may save of a pass, by what it exchanges."""
CHECKPOINTED = 0.1
"""The least share of the activations that checkpointing keeps."""
MANY_DOUBLINGS = 10
"""As many as ever matter; where the climb saw no memory, as many as that are granted."""
SHARDED_FSDP = 0.93
"""FSDP casts parameters once where autocast casts them in every pass; the most it may save."""
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Try:
    """Run this one next."""

    settings: Settings
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaveOut:
    """Do not run this one."""

    settings: Settings
    reason: str


def without_micro_batch(settings: Settings) -> Settings:
    """The combination alone, as the space lists it."""
    return replace(settings, micro_batch_size=None, gradient_accumulation_steps=None)


def promise(settings: Settings) -> tuple[int, int, int]:
    """Sort key: what costs least first; offloading last, because it is the dearest."""
    place = _BY_COST.index(settings.sharding)
    return (int(settings.offloading), int(settings.activation_checkpointing), place)


def next_action(
    candidates: Sequence[Settings],
    done: Sequence[Measurement],
    situation: Situation,
    strategy: Strategy,
) -> Try | LeaveOut | None:
    """The next thing to do about the candidates that ``done`` says nothing of; None at the end."""
    if strategy not in STRATEGIES:
        raise ValueError(f"--search is {strategy!r}: choose among {', '.join(STRATEGIES)}")
    settled = {
        without_micro_batch(record.settings) for record in done if record.settings is not None
    }
    open_ones = [settings for settings in candidates if settings not in settled]
    if strategy == "exhaustive":
        if not open_ones:
            return None
        return Try(settings=open_ones[0], reason="next in the list")
    open_ones.sort(key=promise)
    evidence = _Evidence(done, situation)
    for settings in open_ones:
        reason = evidence.why_left_out(settings)
        if reason is not None:
            return LeaveOut(settings=settings, reason=reason)
    if not open_ones:
        return None
    best = evidence.floor_step_s(open_ones[0])
    hope = "nothing measured speaks against it"
    if best is not None:
        hope = f"at best {best:.3g} s a step"
    return Try(settings=open_ones[0], reason=f"most promising of those left: {hope}")


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


class _Evidence:
    """What the records allow to conclude about the settings that have none."""

    def __init__(self, done: Sequence[Measurement], situation: Situation) -> None:
        self._situation = situation
        # Naive settings are measured for comparison; they say nothing about the others.
        done = [record for record in done if record.settings and record.settings.free_lunch]
        self._records = {
            without_micro_batch(record.settings): record for record in done if record.settings
        }
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
        host, host_states = (
            self._situation.host_memory_gib,
            host_states_gib(settings, self._situation),
        )
        if host is not None and host_states > CANNOT_FIT * host:
            return (
                f"cannot fit: offloaded states take {host_states:.0f} GiB of {host:.0f} GiB of "
                "host memory"
            )
        if self._best is None or self._best.step_s is None or self._best.settings is None:
            return None
        if promise(settings) == (0, 0, 0):
            return None
        floor = self.floor_step_s(settings)
        if floor is None or floor < (1 - WORTH_TRYING) * self._best.step_s:
            return None
        return (
            f"cannot win: at best {floor:.3g} s a step, judged by {self._basis(settings)}, and "
            f"{label(self._best.settings)} takes {self._best.step_s:.3g} s"
        )

    def floor_step_s(self, settings: Settings) -> float | None:
        """The most favourable step in seconds; None where no record tells anything."""
        cost = self._floor_cost_s(settings)
        overhead = self._floor_overhead_s(settings)
        if cost is None or overhead is None:
            return None
        samples = self._situation.batch_size / self._situation.gpu_count
        return samples * cost + overhead

    def _timed(self, settings: Settings) -> Measurement | None:
        record = self._records.get(settings)
        return record if record is not None and record.status == "ok" else None

    def _base(self, settings: Settings) -> Settings | None:
        """The nearest settings that do without one of this candidate's burdens."""
        if settings.activation_checkpointing:
            return replace(settings, activation_checkpointing=False)
        if settings.offloading:
            plain = replace(settings, offloading=False)
            return plain if self._situation.gpu_count > 1 else replace(plain, sharding=None)
        if settings.sharding in ("zero-2", "zero-3"):
            lower = SHARDINGS[SHARDINGS.index(settings.sharding) - 1]
            return replace(settings, sharding=lower)
        if settings.sharding == "fsdp-full-shard":
            return replace(settings, sharding="fsdp-shard-grad-op")
        if settings.sharding is not None:
            return replace(settings, sharding=None)
        return None

    def _basis(self, settings: Settings) -> str:
        base = self._base(settings)
        while base is not None:
            if self._timed(base) is not None:
                return label(base)
            base = self._base(base)
        return "the others"

    def _floor_cost_s(self, settings: Settings) -> float | None:
        """The least seconds per sample of one GPU's passes, from the nearest timed settings."""
        factor, nearest = 1.0, settings
        while (record := self._timed(nearest)) is None:
            base = self._base(nearest)
            if base is None:
                return self._any_cost_s(settings)
            factor *= _burden(nearest, base)
            nearest = base
        cost = _cost_s(record)
        if _eager_zero(settings) and not _eager_zero(nearest):
            cost = _eager_cost_s(record) or cost
        return factor * cost / (1 + self._gain(record, settings))

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
        constant = max(0.0, high - slope * size)
        mine = model_states_gib(settings, self._situation)
        others = model_states_gib(record.settings, self._situation)
        if mine is None or others is None:
            constant = 0.0
        else:
            constant = max(0.0, constant - max(0.0, others - mine))
        if settings.activation_checkpointing and not record.settings.activation_checkpointing:
            slope *= CHECKPOINTED
        count = 0
        while count < MANY_DOUBLINGS and (
            constant + slope * size * 2 ** (count + 1) <= CANNOT_FIT * usable
        ):
            count += 1
        return count

    def _any_cost_s(self, settings: Settings) -> float | None:
        """From settings of any other kind: compilation may help a candidate, and less
        offloading, checkpointing or exchange may do so too."""
        costs = []
        for record in self._records.values():
            if record.status != "ok" or record.settings is None:
                continue
            cost = _cost_s(record) / (1 + self._gain(record, settings))
            other = record.settings
            if other.activation_checkpointing and not settings.activation_checkpointing:
                cost /= RECOMPUTED_AT_MOST
            if _is_zero(other) != _is_zero(settings):
                cost *= COMPILED if _eager_zero(other) else EAGER_ZERO
            if other.sharding != settings.sharding or other.offloading != settings.offloading:
                cost *= OTHER_EXCHANGE
            costs.append(cost)
        return min(costs, default=None)

    def _floor_overhead_s(self, settings: Settings) -> float | None:
        """The least seconds of exchange and update; sharding at all, whichever it is, divides the
        update at best."""
        base: Settings | None = settings
        while base is not None:
            record = self._timed(base)
            if record is not None:
                newly_sharded = base.sharding is None and settings.sharding is not None
                share = self._situation.gpu_count if newly_sharded else 1
                return _overhead_s(record) / share
            base = self._base(base)
        known = [_overhead_s(r) for r in self._records.values() if r.status == "ok"]
        return min(known, default=None) if not known else min(known) / self._situation.gpu_count


def _is_zero(settings: Settings) -> bool:
    return (settings.sharding or "").startswith("zero-")


def _eager_zero(settings: Settings) -> bool:
    """Whether DeepSpeed runs it uncompiled, as it does in the paper's space."""
    return _is_zero(settings) and settings.compilation in (None, "none")


def _burden(settings: Settings, base: Settings) -> float:
    """The least factor by which a pass of these settings is dearer than one of their base."""
    if settings.activation_checkpointing and not base.activation_checkpointing:
        return RECOMPUTED
    if settings.offloading and not base.offloading:
        return 1.0
    if base.sharding is None and settings.sharding is not None:
        return EAGER_ZERO if _is_zero(settings) else SHARDED_FSDP
    return 1.0


def _passes(record: Measurement) -> tuple[float, ...]:
    return record.pass_s or record.first_pass_s or record.sync_pass_s


def _cost_s(record: Measurement) -> float:
    assert record.settings is not None
    assert record.settings.micro_batch_size is not None
    return median(_passes(record)) / record.settings.micro_batch_size


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


def _eager_cost_s(record: Measurement) -> float | None:
    """Seconds per sample without compilation, from the climb."""
    rates = _rates(record)
    return 1 / max(rate for _, rate in rates) if rates else None
