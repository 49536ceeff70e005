"""Builds that cannot be told apart, and the measurement that would tell them apart."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from advisor.ranking.interval_comparison import Doubt, alike


def make(
    value: float,
    spread: float,
    *,
    factor: float | None = None,
    gpu: str | None = None,
) -> Doubt:
    return Doubt(
        value=value,
        gpu=gpu,
        low=value / spread,
        high=value * spread,
        factor=None if factor is None else min(factor, spread),
    )


def doubts(most: float) -> st.SearchStrategy[float]:
    """None at all, or more than the last bit of a number, which sums and logarithms round away."""
    return st.just(1.0) | st.floats(min_value=1.0001, max_value=most)


DOUBTS = st.builds(
    make,
    st.floats(min_value=0.1, max_value=1000),
    doubts(3.0),
    factor=st.none() | doubts(2.0),
    gpu=st.none() | st.sampled_from("ab"),
)


def test_three_and_four_of_one_card_are_told_apart_by_what_they_share() -> None:
    # The card is far from the evidence, but it is the same card: what is unknown of it cancels.
    three = make(31.45, 1.232, factor=1.225, gpu="max-q")
    four = make(23.75, 1.232, factor=1.225, gpu="max-q")
    assert not alike(three, four)
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
    one = Doubt(value=22, low=21.5, high=22.5)
    other = Doubt(value=23, low=22.5, high=23.5)
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


@given(DOUBTS, DOUBTS)
def test_being_alike_is_symmetric_and_never_more_than_an_overlap(one: Doubt, other: Doubt) -> None:
    assert alike(one, other) == alike(other, one)
    if alike(one, other):
        assert one.value == other.value or (one.low < other.high and other.low < one.high)
