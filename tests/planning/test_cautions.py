"""What is told beside a plan: money without a run, hours, prices, and who sells nothing."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from pathlib import Path

from advisor.answers.plan.plan_sentence import plan_sentence
from advisor.planning.grant.cautions import cautions
from advisor.planning.grant.problem_of_grant import Loaded
from advisor.planning.grant.read_grant import read_grant
from advisor.planning.plan_grant import EXAMPLE, load_grant
from advisor.planning.solver.problem import Machine, PriceLine
from advisor.planning.solver.solve import solve
from advisor.store import Store
from tests.planning.test_plan_terms import TODAY


def with_machines(loaded: Loaded, machines: tuple[Machine, ...]) -> Loaded:
    return replace(loaded, problem=replace(loaded.problem, machines=machines))


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


def test_rates_without_processor_and_memory_are_no_whole_price(store_path: Path) -> None:
    grant = replace(read_grant(EXAMPLE), rent_providers=None)
    loaded = load_grant(Store(store_path), grant, TODAY)
    assert any("leave out processor" in each.reason for each in loaded.left_out)
    bare = {offer.rental_id for offer in loaded.rentals.values() if offer.leaves_out}
    assert bare == set()
