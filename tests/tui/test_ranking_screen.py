"""The main screen, driven by keys and mouse on the shipped evidence: answer and selection."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from textual.pilot import Pilot

from advisor.answers.ranking.rank_answer import LEAST_SOLD, NOT_SOLD
from advisor.tui.pages.screens import RecordScreen
from advisor.tui.program.state import State
from advisor.tui.ranking.left_out import ExcludedScreen
from advisor.tui.selected.build_screen import BuildScreen
from advisor.tui.widgets.filter_table import FilterTable
from advisor.tui.widgets.plot.data import PointFlag
from advisor.tui.widgets.plot.plot import CostTimePlot
from tests.tui.program import (
    ASKED,
    NARROW,
    WIDE,
    builds,
    counts,
    detail,
    message,
    page,
    paste,
    ranking,
    rows,
    running,
    settled,
    type_into,
)


def excluded(pilot: Pilot[None]) -> list[str]:
    """The machines in the list of what is left out."""
    source = pilot.app.screen.query_one(FilterTable).table.source
    return [str(source.cells(index)[0]) for index in range(len(source))]


class TestAnswer:
    @pytest.mark.parametrize("size", [(60, 20), (72, 20), NARROW])
    async def test_doubt_stands_in_the_row(self, store_path: Path, size: tuple[int, int]) -> None:
        state = State(max_days="60", budget="100000")
        async with running(store_path, size=size, state=state) as pilot:
            screen = ranking(pilot)
            titles = [column.title for column in screen.table.columns]
            assert len(titles) <= 7
            assert screen.table.region.height >= 4 and screen.query_one("#message").region.area
            assert screen.query_one("KeyBar").region.bottom <= size[1]
            names = [row[1] for row in rows(pilot)]
            assert len(names) == len(set(names)), "cut, but apart"
            answer = ranking(pilot).session.answer
            assert answer is not None
            if "60 d?" in titles:
                at = titles.index("60 d?")
                assert all(row[at].endswith("%") for row in rows(pilot))
            for row, (first, *_) in zip(rows(pilot), answer.ranking.table, strict=True):
                time = answer.ranking.machine(first).time
                assert row[2].startswith("≈") == (time.basis == "predicted")

    @pytest.mark.parametrize("size", [NARROW, WIDE])
    async def test_a_short_training_has_its_times_in_hours_or_minutes(
        self, store_path: Path, size: tuple[int, int]
    ) -> None:
        """After it was asked for by keys; table, picture and first line in one unit."""
        state = State(model="llama-3.1-8b", budget="100000")
        async with running(store_path, size=size, state=state) as pilot:
            assert "days" in [column.title for column in ranking(pilot).table.columns]
            await pilot.press("f", "space", "space", "enter")
            await settled(pilot)
            assert ranking(pilot).session.inputs.model == "llama-3.1-8b+lora"
            column = next(c for c in ranking(pilot).table.columns if c.key == "days")
            words = message(pilot)
            times = [float(row[2].lstrip("≈").replace(",", "")) for row in rows(pilot)]
            assert min(times) >= 1 and f"{times[0]:g} {column.title}" in words
            assert all(len(row[2]) <= column.width for row in rows(pilot))
            last = ranking(pilot).table.columns[-1].width
            assert max(map(len, NOT_SOLD.values())) <= LEAST_SOLD
            assert all(len(f"▸ {why}") <= last for why in NOT_SOLD.values())
            await pilot.press("x")
            await settled(pilot)
            left_out = pilot.app.screen.query_one(FilterTable).table.columns
            assert column.title in [each.title for each in left_out]
            await pilot.press("escape")
            picture = ranking(pilot).query_one(CostTimePlot)
            assert f"training time, {column.title}" in picture.data.y_title
            at = picture.data.flagged(PointFlag.FIRST)[0]
            shown = float(rows(pilot)[0][2].lstrip("≈"))
            assert picture.data.y_times[at] == pytest.approx(shown, rel=0.005)

    async def test_the_papers_machine_at_face_value(self, paper_store: Path) -> None:
        async with running(paper_store, state=replace(ASKED, evidence="published")) as pilot:
            first = rows(pilot)[0]
            assert first[1].endswith("8 × RTX 3090")
            assert first[2] == "30" and "$20,900" in first
            assert "$344" in first
            assert "$20,900 × 30 d / (5 y × 365 d) = $343.56" in detail(pilot)
            assert message(pilot).startswith("Buy 8 × RTX 3090")
            assert "physically impossible" in message(pilot)

    @pytest.mark.parametrize("key", ["plus", "enter"])
    async def test_a_row_opens_into_its_offers_and_closes(self, store_path: Path, key: str) -> None:
        asked = replace(ASKED, prices="latest", budget="20000")
        async with running(store_path, state=asked) as pilot:
            table = ranking(pilot).session.answer.ranking.table
            closed = rows(pilot)
            assert len(closed) == len(table) and len(table[0]) > 1
            await pilot.press(key)
            opened = rows(pilot)
            assert len(opened) == len(table) + len(table[0])
            offers = [row[1] for row in opened[1 : 1 + len(table[0])]]
            assert len(offers) == len(set(offers)), "cut, but apart"
            assert all(name.startswith("    ") for name in offers)
            await pilot.press("down", "down", "enter")
            assert isinstance(pilot.app.screen, BuildScreen)
            assert ranking(pilot).session.selected == table[0][1]
            await pilot.press("escape", "home", "plus")
            assert rows(pilot) == closed


class TestSelection:
    async def test_table_and_picture_follow_each_other(self, paper_store: Path) -> None:
        async with running(paper_store) as pilot:
            screen = ranking(pilot)
            await pilot.press("down", "down")
            answer = screen.session.answer
            assert answer is not None
            point = screen.picture.selected
            assert point is not None
            assert answer.points.builds[point] == screen.session.selected
            assert detail(pilot).startswith("4 × A6000")
            await pilot.press("2", "home")
            assert screen.focused is screen.picture
            assert screen.table.cursor == len(rows(pilot)) - 1
            assert detail(pilot).startswith("1 × RTX 3090")

    async def test_a_build_that_is_left_out_can_be_looked_at_in_the_picture(
        self, paper_store: Path
    ) -> None:
        async with running(paper_store) as pilot:
            await pilot.press("2", "end")
            assert detail(pilot).startswith("8 × H100, 2U server left out for Pythia 1B")
            assert "left out: over budget; costs $250,500" in detail(pilot)

    async def test_with_a_limit_the_picture_begins_with_the_fastest_that_fits(
        self, store_path: Path
    ) -> None:
        state = State(max_days="60")
        async with running(store_path, state=state) as pilot:
            screen = ranking(pilot)
            await pilot.press("z")
            await settled(pilot)
            layout = screen.picture.arranged
            answer, at = screen.session.answer, screen.session.answer.points.at
            days = answer.ranking.candidates.days
            fastest = min(answer.ranking.order, key=days.__getitem__)
            assert layout is not None and layout.cells[at[fastest]] is not None
            drawn = "\n".join(screen.picture.render_line(y).text for y in range(34))
            ticks = re.findall(r"(\d+) d┤", drawn)
            assert len(ticks) >= 2 and all(tick.strip("0") in "125" for tick in ticks)
            data = screen.picture.data
            labels = data.labels([*layout.named, at[answer.ranking.order[0]]])
            assert len(set(labels.values())) == len(labels) > 1

    async def test_the_choice_stays_while_the_question_changes(self, paper_store: Path) -> None:
        async with running(paper_store) as pilot:
            await pilot.press("down", "down", "down")
            assert detail(pilot).startswith("2 × A6000")
            await type_into(pilot, "b", "12000")
            assert detail(pilot).startswith("2 × A6000")
            await pilot.press("escape", "o")
            assert detail(pilot).startswith("2 × A6000")
            assert builds(pilot)[ranking(pilot).table.cursor] == "2 × A6000"

    async def test_a_choice_that_sinks_out_of_sight_gives_way_to_the_answer_and_comes_back(
        self, store_path: Path
    ) -> None:
        async with running(store_path, state=State()) as pilot:
            session = ranking(pilot).session
            await pilot.press("down")
            chosen = session.selected_key
            await type_into(pilot, "b", "500k")
            assert ranking(pilot).table.cursor == 0
            await type_into(pilot, "b", "40k")
            assert session.selected_key == chosen

    async def test_click_in_the_picture_selects(self, paper_store: Path) -> None:
        async with running(paper_store) as pilot:
            picture = ranking(pilot).picture
            layout = picture.arranged
            assert layout is not None
            (column, row), point = list(layout.winners.items())[3]
            place = (column + 1, row + 1)  # and the border
            await pilot.click(picture, offset=place)
            answer = ranking(pilot).session.answer
            assert answer is not None
            assert ranking(pilot).session.selected == answer.points.builds[point]


class TestLeftOut:
    async def test_reasons_filter_sort_and_record(self, paper_store: Path) -> None:
        async with running(paper_store) as pilot:
            await pilot.press("x")
            screen = pilot.app.screen
            assert isinstance(screen, ExcludedScreen)
            await pilot.press("slash")
            await paste(pilot, "impossible 8")
            table = screen.query_one(FilterTable)
            names = [table.table.source.cells(i)[0] for i in range(len(table.table.source))]
            assert names[0].startswith("8 × RTX 3090")
            assert "physically impossible" in str(table.query_one(".remark").content)  # type: ignore[attr-defined]
            await pilot.press("enter", "enter")
            assert isinstance(pilot.app.screen, RecordScreen)
            from advisor.tui.widgets.lines import LinesView

            assert "left out: impossible time" in page(pilot.app.screen.query_one(LinesView))
            await pilot.press("escape", "slash", "escape")
            assert table.filter.value == ""
            await pilot.press("escape", "escape")
            assert pilot.app.screen is ranking(pilot)


class TestSizes:
    async def test_one_panel_at_a_time_where_it_is_narrow(self, paper_store: Path) -> None:
        async with running(paper_store, size=NARROW) as pilot:
            screen = ranking(pilot)
            shown = [w for w in (screen.table, screen.picture, screen.detail) if w.region.area]
            assert shown == [screen.table]
            await pilot.press("2")
            assert screen.picture.region.area
            assert not screen.table.region.area
            await pilot.press("3")
            assert screen.focused is screen.detail
            await pilot.click("Tabs", offset=(3, 0))
            assert screen.focused is screen.table

    @pytest.mark.parametrize("size", [(20, 5), (1, 1), (59, 40), (200, 10)])
    async def test_too_small_is_one_line_and_recovers(
        self, paper_store: Path, size: tuple[int, int]
    ) -> None:
        async with running(paper_store, size=size) as pilot:
            screen = ranking(pilot)
            visible = [w for w in screen.children if w.display and w.styles.display != "none"]
            assert [type(w).__name__ for w in visible if w.region.area] == ["TooSmall"]
            said = str(screen.query_one("TooSmall").render())
            assert said.startswith("Buy ")
            assert " days" in said
            await pilot.resize_terminal(120, 40)
            await settled(pilot)
            assert screen.table.region.height > 5
            assert counts(pilot).startswith("8 of ")

    async def test_resizing_behind_another_screen_counts(self, paper_store: Path) -> None:
        async with running(paper_store) as pilot:
            await pilot.press("f3")
            await pilot.resize_terminal(80, 24)
            await pilot.press("f2")
            await settled(pilot)
            assert ranking(pilot).has_class("-narrow")


async def test_rows_that_cannot_be_told_from_the_first_are_marked(store_path: Path) -> None:
    async with running(store_path, state=State(budget="31000")) as pilot:
        answer = ranking(pilot).session.answer
        assert answer is not None and answer.ranking.tied_rows > 1
        marks = [row[0].strip() == "1=" for row in rows(pilot)]
        tied = range(1, answer.ranking.tied_rows)
        assert marks == [place in tied for place in range(len(marks))]
        await pilot.press("down")
        assert "cannot be told from row 1" in detail(pilot)


async def test_a_point_that_a_newer_answer_no_longer_has_is_passed_over(paper_store: Path) -> None:
    async with running(paper_store) as pilot:
        selected, shown = ranking(pilot).session.selected, pilot.app.screen.query_one(CostTimePlot)
        shown.post_message(CostTimePlot.PointSelected(1_000_000))
        await settled(pilot)
        assert pilot.app._exception is None
        assert ranking(pilot).session.selected == selected
