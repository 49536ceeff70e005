"""One person's question as it changes: inputs, undo, the answer on the screen, the selection.

Pure: the screen calls it at every key press and draws what it says.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from advisor.answers.ranking import published_note_short
from advisor.answers.uncertainty_lines import uncertainty_note
from advisor.costs.amounts import days_short, usd_whole
from advisor.ranking.rank import rank
from advisor.ranking.typed_question import (
    CandidatesKey,
    RankRequest,
    matching_models,
    read_question,
)
from advisor.tui.program.candidates_view import Answer, BuildKey, CandidatesView, answer, build_key
from advisor.tui.program.settings import State
from advisor.tui.ranking.build_page import excluded_lines, one_line, ranked_lines
from advisor.tui.widgets.lines import Line

if TYPE_CHECKING:
    from advisor.ranking.candidates import Candidates
    from advisor.ranking.snapshot import Snapshot
    from advisor.ranking.times import Model
    from advisor.tui.program.store_reader import Reading

MAX_KEPT_VIEWS = 16
MAX_UNDO = 200
KEPT_BY_RESTORE = ("theme", "welcomed")
"""What of the state is not part of the question."""


class RankingSession:
    """What is asked, and what was last answered."""

    def __init__(self, state: State) -> None:
        self.inputs = state
        self.snapshot: Snapshot | None = None
        self.measured: Mapping[str, int] = {}
        self.asked: RankRequest | None = None
        """The question that is answered on the screen, which may be older than the inputs."""
        self.answer: Answer | None = None
        self.errors: dict[str, str] = {}
        """What is wrong with the inputs, one line a broken field."""
        self.selected: int | None = None
        """The selected build, as the candidates' index."""
        self._pinned: BuildKey | None = None
        """The build that the person chose; without one the selection stays with the best."""
        self._views: dict[CandidatesKey, CandidatesView] = {}
        self._undo: list[State] = []
        self._edited = ""

    # The inputs

    def change(self, **values: str) -> bool:
        """Put other values into fields; whether that changed any.

        Key presses in one field are undone together.
        """
        if all(getattr(self.inputs, name) == value for name, value in values.items()):
            return False
        edited = next(iter(values))
        if edited != self._edited:
            self._undo = [*self._undo[-MAX_UNDO:], self.inputs]
            self._edited = edited
        changes: dict[str, Any] = dict(values)
        self.inputs = replace(self.inputs, **changes)
        return True

    def pause(self) -> None:
        """What comes next is a change of its own, also in the same field."""
        self._edited = ""

    def undo(self) -> bool:
        """Take back the last change; whether there was one."""
        self.pause()
        while self._undo:
            before = self._undo.pop()
            if self._question(before) != self._question(self.inputs):
                self.inputs = replace(self.inputs, **self._question(before))
                return True
        return False

    def restore_defaults(self) -> None:
        """Every field as it was shipped; can be undone."""
        self.pause()
        self._undo = [*self._undo[-MAX_UNDO:], self.inputs]
        self.inputs = replace(self.inputs, **self._question(State()))

    @staticmethod
    def _question(state: State) -> dict[str, Any]:
        names = (f.name for f in fields(State) if f.name not in KEPT_BY_RESTORE)
        return {name: getattr(state, name) for name in names}

    # What the store brought

    def accept(self, reading: Reading) -> None:
        """Take in what was read."""
        if reading.snapshot is not self.snapshot:
            self.snapshot = reading.snapshot
            self.measured = reading.measured
            self._views.clear()
        if reading.key is not None and reading.candidates is not None:
            while len(self._views) >= MAX_KEPT_VIEWS:
                del self._views[next(iter(self._views))]
            self._views[reading.key] = reading.view or CandidatesView(
                reading.candidates, reading.snapshot.gpus
            )

    def accept_published(self, candidates: Candidates, published: Candidates) -> None:
        """Take in the same candidates at face value."""
        for view in self._views.values():
            if view.candidates is candidates:
                view.published = published

    # The answer

    def ask(self) -> bool:
        """Answer the inputs, or keep the last answer; whether the store must be read first."""
        if self.snapshot is None:
            return True
        asked, self.errors = self._read(self.snapshot)
        if asked is None:
            return False
        view = self._views.get(asked.key)
        if view is None:
            return True
        self.asked = asked
        self.answer = answer(view, asked.question, self.inputs.cost_basis)
        self._select_again(self.answer)
        return False

    @property
    def is_old(self) -> bool:
        """Whether the answer is to other inputs than those that stand in the fields."""
        if self.answer is None or self.snapshot is None:
            return False
        return self._read(self.snapshot)[0] != self.asked

    def _read(self, snapshot: Snapshot) -> tuple[RankRequest | None, dict[str, str]]:
        return read_question(self.inputs.typed(), snapshot, guess_model_by=self.measured)

    def _select_again(self, new: Answer) -> None:
        """The person's own choice while it can be shown, ranked or left out; else the best."""
        chosen = None if self._pinned is None else new.view.index.get(self._pinned)
        order = new.ranking.order
        drawn_or_owned = chosen in new.points.at or (
            chosen is not None and new.view.candidates.gap[chosen] is None
        )
        if not drawn_or_owned:
            chosen = order[0] if len(order) else None
        self.selected = chosen

    def select(self, build_index: int) -> None:
        """The person chose a build; it stays selected while it can be shown."""
        self.selected = build_index
        self._pinned = self.selected_key

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
        ranking = self.answer.ranking
        candidates, counts = ranking.candidates, ranking.excluded_counts
        if not candidates.builds:
            return "No machine has these GPUs: press g and change the filter."
        budget = ranking.question.budget_usd
        inside = [
            i for i in candidates.rankable if budget is None or candidates.cents[i] <= budget * 100
        ]
        if inside:
            fastest = min(inside, key=candidates.days.__getitem__)
            low, high = candidates.interval(fastest)
            interval = "" if low == high else f" ({days_short(low)} to {days_short(high)})"
            return (
                "Nothing inside the budget is as fast as that: the fastest takes "
                f"{days_short(candidates.days[fastest])} days{interval}. Press t and allow more."
            )
        if "over-budget" in counts:
            cheapest = candidates.cents[candidates.by_cost[0]] / 100
            return (
                f"Nothing fits this budget: the cheapest costs {usd_whole(cheapest)}. "
                "Press b and raise it."
            )
        name = candidates.model.name
        return f"Nobody has measured {name} on these machines. Press x for the reasons."

    def note(self) -> str | None:
        """How unsure first place is, and what the published ranking puts there where it differs."""
        if self.answer is None:
            return None
        ranking, published = self.answer.ranking, self.answer.view.published
        notes = [uncertainty_note(ranking)]
        if published is not None:
            notes.append(published_note_short(ranking, rank(published, ranking.question)))
        return " · ".join(note for note in notes if note) or None

    def page(self) -> Callable[[int], Sequence[Line]]:
        """The selected build in full, for a width."""
        shown, snapshot, i = self.answer, self.snapshot, self.selected
        if shown is None or snapshot is None or i is None:
            return lambda width: []
        try:
            position = shown.ranking.order.index(i)
        except ValueError:
            order = shown.ranking.excluded_order
            place = next(n for n, (index, _) in enumerate(order) if index == i)
            return partial(
                excluded_lines, shown.ranking, shown.ranking.excluded_row(place), snapshot
            )
        row, best = shown.ranking.row(position), shown.view.candidates.times[i]
        starred = replace(row, on_pareto_front=i in shown.front)
        lifetime = shown.ranking.question.lifetime_years
        return partial(ranked_lines, shown.ranking, starred, best, lifetime, snapshot)

    def one_line(self) -> str | None:
        """The selected build in one line, where it is ranked."""
        if self.answer is None or self.selected not in self.answer.ranking.order:
            return None
        return one_line(self.answer.ranking.row(self.answer.ranking.order.index(self.selected)))
