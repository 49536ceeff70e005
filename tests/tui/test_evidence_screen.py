"""The evidence: three lists, filtered while one types, sorted, read page by page."""

from __future__ import annotations

import csv
from pathlib import Path

from textual.pilot import Pilot

from advisor.tui.pages.list_page import ListScreen
from advisor.tui.pages.screens import RecordScreen
from advisor.tui.widgets.filter_table import FilterTable
from advisor.tui.widgets.lines import LinesView
from tests.tui.program import page, paste, running, settled


def shown(pilot: Pilot[None]) -> FilterTable:
    """The list that is shown."""
    assert isinstance(pilot.app.screen, ListScreen)
    return pilot.app.screen.list


def column(pilot: Pilot[None], at: int, count: int = 50) -> list[str]:
    """One column of the first rows."""
    source = shown(pilot).table.source
    return [str(source.cells(index)[at]) for index in range(min(count, len(source)))]


def words(pilot: Pilot[None], selector: str) -> str:
    """What a line of the list says."""
    return str(shown(pilot).query_one(selector).render())


async def test_times_with_verdict_and_reason(paper_store: Path) -> None:
    async with running(paper_store) as pilot:
        await pilot.press("f3", "slash")
        await paste(pilot, "pythia-1b 8 × rtx optimal")
        assert column(pilot, 1) == ["8 × RTX 3090"]
        assert column(pilot, 4) == ["✗ implausible"]
        assert words(pilot, ".count").startswith("1 of ")
        assert "117 % of the peak" in words(pilot, ".remark")
        await pilot.press("enter", "space")
        assert isinstance(pilot.app.screen, RecordScreen)
        text = page(pilot.app.screen.query_one(LinesView))
        assert "pythia-1b on 8 × RTX 3090" in text
        assert "physically impossible" in text
        assert "not synchronised with the GPU" in text


async def test_each_list_keeps_its_own_filter(paper_store: Path) -> None:
    """The chosen build's GPU filters the times; no source has that name."""
    async with running(paper_store) as pilot:
        await pilot.press("down", "f3")
        await settled(pilot)
        gpu = shown(pilot).filter.value
        assert gpu
        await pilot.press("2")
        await settled(pilot)
        assert (shown(pilot).filter.value, len(shown(pilot).table.source) > 0) == ("", True)
        await pilot.press("3")
        await settled(pilot)
        assert shown(pilot).filter.value == gpu


async def test_sorting_by_key_and_by_header(paper_store: Path) -> None:
    async with running(paper_store) as pilot:
        await pilot.press("f3", "s", "s", "s")
        await settled(pilot)
        assert shown(pilot).table.sorted_by == "days"
        days = [float(cell) for cell in column(pilot, 2)]
        assert days == sorted(days)
        await pilot.press("S")
        await settled(pilot)
        days = [float(cell) for cell in column(pilot, 2)]
        assert days == sorted(days, reverse=True)
        await pilot.click(shown(pilot).table, offset=(2, 0))
        await settled(pilot)
        assert shown(pilot).table.sorted_by == "model"
        assert column(pilot, 0) == sorted(column(pilot, 0))


async def test_sources(paper_store: Path) -> None:
    async with running(paper_store) as pilot:
        await pilot.press("f3", "2")
        await settled(pilot)
        await pilot.press("slash")
        await paste(pilot, "paper-table1")
        assert column(pilot, 0) == [
            "Table 1, Khandelwal et al.: $100K or 100 Days: Trade-offs when "
            "Pre-Training with Academic Resources"
        ]
        assert "not synchronised" in words(pilot, ".remark")
        await pilot.click("Tabs", offset=(3, 0))
        await settled(pilot)
        assert column(pilot, 0)[0] == "convnext-xlarge-22k"


async def test_saving_what_the_filter_shows(paper_store: Path, tmp_path: Path) -> None:
    target = tmp_path / "times.csv"
    async with running(paper_store) as pilot:
        await pilot.press("f3", "slash")
        await paste(pilot, "pythia-1b optimal h100")
        await pilot.press("enter", "e")
        await paste(pilot, str(target))
        await pilot.press("enter")
        await settled(pilot)
    rows = list(csv.DictReader(target.open(encoding="utf-8")))
    assert {row["model"] for row in rows} == {"pythia-1b"}
    assert [row["training_days"] for row in rows] == ["34.0", "16.0", "8.0", "4.0"]


async def test_predictions_stand_beside_what_was_measured(store_path: Path) -> None:
    async with running(store_path) as pilot:
        await pilot.press("f3", "slash")
        await paste(pilot, "predicted")
        assert len(shown(pilot).table.source) == 0
        await pilot.press("enter", "3", "slash")
        await settled(pilot)
        await paste(pilot, "pythia-1b 8 × a6000 optimal")
        assert column(pilot, 4) == ["unsynchronised", "predicted"]
        days = column(pilot, 2)
        assert [day.startswith("≈") for day in days] == [False, True]
        low, high = (float(end) for end in column(pilot, 3)[1].split("–"))
        assert low < float(days[1].removeprefix("≈")) < high
        await pilot.press("enter", "down", "space")
        text = page(pilot.app.screen.query_one(LinesView))
        assert "TRAINING TIME ≈" in text
        assert "predicted, not measured" in text
