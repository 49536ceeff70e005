from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.cost import experiment_cost_usd, overall_cost_usd

money = st.decimals(min_value=1, max_value=10_000_000, places=2)


def test_the_paper_s_four_examples_come_out_to_the_cent() -> None:
    for host, gpu, count, days, overall, each in [
        (10_500, 1_300, 8, 30, 20_900, "343.56"),
        (7_500, 30_000, 4, 8, 127_500, "558.90"),
        (10_500, 19_000, 8, 9, 162_500, "801.37"),
        (10_500, 30_000, 8, 4, 250_500, "549.04"),
    ]:
        total = overall_cost_usd(Decimal(host), Decimal(gpu), count)
        assert total == overall
        assert experiment_cost_usd(total, days) == Decimal(each)


@given(money, money, st.sampled_from([1, 2, 4, 8]))
def test_the_overall_cost_is_exact(host: Decimal, gpu: Decimal, count: int) -> None:
    total = overall_cost_usd(host, gpu, count)
    assert total - gpu * count == host


@given(money, st.integers(1, 5000), st.integers(1, 5000), st.integers(1, 20))
def test_longer_training_never_costs_less(usd: Decimal, a: int, b: int, years: int) -> None:
    less, more = sorted((a, b))
    assert experiment_cost_usd(usd, less, years) <= experiment_cost_usd(usd, more, years)
    assert experiment_cost_usd(usd, more, years) >= experiment_cost_usd(usd, more, years + 1)


def test_training_for_the_whole_lifetime_costs_the_whole_machine() -> None:
    assert experiment_cost_usd(Decimal("20900.00"), 1825, 5) == Decimal("20900.00")


def test_nonsense_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one GPU"):
        overall_cost_usd(Decimal(1), Decimal(1), 0)
    with pytest.raises(ValueError, match="serves longer"):
        experiment_cost_usd(Decimal(1), 1, 0)
