"""``advisor rank``: the ranking as a table, JSON or CSV."""

from __future__ import annotations

from datetime import date
from typing import Any

from advisor.answers.circuit import circuit_line
from advisor.answers.ranking import (
    CSV_COLUMNS,
    _grouped,
    count_words,
    excluded_object,
    headline,
    published_note,
    ranked_object,
)
from advisor.answers.uncertainty import (
    doubt_lines,
    limit_lines,
    settle_object,
    uncertainty_line,
    wanted_line,
)
from advisor.answers.wording import (
    build_words,
    days_and_interval,
    price_note,
    rank_words,
    settings_words,
    trust_words,
)
from advisor.costs.amounts import usd_and_cents, usd_whole
from advisor.costs.price_book import RULE_WORDS as RULE_OF_PRICES
from advisor.parse import InputError, parse_price_rule
from advisor.ranking.rank import Ranking, rank
from advisor.ranking.snapshot import Snapshot, make_candidates, take_snapshot
from advisor.ranking.typed_question import TypedQuestion, read_question
from advisor.store import Store
from advisor.tables import render_rows, to_csv, to_json
from price_catalog.power import Supply


def answer_rank(store: Store, typed: TypedQuestion, form: str) -> tuple[str, bool]:
    """The text to print, and whether any build answers. Raises InputError and StoreError."""
    prices = parse_price_rule(typed.prices)
    with store.reading() as reader:
        snapshot = take_snapshot(reader, prices)
        asked, errors = read_question(typed, snapshot)
        if asked is None:
            raise InputError(next(iter(errors.values())))
        key = asked.key
        candidates = make_candidates(
            reader,
            snapshot,
            snapshot.model(key.recipe_id),
            prices=key.prices,
            evidence=key.evidence,
            gpu_ids=key.gpu_ids,
            supply=key.supply,
        )
    answer = rank(candidates, asked.question)
    at_face_value = answer
    if key.evidence == "sound":
        at_face_value = rank(candidates.at_face_value(), asked.question)
    if form == "json":
        text = to_json(_object(answer, at_face_value, typed.prices))
    elif form == "csv":
        text = _csv(answer)
    else:
        text = _table(answer, at_face_value, typed.prices, snapshot, key.supply)
    return text, len(answer) > 0


def _object(answer: Ranking, at_face_value: Ranking, prices: str) -> dict[str, Any]:
    question = answer.question
    found: dict[str, Any] = {
        "model": answer.candidates.model.recipe_id,
        "budget_usd": question.budget_usd,
        "max_days": question.max_days,
        "rule": question.rule,
        "lifetime_years": question.lifetime_years,
        "prices": prices,
        "evidence": answer.candidates.evidence,
        "ranked": [ranked_object(row) for row in answer.rows()],
        "excluded": [excluded_object(row) for row in [*answer.excluded(), *answer.refused]],
        "price_rule": RULE_OF_PRICES,
        "price_doubts": doubt_lines(answer),
        "settle": settle_object(answer),
    }
    if answer.candidates.evidence == "sound":
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


def _table(
    answer: Ranking,
    at_face_value: Ranking,
    prices: str,
    snapshot: Snapshot,
    supply: Supply | None,
) -> str:
    blocks = [headline(answer.candidates, answer.question, prices)]
    rows = answer.rows()
    if rows:
        blocks.append(
            render_rows(
                [
                    {
                        "#": rank_words(row),
                        "build": build_words(row.build),
                        "cost": usd_whole(row.overall_cost_usd),
                        "days": days_and_interval(row),
                        "per experiment": usd_and_cents(row.experiment_cost_usd),
                        "front": "*" if row.on_pareto_front else "-",
                        "time": trust_words(row.time),
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
    sure = [uncertainty_line(answer), wanted_line(answer), *limit_lines(answer)]
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
