"""One build on its page: every section by its key, the person's own figures, two side by side."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import date
from pathlib import Path

from textual.widgets import Static

from advisor.costs.amount_words import usd_rounded
from advisor.tui.program.state import State, load_state, save_state
from advisor.tui.ranking.assumptions import AssumptionsForm
from advisor.tui.selected.build_screen import BuildScreen
from advisor.tui.selected.compare_screen import CompareScreen
from advisor.tui.widgets.lines import LinesView
from bench_runner.records import journal
from tests.store.test_lab_records import measured
from tests.tui.program import (
    NARROW,
    field,
    message,
    open_build,
    page,
    paste,
    ranking,
    rows,
    running,
    settled,
)

ASKED_NOW = State(max_days="60", budget="100000")
TODAY = date(2026, 11, 21)


def shown(pilot) -> str:  # type: ignore[no-untyped-def]
    return page(pilot.app.screen.query_one("#page", LinesView))


class TestBuildPage:
    async def test_each_section_is_a_key_away(self, store_path: Path) -> None:
        async with running(store_path, state=ASKED_NOW) as pilot:
            await open_build(pilot)
            for key, says in (
                ("E", "WHAT IT RESTS ON"),
                ("P", "PRICE"),
                ("w", "RUN IT"),
                ("r", "RENT"),
                ("u", "W at the wall"),
                ("M", "advisor bench --model pythia-1b"),
                ("D", "ORDER"),
            ):
                await pilot.press(key)
                await settled(pilot)
                if isinstance(pilot.app.screen, AssumptionsForm):
                    await pilot.press("escape")
                assert says in shown(pilot)
                await pilot.press("escape")
                assert "Why" in shown(pilot)
            await pilot.press("escape")
            assert pilot.app.screen is ranking(pilot)

    async def test_running_costs_are_the_persons_own_and_kept(
        self, store_path: Path, tmp_path: Path
    ) -> None:
        kept = tmp_path / "state.json"
        async with running(store_path, state=ASKED_NOW, state_path=kept) as pilot:
            await open_build(pilot, "w", "escape")
            before = shown(pilot)
            assert "without electricity" in before
            assert "not counted: resale, financing, hosting, staff, electricity" in before
            await pilot.press("enter")
            await paste(pilot, "0.25")
            await pilot.press("enter")
            await settled(pilot)
            text = shown(pilot)
            assert re.search(r"≈\$[\d,]+ a run; with electricity", text)
            assert "not counted: resale, financing, hosting, staff" in text
            assert "× $0.25 a kWh" in text
            assert text != before
            for key, seen in (("ctrl+z", before), ("ctrl+y", text)):
                await pilot.press(key)
                await settled(pilot)
                assert shown(pilot) == seen
            await pilot.press("enter", "tab", "x", "tab", "enter")
            form = pilot.app.screen
            assert isinstance(form, AssumptionsForm) and form.here == "pue", "it is gone to"
            assert "⚠" in str(form.query_one("#said", Static).content)
            await pilot.press("escape", "escape", "escape", "q")
        state, _ = load_state(kept)
        assert state.electricity == "0.25"

    async def test_records_from_elsewhere_are_brought_in_and_the_answer_follows(
        self, own_store: Path, tmp_path: Path
    ) -> None:
        file = tmp_path / "records.jsonl"
        journal.append(file, measured(14.0))
        state = replace(ASKED_NOW, gpus="H100", max_days="", budget="1m")
        async with running(own_store, size=NARROW, state=state) as pilot:
            before = [row[2] for row in rows(pilot)]
            await pilot.press("M", "I")
            words = pilot.app.screen.query_one("#said", Static)
            for name, says in (
                ("nowhere.jsonl", "There is no such file yet."),
                (str(Path(__file__)), "This cannot be undone."),
            ):
                await paste(pilot, name)
                assert str(words.content).endswith(says)
            await pilot.press("enter")
            await settled(pilot)
            assert str(words.content).endswith("JSON lines in UTF-8: name a record file")
            await paste(pilot, str(file))
            await pilot.press("enter")
            await settled(pilot)
            assert isinstance(pilot.app.screen, BuildScreen)
            for _ in range(3):
                await settled(pilot)
            await pilot.press("escape", "escape")
            assert [row[2] for row in rows(pilot)] != before, "its estimates know of it"

    async def test_the_rooms_circuit_leaves_out_what_it_does_not_carry(
        self, store_path: Path
    ) -> None:
        async with running(store_path, state=ASKED_NOW) as pilot:
            before = len(rows(pilot))
            await pilot.press("end", "enter", "u")
            await paste(pilot, "120V/15A")
            await pilot.press("enter")
            await settled(pilot)
            assert "your circuit (120 V 15 A" in shown(pilot)
            await pilot.press("escape", "escape")
            assert len(rows(pilot)) < before
            await pilot.press("ctrl+z")
            await settled(pilot)
            assert len(rows(pilot)) == before

    async def test_a_network_offers_two_machines_for_one_model(self, store_path: Path) -> None:
        async with running(store_path, state=ASKED_NOW) as pilot:
            before = len(rows(pilot))
            await open_build(pilot, "w")
            pilot.app.screen.query_one("#network").focus()
            await paste(pilot, "infiniband-n")
            await settled(pilot)
            said = pilot.app.screen.query_one("#said", Static)
            assert "infiniband-ndr" in str(said.content)
            await paste(pilot, "infiniband-ndr")
            await pilot.press("enter", "escape", "escape")
            await settled(pilot)
            assert len(rows(pilot)) > before
            assert any("2 × [" in " ".join(map(str, row)) for row in rows(pilot))
            pair = next(
                n for n, row in enumerate(rows(pilot)) if "2 × [" in " ".join(map(str, row))
            )
            await pilot.press("home", *["down"] * pair)
            await open_build(pilot, "E")
            await settled(pilot)
            assert "over InfiniBand NDR" in shown(pilot)

    async def test_the_builds_beside_it(self, store_path: Path) -> None:
        async with running(store_path, state=ASKED_NOW) as pilot:
            await open_build(pilot)
            head = pilot.app.screen.query_one("#head", Static)
            first = str(head.content)
            await pilot.press("right")
            second = str(head.content)
            assert second != first
            assert "2 of " in second
            await pilot.press("left")
            assert str(head.content) == first
            await pilot.press("right", "escape")
            table = ranking(pilot).table
            assert table.source.row(table.cursor).group == 2, "the table follows"  # type: ignore[attr-defined]

    async def test_other_screens_are_about_the_chosen_build(self, store_path: Path) -> None:
        async with running(store_path, state=ASKED_NOW) as pilot:
            build = ranking(pilot).session.selected_build
            assert build is not None
            await open_build(pilot, "E", "enter")
            await settled(pilot)
            words = pilot.app.screen.query_one("FilterInput").value  # type: ignore[attr-defined]
            assert words == build.gpu.name
            await pilot.press("f2", "f7")
            await settled(pilot)
            words = pilot.app.screen.query_one("FilterInput").value  # type: ignore[attr-defined]
            assert words == (build.host.label if build.host.gpu_id else build.gpu.name)

    async def test_two_side_by_side(self, store_path: Path) -> None:
        async with running(store_path, size=NARROW, state=ASKED_NOW) as pilot:
            await pilot.press("c", "down", "c")
            assert isinstance(pilot.app.screen, CompareScreen)
            text = shown(pilot)
            assert "1 of " in text
            assert "2 of " in text
            assert "left right difference" in text
            assert re.search(r"time ≈\S+ \w+ ≈\S+ \w+ [+-]≈", text)  # estimates
            (one, other) = (ranking(pilot).session.answer.ranking.lead(n) for n in (0, 1))  # type: ignore[union-attr]
            more = other.overall_cost_usd - one.overall_cost_usd
            assert f"{'+' if more > 0 else '-'}{usd_rounded(abs(more))}" in text or not more
            await pilot.press("y")
            assert " │ " in pilot.app.clipboard
            await pilot.press("escape")
            assert pilot.app.screen is ranking(pilot)

    async def test_a_build_that_is_left_out_has_a_page_too(self, store_path: Path) -> None:
        state = replace(ASKED_NOW, budget="9000")
        async with running(store_path, state=state) as pilot:
            await pilot.press("2", "end", "enter")
            await settled(pilot)
            assert "left out: over budget" in shown(pilot)
            for key in ("E", "P", "w", "r", "u", "M", "D"):
                await pilot.press(key)
                if isinstance(pilot.app.screen, AssumptionsForm):
                    await pilot.press("escape")
                assert shown(pilot)
                await pilot.press("escape")


class TestKept:
    async def test_the_last_questions_come_back_in_another_run(
        self, paper_store: Path, tmp_path: Path
    ) -> None:
        path = tmp_path / "state.json"
        state = State(prices="paper")
        async with running(paper_store, state=state, state_path=path) as pilot:
            await pilot.press("b")
            await paste(pilot, "12000")
            await pilot.press("enter", "b")
            await paste(pilot, "30k")
            await pilot.press("enter", "q")
        kept, note = load_state(path)
        assert note is None
        async with running(paper_store, state=replace(kept, budget="40000")) as pilot:
            await pilot.press("h")
            await settled(pilot)
            table = pilot.app.screen.query_one("RankTable")
            cells = [table.source.cells(i) for i in range(len(table.source))]  # type: ignore[attr-defined]
            assert [c[0] for c in cells][:3] == [
                "pythia-1b for $40,000",
                "pythia-1b for $30k",
                "pythia-1b for $12,000",
            ]
            await pilot.press("down", "enter")
            await settled(pilot)
            assert field(pilot, "budget").value == "30k"
            await pilot.press("ctrl+z")
            assert field(pilot, "budget").value == "40000"

    def test_the_last_ten_come_back_and_what_is_damaged_does_not(self, tmp_path: Path) -> None:
        path, state = tmp_path / "state.json", State()
        for n in range(30):
            state = replace(state, budget=str(n % 20 + 1)).with_answered(TODAY, "Buy")
        assert [each.fields["budget"] for each in state.questions] == [
            str(n) for n in range(10, 0, -1)
        ]
        assert save_state(path, state) is None
        assert load_state(path) == (state, None)
        for questions in ("3", '[1, {"fields": 2}, {"fields": {"budget": 1}}]'):
            path.write_text(f'{{"budget": "9k", "questions": {questions}}}', encoding="utf-8")
            assert load_state(path) == (State(budget="9k"), None)

    async def test_the_defaults_can_be_taken_back(self, paper_store: Path) -> None:
        async with running(paper_store) as pilot:
            await pilot.press("b")
            await paste(pilot, "77000")
            await pilot.press("escape", "ctrl+r", "ctrl+z")
            assert field(pilot, "budget").value == "77000"


class TestOwnModel:
    async def test_a_size_and_a_file_are_judged_while_typed(
        self, own_store: Path, tmp_path: Path
    ) -> None:
        config = tmp_path / "config.json"
        config.write_text(json.dumps(LLAMA))
        async with running(own_store, state=ASKED_NOW) as pilot:
            await pilot.press("U")
            said = pilot.app.screen.query_one("#said", Static)
            await paste(pilot, str(tmp_path / "nothing" / "config.json"))
            await settled(pilot)
            assert str(said.content).startswith("⚠ ")
            await paste(pilot, str(config))
            await settled(pilot)
            assert str(said.content) == "⚠ how long to train is missing; give Tokens, as 300B"
            await pilot.press("tab", "tab", *"30B")
            await settled(pilot)
            await settled(pilot)
            assert "Enter keeps it" in str(said.content)
            await pilot.press("enter")
            assert "no name yet" in str(said.content)
            await paste(pilot, "Our Llama")
            await pilot.press("enter")
            for _ in range(10):  # it is kept, read again and asked about, one after the other
                await settled(pilot)
            assert pilot.app.screen is ranking(pilot)
            assert field(pilot, "model").value == "our-llama"
            assert "Our Llama" in message(pilot) or rows(pilot)

    async def test_wrong_words_are_one_line_and_keep_nothing(self, own_store: Path) -> None:
        before = own_store.read_bytes()
        async with running(own_store, state=ASKED_NOW) as pilot:
            for text in ("", "gpt-unknown", "/", "vit_nonsense", "x" * 400, "[red]a[/]"):
                await pilot.press("U")
                await paste(pilot, text)
                await settled(pilot)
                await pilot.press("enter")
                await settled(pilot)
                said = str(pilot.app.screen.query_one("#said", Static).content)
                assert said
                assert "\n" not in said
                await pilot.press("escape")
            assert pilot.app.screen is ranking(pilot)
        assert own_store.read_bytes() == before


LLAMA = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "hidden_size": 2048,
    "intermediate_size": 5632,
    "num_attention_heads": 32,
    "num_key_value_heads": 4,
    "num_hidden_layers": 22,
    "vocab_size": 32000,
    "max_position_embeddings": 2048,
}


async def test_a_large_page_is_filled_and_breaks_no_flag(own_store: Path) -> None:
    seen = []
    for size in ((80, 24), (120, 40), (200, 50)):
        async with running(own_store, size=size) as pilot:
            await pilot.press("enter")
            await settled(pilot)
            screen = pilot.app.screen
            assert isinstance(screen, BuildScreen)
            lines = screen.query_one("#page", LinesView).lines
            seen.append(len(lines))
            assert len(lines) <= screen.query_one("#page").size.height
            assert all(len(text) <= 130 for text, _ in lines)
            assert not any(text.rstrip().endswith("-") for text, _ in lines)
    assert seen == sorted(seen)
    assert seen[-1] > 24
