"""What the store hands out about models and times, beside the catalogue's own records."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from datetime import date
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

from advisor.ranking.audit import Verdict
from advisor.typed_input import parse_choice

if TYPE_CHECKING:
    from bench_runner.records.measurement import Settings
    from price_catalog.builds import PowerLimit

Origin = Literal["shipped", "local", "merged"]
"""``shipped`` comes from the text tables, and is replaced with them; ``local`` is a user's own;
``merged`` came with somebody else's file, which its name says."""
Basis = Literal["measured", "predicted"]
RestsOn = Literal["measured-here", "measured-elsewhere", "estimated"]
"""What stands behind a time: the user's own machine, somebody else's of the same kind, or the
prediction with everything that it was fitted to."""
EvidenceRule = Literal["sound", "published"]
"""``sound``: no impossible time is believed; ``published``: every time at face value."""
EVIDENCE_RULES: tuple[EvidenceRule, ...] = get_args(EvidenceRule)


def parse_evidence_rule(text: str) -> EvidenceRule:
    """Which times are believed. Raises InputError."""
    return parse_choice(text, EVIDENCE_RULES, "evidence")


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """A training recipe as the advisor sees it: what is trained, on how much, at which cost."""

    recipe_id: str
    name: str
    family: str
    """``decoder``, ``encoder``, ``ssm``, ``convnet`` or ``vit``."""
    parameters: int
    batch_size: int
    training_steps: int
    sequence_length: int | None
    image_size: int | None
    precision: str
    """``fp16``, ``bf16`` or ``fp32`` (which free-lunch settings run as TF32)."""
    optimizer: str
    flops_lowest: float
    """FLOPs of the whole training run, the lowest defensible count (bench_runner.recipe_flops)."""
    flops_full: float
    """FLOPs of the whole run as torch's counter would count them."""
    recipe_hash: str
    source_id: str
    note: str | None
    origin: Origin
    compiles: bool
    """Whether its code is compiled, so that a search has more settings to try."""

    @property
    def own_command(self) -> str | None:
        """What times it again where it is a training of the user's own, timed as it runs, of
        which no recipe tells; else None."""
        if self.family != "own":
            return None
        return f"advisor bench --name {self.recipe_id} --steps {self.training_steps} -- COMMAND"


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingTime:
    """One time (or the reason why there is none) for a model on a number of GPUs, audited."""

    measurement_id: str
    recipe_id: str
    gpu_id: str
    """The device's own name, as recorded, where the catalogue knows no such GPU."""
    gpu_count: int
    method: str
    """``naive``, ``free-lunch``, ``memory-saving``, ``optimal`` or ``original``."""
    settings: Settings | None
    status: str
    """``ok``, ``infeasible``, ``failed`` or ``pruned``."""
    reason: str | None
    basis: Basis
    training_days: float | None
    training_days_low: float | None
    training_days_high: float | None
    timing: str
    """``synchronised``, ``unsynchronised``, or ``none`` where nothing was timed."""
    implied_mfu: float | None
    """Model FLOPs utilisation that the time implies, with its rounding allowed for."""
    implied_mfu_printed: float | None
    """The same for the figure exactly as printed."""
    verdict: Verdict | None
    """None without a time."""
    verdict_reason: str | None
    peak_memory_gib: float | None
    source_id: str
    measured_on: date | None
    origin: Origin
    comparison_factor: float | None = None
    """Of a prediction, at least 1: how far off it may be, at 90 %, beside another prediction for
    the same model. Their shared doubt, which the interval holds too, cancels between them."""
    node_count: int = 1
    """Machines that shared the GPUs. More than one is no time of a single machine."""
    lab: str | None = None
    """Who measured it, by a name of their own; None: the user, or the source."""
    rests_on: RestsOn | None = None
    """None where there is no time."""
    paper_settings_days: float | None = None
    """Of an estimate: days with the paper's settings; `training_days` are with those that the
    program writes out. None too where the paper's do not fit."""
    paper_settings_days_low: float | None = None
    paper_settings_days_high: float | None = None
    other_software_days: float | None = None
    """Of an estimate: with a program of which nothing is known, and the ends of its interval."""
    other_software_days_low: float | None = None
    other_software_days_high: float | None = None
    evidence_pieces: int | None = None
    """Of an estimate: measured cells with this model or this type of GPU."""
    evidence_nearest: str | None = None
    """The nearest of them, as "pythia-1b on 1 x H100"."""
    measured_otherwise_days: float | None = None
    """Of an estimate: what was measured of this very build, synchronised, with other settings than
    those that are estimated."""


class BestTime(NamedTuple):
    """Which time stands for one model on one number of one GPU, under one evidence rule."""

    gpu_id: str
    gpu_count: int
    chosen: TrainingTime | None
    """The time that counts, or the row that says why there is none. In sound evidence a prediction,
    unless what was measured is of the same clock: see `one_clock`."""
    published: TrainingTime | None
    """What the published evidence, taken at face value, would use instead, where it differs."""
    naive: TrainingTime | None
    """The naive settings' time, where it is known and not the chosen one."""
    measured: TrainingTime | None = None
    """At face value: the synchronised time that says a run takes longer than the one that counts;
    None where there is none."""
    host_gib: float | None = None
    """GiB of host memory that the chosen estimate needs; None where nothing is offloaded to it."""
    with_host: tuple[float, TrainingTime] | None = None
    """What is estimated for a host of at least this many GiB of memory, where that is more than 64
    a GPU and gains something: see `on_host`."""
    machines: int = 1
    """That share the GPUs."""


class ReachedTime(NamedTuple):
    """What stands for one model on a number of GPUs, and what more host memory would do."""

    time: TrainingTime
    with_host: tuple[float, TrainingTime] | None
    """GiB of host memory, and the time with it; None where it gains nothing."""
    estimated_gib: float | None = None
    """Of each GPU's memory, with the settings that are estimated."""
    as_qlora: TrainingTime | None = None
    """Of fine-tuning that does not fit: with adapters beside weights of 4 bits."""


ANOTHER_CARD = 0.02
"""By how much the same training differs on another card of a kind: of eleven trainings that we
timed again on another H100 ten took 0.98 to 1.02 times as long (docs/measurements.md)."""
SAME_CLOCK = 0.01
"""Within which share the times with two sets of settings are one."""


def one_clock(best: BestTime, estimate: TrainingTime | None) -> BestTime:
    """What stands in sound evidence, given what is estimated of the same build.

    Every time is of a synchronised run of our own stack with the settings that the program writes
    out. Recorded times stand where they are that: what the user's machine took, and what ours took
    with those settings. All others count through the estimate, each with its own error: ours with
    the paper's settings nearly whole, published ones that were not synchronised through their
    source's bias and spread. So none of these stands beside a measurement that refutes it.
    """
    chosen = best.chosen
    if chosen is None:
        return best
    if estimate is None or _stands(chosen, estimate):
        return best._replace(chosen=as_elsewhere(chosen))
    if _is_measured(chosen) and estimate.training_days is not None:
        estimate = _changed(estimate, measured_otherwise_days=chosen.training_days)
    return best._replace(chosen=estimate, published=best.published or chosen)


def as_elsewhere(time: TrainingTime) -> TrainingTime:
    """What somebody else measured, for a card of the reader's own: the seconds of one run scatter
    by less than two cards differ."""
    days = time.training_days
    if time.rests_on != "measured-elsewhere" or time.timing != "synchronised" or days is None:
        return time
    low, high = time.training_days_low or days, time.training_days_high or days
    return _changed(
        time,
        training_days_low=min(low, days * (1.0 - ANOTHER_CARD)),
        training_days_high=max(high, days * (1.0 + ANOTHER_CARD)),
    )


def _is_measured(time: TrainingTime) -> bool:
    """Whether somebody timed it, synchronised, with settings that somebody would choose."""
    return (
        time.status == "ok"
        and time.timing == "synchronised"
        and time.method != "naive"
        and time.verdict != "implausible"
    )


def _stands(chosen: TrainingTime, estimate: TrainingTime) -> bool:
    if estimate.training_days is None:
        return chosen.verdict != "implausible"
    if chosen.status != "ok":
        # What the paper's settings could not fit is no reason against settings that need less.
        return estimate.paper_settings_days is not None
    if not _is_measured(chosen):
        return False
    if chosen.origin == "local" and chosen.lab is None:
        # One setting that was tried says less than what a search found; it moves the estimate.
        return chosen.method == "optimal"
    if chosen.settings is not None and chosen.settings.loss == "fused":
        return True
    paper = estimate.paper_settings_days
    return paper is not None and estimate.training_days > (1.0 - SAME_CLOCK) * paper


def on_host(best: BestTime, memory_gib: float | None) -> BestTime:
    """What stands on a host of so much memory: where optimiser states may leave the GPU for it, a
    model may fit that else does not, or train faster. A measurement stands."""
    chosen = best.chosen
    if memory_gib is None or chosen is None:
        return best
    if best.host_gib is not None and memory_gib < best.host_gib:
        lacking = _changed(chosen, status="infeasible", training_days=None)
        return best._replace(chosen=lacking, with_host=(best.host_gib, chosen), host_gib=None)
    if best.with_host is None or memory_gib < best.with_host[0]:
        return best
    if chosen.status == "ok" and chosen.basis == "measured":
        return best
    return best._replace(chosen=best.with_host[1], with_host=None)


def at_face_value(times: Iterable[BestTime]) -> list[BestTime]:
    """The times of sound evidence as the published evidence has them: nothing is predicted."""
    found = []
    for best in times:
        chosen, naive = best.chosen, best.naive
        if naive is None and chosen is not None and chosen.status == "ok":
            naive = chosen if chosen.method == "naive" else None
        measured = None
        if best.published is not None:
            measured = chosen if _takes_longer(chosen, best.published) else None
            chosen = best.published
        if chosen is None or chosen.basis == "predicted":
            continue
        if naive is not None and naive.measurement_id == chosen.measurement_id:
            naive = None
        found.append(
            best._replace(
                chosen=chosen, published=None, naive=naive, measured=measured, with_host=None
            )
        )
    return found


def _takes_longer(time: TrainingTime | None, published: TrainingTime) -> bool:
    """Whether a synchronised measurement is longer than a published time can be, rounded as it
    is."""
    if time is None or time.basis == "predicted" or time.timing != "synchronised":
        return False
    days, most = time.training_days_low or time.training_days, published.training_days_high
    return days is not None and most is not None and days > most


def under_limit(best: BestTime, limit: PowerLimit) -> BestTime:
    """The times with the cards limited in power: slower, and less sure, as was measured."""
    return best._replace(
        chosen=best.chosen and _slowed(best.chosen, limit),
        published=best.published and _slowed(best.published, limit),
        naive=best.naive and _slowed(best.naive, limit),
    )


def _slowed(time: TrainingTime, limit: PowerLimit) -> TrainingTime:
    days, changes = time.training_days, dict[str, float | None]()
    if days is None:
        return time
    for name in ("training_days", "paper_settings_days", "other_software_days"):
        usual = days if name == "training_days" else None
        ends = (("", limit.middle), ("_low", limit.fastest), ("_high", limit.slowest))
        for end, share in ends:
            value = getattr(time, name + end)
            value = usual if value is None else value
            changes[name + end] = None if value is None else value / share
    for name in ("implied_mfu", "implied_mfu_printed"):
        value = getattr(time, name)
        changes[name] = None if value is None else value * limit.middle
    return _changed(time, **changes, measured_otherwise_days=None)


def _changed(time: TrainingTime, **changes: Any) -> TrainingTime:
    """As `replace`, of a row of the store, too."""
    values = {field.name: getattr(time, field.name) for field in fields(TrainingTime)}
    return TrainingTime(**(values | changes))


def is_uneven(model: Model, gpu_count: int) -> bool:
    """Whether this many GPUs do not share the model's batch evenly."""
    return model.batch_size >= gpu_count and model.batch_size % gpu_count != 0


def uneven_words(model: Model, gpu_count: int) -> str | None:
    """``3 GPUs do not share a batch of 1,024 evenly: the time is with one of 1,008``; None where
    they do."""
    if not is_uneven(model, gpu_count):
        return None
    from bench_runner.settings.batch_and_sharding import (
        even_batch,  # late: most share it evenly
    )

    near = even_batch(model.batch_size, gpu_count)
    return (
        f"{gpu_count} GPUs do not share a batch of {model.batch_size:,} evenly: the time is with "
        f"one of {near:,}"
    )
