"""What the main screen says of the selected build: its page, and one line (pure)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from advisor.tui.ranking.build_page import excluded_line, excluded_lines, one_line, ranked_lines
from advisor.tui.widgets.lines import Line

if TYPE_CHECKING:
    from advisor.tui.program.ranking_session import RankingSession


def selected_page(session: RankingSession) -> Callable[[int], Sequence[Line]]:
    """The selected build in full, for a width."""
    shown, snapshot, i = session.answer, session.snapshot, session.selected
    if shown is None or snapshot is None or i is None:
        return lambda width: []
    try:
        position = shown.ranking.order.index(i)
    except ValueError:
        order = shown.ranking.excluded_order
        place = next(n for n, (index, _) in enumerate(order) if index == i)
        return partial(excluded_lines, shown.ranking, shown.ranking.excluded_row(place), snapshot)
    row, best = shown.ranking.row(position), shown.view.candidates.times[i]
    starred = row._replace(on_pareto_front=i in shown.front)
    lifetime = shown.ranking.question.lifetime_years
    return partial(ranked_lines, shown.ranking, starred, best, lifetime, snapshot)


def point_line(session: RankingSession, i: int, *, short: bool = False) -> str:
    """One build in a line below the picture, ranked or left out."""
    assert session.answer is not None
    ranking = session.answer.ranking
    try:
        return one_line(ranking.row(ranking.order.index(i)), short=short)
    except ValueError:
        place = next(n for n, (at, _) in enumerate(ranking.excluded_order) if at == i)
        return excluded_line(ranking.excluded_row(place))


def selected_line(session: RankingSession) -> str | None:
    """The selected build in one line; None where none is selected."""
    if session.answer is None or session.selected is None:
        return None
    return point_line(session, session.selected)
