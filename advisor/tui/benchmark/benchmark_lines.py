"""What the benchmark's screen says beside its table: machine, plan, ending, a setting (pure)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.benchmark.benchmark_plan import CPU, CPU_REMARK
from advisor.benchmark.progress import (
    NOT_TRIED,
    RUNNING,
    WAITING,
    Progress,
    clock_words,
    outcome_sentence,
    time_words,
)
from advisor.tui.benchmark.benchmark_rows import full_name
from advisor.tui.widgets.lines import FAINT, HEADING, PLAIN, STRONG, WARNING, Line

if TYPE_CHECKING:
    from advisor.benchmark.benchmark_plan import Plan
    from advisor.benchmark.measurement_request import Ending
    from bench_runner.launch.hardware import Machine


NO_GPU = (
    "No GPU here. Press J: measure on your cluster (SLURM) or on a rented GPU, and bring the times "
    "here."
)


def here_words(here: Machine, plan: Plan | None, problem: str | None) -> tuple[str, str]:
    """What was found here, what would run or what speaks against it, and the class of the line."""
    if problem is not None:
        return f"⚠ {problem}", "-error"
    words = NO_GPU
    if here.gpus:
        names = [gpu.name for gpu in here.gpus]
        memory = here.gpus[0].memory_gib
        kinds = ", ".join(f"{names.count(n)} × {n}" for n in dict.fromkeys(names))
        words = f"Here {kinds}, {memory:.0f} GiB"
    if plan is None:
        return words, ""
    count = plan.settings_count
    words += (
        f" · {count} setting{'s' if count > 1 else ''}, {plan.takes_words} · "
        f"{here.disk_free_gib:.0f} GiB disk"
    )
    remarks = [remark for remark in plan.remarks() if remark != CPU_REMARK]
    if here.gpus and plan.request.device == CPU:
        remarks.append(CPU_REMARK)
    if not remarks:
        return words, ""
    return words + f" ! {remarks[0]}" + (" …" if len(remarks) > 1 else ""), "-warning"


def plan_lines(plan: Plan) -> list[Line]:
    """What a person confirms."""
    lines: list[Line] = [(f"{label:>8}  {text}", PLAIN) for label, text in plan.lines()]
    lines += [("", PLAIN)]
    lines += [(f"! {remark}", WARNING) for remark in plan.remarks()]
    lines.append(
        (
            "While it runs, leave the machine alone: other work changes the times. Each finished "
            "setting is kept at once; C ends it at any moment.",
            FAINT,
        )
    )
    return lines


def status_words(progress: Progress, elapsed_s: float, limit_s: float | None) -> str:
    """How far it is, in one line."""
    counts = progress.counts()
    total = len(progress.rows)
    done = total - sum(counts.get(state, 0) for state in (WAITING, RUNNING, NOT_TRIED))
    words = f"{done} of {total} · {clock_words(elapsed_s)} elapsed"
    remaining = progress.remaining_s(elapsed_s, limit_s)
    if remaining is not None:
        words += f", about {clock_words(remaining)} to go"
    best = progress.best_row
    if best is not None and best.training_days is not None:
        words += f" · best {time_words(best.training_days)} ({full_name(best.label)})"
    return words


def waiting_lines(plan: Plan, jobs: int) -> list[Line]:
    """What stands below the table before anything runs: how to start, jobs elsewhere."""
    lines: list[Line] = [("Press B to begin: it asks first.", FAINT)]
    if plan.here is not None and not plan.here.gpus:
        lines = [(f"B tries it on this CPU: {CPU_REMARK}.", FAINT)]
    if jobs:
        words = "1 job elsewhere is" if jobs == 1 else f"{jobs} jobs elsewhere are"
        lines.insert(0, (f"{words} under way: press J.", STRONG))
    return lines


HEADINGS = {
    "answered": "FINISHED",
    "no-time": "FINISHED WITHOUT A TIME",
    "cancelled": "CANCELLED",
    "refused": "NOT STARTED",
    "failed": "THE BENCHMARK FAILED",
}
BAD = ("failed", "refused", "no-time")


def ended_lines(
    ending: Ending | None, problem: str | None, kept: str, progress: Progress, plan: Plan
) -> list[Line]:
    """How it ended, with what it won and what to do about it."""
    lines: list[Line] = [] if problem is None else [(problem, WARNING)]
    if ending is None:
        return lines
    if progress.best_row is not None:
        asked = (progress, plan.recipe_name, plan.device_words, plan.papers_labels)
        lines.append((full_name(outcome_sentence(*asked)), STRONG))
    bad = ending.kind in BAD
    lines += [(HEADINGS[ending.kind], HEADING), (ending.message, WARNING if bad else PLAIN)]
    if ending.suggestion is not None:
        lines.append((f"→ {ending.suggestion}", STRONG))
    lines.append((kept, PLAIN))
    if bad:
        lines.append((f"log: {ending.log_file}", PLAIN))
        lines += [(f"  {line}", FAINT) for line in ending.log_tail]
    return lines
