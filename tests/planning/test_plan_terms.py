"""What a grant says of money, time and others' machines: each term against plain arithmetic."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from decimal import Decimal
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from advisor.answers.plan_sentence import plan_sentence
from advisor.parse import InputError
from advisor.planning.grant.cautions import cautions
from advisor.planning.grant.check_grant import check_grant
from advisor.planning.grant.cost_lines import not_asked_for, order_days
from advisor.planning.grant.grant import read_grant
from advisor.planning.grant.known_allocations import COLUMNS, known_allocations
from advisor.planning.grant.problem_of_grant import Loaded
from advisor.planning.grant.programmes import ASSUMED, programme_names, programmes
from advisor.planning.plan_grant import EXAMPLE, load_grant, plan_loaded
from advisor.planning.report.markdown_csv_json import to_markdown
from advisor.planning.sensitivity.changes import vary
from advisor.planning.sensitivity.explain import explain
from advisor.planning.solver.by_year import cents_by_year
from advisor.planning.solver.prices import months_in_grant
from advisor.planning.solver.problem import (
    Allocation,
    FixedCost,
    Machine,
    MachineExtra,
    PlanningProblem,
    PriceLine,
    Rules,
)
from advisor.planning.solver.search_clock import NoPlan, Progress, clock_of
from advisor.planning.solver.solve import solve
from advisor.planning.solver.whole_cents import purchase_cents, rental_cents, run_cents
from advisor.ranking.snapshot import take_snapshot
from advisor.store import Store
from tests.planning.forms_for_tests import SMALL, read, report_for
from tests.plans_for_tests import (
    fits_one_machine,
    make_experiment,
    make_machine,
    make_problem,
    make_rental,
    make_time,
)

TODAY = date(2026, 11, 21)


def part(whole: Machine, count: int, days: dict[str, float]) -> Machine:
    return replace(
        whole,
        machine_id=f"{whole.machine_id}:part:{count}",
        gpu_count=count,
        times={model: make_time(d) for model, d in days.items()},
        lines=(),
        owned=0,
        part_of=whole.machine_id,
        whole_gpus=whole.gpu_count,
    )


# Runs that share a machine, or take two


def best_sharing(problem: PlanningProblem) -> int | None:
    """The cheapest plan by trying every number of machines, how each is divided, and where every
    run goes."""
    (whole, half, *pair) = problem.machines
    runs = [e for e in problem.experiments for _ in range(e.runs)]
    best: int | None = None
    for machines in range(1, len(runs) + 1):
        for split in range(machines + 1):
            for pairs in range((machines - split) // 2 + 1 if pair else 1):
                units = [whole] * (machines - split - 2 * pairs) + [half] * (2 * split)
                units += list(pair) * pairs
                found = _cheapest_placing(problem, units, runs)
                if found is None:
                    continue
                cents = found + machines * purchase_cents(whole, problem.rules)
                best = cents if best is None else min(best, cents)
    return best


def _cheapest_placing(
    problem: PlanningProblem, units: list[Machine], runs: list[Any]
) -> int | None:
    best: int | None = None
    for where in product(range(len(units)), repeat=len(runs)):
        jobs: dict[int, list[tuple[float, float, float]]] = {}
        cents = 0
        for e, at in zip(runs, where, strict=True):
            time = units[at].times.get(e.model)
            if time is None:
                break
            days = problem.elapsed(time)
            jobs.setdefault(at, []).append((e.release_day, e.due_day, days))
            cents += run_cents(units[at], e.model, problem.rules)
        else:
            if all(map(fits_one_machine, jobs.values())):
                best = cents if best is None else min(best, cents)
    return best


@pytest.mark.parametrize("seed", range(12))
def test_no_way_of_dividing_machines_is_better(seed: int) -> None:
    random = Random(seed)
    whole = make_machine(
        "buy", "1000", {"a": random.uniform(20, 60), "b": random.uniform(20, 60)}, gpu_count=2
    )
    halves = {m: t.days * random.uniform(1.2, 1.9) for m, t in whole.times.items()}
    machines = [whole, part(whole, 1, halves)]
    if seed % 3 == 0:
        machines.append(part(whole, 4, {m: t.days * 0.6 for m, t in whole.times.items()}))
    problem = make_problem(
        experiments=(
            make_experiment("e", "a", random.randint(1, 2), 0, random.choice([60, 100])),
            make_experiment("f", "b", random.randint(1, 2), random.choice([0, 30]), 100),
        ),
        machines=tuple(machines),
        rules=Rules(usd_per_kwh=Decimal("0.3")),
    )
    best = best_sharing(problem)
    try:
        plan = solve(problem)
    except NoPlan:
        assert best is None
        return
    assert (plan.proven, plan.cost_cents) == (True, best)
    used: dict[str, set[int]] = {}
    for p in plan.placed:
        used.setdefault(p.machine_id, set()).add(p.unit)
    gpus = {m.machine_id: m.gpu_count for m in machines}
    bought = sum(p.count for p in plan.purchases)
    assert sum(gpus[name] * len(units) for name, units in used.items()) <= 2 * bought


def test_a_part_draws_its_share() -> None:
    whole = make_machine("buy", "1000", {"a": 10.0}, gpu_count=4)
    rules = Rules(usd_per_kwh=Decimal(1))
    assert run_cents(whole, "a", rules) == 240_00
    assert run_cents(part(whole, 1, {"a": 10.0}), "a", rules) == 60_00
    assert run_cents(part(whole, 8, {"a": 10.0}), "a", rules) == 480_00


def test_an_owned_machine_of_three_is_used_in_part(store_path: Path, tmp_path: Path) -> None:
    text = (
        "[grant]\nstart = 2027-01-01\nyears = 1\n"
        '[[experiments]]\nmodel = "pythia-160m"\n'
        '[[owned]]\ngpu = "RTX A6000"\ngpu_count = 3\n'
        "[rentals]\nallowed = false\n[purchases]\nallowed = false\n"
    )
    path = tmp_path / "grant.toml"
    path.write_text(text)
    loaded = load_grant(Store(store_path), read_grant(path), TODAY)
    plan = solve(loaded.problem)
    assert plan.cost_cents == 0
    used = {m.machine_id: m for m in loaded.problem.machines}[plan.placed[0].machine_id]
    assert used.part_of is not None or used.gpu_count == 3
    path.write_text(text + "[running]\nshare_gpus = false\n")
    loaded = load_grant(Store(store_path), read_grant(path), TODAY)
    if not loaded.problem.machines[0].times:
        (said,) = [each for each in loaded.left_out if each.label == "3 × A6000 (owned)"]
        assert "together" in said.reason


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


def test_an_allocation_is_used_as_far_as_its_hours_go() -> None:
    plan = solve(allocated())
    assert (plan.cost_cents, plan.proven) == (240_00, True)
    assert sorted((r.rental_id, r.runs) for r in plan.rented) == [("granted", 1), ("rent", 1)]
    free = replace(allocated().allocations[0], gpu_hours_a_year=None)
    assert solve(allocated(allocations=(free,))).cost_cents == 0


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
    assert all(set(row) == set(COLUMNS) for row in rows)
    assert all(row["source"] and row["date"] for row in rows)
    assert known_allocations("delta")
    assert known_allocations("no such place") == []


def test_a_programme_brings_its_hours_each_with_a_source(tmp_path: Path) -> None:
    named = '[[allocations]]\nprogramme = "access-explore"\nresource = "bridges2-h100"\n'
    grant = read(tmp_path, SMALL + named)
    (known,) = grant.allocations
    assert (known.name, known.gpu) == ("ACCESS Explore, PSC Bridges-2", "H100")
    assert known.gpu_hours_a_year == round(400_000 / 107.7 / 2)
    sources = {value.key: value.source for value in grant.allocation_values}
    assert "400,000 credits" in sources["gpu_hours_a_year"]
    assert sources["odds"] == ASSUMED
    (own,) = read(tmp_path, SMALL + named + "gpu_hours_a_year = 5\nodds = 0.3\n").allocations
    assert (own.gpu_hours_a_year, own.odds, own.gpu) == (5, 0.3, "H100")
    problem = allocated(allocations=(replace(allocated().allocations[0], name=known.name),))
    said = " ".join(cautions(grant, problem, solve(problem)))
    assert f"Nobody states the odds of award or how long jobs wait for {known.name}" in said
    told = read(tmp_path, SMALL + named + "queue_days = 1\nodds = 1.0\n")
    assert "Nobody states" not in " ".join(cautions(told, problem, solve(problem)))
    short = '[[allocations]]\nprogramme = "uk-airr-gateway"\nstarts = 2028-02-01\n'
    (short_award,) = read(tmp_path, SMALL + short).allocations
    # Three months over the turn of the grant's year: half of the hours in each.
    assert short_award.ends == date(2028, 5, 2)
    assert short_award.gpu_hours_a_year == 5_000


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


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('programme = "access"\n', "did you mean 'access-"),
        ('programme = "access-explore"\n', "several machines: write one of"),
        ('programme = "access-explore"\nresource = "delta"\n', "'delta-"),
        ('programme = "access-maximize"\nresource = "delta-h200"\n', "what you ask for"),
        ('programme = "caltech-hpc"\n', "allocations[1].gpu: "),
        ('programme = "caltech-hpc"\nresource = "x"\n', "remove this key"),
        ('resource = "delta-h200"\n', "write programme as well"),
    ],
)
def test_a_programme_that_is_not_whole_is_told(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(InputError) as caught:
        read(tmp_path, SMALL + "[[allocations]]\n" + text)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


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


def test_no_run_is_longer_than_is_acceptable() -> None:
    problem = make_problem(
        year_days=(0, 365),
        experiments=(make_experiment("e", "a", 1, 0, 365),),
        machines=(
            make_machine("slow", "1000", {"a": 91.0}),
            make_machine("fast", "9000", {"a": 20.0}),
        ),
    )
    assert solve(problem).cost_cents == 1000_00
    rules = Rules(longest_run_days=Decimal(90))
    assert solve(replace(problem, rules=rules)).cost_cents == 9000_00


def test_failures_take_time_and_money() -> None:
    rules = Rules(failures=Decimal("0.05"), usd_per_kwh=Decimal(1))
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


def test_another_utilisation_is_another_in_every_year(tmp_path: Path) -> None:
    text = SMALL + "[running]\nutilisation_by_year = [0.4, 0.8]\n"
    grant = read(tmp_path, text)
    assert grant.utilisation == Decimal("0.599726")  # by 366 and 365 days
    problem = make_problem(
        year_days=(0, 100, 200),
        experiments=(make_experiment("e", "a", 1, 0, 200),),
        machines=(make_machine("own", None, {"a": 40.0}),),
        rules=Rules(utilisation=Decimal("0.6"), year_utilisation=(Decimal("0.4"), Decimal("0.8"))),
    )

    def end(utilisation: float) -> float:
        changed = vary(problem, {"utilisation": utilisation})
        return solve(changed).placed[0].pieces[-1][1]

    assert solve(problem).placed[0].pieces[-1][1] == pytest.approx(100)
    assert end(0.6) == pytest.approx(100)
    assert end(0.75) == pytest.approx(80)
    assert end(1) == pytest.approx(40)


# Terms of purchase


def test_prices_are_arithmetic_of_their_terms() -> None:
    machine = make_machine("m", "10000", {"a": 1.0})
    terms = Rules(discount=Decimal("0.05"), vat=Decimal("0.19"))
    assert purchase_cents(machine, terms) == 11305_00
    assert purchase_cents(machine, replace(terms, cost_share=Decimal("0.5"))) == 5652_50
    falling = Rules(price_change=Decimal("-0.1"))
    assert [purchase_cents(machine, falling, day) for day in (0, 365)] == [10000_00, 9000_00]
    extras = (
        MachineExtra(key="costs[1].amount", name="rack", usd=Decimal(300)),
        MachineExtra(key="costs[2].share_of_price", name="care", share_of_price=Decimal("0.1")),
    )
    assert purchase_cents(machine, Rules(machine_extras=extras)) == 11300_00


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


def test_a_machine_is_bought_later_where_prices_fall() -> None:
    problem = make_problem(
        year_days=(0, 365),
        order_days=(0, 91, 182, 273),
        experiments=(make_experiment("e", "a", 1, 200, 365),),
        machines=(make_machine("buy", "10000", {"a": 30.0}),),
        rules=Rules(price_change=Decimal("-0.2"), lead_days=30),
    )
    plan = solve(problem)
    assert [p.order for p in plan.purchases] == [3]
    assert [p.order for p in solve(replace(problem, rules=Rules(lead_days=30))).purchases] == [0]


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


def test_what_is_paid_whatever_is_bought_counts() -> None:
    problem = make_problem(
        year_days=(0, 100, 200),
        experiments=(make_experiment("e", "a", 1, 0, 200),),
        machines=(make_machine("buy", "1000", {"a": 30.0}),),
        fixed=tuple(
            FixedCost(
                key="costs[1].amount",
                name="disks",
                kind="storage",
                year=year,
                usd=Decimal(100),
                in_base=True,
            )
            for year in range(2)
        ),
        rules=Rules(overhead_rate=Decimal("0.5"), equipment_threshold_usd=Decimal(500)),
        budget_cents=1300_00,
    )
    plan = solve(problem)
    assert plan.cost_cents == 1300_00
    assert cents_by_year(problem, plan.purchases, plan.placed) == [1150_00, 150_00]
    with pytest.raises(NoPlan):
        solve(replace(problem, budget_cents=1299_99))


def test_overhead_may_differ_by_what_it_is_charged_on() -> None:
    rules = Rules(overhead_rate=Decimal("0.5"), overhead_rate_cloud=Decimal("0.1"))
    assert rental_cents(make_rental("r", "1", {"a": 1.0}), "a", rules) == 26_40


# Files


def test_a_grant_in_euros_has_a_rate_with_its_day(tmp_path: Path) -> None:
    grant = read(tmp_path, SMALL + '[budget]\ncurrency = "EUR"\ntotal = "100k"\n')
    assert grant.budget_usd == Decimal("114030.00")
    assert grant.currency.written(Decimal("114030")) == "€100,000"
    assert "1.1403" in grant.currency.note
    assert "25 September 2026" in grant.currency.note
    with pytest.raises(
        InputError, match=r"budget\.currency: no rate of JPY ships.*usd_per_unit_on"
    ):
        read(tmp_path, SMALL + '[budget]\ncurrency = "JPY"\n')
    rate = "usd_per_unit = 1e-300\nusd_per_unit_on = 2026-11-01\n"
    with pytest.raises(
        InputError, match=r"usd_per_unit: must be a number from 0\.000001 to 1000000"
    ):
        read(tmp_path, SMALL + f'[budget]\ncurrency = "JPY"\n{rate}')


@pytest.mark.parametrize(("code", "usd"), [("GBP", "135650"), ("CHF", "123900"), ("CAD", "72630")])
def test_the_currencies_of_the_forms_have_a_rate_with_day_and_source(
    tmp_path: Path, code: str, usd: str
) -> None:
    grant = read(tmp_path, SMALL + f'[budget]\ncurrency = "{code}"\ntotal = "100k"\n')
    assert grant.budget_usd == Decimal(usd)
    assert grant.currency.note is not None
    assert "9 September 2026" in grant.currency.note
    assert "ECB" in grant.currency.note


def test_electricity_may_become_dearer() -> None:
    rules = Rules(usd_per_kwh=Decimal("0.10"), grant_months=48)
    machine = make_machine("m", "1000", {"a": 100.0})
    # 1,000 W for 100 days are 2,400 kWh; two years on, the middle of four, they cost 1.05 squared.
    assert run_cents(machine, "a", rules) == 240_00
    dearer = replace(rules, electricity_change=Decimal("0.05"))
    assert run_cents(machine, "a", dearer) == 264_60


def test_machines_may_be_ordered_on_days_that_are_named(tmp_path: Path) -> None:
    text = SMALL + "[purchases]\norder_on = [2028-02-10, 2027-05-15]\n"
    grant = read(tmp_path, text)
    assert order_days(grant) == (75, 346)
    halves = read(tmp_path, f"{SMALL}[purchases]\norder_every_months = 6\n")
    assert order_days(halves) == (0, 184, 366, 550)
    for bad, words in (
        ("order_on = [2031-01-01]", "2031-01-01 is outside the grant"),
        ("order_on = [2027-05-15]\norder_every_months = 3", "remove one of the two"),
    ):
        with pytest.raises(InputError, match=words):
            read(tmp_path, SMALL + f"[purchases]\n{bad}\n")
    machine = make_machine("m", "1000", {"a": 100.0})
    problem = make_problem(
        year_days=(0, 365), experiments=(make_experiment("e", "a", 2, 0, 365),), machines=(machine,)
    )
    late = replace(problem, order_days=(75,))
    first = min(start for p in solve(late).placed for start, _ in p.pieces)
    assert first >= 75


def test_a_threshold_holds_only_from_its_day_on(tmp_path: Path) -> None:
    early = SMALL.replace("2027-03-01", "2024-03-01")
    rules = '[institution]\nrules = "us-equipment-10000"\n'
    assert read(tmp_path, SMALL + rules).institution.threshold_valid_from == date(2024, 10, 1)
    with pytest.raises(InputError, match=r"institution\.rules: .*\$10,000 holds from 2024-10-01"):
        read(tmp_path, early + rules)
    # What is ordered after that day may count by it; where nothing is bought it does not matter.
    read(tmp_path, early + rules + "[purchases]\norder_on = [2025-01-10]\n")
    read(tmp_path, early + rules + "[purchases]\nallowed = false\n")
    read(tmp_path, early + rules.replace("10000", "5000"))


def test_award_years_are_cut_as_the_funder_counts_them(tmp_path: Path) -> None:
    text = SMALL.replace("years = 2", 'years = 2\naward_years = "calendar"')
    assert read(tmp_path, text).year_dates == (
        date(2027, 3, 1),
        date(2028, 1, 1),
        date(2029, 1, 1),
        date(2029, 3, 1),
    )
    with pytest.raises(InputError, match=r"2 amounts for 3 calendar years \(award_years"):
        read(tmp_path, text + '[budget]\nper_year = ["1k", "1k"]\n')


WON = 'currency = "KRW"\nusd_per_unit = 0.00068\nusd_per_unit_on = 2026-11-02\n'
HOURLY = 'name = "campus"\ngpu = "H100"\nprice_per_gpu_hour = '


@pytest.mark.parametrize(
    ("written", "amount"),
    [
        ("1_500_000_000", 1_500_000_000),
        ('"KRW 1,500,000,000"', 1_500_000_000),
        ('"1500M KRW"', 1_500_000_000),
        ('"₩40k"', 40_000),
        ('"KRW 0"', 0),
        ("0.0", 0),
    ],
)
def test_an_amount_has_its_own_currency(tmp_path: Path, written: str, amount: int) -> None:
    hours = f"[[allocations]]\n{HOURLY}4500\n[electricity]\nprice_per_kwh = 1200\n"
    grant = read(tmp_path, f"{SMALL}[budget]\ntotal = {written}\n{WON}{hours}")
    assert grant.budget_usd == Decimal(amount) * Decimal("0.00068")
    assert grant.stated["budget.total"] == amount


@pytest.mark.parametrize(
    ("written", "code", "amount"),
    [
        ("C$150,000", "CAD", "150000"),
        ("CA$150k", "CAD", "150000"),
        ("$150,000", "CAD", "150000"),
        ("CHF 90'000", "CHF", "90000"),
        ("€90.000,00", "EUR", "90000"),
        ("90.000,50 €", "EUR", "90000.50"),
        ("90 000,00 €", "EUR", "90000"),
        ("1.234.567", "EUR", "1234567"),
        ("£0", "GBP", "0"),
    ],
)
def test_an_amount_is_read_as_it_is_written_where_its_currency_is_used(
    tmp_path: Path, written: str, code: str, amount: str
) -> None:
    text = f'{SMALL}[budget]\ntotal = "{written}"\ncurrency = "{code}"\n'
    assert read(tmp_path, text).stated["budget.total"] == Decimal(amount)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[purchases]\ncost_share = 0.5\n", "purchases.cost_share_by"),
        ('[purchases]\ncost_share_by = "x"\n', "purchases.cost_share_by: pays nothing"),
        ('[electricity]\npaid_by = "grant"\n', "electricity.usd_per_kwh: must be a number"),
        ("[running]\nutilisation_by_year = [0.5]\n", "running.utilisation_by_year"),
        ('[[costs]]\nname = "x"\nkind = "storage"\n', "costs[1]: needs either amount"),
        ('[[costs]]\nname = "x"\nkind = "storag"\namount = 1\n', "did you mean 'storage'"),
        ('[[allocations]]\nname = "x"\ngpu = "H100"\nodds = 0\n', "allocations[1].odds"),
        ('[[allocations]]\nname = "x"\n', "allocations[1].gpu"),
        ("[purchases]\norder_every_months = 2\n", "one of 1, 3, 6, 12"),
        ('[budget]\ncurrency = "EUR"\ntotal = "$40k"\n', "budget.total: is in dollars, and the"),
        ('[budget]\ncurrency = "GBP"\nper_year = ["1k", "$1k", 1]\n', "budget.per_year[2]: is in"),
        ('[budget]\ncurrency = "EUR"\ntotal = "-5"\n', "negative: write one such as 40000, 40k"),
        ('[budget]\ntotal = "40k euros"\n', "is in EUR, and the grant is in USD: write the"),
        ('[budget]\ntotal = "kEUR 40"\n', "budget.total: must be a number alone, or one with"),
        ('[budget]\ntotal = "€€5"\n', "budget.total: '€€5' has its currency twice: write it like"),
        ('[budget]\ntotal = "€5 $"\n', "budget.total: '€5 $' has two currencies: write it like"),
        ('[budget]\ntotal = "C$"\n', "budget.total: 'C$' has no amount: write it like 40k CAD"),
        ('[budget]\ntotal = "C$ 5k"\n', "is in CAD, and the grant is in USD: write the number"),
        ('[budget]\ntotal = "US$5k"\ncurrency = "CAD"\n', "is in USD, and the grant is in CAD"),
        (
            '[budget]\ntotal = "40k EUR"\n',
            "is in EUR, and the grant is in USD: write the",
        ),
        ('[budget]\ntotal = "€40,000"\n', ', or currency = "EUR" under [budget]'),
        ('[budget]\ntotal = "USD 40k"\ncurrency = "CAD"\n', "is in USD, and the grant is in CAD"),
        (f"[budget]\ntotal = 1_600_000_000_000\n{WON}", "budget.total: is over $1,000,000,000"),
        (f"[budget]\ntotal = 1\n{WON}[[allocations]]\n{HOURLY}2e6\n", "is over $1,000: write it"),
        (
            f'[budget]\n{WON}[[allocations]]\n{HOURLY}1\ncredit = "€5"\n',
            "allocations[1].credit: is in EUR, and the price of an hour in KRW: write both in one",
        ),
        (
            '[[allocations]]\nname = "c"\ngpu = "H100"\nmax_job_days = 5e-324\n',
            "allocations[1].max_job_days: must be a number from 0.01 to 365",
        ),
        (
            '[purchases]\nlifetime_years = 5\n[institution]\nrules = "horizon-europe"\n',
            "purchases.lifetime_years: the rules of Horizon Europe (",
        ),
        (
            '[[owned]]\ngpu = "H100"\ngpu_count = 1\nusable_from = 2040-01-01\n',
            "owned[1].usable_from: 2040-01-01 is after the grant, which ends on 2029-03-01: mend",
        ),
        (
            '[[costs]]\nname = "x"\nkind = "other"\namount = 1\nshare_of_price = 0.1\n',
            "costs[1]: needs either amount or share_of_price, and has both",
        ),
        ("[budget]\ncurrency = 5\n", 'must be text: write it between quotes, like "EUR"'),
        ("[institution]\nfiscal_year_start = 2027-07-01\n", 'between quotes, like "07-01"'),
        ("[rentals]\nkinds = [1]\n", "must be one of on-demand, spot, between quotes"),
        ("[evidence]\ntimes = 5\n", "must be one of published, sound, between quotes"),
        ("[running]\n[running]\n", "a key or a table is there twice (at line"),
        ("[running]\nslack = 0\nslack = 0\n", "column 10): remove one of the two"),
    ],
)
def test_what_is_wrong_with_a_term_is_said(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(InputError) as caught:
        read(tmp_path, SMALL + text)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_money_that_pays_for_no_training_is_not_said_to(store_path: Path, tmp_path: Path) -> None:
    text = (
        f"{SMALL}each_year = true\n[purchases]\nallowed = false\n[rentals]\nallowed = false\n"
        '[[owned]]\ngpu = "H100"\ngpu_count = 1\n'
        '[[costs]]\nname = "Papers"\nkind = "other"\namount = 900\n'
    )
    planned = plan_loaded(
        load_grant(Store(store_path), read(tmp_path, text), TODAY), 60, quick=True
    )
    said = to_markdown(report_for(planned).parts()[0])
    assert (
        "other costs (Papers). Beside it we do 2 runs of training on the machines that we" in said
    )


def test_free_hours_without_a_limit_are_told(store_path: Path, tmp_path: Path) -> None:
    text = f'{SMALL}[purchases]\nallowed = false\n[[allocations]]\nname = "Campus"\ngpu = "H100"\n'
    for limit in ("", "gpu_hours_a_year = 9000\n", "usd_per_gpu_hour = 0.1\n"):
        loaded = load_grant(Store(store_path), read(tmp_path, text + limit), TODAY)
        said = cautions(loaded.grant, loaded.problem, solve(loaded.problem))
        told = [each for each in said if "how many free hours Campus has" in each]
        assert len(told) == (0 if limit else 1)


def test_where_nothing_may_be_rented_granted_hours_are_looked_at() -> None:
    granted = make_rental("allocation:1:1", "0", {"a": 90.0})
    problem = make_problem(
        machines=(make_machine("own", "900", {"a": 30.0}),),
        rentals=(replace(granted, allocation="allocation:1", provider="Campus"),),
        allocations=(
            Allocation(allocation_id="allocation:1", name="Campus", gpu_hours_a_year=10.0),
        ),
        experiments=(make_experiment("one", "a", 2, 0, 100),),
    )
    labels = {each.label for each in explain(problem, solve(problem)).alternatives}
    assert "buy nothing, use Campus instead" in labels


def with_machines(loaded: Loaded, machines: tuple[Machine, ...]) -> Loaded:
    return replace(loaded, problem=replace(loaded.problem, machines=machines))


def test_a_purchase_without_a_run_is_told_of_first(store_path: Path) -> None:
    loaded = load_grant(Store(store_path), read_grant(EXAMPLE), TODAY)
    plan = solve(loaded.problem)
    (bought,) = plan.purchases
    words = "No run is done on some of what this plan buys: "
    assert not any(words in each for each in cautions(loaded.grant, loaded.problem, plan))
    placed = tuple(
        p for p in plan.placed if loaded.problem.whole(p.machine_id) != bought.machine_id
    )
    first, *_ = cautions(loaded.grant, loaded.problem, replace(plan, placed=placed))
    assert first.startswith(words)
    assert first.endswith("More --seconds may find a plan without it.")
    lasting = replace(loaded.grant, lifetime_years=Decimal(5))
    first, *_ = cautions(lasting, loaded.problem, replace(plan, placed=placed))
    assert first.endswith("Leave lifetime_years out under [purchases] and plan again.")


def test_a_purchase_that_nobody_sells_is_told(store_path: Path) -> None:
    loaded = load_grant(Store(store_path), read_grant(EXAMPLE), TODAY)
    plan = solve(loaded.problem)
    (bought,) = {p.machine_id for p in plan.purchases}
    for on_sale in (True, False):
        machines = tuple(
            replace(m, on_sale=on_sale) if m.machine_id == bought else m
            for m in loaded.problem.machines
        )
        said = cautions(loaded.grant, replace(loaded.problem, machines=machines), plan)
        assert ("Nobody is known to sell" in said[0]) is not on_sale
        sentence = plan_sentence(with_machines(loaded, machines), plan)
        assert sentence.startswith("Find a seller of ") is not on_sale
    for kind in ("list", "parts-list"):
        line = PriceLine(
            item_kind="host",
            item_id="box",
            label="Box",
            quantity=1,
            unit_usd=Decimal(1),
            quote_id="q",
            quote_kind=kind,
            vendor="Shop",
            quoted_on=TODAY,
            source_id="s",
        )
        machines = tuple(replace(m, lines=(line,)) for m in loaded.problem.machines)
        said = cautions(loaded.grant, replace(loaded.problem, machines=machines), plan)
        words = "The price of the Box is added up from Shop's options: nobody quoted it."
        assert any(words in text for text in said) is (kind == "parts-list")
        sentence = plan_sentence(with_machines(loaded, machines), plan)
        assert sentence.startswith("Ask Shop to quote ") is (kind == "parts-list")


def test_cautions_name_electricity_and_what_is_not_asked_for(
    store_path: Path, tmp_path: Path
) -> None:
    grant = read(
        tmp_path,
        SMALL + "[rentals]\nallowed = false\n[electricity]\nusd_per_kwh = 0.1\n"
        '[[costs]]\nname = "disks"\nkind = "storage"\namount = 100\n',
    )
    assert "storage" not in not_asked_for(grant)
    assert "staff" in not_asked_for(grant)
    loaded = load_grant(Store(store_path), grant, TODAY)
    said = " ".join(cautions(grant, loaded.problem, solve(loaded.problem)))
    assert "part of overhead" in said
    assert "Not asked for: network" in said


@pytest.mark.parametrize(("lead", "says"), [("", True), ("[purchases]\nlead_days = 45\n", False)])
def test_a_machine_that_needs_no_delivery_is_told_of(
    lead: str, says: bool, store_path: Path, tmp_path: Path
) -> None:
    grant = read(tmp_path, f"{SMALL}{lead}[rentals]\nallowed = false\n")
    loaded = load_grant(Store(store_path), grant, TODAY)
    plan = solve(loaded.problem)
    assert plan.purchases
    said = " ".join(cautions(grant, loaded.problem, plan))
    assert ("No days are kept for delivery" in said) is says


def test_rates_without_processor_and_memory_are_no_whole_price(store_path: Path) -> None:
    grant = replace(read_grant(EXAMPLE), rent_providers=None)
    loaded = load_grant(Store(store_path), grant, TODAY)
    assert any("leave out processor" in each.reason for each in loaded.left_out)
    bare = {offer.rental_id for offer in loaded.rentals.values() if offer.leaves_out}
    assert bare == set()


def test_every_field_that_is_wrong_is_named(tmp_path: Path) -> None:
    text = EXAMPLE.read_text(encoding="utf-8")
    assert check_grant(text, EXAMPLE).grant is not None
    broken = text.replace("years = 3", "years = 99").replace("utilisation = 0.8", "utilisation = 4")
    found = check_grant(broken.replace("by = 2027-06-01", 'by = "soon"'), EXAMPLE)
    assert set(found.errors) == {"grant.years", "running.utilisation", "experiments[5].by"}
    assert set(check_grant("[grant", EXAMPLE).errors) == {""}


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 4000), st.integers(0, 30), st.text(max_size=5))
def test_no_text_is_a_traceback(at: int, length: int, instead: str) -> None:
    text = EXAMPLE.read_text(encoding="utf-8")
    found = check_grant(text[:at] + instead + text[at + length :], EXAMPLE)
    assert (found.grant is None) == bool(found.errors)


# While it computes


def test_progress_tells_the_plan_and_the_bound() -> None:
    problem = make_problem(
        experiments=(make_experiment("e", "a", 3, 0, 100),),
        machines=tuple(
            make_machine(f"m{n}", str(1000 + 90 * n), {"a": 60.0 - 5 * n}) for n in range(5)
        ),
    )
    heard: list[Progress] = []
    plan = solve(problem, clock=clock_of(30, hear=heard.append))
    assert heard[0].plan is None
    assert [p for p in heard if p.plan is not None]
    assert all(p.plan.cost_cents >= plan.cost_cents for p in heard if p.plan is not None)
    assert all(p.trying for p in heard)


@pytest.mark.parametrize(
    ("odds", "how"),
    [("1", "on granted, whose hours cost nothing"), ("0.5", "on buy, by somebody who has one")],
)
def test_nobody_is_told_to_measure_on_hours_that_may_not_be_awarded(odds: str, how: str) -> None:
    """Campus has the GPU of the machine, whose time decides whether it is bought."""
    rent, granted = allocated().rentals
    machine = make_machine("buy", "200", {"a": 40.0}, gpu_id="gpu-granted")
    problem = allocated(
        machines=(machine,),
        rentals=(rent, replace(granted, times={"a": make_time(99.0)})),
        allocations=(replace(allocated().allocations[0], odds=Decimal(odds)),),
    )
    plan = solve(problem)
    assert plan.purchases
    asked = [found.text() for found in explain(problem, plan).ask]
    assert any(f"a measurement of a {how}" in text for text in asked), asked
