"""The answer of a ranking in words, as JSON and as CSV."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from datetime import date
from typing import Any

from advisor.answers.checklist import doubt_objects
from advisor.answers.measure_commands import measure_build
from advisor.answers.price_facts import machine_object, price_object
from advisor.answers.ranking.before_you_order import steps_of
from advisor.answers.ranking.rank_sentence import Verdict, days_of
from advisor.answers.wording import price_day, price_marks, rests_on_words, settings_words
from advisor.costs.cost_of_owning import CENT
from advisor.costs.price_book import RULE_WORDS as PRICE_RULE_WORDS
from advisor.ranking.candidates import Candidates
from advisor.ranking.fine_tuning import parted
from advisor.ranking.question import CandidatesKey
from advisor.ranking.row_order import ExcludedRow, RankedRow, Ranking
from advisor.ranking.times import Model, TrainingTime
from advisor.ranking.what_to_measure import wanted
from advisor.tables.table_formats import to_csv
from price_catalog.builds import Build
from price_catalog.model import Rental


def ranked_object(row: RankedRow) -> dict[str, Any]:
    """One ranked build as the JSON of `advisor rank` has it."""
    time, today, build = row.time, date.today(), row.build
    gpu, host = row.gpu_quote, row.host_quote
    return {
        **_fields(row, "rank", "group"),
        **_build_object(build),
        **_fields(row, "overall_cost_usd", "price_low_usd", "price_high_usd", "training_days"),
        **_fields(row, "training_days_low", "training_days_high"),
        "comparison_factor": time.comparison_factor,
        "experiment_cost_usd": row.experiment_cost_usd,
        **_fields(time, "basis", "rests_on"),
        "rests_on_words": rests_on_words(time),
        **_fields(time, "evidence_pieces", "evidence_nearest"),
        "measured_days_other_settings": time.measured_otherwise_days,
        "training_days_paper_settings": time.paper_settings_days,
        "training_days_paper_settings_low": time.paper_settings_days_low,
        "training_days_paper_settings_high": time.paper_settings_days_high,
        **_fields(time, "other_software_days", "other_software_days_low"),
        **_fields(time, "other_software_days_high", "timing"),
        "source": time.source_id,
        **_fields(time, "measured_on", "method"),
        "settings": time.settings and asdict(time.settings),
        "batch_size": batch_of(time),
        "memory_gib": time.peak_memory_gib,
        **_fields(time, "implied_mfu", "verdict", "verdict_reason"),
        "price_dates": {"gpu": gpu.quoted_on, "host": host.quoted_on},
        "price_marks": {"gpu": price_marks(row, gpu, today), "host": price_marks(row, host, today)},
        "gpus_owned": build.gpus_owned,
        "whole_server": build.host.gpu_id is not None,
        "power_limit_w": None if build.limit is None else build.limit.watts,
        "own_machine": build.host.is_own_quote,
        "own_price": gpu.is_own or host.is_own,
        "prices": {
            "gpu_usd": gpu.price_usd,
            "gpu_vendor": gpu.vendor,
            "gpu_kind": gpu.kind,
            "host_usd": host.price_usd,
            "host_vendor": host.vendor,
            "host_kind": host.kind,
        },
        "prices_told": [price_object(row, told, today) for told in row.asked],
        "machine": machine_object(build),
        **_fields(row, "on_pareto_front", "tied_with", "availability"),
    }


def _fields(record: object, *names: str) -> dict[str, Any]:
    """These fields of a record, by the names that they have there."""
    return {name: getattr(record, name) for name in names}


def training_object(model: Model) -> dict[str, Any] | None:
    """How a model is fine-tuned, nothing left to assume; None where it is trained from nothing."""
    _, tuning = parted(model.recipe_id)
    if tuning is None:
        return None
    return {
        **tuning.as_object(text=model.sequence_length is not None),
        "batch_size": model.batch_size,
        "sequence_length": model.sequence_length,
        "assumed": model.note,
    }


def batch_of(time: TrainingTime) -> int | None:
    """The samples of an optimiser step that its settings make up, where they are known."""
    settings = time.settings
    if settings is None or settings.micro_batch_size is None:
        return None
    passes = settings.gradient_accumulation_steps
    return None if passes is None else settings.micro_batch_size * passes * time.gpu_count


def excluded_object(row: ExcludedRow, *, replaced_time: bool = False) -> dict[str, Any]:
    """One left-out build as the JSON of `advisor rank` has it; or, with ``replaced_time``, a
    published time that an estimate stands in for: its build is counted elsewhere."""
    return {
        **_build_object(row.build),
        "own_machine": row.build.host.is_own_quote,
        **_fields(row, "reason", "detail", "overall_cost_usd", "training_days"),
        "replaced_time": replaced_time,
    }


def left_out_objects(ranking: Ranking) -> list[dict[str, Any]]:
    """Every left-out build, then the published times that were replaced."""
    rows = [excluded_object(row) for row in ranking.excluded()]
    return rows + [excluded_object(row, replaced_time=True) for row in ranking.refused]


_NESTED = ("price_dates", "price_marks", "prices", "prices_told", "machine")
"""What CSV has no room for, or in columns of its own."""


def flat_object(row: RankedRow) -> dict[str, Any]:
    """One ranked build as a row of CSV."""
    flat = {name: value for name, value in ranked_object(row).items() if name not in _NESTED}
    quote = row.host_quote
    return {
        **flat,
        **machine_object(row.build),
        "settings": settings_words(row.time.settings),
        "gpu_price_date": row.gpu_quote.quoted_on,
        "host_price_date": quote.quoted_on,
        "vendor": quote.vendor,
        "price_kind": quote.kind,
        "delivery": quote.delivery,
        "warranty": quote.warranty,
    }


def ranking_csv(answer: Ranking) -> str:
    """Ranked builds first, then those left out, with their reason, in the same columns."""
    rows = [flat_object(row) for row in answer.rows()] + left_out_objects(answer)
    return to_csv(rows, list(dict.fromkeys(name for row in rows for name in row)))


def verdict_object(
    ranking: Ranking, rentals: Sequence[Rental], key: CandidatesKey
) -> dict[str, Any]:
    """The first line of the answer and what it rests on, for a script; exact figures."""
    found, candidates = Verdict(ranking, rentals), ranking.candidates
    left_out, rent, row = ranking.excluded_counts, found.rent, found.first
    return {
        "sentence": found.sentence,
        "build": row and _build_object(row.build),
        "price": row
        and {
            "usd": row.overall_cost_usd,
            "low_usd": row.price_low_usd,
            "high_usd": row.price_high_usd,
            "date": price_day(row),
            "age_days": (date.today() - price_day(row)).days,
            "vendor": row.host_quote.vendor,
            "kind": row.host_quote.kind,
            "availability": row.availability,
        },
        "days": row
        and {
            "training_days": row.training_days,
            "low": row.training_days_low,
            "high": row.training_days_high,
            "basis": row.time.basis,
        },
        "chance_within_limit": found.chance and round(found.chance, 3),
        "chance_within_budget": found.budget_chance and round(found.budget_chance, 3),
        "ties": [_build_object(candidates.builds[i]) for i in found.as_good],
        "more_money": _priced_object(candidates, found.more_money),
        "nearest_in_time": _priced_object(candidates, found.in_time),
        "nearest_in_budget": _priced_object(candidates, found.in_budget),
        "rent": rent
        and {
            **_build_object(candidates.builds[rent[1]], host=False),
            "usd_a_run": rent[0].quantize(CENT),
            "training_days": candidates.days[rent[1]],
        },
        "rent_first_usd_a_run": found.rent_first
        and found.rent_first.rent_per_experiment_usd.quantize(CENT),
        "measure": _measure_object(ranking),
        "doubts": doubt_objects(steps_of(found, key)),
        "totals": {
            "builds": len(candidates.builds),
            "rows": len(ranking.table),
            "ranked": len(ranking),
            "left_out": sum(left_out.values()),
            "reasons": left_out,
            "published_times_replaced": len(ranking.refused),
        },
    }


def _build_object(build: Build, *, host: bool = True) -> dict[str, Any]:
    found = {"gpu": build.gpu.name, "gpu_count": build.gpu_count, "machines": build.machines}
    return {**found, "host": build.host.name} if host else found


def _priced_object(candidates: Candidates, i: int | None) -> dict[str, Any] | None:
    """A build with its price and days, of which none need keep the limits."""
    if i is None:
        return None
    return {
        **_build_object(candidates.builds[i]),
        "usd": candidates.cost_usd(i),
        "availability": candidates.availability[i],
        "training_days": candidates.days[i],
        "in_words": days_of(candidates, i),
    }


def _measure_object(ranking: Ranking) -> dict[str, Any] | None:
    """The measurement that settles most about the first row."""
    found = wanted(ranking)
    if found is None:
        return None
    build = ranking.candidates.builds[found.build]
    return {
        **_build_object(build),
        "minutes": round(found.minutes, 1),
        "still_open": found.left,
        "command": measure_build(ranking.candidates.model, build),
    }


def ranking_object(
    answer: Ranking, rentals: Sequence[Rental], key: CandidatesKey
) -> dict[str, Any]:
    """The whole answer as the JSON of `advisor rank` has it.

    ``excluded`` ends with the published times that are impossible, also of builds that are ranked
    by an estimate instead: ``replaced_time`` tells them apart. The other rows are the builds that
    the totals of the verdict count, each once.
    """
    question, candidates, money = answer.question, answer.candidates, answer.question.budget_typed
    return {
        "verdict": verdict_object(answer, rentals, key),
        "model": candidates.model.recipe_id,
        "training": training_object(candidates.model),
        "budget_usd": question.budget_usd,
        "budget_typed": money
        and {
            "amount": money.amount,
            "currency": money.rate.code,
            "usd_per_unit": money.rate.usd_per_unit,
            "on": money.rate.on,
            "source": money.rate.source,
        },
        "max_days": question.max_days,
        "rule": question.rule,
        "order": answer.order_words,
        "lifetime_years": float(question.terms.lifetime_years),
        "terms": question.terms._asdict(),
        "buy_in": candidates.buy_in,
        "prices": str(key.prices),
        "evidence": candidates.evidence,
        "network": candidates.network,
        "ranked": [ranked_object(row) for row in answer.rows()],
        "excluded": left_out_objects(answer),
        "price_rule": PRICE_RULE_WORDS,
    }
