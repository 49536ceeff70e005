from decimal import ROUND_HALF_UP, Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.costs.cost_of_owning import CostTerms, total_cost_of_ownership

money = st.decimals(min_value=1, max_value=10_000_000, places=2)


@pytest.mark.parametrize(
    ("overall", "days", "each"),
    [
        (20_900, 30, "343.56"),
        (127_500, 8, "558.90"),
        (162_500, 9, "801.37"),
        (250_500, 4, "549.04"),
    ],
)
def test_the_paper_s_four_examples_come_out_to_the_cent(overall: int, days: int, each: str) -> None:
    assert total_cost_of_ownership(Decimal(overall)).experiment_usd(days) == Decimal(each)


@given(money, st.integers(1, 5000), st.integers(1, 5000), st.integers(1, 20))
def test_the_paper_s_preset_is_the_price_by_days(usd: Decimal, a: int, b: int, years: int) -> None:
    own = total_cost_of_ownership(usd, CostTerms(lifetime_years=Decimal(years)))
    share = usd * a / (years * 365)
    assert own.experiment_usd(a) == share.quantize(Decimal("0.01"), ROUND_HALF_UP)
    less, more = sorted((a, b))
    cost = own.experiment_usd(less)
    assert cost is not None and cost <= (own.experiment_usd(more) or 0)
    assert own.life_usd == usd == own.experiment_usd(years * 365)


def test_every_term_by_hand() -> None:
    terms = CostTerms(
        lifetime_years=Decimal(4),
        utilisation=Decimal("0.5"),
        electricity_usd_per_kwh=Decimal("0.2"),
        pue=Decimal("1.5"),
        hosting_usd_per_u_month=Decimal(50),
        staff_usd_per_year=Decimal(1000),
        resale_share=Decimal("0.1"),
    )
    own = total_cost_of_ownership(
        Decimal(10_000), terms, wall_w=Decimal(2000), rack_units=Decimal(2)
    )
    assert own.resale_usd == -1000
    assert own.hosting_usd == 50 * 2 * 48
    assert own.staff_usd == 4000
    # 2 kW x 1.5 x 24 h x $0.2 = $14.40 a day of training, of which there are 730.
    assert own.electricity_usd_per_day == Decimal("14.4")
    assert own.busy_days == 730
    assert own.electricity_usd == Decimal("10512")
    assert own.life_usd == 10_000 - 1000 + 4800 + 4000 + 10_512
    assert own.experiment_usd(73) == Decimal("2831.20")
    assert own.experiments(73) == 10


def test_a_loan_of_equal_monthly_parts() -> None:
    # $12,000 over one year at 12 %: twelve payments of $1,066.19.
    terms = CostTerms(lifetime_years=Decimal(1), financing_rate=Decimal("0.12"))
    own = total_cost_of_ownership(Decimal(12_000), terms)
    assert own.financing_usd.quantize(Decimal("0.01")) == Decimal("794.23")
    assert total_cost_of_ownership(Decimal(12_000)).financing_usd == 0


def test_an_unknown_power_is_no_data_once_electricity_has_a_price() -> None:
    assert total_cost_of_ownership(Decimal(100)).life_usd == 100
    priced = total_cost_of_ownership(
        Decimal(100), CostTerms(electricity_usd_per_kwh=Decimal("0.1"))
    )
    assert priced.electricity_usd is None
    assert priced.life_usd is None
    assert priced.experiment_usd(10) is None
