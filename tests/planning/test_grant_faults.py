"""What a grant once got wrong, each with its kind."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest

from advisor.planning.grant.allocation_programmes import known_allocations, programme_names
from advisor.planning.grant.cautions import cautions
from advisor.planning.grant.problem_of_grant import load
from advisor.planning.plan_grant import load_grant, plan_loaded
from advisor.planning.planned_grant import Planned
from advisor.planning.report.build_report import build_report
from advisor.planning.solver.money.cents import rent_cents_by_gpu, run_cents
from advisor.planning.solver.problem import Rules
from advisor.planning.solver.solve import solve
from advisor.ranking.snapshot import take_snapshot
from advisor.store import Store
from advisor.typed_input import InputError
from price_catalog.power import PowerFigures
from tests.planning.forms_for_tests import TODAY, loaded_of, read
from tests.plans_for_tests import (
    make_experiment,
    make_machine,
    make_problem,
    make_rental,
    part_of,
)

HEAD = '[grant]\nstart = {start}\n{length}\n{more}\n[[experiments]]\nmodel = "pythia-160m"\n'


def head(start: str = "2027-01-01", length: str = "years = 1", more: str = "") -> str:
    return HEAD.format(start=start, length=length, more=more)


def test_a_grant_lasts_months(tmp_path: Path, store_path: Path) -> None:
    grant = read(tmp_path, head(length="months = 18") + "each_year = true\n")
    assert grant.year_dates == (date(2027, 1, 1), date(2028, 1, 1), date(2028, 7, 1))
    with Store(store_path).reading() as reader:
        problem = load(reader, take_snapshot(reader), grant, TODAY).problem
    assert [(e.release_day, e.due_day) for e in problem.experiments] == [(0, 365), (365, 547)]
    assert problem.rules.grant_months == 18
    for length, told in (
        ("", "grant.years: is missing: write years = 3, or months = 18"),
        ("years = 1\nmonths = 12", "grant.months: stands beside years"),
        ("months = 0", "grant.months: must be a whole number from 1"),
    ):
        with pytest.raises(InputError, match=told):
            read(tmp_path, head(length=length))


def test_the_budget_of_a_funder_that_adds_overhead_holds_direct_costs(
    tmp_path: Path, store_path: Path
) -> None:
    """DFG adds its flat rate on top of what is asked for."""

    def planned(total: str) -> tuple[Planned, int | None]:
        text = head(more='funder = "dfg"') + "[purchases]\nallowed = false\n"
        grant = read(tmp_path, f"{text}[budget]\ntotal = {total}\n")
        found = plan_loaded(load_grant(Store(store_path), grant, TODAY), 30, quick=True)
        return found, None if found.plan is None else found.plan.cost_cents

    _, free = planned("50000")
    assert free is not None
    direct = (Decimal(free) / Decimal("1.25") / 100).quantize(Decimal("0.01"))
    assert planned(str(direct))[1] == free
    less, none = planned(str(direct - Decimal("0.02")))
    assert none is None
    written = less.loaded.grant.currency.exactly
    assert f"to {written(direct)}" in less.ways_out[0].text(written)


def test_an_award_of_a_year_is_not_split_as_it_is_read(tmp_path: Path, store_path: Path) -> None:
    award = '[[allocations]]\nprogramme = "access-explore"\nresource = "anvil-h100"\n'
    days = "starts = 2027-07-01\nends = 2028-06-30\n"
    grant = read(tmp_path, head(length="years = 2") + award + days)
    with Store(store_path).reading() as reader:
        problem = load(reader, take_snapshot(reader), grant, TODAY).problem
    (allocation,) = problem.allocations
    whole = read(tmp_path, head() + award).allocations[0].gpu_hours
    assert allocation.pool_of(0) == allocation.pool_of(1) == (0, whole)


def test_the_host_of_half_a_machine_draws_all_that_it_draws() -> None:
    """Its other GPUs idle; processors, fans and supplies do not."""
    power = PowerFigures(gpu_w=Decimal(300), gpu_count=2, base_w=Decimal(300))
    whole = make_machine("m", "9000", {"a": 50.0}, gpu_count=2, power=power)
    half = part_of(whole, 1, {"a": 100.0})
    rules = Rules(price_per_kwh=Decimal("0.72"))
    assert half.running_w == 600
    assert run_cents(half, "a", rules) == 1036_80
    stated = PowerFigures(gpu_w=Decimal(300), gpu_count=2, stated_w=Decimal(1000))
    assert part_of(replace(whole, power=stated), 1, {"a": 100.0}).running_w == 700


def test_a_total_that_the_years_contradict_is_refused(tmp_path: Path) -> None:
    years = '[budget]\ntotal = "{}"\nper_year = ["10k", "20k"]\n'
    text = head(length="years = 2")
    assert read(tmp_path, text + years.format("30k")).budget == 30_000
    with pytest.raises(InputError, match=r"budget\.total: is not what per_year has .*\$30,000"):
        read(tmp_path, text + years.format("25k"))


def test_nothing_is_planned_in_the_past(tmp_path: Path, store_path: Path) -> None:
    running = head(start="2026-01-01", length="years = 2")
    loaded = load_grant(Store(store_path), read(tmp_path, running), TODAY)
    day = (TODAY - date(2026, 1, 1)).days
    assert loaded.problem.experiments[0].release_day == day
    assert loaded.problem.orders == (day, 365)
    over = read(tmp_path, head(start="2024-01-01"))
    with pytest.raises(InputError, match=r"grant\.start: the grant ended on 2025-01-01"):
        load_grant(Store(store_path), over, TODAY)
    assert load_grant(Store(store_path), over, date(2024, 12, 1)).problem.orders == (335,)


@pytest.mark.parametrize(
    ("code", "rate", "wrong"),
    [
        *(("EUR", "0.877", True), ("EUR", "1.02", False)),
        *(("GBP", "0.737", True), ("CHF", "0.81", True), ("CAD", "1.39", True)),
        ("CAD", "0.7", False),
        *(("KWD", "3.26", False), ("INR", "0.0113", False), ("INR", "88.5", True)),
    ],
)
def test_a_rate_of_the_other_direction_is_refused(
    tmp_path: Path, code: str, rate: str, wrong: bool
) -> None:
    money = f'[budget]\ncurrency = "{code}"\nusd_per_unit = {rate}\nusd_per_unit_on = 2026-11-02\n'
    if not wrong:
        assert read(tmp_path, head() + money).currency.usd_per_unit == Decimal(rate)
        return
    said = f"is the {code} of one US dollar: write the US dollars of one"
    if code == "INR":
        said = "write its US dollars, like 0.0113 where one dollar is INR 88.5"
    with pytest.raises(InputError, match=said):
        read(tmp_path, head() + money)


def test_every_programme_that_the_command_lists_can_be_asked_for() -> None:
    assert all(known_allocations(name) for name in programme_names())


def test_at_least_so_many_runs_of_an_experiment_are_done(tmp_path: Path) -> None:
    """Where value decides, somebody's runs would be left out."""
    problem = make_problem(
        experiments=(
            make_experiment("dear", "a", 4, 0, 365, value=1),
            make_experiment("cheap", "b", 4, 0, 365, value=3),
        ),
        rentals=(make_rental("r", "1", {"a": 10.0, "b": 10.0}),),
        objective="most-runs",
        budget_cents=4 * 240_00,
    )
    assert solve(problem).left_out == {"dear": 4}
    first, second = problem.experiments
    fair = replace(problem, experiments=(replace(first, min_runs=2), second))
    assert solve(fair).left_out == {"dear": 2, "cheap": 2}
    with pytest.raises(InputError, match=r"experiments\[1\]\.min_runs: is more than its runs, 1"):
        read(tmp_path, head() + "min_runs = 2\n")


def test_a_run_on_other_numbers_of_tokens_takes_their_share(
    tmp_path: Path, store_path: Path
) -> None:
    """Of the recipe's 300 billion: half of them is half of the days, and of the rent."""
    text = head().replace("160m", "410m") + "{}[purchases]\nallowed = false\n"
    text += "[running]\nlongest_run_days = 365\n"
    found = {}
    for tokens in ("", 'tokens = "150B"\n'):
        loaded = load_grant(Store(store_path), read(tmp_path, text.format(tokens)), TODAY)
        planned = plan_loaded(loaded, 30, quick=True)
        assert planned.plan is not None and planned.explanation is not None
        found[tokens] = planned
        build_report(planned.loaded, planned.plan, planned.explanation, pictures=False)
    whole, half = (each.plan.cost_cents for each in found.values())
    assert abs(2 * half - whole) <= 100
    name = found[tokens].loaded.problem.experiments[0].name
    assert name == "Pythia 410M on 150 billion tokens"
    images = head().replace("pythia-160m", "vit") + "tokens = 1000000\n"
    with pytest.raises(InputError, match=r"experiments\[1\]\.tokens: .* trains on images"):
        load_grant(Store(store_path), read(tmp_path, images), TODAY)


def test_rent_is_held_to_the_depreciation_of_similar_equipment(
    tmp_path: Path, store_path: Path
) -> None:
    """Horizon Europe pays no more for rent; a grant may say that rent is a service."""
    text = head(length="years = 1", more='funder = "horizon"').replace("160m", "410m")
    text += 'runs = 30\n[running]\nlongest_run_days = 400\n[rentals]\ngpus = ["RTX 5090"]\n'
    text += "[purchases]\nallowed = false\n"
    free = "[institution]\nrent_up_to_depreciation = false\n"
    paid = {}
    for more in ("", free):
        loaded = load_grant(Store(store_path), read(tmp_path, text + more), TODAY)
        problem = replace(loaded.problem, budget_cents=None, objective="most-runs")
        plan = solve(problem)
        paid[more] = rent_cents_by_gpu(problem, (p.place for p in plan.placed))["rtx-5090"]
        said = " ".join(cautions(loaded, plan))
        assert ("Rent of RTX 5090 is held to" in said) is (not more)
    (limit,) = load_grant(Store(store_path), read(tmp_path, text), TODAY).problem.rent_limits
    assert paid[""] <= limit.cents < paid[free]


def test_a_machine_with_an_arm_processor_is_told(tmp_path: Path) -> None:
    arm = make_machine("m", "4000", {"a": 50.0}, gpu_id="gb10", gpu_name="GB10")
    problem = make_problem(machines=(arm,), experiments=(make_experiment("a", "a", 1, 0, 365),))
    said = " ".join(cautions(loaded_of(read(tmp_path, head()), problem), solve(problem)))
    assert "The GB10 comes with an Arm processor" in said


@pytest.mark.parametrize(
    ("keys", "told"),
    [
        ("examples = 52000", r"experiments\[1\]\.length: is missing.*length = 512"),
        ("length = 512", r"experiments\[1\]\.length: .*write examples, too"),
        ("examples = 9\ndata_tokens = 9", r"experiments\[1\]\.examples: stands beside data_tokens"),
    ],
)
def test_examples_go_with_their_length(
    tmp_path: Path, store_path: Path, keys: str, told: str
) -> None:
    """An example was once counted as a token."""
    text = f'{head()}train = "lora"\n{keys}\n'
    with Store(store_path).reading() as reader, pytest.raises(InputError, match=told):
        load(reader, take_snapshot(reader), read(tmp_path, text), TODAY)


def test_a_machine_takes_the_same_power_whoever_pays_for_it(
    tmp_path: Path, store_path: Path
) -> None:
    owned = '[[owned]]\ngpu = "A6000"\ngpu_count = 2\n[electricity]\npaid_by = '
    found = []
    with Store(store_path).reading() as reader:
        for who in ('"grant"\nusd_per_kwh = 0.2\n', '"institution"\n'):
            grant = read(tmp_path, f"{head()}{owned}{who}")
            problem = load(reader, take_snapshot(reader), grant, TODAY).problem
            found.append({m.machine_id: m.running_w for m in problem.machines})
    paid, free = found
    assert len(paid) > 10
    assert paid == {name: free[name] for name in paid}
