"""What a training of the user's own takes and where its time goes, in words and as JSON."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from advisor.answers.wording import counted_days
from advisor.prediction.own_training import waits_words
from advisor.tables.plain_values import fill
from bench_runner.own_command.kernel_kinds import PRODUCTS
from bench_runner.records.timing import SECONDS_PER_DAY
from bench_runner.typed_numbers import percent, plain

if TYPE_CHECKING:
    from bench_runner.own_command.own_run import OwnRun

_CALLED = {
    **{kind: f"matrix products, {kind.upper()}" for kind in PRODUCTS},
    "attention": "attention",
    "loads": "scans, depthwise",
    "memory": "bound by memory",
    "communication": "communication",
    "transfer": "copies, host and GPU",
    "data": "waiting for data",
    "host": "waiting for the host",
}
"""Of a step's kinds of work; on processors the host is what no operator takes."""


def own_run_sentence(run: OwnRun, steps: int | None) -> str:
    """The step with its interval, and what follows from it."""
    where = "this CPU" if run.gpu == "cpu" else f"{run.gpu_count} × {run.gpu}"
    low, high = plain(run.step_s_low * 1e3), plain(run.step_s_high * 1e3)
    words = f"A step takes {plain(run.step_s * 1e3)} ms ({low}–{high}) on {where}: "
    if steps is None:
        return words + f"{plain(SECONDS_PER_DAY / run.step_s)} steps a day."
    return words + f"{steps:,} steps are {counted_days(run.step_s * steps / SECONDS_PER_DAY)}."


def own_run_text(run: OwnRun, steps: int | None, width: int) -> str:
    """The answer for a person."""
    lines = [fill(own_run_sentence(run, steps), width), ""]
    for kind, seconds in run.seconds.items():
        if seconds < 0.005 * run.step_s:
            continue
        share = percent(seconds / run.step_s)
        lines.append(f"  {_CALLED[kind]:24}{share:>7}  {plain(seconds * 1e3):>7} ms")
    facts = [f"{run.steps_timed:,} steps timed"]
    if run.pauses:
        facts.append(f"{run.pauses} pauses left out")
    if not run.settled:
        facts.append("they had not settled: the interval may be too narrow")
    if run.not_profiled is not None:
        facts.append(f"kernels unknown: {run.not_profiled}")
    if run.memory_gib:
        used = f"{plain(run.allocated_gib)} GiB of them used"
        lines.append(f"  {'memory a GPU':24}{plain(run.memory_gib)} GiB, {used}")
    if run.joules is not None:
        watts = plain(run.joules / run.step_s)
        lines.append(f"  {'energy a step':24}{plain(run.joules)} J ({watts} W in all)")
    lines += ["", fill("; ".join(facts) + ".", width)]
    if (waits := waits_words(run)) is not None and run.gpu != "cpu":
        lines.append(fill(f"{waits[0].upper()}{waits[1:]}.", width))
    return "\n".join(lines)


def own_run_object(run: OwnRun, steps: int | None) -> dict[str, Any]:
    """The same for a script; nothing is rounded."""
    return {
        "sentence": own_run_sentence(run, steps),
        "steps": steps,
        "training_days": None if steps is None else run.step_s * steps / SECONDS_PER_DAY,
        "steps_a_day": SECONDS_PER_DAY / run.step_s,
        **asdict(run),
        "shares": {kind: seconds / run.step_s for kind, seconds in run.seconds.items()},
        "waits": None if run.gpu == "cpu" else waits_words(run),
    }
