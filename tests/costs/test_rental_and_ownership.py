"""Renting against owning: the paper's example, break-even, and what is known of rents."""

from __future__ import annotations

import json
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.cli.main import main
from advisor.costs.cost_of_owning import CostTerms, total_cost_of_ownership
from advisor.costs.rental import (
    RentOffer,
    break_even,
    rates_that_count,
    rent_offers,
    rented_usd,
    reserved_usd,
)
from advisor.store import Store
from price_catalog.model import Rental, Source
from tests.store_for_tests import look

DAY = date(2026, 11, 21)


def rental(price: str, **changes: object) -> Rental:
    given: dict[str, object] = {
        "rental_id": f"r-{price}-{len(changes)}",
        "provider": f"cloud-{price}",
        "instance": None,
        "gpu_id": "a100",
        "gpu_count": 8,
        "price_per_hour_usd": Decimal(price),
        "kind": "on-demand",
        "region": None,
        "priced_on": date(2026, 6, 1),
        "source_id": "test",
        "url": None,
        "note": None,
    }
    return Rental(**(given | changes))  # type: ignore[arg-type]


def offer(price: str, kind: str = "on-demand") -> RentOffer:
    (found,) = rent_offers([rental(price, kind=kind)], "a100", 8, today=DAY)
    return found


def ask(capsys: pytest.CaptureFixture[str], *argv: str) -> Any:
    assert main([*argv, "--format", "json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_the_paper_s_example_comes_out_of_the_mechanism(
    store_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """ "It costs less than $200K to own an 8 x 80 GB A100 machine, but ~$650K to reserve on AWS
    (p4de.24xlarge) for 5 years." """
    flags = ["--model", "pythia-1b", "--gpu", "A100", "--count", "8", "--store", str(store_path)]
    flags += ["--prices", "paper", "--evidence", "published"]
    answer = ask(capsys, "prices", "rent", *flags)
    assert answer["own"] == {"life_usd": 162_500, "experiment_usd": 801.37}
    (reserved,) = (row for row in answer["rent"] if row["rent"] == "reserved")
    assert reserved["middle"] == "aws p4de.24xlarge"
    assert reserved["whole_life_usd"] == pytest.approx(650_000, rel=1e-4)
    assert reserved["break_even_experiments"] == 0
    # Still under $200K with the electricity of all five years at the wall.
    powered = ask(capsys, "prices", "rent", *flags, "--electricity", "0.10", "--pue", "1.5")
    assert 162_500 < powered["own"]["life_usd"] < 200_000


def test_each_provider_s_newest_price_of_the_year_counts() -> None:
    found = rent_offers(
        [
            rental("20", provider="a", priced_on=date(2026, 1, 1)),
            rental("10", provider="a", priced_on=date(2026, 6, 1)),
            rental("30", provider="b"),
            rental("14", provider="c"),
            rental("1", provider="d", outlier=True),
            rental("2", provider="e", priced_on=date(2025, 6, 1)),
            rental("3", provider="f", gpu_count=4),
            rental("4", provider="g", gpu_id="h100"),
            rental("5", provider="h", priced_on=date(2026, 12, 1)),
        ],
        "a100",
        8,
        today=DAY,
    )
    (on_demand,) = found
    assert on_demand.providers == 3
    assert (on_demand.low_usd, on_demand.price_per_hour_usd, on_demand.high_usd) == (10, 14, 30)


def test_each_provider_s_own_number_counts_or_that_many_times_its_price_of_one() -> None:
    (found,) = rent_offers([rental("1.5", gpu_count=1)], "a100", 4, today=DAY)
    assert (found.times, found.price_per_hour_usd) == (4, 6)
    assert rent_offers([rental("3", gpu_count=2)], "a100", 4, today=DAY) == ()
    rows = [
        rental("1.5", gpu_count=1, provider="a"),
        rental("1.6", gpu_count=1, provider="b"),
        rental("9", gpu_count=4, provider="b"),
        rental("7", gpu_count=4, provider="c"),
        rental("1", gpu_count=4, provider="d", priced_on=date(2025, 1, 1)),
    ]
    (found,) = rent_offers(rows, "a100", 4, today=DAY)
    assert [found.usd(rate) for rate in found.rates] == [6, 7, 9]
    assert (found.times, found.price_per_hour_usd, found.middle.provider) == (1, 7, "c")


def test_break_even_worked_out_by_hand() -> None:
    # $10 an hour, 10 days: $2,400 a run. $24,000 of machine pays after 10 runs.
    even = break_even(total_cost_of_ownership(Decimal(24_000)), offer("10"), 10)
    assert even.rent_per_experiment_usd == 2400
    assert even.experiments == 10
    assert even.utilisation == Decimal(100) / 1825
    # Electricity of 1 kW at $0.5: $120 a run, so $2,280 are saved by each.
    terms = CostTerms(electricity_usd_per_kwh=Decimal("0.5"))
    powered = break_even(
        total_cost_of_ownership(Decimal(24_000), terms, wall_w=Decimal(1000)), offer("10"), 10
    )
    assert powered.experiments == Decimal(24_000) / 2280


def test_where_running_alone_costs_more_than_renting_it_never_pays() -> None:
    terms = CostTerms(electricity_usd_per_kwh=Decimal(10))
    even = break_even(
        total_cost_of_ownership(Decimal(100), terms, wall_w=Decimal(5000)), offer("1"), 3
    )
    assert even.experiments is None
    assert even.utilisation is None


def test_a_reservation_is_paid_whole() -> None:
    assert reserved_usd(Decimal("14.8402"), Decimal(5)) == Decimal("650000.76")
    assert (
        break_even(
            total_cost_of_ownership(Decimal(162_500)), offer("14.8402", "reserved"), 9
        ).experiments
        == 0
    )
    dear = break_even(total_cost_of_ownership(Decimal(700_000)), offer("14.8402", "reserved"), 9)
    assert dear.experiments is None


money = st.decimals(min_value=1000, max_value=1_000_000, places=2)
rate = st.decimals(min_value="0.05", max_value=200, places=4)


@given(money, rate, st.integers(1, 400))
def test_at_the_break_even_both_cost_the_same(usd: Decimal, hour: Decimal, days: int) -> None:
    even = break_even(total_cost_of_ownership(usd), offer(str(hour)), days)
    assert even.experiments is not None
    assert rented_usd(hour, days, even.experiments) == pytest.approx(usd, rel=Decimal("1e-9"))


def test_the_rate_that_one_gets_of_a_provider() -> None:
    may, november = date(2026, 5, 24), date(2026, 11, 9)
    rows = [
        rental("2.69", provider="runpod", rental_id="may", priced_on=may),
        rental("3.99", provider="RunPod", rental_id="newest", priced_on=november),
        rental("4.19", provider="runpod", rental_id="another", priced_on=november),
        rental("2.10", provider="runpod-community", rental_id="owners", kind="peer"),
        rental("5", provider="Lambda Labs", rental_id="own", priced_on=may),
        rental(
            "4",
            provider="lambda",
            rental_id="aggregated",
            priced_on=november,
            source_id="compute-screener",
        ),
        rental("6", provider="oci", rental_id="alone", source_id="compute-screener"),
        rental("7", provider="aws", rental_id="whole", priced_on=may),
        rental("3", provider="aws", rental_id="bare", priced_on=november, leaves_out="memory"),
    ]
    for order in (rows, rows[::-1]):
        counting = {r.rental_id for r in rates_that_count(order, DAY)}
        assert counting == {"newest", "owners", "own", "alone", "whole"}
    (found,) = rent_offers(rows, "a100", 8, today=DAY)
    assert (found.providers, found.low_usd, found.high_usd) == (4, Decimal("3.99"), 7)


def test_a_stranger_s_machine_is_no_offer_whatever_a_feed_called_it(own_store: Path) -> None:
    before = {r.rental_id for r in look(Store(own_store)).rentals()}
    rows = [
        rental("1", provider="vastai", rental_id="v", gpu_id="a100-sxm4-80gb", origin="local"),
        rental("2", provider="Lambda Labs", rental_id="l", gpu_id="a100-sxm4-80gb", origin="local"),
    ]
    source = Source(
        source_id="test", title="t", url=None, how_measured="h", licence=None, published_on=None
    )
    Store(own_store).add([source], rental=rows)
    held = {r.rental_id: r for r in look(Store(own_store)).rentals() if r.rental_id not in before}
    assert (held["v"].provider, held["v"].kind) == ("vast-ai", "peer")
    assert (held["l"].provider, held["l"].kind) == ("lambda", "on-demand")
    offers = rent_offers(held.values(), "a100-sxm4-80gb", 8, today=DAY)
    assert [each.middle.provider for each in offers] == ["lambda"]
