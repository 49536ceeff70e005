"""The answer to the question in the fields, and the selected build (pure)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from advisor.answers.ranking.rank_sentence import Verdict
from advisor.answers.wording import count_words
from advisor.costs.amount_words import usd_whole
from advisor.ranking.question import CandidatesKey
from advisor.ranking.typed_question import RankRequest, matching_models, read_question
from advisor.tui.program.answer import (
    Answer,
    BuildKey,
    CandidatesView,
    answer,
    build_key,
)
from advisor.tui.program.state import Inputs, State

if TYPE_CHECKING:
    from datetime import date

    from advisor.answers.builds.one_build import OneBuild
    from advisor.ranking.snapshot import Snapshot
    from advisor.ranking.times import Model
    from advisor.tui.program.store_reader import Reading
    from price_catalog.builds import Build
    from price_catalog.model import Rental


WAY_KEYS = {
    "budget": "Press b",
    "days": "Press t",
    "price": "Press F7, a",
    "evidence": "Press l",
    "gpus": "Press g",
    "model": "Press U",
}
"""Where no build answers: which key helps."""


MAX_KEPT_VIEWS = 16
SUNK = 10
"""A chosen build may fall this many places with another question and stay selected."""


class RankingSession(Inputs):
    """What is asked, and what was last answered."""

    def __init__(self, state: State) -> None:
        super().__init__(state)
        self.snapshot: Snapshot | None = None
        self.measured: Mapping[str, int] = {}
        self.rentals: Sequence[Rental] = ()
        self.asked: RankRequest | None = None
        """The question that is answered on the screen, which may be older than the inputs."""
        self._wanted: RankRequest | None = None
        """What the inputs ask for; None where they are broken."""
        self.answer: Answer | None = None
        self.errors: dict[str, str] = {}
        """What is wrong with the inputs, one line a broken field."""
        self.selected: int | None = None
        """The selected build, as the candidates' index."""
        self._pinned: BuildKey | None = None
        """The build that the person chose; without one the selection stays with the best."""
        self._pinned_place: int | None = None
        """Where in the ranking it stood when it was last chosen or kept."""
        self._marked: BuildKey | None = None
        """The build that the next one is to be compared with."""
        self._views: dict[CandidatesKey, CandidatesView] = {}

    # What the store brought

    def accept(self, reading: Reading) -> None:
        """Take in what was read."""
        if reading.snapshot is not self.snapshot:
            self.snapshot = reading.snapshot
            self.measured = reading.measured
            self.rentals = reading.rentals
            self._views.clear()
        if reading.key is not None and reading.candidates is not None:
            while len(self._views) >= MAX_KEPT_VIEWS:
                del self._views[next(iter(self._views))]
            self._views[reading.key] = CandidatesView(reading.candidates, reading.snapshot.gpus)

    # The answer

    def ask(self) -> bool:
        """Answer the inputs, or keep the last answer; whether the store must be read first."""
        if self.snapshot is None:
            return True
        asked, self.errors = read_question(
            self.inputs.typed(), self.snapshot, guess_model_by=self.measured
        )
        self._wanted = asked
        if asked is None:
            return False
        view = self._views.get(asked.key)
        if view is None:
            return True
        self.asked = asked
        self.answer = answer(view, asked.question, asked.key.prices)
        self._select_again(self.answer)
        return False

    def errors_of(self, state: State) -> dict[str, str]:
        """What is wrong with other inputs, one line a broken field."""
        if self.snapshot is None:
            return {}
        return read_question(state.typed(), self.snapshot, guess_model_by=self.measured)[1]

    @property
    def is_old(self) -> bool:
        """Whether the answer is to other inputs than those in the fields."""
        return self.answer is not None and self._wanted != self.asked

    def _select_again(self, new: Answer) -> None:
        """The person's own choice while it can be shown, ranked or left out; else the best."""
        chosen = None if self._pinned is None else new.view.index.get(self._pinned)
        order = new.ranking.order
        drawn_or_owned = chosen in new.points.at or (
            chosen is not None and new.view.candidates.gap[chosen] is None
        )
        if chosen is None or not drawn_or_owned or self._has_sunk(chosen, order):
            chosen = order[0] if len(order) else None
        self.selected = chosen

    def _has_sunk(self, chosen: int, order: Sequence[int]) -> bool:
        """Whether another question put the person's choice so far down that its answer would be
        out of sight: it comes back with a question that puts it where it was."""
        try:
            place = order.index(chosen)
        except ValueError:
            return False
        if self._pinned_place is not None and place > self._pinned_place + SUNK:
            return True
        self._pinned_place = place
        return False

    def select(self, build_index: int) -> None:
        """The person chose a build; it stays selected while it can be shown."""
        self.selected = build_index
        self._pinned = self.selected_key
        self._pinned_place = None
        with suppress(ValueError):
            if self.answer is not None:
                self._pinned_place = self.answer.ranking.order.index(build_index)

    def start_at_first(self) -> None:
        """Another question: what was selected for the one before is not sought in its answer."""
        self._pinned = None

    def choose_selected(self) -> None:
        """What is selected is what the person wants, whatever the order becomes."""
        if self.selected is not None:
            self.select(self.selected)

    @property
    def has_chosen(self) -> bool:
        """Whether the person chose the selected build, and not the order."""
        return self._pinned is not None and self._pinned == self.selected_key

    @property
    def selected_build(self) -> Build | None:
        """The selected build itself."""
        if self.answer is None or self.selected is None:
            return None
        return self.answer.view.candidates.builds[self.selected]

    def step(self, by: int) -> bool:
        """Select the row ``by`` places further in the ranking; whether there is one."""
        if self.answer is None:
            return False
        table, places = self.answer.ranking.table, self.answer.ranking.places
        at = places[self.selected][1] + by if self.selected in places else 0
        if not 0 <= at < len(table):
            return False
        self.select(table[at][0])
        return True

    def mark(self) -> str | None:
        """Remember the selected build to be compared; None where another one was marked before,
        and both are ready."""
        key = self.selected_key
        if key is None:
            return "No build is selected yet."
        if self._marked is None or self._marked == key or self._index_of(self._marked) is None:
            self._marked = key
            return "Marked. Choose another build and press c: both side by side."
        return None

    def _index_of(self, key: BuildKey) -> int | None:
        return None if self.answer is None else self.answer.view.index.get(key)

    def pair(self, today: date) -> tuple[OneBuild, OneBuild] | None:
        """The marked build and the selected one."""
        if self._marked is None or self.selected is None:
            return None
        marked = self._index_of(self._marked)
        if marked is None:
            return None
        return self.about(marked, today), self.about(self.selected, today)

    def one_build(self, today: date) -> OneBuild | None:
        """The selected build with all about it."""
        if self.answer is None or self.asked is None or self.selected is None:
            return None
        return self.about(self.selected, today)

    def about(self, i: int, today: date) -> OneBuild:
        """One of the candidates with all about it."""
        from advisor.answers.builds.one_build import one_build  # late: not for the first screen

        assert self.answer is not None and self.asked is not None and self.snapshot is not None
        return one_build(
            self.answer.ranking,
            i,
            prices=self.asked.key.prices,
            rentals=self.rentals,
            supply=self.asked.key.supply,
            quotes=self.snapshot.quotes,
            today=today,
        )

    @property
    def selected_key(self) -> BuildKey | None:
        """Which build is selected, whatever the candidates."""
        if self.answer is None or self.selected is None:
            return None
        return build_key(self.answer.view.candidates.builds[self.selected])

    def models(self, text: str) -> list[Model]:
        """The models that a text fits, the best match first."""
        if self.snapshot is None:
            return []
        return matching_models(text, self.snapshot, self.measured)

    def answered_words(self) -> str:
        """Which question the answer on the screen belongs to."""
        assert self.answer is not None
        ranking = self.answer.ranking
        budget = ranking.question.budget_usd
        amount = "any budget" if budget is None else usd_whole(budget)
        return f"{ranking.candidates.model.recipe_id} for {amount}"

    def why_empty(self) -> str:
        """Why the table has no rows, and which key changes that."""
        assert self.answer is not None
        if self.asked is None:
            return "No answer yet."
        if not self.answer.ranking.candidates.builds:
            return "No machine has these GPUs: press g and change the filter."
        from advisor.answers.ranking.before_you_order import HELP_TITLE, steps_of  # late: rare

        helps = steps_of(Verdict(self.answer.ranking, self.rentals), self.asked.key)
        keyed = [f"{WAY_KEYS.get(each.about, 'Or')}: {each.words}" for each in helps]
        return "\n".join((f"{HELP_TITLE}:", *keyed)) if helps else "Press x for the reasons."

    def sentence(self) -> str | None:
        """The answer in words, as every surface begins with it."""
        return None if self.answer is None else Verdict(self.answer.ranking, self.rentals).sentence

    def counted(self) -> str:
        """How many builds answer, and how many are left out for which reason."""
        assert self.answer is not None
        ranking = self.answer.ranking
        total = len(ranking.candidates.builds)
        return count_words(len(ranking), total, ranking.excluded_counts)
