"""The answer of `advisor plan`: the grant read, solved, explained, and put into words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

from advisor.answers.plan.plan_calendar import calendar_lines, cut, short_day
from advisor.answers.plan.plan_sentence import plan_sentence, written_cost
from advisor.answers.plan.plan_times import time_doubt
from advisor.answers.price_facts import PriceTold, newer_words, told_words
from advisor.answers.wording import is_own_price
from advisor.costs.amounts import day_words
from advisor.planning.grant.cautions import cautions
from advisor.planning.grant.problem_of_grant import Loaded
from advisor.planning.planned import Planned
from advisor.planning.report.budget import asked_amounts, limits_told
from advisor.planning.sensitivity.explain import UNTRIED, Alternative, worse_by
from advisor.planning.sensitivity.infeasible import REST_UNTRIED
from advisor.planning.sensitivity.solved_amounts import Finding, Money, lines
from advisor.planning.sensitivity.thresholds import OUT_OF_TIME
from advisor.planning.solver.plan import Plan, last_day
from advisor.planning.solver.problem import BUY_IN
from advisor.planning.unused_gpus import unused_gpus, unused_line
from advisor.tables.plain_values import fill
from advisor.tables.text_table import to_table
from price_catalog.model import OWN_QUOTE

NO_PLAN = "No plan meets every constraint."
WIDTH = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Ways:
    """How the report is had, and what was left out is tried, where the plan is read."""

    report: str
    more_time: str
    try_all: str


BY_COMMAND = Ways(
    report="--out report.pdf writes the report with every source.",
    more_time="give it more with --seconds",
    try_all="leave --quick out to try them",
)
BY_KEYS = Ways(
    report="e writes the report with every source.",
    more_time="simpler experiments leave more of it",
    try_all="press t, then plan again to try them",
)


def no_plan_text(planned: Planned, width: int | None = None, ways: Ways = BY_COMMAND) -> str:
    """What to relax, in lines of at most ``width``."""
    if planned.out_of_time:
        told = f"Time ran out before it was known what to relax: {ways.more_time}."
        said = f"{NO_PLAN} {told}"
        return said if width is None else fill(said, width)
    if not planned.ways_out:
        return "No plan meets every constraint, and relaxing any single one does not help."
    return f"{NO_PLAN} {ways_out_text(planned, width, ways)}"


def ways_out_text(planned: Planned, width: int | None, ways: Ways = BY_COMMAND) -> str:
    """What would help, a line each."""
    if not planned.ways_out:
        return "Relaxing any single constraint does not help."
    found = [_with_way_out(each, ways) for each in planned.ways_out]
    each = [f"  - {line}" for line in lines(found, _of_plans(planned))]
    if width is not None:
        each = [fill(line, width, subsequent_indent=" " * 4) for line in each]
    return "\n".join(["Any one of these mends it:", *each])


def _of_plans(planned: Planned) -> Money:
    return planned.loaded.grant.currency.exactly


def plan_text(planned: Planned, width: int = WIDTH, ways: Ways = BY_COMMAND) -> str:
    """The plan as a person reads it in a terminal."""
    assert planned.plan is not None
    first = decided_text(planned.loaded, planned.plan, width)
    return f"{first}\n\n{explained_text(planned, width, ways)}"


def decided_text(loaded: Loaded, plan: Plan, width: int = WIDTH) -> str:
    """What to do, and when: known before anything else is tried."""
    problem = loaded.problem
    if not plan.runs:
        return fill(plan_sentence(loaded, plan), width)
    blocks = [fill(plan_sentence(loaded, plan), width), what_to_do(loaded, plan, width)]
    blocks.append("\n".join(calendar_lines(problem, plan, width)))
    if plan.left_out:
        names = {e.experiment_id: e.name for e in problem.experiments}
        left = ", ".join(f"{runs} of {names[e]}" for e, runs in plan.left_out.items())
        blocks.append(f"Left out: {left}")
    blocks += unused_blocks(loaded, plan, width)
    time = time_doubt(loaded, plan)
    told = [] if time is None else [f"{time.words}: {time.command}"]
    told += [*limits_told(loaded, plan), *cautions(loaded.grant, problem, plan)]
    if told:
        each = (fill(line, width, initial_indent="  - ", subsequent_indent="    ") for line in told)
        blocks.append("\n".join(["Before you ask for it:", *each]))
    return "\n\n".join(blocks)


def explained_text(planned: Planned, width: int = WIDTH, ways: Ways = BY_COMMAND) -> str:
    """What else there is, what binds and what would change the decision."""
    loaded, grant = planned.loaded, planned.loaded.grant
    assert planned.plan is not None and planned.explanation is not None
    if not planned.plan.runs:
        return ways_out_text(planned, width, ways)
    blocks: list[str] = []
    rows = [
        {
            "instead": each.label,
            "cost": "no such plan"
            if each.plan is None
            else written_cost(loaded, each.plan.cost_cents),
            "runs": "" if each.plan is None else str(each.plan.runs),
            "done by": "" if each.plan is None else short_day(_over_by(loaded, each.plan)),
            "note": note_of(loaded, planned.plan, each),
        }
        for each in planned.explanation.alternatives
    ]
    if rows:
        others = [name for name in rows[0] if name != "instead"]
        taken = sum(2 + max(len(name), *(len(row[name] or "-") for row in rows)) for name in others)
        for row in rows:
            row["instead"] = cut(row["instead"], max(width - taken, 20))
        blocks.append(
            to_table(
                [{k: v or "-" for k, v in row.items()} for row in rows],
                list(rows[0]),
                frozenset({"cost", "runs"}),
            )
        )
    if prices := price_lines(planned):
        said = (
            fill(line, width, initial_indent="  - ", subsequent_indent="    ") for line in prices
        )
        blocks.append("\n".join(["Prices of what is bought:", *said]))
    thresholds = [_with_way_out(each, ways) for each in planned.explanation.thresholds]
    for title, found in (
        ("What binds", planned.explanation.binds),
        ("What would change the decision", thresholds),
        ("Worth asking for, cheapest first", planned.explanation.ask),
    ):
        if found:
            each = (
                fill(line, width, initial_indent="  - ", subsequent_indent="    ")
                for line in lines(found, _of_plans(planned))
            )
            blocks.append("\n".join([f"{title}:", *each]))
    rules = grant.institution
    blocks.append(
        fill(
            f"Rules: {rules.name}. Prices {grant.prices}, {grant.evidence} evidence. {ways.report}",
            width,
        )
    )
    return "\n\n".join(blocks)


def note_of(loaded: Loaded, plan: Plan, other: Alternative) -> str:
    """What speaks against another way, where its cost alone does not."""
    notes = ["over the budget"] if other.over_budget else []
    if not other.over_budget and other.plan is not None:
        by = worse_by(loaded.problem, plan, other.plan)
        if by and other.plan.cost_cents < plan.cost_cents:
            notes.append(f"dearer {' and '.join(by)}")
    if other.plan is not None and not other.proven:
        notes.append("the best found, not proven")
    return ", ".join(notes)


def _with_way_out(found: Finding, ways: Ways) -> Finding:
    """What was not tried says how it is."""
    untold = ((OUT_OF_TIME, REST_UNTRIED), ways.more_time), ((UNTRIED,), ways.try_all)
    for what, way in ((each, way) for every, way in untold for each in every):
        if found == what:
            return replace(found, words=(*found.words, f": {way}"))
    return found


def price_lines(planned: Planned) -> list[str]:
    """Each price that the plan buys at, with its age and the range of the quotes that are as good;
    a newer one that does not count is named."""
    loaded, plan = planned.loaded, planned.plan
    assert plan is not None
    book = loaded.snapshot.prices(loaded.grant.prices, today=loaded.today)
    machines = {m.machine_id: m for m in loaded.problem.machines}
    bought = dict.fromkeys(line for p in plan.purchases for line in machines[p.machine_id].lines)
    said: list[str] = []
    for line in bought:
        quote = loaded.quotes[line.quote_id]
        if line.quote_kind == BUY_IN:
            price, day = loaded.grant.currency.exactly(quote.price_usd), day_words(quote.quoted_on)
            said.append(f"{line.label}: {price}, as {quote.vendor} named it on {day}")
            continue
        key = (quote.item_kind, quote.item_id)
        told = PriceTold(line.label, 1, quote, book.ranges.get(key), book.newer.get(key), ())
        newer = newer_words(told, loaded.today)
        words = f"{line.label}: {told_words(told, loaded.today)}"
        said += [words] if newer is None else [words, newer]
    return said


def _over_by(loaded: Loaded, plan: Plan) -> date:
    return _day(loaded, last_day(plan.finish_day))


def _day(loaded: Loaded, day: float) -> date:
    return loaded.problem.start + timedelta(days=int(day))


def unused_blocks(loaded: Loaded, plan: Plan, width: int) -> list[str]:
    """What the lab has and the plan leaves unused, and why; nothing where there is none."""
    unused = unused_gpus(loaded.problem, plan)
    return ["\n".join(fill(unused_line(each), width) for each in unused)] if unused else []


def what_to_do(loaded: Loaded, plan: Plan, width: int) -> str:
    """The purchases, rentals and payments of a plan as a table."""
    problem, amounts = loaded.problem, asked_amounts(loaded, plan)
    written = loaded.grant.currency.whole
    machines = {m.machine_id: m for m in problem.machines}
    owned = {m.machine_id for m in problem.machines if m.owned}
    rentals = {r.rental_id: r for r in problem.rentals}
    rows: list[dict[str, Any]] = []
    for p in plan.purchases:
        machine = machines[p.machine_id]
        # The day where it is not the first of a year.
        when = f"in year {problem.year_of(problem.orders[p.order]) + 1}"
        if problem.order_days is not None:
            when = f"on {short_day(_day(loaded, problem.orders[p.order]))}"
        own = any(is_own_price(loaded.quotes[line.quote_id]) for line in machine.lines)
        rows.append(
            {
                "do": f"{'buy' if machine.upgrade_of is None else 'add'} {when}",
                "what": f"{p.count} × ({machine.label})"
                if machine.upgrade_of is None
                else machine.label,
                "runs": sum(
                    w.runs
                    for w in plan.work
                    if (problem.whole(w.machine_id), w.order) == (p.machine_id, p.order)
                ),
                "cost": written(amounts.bought[p.machine_id, p.order]),
                "prices of": short_day(min(line.quoted_on for line in machine.lines))
                + (f", {OWN_QUOTE}" if own else ""),
            }
        )
    rented: dict[str, int] = {}
    for r in plan.rented:
        rented[r.rental_id] = rented.get(r.rental_id, 0) + r.runs
    for rental_id, runs in rented.items():
        rental = rentals[rental_id]
        market, at_once = rental.allocation is None, plan.at_once(rental_id)
        several = f"{at_once} × ({rental.label}) at once"
        rows.append(
            {
                "do": "rent" if market else "use",
                "what": several if market and at_once > 1 else rental.label,
                "runs": runs,
                "cost": written(amounts.rented[rental_id]),
                "prices of": short_day(rental.priced_on) if rental.allocation is None else "-",
            }
        )
    # Parts of two machines may have one name.
    used: Counter[str] = Counter()
    labels = {m.machine_id: m.label for m in problem.machines}
    for work in plan.work:
        if problem.whole(work.machine_id) in owned:
            used[labels[work.machine_id]] += work.runs
    for label in dict.fromkeys(labels.values()):
        if label in used:
            rows.append(
                {
                    "do": "use",
                    "what": label,
                    "runs": used[label],
                    "cost": written(Decimal(0)),
                    "prices of": "-",
                }
            )
    for fixed, paid in zip(problem.fixed, amounts.fixed, strict=True):
        rows.append(
            {
                "do": "pay",
                "what": f"{fixed.name}, year {fixed.year + 1}",
                "runs": "-",
                "cost": written(paid),
                "prices of": "-",
            }
        )
    if amounts.electricity:
        # The report has its overhead in a line of its own.
        overhead = loaded.grant.charges_overhead and problem.rules.electricity_in_base
        rows.append(
            {
                "do": "pay",
                "what": f"electricity{', with overhead' if overhead else ''}",
                "runs": "-",
                "cost": written(amounts.electricity),
                "prices of": "-",
            }
        )
    if not rows:
        return "Nothing can be done."
    columns = ["do", "what", "runs", "cost", "prices of"]
    longest = max(len(row["what"]) for row in rows)
    if _room_of(rows, width) < longest:  # on a narrow screen the month of a price is enough
        for row in rows:
            day, _, month = row["prices of"].partition(" ")
            row["prices of"] = month if day.isdigit() else row["prices of"]
    room = max(_room_of(rows, width), 20)
    in_lines = (line for row in rows for line in _in_lines(row, room))
    return to_table(list(in_lines), columns, frozenset({"runs", "cost"}))


def _room_of(rows: Sequence[Mapping[str, Any]], width: int) -> int:
    """What the others leave of a line for what is bought, rented or paid."""
    others = [name for name in rows[0] if name != "what"]
    return width - sum(
        2 + max(len(name), *(len(str(row[name])) for row in rows)) for name in others
    )


def _in_lines(row: Mapping[str, Any], room: int) -> list[dict[str, Any]]:
    """The row, and what is too long for it below."""
    first, *rest = fill(row["what"], room).split("\n")
    below = [dict.fromkeys(row, " ") | {"what": f"  {line}"} for line in rest]
    return [{**row, "what": first}, *below]
