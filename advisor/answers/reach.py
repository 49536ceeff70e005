"""What some GPUs can train within a time: every model with its days, settings and memory (pure)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from advisor.answers.checklist import with_command
from advisor.answers.wording import (
    PREDICTED_MARK,
    counted_days,
    ends_words,
    settings_words,
    time_unit,
)
from advisor.tables.plain_values import fill
from advisor.tables.text_table import to_table
from bench_runner.typed_numbers import count_words, plain
from price_catalog.builds import GPU_COUNTS

if TYPE_CHECKING:
    from advisor.ranking.fine_tuning import FineTuning
    from advisor.ranking.times import Model, ReachedTime, TrainingTime
    from bench_runner.records.measurement import Settings
    from price_catalog.model import Gpu

WITHIN, PERHAPS, LONGER, UNFIT, UNKNOWN = "within", "perhaps", "longer", "does-not-fit", "no-time"
"""Whether the days keep the limit: the whole interval, a part of it, the middle not; else why there
are none."""
_DAYS = ("training_days", "training_days_low", "training_days_high", "basis")
COLUMNS = (
    *("model", "reach", *_DAYS[:3], "tokens", "images", "parameters", "basis"),
    *("peak_memory_gib", "estimated_memory_gib", "settings", "mend"),
)
ASSUMED_DAYS = 90.0
"""The limit of a run where a plan names none, too (`LONGEST_RUN_DAYS`)."""
LONGEST_MEND_DAYS = 3650.0
"""What fits by other means, but only to train for more than ten years, is of no help."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reached:
    """One model on the GPUs."""

    model: Model
    reach: str
    time: TrainingTime | None
    """Where it fits."""
    measured_gib: float | None = None
    """Of each GPU's memory, as its estimate."""
    estimated_gib: float | None = None
    mend: str | None = None
    """Where it does not fit: what would make it fit, as far as is known."""

    @property
    def samples(self) -> dict[str, int]:
        """Of the whole training: tokens of text, or images; none for a command of one's own."""
        model = self.model
        samples = model.batch_size * model.training_steps
        if model.sequence_length is not None:
            return {"tokens": samples * model.sequence_length}
        return {} if model.image_size is None else {"images": samples}

    def as_row(self) -> dict[str, Any]:
        """For a script: nothing rounded."""
        time = self.time
        return {
            "model": self.model.recipe_id,
            "reach": self.reach,
            **{name: None if time is None else getattr(time, name) for name in _DAYS},
            "tokens": self.samples.get("tokens"),
            "images": self.samples.get("images"),
            "parameters": self.model.parameters,
            "peak_memory_gib": self.measured_gib,
            "estimated_memory_gib": self.estimated_gib,
            "settings": settings_words(time.settings) if time and time.settings else None,
            "mend": self.mend,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class ReachQuestion:
    """The GPUs, how long they may take, and how every model is trained."""

    gpu: Gpu
    count: int
    max_days: float | None = None
    """None: a limit is assumed, as of a plan's runs."""
    tuning: FineTuning | None = None


def reached(
    models: Sequence[Model], times: Mapping[tuple[str, int], ReachedTime], asked: ReachQuestion
) -> list[Reached]:
    """Every model: those within the limit first, the longest of them first of all; then what takes
    longer, what does not fit, and what has no time."""
    found, most = [], asked.max_days or ASSUMED_DAYS
    for model in models:
        there = times.get((model.recipe_id, asked.count))
        time = None if there is None else there.time
        if there is None or time is None:
            found.append(Reached(model=model, reach=UNKNOWN, time=None))
        elif (days := time.training_days) is None:
            mend = _mend(model.recipe_id, times, asked.count)
            found.append(Reached(model=model, reach=UNFIT, time=None, mend=mend))
        else:
            within = (time.training_days_high or days) <= most
            found.append(
                Reached(
                    model=model,
                    reach=WITHIN if within else PERHAPS if days <= most else LONGER,
                    time=time,
                    measured_gib=time.peak_memory_gib if time.basis == "measured" else None,
                    estimated_gib=there.estimated_gib,
                )
            )
    order = {WITHIN: 0, PERHAPS: 0, LONGER: 1, UNFIT: 2, UNKNOWN: 3}

    def key(each: Reached) -> tuple[int, float, str]:
        days = (each.time.training_days if each.time is not None else None) or 0.0
        return order[each.reach], days if order[each.reach] else -days, each.model.recipe_id

    return sorted(found, key=key)


def _mend(recipe_id: str, times: Mapping[tuple[str, int], ReachedTime], count: int) -> str | None:
    """What would make a model fit: host memory for what is offloaded, weights of 4 bits, or more of
    these GPUs."""
    there = times[recipe_id, count]
    named = {"QLoRA": there.as_qlora}
    if there.with_host is not None:
        named[f"{there.with_host[0]:,.0f} GiB of host memory"] = there.with_host[1]
    ways = [
        f"{words} ({_days(time)})"
        for words, time in named.items()
        if time is not None and (time.training_days or math.inf) <= LONGEST_MEND_DAYS
    ]
    more = (n for n in GPU_COUNTS if n > count and (recipe_id, n) in times)
    enough = next((n for n in more if times[recipe_id, n].time.training_days is not None), None)
    if enough is not None:
        ways.append(f"{enough} of these GPUs")
    return " or ".join(ways) or None


def reach_sentence(rows: Sequence[Reached], asked: ReachQuestion) -> str:
    """How many models these GPUs train in the time, and which is the longest."""
    where = f"{asked.count} × {asked.gpu.short_name}"
    verb = ("train" if asked.tuning is None else "fine-tune") + ("s" if asked.count == 1 else "")
    where += "" if asked.tuning is None else f" ({_tuning_words(asked.tuning)})"
    fits = [row for row in rows if row.reach in (WITHIN, PERHAPS)]
    limit = f" within {counted_days(asked.max_days or ASSUMED_DAYS)}"
    limit += "" if asked.max_days else " (assumed; --max-days sets the limit)"
    unfit = sum(row.reach == UNFIT for row in rows)
    without = f"; {unfit} {'does' if unfit == 1 else 'do'} not fit" if unfit else ""
    if not fits:
        return f"{where} {verb} none of {len(rows)} models{limit}{without}."
    longest = fits[0]
    return (
        f"{where} {verb} {len(fits)} of {len(rows)} models{limit}; the longest is "
        f"{longest.model.name}, {_days(longest.time)}{without}."
    )


def _tuning_words(tuning: FineTuning) -> str:
    """``LoRA on 50M tokens``, of images where all weights are trained."""
    words = tuning.words(text=True)
    if tuning.data is not None or tuning.adapters:
        return words
    return f"{words}, or {tuning.words(text=False).rpartition(' on ')[2]}"


def reach_text(
    rows: Sequence[Reached],
    asked: ReachQuestion,
    *,
    width: int,
    details: bool,
    command: bool = True,
) -> str:
    """The answer for a person: what fits the time as a table, the rest as lines."""
    blocks = [fill(reach_sentence(rows, asked), width)]
    shown = [row for row in rows if row.reach in (WITHIN, PERHAPS)]
    cut = shown if details else shown[:MOST_ROWS]
    if shown:
        table = [_table_row(row) for row in cut]
        columns = ("model", "time", "9 in 10 runs", "GiB a GPU", "trained on", "settings")
        right = frozenset(("time", "trained on", "GiB a GPU"))
        blocks.append(to_table(table, columns, right, width=width, spare=SPARE))
    notes = [f"{len(shown) - len(cut)} quicker ones: --details"] if len(shown) > len(cut) else []
    if any(row.reach == PERHAPS for row in cut):
        notes.append("? may take longer than the limit")
    if notes:
        blocks.append(fill("; ".join(notes) + ".", width))
    left = {
        reach: [row for row in rows if row.reach == reach] for reach in (LONGER, UNFIT, UNKNOWN)
    }
    one = len(left[UNFIT]) == 1
    for reach, title, say in (
        (LONGER, "take longer", lambda row: f"{row.model.name} {_days(row.time)}"),
        (
            UNFIT,
            f"{'does' if one else 'do'} not fit; what would do",
            lambda row: f"{row.model.name}: {row.mend or 'nothing that is known'}",
        ),
        (UNKNOWN, "have no time", lambda row: row.model.name),
    ):
        if named := left[reach]:
            blocks.append(_listed(f"{len(named)} {title}", [*map(say, named)], width, details))
    if asked.tuning is not None and asked.tuning.adapters:
        words = "Adapters are predicted of transformers of text without experts alone."
        blocks.append(fill(words, width))
    if shown and command:
        model = shown[0].model.recipe_id.partition("+")[0]
        tuning = "" if asked.tuning is None else asked.tuning.flags()
        flags = f"--model {model}{tuning} --gpu {asked.gpu.gpu_id} --count {asked.count}"
        blocks.append(with_command("In detail:", f"advisor predict {flags}", width))
    return "\n\n".join(blocks)


SPARE = ("settings", "9 in 10 runs")
"""The columns that go first where it is narrow: without its data no time can be judged."""
MOST_ROWS = 15
_LISTED = 5


def _listed(title: str, words: Sequence[str], width: int, details: bool) -> str:
    shown = words if details else words[:_LISTED]
    more = f"; {len(words) - len(shown)} more with --details" if len(shown) < len(words) else ""
    return fill(f"{title}: {'; '.join(shown)}{more}.", width, subsequent_indent="  ")


def _days(time: TrainingTime | None) -> str:
    """``≈28 days``, ``≈3.2 hours``."""
    assert time is not None
    assert time.training_days is not None
    mark = PREDICTED_MARK if time.basis == "predicted" else ""
    return mark + counted_days(time.training_days)


def _table_row(row: Reached) -> dict[str, Any]:
    time = row.time
    assert time is not None
    days = time.training_days
    assert days is not None
    unit = time_unit(days).a_day
    low, high = (time.training_days_low or days), (time.training_days_high or days)
    gib, mark = row.estimated_gib, PREDICTED_MARK
    if row.measured_gib is not None:
        gib, mark = row.measured_gib, ""
    samples = [f"{count_words(number)} {what}" for what, number in row.samples.items()]
    return {
        "model": row.model.name + ("?" if row.reach == PERHAPS else ""),
        "time": _days(time),
        "9 in 10 runs": ends_words(low * unit, high * unit).strip(" ()") or "-",
        "trained on": samples[0] if samples else "as timed",
        "GiB a GPU": "-" if gib is None else f"{mark}{plain(gib)}",
        "settings": _short(time.settings),
    }


def _short(settings: Settings | None) -> str:
    """What of the settings a person chooses by; `settings_words` has them all."""
    if settings is None:
        return "as it runs"
    words = [
        "checkpointing" if settings.activation_checkpointing else "",
        settings.sharding or "",
        "offloading" if settings.offloading else "",
        f"micro-batch {settings.micro_batch_size}" if settings.micro_batch_size else "",
    ]
    return ", ".join(filter(None, words)) or "-"
