"""What to hear about hours that a plan rests on: their odds and source, and what nobody says."""

from __future__ import annotations

from advisor.planning.grant.caution import Caution
from advisor.planning.grant.grant_record import Grant
from advisor.planning.grant.programmes import ASSUMED, OWN_WORD
from advisor.planning.solver.plan import Plan
from advisor.planning.solver.problem import PlanningProblem


def hours_cautions(grant: Grant, problem: PlanningProblem, plan: Plan) -> list[Caution]:
    used = {r.rental_id for r in plan.rented}
    found = []
    for allocation in problem.allocations:
        own = {r.rental_id for r in problem.rentals if r.allocation == allocation.allocation_id}
        runs = sum(r.runs for r in plan.rented if r.rental_id in own)
        if runs and used & own and allocation.odds < 1:
            rest = "run rests" if runs == 1 else "runs rest"
            odds = f"{allocation.odds * 100:.0f} %"
            words = f"{runs} {rest} on {allocation.name}, which is awarded with odds of {odds}."
            found.append(Caution(words))
        if runs and used & own:
            found += _programme(grant, allocation.name)
            free = all(r.usd_per_hour == 0 for r in problem.rentals if r.rental_id in own)
            if free and allocation.gpu_hours_a_year is None:
                words = (
                    f"Nobody states how many free hours {allocation.name} has: no limit is counted."
                )
                told = "Write gpu_hours_a_year in its [[allocations]]."
                found.append(Caution(words, told))
    return found


def _programme(grant: Grant, name: str) -> list[Caution]:
    """Where its hours are from, and that nobody says how likely they are or how long jobs wait."""
    found: list[Caution] = []
    unknown: set[str] = set()
    for each in grant.allocation_values:
        if each.allocation != name or each.source == OWN_WORD:
            continue
        if each.key == "gpu_hours_a_year":
            found.append(Caution(f"{name}: {each.value} GPU-hours a year, from {each.source}."))
        elif each.key == "usd_per_gpu_hour" and each.source != ASSUMED and each.value != "0":
            found.append(Caution(f"{name}: ${each.value} a GPU-hour, from {each.source}."))
        elif each.key == "price_per_gpu_hour":
            of = f"{grant.currency.sign}{each.value}"
            found.append(Caution(f"{name}: {of} a GPU-hour, from {each.source}."))
        elif each.source == ASSUMED:
            unknown.add(each.key)
    if price_not_said(grant, name):
        found.append(
            Caution(
                f"The grant does not say what an hour of {name} costs: it counts as free. Ask the "
                "campus for its rate before you submit.",
                "Write usd_per_gpu_hour in its [[allocations]], 0 where it is free.",
            )
        )
    odds, wait = "odds" in unknown and competed_for(grant, name), "queue_days" in unknown
    known = [*["the odds of award"] * odds, *["how long jobs wait"] * wait]
    counts = [*["it counts as awarded"] * odds, *["no day of waiting is counted"] * wait]
    keys = [*["odds"] * odds, *["queue_days"] * wait]
    if keys:
        found.append(
            Caution(
                f"Nobody states {' or '.join(known)} for {name}: {' and '.join(counts)}.",
                f"Write {' and '.join(keys)} in its [[allocations]].",
            )
        )
    return found


def price_not_said(grant: Grant, name: str) -> bool:
    """Whether hours that often have a rate count as free only because nobody names one."""
    assumed = any(
        (each.allocation, each.key, each.source) == (name, "usd_per_gpu_hour", ASSUMED)
        for each in grant.allocation_values
    )
    return assumed and _paid_for(grant, name)


def _paid_for(grant: Grant, name: str) -> bool:
    """Whether hours of its kind often have a rate."""
    return any(a.name == name and a.kind in ("campus", "condo") for a in grant.allocations)


def competed_for(grant: Grant, name: str) -> bool:
    """Whether others apply for the same hours."""
    return any(a.name == name and a.kind == "national" for a in grant.allocations)
