"""What holds on every screen: keys, help, palette, themes, the kept state, copying and saving."""

from __future__ import annotations

import asyncio
import csv
import json
import os
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from typing import Any

import pytest
from textual.command import CommandPalette
from textual.events import Key
from textual.fuzzy import Matcher
from textual.geometry import Size
from textual.widget import Widget
from textual.widgets import Input, Markdown, Static

import advisor.tui
from advisor.tui.app import AdvisorApp
from advisor.tui.evidence.evidence_screen import EvidenceScreen
from advisor.tui.pages.bars import fitting, footer_actions
from advisor.tui.pages.export_page import ExportScreen
from advisor.tui.pages.help import FIELD_HELP, HelpScreen, KeysTable
from advisor.tui.pages.welcome import WelcomeScreen
from advisor.tui.program.actions import ACTIONS, EVERYWHERE, KEY_NAMES, actions_of
from advisor.tui.program.dialog_actions import DIALOG_ACTIONS
from advisor.tui.program.palette import doings, likeness
from advisor.tui.program.settings import State, load_state
from advisor.tui.program.themes import THEMES
from advisor.tui.ranking.ranking_screen import RankingScreen
from advisor.tui.widgets.filter_table import FilterTable
from advisor.tui.widgets.rank_table import RankTable
from tests.tui.conftest import screenshot
from tests.tui.contrast import contrast_ratio
from tests.tui.program import (
    ASKED,
    NARROW,
    builds,
    counts,
    field,
    message,
    page,
    paste,
    ranking,
    rows,
    running,
    settled,
    type_into,
    until,
)


class TestKeys:
    async def test_keys_that_come_at_once_go_where_they_are_meant(
        self, own_paper_store: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """As over a slow line: digits after `b` are the budget's, those after `a` the price."""
        # A busy machine takes longer to open a page than a key waits for the one before it.
        monkeypatch.setattr("advisor.tui.program.typed_ahead.LONGEST_S", 60.0)

        def type_at_once(*keys: str) -> None:
            for key in keys:
                pilot.app.post_message(Key(key, key if len(key) == 1 else None))

        async with running(own_paper_store) as pilot:
            type_at_once("b", "end", "ctrl+u", "1", "2", "k", "enter", "a", "9", "9", "0")
            await until(
                pilot,
                lambda: [each.value for each in pilot.app.screen.query("#price")] == ["990"],  # type: ignore[attr-defined]
                "no price",
            )
            assert ranking(pilot).session.inputs.budget == "12k"
            assert pilot.app.screen.query_one("#price", Input).value == "990"

    def test_no_two_actions_of_a_screen_share_a_key(self) -> None:
        over = {action.where for action in DIALOG_ACTIONS}  # the keys everywhere rest below these
        for where in {action.where for action in ACTIONS} - {EVERYWHERE}:
            everywhere = [] if where in over else actions_of(EVERYWHERE)
            keys = Counter(
                key
                for action in (*actions_of(where), *everywhere)
                for key in action.keys.split(",")
            )
            assert [key for key, count in keys.items() if count > 1] == []

    def test_no_screen_and_no_page_has_a_key_outside_the_registry(self) -> None:
        """Widgets have keys of their own; screens and dialogs take theirs from the registry."""
        root = Path(advisor.tui.__file__).parent
        screens = [p for p in root.rglob("*.py") if p.parent.name not in ("widgets", "plot")]
        own = [p.name for p in screens if re.search(r"(?<!\w)Binding\($", p.read_text(), re.M)]
        own += [p.name for p in screens if re.search(r"(?<!\w)Binding\(\"", p.read_text())]
        assert sorted(set(own)) == ["action.py", "model_picker.py"]

    async def test_each_page_over_a_screen_shows_its_keys_and_no_others(
        self, paper_store: Path
    ) -> None:
        async with running(paper_store, size=NARROW) as pilot:
            for keys, where in (
                (("x",), "left out"),
                (("e",), "export"),
                (("h",), "questions"),
                (("k",), "name"),
                (("n",), "own model"),
                (("a",), "quote"),
                (("O",), "quote"),
                (("f8", "n"), "grant"),
                (("f6", "e"), "elsewhere"),
            ):
                await pilot.press(*keys)
                await settled(pilot)
                assert getattr(pilot.app.screen, "WHERE", "") == where, keys
                shown = str(pilot.app.screen.query_one(".keys", Static).content)
                for action in actions_of(where):
                    if action.footer:
                        assert f"{action.key} {action.footer}" in shown
                await pilot.press("f1")
                await settled(pilot)
                table = pilot.app.screen.query_one(KeysTable)
                said = str(table.render())
                assert all(action.text.split(".")[0][:20] in said for action in actions_of(where))
                assert "KEYS EVERYWHERE" not in said
                assert max(map(len, said.split("\n"))) <= table.content_size.width
                await pilot.press("escape", "escape", "f2")
                await settled(pilot)

    def test_the_footer_uses_the_width_and_no_more(self) -> None:
        for where in {action.where for action in ACTIONS}:
            keys = [(a.key, a.footer, a.action) for a in footer_actions(where)]
            for width in (40, 78, 118, 198):
                shown = fitting(keys, (), width)
                assert sum(len(key) + len(word) + 3 for key, word, _ in shown) <= width + 2
                assert shown == keys[: len(shown)]
        many = [(a.key, a.footer, a.action) for a in footer_actions("ranking")]
        assert len(fitting(many, (), 118)) > len(fitting(many, (), 78)) >= 5

    async def test_the_footer_follows_the_focus(self, paper_store: Path) -> None:
        async with running(paper_store) as pilot:
            bar = ranking(pilot).query_one("KeyBar")
            assert str(bar.content).startswith("Enter this build")  # type: ignore[attr-defined]
            await pilot.press("2")
            assert "all names" in str(bar.content)  # type: ignore[attr-defined]
            await pilot.press("b")
            assert str(bar.content).startswith("Esc to the table")  # type: ignore[attr-defined]
            await pilot.click("KeyBar", offset=(20, 0))
            await settled(pilot)
            focused = pilot.app.screen.focused
            assert focused is not None and focused.id == "model", "a click on Tab"

    async def test_the_letter_of_each_field_is_underlined(self, paper_store: Path) -> None:
        async with running(paper_store) as pilot:
            labels = ranking(pilot).query("#question .label")
            underlined = []
            for label in labels:
                content = label.content  # type: ignore[attr-defined]
                spans = [span for span in content.spans if "underline" in str(span.style)]
                underlined.append(content.plain[spans[0].start].lower())
            assert underlined == list("bmtlgopv")

    async def test_jump_goes_to_any_field_or_list(self, paper_store: Path) -> None:
        async with running(paper_store) as pilot:
            await pilot.press("j", "d")
            assert ranking(pilot).focused is field(pilot, "max_days")
            await pilot.press("ctrl+o", "l")
            assert ranking(pilot).focused is ranking(pilot).table
            await pilot.press("j", "escape")
            assert ranking(pilot).focused is ranking(pilot).table

    async def test_every_action_of_the_main_screen_has_a_working_key(
        self, paper_store: Path
    ) -> None:
        async with running(paper_store) as pilot:
            run: list[str] = []
            original = pilot.app.run_action

            async def remember(action: Any, *rest: Any, **more: Any) -> bool:
                run.append(action if isinstance(action, str) else action[1])
                return await original(action, *rest, **more)

            pilot.app.run_action = remember  # type: ignore[method-assign]
            for action in actions_of("ranking"):
                ranking(pilot).table.focus()
                await pilot.press(action.keys.split(",")[0])
                assert any(action.action.startswith(done) for done in run), action
                run.clear()
                while pilot.app.screen is not ranking(pilot):
                    await pilot.press("escape")
                ranking(pilot).remove_class("-whole")

    async def test_tab_follows_the_reading_order(self, paper_store: Path) -> None:
        async with running(paper_store) as pilot:
            await pilot.press("b")
            order = []
            for _ in range(11):
                focused = ranking(pilot).focused
                assert focused is not None
                order.append(focused.id)
                await pilot.press("tab")
            assert order == [
                *("budget", "model", "max_days", "lifetime", "gpus"),
                *("rule", "prices", "evidence", "table", "picture", "detail"),
            ]

    async def test_screens_by_key_and_by_click(self, paper_store: Path) -> None:
        async with running(paper_store) as pilot:
            await pilot.press("f3")
            assert isinstance(pilot.app.screen, EvidenceScreen)
            await pilot.press("f4")
            assert isinstance(pilot.app.screen, WelcomeScreen)
            await pilot.click("TitleBar", offset=(16, 0))
            assert pilot.app.screen is ranking(pilot)
            await pilot.press("b", "f3")  # also out of a field
            assert isinstance(pilot.app.screen, EvidenceScreen)
            await pilot.press("escape")
            assert pilot.app.screen is ranking(pilot)

    async def test_quit_from_the_table_and_out_of_a_field(self, paper_store: Path) -> None:
        for keys in (("q",), ("b", "ctrl+q")):
            async with running(paper_store) as pilot:
                await pilot.press(*keys)
                await pilot.pause()
                assert not pilot.app.is_running


class TestHelp:
    @pytest.mark.parametrize("name", [*FIELD_HELP, "model", "table", "picture", "detail"])
    async def test_f1_explains_what_has_the_focus(self, paper_store: Path, name: str) -> None:
        async with running(paper_store) as pilot:
            ranking(pilot).query_one(f"#{name}").focus()
            await pilot.press("f1")
            assert isinstance(pilot.app.screen, HelpScreen)
            said = pilot.app.screen.query_one(Markdown).source
            assert len(said) > 60
            assert ("## The ranking\n" in said) == (name in ("table", "picture", "detail"))
            await pilot.press("f1")
            assert pilot.app.screen is ranking(pilot)

    async def test_a_question_mark_in_a_field_is_text(self, paper_store: Path) -> None:
        async with running(paper_store) as pilot:
            await pilot.press("question_mark")
            assert isinstance(pilot.app.screen, HelpScreen)
            await pilot.press("escape", "g", "question_mark")
            assert field(pilot, "gpus").value == "?"

    async def test_palette_names_every_action(self, paper_store: Path) -> None:
        async with running(paper_store) as pilot:
            titles = [c.title for c in pilot.app.get_system_commands(pilot.app.screen)]
            wanted = [a.title for a in ACTIONS if a.where in ("ranking", EVERYWHERE)]
            assert titles[: len(wanted)] == wanted
            assert "prices: import a CSV file" in titles, "those of other screens too"
            assert all(": " in title for title in titles)
            await pilot.press("ctrl+p", *"next theme")
            await pilot.pause(0.3)
            await pilot.press("enter")
            await settled(pilot)
            assert pilot.app.theme == "textual-light"


def _ours(kind: type[Widget]) -> Iterator[type[Widget]]:
    """Every class of the program below one of Textual's."""
    for below in kind.__subclasses__():
        if below.__module__.startswith("advisor."):
            yield below
        yield from _ours(below)


def test_no_key_is_hidden_and_none_is_shown_in_vain() -> None:
    for module in walk_packages(advisor.tui.__path__, "advisor.tui."):
        import_module(module.name)
    for kind in {*_ours(Widget)}:
        where, help_of = getattr(kind, "WHERE", ""), getattr(kind, "HELP", None) or ""
        known = {(a.action, a.keys) for a in actions_of(where)} if where else set()
        bound = {(b.action, b.key): b for b in vars(kind).get("BINDINGS", ())}
        for (action, keys), binding in bound.items():
            told = all(f"`{KEY_NAMES.get(key, key)}`" in help_of for key in keys.split(","))
            typed = action == "undo_typed"  # in the footer and the help of every field
            assert (action, keys) in known or binding.tooltip or told or typed, (kind, keys)
        if "WHERE" in vars(kind) and bound and not kind.__subclasses__():
            assert known <= bound.keys(), kind
            for action, keys in known:
                owner = AdvisorApp if action.startswith("app.") else kind
                name = action.removeprefix("app.").partition("(")[0]
                assert hasattr(owner, f"action_{name}"), (kind, keys, action)


def test_what_is_under_way_elsewhere_is_not_offered(paper_store: Path) -> None:
    app = AdvisorApp(paper_store)
    offered = {command.title for command in app.get_system_commands(RankingScreen(State(), Size()))}
    assert {"benchmark: start", "prices: add a quote", "plan: choose the grant"} <= offered
    assert not {"benchmark: cancel", "prices: delete what is yours", "plan: back"} & offered


@pytest.mark.parametrize(
    ("typed", "best"),
    [
        ("own machine", "question: a machine that you own"),
        ("running costs", "build: running costs"),
        ("electricity", "build: running costs"),
        ("circuit", "build: power and circuit"),
        ("slurm", "build: measure it"),
        ("config.json", "question: a model of your own"),
        ("history", "question: history of questions"),
        ("pdf", "screen: plan"),
        ("delete", "build: price and quotes"),
    ],
)
def test_the_palette_knows_what_people_call_a_thing(
    paper_store: Path, typed: str, best: str
) -> None:
    """Also by what an action does, and not by its name's letters alone."""
    app, matcher = AdvisorApp(paper_store), Matcher(typed)
    found = doings(app, RankingScreen(State(), Size()))
    words = typed.split()
    first = max(found, key=lambda each: likeness(words, each, matcher.match(each.title)))
    assert first.title == best


class TestPalette:
    @pytest.mark.parametrize(
        ("typed", "what"),
        [
            ("rank by cheapest", {"rule": "cost"}),
            ("model: roberta", {"model": "roberta"}),
            ("GPU: H100", {"gpus": "H100"}),
        ],
    )
    async def test_it_reaches_over_the_whole_program(
        self, paper_store: Path, typed: str, what: dict[str, str]
    ) -> None:
        async with running(paper_store) as pilot:
            await pilot.press("f3", "ctrl+p", *typed)
            await pilot.pause(0.4)
            await pilot.press("enter")
            await settled(pilot)
            assert pilot.app.screen is ranking(pilot)
            for name, value in what.items():
                assert getattr(ranking(pilot).session.inputs, name) == value

    async def test_an_action_of_another_screen_goes_there_first(self, paper_store: Path) -> None:
        async with running(paper_store) as pilot:
            await pilot.press("ctrl+p", *"prices: add a quote")
            await pilot.pause(0.4)
            await pilot.press("enter")
            await settled(pilot)
            assert type(pilot.app.screen).__name__ == "QuoteForm"

    async def test_a_quote_leads_to_its_line(self, paper_store: Path) -> None:
        async with running(paper_store) as pilot:
            await pilot.press("ctrl+p", *"quote: A6000")
            await pilot.pause(0.4)
            await pilot.press("enter")
            await settled(pilot)
            screen = pilot.app.screen
            assert type(screen).__name__ == "PricesScreen"
            assert screen.list.filter.value == "A6000"  # type: ignore[attr-defined]


class TestWelcome:
    async def test_the_first_run_opens_it_and_enter_tries_the_sample(
        self, paper_store: Path
    ) -> None:
        async with running(paper_store, state=State()) as pilot:
            assert isinstance(pilot.app.screen, WelcomeScreen)
            text = page(pilot.app.screen.query_one("#welcome"))  # type: ignore[arg-type]
            for part in (
                "1 Ask what to buy (F2)",
                "2 See what that rests on (F3, F7)",
                "3 Measure (F6), and plan a grant (F8)",
                "4 Take it with you",
                "A SAMPLE: $40,000 for Pythia 1B",
                "days old today",
                "claim more than the hardware can do",
                "Limits:",
            ):
                assert part in text
            await pilot.press("enter")
            await settled(pilot)
            assert pilot.app.screen is ranking(pilot)
            assert field(pilot, "budget").value == "40000"

    async def test_a_predicted_sample_says_so(self, store_path: Path) -> None:
        async with running(store_path, state=State()) as pilot:
            text = page(pilot.app.screen.query_one("#welcome"))  # type: ignore[arg-type]
            assert re.search(r"Pythia 1B in ≈[\d.]+ days \([\d.]+–[\d.]+\)", " ".join(text.split()))

    async def test_the_second_run_does_not(self, paper_store: Path) -> None:
        async with running(paper_store) as pilot:
            assert pilot.app.screen is ranking(pilot)
            await pilot.press("f4")
            assert isinstance(pilot.app.screen, WelcomeScreen)


class TestKeptState:
    async def test_question_and_theme_are_kept(self, paper_store: Path, tmp_path: Path) -> None:
        kept = tmp_path / "deep" / "state.json"
        async with running(paper_store, state_path=kept) as pilot:
            await type_into(pilot, "b", "12345")
            await pilot.press("escape", "dollar_sign", "T")
            await pilot.press("q")
        state, note = load_state(kept)
        assert note is None
        assert (state.budget, state.cost_basis, state.theme) == (
            "12345",
            "experiment",
            "textual-light",
        )
        async with running(paper_store, state=state) as pilot:
            assert field(pilot, "budget").value == "12345"
            assert pilot.app.theme == "textual-light"

    async def test_a_broken_question_of_the_last_run_says_what_to_mend(
        self, paper_store: Path
    ) -> None:
        async with running(paper_store, state=replace(ASKED, budget="?")) as pilot:
            assert "'?' is not an amount" in message(pilot)
            assert ranking(pilot).table.empty_message.startswith("No answer yet")
            await type_into(pilot, "b", "40000")
            assert rows(pilot)
            assert message(pilot).startswith("Buy ")

    @pytest.mark.parametrize("theme", THEMES)
    async def test_every_theme_draws(self, paper_store: Path, theme: str) -> None:
        async with running(paper_store, state=replace(ASKED, theme=theme)) as pilot:
            assert pilot.app.theme == theme
            assert pilot.app.native_ansi_color == theme.startswith("ansi")

    async def test_no_color_is_honoured(
        self, paper_store: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("NO_COLOR", "1")
        async with running(paper_store) as pilot:
            svg = pilot.app.export_screenshot()
            import re

            colours = {c.lower() for c in re.findall(r"fill: (#[0-9a-fA-F]{6})", svg)}
            assert colours
            assert all(c[1:3] == c[3:5] == c[5:7] for c in colours if c != "#c5c8c6")


class TestCopy:
    async def test_row_and_table(self, paper_store: Path) -> None:
        async with running(paper_store) as pilot:
            await pilot.press("y")
            assert pilot.app.clipboard.startswith("1 × H100, ")
            assert " · $31,000 (" in pilot.app.clipboard
            assert " · 34 days" in pilot.app.clipboard
            assert " · $578 a run" in pilot.app.clipboard
            await pilot.press("Y")
            lines = pilot.app.clipboard.splitlines()
            assert lines[0] == "| place | machine | price | prices of | days | a run | rests on |"
            assert len(lines) == 2 + len(builds(pilot))
            await pilot.press("space", "y")
            assert "34 days" in pilot.app.clipboard

    async def test_an_estimate_keeps_its_mark_and_interval(self, store_path: Path) -> None:
        async with running(store_path, state=State(welcomed=True)) as pilot:
            await pilot.press("y")
            assert re.search(r" · ≈[\d.,]+ days \([\d.,]+–[\d.,]+\) · ≈\$", pilot.app.clipboard)
            await pilot.press("Y")
            first = pilot.app.clipboard.splitlines()[2]
            assert re.search(r"\| ≈[\d.,]+ \([\d.,]+–[\d.,]+\) \| ≈\$", first)
            assert any("≈" in row[-3] for row in rows(pilot))
            await pilot.press("x")
            await settled(pilot)
            source = pilot.app.screen.query_one(FilterTable).table.source
            days = [str(source.cells(i)[3]) for i in range(30)]
            assert sum(text.startswith("≈") for text in days) >= 10
            names = [str(source.cells(i)[0]) for i in range(30)]
            assert len(set(names)) == len(names), "cut, but apart"

    async def test_nothing_to_copy_is_said(self, paper_store: Path) -> None:
        async with running(paper_store) as pilot:
            await type_into(pilot, "b", "1")
            await pilot.press("escape", "y")
            assert pilot.app.clipboard == ""


class TestSaving:
    @pytest.mark.parametrize("ending", [".csv", ".md", ".json", ".svg"])
    async def test_by_the_ending_of_the_name(
        self, paper_store: Path, tmp_path: Path, ending: str
    ) -> None:
        target = tmp_path / f"builds{ending}"
        async with running(paper_store) as pilot:
            await pilot.press("e")
            await paste(pilot, str(target))
            await pilot.press("enter")
            await settled(pilot)
            assert pilot.app.screen is ranking(pilot)
        text = target.read_text(encoding="utf-8")
        if ending == ".csv":
            rows = list(csv.DictReader(text.splitlines()))
            assert rows[0]["overall_cost_usd"] == "31000.00"
            assert {row["reason"] for row in rows} >= {"over-budget", "implausible-time"}
        elif ending == ".md":
            assert text.startswith("| rank |")
        elif ending == ".json":
            assert json.loads(text)[0]["experiment_cost_usd"] == 577.53
        else:
            assert text.startswith("<svg")
            assert "H100" in text
        assert [path.name for path in tmp_path.iterdir()] == [target.name]

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

    @pytest.mark.parametrize(
        ("name", "said"),
        [
            ("", "the file has no name"),
            ("builds", "end the name in one of"),
            ("builds.xls", "end the name in one of .csv, .md, .json, .svg"),
            ("no/such/folder/builds.csv", "was not written (No such file or directory)"),
        ],
    )
    async def test_wrong_names(
        self,
        paper_store: Path,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
        name: str,
        said: str,
    ) -> None:
        monkeypatch.chdir(tmp_path)
        async with running(paper_store, size=NARROW) as pilot:
            await pilot.press("e")
            await paste(pilot, name)
            await pilot.press("enter")
            await settled(pilot)
            assert said in str(pilot.app.screen.query_one("#said").render())
            await pilot.press("escape")
            assert pilot.app.screen is ranking(pilot)
        assert list(tmp_path.iterdir()) == []

    async def test_the_format_can_be_chosen(self, paper_store: Path) -> None:
        async with running(paper_store) as pilot:
            await pilot.press("e", "shift+tab", "right")
            assert pilot.app.screen.query_one("#path").value.endswith(".md")  # type: ignore[attr-defined]


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

    @pytest.mark.parametrize("kind", ["empty", "short", "text", "folder", "newer"])
    async def test_a_broken_store_is_a_message(
        self, paper_store: Path, tmp_path: Path, kind: str
    ) -> None:
        path = tmp_path / "results.duckdb"
        if kind == "folder":
            path.mkdir()
        elif kind == "newer":
            import duckdb

            path.write_bytes(paper_store.read_bytes())
            with duckdb.connect(str(path)) as connection:
                connection.execute("UPDATE schema_version SET version = version + 1000")
        else:
            content = {"empty": b"", "short": paper_store.read_bytes()[:5000], "text": b"x" * 20000}
            path.write_bytes(content[kind])
        async with running(path) as pilot:
            assert message(pilot).startswith("⚠ ")
            assert str(path) in message(pilot)
            await pilot.press("f3")
            await settled(pilot)
            await pilot.press("f4")
            await settled(pilot)
            assert pilot.app.is_running

    async def test_a_locked_store_keeps_the_last_answer(self, own_paper_store: Path) -> None:
        import subprocess
        import sys

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
            pilot.app.look_at_store()  # type: ignore[attr-defined]
            await settled(pilot)
            await settled(pilot)
            assert ranking(pilot).session.selected_key == selected
            assert not ranking(pilot).query_one("#panels").has_class("-old")


class TestKept:
    async def test_the_sorting_survives_leaving_and_closing(
        self, store_path: Path, tmp_path: Path
    ) -> None:
        path = tmp_path / "state.json"
        async with running(store_path, state=State(welcomed=True), state_path=path) as pilot:
            await pilot.press("s", "S", "f7")
            await settled(pilot)
            await pilot.press("s", "s", "S", "f3", "s")
            await settled(pilot)
            looked = [row[1] for row in rows(pilot)]
        state, problem = load_state(path)
        assert problem is None
        assert state.looked_by and state.descending
        async with running(store_path, state=state, state_path=path) as pilot:
            assert [row[1] for row in rows(pilot)] == looked
            await pilot.press("f7")
            await settled(pilot)
            table = pilot.app.screen.query_one(FilterTable).table
            assert (table.sorted_by, table.sort_descending) == ("price", True)
            await pilot.press("f3")
            await settled(pilot)
            assert pilot.app.screen.query_one(FilterTable).table.sorted_by == "model"

    @pytest.mark.parametrize("sorts", ["quotes:nothing:down", ":::", "a b c", "quotes"])
    async def test_a_damaged_sorting_is_ignored(self, store_path: Path, sorts: str) -> None:
        state = State(welcomed=True, sorts=sorts, looked_by="nothing")
        async with running(store_path, state=state) as pilot:
            await pilot.press("f7")
            await settled(pilot)
            assert pilot.app.screen.query_one(FilterTable).table.sorted_by is None


@pytest.mark.parametrize("size", [(60, 4), (20, 4), (80, 4), (12, 3)])
async def test_the_palette_opens_in_a_terminal_of_a_few_rows(
    paper_store: Path, size: tuple[int, int]
) -> None:
    async with running(paper_store, size=size) as pilot:
        await pilot.press("ctrl+p")
        await pilot.pause()
        assert isinstance(pilot.app.screen, CommandPalette)
        await pilot.press(*"quit")
        await pilot.pause(0.3)
        if size[0] > 12:
            shown = pilot.app.screen.query_one(Input)
            assert shown.size.height >= 1 and shown.region.bottom <= size[1]
            assert "quit" in screenshot(pilot.app)
        await pilot.press("down", "up", "pageup", "pagedown", "enter", "enter")
        await settled(pilot)
        assert pilot.app._exception is None


async def test_every_header_sorts(store_path: Path) -> None:
    async with running(
        store_path, size=(160, 40), state=State(welcomed=True, max_days="90")
    ) as pilot:
        table = ranking(pilot).table
        assert [c.key for c in table.columns if c.sort_key is None] == []
        for column in table.columns:
            table.post_message(RankTable.HeaderClicked(table, column.key, column.sort_key or ""))
            await settled(pilot)
            assert table.sorted_by in (column.key, "training_days"), column.key
        for keys in (("f7",), ("f3",), ("f3", "2"), ("f3", "3"), ("f3", "4"), ("f2", "x")):
            await pilot.press(*keys)
            await settled(pilot)
            shown = pilot.app.screen.query_one(FilterTable)
            assert [c.title for c in shown.table.columns if c.sort_key is None] == [], keys
            for column in shown.table.columns:
                shown.table.post_message(
                    RankTable.HeaderClicked(shown.table, column.key, column.sort_key or "")
                )
                await settled(pilot)
                assert "⚠" not in str(shown.query_one(".count", Static).content), column.key


async def test_words_of_doubt_can_be_read_in_the_light(paper_store: Path) -> None:
    async with running(paper_store, state=replace(ASKED, theme="textual-light")) as pilot:
        named = pilot.app.theme_variables
        for ink in ("text-warning", "text-success", "text-error", "text-accent"):
            for paper in ("background", "surface", "panel"):
                assert contrast_ratio(named[ink], named[paper]) >= 4.5, (ink, paper)


async def test_names_in_a_narrow_table_stay_apart_and_say_the_gpu(store_path: Path) -> None:
    for size in ((80, 24), (60, 20)):
        state = State(welcomed=True, budget="60000")
        async with running(store_path, size=size, state=state) as pilot:
            shown = builds(pilot)
            names = [row[1] for row in rows(pilot)]
            assert len(set(names)) == len(names) > 8
            assert all("…" not in name or len(name) > 8 for name in shown)
            await pilot.press("x")
            await settled(pilot)
            source = pilot.app.screen.query_one(FilterTable).table.source
            left_out = [str(source.cells(index)[0]) for index in range(40)]
            assert len(set(left_out)) == len(left_out)
            assert all(" × " in name.partition("…")[0] for name in left_out)
            await pilot.press("escape", "f3")
            await settled(pilot)
            header = pilot.app.screen.query_one(FilterTable).table.render_line(0).text
            assert header.split()[:4] == ["model", "GPUs", "days", "settings"]


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
