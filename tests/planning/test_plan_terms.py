"""What a grant says of money, time and others' machines: each term against plain arithmetic."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from advisor.planning.grant.allocation_programmes import (
    ASSUMED,
    known_allocations,
    programme_names,
    programmes,
)
from advisor.planning.grant.cautions import cautions
from advisor.planning.sensitivity.explain import explain
from advisor.planning.solver.money.cents import (
    purchase_cents,
    rental_cents,
)
from advisor.planning.solver.money.prices import months_in_grant
from advisor.planning.solver.problem import (
    Allocation,
    PlanningProblem,
    Rules,
)
from advisor.planning.solver.search_clock import NoPlan
from advisor.planning.solver.solve import solve
from advisor.ranking.snapshot import take_snapshot
from advisor.store import Store
from tests.planning.forms_for_tests import SMALL, loaded_of, read
from tests.plans_for_tests import (
    make_experiment,
    make_machine,
    make_problem,
    make_rental,
)

# Allocations


def allocated(**changes: Any) -> PlanningProblem:
    """Two runs of ten days: rented at $240 each, or free on an allocation of 240 hours a year."""
    granted = replace(
        make_rental("granted", "0", {"a": 10.0}), allocation="allocation:1", in_base=False
    )
    given_: dict[str, Any] = {
        "year_days": (0, 100),
        "experiments": (make_experiment("e", "a", 2, 0, 100),),
        "rentals": (make_rental("rent", "1.00", {"a": 10.0}), granted),
        "allocations": (
            Allocation(allocation_id="allocation:1", name="Campus", gpu_hours_a_year=Decimal(240)),
        ),
    }
    return make_problem(**(given_ | changes))


def test_odds_weigh_an_allocation_against_what_else_there_is() -> None:
    """A machine of $100 does both runs; hours that come with odds of 10 % are no saving."""
    unsure = replace(allocated().allocations[0], gpu_hours_a_year=None, odds=Decimal("0.1"))
    machine = make_machine("buy", "100", {"a": 10.0})
    problem = allocated(allocations=(unsure,), machines=(machine,))
    assert solve(problem).purchases
    likely = replace(problem, allocations=(replace(unsure, odds=Decimal("0.9")),))
    plan = solve(likely)
    assert (plan.cost_cents, plan.judged_cents) == (0, 2 * 24_00)
    first = explain(likely, plan).alternatives[0]
    assert first.label == "Campus is not awarded"
    assert first.plan is not None
    assert first.plan.cost_cents == 100_00


def test_long_runs_wait_for_each_of_their_jobs() -> None:
    problem = allocated()
    (rent, granted) = problem.rentals
    slow = replace(granted, max_job_days=Decimal(2), queue_days=Decimal(3))
    assert problem.rented_days(slow, "a") == 10 + 5 * 3
    tight = allocated(rentals=(rent, slow), experiments=(make_experiment("e", "a", 1, 0, 20),))
    assert solve(tight).cost_cents == 240_00


def test_known_allocations_have_a_source_and_a_date() -> None:
    rows = known_allocations()
    assert len(rows) > 60
    assert all(row["source"] and row["date"] for row in rows)
    assert known_allocations("delta")
    assert known_allocations("no such place") == []


def test_a_programme_brings_its_hours_each_with_a_source(tmp_path: Path) -> None:
    named = '[[allocations]]\nprogramme = "access-explore"\nresource = "bridges2-h100"\n'
    grant = read(tmp_path, SMALL + named)
    (known,) = grant.allocations
    assert (known.name, known.gpu) == ("ACCESS Explore, PSC Bridges-2", "H100")
    assert known.gpu_hours == round(400_000 / 107.7)
    sources = {value.key: value.source for value in grant.allocation_values}
    assert "400,000 credits" in sources["gpu_hours"]
    assert sources["odds"] == ASSUMED
    (own,) = read(tmp_path, SMALL + named + "gpu_hours_a_year = 5\nodds = 0.3\n").allocations
    assert (own.gpu_hours_a_year, own.gpu_hours, own.odds) == (5, None, Decimal("0.3"))
    problem = allocated(allocations=(replace(allocated().allocations[0], name=known.name),))
    said = " ".join(cautions(loaded_of(grant, problem), solve(problem)))
    assert f"No source states the odds of award or how long jobs wait for {known.name}" in said
    told = read(tmp_path, SMALL + named + "queue_days = 1\nodds = 1.0\n")
    assert "No source states" not in " ".join(cautions(loaded_of(told, problem), solve(problem)))
    short = '[[allocations]]\nprogramme = "uk-airr-gateway"\nstarts = 2028-02-01\n'
    (short_award,) = read(tmp_path, SMALL + short).allocations
    # Three months over the turn of the grant's year: one pool.
    assert short_award.ends == date(2028, 5, 2)
    assert short_award.gpu_hours == 10_000


def test_every_programme_can_be_planned_with(store_path: Path, tmp_path: Path) -> None:
    with Store(store_path).reading() as reader:
        snapshot = take_snapshot(reader)
    for (name, resource), facts in programmes().items():
        assert all(fact.value and fact.source for fact in facts.values()), name
        if "gpu" in facts:
            assert snapshot.gpu_ids([facts["gpu"].value]), (name, resource)
    for name in programme_names():
        text = f'[[allocations]]\nprogramme = "{name}"\ngpu_hours_a_year = 100\n'
        if name.startswith("access"):
            text += 'resource = "deltaai-gh200"\n'
        elif "gpu" not in programmes()[name, ""]:
            text += 'gpu = "A100"\n'
        assert read(tmp_path, SMALL + text).allocations[0].gpu_hours_a_year == 100


# Slack, long runs, failures, utilisation


def test_days_before_a_deadline_stay_free() -> None:
    problem = make_problem(
        experiments=(make_experiment("e", "a", 2, 0, 100),),
        machines=(make_machine("buy", "1000", {"a": 42.5}),),
        rules=Rules(slack=Decimal("0.15")),
    )
    plan = solve(problem)
    assert sum(p.count for p in plan.purchases) == 1
    assert plan.finish_day == pytest.approx(85)
    longer = replace(problem, machines=(make_machine("buy", "1000", {"a": 43.0}),))
    assert sum(p.count for p in solve(longer).purchases) == 2
    rented = replace(problem, machines=(), rentals=(make_rental("r", "1", {"a": 85.1}),))
    with pytest.raises(NoPlan):
        solve(rented)


def test_failures_take_time_and_money() -> None:
    rules = Rules(failures=Decimal("0.05"), price_per_kwh=Decimal(1))
    machine = make_machine("own", None, {"a": 20.0})
    problem = make_problem(
        experiments=(make_experiment("e", "a", 1, 0, 100),), machines=(machine,), rules=rules
    )
    plan = solve(problem)
    assert plan.finish_day == pytest.approx(21)
    assert plan.cost_cents == 21 * 24_00
    assert rental_cents(make_rental("r", "1", {"a": 20.0}), "a", rules) == 21 * 24_00


def test_a_machine_that_is_half_free_in_its_first_year_takes_longer() -> None:
    problem = make_problem(
        year_days=(0, 100, 200),
        experiments=(make_experiment("e", "a", 3, 0, 200),),
        machines=(make_machine("own", None, {"a": 40.0}),),
        rules=Rules(utilisation=Decimal("0.75"), year_utilisation=(Decimal("0.5"), Decimal(1))),
    )
    plan = solve(problem)
    ends = sorted(p.pieces[-1][1] for p in plan.placed)
    assert ends == pytest.approx([80, 130, 170])
    many = replace(problem, experiments=(make_experiment("e", "a", 4, 0, 200),))
    with pytest.raises(NoPlan):
        solve(many)


# Terms of purchase


def test_depreciation_is_charged_by_time_and_use() -> None:
    """40,000 over 60 months, used from month 7 to 60 for 80 %: 28,800, with 25 % 36,000."""
    machine = make_machine("m", "40000", {"a": 1.0})
    rules = Rules(
        life_months=60,
        use_share=Decimal("0.8"),
        grant_months=60,
        equipment_in_base=True,
        overhead_rate=Decimal("0.25"),
    )
    assert purchase_cents(machine, rules, day=183) == 36_000_00
    # From the day on which it can be used: 52 of the 60 months.
    assert purchase_cents(machine, replace(rules, lead_days=75), day=183) == 34_666_66
    dated = replace(rules, grant_months=24, first_day=date(2027, 1, 1))
    for order, months in ((date(2027, 1, 1), 24), (date(2028, 6, 30), 7), (date(2028, 7, 1), 6)):
        assert months_in_grant(dated, (order - date(2027, 1, 1)).days) == months


def test_rents_change_with_the_days_until_the_award_year_begins() -> None:
    """A year cut after 73 days is a fifth of a year later, not a whole one."""
    problem = make_problem(
        year_days=(0, 73, 438),
        experiments=(make_experiment("e", "a", 1, 100, 438),),
        rentals=(make_rental("r", "1", {"a": 10.0}),),
        rules=Rules(rent_change=Decimal("0.2")),
    )
    assert solve(problem).cost_cents == round(240_00 * 1.2**0.2)
    whole = replace(
        problem, year_days=(0, 365, 730), experiments=(make_experiment("e", "a", 1, 400, 730),)
    )
    assert solve(whole).cost_cents == 288_00


def test_the_rate_of_an_allocation_is_as_it_is_paid() -> None:
    """Its price is the grant's own word: no tax comes on top, and no market moves it."""
    rules = Rules(rent_change=Decimal("0.2"), vat=Decimal("0.19"))
    rental = make_rental("r", "1", {"a": 1.0})
    granted = replace(rental, allocation="allocation:1")
    assert rental_cents(rental, "a", rules, 365) == round(24_00 * 1.2 * 1.19)
    assert rental_cents(granted, "a", rules, 365) == 24_00


def test_overhead_may_differ_by_what_it_is_charged_on() -> None:
    rules = Rules(overhead_rate=Decimal("0.5"), overhead_rate_cloud=Decimal("0.1"))
    assert rental_cents(make_rental("r", "1", {"a": 1.0}), "a", rules) == 26_40


@pytest.mark.parametrize("vat", ["0", "0.05", "0.19", "0.25"])
def test_a_price_with_tax_in_it_is_not_taxed_again(vat: str) -> None:
    rules = Rules(vat=Decimal(vat))
    machine = make_machine("m", "15999", {"x": 1.0})
    taxed = replace(machine, lines=(replace(machine.lines[0], tax=Decimal(vat)),))
    assert abs(purchase_cents(taxed, rules) - 15_999_00) <= 1
    assert taxed.price == round(machine.price / (1 + Decimal(vat)), 2)
    assert purchase_cents(machine, rules) == round(15_999_00 * (1 + Decimal(vat)))
