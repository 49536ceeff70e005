"""What the screens say of one build: all sections on a page or panel, one line (pure)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import date
from typing import TYPE_CHECKING

from advisor.answers.build_words import gpus_words, machine_words
from advisor.answers.ranking.rank_answer import run_words
from advisor.answers.ranking.rank_sentence import days_of
from advisor.answers.wording import age_short, price_source_words, trust_words
from advisor.costs.amount_words import usd_rounded
from advisor.tui.widgets.lines import FAINT, HEADING, PLAIN, STRONG, WARNING, Line, wrapped

if TYPE_CHECKING:
    from advisor.answers.builds.build_sections import Section
    from advisor.answers.builds.one_build import OneBuild
    from advisor.ranking.row_order import ExcludedRow, RankedRow, Ranking
    from advisor.tui.program.session import RankingSession

LABEL_WIDTH = 9
KEY_COLUMN = 12
"""Cells at the right of the page for each section's key."""
WIDEST = 130
"""Cells of the page of all sections at most."""
MOST_LINES = (12, 8, 6, 5, 4, 3, 2)
"""Lines of a section on that page, by what there is room for."""


def overview_lines(
    one: OneBuild, width: int, height: int, keys: Mapping[Section, str] | None = None
) -> list[Line]:
    """Every section in as many of its lines as the page is high for, in one where it is low; its
    key, where it has one, at the right, where the eye still finds it."""
    width = min(width, WIDEST)
    for most, apart in (*((most, True) for most in MOST_LINES), (3, False), (2, False)):
        roomy = _overview(one, width, keys, most=most, apart=apart)
        if len(roomy) <= height:
            return roomy
    return _overview(one, width, keys, most=1, apart=False)


def _overview(
    one: OneBuild, width: int, keys: Mapping[Section, str] | None, *, most: int, apart: bool
) -> list[Line]:
    from advisor.answers.builds.build_sections import SECTION_WORDS, section_lines

    lines: list[Line] = []
    room = max(20, width - LABEL_WIDTH - (2 + KEY_COLUMN if keys else 0))
    for section, words in SECTION_WORDS.items():
        if apart and lines:
            lines.append(("", FAINT))
        label, tail = words, (keys or {}).get(section, "")
        said_of_it = section_lines(one, section)[: 1 if section == "running" else most]
        for n, said in enumerate(said_of_it):
            style = WARNING if said.warns else PLAIN if n else STRONG
            for piece, _ in wrapped([(said.text, PLAIN)], room):
                text = f"{label:<{LABEL_WIDTH}}{piece:<{room}}  {tail}".rstrip()
                lines.append((text, style))
                label = tail = ""
    return lines


def whole_page(one: OneBuild, width: int) -> list[Line]:
    """Every section in full, below each other."""
    # Late: not for the first picture.
    from advisor.answers.builds.build_sections import SECTION_WORDS, section_lines
    from advisor.answers.builds.one_build import place_words

    lines: list[Line] = [(one.name, STRONG), (place_words(one), FAINT)]
    for section, words in SECTION_WORDS.items():
        lines += [("", PLAIN), (words.upper(), HEADING)]
        said = section_lines(one, section)
        lines += [(each.text, WARNING if each.warns else PLAIN) for each in said]
    return wrapped(lines, width)


def selected_page(session: RankingSession, today: date) -> Callable[[int], Sequence[Line]]:
    """The selected build in full, for a width."""

    def page(width: int) -> Sequence[Line]:
        one = session.one_build(today)
        return [] if one is None else whole_page(one, width)

    return page


def one_line(ranking: Ranking, row: RankedRow, *, short: bool) -> str:
    """A build in one line, for the clipboard and below the picture; ``short`` where that is
    narrow."""
    build = row.build
    gpus, machine = gpus_words(build), machine_words(build)
    days = days_of(ranking.candidates, ranking.order[row.rank - 1])
    price = usd_rounded(row.overall_cost_usd)
    if short:
        return f"{gpus} · {price} ({age_short(row, date.today())}) · {days} · {machine}"
    source = price_source_words(build, row.gpu_quote, row.host_quote, ranking.candidates.abroad)
    run = f"{run_words(row)} a run · {trust_words(row.time)}"
    return f"{gpus}, {machine} · {price} ({source}) · {days} · {run}"


def excluded_line(row: ExcludedRow) -> str:
    """The same of a build that is left out, with the reason."""
    cost = "" if row.overall_cost_usd is None else f" · {usd_rounded(row.overall_cost_usd)}"
    return f"{gpus_words(row.build)}, {machine_words(row.build)}{cost} · left out: {row.detail}"


def point_line(session: RankingSession, i: int, *, short: bool = False) -> str:
    """One build in a line below the picture, ranked or left out."""
    assert session.answer is not None
    ranking = session.answer.ranking
    if i in ranking.places:
        return one_line(ranking, ranking.machine(i), short=short)
    place = next(n for n, (at, _) in enumerate(ranking.excluded_order) if at == i)
    return excluded_line(ranking.excluded_row(place))


def selected_line(session: RankingSession) -> str | None:
    """The selected build in one line; None where none is selected."""
    if session.answer is None or session.selected is None:
        return None
    return point_line(session, session.selected)
