"""From a plan and its explanation to the report: its sections, and the plan as data."""

from __future__ import annotations

from typing import Any

from advisor.planning.grant.funder import paper_of
from advisor.planning.grant.problem_of_grant import Loaded
from advisor.planning.report.annex.before_sending import to_check_section
from advisor.planning.report.annex.cost_sections import asked_of, money_section
from advisor.planning.report.annex.evidence_sections import (
    rules_section,
    sensitivity_section,
    sources_section,
    times_section,
)
from advisor.planning.report.annex.plan_sections import (
    alternatives_section,
    question_section,
    recommendation_section,
    schedule_section,
)
from advisor.planning.report.budget import WhoPays, budget_table, who_pays
from advisor.planning.report.budget_entries import paid_beside, year_spans
from advisor.planning.report.funder.request import funder_sections
from advisor.planning.report.phrases import limits
from advisor.planning.report.plan_costs import Material, material_of
from advisor.planning.report.report import Report, ReportTable, Section
from advisor.planning.sensitivity.explain import Explanation
from advisor.planning.solver.plan import Plan, last_day


def build_report(
    loaded: Loaded, plan: Plan, explanation: Explanation, *, pictures: bool = True
) -> Report:
    """The whole report. Pictures need matplotlib."""
    given = material_of(loaded, plan, explanation)
    budget = budget_table(given)
    paid = who_pays(given, budget)
    form, office = funder_sections(given, budget, paid)
    sections = [
        to_check_section(given, paid),
        *office,
        question_section(given),
        recommendation_section(given),
        money_section(given),
        schedule_section(given, pictures),
        alternatives_section(given, pictures, given.costs.total.value),
        sensitivity_section(given),
        times_section(given, pictures),
        rules_section(given),
        Section(title="Limits of the evidence", blocks=(tuple(limits(given)),)),
        sources_section(given),
    ]
    in_it = tuple(sections)
    data = objects(given, budget, paid)
    return Report(
        title=loaded.grant.title,
        made_on=loaded.today,
        sections=in_it,
        rows=tuple(given.ledger.rows),
        form=form,
        paper=paper_of(given.form, loaded.grant.currency.code),
        decimal_comma=given.form.decimal_comma,
        objects=data,
        currency=loaded.grant.currency.code,
        converted=loaded.grant.currency.note,
    )


def objects(given: Material, budget: ReportTable, paid: WhoPays) -> dict[str, Any]:
    """What a script wants of a plan."""
    problem, book = given.loaded.problem, given.book
    options = problem.options()
    asked, beside = asked_of(given), paid_beside(given)
    return {
        "funder": given.loaded.grant.funder,
        "currency": given.loaded.grant.currency.code,
        **_rate(given),
        "purchases": [
            {
                "item": e.machine.label,
                "count": e.count,
                "ordered_on": str(e.bought_on),
                "each": e.charge.each,
                "all": e.charge.direct,
                "quotes": [
                    {
                        "item": p.line.label,
                        "quantity": p.quantity,
                        "price": p.price,
                        "vendor": p.line.vendor,
                        "kind": p.line.quote_kind,
                        "date": str(p.line.quoted_on),
                        "quote_id": p.line.quote_id,
                        **dict(
                            zip(
                                ("lowest", "highest", "quotes_as_good"),
                                asked[p.line.quote_id].ends,
                                strict=True,
                            )
                        ),
                        "newer_not_used": asked[p.line.quote_id].newer,
                        "newer_of": asked[p.line.quote_id].newer_of or None,
                    }
                    for p in e.lines
                ],
            }
            for e in given.costs.equipment
        ],
        "rentals": [
            {
                "item": r.label,
                "experiment": book.experiments[r.experiment_id].name,
                "runs": r.runs,
                "hours_a_run": r.charge.amount,
                "price": r.charge.price,
                "all": r.charge.direct,
            }
            for r in given.costs.running
            if r.rented
        ],
        "schedule": [
            {
                "experiment": book.experiments[p.experiment_id].name,
                "machine": options[p.machine_id].label,
                "starts": str(book.day(p.pieces[0][0])),
                "ends": str(book.day(last_day(p.pieces[-1][1]))),
                "due": str(book.day(problem.due(book.experiments[p.experiment_id]))),
            }
            for p in sorted(given.plan.placed, key=lambda p: (p.pieces[0][0], p.experiment_id))
        ],
        "left_out": left_out_objects(given.loaded),
        "budget": {
            "years": [{"from": str(first), "to": str(last)} for first, last in year_spans(given)],
            "lines": [
                {"line": row[0], "by_year": list(row[1:-1]), "total": row[-1]}
                for row in budget.rows
            ],
            "asked": paid.asked,
            "paid_by_others": None
            if paid.theirs is None
            else {
                "by": given.loaded.grant.shared_by,
                "amount": paid.theirs,
                "by_year": [theirs for theirs, _ in paid.by_year] or None,
            },
            "paid_beside_it": None
            if beside is None
            else {"by": _who_pays_beside(given), "amount": beside},
        },
    }


def left_out_objects(loaded: Loaded) -> list[dict[str, Any]]:
    """What was not planned with, why, and what it would have saved: what could be ordered by
    itself, the rest by its reason."""
    found: list[dict[str, Any]] = [
        {
            "what": each.label,
            "why": each.reason,
            "would_have_saved": each.saves,
            "would_do_more_runs": each.more_runs,
        }
        for each in loaded.left_out
        if each.by_procurement or each.needs_quote
    ]
    others: dict[str, list[str]] = {}
    for each in loaded.left_out:
        if not each.by_procurement and not each.needs_quote:
            others.setdefault(each.reason, []).append(each.label)
    return found + [
        {
            "what": labels[0] if len(labels) == 1 else f"{len(labels)} machines and instances",
            "why": reason,
            "would_have_saved": None,
            "would_do_more_runs": None,
        }
        for reason, labels in others.items()
    ]


def _who_pays_beside(given: Material) -> str | None:
    """None where machines are written off: the grant does not say who pays the rest."""
    grant = given.loaded.grant
    return grant.cost_share_by if given.loaded.problem.rules.life_months is None else None


def _rate(given: Material) -> dict[str, Any]:
    """How prices in US dollars become amounts of the grant; nothing where they are the same."""
    currency = given.loaded.grant.currency
    if currency.code == "USD":
        return {}
    rate = given.book.setting(
        "budget.usd_per_unit", currency.usd_per_unit, "factor", f"US dollars a {currency.code}"
    )
    told = {"date": currency.on and str(currency.on), "source": currency.source}
    return {
        "exchange_rate": {
            "usd_per_unit": rate,
            **{key: value for key, value in told.items() if value is not None},
        }
    }
