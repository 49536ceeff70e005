"""The answer of `advisor plan` as text: short, or with everything there is to say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import timedelta
from decimal import Decimal

from advisor.answers.checklist import doubt_block
from advisor.answers.plan.plan_calendar import calendar_lines, short_day
from advisor.answers.plan.plan_doubts import first_doubts, note_of, plan_doubts, told_besides
from advisor.answers.plan.plan_sentence import plan_sentence, sold_abroad, written_cost
from advisor.answers.ranking.question_words import terms_words
from advisor.answers.wording import PREDICTED_MARK
from advisor.planning.currency import Currency
from advisor.planning.grant.problem_of_grant import Loaded
from advisor.planning.planned_grant import Planned
from advisor.planning.runs_on_bought_machines import costs_of_runs
from advisor.planning.sensitivity.solved_amounts import lines
from advisor.planning.solver.money.cents import fixed_cost_cents, purchase_cents, run_costs
from advisor.planning.solver.plan import Plan, last_day
from advisor.planning.solver.problem import Machine, Rental
from advisor.planning.solver.search_clock import Progress
from advisor.planning.unused_gpus import unused_gpus, unused_line
from advisor.tables.plain_values import fill
from advisor.tables.text_table import to_table
from bench_runner.typed_numbers import percent
from price_catalog.model import OWN_QUOTE

NO_PLAN = "No plan meets every constraint."
WIDTH = 100
COLUMNS = ("do", "what", "runs", "cost", "prices of")
MOST_CALENDAR = 14
"""Lines of a calendar that the short answer prints; a longer one waits for ``--details``."""


def no_plan_text(planned: Planned, width: int | None = None) -> str:
    """What to relax, in lines of at most ``width``."""
    if planned.ways_out:
        return f"{NO_PLAN} {ways_out_text(planned, width)}"
    said = "No plan meets every constraint, and relaxing any single one does not help."
    if planned.out_of_time:
        said = f"{NO_PLAN} Time ran out before it was known what to relax: give it more time."
    return said if width is None else fill(said, width)


def ways_out_text(planned: Planned, width: int | None) -> str:
    """What would help, a line each."""
    if not planned.ways_out:
        return "Relaxing any single constraint does not help."
    each = [f"  - {way}" for way in lines(planned.ways_out, planned.loaded.grant.currency.exactly)]
    if width is not None:
        each = [fill(line, width, subsequent_indent=" " * 4) for line in each]
    return "\n".join(["Any one of these mends it:", *each])


def plan_text(planned: Planned, width: int = WIDTH) -> str:
    """The plan as a person reads it in a terminal."""
    assert planned.plan is not None
    first = decided_text(planned.loaded, planned.plan, width)
    return f"{first}\n\n{explained_text(planned, width)}"


def decided_text(loaded: Loaded, plan: Plan, width: int = WIDTH, *, details: bool = True) -> str:
    """What to do, and when: known before anything else is tried."""
    problem = loaded.problem
    sentence = fill(plan_sentence(loaded, plan), width)
    if not plan.runs:
        return sentence
    blocks = [sentence, what_to_do(loaded, plan, width)]
    blocks += [fill(line, width) for line in run_lines(loaded, plan)]
    blocks += [fill(line, width) for line in assumed(loaded, plan)]
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
        doubts = first_doubts(loaded, plan)
        told = [": ".join(filter(None, (each.words, each.command))) for each in doubts]
        told += told_besides(loaded, plan, doubts)
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


def explained_text(planned: Planned, width: int = WIDTH) -> str:
    """What else there is, what binds and what would change the decision."""
    grant, found = planned.loaded.grant, planned.explanation
    assert planned.plan is not None and found is not None
    if not planned.plan.runs:
        return ways_out_text(planned, width)
    blocks = _alternatives(planned, width)
    for title, findings in (
        ("What binds:", found.binds),
        ("What would change the decision:", found.thresholds),
        ("Worth asking for, cheapest first:", found.ask),
    ):
        blocks += _listed(title, lines(findings, grant.currency.in_prose), width)
    rules = f"Rules: {grant.institution.name}. Prices {grant.prices}, {grant.evidence} evidence."
    blocks.append(fill(f"{rules} The report has every source.", width))
    return "\n\n".join(blocks)


def _alternatives(planned: Planned, width: int) -> list[str]:
    """What else there is as a block; [] where nothing was tried."""
    loaded, rows = planned.loaded, list[dict[str, str]]()
    assert planned.plan is not None and planned.explanation is not None
    for each in planned.explanation.alternatives:
        row = {"instead": each.label, "cost": "no such plan", "runs": "-", "done by": "-"}
        if each.plan is not None:
            over = loaded.problem.start + timedelta(days=last_day(each.plan.finish_day))
            row["cost"] = written_cost(loaded.grant, each.plan.cost_cents)
            row |= {"runs": str(each.plan.runs), "done by": short_day(over)}
        rows.append(row | {"note": note_of(loaded, planned.plan, each) or "-"})
    right = frozenset({"cost", "runs"})
    return [to_table(rows, list(rows[0]), right, width=width)] if rows else []


def what_to_do(loaded: Loaded, plan: Plan, width: int) -> str:
    """The purchases, rentals and payments of a plan, as wide as the terminal."""
    rows = _rows(loaded, plan)
    others = [max(len(name), *(len(row[name]) for row in rows)) for name in COLUMNS]
    others[COLUMNS.index("what")] = 0
    room, lines = max(width - sum(others) - 2 * (len(COLUMNS) - 1), 20), []
    for row in rows:
        first, *rest = fill(row["what"], room).split("\n")
        lines.append({**row, "what": first})
        lines += [dict.fromkeys(COLUMNS, " ") | {"what": f"  {line}"} for line in rest]
    return to_table(lines, COLUMNS, frozenset({"runs", "cost"}))


def assumed(loaded: Loaded, plan: Plan) -> list[str]:
    """What decides days and money and is counted unless the grant says otherwise."""
    rules, told = loaded.problem.rules, list[str]()
    if rules.slack:
        told.append(f"{percent(rules.slack)} of the days before a deadline stay free (slack)")
    if rules.longest_run_days is not None:
        told.append(f"no run takes over {rules.longest_run_days:f} days (longest_run_days)")
    if plan.purchases and not rules.lead_days:
        told.append("machines are there on the day of the order (lead_days)")
    if not rules.failures:
        told.append("no run fails (failures)")
    if plan.purchases and loaded.grant.procurement.country is not None:
        told.append("freight and import cost nothing (they are not counted)")
    return [f"Assumed: {', '.join(told)}."] if told else []


def run_lines(loaded: Loaded, plan: Plan) -> list[str]:
    """What a run costs on what is bought, and over which life that is counted."""
    runs, terms = costs_of_runs(loaded, plan), loaded.grant.terms
    if not runs:
        return []
    by_machine: dict[str, list[str]] = {}
    for run in runs:
        cost = loaded.grant.currency.written(Decimal(f"{run.cost:.3g}"))
        mark = PREDICTED_MARK if run.estimated else ""
        by_machine.setdefault(run.machine, []).append(
            f"{mark}{cost} ({loaded.models[run.model].name})"
        )
    each = "; ".join(f"{', '.join(costs)} on {name}" for name, costs in by_machine.items())
    return [f"A run costs {each}: its share of {terms_words(terms)}."]


def _rows(loaded: Loaded, plan: Plan) -> list[dict[str, str]]:
    problem, rules, options = loaded.problem, loaded.problem.rules, loaded.problem.options()
    rows: list[dict[str, str]] = []

    def add(do: str, what: str, runs: int | str, cents: int, prices_of: str = "-") -> None:
        written = written_cost(loaded.grant, cents)
        rows.append(dict(zip(COLUMNS, (do, what, str(runs), written, prices_of), strict=True)))

    runs, paid, used = Counter[tuple[str, int]](), Counter[str](), Counter[str]()
    costs = run_costs(problem, plan.placed)
    for placed in plan.placed:
        paid[placed.machine_id if placed.rented else ""] += costs[placed.place]
        runs[problem.whole(placed.machine_id), placed.order] += 1
        whole = options[problem.whole(placed.machine_id)]
        if isinstance(whole, Machine) and whole.owned:  # parts of two machines may have one name
            used[options[placed.machine_id].label] += 1
    for p in plan.purchases:
        machine, day = options[p.machine_id], problem.orders[p.order]
        assert isinstance(machine, Machine)
        when = f"in year {problem.year_of(day) + 1}"
        if problem.order_days is not None:  # not the first day of a year
            when = f"on {short_day(problem.start + timedelta(days=int(day)))}"
        priced = short_day(min(line.quoted_on for line in machine.lines))
        if any(loaded.quotes[line.quote_id].is_own for line in machine.lines):
            priced += f", {OWN_QUOTE}"
        upgrade = machine.upgrade_of is not None
        what = machine.label if upgrade else f"{p.count} × ({machine.label})"
        what += sold_abroad(loaded.grant, machine) if machine.on_sale else ""
        cost = p.count * purchase_cents(machine, rules, day)
        add(
            f"{'add' if upgrade else 'buy'} {when}", what, runs[p.machine_id, p.order], cost, priced
        )
    for name, number in plan.rented.items():
        rental, at_once = options[name], plan.at_once(name)
        assert isinstance(rental, Rental)
        if rental.allocation is not None:
            add("use", rental.label, number, paid[name])
        else:
            what = rental.label if at_once == 1 else f"{at_once} × ({rental.label}) at once"
            add("rent", what, number, paid[name], short_day(rental.priced_on))
    for label in dict.fromkeys(m.label for m in problem.machines if m.label in used):
        add("use", label, used[label], 0)
    for fixed in problem.fixed:
        cents = fixed_cost_cents(fixed, rules)
        add("pay", f"{fixed.name}, year {fixed.year + 1}", "-", cents)
    if paid[""]:
        # The report has its overhead in a line of its own.
        overhead = loaded.grant.charges_overhead and rules.electricity_in_base
        add("pay", f"electricity{', with overhead' if overhead else ''}", "-", paid[""])
    return rows


def progress_text(at: Progress, currency: Currency) -> str:
    """What has been found, its cost, the bound, and what is being tried."""
    words = "no plan yet"
    if at.plan is not None:
        cost = currency.written(Decimal(at.plan.cost_cents) / 100)
        words = f"the plan costs {cost}" if at.settled else f"a plan for {cost}"
        if not at.settled and at.bound_usd is not None:
            least = currency.written(Decimal(str(round(max(at.bound_usd, 0.0), 2))))
            words += f" · none below {least}"
    return f"{words} · trying {at.trying}"
