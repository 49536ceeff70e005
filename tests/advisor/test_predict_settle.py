"""Builds that cannot be told apart, and the measurement that would tell them apart."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from advisor.predict.settle import Contender, overlap, settle


def make(days: float, spread: float, *, effort: float = 1.0, measured: bool = False) -> Contender:
    return Contender(
        label=f"{days:g} days",
        days=days,
        low_days=days / spread,
        high_days=days * spread,
        measured=measured,
        effort=effort,
    )


def test_a_clear_first_place_needs_nothing() -> None:
    contest = settle([make(10, 1.1), make(20, 1.1), make(30, 1.2)])
    assert (contest.tied, contest.measure) == ((), None)
    assert settle([]).measure is None
    assert settle([make(10, 2.0)]).measure is None


def test_of_two_alike_the_cheaper_is_measured() -> None:
    contest = settle([make(10, 1.2, effort=50), make(11, 1.2, effort=9), make(40, 1.1)])
    assert contest.tied == (1,)
    assert contest.measure == 1


def test_what_is_measured_already_is_not_measured_again() -> None:
    contest = settle([make(10, 1.3, effort=50), make(11, 1.2, effort=9, measured=True)])
    assert contest.tied == (1,)
    assert contest.measure == 0
    both = [make(10, 1.2, measured=True), make(11, 1.2, measured=True)]
    assert settle(both).measure is None


def test_the_widest_interval_is_measured_where_it_settles_more() -> None:
    # Measuring a narrow one leaves the wide one overlapping; measuring the wide one does not.
    field = [make(10, 1.02), make(12, 1.03), make(13, 1.02), make(11, 2.0, effort=3.0)]
    contest = settle(field)
    assert contest.tied == (3,)
    assert contest.measure == 3


@given(
    st.lists(
        st.builds(
            make,
            st.floats(min_value=0.1, max_value=1000),
            st.floats(min_value=1.0, max_value=3.0),
            effort=st.floats(min_value=0, max_value=1e6),
            measured=st.booleans(),
        ),
        max_size=8,
    )
)
def test_ties_overlap_the_first_and_a_measurement_is_one_of_them(field: list[Contender]) -> None:
    contest = settle(field)
    if field:
        first = min(range(len(field)), key=lambda i: field[i].days)
        expected = [i for i in range(len(field)) if i != first and overlap(field[i], field[first])]
        assert list(contest.tied) == expected
        if contest.measure is not None:
            assert contest.measure in (first, *contest.tied)
            assert not field[contest.measure].measured
