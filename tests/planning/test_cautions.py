"""What is told beside a plan: money without a run, hours, prices, and who sells nothing."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest

from advisor.answers.plan.plan_sentence import plan_sentence
from advisor.planning.grant.candidates.cost_lines import not_asked_for
from advisor.planning.grant.cautions import cautions
from advisor.planning.grant.problem_of_grant import Loaded
from advisor.planning.grant.read_grant import read_grant
from advisor.planning.plan_grant import EXAMPLE, load_grant, plan_loaded
from advisor.planning.report.formats.markdown_csv_json import to_markdown
from advisor.planning.sensitivity.explain import explain
from advisor.planning.solver.problem import Allocation, Machine, PriceLine
from advisor.planning.solver.solve import solve
from advisor.store import Store
from tests.planning.forms_for_tests import SMALL, read, report_for
from tests.planning.test_plan_terms import TODAY, allocated
from tests.plans_for_tests import (
    make_experiment,
    make_machine,
    make_problem,
    make_rental,
    make_time,
)


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
