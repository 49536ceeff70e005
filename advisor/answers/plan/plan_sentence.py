"""The sentence that answers a grant: what to do, for how much, done by when, how sure (pure)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from datetime import timedelta
from decimal import Decimal
from itertools import groupby
from operator import itemgetter

from advisor.answers.wording import list_words, middle_of
from advisor.costs.amount_words import day_words
from advisor.planning.grant.candidates.grant_machines import reported, unquoted
from advisor.planning.grant.candidates.prices_from_parts import is_summed
from advisor.planning.grant.candidates.procurement import seller_of
from advisor.planning.grant.grant_record import Grant
from advisor.planning.grant.problem_of_grant import Loaded
from advisor.planning.report.budget import asked_and_beside
from advisor.planning.solver.money.cents import whole_budget_cents
from advisor.planning.solver.plan import Plan, last_day
from advisor.planning.solver.problem import Machine, Objective, PlanningProblem, Rental
from bench_runner.typed_numbers import percent
from price_catalog.vendors import country_abroad

MOST_DONE = 3
"""Things to buy and rent that the sentence names."""
_BEST: Mapping[Objective, str] = {
    "cheapest": "the cheapest",
    "most-runs": "the most runs",
    "soonest": "the soonest",
}


def plan_sentence(loaded: Loaded, plan: Plan) -> str:
    """What to do, what it costs, when it is over and how sure that is; for an e-mail."""
    if not plan.placed and not plan.purchases:
        return f"No run can be done in time with this money: {_sure(loaded, plan)}."
    problem, grant = loaded.problem, loaded.grant
    asked = sum(each.runs for each in problem.experiments)
    runs = f"{plan.runs} of {asked} runs"
    if plan.runs == asked:
        runs = {1: "the one run", 2: "both runs"}.get(asked, f"all {asked} runs")
    budget = whole_budget_cents(problem)
    of = "" if budget is None else f" of {written_cost(loaded.grant, budget)}{_added(grant)}"
    over = problem.start + timedelta(days=last_day(plan.finish_day))
    done = does(grant, problem, plan)
    return (
        f"{done[:1].upper()}{done[1:]}: {runs}{_of_them(loaded, plan)} for "
        f"{written_cost(loaded.grant, plan.cost_cents)}{of} "
        f"{overhead_words(grant)}{_shares(loaded, plan)}, done by {day_words(over)}; "
        f"{_sure(loaded, plan)}."
    )


def _added(grant: Grant) -> str:
    """`` (€60,000 and the 25 % that DFG adds)``: what the grant's file says, where the funder adds
    overhead to it."""
    own = grant.budget if grant.budget is not None else sum(grant.year_budget or ())
    if grant.reach == 1 or grant.shared or not own:
        return ""
    rate = percent(grant.institution.overhead_rate)
    return (
        f" ({grant.currency.written(Decimal(own))} and the {rate} that {grant.funder.upper()} adds)"
    )


def _of_them(loaded: Loaded, plan: Plan) -> str:
    """`` (8 on the lab's own machines, 2 only if awarded, odds 70 %)``: runs for which nothing is
    bought or rented, and runs on hours that may not be granted."""
    told, mine = [], runs_on_own(loaded, plan)
    if 0 < mine < plan.runs:
        told.append(f"{mine} on the lab's own machines")
    runs, odds = runs_if_awarded(loaded, plan)
    if runs:
        known = f", odds {percent(odds[0])}" if len(odds) == 1 else ""
        told.append(f"{'' if runs == plan.runs else f'{runs} '}only if awarded{known}")
    return f" ({', '.join(told)})" if told else ""


def runs_on_own(loaded: Loaded, plan: Plan) -> int:
    """How many runs the machines do that the lab has, as they are."""
    return sum(each.order < 0 for each in plan.placed)


def runs_if_awarded(loaded: Loaded, plan: Plan) -> tuple[int, list[Decimal]]:
    """How many runs are on hours that may not be granted, and the odds that these are."""
    problem = loaded.problem
    unsure = {a.allocation_id: a.odds for a in problem.allocations if a.odds < 1}
    odds = {r.rental_id: unsure[r.allocation] for r in problem.rentals if r.allocation in unsure}
    runs = {name: n for name, n in plan.rented.items() if name in odds}
    return sum(runs.values()), sorted({odds[name] for name in runs})


def _shares(loaded: Loaded, plan: Plan) -> str:
    """`` (up to $15,000 of it from the faculty)``: what of the money somebody else pays."""
    rules, money = loaded.problem.rules, loaded.grant.currency.written
    asked, rest = asked_and_beside(loaded, plan)
    shares = []
    if asked * 100 != plan.cost_cents:
        of = f"for {money(asked)} of the {written_cost(loaded.grant, plan.cost_cents)}"
        shares.append(f"the funder is asked {of if asked else 'for nothing'}")
    if loaded.grant.shared_by is not None:
        theirs = money(loaded.grant.shared)
        of_it = "" if shares else " of it"
        shares.append(f"up to {theirs}{of_it} from {loaded.grant.shared_by}")
    if rest:  # of machines that are written off, or that others share
        who = loaded.grant.purchases.cost_share_by if rules.life_months is None else "others"
        pay = "pays" if rules.life_months is None else "must pay"
        shares.append(f"{who} {pay} {money(rest)} more for its machines")
    return f" ({', '.join(shares)})" if shares else ""


def _sure(loaded: Loaded, plan: Plan) -> str:
    best, which = _BEST[loaded.grant.objective], loaded.among(plan)
    if best == "the most runs" and any(e.value != 1 for e in loaded.problem.experiments):
        best = "the runs of most value"
    if loaded.grant.objective == "cheapest":
        if any(each.odds < 1 for each in loaded.problem.allocations):
            which += ", by the odds of award"
        if loaded.grant.purchases.lifetime_years is not None:
            which += ", less what its machines are still worth after it"
    options = loaded.problem.options()
    used = [options[each.machine_id] for each in plan.placed]
    if any(isinstance(each, Rental) and each.kind == "spot" for each in used):
        which += ", if no spot machine is taken back"
    models = {each.experiment_id: each.model for each in loaded.problem.experiments}
    times = (options[p.machine_id].times[models[p.experiment_id]] for p in plan.placed)
    if any(time.basis == "predicted" for time in times):
        which += ", by estimated times"
    if plan.proven:
        return f"proven {best}{which}"
    if plan.gap is not None and plan.gap < 1:  # else no plan is known to cost anything at all
        return f"{best} found{which}, at most {percent(plan.gap, 1)} from the best there is"
    return f"{best} found{which}, not proven"


def _called(label: str, count: int) -> str:
    """``the Puget workstation, 1 x RTX 5090``, ``2 × A6000 in Desktop``, ``3 × (…)``."""
    if label.startswith("share of ") and count == 1:
        return f"a {label}"
    if count > 1:
        return f"{count} × ({label})"
    return label if label[:1].isdigit() else f"the {label}"


def things_done(grant: Grant, problem: PlanningProblem, plan: Plan) -> list[tuple[str, str]]:
    """``("buy", "the Puget workstation, 1 x RTX 5090")`` of each kind of machine and rental."""
    options, counts = problem.options(), Counter[str]()
    for each in plan.purchases:
        counts[each.machine_id] += each.count
    done = [_got(grant, options[name], count) for name, count in counts.items()]
    return done + [_hired(options[name], plan.at_once(name), n) for name, n in plan.rented.items()]


def does(grant: Grant, problem: PlanningProblem, plan: Plan) -> str:
    """What to buy and rent, with one verb for all that it holds for: ``rent 4 × H100 from Lambda
    and 1 × MI300X from Vultr``."""
    things = things_done(grant, problem, plan)
    if not things:
        return "use what the lab has" if plan.placed else "nothing can be done"
    done = [
        f"{verb} {' and '.join(thing for _, thing in same)}"
        for verb, same in groupby(things[:MOST_DONE], key=itemgetter(0))
    ]
    if len(things) > MOST_DONE:
        done.append(f"{len(things) - MOST_DONE} more as listed below")
    return list_words(done)


def sold_abroad(grant: Grant, machine: Machine) -> str:
    """`` from Kiebel, Germany``: its sellers, where one is in a country that is not known to be the
    buyer's."""
    country, vendors = grant.procurement.country, dict.fromkeys(x.vendor for x in machine.lines)
    sellers = [f"{each}{country_abroad(seller_of(each), country)}" for each in vendors]
    return "" if sellers == [*vendors] else f" from {list_words(sellers)}"


def _got(grant: Grant, machine: Machine | Rental, count: int) -> tuple[str, str]:
    """``("buy", "the Puget workstation, 1 x RTX 5090")``: as a ranking's first line names it where
    its price is nobody's quote, or nobody is known to sell it."""
    assert isinstance(machine, Machine)
    named, upgrade = _called(machine.label, count), machine.upgrade_of is not None
    if not machine.on_sale and reported(machine) is None:
        named = machine.label.replace(" in the lab's ", " for the lab's ", 1) if upgrade else named
        return "find a seller of", named
    if upgrade:
        return "add", f"{machine.label}{sold_abroad(grant, machine)}"
    if (line := unquoted(machine) or reported(machine)) is not None:
        label = machine.label.removeprefix(f"{line.vendor} ")
        where = country_abroad(seller_of(line.vendor), grant.procurement.country)[2:]
        where = f" ({where})" if where else ""
        return f"ask {line.vendor}{where} to quote", _called(label, count)
    if len(machine.lines) > 1 and is_summed(machine):
        return "ask a builder to quote", named
    return "buy", f"{named}{sold_abroad(grant, machine)}"


def _hired(rental: Machine | Rental, at_once: int, runs: int) -> tuple[str, str]:
    """``("rent", "4 × H100 from Lambda")``, ``("rent", "3 × (4 × H100) at once from Lambda (the
    median of 5 providers)")``; of an allocation ``("use", "1 × A100 at Campus")``."""
    assert isinstance(rental, Rental)
    if rental.allocation is not None:
        return "use", f"{rental.gpus} at {rental.who}"
    gpus = rental.gpus if at_once == 1 else f"{at_once} × ({rental.gpus}) at once"
    gpus += ", one run after the other," if at_once == 1 < runs else ""
    marks = [] if rental.kind == "on-demand" else [rental.kind]
    if len(rental.offers) > 1:
        marks.append(middle_of(len(rental.offers)))
    if rental.row_of_one:
        marks.append(f"{rental.gpu_count} times the price of one")
    marked = f" ({', '.join(marks)})" if marks else ""
    return "rent", f"{gpus} from {rental.who}{marked}"


def overhead_words(grant: Grant) -> str:
    """Whether a sum has overhead in it: without a rate none is counted."""
    return f"with{'' if grant.charges_overhead else 'out'} overhead"


def written_cost(grant: Grant, cents: int) -> str:
    """In the grant's own currency."""
    return grant.currency.written(Decimal(cents) / 100)
