"""A machine that the lab has already: one line keeps it, the same line again forgets it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Input, Static

from advisor.costs.owned import own_machine
from advisor.parse import InputError
from advisor.tui.pages.bars import DialogKeys
from advisor.tui.prices.quote_dialogs import Keeping
from advisor.tui.program.actions import QUOTE
from advisor.tui.widgets.text_input import Field

if TYPE_CHECKING:
    from advisor.ranking.snapshot import Snapshot
    from price_catalog.model import Host


class OwnedForm(Keeping):
    """Closes with what was kept or forgotten, in words."""

    AUTO_FOCUS = "#owned"
    HELP = """\
## A machine that you have

Write how many GPUs of which type are in it: `2 x A6000`. It costs nothing in every ranking, and
larger machines count its GPUs as yours. `Enter` keeps it; where you have it already, `Enter`
forgets it.
"""

    def __init__(self, snapshot: Snapshot) -> None:
        super().__init__()
        self._snapshot = snapshot

    def compose(self) -> ComposeResult:
        with Vertical(classes="page small") as box:
            box.border_title = "A machine that you have"
            yield Field(placeholder="2 x A6000", id="owned", max_length=80)
            yield Static(self._known_words(), id="said", markup=False)
            yield DialogKeys(QUOTE)

    def _known(self) -> list[Host]:
        return [host for host in self._snapshot.hosts if host.kind == "owned"]

    def _known_words(self) -> str:
        names = ", ".join(host.name.removeprefix("your ") for host in self._known())
        return f"Yours already: {names}." if names else "None yet: write one like 2 x A6000."

    def _made(self) -> Host | str:
        try:
            return own_machine(self.query_one("#owned", Input).value, self._snapshot.gpus)
        except InputError as error:
            return str(error)

    def _is_known(self, host: Host) -> bool:
        return any(known.host_id == host.host_id for known in self._known())

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        made = self._made()
        if not event.value.strip():
            self.say(self._known_words(), wrong=False)
        elif isinstance(made, str):
            self.say(made)
        else:
            does = "forgets" if self._is_known(made) else "keeps"
            self.say(f"{made.name}: Enter {does} it", wrong=False)

    @on(Input.Submitted)
    def action_keep(self) -> None:
        """Keep it where nothing is wrong; forget it where it was kept before."""
        made = self._made()
        if isinstance(made, str):
            self.say(made)
        elif self._is_known(made):
            self.write(lambda store: store.remove_machine(made.host_id), f"Forgot {made.name}.")
        else:
            words = f"Kept {made.name}: it costs nothing in a ranking."
            self.write(lambda store: store.add_machines([made]), words)
