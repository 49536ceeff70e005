"""Grants from files: read or refused in one line, impossible ones relaxed, answered in words."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from advisor.answers.plan.plan_calendar import calendar_lines
from advisor.planning.currency import shipped_rates
from advisor.planning.grant.institution import meanings, shipped
from advisor.planning.grant.problem_of_grant import load
from advisor.planning.grant.read_grant import read_grant
from advisor.planning.plan_grant import EXAMPLE, load_grant, plan_loaded
from advisor.planning.planned_grant import Planned
from advisor.planning.sensitivity.changes import vary
from advisor.planning.sensitivity.explain import explain
from advisor.planning.sensitivity.infeasible import first_run, relax
from advisor.planning.solver.money.arithmetic import PLAIN
from advisor.planning.solver.money.cents import kept_value, purchase_cents
from advisor.planning.solver.money.prices import equipment_base, price_lines
from advisor.planning.solver.problem import Rules
from advisor.planning.solver.search_clock import NoPlan, clock_of
from advisor.planning.solver.solve import is_feasible, solve
from advisor.ranking.snapshot import take_snapshot
from advisor.store import Store
from advisor.typed_input import InputError
from price_catalog.power import LEAST_EFFICIENCY, wall_w
from tests.planning.grant_files import SMALL, changed, grant_file, refused
from tests.plans_for_tests import (
    make_experiment,
    make_machine,
    make_problem,
    make_rental,
    random_problem,
)


def test_the_example_and_the_shipped_rules_are_read() -> None:
    grant = read_grant(EXAMPLE)
    assert grant.budget == 120_000
    assert (grant.months, len(grant.experiments), grant.owned[0].gpu_count) == (36, 6, 2)
    assert {"us-equipment-10000", "us-equipment-5000", "dfg", "horizon-europe"} < set(shipped())
    assert set(grant.institution.sources) <= set(meanings("institution"))
    assert grant.institution.equipment_threshold == 10_000


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("total =", "totl =", ["budget.totl", "did you mean 'total'"]),
        ("[rentals]", "[rental]", ["rental", "did you mean 'rentals'"]),
        ('"$30,000"', '"40.000"', ["budget.total", "40", "or 40,000: write 40 or 40000"]),
        ('"$30,000"', '"-5"', ["budget.total", "negative"]),
        ('"$30,000"', "true", ["budget.total", "must be an amount"]),
        ('"$30,000"', "nan", ["budget.total", "not an amount"]),
        ("years = 1", "years = 0", ["grant.years", "from 1 to 15"]),
        ("years = 1", "years = 1.5", ["grant.years", "whole number"]),
        ("start = 2027-01-01", 'start = "soon"', ["grant.start", "date"]),
        ("start = 2027-01-01", "start = 9999-06-01", ["grant.start", "between the years 2000"]),
        ("start = 2027-01-01", "start = 2027-01-01T10:00:00", ["grant.start", "date"]),
        ("start = 2027-01-01", "", ["grant.start: is missing; it must be a date"]),
        ('model = "pythia-410m"', "runs = 2", ["experiments[1].model: is missing: write model ="]),
        ("[rentals]", '[[owned]]\ngpu = ""\n[rentals]', ["owned[1].gpu: is empty: write a text"]),
        ("[grant]", "[grant", ["not valid TOML"]),
        ("2027-01-01", "2027-02-30", ["'start' (at line 3) is no day of the calendar"]),
        ("[evidence]", '[evidence]\ntimes = "sond"', ["evidence.times", "'sound'"]),
        ("[evidence]", '[evidence]\nprices = "newest"', ["evidence.prices", "latest"]),
        ("allowed = false", 'kinds = ["spott"]', ["rentals.kinds", "spot"]),
        ("[rentals]", "[purchases]\nyears = [2]\n[rentals]", ["purchases.years", "from 1 to 1"]),
        (
            "[rentals]",
            '[institution]\nrules = "us-equipment-1000"\n[rentals]',
            ["institution.rules", "us-equipment-10000"],
        ),
        ("[budget]", "[budget]\nper_year = [1, 2]", ["budget.per_year", "2 amounts for 1 year"]),
        ('model = "pythia-410m"', 'model = "a"\nby = 2028-06-01', ["experiments[1].by", "outside"]),
        (
            'model = "pythia-410m"',
            'model = "a"\neach_year = true\nby = 2027-06-01',
            ["experiments[1].by", "each year"],
        ),
        ('model = "pythia-410m"', 'model = "a"\nruns = 0', ["experiments[1].runs", "from 1"]),
    ],
)
def test_what_is_wrong_is_said_with_file_and_key(
    tmp_path: Path, old: str, new: str, words: list[str]
) -> None:
    assert old in SMALL
    message = refused(tmp_path, SMALL.replace(old, new, 1))
    for word in words:
        assert word in message


def test_an_experiment_asked_for_twice_is_refused(tmp_path: Path) -> None:
    twice = SMALL + '[[experiments]]\nmodel = "pythia-410m"\n'
    assert "is there twice" in refused(tmp_path, twice)
    nothing = SMALL.replace('[[experiments]]\nmodel = "pythia-410m"', "")
    assert "asks for no experiment" in refused(tmp_path, nothing)


def test_an_institution_s_own_file_and_currency(tmp_path: Path) -> None:
    (tmp_path / "ours.toml").write_text(
        'name = "Ours"\nequipment_threshold_usd = 5000\noverhead_rate = 0.25\ncurrency = "EUR"\n'
        "usd_per_unit = 1.1\nusd_per_unit_on = 2026-11-01\n"
    )
    text = SMALL.replace("$", "") + '[institution]\nrules = "ours.toml"\n'
    grant = read_grant(grant_file(tmp_path, text))
    assert grant.budget == 30_000
    without = 'name = "Ours"\nequipment_threshold_usd = 5000\noverhead_rate = 0.25\ncurrency = '
    (tmp_path / "ours.toml").write_text(f'{without}"EUR"\n')
    shipped_rate = read_grant(grant_file(tmp_path, text)).currency
    assert shipped_rate == shipped_rates()["EUR"]
    (tmp_path / "ours.toml").write_text(f'{without}"NOK"\n')
    with pytest.raises(InputError, match=r"ours\.toml, currency.*usd_per_unit"):
        read_grant(grant_file(tmp_path, text))


def test_files_that_are_no_grant(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no file.*absent\.toml.*advisor plan --example"):
        read_grant(tmp_path / "absent.toml")
    (tmp_path / "bytes.toml").write_bytes(b'[grant]\ntitle = "\xe9"\n')
    with pytest.raises(InputError, match=r"not UTF-8 text \(line 2\): save it as UTF-8, or give"):
        read_grant(tmp_path / "bytes.toml")
    with pytest.raises(InputError, match=r"directory\): .*advisor plan --example"):
        read_grant(tmp_path)
    (tmp_path / "deep.toml").write_text("a = " + "[" * 100_000)
    with pytest.raises(InputError, match="not valid TOML: tables or lists stand too deeply"):
        read_grant(tmp_path / "deep.toml")
    (tmp_path / "large.toml").write_text("#" * 1_000_001)
    with pytest.raises(InputError, match=r"larger than 1,000,000 bytes.*advisor plan --example"):
        read_grant(tmp_path / "large.toml")


def test_rules_that_are_no_file_are_mended_by_shipped_ones(tmp_path: Path) -> None:
    text = f'{SMALL}[institution]\nrules = "theirs.toml"\n'
    with pytest.raises(InputError, match=r"no file.*theirs\.toml.*us-equipment-10000") as caught:
        read_grant(grant_file(tmp_path, text))
    assert "--example" not in str(caught.value)


# The money rules


def test_equipment_is_judged_whole_or_by_its_parts() -> None:
    machine = make_machine("m", "6000", {"a": 1.0})
    rules = Rules(equipment_threshold=Decimal(5000), overhead_rate=Decimal("0.5"))
    assert purchase_cents(machine, rules) == 6000_00
    assert purchase_cents(machine, replace(rules, equipment_in_base=True)) == 9000_00
    dearer = replace(rules, equipment_threshold=Decimal(10_000))
    assert purchase_cents(machine, dearer) == 9000_00
    parts = replace(
        machine,
        lines=(
            replace(machine.lines[0], unit_price=Decimal(1000), quantity=4, item_id="gpu"),
            replace(machine.lines[0], unit_price=Decimal(8000)),
        ),
    )
    lines = price_lines(PLAIN, parts, rules)
    assert equipment_base(PLAIN, parts, lines, parts.price, rules, 0) == 0
    apart = replace(rules, fabrication_is_equipment=False)
    assert equipment_base(PLAIN, parts, lines, parts.price, apart, 0) == 4000


def test_what_a_machine_keeps_falls_to_nothing_and_not_below() -> None:
    problem = make_problem(year_days=(0, 365, 730), rules=Rules(lifetime_years=Decimal(1)))
    machine = make_machine("m", "1000", {"a": 1.0})
    assert kept_value(machine, 0, problem) == 0
    longer = replace(problem, rules=Rules(lifetime_years=Decimal(4)))
    assert [kept_value(machine, year, longer) for year in (0, 1)] == [500, 750]


@settings(max_examples=60, deadline=None)
@given(
    st.builds(
        Rules,
        lifetime_years=st.sampled_from([Decimal(1), Decimal(3), Decimal(10)]),
        discount=st.sampled_from([Decimal(0), Decimal("0.3")]),
        cost_share=st.sampled_from([Decimal(0), Decimal("0.5")]),
        price_change=st.sampled_from([Decimal(0), Decimal("-0.5"), Decimal("0.5")]),
        vat=st.sampled_from([Decimal(0), Decimal("0.2")]),
        life_months=st.sampled_from([None, 24]),
        lead_days=st.sampled_from([0, 400]),
        overhead_rate=st.sampled_from([Decimal(0), Decimal("0.5")]),
    ),
    st.sampled_from([0, 1]),
)
def test_no_machine_is_worth_more_after_the_grant_than_it_was_charged(
    rules: Rules, year: int
) -> None:
    problem = make_problem(year_days=(0, 365, 730), rules=replace(rules, grant_months=24))
    machine = make_machine("m", "1000", {"a": 1.0})
    kept = kept_value(machine, year, problem)
    assert 0 <= kept * 100 <= purchase_cents(machine, problem.rules, problem.orders[year])
    if rules.life_months is not None:
        assert kept == 0  # what it loses is all that is charged


@pytest.mark.parametrize("host_watts", [0, 300])
def test_a_build_draws_the_same_everywhere(store_path: Path, host_watts: int) -> None:
    """Every machine that a plan may buy draws what `advisor prices cost` counts with.

    Where the catalogue does not know the processors, the grant's own figure takes the place of
    the estimate; nothing is never counted for them.
    """
    grant = changed(
        read_grant(EXAMPLE),
        objective="most-runs",
        electricity={"host_watts": Decimal(host_watts)},
        owned=(),
    )
    wanted, loaded = grant.experiments[0], []
    with Store(store_path).reading() as reader:
        snapshot = take_snapshot(reader)
        # What a machine draws hangs on no model, and with one of each family every machine that
        # any of the models can be trained on is there.
        for recipe_id in {model.family: model.recipe_id for model in snapshot.models}.values():
            only = replace(grant, experiments=(structs.replace(wanted, model=recipe_id),))
            loaded.append(load(reader, snapshot, only, date(2026, 11, 21)))
    counted = 0
    for machine, build in {
        machine.machine_id: (machine, found.builds[machine.machine_id])
        for found in loaded
        for machine in found.problem.machines
        if machine.part_of is None
    }.values():
        host = build.host
        expected = wall_w(build)
        if host_watts and host.base_w is None and host.wall_w is None:
            expected = (build.gpu.tdp_w or 0) * build.gpu_count + host_watts
            expected /= host.psu_efficiency or LEAST_EFFICIENCY
        assert machine.power is not None
        power_w = machine.power.wall_w
        assert power_w is not None
        assert float(power_w) == pytest.approx(expected)
        assert float(power_w) > (build.gpu.tdp_w or 0) * build.gpu_count
        counted += 1
    assert counted > 30


def test_machines_of_the_lab_draw_their_gpus_and_what_the_grant_says(
    store_path: Path, tmp_path: Path
) -> None:
    text = SMALL.replace("pythia-410m", "pythia-2.8b")
    text += (
        '[[owned]]\ngpu = "RTX A6000"\ngpu_count = 2\nfree_slots = 2\n'
        "[electricity]\nusd_per_kwh = 0.1\nhost_watts = 250\n"
    )
    grant = read_grant(grant_file(tmp_path, text))
    loaded = load_grant(Store(store_path), grant, date(2026, 11, 21))
    # Others tell of what such a card costs.
    watts = {m.gpu_count: m.power for m in loaded.with_told if m.owned or m.upgrade_of}
    assert {count: power and power.wall_w for count, power in watts.items()} == {2: 850, 4: 1450}


# Impossible plans


def test_impossible_plans_say_what_to_relax_and_by_how_much() -> None:
    problem = make_problem(
        year_days=(0, 200),
        experiments=(make_experiment("e", "a", 4, 0, 100),),
        machines=(make_machine("buy", "1000", {"a": 40.0}),),
        budget_cents=1200_00,
        max_machines=1,
    )
    with pytest.raises(NoPlan):
        solve(problem)
    assert [f.text() for f in relax(problem)] == [
        "move every deadline (the dates after by) 60 days later",
        "leave out 2 runs (e)",
    ]
    both = (make_experiment("e", "a", 3, 0, 100), make_experiment("f", "a", 3, 0, 100))
    (*_, left) = relax(replace(problem, experiments=both))
    assert re.fullmatch(r"leave out 4 runs \([1-3] of e; [1-3] of f\)", left.text())
    texts = [f.text() for f in relax(replace(problem, max_machines=None))]
    assert texts[0] == "raise the budget by $800, to $2,000"
    assert "allow 2 machines to be bought" in [
        f.text() for f in relax(replace(problem, budget_cents=None))
    ]


def test_deadlines_that_are_moved_as_it_says_make_a_plan(tmp_path: Path, store_path: Path) -> None:
    """A run of each year has none, and the end of a grant is its funder's."""
    text = """[grant]
start = 2027-01-01
years = 2
[purchases]
allowed = false
[rentals]
allowed = false
[[owned]]
gpu = "A6000"
gpu_count = 4
[[experiments]]
model = "vit"
each_year = true
[[experiments]]
model = "pythia-410m"
runs = 4
by = {}
"""

    def planned(by: date) -> Planned:
        grant = read_grant(grant_file(tmp_path, text.format(by)))
        return plan_loaded(load_grant(Store(store_path), grant, date(2026, 11, 21)), 30, quick=True)

    first = date(2027, 3, 1)
    later = [way.change["later_days"] for way in planned(first).ways_out if "later" in way.text()]
    assert len(later) == 1
    assert planned(first + timedelta(days=later[0])).plan is not None
    assert planned(first + timedelta(days=later[0] - 1)).plan is None


def test_a_larger_budget_says_whether_the_years_have_to_have_it_otherwise() -> None:
    problem = make_problem(
        year_days=(0, 100, 200),
        experiments=(make_experiment("e", "a", 1, 0, 100),),
        machines=(make_machine("buy", "1000", {"a": 40.0}),),
        budget_cents=500_00,
    )
    for by_year, then in (((1000_00, 0), ""), ((250_00, 250_00), ", to spend in any year")):
        first, *_ = relax(replace(problem, year_budget_cents=by_year))
        assert first.text() == f"raise the budget by $500, to $1,000{then}"


def test_an_experiment_that_no_machine_can_do_is_named() -> None:
    problem = make_problem(
        experiments=(
            make_experiment("late", "a", 1, 90, 100),
            make_experiment("never", "b", 1, 0, 100),
        ),
        machines=(make_machine("buy", "1000", {"a": 40.0}),),
    )
    late, never = (f.text() for f in relax(problem))
    assert late == "late: even buy would be 30 days late: allow faster machines or leave it out"
    longer, _ = (f.text() for f in relax(replace(problem, year_days=(0, 200))))
    assert longer.endswith("30 days late: move its date or leave it out")
    assert never.startswith("never: no machine that may be bought")


def test_each_way_out_is_one() -> None:
    """What is proposed does make a plan possible, and a day or a dollar less does not."""
    seen = 0
    for seed in range(150):
        problem = replace(random_problem(seed), objective="cheapest")
        if is_feasible(problem):
            continue
        for finding in relax(problem):
            for number in finding.words:
                if isinstance(number, str) or number.reads == "direct":
                    continue
                seen += 1
                if number.reads == "left-out":
                    left = sum(solve(vary(problem, number.change)).left_out.values())
                    assert left == number.value
                    continue
                assert is_feasible(vary(problem, number.change)), (seed, finding)
                if number.reads == "least" and number.value > 1:
                    less = {"later_days": int(number.value) - 1}
                    assert not is_feasible(vary(problem, less)), (seed, finding)
                if number.reads == "over-budget" and problem.year_budget_cents is None:
                    assert problem.budget_cents is not None
                    cents = problem.budget_cents + int(number.value * 100)
                    assert is_feasible(vary(problem, {"budget_cents": cents}))
                    assert not is_feasible(vary(problem, {"budget_cents": cents - 1}))
    assert seen > 20


def test_the_least_money_is_what_the_minima_take() -> None:
    """Of ten runs three must be done; the others need no money."""
    few = replace(make_experiment("e", "a", 10, 0, 100), min_runs=3)
    problem = make_problem(
        experiments=(few, make_experiment("f", "a", 5, 0, 100)),
        machines=(make_machine("buy", "1000", {"a": 50.0}),),
        budget_cents=1500_00,
        objective="most-runs",
    )
    money, fewer = (finding.text() for finding in relax(problem))
    assert money == "raise the budget by $500, to $2,000"
    assert fewer == "lower min_runs by 1 run (e)"
    assert solve(replace(problem, budget_cents=2000_00)).runs >= 3
    with pytest.raises(NoPlan):
        solve(replace(problem, budget_cents=2000_00 - 1))


def test_the_limit_of_a_run_is_named_where_it_leaves_no_run() -> None:
    rules = Rules(longest_run_days=Decimal(90), utilisation=Decimal("0.5"))
    problem = make_problem(
        year_days=(0, 365),
        experiments=(make_experiment("e", "a", 2, 0, 365),),
        machines=(make_machine("slow", "1000", {"a": 60.0}), make_machine("f", "5000", {"a": 9.0})),
        budget_cents=1500_00,
        rules=rules,
    )
    for objective in ("cheapest", "most-runs"):
        asked = replace(problem, objective=objective)
        found = first_run(asked, clock_of(10)) if objective == "most-runs" else relax(asked)
        (longer,) = (each for each in found if each.text().startswith("raise longest_run_days"))
        assert "90 now, to 120 days" in longer.text()
        assert longer.change == {"longest_run_days": 120}
        assert solve(vary(asked, longer.change)).runs == 2


# What binds, what would flip


def test_more_money_is_said_to_do_as_many_runs_as_it_does() -> None:
    """The least money for one run more buys a machine that does several."""
    problem = make_problem(
        experiments=(make_experiment("e", "a", 12, 0, 100),),
        machines=(make_machine("buy", "1000", {"a": 25.0}),),
        budget_cents=1500_00,
        objective="most-runs",
    )
    plan = solve(problem)
    assert plan.runs == 4
    binds = [each.text() for each in explain(problem, plan, thresholds=False).binds]
    assert binds[0] == "the budget: $500 more would add 4 runs"
    assert not any(text.startswith("the budget") for text in binds[1:])


def test_money_of_any_year_is_no_more_money() -> None:
    """In the first year $600; $1,500 at once does 5 of the 12 runs, and not all."""
    problem = make_problem(
        year_days=(0, 365, 730),
        experiments=(make_experiment("e", "a", 12, 0, 100),),
        machines=(
            make_machine("buy", "1000", {"a": 25.0}),
            make_machine("slow", "500", {"a": 100.0}),
        ),
        year_budget_cents=(600_00, 900_00),
        objective="most-runs",
    )
    plan = solve(problem)
    assert plan.runs == 1
    binds = [each.text() for each in explain(problem, plan, thresholds=False).binds]
    assert "with money that may be spent in any year: 4 runs more" in binds


def test_rent_over_the_budget_is_compared_however_many_machines_there_are() -> None:
    """A report says why it does not rent: $2,400 of $2,000, beside four dearer machines."""
    machines = [make_machine(f"buy{n}", str(1500 + 50 * n), {"a": 10.0 - n}) for n in range(6)]
    problem = make_problem(
        experiments=(make_experiment("e", "a", 1, 0, 100),),
        machines=tuple(machines),
        rentals=(make_rental("rent", "10.00", {"a": 10.0}),),
        budget_cents=2000_00,
    )
    others = explain(problem, solve(problem), thresholds=False).alternatives
    assert sum(not other.over_budget for other in others) == 3
    rent = next(other for other in others if other.label == "buy nothing, rent instead")
    assert rent.over_budget and rent.plan is not None and rent.plan.cost_cents == 2400_00


def test_what_is_later_and_within_the_budget_is_not_called_over_it() -> None:
    """Sought is the soonest; the machine that is bought is slower, and comes a year too late."""
    problem = make_problem(
        experiments=(make_experiment("e", "a", 4, 0, 700),),
        machines=(make_machine("slow", "900", {"a": 80.0}),),
        rentals=(make_rental("fast", "10.00", {"a": 3.0}),),
        budget_cents=4000_00,
        objective="soonest",
        year_days=(0, 365, 730),
    )
    others = explain(problem, solve(problem), thresholds=False).alternatives
    assert len(others) >= 2
    for other in others:
        assert other.plan is not None
        assert other.over_budget is (other.plan.cost_cents > 4000_00)


def test_instances_that_do_the_same_are_one_line_of_the_calendar() -> None:
    problem = make_problem(
        experiments=(make_experiment("first", "a", 3, 0, 365),),
        machines=(),
        rentals=(make_rental("rent", "1.00", {"a": 60.0}),),
    )
    lines = calendar_lines(problem, solve(problem), width=60)
    assert [line.split("  ")[0] for line in lines if line[0] != " "] == ["rent × 3", "a first"]


def test_random_calendars_fit_their_width() -> None:
    for seed in range(40):
        problem = random_problem(seed)
        try:
            plan = solve(problem)
        except NoPlan:
            continue
        for width in (40, 80):
            assert all(len(line) <= width for line in calendar_lines(problem, plan, width))
