"""From a plan and its explanation to the report: its sections, and the plan as data."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from advisor.planning.grant.funder import paper_of
from advisor.planning.grant.problem_of_grant import Loaded
from advisor.planning.report.budget import (
    WhoPays,
    budget_table,
    for_funder,
    line_names,
    who_pays,
    with_payers,
)
from advisor.planning.report.budget_entries import paid_beside, year_spans
from advisor.planning.report.document import Picture, Report, ReportTable, Section, sections_of
from advisor.planning.report.facts import (
    evidence,
    hours,
    justification,
    quotes_and_rates,
    request,
    what_is_planned,
)
from advisor.planning.report.facts.carbon import compute_and_carbon
from advisor.planning.report.facts.checks import before_you_send
from advisor.planning.report.number_ledger import Num
from advisor.planning.report.plan_costs import Material
from advisor.planning.report.report_numbers import finding_text
from advisor.planning.sensitivity.explain import Explanation
from advisor.planning.solver.money.prices import PricedLine
from advisor.planning.solver.plan import Plan, last_day


def build_report(
    loaded: Loaded, plan: Plan, explanation: Explanation, *, pictures: bool = True
) -> Report:
    """The whole report. Pictures need matplotlib."""
    given = Material(loaded, plan, explanation)
    grant, currency = given.grant, given.grant.currency
    budget = budget_table(given)
    paid = who_pays(given, budget)
    form = _for_funder(_request(given, budget, paid))
    office: tuple[Section, ...] = ()
    modular = request.modular_budget(given, budget, paid)
    if modular is not None:  # lines and quotes stay in the office
        table, facts = modular
        office, form = form, _for_funder(sections_of("modular.txt", [table], **facts))
    first, *annex = _annex(given, paid, _drawn(given) if pictures else None)
    return Report(
        title=grant.title,
        made_on=loaded.today,
        sections=(first, *office, *annex),
        rows=tuple(given.ledger.rows),
        form=form,
        paper=paper_of(given.form, currency.code),
        decimal_comma=given.form.decimal_comma,
        objects=objects(given, budget, paid),
        currency=currency.code,
        converted=currency.note,
    )


def _request(given: Material, budget: ReportTable, paid: WhoPays) -> tuple[Section, ...]:
    """What the funder reads: request and budget, justification, quotes."""
    grant, form, life = given.grant, given.form, given.grant.purchases.lifetime_years
    names = {line: kind for kind, line in line_names(given).items()}
    by_line = {
        names[str(row[0])]: row[-1]
        for row in budget.rows
        if row[0] in names and isinstance(row[-1], Num)
    }
    life_num, rates = None, quotes_and_rates.rates(given)
    if life is not None and given.costs.equipment:
        key, words = "purchases.lifetime_years", "life of a machine"
        life_num = given.setting(key, life, "years", words)
    blocks = [with_payers(budget, paid, grant.shared_by), quotes_and_rates.prices_table(given)]
    return sections_of(
        "request.txt",
        [*blocks, rates and rates[0]],
        request=request.request_facts(given, paid),
        notes=request.budget_notes(given),
        need=justification.need(given),
        choices=justification.choices(given),
        bound_by_rules=given.loaded.unrestricted is not None,
        cheaper=justification.cheaper_without_quote(given),
        existing=justification.existing(given),
        renting=hours.renting(given, by_line),
        hours=hours.hours(given),
        carbon=compute_and_carbon(given),
        upkeep=justification.upkeep(given),
        prices=quotes_and_rates.price_facts(given),
        rates=rates and rates[1],
        by_line=by_line,
        total=given.costs.total,
        asks=bool(paid.asked.value),
        whole_cost_asked=form.pays is None and not form.adds_indirect and not grant.shared,
        form=form,
        grant=grant,
        life=life_num,
        soonest=given.problem.objective == "soonest",
    )


def _for_funder(sections: tuple[Section, ...]) -> tuple[Section, ...]:
    """Without marks that only the lab reads, such as "yours" for its own quotes."""

    def clean(block: Any) -> Any:
        if isinstance(block, ReportTable):
            rows = tuple(tuple(map(clean, row)) for row in block.rows)
            return replace(block, rows=rows)
        return for_funder(block) if isinstance(block, str) else block

    return tuple(replace(each, blocks=tuple(map(clean, each.blocks))) for each in sections)


def _annex(given: Material, paid: WhoPays, picture: Picture | None) -> tuple[Section, ...]:
    """What somebody may want to check, the lab's own list first."""
    grant, found = given.grant, given.explanation
    tables = [
        what_is_planned.experiments_table(given),
        what_is_planned.schedule_table(given),
        quotes_and_rates.asked_table(given),
        quotes_and_rates.parts_table(given),
        what_is_planned.running_table(given),
        what_is_planned.a_run(given),
        what_is_planned.alternatives_table(given),
        evidence.times_table(given),
        evidence.settings_table(given),
        evidence.allocations_table(given),
        evidence.sources_table(given),
    ]
    return sections_of(
        "annex.txt",
        [*tables, picture],
        check=before_you_send(given, paid),
        question=what_is_planned.question(given),
        do=what_is_planned.what_to_do(given),
        costs=given.costs,
        plan=given.plan,
        others=[what_is_planned.why_not(given, other) for other in found.alternatives],
        binds=[finding_text(given.ledger, each) for each in found.binds],
        thresholds=[finding_text(given.ledger, each) for each in found.thresholds],
        ask=[finding_text(given.ledger, each) for each in found.ask],
        limits=evidence.limits(given),
        versions=evidence.versions(given),
        charges_overhead=grant.charges_overhead,
        grant=grant,
    )


def _drawn(given: Material) -> Picture:
    from advisor.planning.report.pictures import draw_plan

    return draw_plan(given.loaded, given.plan)


def objects(given: Material, budget: ReportTable, paid: WhoPays) -> dict[str, Any]:
    """What a script wants of a plan."""
    grant, problem = given.grant, given.problem
    options, beside = problem.options(), paid_beside(given)
    by_year = [theirs for theirs, _ in paid.by_year] or None
    others = {"by": grant.shared_by, "amount": paid.theirs, "by_year": by_year}
    # Where machines are written off the grant does not say who pays the rest.
    payer = grant.purchases.cost_share_by if problem.rules.life_months is None else None
    return {
        "funder": grant.funder,
        "currency": grant.currency.code,
        **_rate(given),
        "purchases": _purchases(given),
        "rentals": [
            {
                "item": r.label,
                "experiment": given.experiments[r.experiment_id].name,
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
                "experiment": given.experiments[p.experiment_id].name,
                "machine": options[p.machine_id].label,
                "starts": str(given.day(p.pieces[0][0])),
                "ends": str(given.day(last_day(p.pieces[-1][1]))),
                "due": str(given.day(problem.due(given.experiments[p.experiment_id]))),
            }
            for p in sorted(given.plan.placed, key=lambda p: (p.pieces[0][0], p.experiment_id))
        ],
        "left_out": _left_out(given.loaded),
        "budget": {
            "years": [{"from": str(first), "to": str(last)} for first, last in year_spans(given)],
            "lines": [
                {"line": row[0], "by_year": list(row[1:-1]), "total": row[-1]}
                for row in budget.rows
            ],
            "asked": paid.asked,
            "paid_by_others": None if paid.theirs is None else others,
            "paid_beside_it": None if beside is None else {"by": payer, "amount": beside},
        },
    }


def _purchases(given: Material) -> list[dict[str, Any]]:
    asked = quotes_and_rates.asked_of(given)

    def quote(p: PricedLine[Num]) -> dict[str, Any]:
        line = p.line
        return {
            "item": line.label,
            "quantity": p.quantity,
            "price": p.price,
            "vendor": line.vendor,
            "kind": line.quote_kind,
            "date": str(line.quoted_on),
            "quote_id": line.quote_id,
            **asked[line.quote_id],
        }

    return [
        {
            "item": e.machine.label,
            "count": e.count,
            "ordered_on": str(e.bought_on),
            "each": e.charge.each,
            "all": e.charge.direct,
            "quotes": list(map(quote, e.lines)),
        }
        for e in given.costs.equipment
    ]


def _left_out(loaded: Loaded) -> list[dict[str, Any]]:
    """What was not planned with, why, and what it would have saved: what could be ordered by
    itself, the rest by its reason."""
    found: list[dict[str, Any]] = []
    others: dict[str, list[str]] = {}
    for each in loaded.left_out:
        if each.by_procurement or each.needs_quote:
            saved = {"would_have_saved": each.saves, "would_do_more_runs": each.more_runs}
            found.append({"what": each.label, "why": each.reason, **saved})
        else:
            others.setdefault(each.reason, []).append(each.label)
    nothing = {"would_have_saved": None, "would_do_more_runs": None}
    for reason, labels in others.items():
        what = labels[0] if len(labels) == 1 else f"{len(labels)} machines and instances"
        found.append({"what": what, "why": reason, **nothing})
    return found


def _rate(given: Material) -> dict[str, Any]:
    """How prices in US dollars become amounts of the grant; nothing where they are the same."""
    currency = given.grant.currency
    if currency.code == "USD":
        return {}
    words = f"US dollars a {currency.code}"
    rate = given.setting("budget.usd_per_unit", currency.usd_per_unit, "factor", words)
    told = {"date": currency.on and str(currency.on), "source": currency.source}
    known = {key: value for key, value in told.items() if value is not None}
    return {"exchange_rate": {"usd_per_unit": rate, **known}}
