"""Facts of a justification: why computers are rented, or not, and what granted hours do."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any

from advisor.planning.grant.allocation_programmes import ASSUMED
from advisor.planning.grant.cautions import competed_for, price_not_said
from advisor.planning.report.document import listed
from advisor.planning.report.facts.justification import longest_of
from advisor.planning.report.number_ledger import Num
from advisor.planning.report.plan_costs import Material, RunningCost
from advisor.planning.report.report_numbers import cost_of_other, runs_of_other, solve_num
from advisor.planning.sensitivity.explain import NO_LONGEST, Alternative, worse_by
from advisor.planning.solver.money.charges import gpus_of_a_job, hours_in_a_day
from advisor.planning.solver.problem import Allocation, Rental

Facts = dict[str, Any]


def called_hours(given: Material, allocations: Iterable[Allocation]) -> list[str]:
    """What hours are called, by whether their award is sure."""
    sure = [_is_sure(given, each) for each in allocations]
    return ["granted hours"] * (True in sure) + ["hours that we apply for"] * (False in sure)


def _is_sure(given: Material, allocation: Allocation) -> bool:
    """Not where odds are stated, nor where hours are competed for and no odds are known."""
    grant = given.grant
    assumed = any(
        (value.allocation, value.key, value.source) == (allocation.name, "odds", ASSUMED)
        for value in grant.allocation_values
    )
    return allocation.odds == 1 and not (assumed and competed_for(grant, allocation.name))


def renting(given: Material, by_line: Mapping[str, Num]) -> Facts:
    """What is rented and what it would cost to buy instead, or what renting would cost;
    ``by_line`` has what each line of the budget comes to."""
    ledger, problem, rules = given.ledger, given.problem, given.problem.rules
    rented = [r for r in given.costs.running if r.rented and r.charge.direct.value]
    rentals = [_rental_of(given, r) for r in rented]
    facts: Facts = {"rented": rented, "paid": None, "limit": None}
    decides = any(each.change == NO_LONGEST for each in given.explanation.binds)
    if rules.longest_run_days is not None and decides and problem.objective != "soonest":
        key, label = "running.longest_run_days", "longest that a run may take"
        facts["limit"] = given.setting(key, rules.longest_run_days, "days", label)
    if not rented:
        # Where nothing may be rented only granted hours were compared: that is no reason.
        return facts | {"instead": not_rented(given) if given.grant.rentals.allowed else None}
    paid = by_line["computer_services"]
    if any(e.machine.in_base is not None for e in given.costs.equipment):
        # A share of a condo that is charged as a service is on that line, too.
        paid = ledger.total([r.charge.direct for r in rented], "rent, in all")
    market = any(rental.allocation is None for rental in rentals)
    return facts | {
        "paid": paid,
        "time": hours_of(given, rented, "hours rented, in all"),
        "names": listed(rented_name(given, r) for r in rented),
        "longest": longest_of(given, [p for r in rented for p in r.placed]),
        "spot": any(rental.kind == "spot" for rental in rentals),
        "market": market,
        "instead": not_bought(given) if market else None,
        "without": None if market else _without_any(given),
    }


def hours_of(given: Material, running: Iterable[RunningCost], label: str) -> Num:
    """For which rented computers are paid, in all."""
    words = "hours rented"
    of = ([r.runs, r.charge.amount] for r in running)
    nums = [given.ledger.compute("product", pair, "hours", words) for pair in of]
    return given.ledger.total(nums, label, "hours")


def hours(given: Material) -> list[Facts]:
    """What each allocation does, or why it is left."""
    found, problem = list[Facts](), given.problem
    used = given.plan.rented.keys()
    for each in problem.allocations:
        own = {r.rental_id for r in problem.rentals if r.allocation == each.allocation_id}
        if not used & own:
            found.append({"name": each.name, **_unused(given, each)})
            continue
        running = [r for r in given.costs.running if r.placed[0].machine_id in own]
        free = [r for r in running if not r.charge.direct.value]
        if free:  # what is paid for is among what is rented
            found.append(_free(given, free, each))
    shares = dict.fromkeys(m.share_of for m in problem.machines if m.share_of is not None)
    bought = {e.machine.share_of for e in given.costs.equipment}
    why = "share dearer" if given.cheapest else "share"
    found += [{"name": name, "why": why} for name in shares if name not in bought]
    known = {each.name for each in problem.allocations} | shares.keys()
    return found + [
        {"name": asked.name, "why": "no time"}
        for asked in given.grant.allocations
        if asked.name not in known
    ]


def _unused(given: Material, allocation: Allocation) -> Facts:
    """Why the plan takes no hour of it: too few for any run, or nothing gained."""
    problem, ledger, setting = given.problem, given.ledger, given.setting
    mine = [r for r in problem.rentals if r.allocation == allocation.allocation_id]
    key = f"allocations[{allocation.allocation_id.partition(':')[2]}]"
    wanted = {e.model for e in problem.experiments}
    in_all = allocation.gpu_hours is not None
    granted = allocation.gpu_hours if in_all else allocation.gpu_hours_a_year
    timed = [(r.times[m].days * r.gpu_count, r, m) for r in mine for m in r.times if m in wanted]
    fewest = min(timed, default=None, key=lambda each: each[0])
    if granted is not None and fewest and Decimal(str(fewest[0])) * 24 > granted:
        _, rental, model = fewest
        called = f"{given.loaded.models[model].name} on {rental.label}"
        of = [given.time(rental.times[model], called), hours_in_a_day(ledger)]
        of.append(gpus_of_a_job(ledger, rental))
        takes = ledger.compute("product", of, "gpu-hours", f"GPU-hours of {called}")
        of_what, when = ("gpu_hours", "in all") if in_all else ("gpu_hours_a_year", "a year")
        label = f"hours of {allocation.name} {when}"
        its = setting(f"{key}.{of_what}", granted, "gpu-hours", label)
        return {"why": "too few", "hours": its, "when": when, "takes": takes}
    if allocation.odds < 1:
        odds = setting(f"{key}.odds", allocation.odds, "share", f"odds of {allocation.name}")
        return {"why": "odds", "odds": odds}
    if not given.cheapest:
        return {"why": "not needed"}
    paid = min((r.price_per_hour / r.gpu_count for r in mine), default=Decimal(0))
    price = None
    if paid:
        words = "a GPU-hour"
        price = setting(f"{key}.price_per_gpu_hour", paid, "money-per-hour", words)
    return {"why": "dearer", "price": price}


def _free(given: Material, granted: list[RunningCost], allocation: Allocation) -> Facts:
    """Runs on granted hours that cost nothing: how many, of which models, their GPU-hours."""
    ledger, experiments = given.ledger, given.experiments
    spent = []
    for r in granted:
        of = [r.runs, r.charge.amount, gpus_of_a_job(ledger, _rental_of(given, r))]
        label = f"GPU-hours of {experiments[r.experiment_id].name}"
        spent.append(ledger.compute("product", of, "gpu-hours", label))
    name, sure = allocation.name, _is_sure(given, allocation)
    models = (given.loaded.models[experiments[r.experiment_id].model].name for r in granted)
    return {
        "name": name,
        "why": "",
        "called": called_hours(given, [allocation])[0],
        "runs": ledger.total([r.runs for r in granted], f"runs on {name}", "runs"),
        "models": listed(models),
        "sizes": listed(rented_name(given, r) for r in granted),
        "hours": ledger.total(spent, f"GPU-hours of {name}, in all", "gpu-hours"),
        "priced": not price_not_said(given.grant, name),
        "without": None if sure else _without(given, allocation),
    }


def _rental_of(given: Material, r: RunningCost) -> Rental:
    return given.rentals[r.placed[0].machine_id]


def not_rented(given: Material) -> Facts | None:
    """What the work would cost on rented computers; None where that is not known."""
    for other in given.explanation.alternatives:
        if other.change.get("no_purchases"):
            return _otherwise(given, other, "rented computers")
    return None


def not_bought(given: Material) -> Facts | None:
    """What rented work would cost on machines of one's own, where there may be any; None where
    that is not known."""
    if not given.grant.purchases.allowed and not given.grant.owned:
        return None
    for other in given.explanation.alternatives:
        if other.change.get("only_runs"):
            return _bought_for_them(given, other)
        if other.change.get("no_rentals"):
            return _otherwise(given, other, _bought_instead(given, other))
    return None


def _bought_instead(given: Material, other: Alternative) -> str:
    """What another plan buys: a share of a condo is no machine of one's own."""
    bought = set() if other.plan is None else {p.machine_id for p in other.plan.purchases}
    names = [given.machines[name].share_of for name in sorted(bought)]
    shares = [f"a share of {name}" for name in dict.fromkeys(filter(None, names))]
    own = [] if shares and None not in names else ["machines of our own"]
    return listed([*own, *shares])


def _bought_for_them(given: Material, other: Alternative) -> Facts | None:
    """What machines of one's own cost for the rented runs alone, against the rent; None where
    that is no more, since only a proof would say which is cheaper."""
    if other.plan is None:
        return {"on": "machines of our own", "does": "none in time", "dearer": ""}
    rent = [
        num
        for r in given.costs.running
        if r.rented and _rental_of(given, r).allocation is None
        for num in (r.charge.direct, r.charge.indirect)
    ]
    paid = given.ledger.total(rent, "rent with overhead, in all")
    cost = _at_least(given, other, paid.value)
    facts = {"on": _bought_instead(given, other), "does": "rented runs", "rent": paid, "dearer": ""}
    if cost is not None:
        return facts | {"cost": cost, "sure": "at least"}
    if not other.is_near or Decimal(other.plan.cost_cents) / 100 <= paid.value:
        return None
    return facts | {"cost": cost_of_other(given.ledger, other), "sure": ""}


def _at_least(given: Material, other: Alternative, paid: Decimal) -> Num | None:
    """What every plan of another kind costs at least, where that is more than what is paid."""
    if other.least_cents is None or Decimal(other.least_cents) / 100 <= paid:
        return None
    least, reads = Decimal(other.least_cents) / 100, "cost" if other.proven else "at-least"
    label = f"cost, {other.label}" if other.proven else f"cost at least, {other.label}"
    return solve_num(given.ledger, other.change, least, "money", label, reads)


def _without_any(given: Material) -> Facts | None:
    """What the work would cost without hours that are paid for."""
    every = (_without(given, each) for each in given.problem.allocations)
    return next(filter(None, every), None)


def _without(given: Material, allocation: Allocation) -> Facts | None:
    """What the work would cost without its hours, or how much of it would be done; None where
    that was not tried, or where the grant leaves no other way."""
    grant, wanted = given.grant, allocation.allocation_id
    if not (
        grant.purchases.allowed
        or grant.rentals.allowed
        or grant.owned
        or len(grant.allocations) > 1
    ):
        return None
    for other in given.explanation.alternatives:
        if other.change.get("without_allocation") == wanted:
            return {"name": allocation.name, **_does(given, other)}
    return None


def _does(given: Material, other: Alternative) -> Facts:
    """What another plan does of the work and what it costs; why it is not taken though it costs
    less."""
    if other.plan is None:
        return {"does": "none in time", "dearer": ""}
    if not other.plan.runs:
        return {"does": "none for this money", "dearer": ""}
    by = worse_by(given.problem, given.plan, other.plan)
    same, less = other.plan.runs == given.plan.runs, other.plan.cost_cents < given.plan.cost_cents
    return {
        "does": "the same" if same else "some",
        "cost": cost_of_other(given.ledger, other),
        "runs": None if same else runs_of_other(given.ledger, other),
        "dearer": listed(by) if less else "",
        "soon": other.soonest,
    }


def _otherwise(given: Material, other: Alternative, on: str) -> Facts | None:
    """What the same work costs on other computers alone, or how much of it they do; None where
    the best plan that was found says little of what they cost."""
    facts = {"on": on, "sure": "", **_does(given, other)}
    if other.plan is None or not other.plan.runs or other.proven:
        return facts
    least = None
    if facts["does"] == "the same":
        least = _at_least(given, other, given.costs.total.value)
    if least is not None:
        return facts | {"cost": least, "sure": "at least", "dearer": ""}
    return facts | {"sure": "by the best found", "dearer": ""} if other.is_near else None


def rented_name(given: Material, r: RunningCost) -> str:
    """An instance as a reader says it: ``1 × H100 at Lambda (on-demand)``, and ``(on-demand: up to
    3 at once)`` where the plan has several."""
    rental = _rental_of(given, r)
    if rental.allocation:
        return f"{rental.gpus} at {rental.who}"
    count = given.plan.at_once(rental.rental_id)
    several = f": up to {count} at once" if count > 1 else ""
    return f"{rental.gpus} at {rental.who} ({rental.kind}{several})"
