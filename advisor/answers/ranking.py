"""The answer of `advisor rank`: the question read, asked, and put into words, JSON or CSV."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import Any

from advisor.answers.circuit import circuit_line, parse_circuit
from advisor.answers.uncertainty import (
    doubt_lines,
    limit_lines,
    settle_object,
    standing_line,
    wanted_line,
)
from advisor.answers.wording import (
    build_words,
    days_words,
    price_marks,
    price_note,
    settings_words,
    time_words,
)
from advisor.costs.cost import DEFAULT_LIFETIME_YEARS
from advisor.costs.price_book import RULE_WORDS as RULE_OF_PRICES
from advisor.parse import (
    InputError,
    parse_budget,
    parse_lifetime_years,
    parse_max_days,
    parse_price_rule,
    shown,
)
from advisor.ranking.candidates import Field
from advisor.ranking.question import RULES, Question
from advisor.ranking.rank import ExcludedRow, RankedRow, Ranking, rank
from advisor.ranking.snapshot import EVIDENCE, Snapshot, make_field, take_snapshot
from advisor.store import Store
from advisor.tables import render_rows, to_csv, to_json
from bench_runner.records import Settings
from price_catalog.power import Supply

RULE_WORDS = {
    "days": "fastest first",
    "cost": "cheapest first",
    "experiment-cost": "cheapest per experiment first",
}


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


def read_question(
    budget: str | None, max_days: str | None, rule: str, lifetime_years: str | None
) -> Question:
    """The question as typed. Raises InputError."""
    if rule not in RULES:
        raise InputError(f"ranking by {shown(rule)} is not known: write {', '.join(RULES)}")
    return Question(
        budget_usd=None if budget is None else parse_budget(budget),
        max_days=None if max_days is None else parse_max_days(max_days),
        rule=rule,
        lifetime_years=DEFAULT_LIFETIME_YEARS
        if lifetime_years is None
        else parse_lifetime_years(lifetime_years),
    )


def answer_rank(
    store: Store,
    *,
    model: str,
    budget: str | None,
    max_days: str | None,
    rule: str,
    lifetime_years: str | None,
    prices: str,
    evidence: str,
    gpus: str | None,
    form: str,
    circuit: str | None = None,
) -> tuple[str, bool]:
    """The text to print, and whether any build answers. Raises InputError and StoreError."""
    question = read_question(budget, max_days, rule, lifetime_years)
    price_rule = parse_price_rule(prices)
    if evidence not in EVIDENCE:
        raise InputError(f"evidence {shown(evidence)} is not known: write sound or published")
    supply = None if circuit is None else parse_circuit(circuit)
    with store.reading() as reader:
        snapshot = take_snapshot(reader, price_rule)
        chosen = snapshot.model(model)
        gpu_ids = None if gpus is None else snapshot.gpu_ids(_names(gpus))

        field = make_field(
            reader,
            snapshot,
            chosen,
            prices=price_rule,
            evidence=evidence,
            gpu_ids=gpu_ids,
            supply=supply,
        )
    answer = rank(field, question)
    at_face_value = rank(field.at_face_value(), question) if evidence == "sound" else answer
    if form == "json":
        text = to_json(_object(answer, at_face_value, prices))
    elif form == "csv":
        text = _csv(answer)
    else:
        text = _table(answer, at_face_value, prices, snapshot, supply)
    return text, len(answer) > 0


def _names(text: str) -> list[str]:
    names = [name.strip() for name in text.split(",") if name.strip()]
    if not names:
        raise InputError('no GPU is named: write them like --gpus "RTX 3090,H100"')
    return names


def _object(answer: Ranking, at_face_value: Ranking, prices: str) -> dict[str, Any]:
    question = answer.question
    found: dict[str, Any] = {
        "model": answer.field.model.recipe_id,
        "budget_usd": question.budget_usd,
        "max_days": question.max_days,
        "rule": question.rule,
        "lifetime_years": question.lifetime_years,
        "prices": prices,
        "evidence": answer.field.evidence,
        "ranked": [ranked_object(row) for row in answer.rows()],
        "excluded": [excluded_object(row) for row in [*answer.excluded(), *answer.refused]],
        "price_rule": RULE_OF_PRICES,
        "price_doubts": doubt_lines(answer),
        "settle": settle_object(answer),
    }
    if answer.field.evidence == "sound":
        found["published_ranking"] = [
            {
                "rank": row.rank,
                "gpu": row.build.gpu.name,
                "gpu_count": row.build.gpu_count,
                "overall_cost_usd": row.overall_cost_usd,
                "training_days": row.training_days,
                "verdict": row.time.verdict,
            }
            for row in at_face_value.rows()
        ]
    return found


def _csv(answer: Ranking) -> str:
    """Ranked builds first, then those left out, with their reason, in the same columns."""
    rows: list[dict[str, Any]] = []
    for row in answer.rows():
        flat = ranked_object(row)
        flat["gpu_price_date"] = row.gpu_quote.quoted_on
        flat["host_price_date"] = row.host_quote.quoted_on
        flat["settings"] = settings_words(row.time.settings)
        rows.append(flat)
    rows.extend(excluded_object(row) for row in [*answer.excluded(), *answer.refused])
    return to_csv(rows, CSV_COLUMNS)


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


def usd(amount: Decimal) -> str:
    """Whole dollars, as a person reads them."""
    return f"${amount:,.0f}"


def published_note(answer: Ranking, at_face_value: Ranking) -> str | None:
    """What taking the published times at face value would have put first, where it differs."""
    if answer.field.evidence != "sound" or not len(at_face_value):
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
        f"Published times at face value would put {first.build.gpu_count} × "
        f"{first.build.gpu.name} first ({first.training_days:g} days, "
        f"{usd(first.overall_cost_usd)}); {reason}."
    )


def headline(field: Field, question: Question, prices: str) -> str:
    """The question in one line."""
    words = [field.model.name]
    budget = question.budget_usd
    words.append("any budget" if budget is None else f"budget {usd(budget)}")
    if question.max_days is not None:
        words.append(f"at most {question.max_days:g} days")
    words.append(RULE_WORDS[question.rule])
    words.append(f"prices {prices}")
    words.append(f"{field.evidence} evidence")
    return " · ".join(words)


def count_words(answer: Ranking) -> str:
    """``9 of 16 builds; left out: 5 over budget, 2 implausible time``."""
    text = f"{len(answer)} of {len(answer.field.builds)} builds"
    counts = answer.excluded_counts
    if counts:
        left = ", ".join(f"{n} {reason.replace('-', ' ')}" for reason, n in counts.items())
        text += f"; left out: {left}"
    return text


def _table(
    answer: Ranking,
    at_face_value: Ranking,
    prices: str,
    snapshot: Snapshot,
    supply: Supply | None,
) -> str:
    blocks = [headline(answer.field, answer.question, prices)]
    rows = answer.rows()
    if rows:
        blocks.append(
            render_rows(
                [
                    {
                        "#": f"{row.rank}{'=' if row.tied_with_first else ' '}",
                        "build": build_words(row.build),
                        "cost": usd(row.overall_cost_usd),
                        "days": days_words(row),
                        "per experiment": f"${row.experiment_cost_usd:,.2f}",
                        "front": "*" if row.on_pareto_front else "-",
                        "time": time_words(row.time),
                        "prices of": price_note(row, date.today()),
                        "settings": settings_words(row.time.settings),
                    }
                    for row in rows
                ],
                "table",
            )
        )
        lifetime = answer.question.lifetime_years
        blocks.append(
            "* on the Pareto front: no other build here is both cheaper and faster. = cannot be "
            "told from first place: the doubt is larger than the difference; what two predictions "
            "share, the software above all, cancels. Days come with their interval. "
            f"Per experiment = cost × days / ({lifetime:g} years × 365). "
            "Unsynchronised: timed without waiting for the GPU, so possibly too low. MFU: the "
            "share of the GPUs' peak that the time implies."
        )
    else:
        blocks.append("No build answers this question.")
    sure = [standing_line(answer), wanted_line(answer), *limit_lines(answer)]
    if any(sure):
        blocks.append("What the times leave open:\n" + "\n".join(f"  {x}" for x in sure if x))
    blocks.append(count_words(answer))
    if prices != "paper":
        blocks.append(f"Which price counts: {RULE_OF_PRICES}")
    if supply is None:
        blocks += circuit_line(row.build for row in rows)
    doubts = doubt_lines(answer)
    if doubts:
        blocks.append("What the prices leave open:\n" + "\n".join(f"  {line}" for line in doubts))
    note = published_note(answer, at_face_value)
    if note:
        blocks.append(note)
    left = _grouped([*answer.excluded(), *answer.refused])
    if left:
        blocks.append(render_rows(left, "table"))
    used = {row.time.source_id for row in rows} | {row.gpu_quote.source_id for row in rows}
    used |= {row.host_quote.source_id for row in rows}
    for source in snapshot.sources:
        if source.source_id in used:
            where = f", {source.url}" if source.url else ""
            blocks.append(f"{source.source_id}: {source.title}{where}. {source.how_measured}")
    return "\n\n".join(blocks)


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
