"""Grants from files: read or refused in one line, impossible ones relaxed, answered in words."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from decimal import Decimal
from pathlib import Path
from random import Random
from time import monotonic, sleep
from typing import Any
from urllib.parse import unquote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from advisor.answers.plan_calendar import calendar_lines
from advisor.cli.main import main
from advisor.parse import InputError
from advisor.planning import solver_process
from advisor.planning.capacity import problems_of, reach, timed_models
from advisor.planning.grant.currency import find_currency
from advisor.planning.grant.grant import read_grant
from advisor.planning.grant.institution import MEANINGS, shipped
from advisor.planning.grant.problem_of_grant import load
from advisor.planning.plan_grant import EXAMPLE, PlanTask, load_grant
from advisor.planning.sensitivity.changes import vary
from advisor.planning.sensitivity.explain import explain
from advisor.planning.sensitivity.infeasible import relax
from advisor.planning.solver.arithmetic import PLAIN
from advisor.planning.solver.prices import equipment_base, price_lines
from advisor.planning.solver.problem import Allocation, PlanningProblem, Rules
from advisor.planning.solver.search_clock import NoPlan
from advisor.planning.solver.solve import is_feasible, solve
from advisor.planning.solver.whole_cents import kept_value_usd, purchase_cents, run_cents
from advisor.planning.solver_process import Cancelled, Search
from advisor.ranking.snapshot import take_snapshot
from advisor.store import Store
from price_catalog.power import LEAST_EFFICIENCY, wall_w
from tests.plans_for_tests import (
    make_experiment,
    make_machine,
    make_problem,
    make_rental,
    random_problem,
)

SMALL = """
[grant]
start = 2027-01-01
years = 1
[budget]
total = "$30,000"
[evidence]
predictions = false
[[experiments]]
model = "pythia-410m"
[rentals]
allowed = false
"""


FREELY = """
[running]
slack = 0
longest_run_days = 5000
share_gpus = false
"""
"""As long as a run takes, up to the last day, on a whole machine."""


def grant_file(folder: Path, text: str) -> Path:
    path = folder / "grant.toml"
    path.write_text(text, encoding="utf-8")
    return path


def refused(folder: Path, text: str) -> str:
    with pytest.raises(InputError) as caught:
        read_grant(grant_file(folder, text))
    message = str(caught.value)
    assert "\n" not in message
    assert "grant.toml" in message
    return message


def test_the_example_and_the_shipped_rules_are_read() -> None:
    grant = read_grant(EXAMPLE)
    assert grant.budget_usd == 120_000
    assert (grant.years, len(grant.experiments), grant.owned[0].gpu_count) == (3, 6, 2)
    assert {"us-equipment-10000", "us-equipment-5000", "dfg", "horizon-europe"} < set(shipped())
    assert set(grant.institution.sources) <= set(MEANINGS)
    assert grant.institution.equipment_threshold_usd == 10_000


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("total =", "totl =", ["budget.totl", "did you mean 'total'"]),
        ("[rentals]", "[rental]", ["rental", "did you mean 'rentals'"]),
        ('model = "pythia-410m"', "modle = 1", ["experiments[1].modle", "'model'"]),
        ('"$30,000"', '"40.000"', ["budget.total", "40", "or 40,000: write 40 or 40000"]),
        ('"$30,000"', '"€30,000"', ["budget.total", "is in EUR, and the grant is in USD"]),
        ('"$30,000"', '"-5"', ["budget.total", "negative"]),
        ('"$30,000"', "true", ["budget.total", "must be an amount"]),
        ('"$30,000"', "nan", ["budget.total", "not an amount"]),
        ("years = 1", "years = 0", ["grant.years", "from 1 to 15"]),
        ("years = 1", "years = 1.5", ["grant.years", "whole number"]),
        ("start = 2027-01-01", 'start = "soon"', ["grant.start", "date"]),
        ("start = 2027-01-01", "start = 2027-01-01T10:00:00", ["grant.start", "date"]),
        ("start = 2027-01-01", "", ["grant.start: is missing; it must be a date"]),
        ('model = "pythia-410m"', "runs = 2", ["experiments[1].model: is missing: write model ="]),
        ("[rentals]", '[[owned]]\ngpu = ""\n[rentals]', ["owned[1].gpu: is empty: write a text"]),
        ("[grant]", "[grant", ["not valid TOML"]),
        ("[evidence]", '[evidence]\ntimes = "sond"', ["evidence.times", "'sound'"]),
        ("[evidence]", '[evidence]\nprices = "newest"', ["evidence.prices", "latest"]),
        ("allowed = false", 'kinds = ["spott"]', ["rentals.kinds", "spot"]),
        ("[rentals]", "[purchases]\nyears = [2]\n[rentals]", ["purchases.years", "from 1 to 1"]),
        (
            "[rentals]",
            '[institution]\nrules = "us-equipment-1000"\n[rentals]',
            ["institution.rules", "us-equipment-10000"],
        ),
        (
            "[rentals]",
            "[running]\nutilisation = 1.5\n[rentals]",
            ["running.utilisation", "above 0 and at most 1"],
        ),
        ("[budget]", "[budget]\nper_year = [1, 2]", ["budget.per_year", "2 amounts for 1 year"]),
        ('model = "pythia-410m"', 'model = "a"\nby = 2028-06-01', ["experiments[1].by", "outside"]),
        (
            'model = "pythia-410m"',
            'model = "a"\neach_year = true\nby = 2027-06-01',
            ["experiments[1].by", "each year"],
        ),
        ('model = "pythia-410m"', 'model = "a"\nruns = 0', ["experiments[1].runs", "from 1"]),
        (
            "[rentals]",
            "[electricity]\nusd_per_kwh = 0\n[rentals]",
            ["electricity.usd_per_kwh", "above 0"],
        ),
    ],
)
def test_what_is_wrong_is_said_with_file_and_key(
    tmp_path: Path, old: str, new: str, words: list[str]
) -> None:
    assert old in SMALL
    message = refused(tmp_path, SMALL.replace(old, new, 1))
    for word in words:
        assert word in message


def test_amounts_are_read_as_people_write_them(tmp_path: Path) -> None:
    for text, usd in (('"40k"', 40_000), ('"$40,000"', 40_000), ("40000", 40_000)):
        path = grant_file(tmp_path, SMALL.replace('"$30,000"', text))
        assert read_grant(path).budget_usd == usd


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
    assert grant.budget_usd == Decimal("33000.00")
    without = 'name = "Ours"\nequipment_threshold_usd = 5000\noverhead_rate = 0.25\ncurrency = '
    (tmp_path / "ours.toml").write_text(f'{without}"EUR"\n')
    shipped_rate = read_grant(grant_file(tmp_path, text)).currency
    assert shipped_rate == find_currency("", "EUR", None, None, None)
    (tmp_path / "ours.toml").write_text(f'{without}"NOK"\n')
    with pytest.raises(InputError, match=r"ours\.toml, currency.*usd_per_unit"):
        read_grant(grant_file(tmp_path, text))


def test_files_that_are_no_grant(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no file.*absent\.toml.*advisor plan --example"):
        read_grant(tmp_path / "absent.toml")
    (tmp_path / "bytes.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="not UTF-8"):
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


def test_no_broken_file_gets_a_traceback(tmp_path: Path) -> None:
    """Single characters of the example changed, 300 times: read or refused in one line."""
    text = EXAMPLE.read_text(encoding="utf-8")
    random = Random(3)
    for _ in range(300):
        at = random.randrange(len(text))
        changed = text[:at] + random.choice('"[]={}\n\\#x9-.,\0é') + text[at + 1 :]
        try:
            read_grant(grant_file(tmp_path, changed))
        except InputError as error:
            assert "\n" not in str(error)


# The money rules


def test_equipment_is_judged_whole_or_by_its_parts() -> None:
    machine = make_machine("m", "6000", {"a": 1.0})
    rules = Rules(equipment_threshold_usd=Decimal(5000), overhead_rate=Decimal("0.5"))
    assert purchase_cents(machine, rules) == 6000_00
    assert purchase_cents(machine, replace(rules, equipment_in_base=True)) == 9000_00
    dearer = replace(rules, equipment_threshold_usd=Decimal(10_000))
    assert purchase_cents(machine, dearer) == 9000_00
    parts = replace(
        machine,
        lines=(
            replace(machine.lines[0], unit_usd=Decimal(1000), quantity=4, item_id="gpu"),
            replace(machine.lines[0], unit_usd=Decimal(8000)),
        ),
    )
    lines = price_lines(PLAIN, parts)
    assert equipment_base(PLAIN, parts, lines, rules) == 0
    apart = replace(rules, fabrication_is_equipment=False)
    assert equipment_base(PLAIN, parts, lines, apart) == 4000


def test_what_a_machine_keeps_falls_to_nothing_and_not_below() -> None:
    problem = make_problem(year_days=(0, 365, 730), rules=Rules(lifetime_years=Decimal(1)))
    machine = make_machine("m", "1000", {"a": 1.0})
    assert kept_value_usd(machine, 0, problem) == 0
    longer = replace(problem, rules=Rules(lifetime_years=Decimal(4)))
    assert [kept_value_usd(machine, year, longer) for year in (0, 1)] == [500, 750]


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
    kept = kept_value_usd(machine, year, problem)
    assert 0 <= kept * 100 <= purchase_cents(machine, problem.rules, problem.orders[year])
    if rules.life_months is not None:
        assert kept == 0  # what it loses is all that is charged


@pytest.mark.parametrize("terms", [{"discount": Decimal("0.3")}, {"cost_share": Decimal("0.5")}])
def test_no_machine_is_bought_for_what_it_keeps(terms: dict[str, Decimal]) -> None:
    problem = make_problem(
        year_days=(0, 365),
        experiments=(make_experiment("e", "a", 2, 0, 365),),
        machines=(make_machine("m", "1000", {"a": 10.0}),),
        rules=Rules(lifetime_years=Decimal(10), **terms),
        max_machines=2,
    )
    assert [p.count for p in solve(problem).purchases] == [1]


@pytest.mark.parametrize("host_watts", [0, 300])
def test_a_build_draws_the_same_everywhere(store_path: Path, host_watts: int) -> None:
    """Every machine that a plan may buy draws what `advisor prices cost` counts with.

    Where the catalogue does not know the processors, the grant's own figure takes the place of
    the estimate; nothing is never counted for them.
    """
    grant = replace(
        read_grant(EXAMPLE), objective="most-runs", host_watts=Decimal(host_watts), owned=()
    )
    wanted, loaded = grant.experiments[0], []
    with Store(store_path).reading() as reader:
        snapshot = take_snapshot(reader)
        for model in snapshot.models:
            only = replace(grant, experiments=(structs.replace(wanted, model=model.recipe_id),))
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
    while (wider := loaded.told_too()) is not None:  # others tell of what such a card costs
        loaded = wider
    problem = loaded.problem
    watts = {m.gpu_count: m.power for m in problem.machines if m.owned or m.upgrade_of}
    assert {count: power and power.wall_w for count, power in watts.items()} == {2: 850, 4: 1450}


# Impossible plans


def test_impossible_plans_say_what_to_relax_and_by_how_much() -> None:
    problem = make_problem(
        experiments=(make_experiment("e", "a", 4, 0, 100),),
        machines=(make_machine("buy", "1000", {"a": 40.0}),),
        budget_cents=1200_00,
        max_machines=1,
    )
    with pytest.raises(NoPlan):
        solve(problem)
    assert [f.text() for f in relax(problem)] == [
        "move every date, the grant's end too, by 60 days",
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


def test_an_experiment_that_no_machine_can_do_is_named() -> None:
    problem = make_problem(
        experiments=(
            make_experiment("late", "a", 1, 90, 100),
            make_experiment("never", "b", 1, 0, 100),
        ),
        machines=(make_machine("buy", "1000", {"a": 40.0}),),
    )
    late, never = (f.text() for f in relax(problem))
    assert late == "late: even buy would be 30 days late: move its date or leave it out"
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


# What binds, what would flip


def test_more_money_adds_runs() -> None:
    problem = make_problem(
        experiments=(make_experiment("e", "a", 5, 0, 100),),
        machines=(make_machine("buy", "1000", {"a": 90.0}),),
        objective="most-runs",
        budget_cents=2500_00,
    )
    plan = solve(problem)
    texts = [f.text() for f in explain(problem, plan).binds]
    assert "the budget: $500 more would add 1 run" in texts
    assert "the budget: $2,500 more would add 3 runs" in texts


def test_a_threshold_lies_between_two_decisions() -> None:
    """Renting costs $2,400; the machine $1,500: at more than $2,400 it is not bought."""
    problem = make_problem(
        experiments=(make_experiment("e", "a", 1, 0, 100),),
        machines=(make_machine("buy", "1500", {"a": 10.0}),),
        rentals=(make_rental("rent", "10.00", {"a": 10.0}),),
    )
    explanation = explain(problem, solve(problem))
    (price,) = [f for f in explanation.thresholds if f.text().startswith("price of buy")]
    number = price.words[1]
    assert not isinstance(number, str)
    assert 2400 < number.value < 2400 + 1500 / 32 + 1
    assert explanation.ask[0].text().startswith("a quote for buy")
    assert explanation.alternatives[0].label == "buy nothing, rent instead"
    # Hours that are granted are no rent.
    (rental,) = problem.rentals
    granted = replace(rental, allocation="allocation:1", provider="Campus")
    hours = Allocation(allocation_id="allocation:1", name="Campus", gpu_hours_a_year=None)
    problem = replace(problem, rentals=(granted,), allocations=(hours,))
    other = explain(problem, solve(problem), thresholds=False).alternatives[0]
    assert other.label == "buy nothing, use Campus instead"


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


def test_the_calendar_shows_machines_delivery_and_due_days() -> None:
    problem = make_problem(
        experiments=(make_experiment("first", "a", 2, 0, 70),),
        machines=(make_machine("buy", "1000", {"a": 25.0}),),
        rules=Rules(lead_days=10),
    )
    lines = calendar_lines(problem, solve(problem), width=60)
    assert lines[0].strip() == "1 Jan 2027"
    assert lines[1].strip() == "!"
    assert lines[2].split()[0] == "buy"
    assert lines[2].count("░") == 5
    assert "aaaa" in lines[2] and "·" in lines[2]
    assert lines[-1] == "a first   ! due   ░ delivery   · idle"
    assert max(map(len, lines)) <= 60


def test_instances_that_do_the_same_are_one_line_of_the_calendar() -> None:
    problem = make_problem(
        experiments=(make_experiment("first", "a", 3, 0, 365),),
        machines=(),
        rentals=(make_rental("rent", "1.00", {"a": 60.0}),),
    )
    lines = calendar_lines(problem, solve(problem), width=60)
    assert [line.split("  ")[0] for line in lines if line[0] != " "] == ["rent #1-3", "a first"]


def test_random_calendars_fit_their_width() -> None:
    for seed in range(40):
        problem = random_problem(seed)
        try:
            plan = solve(problem)
        except NoPlan:
            continue
        for width in (40, 80):
            assert all(len(line) <= width for line in calendar_lines(problem, plan, width))


# The command


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = main(["plan", *words])
    out, err = capsys.readouterr()
    return code, out, err


def test_the_command_plans(
    store_path: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Commands name the file as it was typed: how long that is is not the answer's to say.
    monkeypatch.chdir(tmp_path)
    path = grant_file(Path(), SMALL)
    code, out, err = run(capsys, str(path), "--quick", "--store", str(store_path))
    assert code == 0
    assert all("trying" in line or "reading" in line for line in err.splitlines())
    first = " ".join(out.partition("\n\n")[0].split())
    assert ": the one run for $" in first and first.endswith("; proven the cheapest.")
    assert out.count("\n") <= 40 and max(map(len, out.splitlines())) <= 100
    assert "What binds" not in out
    code, out, _ = run(capsys, str(path), "--quick", "--details", "--store", str(store_path))
    assert code == 0 and "What binds" in out
    assert "; proven the cheapest." in " ".join(out.split())
    code, out, _ = run(capsys, str(path), "--quick", "--format", "json", "--store", str(store_path))
    assert code == 0
    answer = json.loads(out)
    assert answer["title"] == "grant" and answer["verdict"]["sentence"] == first
    doubts = {doubt["about"]: doubt["command"] for doubt in answer["verdict"]["doubts"]}
    assert doubts["change"] == f"advisor plan {path} --store {store_path}" and len(doubts) <= 5
    assert all(doubts.values())  # each has its command


def test_an_impossible_grant_exits_with_1(
    store_path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = grant_file(tmp_path, SMALL.replace("$30,000", "$500"))
    code, out, _ = run(capsys, str(path), "--store", str(store_path))
    assert code == 1
    assert "raise the budget by $" in out


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ([], "no grant is named"),
        (["absent.toml"], "advisor plan --example > grant.toml"),
        (["GRANT", "--out", "absent/report.md"], "make it first, or name a file in another folder"),
        (["GRANT", "--out", "report.doc"], "no known ending"),
        (["GRANT", "--objective", "best"], "cheapest"),
        (["GRANT", "--seconds", "soon"], "seconds"),
        (["GRANT", "--by", "2027-06-01"], "--how-many"),
        (["GRANT", "--how-many", "pythia-1z"], "pythia-1b"),
        (["GRANT", "--how-many", "pythia-1b", "--by", "tomorrow"], "date"),
        (["GRANT", "--how-many", "pythia-1b", "--by", "2026-06-01"], "outside the grant"),
        (["GRANT", "--how-many", "pythia-1b", "--largest"], "choose one"),
    ],
)
def test_wrong_words_exit_with_2(
    store_path: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    words: list[str],
    says: str,
) -> None:
    path = grant_file(tmp_path, SMALL)
    given = [str(path) if word == "GRANT" else word for word in words]
    code, out, err = run(capsys, *given, "--store", str(store_path))
    assert (code, out) == (2, "")
    assert says in err
    assert err.count("\n") == 1


def test_an_unknown_gpu_or_model_names_the_nearest(
    store_path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = ["--store", str(store_path)]
    for old, new, says in (
        ("pythia-410m", "pythia-410", "grant.toml, experiments[1].model: no model"),
        ("[rentals]", '[purchases]\ngpus = ["RTX 3091"]\n[rentals]', "purchases.gpus"),
        ("[rentals]", '[[owned]]\ngpu = "A600"\ngpu_count = 1\n[rentals]', "owned[1].gpu"),
    ):
        path = grant_file(tmp_path, SMALL.replace(old, new, 1))
        code, _, err = run(capsys, str(path), *store)
        assert code == 2
        assert says in err


def test_files_are_overwritten_only_when_asked(
    store_path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = grant_file(tmp_path, SMALL)
    report = tmp_path / "report.md"
    report.write_text("mine")
    given = [str(path), "--quick", "--out", str(report), "--store", str(store_path)]
    code, _, err = run(capsys, *given)
    assert code == 2
    assert "is there already" in err
    assert report.read_text() == "mine"
    code, _, err = run(capsys, *given, "--force")
    assert code == 0
    assert f"wrote {report}\n" in err
    assert report.read_text().startswith("# grant")


def test_the_question_turned_round(
    store_path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    budget = '"30000"\ncurrency = "EUR"'
    path = grant_file(tmp_path, SMALL.replace('"$30,000"', budget))
    given = [str(path), "--format", "json", "--store", str(store_path)]
    code, out, _ = run(capsys, *given, "--how-many", "pythia-410m")
    answer = json.loads(out)
    (row,) = answer["models"]
    verdict = answer["verdict"]
    assert code == 0
    assert row["runs"] == verdict["runs"] > 1
    assert row["cost"].startswith("€"), "in the grant's own currency"
    cost = float(row["cost"].strip("€").replace(",", ""))
    assert 0 < cost <= 30_000
    told = f"{row['runs']} runs of Pythia 410M for €{cost:,.0f} without overhead"
    assert told in verdict["sentence"]
    assert verdict["doubts"][0]["command"].startswith("advisor prices list --item ")
    assert verdict["doubts"][-1]["command"] == f"advisor plan {path} --store {store_path}"
    code, text, _ = run(capsys, str(path), "--store", str(store_path), "--how-many", "pythia-410m")
    assert " ".join(text.split()).startswith(verdict["sentence"])
    assert "which nobody is known to sell new" in row["takes"]  # measured cards are old ones
    code, out, _ = run(capsys, *given, "--how-many", "pythia-410m", "--by", "2027-03-01")
    assert json.loads(out)["models"][0]["runs"] < row["runs"]


def most_runs_by_filling(problem: PlanningProblem) -> int:
    """The most runs of the one model asked for: the cheapest way to n runs, for each n in turn.

    Every machine does as many runs as fit into the days that it has; there is no rental.
    """
    (e,) = problem.experiments
    assert problem.budget_cents is not None
    options: list[tuple[int, int]] = []
    free = 0
    for machine in problem.machines:
        time = machine.times.get(e.model)
        if time is None:
            continue
        assert run_cents(machine, e.model, problem.rules) == 0
        lead = machine.ready_day if machine.owned else problem.rules.lead_days
        fits = int((problem.due(e) - lead + 1e-6) // problem.elapsed(time))
        if machine.owned:
            free += fits * machine.owned
        elif fits > 0:
            options.append((purchase_cents(machine, problem.rules), fits))
    cheapest = [0] * (free + 1)
    while len(cheapest) <= e.runs:
        n = len(cheapest)
        cost = min((cents + cheapest[max(n - fits, 0)] for cents, fits in options), default=None)
        if cost is None or cost > problem.budget_cents:
            break
        cheapest.append(cost)
    return min(len(cheapest) - 1, e.runs)


@pytest.mark.parametrize("budget", ["$2,500", "$9,000", "$40,000", "$150,000"])
def test_the_question_turned_round_agrees_with_filling_machines(
    store_path: Path, tmp_path: Path, budget: str
) -> None:
    owned = '[[owned]]\ngpu = "RTX A6000"\ngpu_count = 2\n[rentals]'
    text = SMALL.replace("$30,000", budget).replace("[rentals]", owned, 1) + FREELY
    grant = read_grant(grant_file(tmp_path, text))
    today = date(2026, 11, 21)
    with Store(store_path).reading() as reader:
        snapshot = take_snapshot(reader)
        for model in timed_models(reader, snapshot, grant):
            for by in (None, date(2027, 5, 1)):
                problems = problems_of(reader, snapshot, grant, model, by=by, today=today)
                found = reach(model, problems, 60)
                assert found.runs == most_runs_by_filling(found.problem), model


def test_the_largest_model_may_be_one_with_predicted_times_alone(
    store_path: Path, tmp_path: Path
) -> None:
    def names(text: str) -> list[str]:
        grant = read_grant(grant_file(tmp_path, text))
        with Store(store_path).reading() as reader:
            found = timed_models(reader, take_snapshot(reader), grant)
        return [model.recipe_id for model in found]

    predicted = SMALL.replace("predictions = false", "predictions = true")
    assert names(predicted)[:2] == ["pythia-12b", "pythia-6.9b"]
    assert names(SMALL)[0] == "pythia-6.9b"


def test_granted_hours_are_used_and_not_rented(
    store_path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    hours = '[[allocations]]\nname = "Campus"\ngpu = "H100"\nusd_per_gpu_hour = 0\n'
    path = grant_file(tmp_path, SMALL + hours)
    code, out, _ = run(capsys, str(path), "--quick", "--store", str(store_path))
    assert code == 0
    assert re.match(r"Use \d × H100.* at Campus: the one run for \$0", " ".join(out.split()))
    (row,) = [line for line in out.splitlines() if line.startswith("use ")]
    assert row.rstrip().endswith(" -") and "ent " not in row


def test_money_that_does_no_run_is_no_answer(
    store_path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    nothing = SMALL.replace('"$30,000"', "0")
    path = grant_file(tmp_path, nothing.replace("[grant]\n", '[grant]\nobjective = "most-runs"\n'))
    for words in ((), ("--details",)):
        code, out, _ = run(capsys, str(path), "--store", str(store_path), *words)
        assert code == 1
        assert out.startswith("No run can be done in time with this money: proven the most runs.")
        least = re.search(r"the cheapest run takes \$([\d,.]+)", out)
        assert least is not None and out.count("\n") < 8
    enough = least[1].replace(",", "")
    path.write_text(path.read_text().replace("total = 0", f'total = "${enough}"'))
    assert run(capsys, str(path), "--store", str(store_path), "--quick")[0] == 0


def test_the_answer_alone_is_on_stdout(store_path: Path, tmp_path: Path) -> None:
    """The solver's library prints notes of its own; none may reach a program that reads JSON."""
    path = grant_file(tmp_path, SMALL)
    for word in ("--quick", "--largest"):
        words = [word, "--format", "json", "--store", str(store_path)]
        done = subprocess.run(
            [sys.executable, "-m", "advisor", "plan", str(path), *words],
            capture_output=True,
            text=True,
            timeout=120,
            check=True,
        )
        json.loads(done.stdout)
        assert all("trying" in line or "reading" in line for line in done.stderr.splitlines())


def test_a_search_is_cancelled_at_once(store_path: Path, tmp_path: Path) -> None:
    grant = read_grant(grant_file(tmp_path, SMALL))
    loaded = load_grant(Store(store_path), grant, date(2026, 11, 21))
    search = Search(PlanTask(loaded=loaded, seconds=60))
    began = monotonic()
    with pytest.raises(Cancelled):
        search.run(lambda _: search.cancel())
    assert monotonic() - began < 20
    early = Search(PlanTask(loaded=loaded, seconds=60))
    early.cancel()
    with pytest.raises(Cancelled):
        early.run()


def test_ways_out_are_in_the_grant_s_currency_and_true(
    store_path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    short = '[budget]\ncurrency = "EUR"\n'
    for money, words in (
        ("total = 100\n", "raise the budget by €"),
        ("total = 0\n", "raise the budget by €"),
        ('per_year = ["0", "1"]\n', "raise what all years have together to €"),
        ('total = "£40,000"\n', "is in GBP, and the grant is in EUR"),
    ):
        path = grant_file(tmp_path, EUROS + short + money)
        assert main(["plan", str(path), "--store", str(store_path), "--quick"]) in (1, 2)
        said = "".join(capsys.readouterr())
        assert words in said, said
        assert "$" not in said.split("mends it")[-1]


EUROS = """
[grant]
start = 2027-01-01
years = 2
[purchases]
allowed = false
[[experiments]]
model = "pythia-410m"
"""


class Endless:
    """A search that says something, and never ends."""

    seconds = 0.2

    def run(self, say: Callable[[Any], None]) -> str:
        say("something")
        sleep(600)
        return "never"


def test_a_search_that_passes_its_time_answers_with_what_it_has(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(solver_process, "GRACE_SECONDS", 0.2)
    began = monotonic()
    assert Search(Endless(), lambda said: f"kept {said}").run() == "kept something"
    with pytest.raises(InputError, match="--seconds"):
        Search(Endless()).run()
    assert monotonic() - began < 60


def test_an_upgrade_of_an_owned_machine_is_planned(
    store_path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two more A6000s make one run of Pythia 2.8B a year into two."""
    text = SMALL.replace('"pythia-410m"', '"pythia-2.8b"\nruns = 2')
    text += '[purchases]\ngpus = ["RTX A6000"]\n' + FREELY
    owned = '[[owned]]\ngpu = "RTX A6000"\ngpu_count = 2\nfree_slots = 2\n[rentals]'
    path = grant_file(tmp_path, text.replace("[rentals]", owned, 1))
    report = tmp_path / "report.md"
    code, out, _ = run(
        capsys, str(path), "--quick", "--out", str(report), "--store", str(store_path)
    )
    assert code == 0
    assert "add in year 1  2 more A6000 in the lab's 2 × A6000 (4 in all)" in out
    assert "2 more A6000 in the lab's 2 × A6000" in report.read_text()
    tight = path.read_text().replace("free_slots = 2", "free_slots = 1")
    _, out, _ = run(capsys, str(grant_file(tmp_path, tight)), "--quick", "--store", str(store_path))
    assert "more A6000" not in out  # nobody timed three


def test_markdown_has_its_pictures_beside_it(
    store_path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = grant_file(tmp_path, SMALL)
    report = tmp_path / "my report.md"
    given = [str(path), "--quick", "--out", str(report), "--store", str(store_path)]
    assert run(capsys, *given)[0] == 0
    annex = tmp_path / "my report-annex.md"
    links = re.findall(r"\]\(([^)]+\.svg)\)", annex.read_text())
    assert links[0] == "my%20report-figures/plan.svg"
    for link in links:
        assert "<svg" in (tmp_path / unquote(link)).read_text()
    report.unlink()
    annex.unlink()
    code, _, err = run(capsys, *given)
    assert (code, "is there already" in err) == (2, True)


def test_planning_loads_no_screen_and_reports_no_matplotlib_unless_drawn(
    store_path: Path, tmp_path: Path
) -> None:
    path = grant_file(tmp_path, SMALL)
    code = (
        "import sys\nfrom advisor.cli.main import main\n"
        f"main(['plan', {str(path)!r}, '--quick', '--store', {str(store_path)!r}])\n"
        "print([m for m in ('textual', 'matplotlib', 'typst', 'torch') if m in sys.modules],"
        " file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True
    )
    assert done.stderr.strip().splitlines()[-1] == "[]"
