"""What a plan asks for can be ordered."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from advisor.answers.plan.plan_doubts import plan_doubts
from advisor.costs.price_book import STALE_DAYS, PriceBook
from advisor.costs.rental import rent_offers
from advisor.planning.grant.candidates.grant_machines import ONLY_TOLD, gone, orderable, sold
from advisor.planning.grant.cautions import cautions
from advisor.planning.grant.grant_record import Grant
from advisor.planning.grant.read_grant import read_grant
from advisor.planning.grant.toml_reader import Line
from advisor.planning.plan_grant import EXAMPLE, load_grant, plan_loaded
from advisor.planning.planned_grant import Planned
from advisor.planning.solver.search_clock import Progress
from advisor.store import Store
from price_catalog.model import Quote
from tests.planning.grant_files import changed
from tests.plans_for_tests import make_machine

TODAY = date(2026, 11, 21)
BOOK = PriceBook({}, {}, TODAY)


def quote(**changes: object) -> Quote:
    plain = Quote(
        quote_id="q",
        item_kind="server",
        item_id="box",
        price_usd=Decimal(100),
        kind="list",
        vendor="Example",
        quoted_on=date(2026, 6, 1),
        source_id="s",
        url=None,
        note=None,
        price_set="latest",
    )
    return plain._replace(**changes)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("changes", "is_gone", "is_sold"),
    [
        ({}, False, True),
        ({"valid_until": date(2026, 11, 21)}, False, True),
        ({"valid_until": date(2026, 11, 20)}, True, False),
        ({"kind": "secondary"}, False, False),
        ({"kind": "used"}, False, False),
        ({"quoted_on": date(2025, 6, 1)}, False, False),
        ({"valid_until": date(2026, 11, 20), "origin": "local"}, False, True),
        ({"kind": "secondary", "origin": "local"}, False, True),
    ],
)
def test_who_sells_at_a_price(changes: dict[str, object], is_gone: bool, is_sold: bool) -> None:
    each = quote(**changes)
    assert (gone([quote(), each], BOOK) is not None) is is_gone
    assert sold([quote(), each], BOOK) is is_sold
    said = gone([each], BOOK)
    assert said is None or "Example has not offered it since 2026-11-20" in said


@given(st.lists(st.tuples(st.sampled_from("abc"), st.booleans())), st.sets(st.sampled_from("abc")))
def test_only_a_gpu_that_is_named_and_nobody_sells_stays_as_told(
    kinds: list[tuple[str, bool]], named: set[str]
) -> None:
    machines = [
        replace(make_machine(f"m{n}", "1", {"x": 1.0}), gpu_id=gpu, on_sale=on_sale)
        for n, (gpu, on_sale) in enumerate(kinds)
    ]
    for wanted in (None, frozenset(named)):
        kept, told = orderable(machines, wanted)
        assert len(kept) + len(told) == len(machines)
        assert not any(machine.on_sale for machine in told)
        sold_gpus = {machine.gpu_id for machine in machines if machine.on_sale}
        for machine in kept:
            asked = wanted is not None and machine.gpu_id in wanted
            assert machine.on_sale or (asked and machine.gpu_id not in sold_gpus)


def planned_for(store_path: Path, grant: Grant, heard: list[Progress] | None = None) -> Planned:
    loaded = load_grant(Store(store_path), grant, TODAY)
    hear = (lambda _: None) if heard is None else heard.append
    return plan_loaded(loaded, 60, quick=True, say=hear)


def one_run(**changes: object) -> Grant:
    grant = read_grant(EXAMPLE)
    wanted = structs.replace(grant.experiments[1], each_year=False, runs=1)
    grant = changed(grant, experiments=(wanted,), owned=(), rentals={"allowed": False})
    return replace(grant, pays_electricity=False, price_per_kwh=None, **changes)  # type: ignore[arg-type]


def test_the_example_buys_what_somebody_sells(store_path: Path) -> None:
    loaded = load_grant(Store(store_path), read_grant(EXAMPLE), TODAY)
    assert all(machine.on_sale for machine in loaded.problem.machines)
    reasons = {each.label: each.reason for each in loaded.left_out}
    assert "since 2026-01-20" in reasons["tinybox pro v2, 8 x RTX 5090"]
    assert not loaded.sums
    told = {m.label for m in loaded.with_told} - {m.label for m in loaded.problem.machines}
    assert told and told >= {label for label, why in reasons.items() if why == ONLY_TOLD}
    assert "tinybox pro v2, 8 x RTX 5090" not in told


def test_what_others_tell_of_is_bought_only_where_nothing_on_sale_does_the_work(
    store_path: Path,
) -> None:
    """With any money: for a smaller budget the answer says whose quote to ask for."""
    dear = planned_for(store_path, one_run(budget=Decimal(12_000)))
    assert dear.plan is not None and dear.plan.purchases
    assert not cautions(dear.loaded, dear.plan)[0].startswith("No seller")

    cheap = planned_for(store_path, one_run(budget=Decimal(7_000)))
    assert cheap.plan is None
    (asked,) = (x for x in cheap.loaded.left_out if x.needs_quote and x.more_runs)
    text = cheap.ways_out[0].text()
    assert text.startswith(f"get a quote for {asked.label}: 1 of 1 runs for $")

    # No seller is known of this card: where it is named, it is bought.
    grant = changed(one_run(budget=Decimal(7_000)), purchases={"gpus": ("RTX 4090",)})
    small = structs.replace(grant.experiments[0], model=Line("pythia-70m"))
    named = planned_for(store_path, replace(grant, experiments=(small,)))
    assert named.plan is not None
    (bought,) = named.plan.purchases
    machine = next(m for m in named.loaded.problem.machines if m.machine_id == bought.machine_id)
    assert not machine.on_sale
    said = cautions(named.loaded, named.plan)[0]
    assert said.startswith("No seller is known that sells this new") and machine.label in said
    (price,) = (each for each in plan_doubts(named, "advisor plan", quick=True)[:1])
    assert price.words.startswith(f"only others tell of the price of {machine.label}, of ")


def test_rates_without_processor_and_memory_are_no_whole_price(store_path: Path) -> None:
    grant = changed(read_grant(EXAMPLE), rentals={"providers": None})
    loaded = load_grant(Store(store_path), grant, TODAY)
    assert any("leave out processor" in each.reason for each in loaded.left_out)
    assert not [offer for offer in loaded.rentals.values() if offer.leaves_out]


def test_a_plan_rents_what_prices_rent_prices(store_path: Path) -> None:
    """Of each GPU, number and kind the same rate."""
    anyone = {"providers": None}
    grant = changed(read_grant(EXAMPLE), rentals=anyone, procurement=anyone)
    loaded = load_grant(Store(store_path), grant, TODAY)
    with Store(store_path).reading() as reader:
        rows = reader.rentals()
    planned = {(r.gpu_id, r.gpu_count, r.kind): r for r in loaded.problem.rentals}
    assert {r.row_of_one != "" for r in planned.values()} == {True, False}
    counts: dict[tuple[str, str], set[int]] = {}
    for (gpu, count, kind), rental in planned.items():
        counts.setdefault((gpu, kind), set()).add(count)
        offer = next(o for o in rent_offers(rows, gpu, count, today=TODAY) if o.kind == kind)
        if not any(r.leaves_out or (TODAY - r.priced_on).days > STALE_DAYS for r in offer.rates):
            asked = offer.price_per_hour_usd, offer.times > 1
            assert (rental.price_per_hour, rental.row_of_one != "") == asked
    # None of its numbers that a run fits on is left out.
    assert all({2, 4, 8} <= each for each in counts.values() if 1 in each)
