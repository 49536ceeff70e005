"""The answer of `advisor plan` as text: short, or with everything there is to say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from decimal import Decimal

from advisor.answers.checklist import doubt_block
from advisor.answers.plan.plan_calendar import calendar_lines, cut, short_day
from advisor.answers.plan.plan_doubts import note_of, plan_doubts, rent_doubts, time_doubt
from advisor.answers.plan.plan_sentence import plan_sentence, written_cost
from advisor.answers.plan.plan_table import run_lines, what_to_do
from advisor.answers.price_facts import newer_words, told_words
from advisor.costs.amount_words import day_words
from advisor.planning.currency import Currency
from advisor.planning.grant.cautions import cautions
from advisor.planning.grant.problem_of_grant import Loaded
from advisor.planning.planned import Planned
from advisor.planning.report.budget import limits_told
from advisor.planning.sensitivity.explain import UNTRIED
from advisor.planning.sensitivity.infeasible import REST_UNTRIED
from advisor.planning.sensitivity.solved_amounts import Finding, lines
from advisor.planning.sensitivity.thresholds import NOT_TRIED
from advisor.planning.solver.plan import Plan, last_day
from advisor.planning.solver.problem import BUY_IN
from advisor.planning.solver.search_clock import Progress
from advisor.planning.unused_gpus import unused_gpus, unused_line
from advisor.ranking.candidates import AskedPrice
from advisor.tables.plain_values import fill
from advisor.tables.text_table import to_table

NO_PLAN = "No plan meets every constraint."
WIDTH = 100
MOST_CALENDAR = 14
"""Lines of a calendar that the short answer prints; a longer one waits for ``--details``."""


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
    try_all="press Q, then plan again to try them",
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
    each = [f"  - {line}" for line in lines(found, planned.loaded.grant.currency.exactly)]
    if width is not None:
        each = [fill(line, width, subsequent_indent=" " * 4) for line in each]
    return "\n".join(["Any one of these mends it:", *each])


def plan_text(planned: Planned, width: int = WIDTH, ways: Ways = BY_COMMAND) -> str:
    """The plan as a person reads it in a terminal."""
    assert planned.plan is not None
    first = decided_text(planned.loaded, planned.plan, width)
    return f"{first}\n\n{explained_text(planned, width, ways)}"


def decided_text(loaded: Loaded, plan: Plan, width: int = WIDTH, *, details: bool = True) -> str:
    """What to do, and when: known before anything else is tried."""
    problem = loaded.problem
    sentence = fill(plan_sentence(loaded, plan), width)
    if not plan.runs:
        return sentence
    blocks = [sentence, what_to_do(loaded, plan, width)]
    blocks += [fill(line, width) for line in run_lines(loaded, plan)]
    calendar = calendar_lines(problem, plan, width)
    if details or len(calendar) <= MOST_CALENDAR:
        blocks.append("\n".join(calendar))
    if plan.left_out:
        names = {each.experiment_id: each.name for each in problem.experiments}
        left = ", ".join(f"{runs} of {names[name]}" for name, runs in plan.left_out.items())
        blocks.append(fill(f"Left out: {left}", width))
    if unused := unused_gpus(problem, plan):
        blocks.append("\n".join(fill(unused_line(each), width) for each in unused))
    if details:
        time = time_doubt(loaded, plan)
        doubts = [*rent_doubts(loaded, plan), *([] if time is None else [time])]
        told = [f"{each.words}: {each.command}" for each in doubts]
        told += [*limits_told(loaded, plan), *cautions(loaded, plan)]
        blocks += _listed("Before you ask for it:", told, width)
    return "\n\n".join(blocks)


def short_explained(planned: Planned, command: str, *, quick: bool, width: int) -> str:
    """The doubts with their commands, and where the rest is."""
    if planned.plan is not None and not planned.plan.runs:
        return ways_out_text(planned, width)
    doubts = plan_doubts(planned, command, quick=quick)
    foot = "What else there is, what binds and what would change it: add --details."
    return "\n\n".join([*doubt_block("Before you ask for it", doubts, width), fill(foot, width)])


def _listed(title: str, lines: Sequence[str], width: int) -> list[str]:
    """Lines under a title as one block; [] where there are none."""
    each = (fill(line, width, initial_indent="  - ", subsequent_indent="    ") for line in lines)
    return ["\n".join([title, *each])] if lines else []


def explained_text(planned: Planned, width: int = WIDTH, ways: Ways = BY_COMMAND) -> str:
    """What else there is, what binds and what would change the decision."""
    loaded, grant = planned.loaded, planned.loaded.grant
    assert planned.plan is not None and planned.explanation is not None
    if not planned.plan.runs:
        return ways_out_text(planned, width, ways)
    blocks: list[str] = []
    rows = []
    for each in planned.explanation.alternatives:
        row = {"instead": each.label, "cost": "no such plan", "runs": "", "done by": ""}
        if each.plan is not None:
            over = loaded.problem.start + timedelta(days=last_day(each.plan.finish_day))
            row["cost"] = written_cost(loaded, each.plan.cost_cents)
            row |= {"runs": str(each.plan.runs), "done by": short_day(over)}
        rows.append(row | {"note": note_of(loaded, planned.plan, each)})
    if rows:
        others = [name for name in rows[0] if name != "instead"]
        taken = sum(2 + max(len(name), *(len(row[name] or "-") for row in rows)) for name in others)
        for row in rows:
            row["instead"] = cut(row["instead"], max(width - taken, 20))
        shown = [{name: text or "-" for name, text in row.items()} for row in rows]
        blocks.append(to_table(shown, list(rows[0]), frozenset({"cost", "runs"})))
    blocks += _listed("Prices of what is bought:", price_lines(planned), width)
    thresholds = [_with_way_out(each, ways) for each in planned.explanation.thresholds]
    for title, found in (
        ("What binds:", planned.explanation.binds),
        ("What would change the decision:", thresholds),
        ("Worth asking for, cheapest first:", planned.explanation.ask),
    ):
        blocks += _listed(title, lines(found, planned.loaded.grant.currency.in_prose), width)
    rules = grant.institution
    blocks.append(
        fill(
            f"Rules: {rules.name}. Prices {grant.prices}, {grant.evidence} evidence. {ways.report}",
            width,
        )
    )
    return "\n\n".join(blocks)


def _with_way_out(found: Finding, ways: Ways) -> Finding:
    """What was not tried says how it is."""
    if found == REST_UNTRIED or str(found.words[-1]).endswith(NOT_TRIED):
        return replace(found, words=(*found.words, f": {ways.more_time}"))
    return replace(found, words=(*found.words, f": {ways.try_all}")) if found == UNTRIED else found


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
            price, day = loaded.grant.currency.exactly(line.unit_price), day_words(quote.quoted_on)
            said.append(f"{line.label}: {price}, as {quote.vendor} named it on {day}")
            continue
        key = (quote.item_kind, quote.item_id)
        told = AskedPrice(line.label, 1, quote, book.ranges.get(key), book.newer.get(key))
        newer = newer_words(told, loaded.today)
        words = f"{line.label}: {told_words(told, loaded.today)}"
        said += [words] if newer is None else [words, newer]
    return said


def progress_text(at: Progress, currency: Currency) -> str:
    """What has been found, its cost, the bound, and what is being tried."""
    words = ["no plan yet"]
    if at.plan is not None:
        words = [f"a plan for {currency.written(Decimal(at.plan.cost_cents) / 100)}"]
        if at.settled:
            words = [f"the plan costs {currency.written(Decimal(at.plan.cost_cents) / 100)}"]
        elif at.bound_usd is not None:
            least = currency.written(Decimal(str(round(max(at.bound_usd, 0.0), 2))))
            words.append(f"none below {least}")
    return " · ".join([*words, f"trying {at.trying}"])
