"""What a careless or hostile user does to the program on the screen."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from textual.widget import Widget
from textual.widgets import Input

from advisor.tui.app import AdvisorApp
from tests.tui.program import ASKED, NARROW, WIDE, ranking, running, settled, type_into, until

_NASTY = ["", "-5", "1e400", "[@click=app.quit]x[/]", "9" * 400 + "\u202e"]


@pytest.mark.parametrize("size", [WIDE, NARROW])
async def test_what_is_typed_can_be_read(own_store: Path, size: tuple[int, int]) -> None:
    """A field whose frame hides its text looks empty, and takes the keys all the same."""
    async with running(own_store, size=size) as pilot:
        shown_ones = [
            widget
            for widget in ranking(pilot).query(Input)
            if all(node.display for node in widget.ancestors_with_self if isinstance(node, Widget))
        ]
        assert len(shown_ones) >= 5
        for widget in shown_ones:
            assert widget.size.height == 1, widget.id
            if widget.value:
                shown = "".join(segment.text for segment in widget.render_line(0))
                assert widget.value[:6] in shown, widget.id


async def test_nothing_that_is_typed_ends_the_program(own_store: Path) -> None:
    async with running(own_store) as pilot:
        for text in _NASTY:
            await type_into(pilot, "b", text)
            assert pilot.app.is_running
        await type_into(pilot, "b", "$40,000")
        assert len(pilot.app.screen_stack) == 1


@pytest.mark.parametrize("size", [(20, 5), (1, 1), (300, 100)])
async def test_any_size_of_terminal_is_survived(own_store: Path, size: tuple[int, int]) -> None:
    async with running(own_store, size=size) as pilot:
        await pilot.press("f3", "f2")
        await pilot.resize_terminal(*WIDE)
        await settled(pilot)
        assert ranking(pilot).query_one("#budget", Input).size.height == 1


async def test_a_store_that_is_taken_away_and_comes_back(own_store: Path) -> None:
    whole = own_store.read_bytes()
    async with running(own_store, state=replace(ASKED)) as pilot:
        for content in (b"", whole[:5000], None):
            if content is None:
                own_store.unlink()
            else:
                own_store.write_bytes(content)
            await pilot.press("f3")
            await settled(pilot)
            await pilot.press("f2")
            await type_into(pilot, "b", "50k")
            assert pilot.app.is_running
        own_store.write_bytes(whole)
        await type_into(pilot, "b", "40k")
        assert pilot.app.is_running
    assert own_store.read_bytes() == whole


NAMES = ("~nobody-here/x.toml", "x" * 299, "/dev/null")


async def test_no_name_of_a_file_ends_the_program(own_store: Path) -> None:
    before = own_store.read_bytes()
    async with running(own_store) as pilot:
        for way in (("f8", "G"), ("f7", "i"), ("f2", "M", "tab"), ("f2", "U")):
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
