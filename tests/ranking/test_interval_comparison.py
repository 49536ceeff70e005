"""Builds that cannot be told apart, and the measurement that would tell them apart."""

from __future__ import annotations

import math
from statistics import NormalDist

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from advisor.ranking.interval_comparison import Doubt, alike
from advisor.ranking.what_to_measure import DEVIATIONS, Contender, settle
from bench_runner.typed_numbers import NORMAL_90


def make(
    value: float,
    spread: float,
    *,
    effort: float = 1.0,
    settled: bool = False,
    factor: float | None = None,
    gpu: str | None = None,
) -> Contender:
    return Contender(
        value=value,
        gpu=gpu,
        low=value / spread,
        high=value * spread,
        factor=None if factor is None else min(factor, spread),
        settled=settled,
        effort=effort,
    )


def doubts(most: float) -> st.SearchStrategy[float]:
    """None at all, or more than the last bit of a number, which sums and logarithms round away."""
    return st.just(1.0) | st.floats(min_value=1.0001, max_value=most)


CONTENDERS = st.builds(
    make,
    st.floats(min_value=0.1, max_value=1000),
    doubts(3.0),
    effort=st.floats(min_value=0, max_value=1e6),
    settled=st.booleans(),
    factor=st.none() | doubts(2.0),
    gpu=st.none() | st.sampled_from("ab"),
)


def test_the_tabulated_deviations_are_those_of_a_normal_distribution() -> None:
    expected = [NormalDist().inv_cdf((i + 0.5) / 15) for i in range(15)]
    assert list(DEVIATIONS) == pytest.approx(expected, abs=1e-4)
    assert pytest.approx(NormalDist().inv_cdf(0.95), abs=1e-3) == NORMAL_90


def test_a_clear_first_place_needs_nothing() -> None:
    contest = settle([make(10, 1.1), make(20, 1.1), make(30, 1.2)])
    assert (contest.tied, contest.measure) == ((), None)
    assert settle([]).measure is None
    assert settle([make(10, 2.0)]).measure is None


def test_three_and_four_of_one_card_are_told_apart_by_what_they_share() -> None:
    # The card is far from the evidence, but it is the same card: what is unknown of it cancels.
    three = make(31.45, 1.232, factor=1.225, gpu="max-q")
    four = make(23.75, 1.232, factor=1.225, gpu="max-q")
    assert not alike(three, four)
    assert settle([four, three]).tied == ()
    assert alike(three, make(23.75, 1.232, factor=1.225, gpu="another"))
    # What differs by less than ratios of numbers of one GPU miss by is not told apart.
    assert alike(make(28.0, 1.232, factor=1.225, gpu="max-q"), four)
    # A measured time shares nothing with a prediction of the same card.
    assert alike(three, make(23.75, 1.232, gpu="max-q"))


@given(
    st.floats(1, 100), st.floats(1, 100), st.floats(1, 2), st.floats(1, 2), st.sampled_from("ab")
)
def test_sharing_a_card_never_ties_what_else_is_told_apart(
    value: float, other: float, factor: float, other_factor: float, gpu: str
) -> None:
    one = make(value, 2.0, factor=factor, gpu="a")
    assert alike(one, make(other, 2.0, factor=other_factor, gpu="b")) or not alike(
        one, make(other, 2.0, factor=other_factor, gpu=gpu)
    )


def test_times_printed_as_neighbouring_whole_days_are_told_apart() -> None:
    one = Contender(value=22, low=21.5, high=22.5, settled=True, effort=1)
    other = Contender(value=23, low=22.5, high=23.5, settled=True, effort=1)
    assert not alike(one, other)
    assert alike(one, one)


def test_what_two_predictions_share_does_not_keep_them_together() -> None:
    """Four and two of one GPU: wide intervals overlap, and yet four are faster."""
    four, two = make(38.6, 1.62, factor=1.4), make(77.2, 1.62, factor=1.4)
    assert four.high > two.low
    assert not alike(four, two)
    # Beside a measurement nothing cancels.
    assert alike(four, make(50, 1.01))
    assert alike(make(38.6, 1.62), make(70, 1.62))


def test_the_doubts_of_two_times_add_as_squares() -> None:
    # 1.2 and 1.2 make 1.294 of the ratio, not 1.44.
    assert alike(make(10, 1.2), make(12.9, 1.2))
    assert not alike(make(10, 1.2), make(13.0, 1.2))
    assert alike(make(10, 1.2, factor=1.1), make(11.4, 1.2, factor=1.1))
    assert not alike(make(10, 1.2, factor=1.1), make(11.5, 1.2, factor=1.1))


def test_a_low_end_of_zero_is_told_from_nothing() -> None:
    assert alike(make(1, 1.1), Doubt(value=50, low=0.0, high=60))


def in_a_comparison(c: Contender) -> Contender:
    """As it will stand once a measurement has told the user's own software."""
    low, high = c.near
    return Contender(value=c.value, low=low, high=high, settled=c.settled, effort=c.effort)


def strictly_alike(one: Contender, other: Contender) -> bool:
    """`alike`, but for equal times that nobody doubts."""
    return alike(one, other) and max(one.high / one.low, other.high / other.low) > 1


def left_by_trying(field: list[Contender], measured: int) -> float:
    """The definition, spelt out: put each found value in, and count who is not told from the
    first."""
    asked = field[measured]
    others = sorted((c for c in field if c is not asked), key=lambda c: (c.value, c.high))
    beside_a_prediction = others[0].factor is not None
    low, high = asked.near if beside_a_prediction else (asked.low, asked.high)
    sd = math.log(high / low) / (2 * NORMAL_90)
    total = 0
    for z in DEVIATIONS:
        value = asked.value * math.exp(sd * z)
        found = Contender(value=value, low=value, high=value, settled=True, effort=0)
        tried = [found, *map(in_a_comparison, others)]
        # Of equal values the measured one is first.
        best = found if found.value <= tried[1].value else tried[1]
        total += sum(c is not best and strictly_alike(c, best) for c in tried)
    return total / len(DEVIATIONS)


@given(st.lists(CONTENDERS, max_size=8))
@example([make(7.0, 2.0), make(14.0, 2.0, effort=0.0), make(7.0, 2.0, effort=0.0)])
def test_ties_are_alike_the_first_and_a_measurement_is_one_of_them(field: list[Contender]) -> None:
    contest = settle(field)
    if field:
        first = min(range(len(field)), key=lambda i: field[i].value)
        expected = [i for i in range(len(field)) if i != first and alike(field[i], field[first])]
        assert list(contest.tied) == expected
        if contest.measure is not None:
            among = [field[i] for i in (first, *contest.tied)]
            at = (first, *contest.tied).index(contest.measure)
            assert not field[contest.measure].settled
            assert contest.left == pytest.approx(left_by_trying(among, at))
            fewest = min(left_by_trying(among, i) for i, c in enumerate(among) if not c.settled)
            assert contest.left <= fewest + 0.5 + 1e-9


@given(CONTENDERS, CONTENDERS)
def test_being_alike_is_symmetric_and_never_more_than_an_overlap(
    one: Contender, other: Contender
) -> None:
    assert alike(one, other) == alike(other, one)
    if alike(one, other):
        assert one.value == other.value or (one.low < other.high and other.low < one.high)


@given(st.lists(CONTENDERS, max_size=6, unique_by=lambda c: c.value), st.randoms())
def test_the_order_of_the_contenders_does_not_matter(field: list[Contender], random) -> None:  # type: ignore[no-untyped-def]
    shuffled = list(field)
    random.shuffle(shuffled)
    one, other = settle(field), settle(shuffled)
    assert {field[i] for i in one.tied} == {shuffled[i] for i in other.tied}
    assert one.left == pytest.approx(other.left)
