"""The screen of prices, driven by keys on a store that may be written."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Input, Static

from advisor.answers.build_words import gpus_words
from advisor.store import Store
from advisor.tui.pages.export_page import ExportScreen
from advisor.tui.pages.screens import ConfirmScreen
from advisor.tui.prices.import_quotes import ImportScreen
from advisor.tui.prices.price_forms import MachineForm, QuoteForm
from advisor.tui.prices.prices_screen import PricesScreen
from advisor.tui.widgets.filter_table import FilterTable
from advisor.tui.widgets.lines import LinesView
from advisor.tui.widgets.rank_table import RankTable
from tests.facts_for_tests import make_quote
from tests.store_for_tests import look
from tests.tui.program import (
    ASKED,
    NARROW,
    WIDE,
    message,
    open_build,
    page,
    paste,
    ranking,
    running,
    settled,
    until,
)

LATEST = replace(ASKED, prices="latest")


async def go(pilot: Pilot[None]) -> PricesScreen:
    await pilot.press("f7")
    await settled(pilot)
    screen = pilot.app.screen
    assert isinstance(screen, PricesScreen)
    return screen


def table(screen: PricesScreen) -> list[list[str]]:
    source = screen.query_one(FilterTable).table.source
    return [
        [cell if isinstance(cell, str) else cell.plain for cell in source.cells(index)]
        for index in range(len(source))
    ]


async def write(pilot: Pilot[None], **fields: str) -> None:
    """Replace what stands in fields of the dialog, as typing does."""
    for name, text in fields.items():
        field = pilot.app.screen.query_one(f"#{name}", Input)
        field.focus()
        await pilot.pause()
        field.value = text
        await pilot.pause()
    await settled(pilot)


def said(pilot: Pilot[None]) -> str:
    return str(pilot.app.screen.query_one("#said", Static).content)


async def test_a_quote_is_added_by_keys_and_counts(own_store: Path) -> None:
    async with running(own_store, state=LATEST) as pilot:
        screen = await go(pilot)
        await pilot.press("a")
        assert isinstance(pilot.app.screen, QuoteForm)
        await write(pilot, item="3090", vendor="[b]=1+1", date="2026-11-01", price="cheap")
        assert said(pilot).startswith("⚠ Price: the price 'cheap' is not an amount")
        await pilot.press("enter")
        await settled(pilot)
        assert isinstance(pilot.app.screen, QuoteForm)
        await write(pilot, price="912", kind="used")
        assert said(pilot) == "RTX 3090 $912: Enter keeps it"
        await pilot.press("enter")
        await settled(pilot)
        assert pilot.app.screen is screen
        (row,) = [row for row in table(screen) if row[1] == "$912"]
        assert row[0].startswith("★")
        assert row[3] == "[b]=1+1 (own quote)"
    assert any(quote.vendor == "[b]=1+1" for quote in look(Store(own_store)).quotes())


async def test_a_form_opens_without_a_reproach_and_names_the_key_for_a_new_machine(
    store_path: Path,
) -> None:
    async with running(store_path, state=LATEST) as pilot:
        await go(pilot)
        await pilot.press("a")
        await settled(pilot)
        assert said(pilot) == "What is the price, and who asks it? Enter keeps it."
        await write(pilot, item="Lab server")
        assert said(pilot).startswith("⚠") and said(pilot).endswith("a new machine: Esc, then A")
        await pilot.press("escape", "A")
        await settled(pilot)
        assert isinstance(pilot.app.screen, MachineForm)
        assert not said(pilot).startswith("⚠")


async def test_a_correction_keeps_the_old_quote(own_store: Path) -> None:
    async with running(own_store, state=LATEST) as pilot:
        screen = await go(pilot)
        await pilot.press("slash", *"newegg 5090", "enter")
        await settled(pilot)
        await pilot.press("R")
        form = pilot.app.screen
        assert isinstance(form, QuoteForm)
        assert form.query_one("#price", Input).value == "4199.00"
        await write(pilot, price="4000")
        await pilot.press("enter")
        await settled(pilot)
        await pilot.press("slash", "ctrl+u")
        await settled(pilot)
        rows = {row[1]: row for row in table(screen) if "Newegg" in row[3]}
        assert "corrected" in rows["$4,199"][4]
        assert rows["$4,000"][0].startswith("★")


async def test_a_sum_of_parts_is_no_quote_to_correct(own_store: Path) -> None:
    memory = make_quote(
        "part", "Corsair Vengeance LPX 128 GB", "410", origin="local", quoted_on=date(2026, 8, 1)
    )
    Store(own_store).add(quote=[memory])
    async with running(own_store, state=LATEST) as pilot:
        screen = await go(pilot)
        await pilot.press("slash", *"of 7 quotes", "enter")
        await settled(pilot)
        (row,) = table(screen)
        assert row[0] == "★ Desktop for 2 GPUs"
        await pilot.press("R")
        await settled(pilot)
        assert pilot.app.screen is screen
        # The list as the paper has it may be corrected; its kind is then the user's to say.
        await pilot.press("slash", "ctrl+u", *"consumer retailers", "enter")
        await settled(pilot)
        await pilot.press("R")
        assert isinstance(pilot.app.screen, QuoteForm)
        assert pilot.app.screen.query_one("#kind", Input).value == ""


async def test_a_file_is_looked_at_first_and_read_whole_or_not_at_all(
    own_store: Path, tmp_path: Path
) -> None:
    path = tmp_path / "q.csv"
    before = len(look(Store(own_store)).quotes())
    async with running(own_store, state=LATEST) as pilot:
        screen = await go(pilot)
        path.write_text("item,price,vendor,date,kind\n3090,900,a,2026-11-01,used\nH200,x,b,y,z\n")
        await pilot.press("i")
        assert isinstance(pilot.app.screen, ImportScreen)
        await paste(pilot, str(path))
        await settled(pilot)
        preview = page(pilot.app.screen.query_one("#below", LinesView))
        assert "row 3, column 'price'" in preview
        assert "row 3, column 'date'" in preview
        assert "nothing will be read" in said(pilot)
        await pilot.press("enter")
        await settled(pilot)
        assert len(look(Store(own_store)).quotes()) == before
        path.write_text("item,price,vendor,date,kind\n3090,900,a,2026-11-01,used\n")
        await pilot.press("enter")
        await settled(pilot)
        assert said(pilot) == "1 quote: Enter reads it in"
        assert len(look(Store(own_store)).quotes()) == before
        await pilot.press("enter")
        await settled(pilot)
        assert pilot.app.screen is screen
    assert len(look(Store(own_store)).quotes()) == before + 1


@pytest.mark.parametrize("size", [WIDE, NARROW])
async def test_owning_against_renting_is_drawn(store_path: Path, size: tuple[int, int]) -> None:
    async with running(store_path, state=LATEST, size=size) as pilot:
        await pilot.press("down", "down")
        screen = await go(pilot)
        await pilot.press("2")
        await settled(pilot)
        view = screen.query_one("#rent", LinesView)
        assert view.display
        text = page(view)
        build = ranking(pilot).session.selected_build
        assert build is not None
        assert text.startswith(f"Pythia 1B on {gpus_words(build)}")
        assert "rent on-demand" in text
        assert "×" in text
        assert "buying pays from" in text
        assert max(len(line) for line, _ in view.lines) <= size[0]
        await pilot.press("e")
        assert isinstance(pilot.app.screen, ExportScreen)


async def test_a_machine_of_ones_own_is_entered_corrected_and_deleted_by_keys(
    own_store: Path,
) -> None:
    # The narrow terminal is the harder one.
    async with running(own_store, state=replace(LATEST, budget="$300,000"), size=NARROW) as pilot:
        screen = await go(pilot)
        await pilot.press("A")
        form = pilot.app.screen
        assert isinstance(form, MachineForm)
        assert form.query_one("#said").region.bottom <= NARROW[1]
        await write(pilot, machine="Lab [b]quote", gpu="H200", count="8", price="285000")
        await write(pilot, vendor="shop", date="2026-11-01", watts="900")
        assert "less than its 8 GPUs draw" in said(pilot)
        await pilot.press("enter")
        await settled(pilot)
        assert pilot.app.screen is form
        await write(pilot, watts="10200")
        assert said(pilot) == "Lab [b]quote $285,000: Enter keeps it"
        await pilot.press("enter")
        await settled(pilot)
        assert pilot.app.screen is screen
        await pilot.press("slash", *"lab [b]", "enter")
        await settled(pilot)
        (row,) = table(screen)
        assert row[0] == "★ Lab [b]quote (own quote)"
        await pilot.press("R")
        form = pilot.app.screen
        assert isinstance(form, MachineForm)
        assert form.here == "price", "not the name"
        assert form.query_one("#watts", Input).value == "10200"
        await write(pilot, price="240000")
        await pilot.press("enter")
        await settled(pilot)
        assert {row[1] for row in table(screen) if row[0].startswith("★")} == {"$240,000"}
        await pilot.press("f2")
        await settled(pilot)
        source = pilot.app.screen.query_one(RankTable).source
        shown = [str(source.cells(index)[1]) for index in range(len(source))]
        assert any("(own" in cell for cell in shown), shown
        await pilot.press("f7")
        await settled(pilot)
        screen = pilot.app.screen
        await pilot.press("slash", "ctrl+u", *"lab [b]", "enter")
        await settled(pilot)
        await pilot.press("d")
        assert isinstance(pilot.app.screen, ConfirmScreen)
        await pilot.press("escape")
        assert len(table(screen)) == 2
        await pilot.press("d", "enter")
        await settled(pilot)
        assert table(screen) == []
        for key, count in (("ctrl+z", 2), ("ctrl+y", 0), ("ctrl+z", 2), ("ctrl+z", 1)):
            await pilot.press(key)
            await until(pilot, lambda n=count: len(table(screen)) == n, f"{key} {count}")
        await pilot.press("ctrl+z")
        await until(pilot, lambda: table(screen) == [], "the machine was added first")
    assert not any(host.origin == "local" for host in look(Store(own_store)).hosts())


async def test_a_machine_that_the_lab_has_is_one_key_and_one_line(own_paper_store: Path) -> None:
    async with running(own_paper_store, size=NARROW) as pilot:
        await pilot.press("O")
        await paste(pilot, "8 x H100")
        await pilot.press("enter")
        await settled(pilot)
        assert pilot.app.screen is ranking(pilot)
        assert message(pilot).startswith("Use your 8 × H100")
        await go(pilot)
        await pilot.press("O")
        await paste(pilot, "8 x H100")
        assert said(pilot) == "your 8 × H100: Enter forgets it"
        await pilot.press("enter")
        await settled(pilot)
        await pilot.press("f2")
        await settled(pilot)
        assert not message(pilot).startswith("Use your")


async def test_a_quote_for_a_whole_machine_is_found_again_from_its_page(own_store: Path) -> None:
    state = replace(LATEST, budget="100000", max_days="60")
    async with running(own_store, size=NARROW, state=state) as pilot:
        build = pilot.app.screen_stack[0].session.selected_build  # type: ignore[attr-defined]
        assert build.host.gpu_id is not None
        await pilot.press("a")
        await paste(pilot, "43210")
        await pilot.press("tab")
        await paste(pilot, "Campus shop")
        await pilot.press("enter")
        await settled(pilot)
        await open_build(pilot, "P")
        await settled(pilot)
        shown = page(pilot.app.screen.query_one("#page", LinesView))
        assert "$43,210 the machine: Campus shop (own quote), reseller's quote, today" in shown
        assert " a GPU: " in shown.partition("$43,210 the machine")[2]
        await pilot.press("enter")
        await settled(pilot)
        screen = pilot.app.screen
        assert isinstance(screen, PricesScreen)
        row = table(screen)[screen.list.table.cursor]
        assert row[:2] == [f"★ {build.host.label}", "$43,210"]


async def test_a_page_that_closes_before_its_filter_is_put_in_ends_nothing(
    own_store: Path,
) -> None:
    async with running(own_store) as pilot:
        screen = await go(pilot)
        # Its parts go before it does, and what was to be put in comes between.
        await screen.list.remove_children()
        screen.filter_by("RTX 5090")
        await settled(pilot)
        await screen.list.remove()
        screen.filter_by("RTX 5090")
        await settled(pilot)
        assert pilot.app.is_running
