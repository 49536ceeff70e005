"""What holds on every screen: the kept state, copying and saving, trouble, themes."""

from __future__ import annotations

import asyncio
import csv
import json
import os
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from textual.events import Key
from textual.widgets import Input, Static

from advisor.costs.own_quotes import OWN
from advisor.store import Store
from advisor.tui.app import AdvisorApp
from advisor.tui.pages.export_page import ExportScreen
from advisor.tui.program.state import State, load_state
from advisor.tui.widgets.filter_table import FilterTable
from advisor.tui.widgets.rank_table import RankTable
from tests.store_for_tests import taken_as_it_is
from tests.tui.contrast import contrast_ratio
from tests.tui.program import (
    ASKED,
    NARROW,
    builds,
    counts,
    field,
    message,
    paste,
    ranking,
    rows,
    running,
    settled,
    type_into,
    until,
)


class TestKeptState:
    async def test_question_and_theme_are_kept(self, paper_store: Path, tmp_path: Path) -> None:
        kept = tmp_path / "deep" / "state.json"
        async with running(paper_store, state_path=kept) as pilot:
            await type_into(pilot, "b", "12345")
            await pilot.press("escape", "T")
            await pilot.press("q")
        state, note = load_state(kept)
        assert note is None
        assert (state.budget, state.theme) == ("12345", "textual-light")
        async with running(paper_store, state=state) as pilot:
            assert field(pilot, "budget").value == "12345"
            assert pilot.app.theme == "textual-light"

    async def test_a_broken_question_of_the_last_run_says_what_to_mend(
        self, paper_store: Path
    ) -> None:
        async with running(paper_store, state=replace(ASKED, budget="?")) as pilot:
            assert "the budget '?' is no price yet" in message(pilot)
            assert ranking(pilot).table.empty_message.startswith("No answer yet")
            await type_into(pilot, "b", "40000")
            assert rows(pilot)
            assert message(pilot).startswith("Buy ")


class TestCopy:
    async def test_a_row(self, paper_store: Path) -> None:
        async with running(paper_store) as pilot:
            await pilot.press("y")
            assert pilot.app.clipboard.startswith("1 × H100, ")
            assert " · $31,000 (" in pilot.app.clipboard
            assert " · 34 days" in pilot.app.clipboard
            assert " · $578 a run" in pilot.app.clipboard
            await pilot.press("space", "y")
            assert "34 days" in pilot.app.clipboard


class TestSaving:
    async def test_by_the_ending_of_the_name(self, paper_store: Path, tmp_path: Path) -> None:
        saved = {}
        async with running(paper_store) as pilot:
            await type_into(pilot, "g", "h100")
            await pilot.press("enter")
            seen = rows(pilot)
            for ending in (".csv", ".md", ".json", ".svg"):
                await pilot.press("e")
                await paste(pilot, str(tmp_path / f"builds{ending}"))
                await pilot.press("enter")
                await settled(pilot)
                assert pilot.app.screen is ranking(pilot)
                saved[ending] = (tmp_path / f"builds{ending}").read_text(encoding="utf-8")
            await pilot.press("2", "e")
            offered = pilot.app.screen.query_one("#path", Input).value
            assert offered.endswith(".svg"), "what is on the screen"
        table = list(csv.DictReader(saved[".csv"].splitlines()))
        assert [row["rank"] for row in table] == [row[0].strip("=★† ") for row in seen]
        assert {row["gpu"] for row in table} == {"H100"}
        assert saved[".md"].startswith("| \\# | GPUs |")
        assert len(saved[".md"].splitlines()) == len(seen) + 2 > 2
        assert len(json.loads(saved[".json"])) == len(seen)
        assert "<svg" in saved[".svg"] and "H100" in saved[".svg"]
        assert len(list(tmp_path.iterdir())) == 4

    async def test_never_over_a_file_unasked(self, paper_store: Path, tmp_path: Path) -> None:
        target = tmp_path / "builds.csv"
        target.write_text("mine", encoding="utf-8")
        async with running(paper_store) as pilot:
            await pilot.press("e")
            await paste(pilot, str(target))
            await pilot.press("enter")
            await settled(pilot)
            assert isinstance(pilot.app.screen, ExportScreen)
            assert "is already there" in str(pilot.app.screen.query_one("#said").render())
            assert target.read_text(encoding="utf-8") == "mine"
            await pilot.press("enter")
            await settled(pilot)
            assert target.read_text(encoding="utf-8").startswith("rank,")

    async def test_wrong_names(
        self, paper_store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        async with running(paper_store, size=NARROW) as pilot:
            for name, said in (
                ("", "the file has no name"),
                ("builds", "end the name in one of"),
                ("builds.xls", "end the name in one of .csv, .md, .json, .svg"),
                ("no/such/folder/builds.csv", "was not written (No such file or directory)"),
            ):
                await pilot.press("e")
                await paste(pilot, name)
                await pilot.press("enter")
                await settled(pilot)
                assert said in str(pilot.app.screen.query_one("#said").render())
                await pilot.press("escape")
                assert pilot.app.screen is ranking(pilot)
        assert list(tmp_path.iterdir()) == []


class TestTrouble:
    """What is wrong with a store is said in the program, and mends itself."""

    @pytest.fixture(autouse=True)
    def _impatient(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("advisor.tui.program.store_reader.STORE_WAIT_S", 0.1)

    async def test_a_missing_store_that_appears(self, paper_store: Path, tmp_path: Path) -> None:
        path = tmp_path / "results.duckdb"
        async with running(path) as pilot:
            assert f"no store at {path}" in message(pilot)
            assert "advisor rebuild" in message(pilot)
            assert "tried again every 2 s" in message(pilot)
            await pilot.press("b", "9", "escape", "x", "f3")
            path.write_bytes(paper_store.read_bytes())
            await pilot.press("f2")
            pilot.app.look_at_store()  # type: ignore[attr-defined]
            await settled(pilot)
            await settled(pilot)
            assert message(pilot).startswith("Nothing trains Pythia 1B for $9")

    @pytest.mark.parametrize("kind", ["short", "newer"])
    async def test_a_broken_store_is_a_message(
        self, paper_store: Path, tmp_path: Path, kind: str
    ) -> None:
        path = tmp_path / "results.duckdb"
        if kind == "newer":
            import duckdb

            path.write_bytes(paper_store.read_bytes())
            with duckdb.connect(str(path)) as connection:
                connection.execute("UPDATE schema_version SET version = version + 1000")
        else:
            path.write_bytes(paper_store.read_bytes()[:5000])
        async with running(path) as pilot:
            assert message(pilot).startswith("⚠ ")
            assert str(path) in message(pilot)
            await pilot.press("f3")
            await settled(pilot)
            assert pilot.app.is_running

    async def test_a_locked_store_keeps_the_last_answer(self, own_paper_store: Path) -> None:
        import subprocess

        async with running(own_paper_store) as pilot:
            holder = subprocess.Popen(
                [
                    sys.executable,
                    "-c",
                    "import duckdb, sys; c = duckdb.connect(sys.argv[1]); "
                    "c.execute('CREATE TABLE t (i INT)'); print('held', flush=True); "
                    "sys.stdin.read()",
                    str(own_paper_store),
                ],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
            )
            assert holder.stdout is not None
            assert holder.stdin is not None
            holder.stdout.readline()
            os.utime(own_paper_store)
            before = builds(pilot)
            pilot.app.look_at_store()  # type: ignore[attr-defined]
            await settled(pilot)
            await settled(pilot)
            assert "held" in message(pilot) or "in use" in message(pilot)
            assert builds(pilot) == before
            holder.stdin.close()
            holder.wait()
            os.utime(own_paper_store)
            taken_as_it_is(own_paper_store)
            pilot.app.look_at_store()  # type: ignore[attr-defined]
            await settled(pilot)
            await settled(pilot)
            assert counts(pilot).startswith("8 of ")

    async def test_rows_that_another_program_appends_keep_the_selection(
        self, own_paper_store: Path
    ) -> None:
        import duckdb

        async with running(own_paper_store) as pilot:
            await pilot.press("down", "down")
            selected = ranking(pilot).session.selected_key
            with duckdb.connect(str(own_paper_store)) as connection:
                connection.execute(
                    "INSERT INTO quote BY NAME SELECT * REPLACE ('cheap' AS quote_id, "
                    "1 AS price_usd, DATE '2026-11-20' AS quoted_on, 'local' AS origin, "
                    "NULL AS price_set) FROM quote WHERE quote_id = 'paper-table5:h100'"
                )
            taken_as_it_is(own_paper_store)
            pilot.app.look_at_store()  # type: ignore[attr-defined]
            await settled(pilot)
            await settled(pilot)
            assert ranking(pilot).session.selected_key == selected
            assert not ranking(pilot).query_one("#panels").has_class("-old")

    async def test_what_one_screen_has_read_already_comes_to_the_others(
        self, own_paper_store: Path
    ) -> None:
        """As where a change is made while the ranking is being read again."""
        async with running(own_paper_store, state=replace(ASKED, prices="latest")) as pilot:
            await pilot.press("f7")
            await settled(pilot)
            listed = pilot.app.screen.query_one(FilterTable)
            before = listed.listed.total if listed.listed is not None else 0
            pilot.app.look_at_store()  # type: ignore[attr-defined]
            await settled(pilot)
            with Store(own_paper_store).reading() as reader:
                (quote, *_) = reader.quotes()
            Store(own_paper_store).add(
                [OWN], quote=[quote._replace(quote_id="own:new", origin="local", corrects=None)]
            )
            ranking(pilot).read_store()
            await settled(pilot)
            await until(
                pilot,
                lambda: listed.listed is not None and listed.listed.total == before + 1,
                "the list of prices is old",
            )


async def test_every_header_sorts(paper_store: Path) -> None:
    async with running(paper_store, size=(160, 40), state=State(max_days="90")) as pilot:
        table = ranking(pilot).table
        for column in (each for each in table.columns if each.sorts):
            table.post_message(RankTable.HeaderClicked(column.key))
            await settled(pilot)
            assert table.sorted_by == column.key
        for keys in (("f7",), ("f3",), ("f3", "2"), ("f3", "3"), ("f2", "x")):
            await pilot.press(*keys)
            await settled(pilot)
            shown = pilot.app.screen.query_one(FilterTable)
            assert [c.title for c in shown.table.columns if not c.sorts] == [], keys
            for column in shown.table.columns:
                shown.table.post_message(RankTable.HeaderClicked(column.key))
                await settled(pilot)
                assert "⚠" not in str(shown.query_one(".count", Static).content), column.key


async def test_words_of_doubt_can_be_read_in_the_light(paper_store: Path) -> None:
    async with running(paper_store, state=replace(ASKED, theme="textual-light")) as pilot:
        named = pilot.app.theme_variables
        for ink in ("text-warning", "text-success", "text-error", "text-accent"):
            for paper in ("background", "surface", "panel"):
                assert contrast_ratio(named[ink], named[paper]) >= 4.5, (ink, paper)


async def test_a_page_that_is_closed_while_it_is_made_says_nothing(paper_store: Path) -> None:
    async with running(paper_store) as pilot:
        for steps in range(4, 12):
            pilot.app.post_message(Key("h", "h"))
            for _ in range(steps):
                await asyncio.sleep(0)
            pilot.app.action_go("ranking")  # type: ignore[attr-defined]
            await settled(pilot)
        assert pilot.app.is_running


@pytest.mark.parametrize("steps", [5, 6, 7])
async def test_a_screen_that_is_half_made_when_one_leaves_says_nothing(
    paper_store: Path, steps: int
) -> None:
    async with running(paper_store) as pilot:
        pilot.app.post_message(Key("f7", None))
        for _ in range(steps):
            await asyncio.sleep(0)
        pilot.app.exit()
    assert pilot.app._exception is None


NAMES = ("~nobody-here/x.toml", "x" * 299, "/dev/null")


async def test_no_name_of_a_file_ends_the_program(own_store: Path) -> None:
    before = own_store.read_bytes()
    async with running(own_store) as pilot:
        for way in (("f8", "G"), ("f7", "i"), ("f3", "I"), ("f2", "U")):
            for key in way:  # a busy machine takes longer to open a page than a key waits for it
                await pilot.press(key)
                await settled(pilot)
            await until(pilot, lambda: isinstance(pilot.app.screen.focused, Input), f"{way}")
            for name in NAMES:
                field = pilot.app.screen.focused
                assert isinstance(field, Input)
                field.value = name
                await pilot.press("enter")
                await settled(pilot)
                assert pilot.app.is_running
                field.focus()
                await pilot.pause()
            while len(pilot.app.screen_stack) > 1:
                await pilot.press("escape")
    assert own_store.read_bytes() == before


@pytest.mark.skipif(sys.platform == "win32", reason="terminals as Unix has them")
async def test_bytes_that_are_no_utf8_are_keys_as_others_are(own_store: Path) -> None:
    from textual import events
    from textual.drivers.linux_driver import LinuxDriver

    app = AdvisorApp(own_store)
    kind = app.get_driver_class()
    assert issubclass(kind, LinuxDriver)
    driver = kind(app)
    sent, typed = os.pipe()
    keys: list[str | None] = []

    def take(message: object) -> None:
        if isinstance(message, events.Key):
            keys.append(message.character)
        if keys[-1:] == ["b"]:
            driver.exit_event.set()

    driver.fileno, driver.process_message = sent, take  # type: ignore[method-assign]
    os.write(typed, b"a\xff\x9bb")
    try:
        driver.run_input_thread()
    finally:
        os.close(sent)
        os.close(typed)
    assert keys == ["a", "\ufffd", "\ufffd", "b"]
