"""What Textual's lists of options need to live through quick hands and small terminals."""

from __future__ import annotations

from typing import Any

from textual.events import Click
from textual.widgets import OptionList


class SteadyList:
    """Put before a list whose options change while somebody types, or that has no room for any.

    It is no widget itself: of several, Textual finds a class by the names of the first alone.
    """

    def on_click(self: Any, event: Click) -> None:
        """Pass over what was clicked and has gone meanwhile."""
        if event.style.meta.get("option", 0) >= self.option_count:
            event.prevent_default()

    def action_page_up(self: Any) -> None:
        """Where there are lines: without any, looking for one raises."""
        if self.scrollable_content_region:
            super().action_page_up()  # type: ignore[misc]

    def action_page_down(self: Any) -> None:
        """The same downwards."""
        if self.scrollable_content_region:
            super().action_page_down()  # type: ignore[misc]


class SteadyOptions(SteadyList, OptionList):
    """A plain list of options."""
