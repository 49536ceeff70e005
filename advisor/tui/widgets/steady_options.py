"""What Textual's lists of options need to live through quick hands and small terminals."""

from __future__ import annotations

from textual.events import Click
from textual.widgets import OptionList


class SteadyOptions(OptionList):
    """A list whose options change while somebody types, or that has no room for any."""

    def on_click(self, event: Click) -> None:
        # What was clicked may have gone meanwhile.
        if event.style.meta.get("option", 0) >= self.option_count:
            event.prevent_default()

    def action_page_up(self) -> None:
        if self.scrollable_content_region:  # else it has no lines, and looking for one raises
            super().action_page_up()  # type: ignore[no-untyped-call]

    def action_page_down(self) -> None:
        if self.scrollable_content_region:
            super().action_page_down()  # type: ignore[no-untyped-call]
