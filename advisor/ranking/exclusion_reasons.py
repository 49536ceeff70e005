"""Why a build is left out, in words: what is missing and how to supply it (pure)."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

from advisor.costs.amount_words import days_exact, days_rounded
from advisor.costs.price_book import add_command
from advisor.ranking.candidates import Candidates, Reason
from advisor.ranking.question import Question
from advisor.ranking.times import BestTime
from price_catalog.builds import Build
from price_catalog.model import Gpu

NO_ESTIMATE = "no estimate: "
"""How it begins where no time can be told."""
FIRST_WITH_BF16 = 8.0
"""NVIDIA's compute capability."""


def exclusion_text(candidates: Candidates, i: int, reason: Reason, question: Question) -> str:
    """Why build ``i`` is left out of the answer to a question."""
    build, time = candidates.builds[i], candidates.times[i]
    return (
        build.obstacle
        or _not_known(build)
        or (_old_price(candidates, i) if reason == "old-price" else None)
        or (_no_price(candidates, i) if reason == "no-price" else None)
        or (_host_memory(candidates, i) if reason == "does-not-fit" else None)
        or _detail(reason, candidates.cost_usd(i), time, question, candidates.vat)
        or no_time(candidates, build.gpu)
    )


def _old_price(candidates: Candidates, i: int) -> str:
    quotes = (candidates.gpu_quotes[i], candidates.host_quotes[i])
    oldest = min((quote for quote in quotes if quote is not None), key=lambda q: q.quoted_on)
    return f"its price is of {oldest.quoted_on}, too old beside others: ask for a new quote"


def _not_known(build: Build) -> str | None:
    if not build.unknown:
        return None
    *some, last = build.unknown
    missing = f"{', '.join(some)} or {last}" if some else last
    return f"no source states its {missing}, so it may not fit"


def _no_price(candidates: Candidates, i: int) -> str:
    what, item_id = candidates.unpriced(i)
    return f"no quote for the {what} counts; add yours, as in {add_command(item_id, date.today())}"


def _host_memory(candidates: Candidates, i: int) -> str | None:
    """Where optimiser states in the host's memory would make a model fit: how much it lacks."""
    time, memory_gib = candidates.times[i], candidates.builds[i].host.memory_gib
    if time is None or time.with_host is None or memory_gib is None:
        return None
    if time.chosen is not None and time.chosen.basis != "predicted":
        return None  # somebody tried
    needed = time.with_host[0]
    return f"predicted to fit with {needed:,.0f} GiB of host memory, and it has {memory_gib:,.0f}"


def _detail(
    reason: Reason,
    cost: Decimal | None,
    time: BestTime | None,
    question: Question,
    vat: Decimal,
) -> str | None:
    chosen = time.chosen if time is not None else None
    if reason == "over-budget" and cost is not None and question.budget_usd is not None:
        over = cost * (1 + vat) - question.budget_usd
        taxed = f" and {vat:.0%} VAT" if vat else ""
        return f"costs ${cost:,.0f}{taxed}, ${over:,.0f} over the budget"
    if reason == "too-slow" and chosen is not None:
        days, low, high = (
            days_rounded(days or 0.0)
            for days in (chosen.training_days, chosen.training_days_low, chosen.training_days_high)
        )
        interval = "" if low == high else f" ({low}–{high})"
        mark = "≈" if chosen.basis == "predicted" else ""
        limit = days_exact(question.max_days or 0.0)
        return f"takes {mark}{days} days{interval}, the limit is {limit}"
    if reason == "does-not-fit" and chosen is not None:
        return chosen.reason or "does not fit with any of the settings tried"
    if reason == "implausible-time" and time is not None and chosen is not None:
        detail = f"{days_exact(chosen.training_days or 0.0)} days {chosen.verdict_reason}"
        if time.naive is not None and time.naive.training_days is not None:
            detail += f" (naive settings: {days_exact(time.naive.training_days)} days)"
        return detail
    if chosen is not None and chosen.reason:
        return f"{chosen.status}: {chosen.reason}"
    return None


def no_time(candidates: Candidates, gpu: Gpu) -> str:
    """Why no time is known: what is missing, and how to supply it."""
    if candidates.evidence != "sound":
        return "no time was published for this model on this machine"
    model = candidates.model
    if candidates.uncounted is not None:
        why = f"your model {model.recipe_id} is counted no longer: {candidates.uncounted}"
        return f"{NO_ESTIMATE}{why}"
    capability = float(gpu.compute_capability or FIRST_WITH_BF16)
    if model.precision == "bf16" and capability < FIRST_WITH_BF16:
        return f"{NO_ESTIMATE}the {gpu.name} has no bf16 cores, and this model trains in bf16"
    rates = {
        "bf16": gpu.bf16_tflops,
        "fp16": gpu.fp16_tflops,
        "fp32": gpu.tf32_tflops or gpu.bf16_tflops,
    }
    measure = model.own_command or f"advisor bench --model {model.recipe_id}"
    missing = "memory bandwidth" if gpu.memory_bandwidth_gb_s is None else None
    if rates.get(model.precision, 0.0) is None:
        missing = f"{'TF32' if model.precision == 'fp32' else model.precision} speed"
    if missing is not None:
        return (
            f"{NO_ESTIMATE}the catalogue has no {missing} for the {gpu.name}; add it to "
            f"price_catalog/gpus.csv, or measure: {measure}"
        )
    return (
        f"{NO_ESTIMATE}the {gpu.name} is too unlike every GPU that was measured, or would have to "
        f"be faster than it can; measure: {measure}"
    )
