"""Why a build is left out, in words: what is missing and how to supply it (pure)."""

from __future__ import annotations

from datetime import date

from advisor.costs.amount_words import days_exact, days_rounded
from advisor.costs.price_book import add_command
from advisor.ranking.candidates import Candidates, Reason
from advisor.ranking.question import Question
from price_catalog.model import Gpu

NO_ESTIMATE = "no estimate: "
"""How it begins where no time can be told."""
FIRST_WITH_BF16 = 8.0
"""NVIDIA's compute capability."""


def exclusion_text(candidates: Candidates, i: int, reason: Reason, question: Question) -> str:
    """Why build ``i`` is left out of the answer to a question."""
    build, best, cost = candidates.builds[i], candidates.times[i], candidates.cost_usd(i)
    chosen = None if best is None else best.chosen
    if reason == "cannot-be-built" and build.obstacle is not None:
        return build.obstacle
    if reason == "fit-not-known":
        *some, last = build.unknown
        missing = f"{', '.join(some)} or {last}" if some else last
        return f"no source states its {missing}, so it may not fit"
    if reason == "old-price":
        quotes = (candidates.gpu_quotes[i], candidates.host_quotes[i])
        oldest = min(quote.quoted_on for quote in quotes if quote is not None)
        return f"its price is of {oldest}, too old beside others: ask for a new quote"
    if reason == "no-price":
        what, item_id = candidates.unpriced(i)
        yours = add_command(item_id, date.today())
        return f"no quote for the {what} counts; add yours, as in {yours}"
    if reason == "over-budget" and cost is not None and question.budget_usd is not None:
        over = cost * (1 + candidates.vat) - question.budget_usd
        taxed = f" and {candidates.vat:.0%} VAT" if candidates.vat else ""
        return f"costs ${cost:,.0f}{taxed}, ${over:,.0f} over the budget"
    if best is None or chosen is None:
        return _no_time(candidates, build.gpu)
    days = days_exact(chosen.training_days or 0.0)
    if reason == "too-slow":
        low, high = (days_rounded(end) for end in candidates.interval(i))
        interval = "" if low == high else f" ({low}–{high})"
        mark, shown = "≈" if chosen.basis == "predicted" else "", days_rounded(candidates.days[i])
        limit = days_exact(question.max_days or 0.0)
        return f"takes {mark}{shown} days{interval}, the limit is {limit}"
    if reason == "does-not-fit":
        has = build.host.memory_gib
        if best.with_host is not None and has is not None and chosen.basis == "predicted":
            needed = best.with_host[0]  # optimiser states in the host's memory would make it fit
            return f"predicted to fit with {needed:,.0f} GiB of host memory, and it has {has:,.0f}"
        return chosen.reason or "does not fit with any of the settings tried"
    if reason == "implausible-time":
        naive = None if best.naive is None else best.naive.training_days
        slower = "" if naive is None else f" (naive settings: {days_exact(naive)} days)"
        return f"{days} days {chosen.verdict_reason}{slower}"
    if chosen.reason:
        return f"{chosen.status}: {chosen.reason}"
    return _no_time(candidates, build.gpu)


def _no_time(candidates: Candidates, gpu: Gpu) -> str:
    """Why no time is known, and how to supply it."""
    model = candidates.model
    if candidates.evidence != "sound":
        return "no time was published for this model on this machine"
    if candidates.uncounted is not None:
        why = f"your model {model.recipe_id} is counted no longer: {candidates.uncounted}"
        return f"{NO_ESTIMATE}{why}"
    capability = float(gpu.compute_capability or FIRST_WITH_BF16)
    if model.precision == "bf16" and capability < FIRST_WITH_BF16:
        return f"{NO_ESTIMATE}the {gpu.name} has no bf16 cores, and this model trains in bf16"
    measure = model.own_command or f"advisor bench --model {model.recipe_id}"
    return (
        f"{NO_ESTIMATE}the {gpu.name} is too unlike every GPU that was measured, would have to be "
        f"faster than it can, or lacks a figure in the catalogue; measure: {measure}"
    )
