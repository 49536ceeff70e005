"""What holds of keys on every screen, and how help and the palette tell of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from typing import Any

import pytest
from textual.events import Click, Key
from textual.widget import Widget
from textual.widgets import Input, Markdown, Static

import advisor.tui
from advisor.tui.app import AdvisorApp
from advisor.tui.evidence.evidence_screen import EvidenceScreen
from advisor.tui.pages.help import FIELD_HELP, HelpScreen
from advisor.tui.pages.title_and_key_bars import fitting, footer_actions
from advisor.tui.program.keys import ACTIONS, EVERYWHERE, KEY_NAMES, actions_of
from advisor.tui.widgets.filter_table import FilterTable
from tests.tui.program import NARROW, field, ranking, running, settled, until


class TestKeys:
    async def test_keys_that_come_at_once_go_where_they_are_meant(
        self, own_paper_store: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """As over a slow line: digits after `b` are the budget's, those after `a` the price."""
        # A busy machine takes longer to open a page than a key waits for the one before it.
        monkeypatch.setattr("advisor.tui.program.terminal.LONGEST_S", 60.0)

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
        screens = {"ranking", "build", "evidence", "benchmark", "prices", "plan"}
        for where in {action.where for action in ACTIONS} - {EVERYWHERE}:
            everywhere = actions_of(EVERYWHERE) if where in screens else []
            keys = Counter(
                key
                for action in (*actions_of(where), *everywhere)
                for key in action.keys.split(",")
            )
            assert [key for key, count in keys.items() if count > 1] == []

    def test_a_letter_means_one_thing_on_all_pages(self) -> None:
        """`q` leaves what lies on top; digits choose among what the page shows."""
        verbs: dict[str, set[str]] = {}
        for action in ACTIONS:
            for key in action.keys.split(","):
                if len(key) == 1 and key.isalpha() and key != "q":
                    verbs.setdefault(key, set()).add(action.verb)
        assert {key: said for key, said in verbs.items() if len(said) > 1} == {}
        for kind in {*_ours(Widget)}:
            if not getattr(kind, "WHERE", ""):  # a part of a screen, with keys of its own
                own = {key for b in vars(kind).get("BINDINGS", ()) for key in b.key.split(",")}
                assert not own & verbs.keys(), kind

    async def test_each_page_over_a_screen_shows_its_keys_and_no_others(
        self, paper_store: Path
    ) -> None:
        async with running(paper_store, size=NARROW) as pilot:
            for keys, where in (
                (("x",), "left out"),
                (("e",), "export"),
                (("h",), "questions"),
                (("U",), "own model"),
                (("a",), "quote"),
                (("O",), "quote"),
                (("f8", "W"), "grant"),
                (("f6", "J"), "elsewhere"),
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
                said = pilot.app.screen.query_one(Markdown).source
                assert all(action.text.split(".")[0][:20] in said for action in actions_of(where))
                assert "Keys everywhere" not in said
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
        assert "own machine" in [word for _, word, _ in fitting(many, many[-2:], 118)]
        narrow = [key for key, _, _ in fitting(many, many[-2:], 78)]
        assert {"f", "H"} <= {*narrow}, "which no field or tab shows"
        assert len(fitting(many, (), 118)) > len(fitting(many, (), 78)) >= 5

    async def test_the_footer_follows_the_focus(self, paper_store: Path) -> None:
        async with running(paper_store) as pilot:
            bar = ranking(pilot).query_one("KeyBar")
            assert str(bar.content).startswith("Enter open")  # type: ignore[attr-defined]
            await pilot.press("2")
            await pilot.press("b")
            assert str(bar.content).startswith("Esc to the table")  # type: ignore[attr-defined]
            await pilot.click("KeyBar", offset=(20, 0))
            await settled(pilot)
            focused = pilot.app.screen.focused
            assert focused is not None and focused.id == "model", "a click on Tab"

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
            for _ in range(9):
                focused = ranking(pilot).focused
                assert focused is not None
                order.append(focused.id)
                await pilot.press("tab")
            assert order == [
                *("budget", "model", "max_days", "gpus"),
                *("rule", "assumed", "table", "picture", "detail"),
            ]

    async def test_screens_by_key_and_by_click(self, paper_store: Path) -> None:
        async with running(paper_store) as pilot:
            await pilot.press("f3")
            assert isinstance(pilot.app.screen, EvidenceScreen)
            await pilot.press("f7")
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
    async def test_f1_explains_what_has_the_focus(self, paper_store: Path) -> None:
        with_the_screen = ("assumed", "table", "picture", "detail")
        async with running(paper_store) as pilot:
            for name in (*FIELD_HELP, "model", *with_the_screen):
                ranking(pilot).query_one(f"#{name}").focus()
                await pilot.press("f1")
                assert isinstance(pilot.app.screen, HelpScreen)
                said = pilot.app.screen.query_one(Markdown).source
                assert len(said) > 60
                assert ("## The ranking\n" in said) == (name in with_the_screen)
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
            await pilot.press("ctrl+p")
            await settled(pilot)
            listed = pilot.app.screen.query_one(FilterTable).listed
            assert listed is not None
            assert {*listed.records} == {a for a in ACTIONS if a.where in ("ranking", EVERYWHERE)}
            await pilot.press(*"next theme", "enter")
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
            assert (action, keys) in known or binding.tooltip or told, (kind, keys)
        if "WHERE" in vars(kind) and bound and not kind.__subclasses__():
            assert known <= bound.keys(), kind
            for action, keys in known:
                owner = AdvisorApp if action.startswith("app.") else kind
                name = action.removeprefix("app.").partition("(")[0]
                assert hasattr(owner, f"action_{name}"), (kind, keys, action)


async def test_a_click_where_the_terminal_was_before_it_shrank_ends_nothing(
    paper_store: Path,
) -> None:
    async with running(paper_store) as pilot:
        for keys in (("ctrl+p",), ("f2", "e"), ("f2",)):
            await pilot.resize_terminal(120, 40)
            await pilot.press(*keys)
            await settled(pilot)
            page = pilot.app.screen
            await pilot.resize_terminal(40, 10)
            page.post_message(Click(page, 110, 38, 0, 0, 1, False, False, False, 110, 38))
            await settled(pilot)
            assert pilot.app.is_running and pilot.app._exception is None, keys
            while pilot.app.screen is not ranking(pilot):
                await pilot.press("escape")
