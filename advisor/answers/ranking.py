"""The answer of `advisor rank`: the question read, asked, and put into words, JSON or CSV."""

from __future__ import annotations

from datetime import date
from typing import Any

from advisor.answers.wording import (
    RULE_WORDS,
    build_words,
    gpus_words,
    price_marks,
    reason_words,
)
from advisor.costs.amounts import days_exact, usd_whole
from advisor.ranking.candidates import Candidates
from advisor.ranking.question import Question
from advisor.ranking.rank import ExcludedRow, RankedRow, Ranking
from bench_runner.records import Settings


def ranked_object(row: RankedRow) -> dict[str, Any]:
    """One ranked build as the JSON of `advisor rank` has it."""
    time, today = row.time, date.today()
    return {
        "rank": row.rank,
        "gpu": row.build.gpu.name,
        "gpu_count": row.build.gpu_count,
        "host": row.build.host.name,
        "overall_cost_usd": row.overall_cost_usd,
        "overall_cost_low_usd": row.overall_cost_low_usd,
        "overall_cost_high_usd": row.overall_cost_high_usd,
        "training_days": row.training_days,
        "training_days_low": row.training_days_low,
        "training_days_high": row.training_days_high,
        "comparison_factor": time.comparison_factor,
        "experiment_cost_usd": row.experiment_cost_usd,
        "basis": time.basis,
        "timing": time.timing,
        "source": time.source_id,
        "measured_on": time.measured_on,
        "method": time.method,
        "settings": settings_object(time.settings),
        "implied_mfu": time.implied_mfu,
        "verdict": time.verdict,
        "verdict_reason": time.verdict_reason,
        "price_dates": {"gpu": row.gpu_quote.quoted_on, "host": row.host_quote.quoted_on},
        "price_marks": {
            "gpu": price_marks(row, row.gpu_quote, today),
            "host": price_marks(row, row.host_quote, today),
        },
        "gpus_owned": row.build.gpus_owned,
        "whole_server": row.build.host.gpu_id is not None,
        "prices": {
            "gpu_usd": row.gpu_quote.price_usd,
            "gpu_vendor": row.gpu_quote.vendor,
            "gpu_kind": row.gpu_quote.kind,
            "host_usd": row.host_quote.price_usd,
            "host_vendor": row.host_quote.vendor,
            "host_kind": row.host_quote.kind,
        },
        "on_pareto_front": row.on_pareto_front,
        "tied_with_first": row.tied_with_first,
    }


def settings_object(settings: Settings | None) -> dict[str, Any] | None:
    """Settings as a JSON object."""
    if settings is None:
        return None
    return {name: getattr(settings, name) for name in Settings.__dataclass_fields__}


def excluded_object(row: ExcludedRow) -> dict[str, Any]:
    """One left-out build as the JSON of `advisor rank` has it."""
    return {
        "gpu": row.build.gpu.name,
        "gpu_count": row.build.gpu_count,
        "host": row.build.host.name,
        "reason": row.reason,
        "detail": row.detail,
        "overall_cost_usd": row.overall_cost_usd,
        "training_days": row.training_days,
    }


CSV_COLUMNS = (
    "rank",
    "gpu",
    "gpu_count",
    "host",
    "overall_cost_usd",
    "overall_cost_low_usd",
    "overall_cost_high_usd",
    "training_days",
    "training_days_low",
    "training_days_high",
    "comparison_factor",
    "experiment_cost_usd",
    "on_pareto_front",
    "tied_with_first",
    "basis",
    "timing",
    "source",
    "measured_on",
    "method",
    "settings",
    "implied_mfu",
    "verdict",
    "gpu_price_date",
    "host_price_date",
    "reason",
    "detail",
)


def published_note(answer: Ranking, at_face_value: Ranking) -> str | None:
    """What taking the published times at face value would have put first, where it differs."""
    if answer.candidates.evidence != "sound" or not len(at_face_value):
        return None
    first = at_face_value.row(0)
    if len(answer) and answer.row(0).build == first.build:
        return None
    ours = answer.row(0) if len(answer) else None
    if ours and ours.time.basis == "predicted" and first.time.verdict == "plausible":
        reason = f"they have no time for {build_words(ours.build)}"
    else:
        reason = f"that time {first.time.verdict_reason or 'was not checked'}"
    return (
        f"Published times at face value would put {gpus_words(first.build)} first "
        f"({days_exact(first.training_days)} days, {usd_whole(first.overall_cost_usd)}); {reason}."
    )


def headline(candidates: Candidates, question: Question, prices: str) -> str:
    """The question in one line."""
    words = [candidates.model.name]
    budget = question.budget_usd
    words.append("any budget" if budget is None else f"budget {usd_whole(budget)}")
    if question.max_days is not None:
        words.append(f"at most {days_exact(question.max_days)} days")
    words.append(RULE_WORDS[question.rule])
    words.append(f"prices {prices}")
    words.append(f"{candidates.evidence} evidence")
    return " · ".join(words)


def count_words(answer: Ranking) -> str:
    """``9 of 16 builds; left out: 5 over budget, 2 implausible time``."""
    text = f"{len(answer)} of {len(answer.candidates.builds)} builds"
    counts = answer.excluded_counts
    if counts:
        left = ", ".join(f"{n} {reason_words(reason)}" for reason, n in counts.items())
        text += f"; left out: {left}"
    return text


def _grouped(left: list[ExcludedRow]) -> list[dict[str, str]]:
    """Left-out builds as rows; those that differ only in the number of GPUs share one."""
    counts: dict[tuple[str, str, str], list[int]] = {}
    for row in left:
        host = row.build.host
        name = row.build.gpu.name + (f" ({host.name})" if host.gpu_id is not None else "")
        key = (name, row.reason, row.detail)
        counts.setdefault(key, []).append(row.build.gpu_count)
    return [
        {
            "left out": f"{', '.join(map(str, numbers))} × {gpu}",
            "reason": reason,
            "in words": detail,
        }
        for (gpu, reason, detail), numbers in counts.items()
    ]
