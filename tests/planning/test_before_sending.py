"""What a lab is told before it sends a form: what its funder asks of such a request, and where the
request is beyond what the funder takes."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest

from advisor.planning.currency import Currency
from advisor.planning.grant.cautions import cautions
from advisor.planning.grant.funder import funder_form
from advisor.planning.grant.grant_keys import FUNDERS
from advisor.planning.grant.read_grant import read_grant
from advisor.planning.planned_grant import Planned
from advisor.planning.report.budget import limits_told
from advisor.planning.report.budget_entries import LINES
from advisor.planning.report.document import plain_text
from advisor.planning.solver.problem import Allocation, Rules
from advisor.planning.solver.solve import solve
from tests.planning.forms_for_tests import (
    GRANT,
    TODAY,
    cautions_of,
    in_currency,
    loaded_of,
    report_for,
)
from tests.plans_for_tests import (
    make_experiment,
    make_machine,
    make_problem,
    make_rental,
    part_of,
)


def told(planned: Planned, **changes: object) -> list[str]:
    (section,) = [
        each
        for each in report_for(planned, **changes).sections
        if each.title == "Before you send it"
    ]
    (bullets,) = section.blocks
    assert isinstance(bullets, tuple)
    return list(map(plain_text, bullets))


def test_a_form_says_of_known_lines_alone_where_it_is_told() -> None:
    known = {*LINES, "owned", "tax", "campus"}
    for funder in FUNDERS:
        form = funder_form(funder)
        assert set(form.only_with) <= set(form.before_you_send) <= set(form.sources), funder
        assert {line for lines in form.only_with.values() for line in lines} <= known
        assert form.threshold_usd is None or form.sources["threshold"]


def test_of_machines_is_told_where_some_are_bought(planned: Planned) -> None:
    texts = funder_form("nsf").before_you_send
    bought = told(planned, funder="nsf")
    assert texts["equipment"] in bought and texts["institution_pays"] in bought
    assert texts["computer_services"] not in bought and texts["campus"] not in bought
    assert planned.plan is not None
    nothing = replace(planned.plan, purchases=(), placed=())
    bare = told(replace(planned, plan=nothing), funder="nsf")
    assert texts["institution_pays"] in bare
    assert not {texts["equipment"], texts["threshold"], texts["approval"]} & set(bare)
    texts = funder_form("horizon").before_you_send
    assert texts["tax"] not in told(planned, funder="horizon")
    assert texts["tax"] in told(planned, funder="horizon", vat=Decimal("0.19"))


def test_a_request_beyond_what_its_funder_takes_is_told_so(planned: Planned) -> None:
    """In the currency of the limit alone, with the amount that is beyond it."""

    def of_limits(funder: str, rate: str, code: str, vat: str = "0") -> list[str]:
        money = Currency(code=code, usd_per_unit=Decimal(rate), on=TODAY, source="a bank")
        rules = replace(planned.loaded.problem.rules, vat=Decimal(vat))
        problem = replace(planned.loaded.problem, rules=rules)
        loaded = replace(planned.loaded, problem=problem)
        found = told(replace(planned, loaded=loaded), funder=funder, currency=money)
        begins = ("This ", "The dearest", "The machines")
        in_annex = [text for text in found if text.startswith(begins)]
        # Who plans hears the same, before any report is made.
        there = in_currency(loaded, money)
        grant = replace(there.grant, funder=funder)  # type: ignore[arg-type]
        assert planned.plan is not None
        assert limits_told(replace(there, grant=grant), planned.plan) == in_annex
        return in_annex

    years = "This grant is for 3 years: an RTI grant lasts one year."
    assert planned.plan is not None
    machine = planned.loaded.problem.options()[planned.plan.purchases[0].machine_id]
    price = machine.price  # type: ignore[union-attr]
    assert of_limits("nserc", str(price / 100_000), "CAD") == [years]
    dear = of_limits("nserc", str(price / 300_000), "CAD")
    assert [text.partition(":")[2] for text in dear] == [
        " NSERC takes tools of CAD 250,000 or less.",
        " NSERC pays CAD 150,000 or less: write under budget.shared who pays the rest.",
        " an RTI grant lasts one year.",
    ]
    # Before tax, and of all machines together.
    for vat in ("0", "0.13"):
        (small,) = [t for t in of_limits("nserc", str(price / 5000), "CAD", vat) if "tools" in t]
        count = sum(p.count for p in planned.plan.purchases)
        assert small.startswith(f"The machines cost CAD {5000 * count:,} before tax: NSERC takes")
    assert of_limits("nserc", str(price / 300_000), "EUR") == [years]
    # The gross price of one machine.
    assert of_limits("dfg", str(price / 45_000), "EUR") == []
    (gross,) = of_limits("dfg", str(price / 45_000), "EUR", "0.19")
    assert gross.startswith("The dearest machine costs EUR 53,550: above EUR 50,000 gross it is")
    assert len(of_limits("dfg", str(price / 245_000), "EUR")) == 2
    assert of_limits("nih", "1", "USD") == []


@pytest.mark.parametrize("funder", ["nsf", "nih"])
def test_without_rules_the_threshold_is_that_of_the_regulation(tmp_path: Path, funder: str) -> None:
    """A cheap computer is a supply to every funder under 2 CFR 200."""
    path = tmp_path / "grant.toml"
    path.write_text(GRANT.format(funder=funder), encoding="utf-8")
    house = read_grant(path).institution
    assert house.equipment_threshold == 10_000 and house.overhead_rate == 0
    assert "2 CFR 200.1" in house.sources["equipment_threshold"]
    (said,) = [text for text in cautions_of(read_grant(path)) if "No overhead" in text]
    assert "counts as equipment from $10,000 on: yours may begin below that" in said
    path.write_text(GRANT.format(funder="plain"), encoding="utf-8")
    assert read_grant(path).institution.equipment_threshold == 0
    # Who has rules has their threshold.
    own = '[institution]\nrules = "us-equipment-5000"\n'
    path.write_text(GRANT.format(funder=funder) + own, encoding="utf-8")
    assert read_grant(path).institution.equipment_threshold == 5000


def test_a_quote_that_ends_before_its_order_is_told_with_both_days(planned: Planned) -> None:
    assert planned.plan is not None
    loaded, ends = planned.loaded, date(2026, 12, 31)
    assert not any("ends on" in each for each in cautions(loaded, planned.plan))
    quotes = {name: each._replace(valid_until=ends) for name, each in loaded.quotes.items()}
    said = cautions(replace(loaded, quotes=quotes), planned.plan)
    assert any("ends on 31 December 2026, before the order of 1 " in each for each in said)


@pytest.mark.parametrize(("runs", "many"), [(7, False), (8, True)])
def test_whether_an_allocation_has_so_many_at_once_is_asked(
    planned: Planned, runs: int, many: bool
) -> None:
    hours = replace(make_rental("node", "0", {"a": 20.0}), allocation="hours", provider="Campus")
    problem = make_problem(
        experiments=(make_experiment("e", "a", runs, 0, 20),),
        rentals=(hours,),
        allocations=(Allocation(allocation_id="hours", name="Campus", gpu_hours_a_year=None),),
    )
    says = f"{runs} × (node) are used at once: ask Campus whether it has that many."
    assert (says in cautions(loaded_of(planned.loaded.grant, problem), solve(problem))) is many


@pytest.mark.parametrize(("due", "beside"), [(20, True), (40, False)])
def test_a_host_that_is_counted_twice_is_said(planned: Planned, due: int, beside: bool) -> None:
    """Two runs on a GPU each, at the same time where there are no days for one after the other."""
    whole = make_machine("node", None, {}, gpu_count=2)
    experiments = [make_experiment(f"e{n}", "a", 1, 0 if beside else 20 * n, due) for n in (0, 1)]
    if not beside:
        experiments[0] = replace(experiments[0], due_day=20)
    problem = make_problem(
        experiments=tuple(experiments),
        machines=(whole, part_of(whole, 1, {"a": 20.0})),
        rules=Rules(price_per_kwh=Decimal("0.2")),
    )
    said = cautions(loaded_of(planned.loaded.grant, problem), solve(problem))
    assert any("each charged for its whole host" in each for each in said) is beside


def test_whether_a_provider_has_so_many_gpus_at_once_is_asked(planned: Planned) -> None:
    node = replace(make_rental("node", "9", {"a": 20.0}), gpu_count=8)
    problem = make_problem(experiments=(make_experiment("e", "a", 2, 0, 20),), rentals=(node,))
    said = cautions(loaded_of(planned.loaded.grant, problem), solve(problem))
    assert any(each.startswith("2 × (node) are rented at once: ask ") for each in said)
