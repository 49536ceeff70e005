"""What some GPUs can train within a time: every model with its days, settings and memory (pure)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from advisor.answers.checklist import with_command
from advisor.answers.wording import PREDICTED_MARK, ends_words, settings_words
from advisor.costs.amount_words import days_rounded
from advisor.tables.plain_values import fill
from advisor.tables.text_table import to_table
from bench_runner.typed_numbers import count_words, plain
from price_catalog.builds import GPU_COUNTS

if TYPE_CHECKING:
    from advisor.ranking.times import Model, TrainingTime
    from bench_runner.records.measurement import Settings
    from price_catalog.model import Gpu

WITHIN, PERHAPS, LONGER, UNFIT, UNKNOWN = "within", "perhaps", "longer", "does-not-fit", "no-time"
"""Whether the days keep the limit: the whole interval, a part of it, the middle not; else why there
are none."""
COLUMNS = (
    "model",
    "reach",
    "training_days",
    "training_days_low",
    "training_days_high",
    "tokens",
    "images",
    "parameters",
    "basis",
    "peak_memory_gib",
    "settings",
    "mend",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reached:
    """One model on the GPUs."""

    model: Model
    reach: str
    time: TrainingTime | None
    mend: str | None = None
    """Where it does not fit: what would make it fit, as far as is known."""

    @property
    def samples(self) -> tuple[str, int] | None:
        """Of the whole training: tokens of text, or images; None for a command of one's own."""
        model = self.model
        samples = model.batch_size * model.training_steps
        if model.sequence_length is not None:
            return "tokens", samples * model.sequence_length
        return None if model.image_size is None else ("images", samples)

    def as_row(self) -> dict[str, Any]:
        """For a script: nothing rounded."""
        time, samples = self.time, dict([self.samples] if self.samples else [])
        timed = time is not None and time.status == "ok"
        return {
            "model": self.model.recipe_id,
            "reach": self.reach,
            "training_days": time.training_days if time and timed else None,
            "training_days_low": time.training_days_low if time and timed else None,
            "training_days_high": time.training_days_high if time and timed else None,
            "tokens": samples.get("tokens"),
            "images": samples.get("images"),
            "parameters": self.model.parameters,
            "basis": time.basis if time and timed else None,
            "peak_memory_gib": time.peak_memory_gib if time and timed else None,
            "settings": settings_words(time.settings) if time and timed and time.settings else None,
            "mend": self.mend,
        }


def reached(
    models: Sequence[Model],
    times: Mapping[tuple[str, int], tuple[TrainingTime, tuple[float, TrainingTime] | None]],
    count: int,
    max_days: float | None,
) -> list[Reached]:
    """Every model: those within the limit first, the longest of them first of all; then what takes
    longer, what does not fit, and what has no time."""
    found = []
    for model in models:
        time, with_host = times.get((model.recipe_id, count), (None, None))
        if time is None:
            found.append(Reached(model=model, reach=UNKNOWN, time=None))
            continue
        days = time.training_days
        if days is None:
            mend = _mend(model.recipe_id, times, count, with_host)
            found.append(Reached(model=model, reach=UNFIT, time=time, mend=mend))
            continue
        reach = LONGER
        if max_days is None or (time.training_days_high or days) <= max_days:
            reach = WITHIN
        elif days <= max_days:
            reach = PERHAPS
        found.append(Reached(model=model, reach=reach, time=time))
    order = {WITHIN: 0, PERHAPS: 0, LONGER: 1, UNFIT: 2, UNKNOWN: 3}

    def key(each: Reached) -> tuple[int, float, str]:
        days = each.time.training_days if each.time is not None else None
        longest = 0.0 if days is None else days if order[each.reach] else -days
        return order[each.reach], longest, each.model.recipe_id

    return sorted(found, key=key)


def _mend(
    recipe_id: str,
    times: Mapping[tuple[str, int], tuple[TrainingTime, tuple[float, TrainingTime] | None]],
    count: int,
    with_host: tuple[float, TrainingTime] | None,
) -> str | None:
    """What would make a model fit: host memory for what is offloaded, or more of these GPUs."""
    ways = []
    if with_host is not None and with_host[1].training_days is not None:
        days = f"{PREDICTED_MARK}{days_rounded(with_host[1].training_days)} days"
        ways.append(f"{with_host[0]:,.0f} GiB of host memory ({days})")
    more = (n for n in GPU_COUNTS if n > count and (recipe_id, n) in times)
    enough = next((n for n in more if times[recipe_id, n][0].training_days is not None), None)
    if enough is not None:
        ways.append(f"{enough} of these GPUs")
    return " or ".join(ways) or None


def reach_sentence(rows: Sequence[Reached], gpu: Gpu, count: int, max_days: float | None) -> str:
    """How many models these GPUs train in the time, and which is the longest."""
    where = f"{count} × {gpu.short_name}"
    fits = [row for row in rows if row.reach in (WITHIN, PERHAPS)]
    limit = "" if max_days is None else f" within {plain(max_days)} days"
    unfit = sum(row.reach == UNFIT for row in rows)
    without = f"; {unfit} do not fit" if unfit else ""
    if not fits:
        return f"{where} train none of {len(rows)} models{limit}{without}."
    longest = fits[0]
    assert longest.time is not None
    assert longest.time.training_days is not None
    mark = PREDICTED_MARK if longest.time.basis == "predicted" else ""
    days = f"{mark}{days_rounded(longest.time.training_days)} days"
    return (
        f"{where} train {len(fits)} of {len(rows)} models{limit}; the longest is "
        f"{longest.model.name}, {days}{without}."
    )


def reach_text(
    rows: Sequence[Reached],
    gpu: Gpu,
    count: int,
    max_days: float | None,
    *,
    width: int,
    details: bool,
) -> str:
    """The answer for a person: what fits the time as a table, the rest as lines."""
    blocks = [fill(reach_sentence(rows, gpu, count, max_days), width)]
    shown = [row for row in rows if row.reach in (WITHIN, PERHAPS)]
    cut = shown if details else shown[:MOST_ROWS]
    if shown:
        table = [_table_row(row) for row in cut]
        columns = ("model", "days", "9 in 10 runs", "trained on", "memory", "settings")
        blocks.append(
            to_table(table, columns, frozenset(("days", "trained on", "memory")), width=width)
        )
    notes = [f"{len(shown) - len(cut)} quicker ones: --details"] if len(shown) > len(cut) else []
    if any(row.reach == PERHAPS for row in cut):
        notes.append("? may take longer than the limit")
    if notes:
        blocks.append(fill("; ".join(notes) + ".", width))
    longer = [row for row in rows if row.reach == LONGER]
    unfit = [row for row in rows if row.reach == UNFIT]
    if longer:
        nearest = [f"{row.model.name} {_days(row.time)}" for row in longer]
        blocks.append(_listed(f"{len(longer)} take longer", nearest, width, details))
    if unfit:
        mended = [f"{row.model.name}: {row.mend}" for row in unfit if row.mend]
        blocks.append(_listed(f"{len(unfit)} do not fit; what would do", mended, width, details))
    unknown = [row.model.name for row in rows if row.reach == UNKNOWN]
    if unknown:
        blocks.append(_listed(f"{len(unknown)} have no time", unknown, width, details))
    if shown:
        asked = f"--model {shown[0].model.recipe_id} --gpu {gpu.gpu_id} --count {count}"
        blocks.append(with_command("In detail:", f"advisor predict {asked}", width))
    return "\n\n".join(blocks)


MOST_ROWS = 15
_LISTED = 5


def _listed(title: str, words: Sequence[str], width: int, details: bool) -> str:
    shown = words if details else words[:_LISTED]
    more = f"; {len(words) - len(shown)} more with --details" if len(shown) < len(words) else ""
    text = f"{title}: {'; '.join(shown)}{more}." if words else f"{title}: nothing that is known."
    return fill(text, width, subsequent_indent="  ")


def _days(time: TrainingTime | None) -> str:
    assert time is not None
    assert time.training_days is not None
    mark = PREDICTED_MARK if time.basis == "predicted" else ""
    return f"{mark}{days_rounded(time.training_days)} d"


def _table_row(row: Reached) -> dict[str, Any]:
    time = row.time
    assert time is not None
    days = time.training_days
    assert days is not None
    ends = ends_words(time.training_days_low or days, time.training_days_high or days).strip(" ()")
    memory = time.peak_memory_gib
    samples = row.samples
    return {
        "model": row.model.name + ("?" if row.reach == PERHAPS else ""),
        "days": _days(time).removesuffix(" d"),
        "9 in 10 runs": ends or "-",
        "trained on": "as timed" if samples is None else f"{count_words(samples[1])} {samples[0]}",
        "memory": "-" if memory is None else f"{plain(memory)} GiB",
        "settings": _short(time.settings),
    }


def _short(settings: Settings | None) -> str:
    """What of the settings a person chooses by; `settings_words` has them all."""
    if settings is None:
        return "as it runs"
    words = ["checkpointing"] if settings.activation_checkpointing else []
    words += [settings.sharding] if settings.sharding else []
    words += ["offloading"] if settings.offloading else []
    words += [f"micro-batch {settings.micro_batch_size}"] if settings.micro_batch_size else []
    return ", ".join(words) or "-"
