"""Of a justification: why computers are rented, or not, and what granted or paid hours do."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal

from advisor.planning.grant.cautions import competed_for, price_not_said
from advisor.planning.grant.programmes import ASSUMED
from advisor.planning.report.number_ledger import Num
from advisor.planning.report.phrases import capital, cost_of_other, listed, solve_num
from advisor.planning.report.plan_costs import Material, RunningCost
from advisor.planning.sensitivity.explain import Alternative, worse_by
from advisor.planning.solver.money.charges import gpus_of_a_job, hours_in_a_day
from advisor.planning.solver.problem import Allocation, Rental
from advisor.planning.solver.rentals import rented_ways, ruled_out_by_days

GRANTED, APPLIED_FOR = "granted hours", "hours that we apply for"


def called_hours(given: Material, allocations: Iterable[Allocation]) -> list[str]:
    """What hours are called, by whether their award is sure."""
    sure = [_is_sure(given, each) for each in allocations]
    return [*[GRANTED] * (True in sure), *[APPLIED_FOR] * (False in sure)]


def _is_sure(given: Material, allocation: Allocation) -> bool:
    """Not where odds are stated, nor where hours are competed for and no odds are known."""
    grant = given.loaded.grant
    assumed = any(
        (value.allocation, value.key, value.source) == (allocation.name, "odds", ASSUMED)
        for value in grant.allocation_values
    )
    return allocation.odds == 1 and not (assumed and competed_for(grant, allocation.name))


def hours_words(given: Material) -> list[str]:
    """What each allocation does, or why it is left."""
    found, problem = [], given.loaded.problem
    used = {r.rental_id for r in given.plan.rented}
    for each in problem.allocations:
        own = {r.rental_id for r in problem.rentals if r.allocation == each.allocation_id}
        if not used & own:
            found.append(f"Why not {each.name}. {_unused(given, each)}")
            continue
        running = [r for r in given.costs.running if r.placed[0].machine_id in own]
        free = [r for r in running if not r.charge.direct.value]
        if free:  # what is paid for is among what is rented
            found.append(_free(given, free, each))
    shares = dict.fromkeys(m.share_of for m in problem.machines if m.share_of is not None)
    bought = {e.machine.share_of for e in given.costs.equipment}
    why = "The plan does not need a share of it."
    if given.cheapest:
        why = "A share of it would not make this work cheaper."
    found += [f"Why not {name}. {why}" for name in shares if name not in bought]
    known = {each.name for each in problem.allocations} | shares.keys()
    return found + [
        f"Why not {asked.name}. No training time of these models on its GPUs is known."
        for asked in given.loaded.grant.allocations
        if asked.name not in known
    ]


def _unused(given: Material, allocation: Allocation) -> str:
    """Why the plan takes no hour of it: too few for any run, or nothing gained."""
    problem, ledger = given.loaded.problem, given.ledger
    mine = [r for r in problem.rentals if r.allocation == allocation.allocation_id]
    key = f"allocations[{allocation.allocation_id.partition(':')[2]}]"
    wanted = {e.model for e in problem.experiments}
    granted = allocation.gpu_hours_a_year
    fewest = min(
        (
            (time.days * r.gpu_count, r, model)
            for r in mine
            for model, time in r.times.items()
            if model in wanted
        ),
        default=None,
        key=lambda each: each[0],
    )
    if granted is not None and fewest and Decimal(str(fewest[0])) * 24 > granted:
        _, rental, model = fewest
        called = f"{given.loaded.models[model].name} on {rental.label}"
        time = given.book.time(rental.times[model], called)
        gpus = gpus_of_a_job(ledger, rental)
        of = [time, hours_in_a_day(ledger), gpus]
        takes = ledger.compute("product", of, "gpu-hours", f"GPU-hours of {called}")
        label = f"hours of {allocation.name} a year"
        hours = given.book.setting(f"{key}.gpu_hours_a_year", granted, "gpu-hours", label)
        return f"It grants {hours} a year, and one run takes {takes} or more."
    names = {r.rental_id for r in mine}
    if all(way.rental.rental_id not in names for way in rented_ways(problem)):
        return "No run that starts on its hours ends in time."
    if allocation.odds < 1:
        label = f"odds of {allocation.name}"
        odds = given.book.setting(f"{key}.odds", allocation.odds, "share", label)
        return f"It is awarded with odds of {odds}, and the plan does not count on it."
    if not given.cheapest:
        return "The plan does not need its hours."
    paid = min((r.price_per_hour / r.gpu_count for r in mine), default=Decimal(0))
    if not paid:
        return "Its hours would not make this work cheaper."
    price = given.book.setting(f"{key}.price_per_gpu_hour", paid, "money-per-hour", "a GPU-hour")
    return f"Its hours, at {price} and GPU, would not make this work cheaper."


def _free(given: Material, granted: Sequence[RunningCost], allocation: Allocation) -> str:
    """Runs on granted hours that cost nothing: how many, of which models, their GPU-hours."""
    ledger, experiments = given.ledger, given.book.experiments
    models = listed(given.loaded.models[experiments[r.experiment_id].model].name for r in granted)
    spent = [
        ledger.compute(
            "product",
            [r.runs, r.charge.amount, gpus_of_a_job(ledger, _rental_of(given, r))],
            "gpu-hours",
            f"GPU-hours of {experiments[r.experiment_id].name}",
        )
        for r in granted
    ]
    runs = ledger.total([r.runs for r in granted], f"runs on {allocation.name}", "runs")
    hours = ledger.total(spent, f"GPU-hours of {allocation.name}, in all", "gpu-hours")
    sizes = listed(rented_name(given, r) for r in granted)
    (called,) = called_hours(given, [allocation])
    free = ", free of charge."
    if price_not_said(given.loaded.grant, allocation.name):
        free = ", for which this plan has no cost."
    rest = _without(given, allocation) if called == APPLIED_FOR else ""
    return f"{capital(called)}. {runs} ({models}) on {sizes}: {hours}{free}{rest}"


def _rental_of(given: Material, r: RunningCost) -> Rental:
    return given.book.rentals[r.placed[0].machine_id]


def renting_words(given: Material, by_line: Mapping[str, Num]) -> str:
    """What is rented and why nothing is bought instead, or why nothing is rented."""
    rented = [r for r in given.costs.running if r.rented and r.charge.direct.value]
    if not rented:
        # Where nothing may be rented only granted hours were compared: that is no reason.
        why = not_rented(given) if given.loaded.grant.rent else ""
        return f"Why not rent. {why}{_limit(given)}" if why else ""
    hours = [
        given.ledger.compute("product", [r.runs, r.charge.amount], "hours", "hours rented")
        for r in rented
    ]
    paid = by_line["computer_services"]
    if any(e.machine.in_base is not None for e in given.costs.equipment):
        # A share of a condo that is charged as a service is on that line, too.
        paid = given.ledger.total([r.charge.direct for r in rented], "rent, in all")
    time = given.ledger.total(hours, "hours rented, in all", "hours")
    names = listed(rented_name(given, r) for r in rented)
    spot = ""
    if any(_rental_of(given, r).kind == "spot" for r in rented):
        spot = (
            " A provider may take a spot computer back: the run then goes on elsewhere, from its "
            "last checkpoint."
        )
    market = any(_rental_of(given, r).allocation is None for r in rented)
    what = "Rented computers" if market else "Paid hours"
    instead = not_bought(given) if market else _without_hours(given)
    rest = f"{spot}{instead}{_limit(given) if market else ''}"
    return f"{what}. {paid} pays for {time} on {names}, at the rates below.{rest}"


def _limit(given: Material) -> str:
    """That slower computers are not rented, where they would be the cheapest."""
    rules = given.loaded.problem.rules
    if rules.longest_run_days is None or not ruled_out_by_days(given.loaded.problem):
        return ""
    label = "longest that a run may take"
    days = given.book.setting("running.longest_run_days", rules.longest_run_days, "days", label)
    return f" No run may take longer than {days}: slower computers, which cost less, are ruled out."


def not_rented(given: Material) -> str:
    """What the work would cost on rented computers; empty where that is not known."""
    for other in given.explanation.alternatives:
        if other.change.get("no_purchases"):
            return _otherwise(given, other, "rented computers")
    return ""


def not_bought(given: Material) -> str:
    """What rented work would cost on machines of one's own, where there may be any; empty where
    that is not known."""
    if not given.loaded.grant.buy and not given.loaded.grant.owned:
        return ""
    for other in given.explanation.alternatives:
        if other.change.get("only_runs"):
            return _bought_for_them(given, other)
        if other.change.get("no_rentals"):
            why = _otherwise(given, other, _bought_instead(given, other))
            return f" {why}" if why else ""
    return ""


def _bought_instead(given: Material, other: Alternative) -> str:
    """What another plan buys: a share of a condo is no machine of one's own."""
    bought = set() if other.plan is None else {p.machine_id for p in other.plan.purchases}
    names = [given.book.machines[name].share_of for name in sorted(bought)]
    shares = [f"a share of {name}" for name in dict.fromkeys(filter(None, names))]
    own = [] if shares and None not in names else ["machines of our own"]
    return listed([*own, *shares])


def _bought_for_them(given: Material, other: Alternative) -> str:
    """What machines of one's own cost for the rented runs alone, against the rent; empty where
    that is no more, since only a proof would say which is cheaper."""
    if other.plan is None:
        return " Machines of our own do not do these runs in time."
    rent = [
        num
        for r in given.costs.running
        if r.rented and _rental_of(given, r).allocation is None
        for num in (r.charge.direct, r.charge.indirect)
    ]
    paid = given.ledger.total(rent, "rent with overhead, in all")
    cost = _at_least(given, other, paid.value)
    at_least, by = "at least ", ""
    if cost is None:
        usd = Decimal(other.plan.cost_cents) / 100
        if not other.is_near or usd <= paid.value:
            return ""
        cost = cost_of_other(given.ledger, other)
        at_least, by = "", ", by the best plan that was found"
    what = capital(_bought_instead(given, other))
    return (
        f" {what} for these runs would cost {at_least}{cost}{by}; renting costs {paid}, overhead "
        "counted in both."
    )


def _at_least(given: Material, other: Alternative, paid: Decimal) -> Num | None:
    """What every plan of another kind costs at least, where that is more than what is paid."""
    if other.least_cents is None or Decimal(other.least_cents) / 100 <= paid:
        return None
    usd, reads = Decimal(other.least_cents) / 100, "cost" if other.proven else "at-least"
    label = f"cost, {other.label}" if other.proven else f"cost at least, {other.label}"
    return solve_num(given.ledger, other.change, usd, "money", label, reads)


def _without_hours(given: Material) -> str:
    """What the work would cost without hours that are paid for."""
    every = (_without(given, each) for each in given.loaded.problem.allocations)
    return next(filter(None, every), "")


def _without(given: Material, allocation: Allocation) -> str:
    """What the work would cost without its hours, or how much of it would be done; empty where
    that was not tried, or where the grant leaves no other way."""
    name, grant = allocation.name, given.loaded.grant
    if not (grant.buy or grant.rent or grant.owned or len(grant.allocations) > 1):
        return ""
    for other in given.explanation.alternatives:
        if other.change.get("without_allocation") != allocation.allocation_id:
            continue
        if other.plan is None:
            return f" Without {name} this work is not done in time."
        cost = cost_of_other(given.ledger, other)
        if other.plan.runs == given.plan.runs:
            this = _beside_this(given)
            dearer = _yet_dearer(given, other)
            return f" Without {name} the same work costs {cost}{this}{dearer}"
        return (
            f" Without {name} we can do {_runs_of(given, other)}, for {cost}{_beside_this(given)}"
        )
    return ""


def _runs_of(given: Material, other: Alternative) -> Num:
    assert other.plan is not None
    label = f"runs, {other.label}"
    return solve_num(given.ledger, other.change, other.plan.runs, "runs", label, "runs")


def _beside_this(given: Material) -> str:
    """What this plan costs, after what another costs."""
    form = given.form
    whole = form.pays is None and not form.adds_indirect and not given.loaded.grant.shared
    return f" in all; {'this request is' if whole else 'this plan costs'} {given.costs.total}."


def _otherwise(given: Material, other: Alternative, on: str) -> str:
    """What the same work costs on other computers alone, or how much of it they do; empty where
    the best plan that was found says little of what they cost."""
    alone = f"{capital(on)} alone"
    if other.plan is None:
        return f"{alone} do not do this work in time."
    cost = cost_of_other(given.ledger, other)
    if not other.plan.runs:
        return f"{alone} do none of this work with this money."
    same = other.plan.runs == given.plan.runs
    words = f"Doing the same work on {on} costs {cost}"
    if not same:
        words = f"{alone} do {_runs_of(given, other)}, for {cost}"
    if other.proven:
        return f"{words}{_beside_this(given)}{_yet_dearer(given, other)}"
    least = _at_least(given, other, given.costs.total.value) if same else None
    if least is not None:
        return f"Doing the same work on {on} costs at least {least}{_beside_this(given)}"
    if not other.is_near:
        return ""
    words = f"{words[0].lower()}{words[1:]}"
    return f"By the best plan that was found, {words}{_beside_this(given)}"


def _yet_dearer(given: Material, other: Alternative) -> str:
    """Why what costs less is not taken, where plans are compared by more than what is paid."""
    assert other.plan is not None
    by = worse_by(given.loaded.problem, given.plan, other.plan)
    if not by or other.plan.cost_cents >= given.plan.cost_cents:
        return ""
    return f" The other way is dearer {' and '.join(by)}."


def rented_name(given: Material, r: RunningCost) -> str:
    """An instance as a reader says it: ``1 × H100 at Lambda (on-demand)``, and ``(on-demand: up to
    3 at once)`` where the plan has several."""
    rental = _rental_of(given, r)
    if rental.allocation:
        return f"{rental.gpus} at {rental.who}"
    count = given.plan.at_once(rental.rental_id)
    several = f": up to {count} at once" if count > 1 else ""
    return f"{rental.gpus} at {rental.who} ({rental.kind}{several})"
