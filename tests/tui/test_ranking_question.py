"""The question on the main screen: what is typed, which model, which cost."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from textual.widgets import Input, Static

from advisor.prediction.model.askable_models import Ask, target_of_size
from advisor.prediction.model.own_model import own_model
from advisor.store import Store
from advisor.tui.pages.model_picker import ModelPicker
from advisor.tui.program.state import State
from advisor.tui.ranking.assumptions import AssumptionsForm
from advisor.tui.widgets.choice import Choice, OpensPage
from tests.tui.program import (
    ASKED,
    NARROW,
    builds,
    counts,
    detail,
    field,
    message,
    ranking,
    rows,
    running,
    settled,
    type_into,
    until,
)


class TestTyping:
    async def test_every_key_press_answers(self, paper_store: Path) -> None:
        async with running(paper_store) as pilot:
            await pilot.press("b", "end", "backspace")
            assert counts(pilot).startswith("1 of ")  # $4,000
            await pilot.press("9")
            assert counts(pilot).startswith("8 of ")  # $40,009
            await pilot.press("9")
            assert counts(pilot).startswith("14 of ")  # $400,099

    async def test_broken_input_keeps_the_last_answer(self, paper_store: Path) -> None:
        async with running(paper_store) as pilot:
            for key, text, said in (
                ("b", "", "the budget is empty: write a plain amount"),
                ("b", "0", "the budget is zero"),
                ("b", "-5", "the budget '-5' is negative"),
                ("b", "NaN", "the budget 'NaN' is not an amount"),
                ("b", "1e400", "the budget '1e400' is over $1,000,000,000"),
                ("b", "40.000", "could mean 40 or 40,000: write 40 or 40000"),
                ("b", "[@click=app.quit]1[/]", "the budget '[@click=app.quit]1[/]' is not an"),
                ("t", "-3", "the time limit '-3' is negative: write one such as 30"),
                ("t", "0", "out of range"),
                ("m", "pythai-1b", "no model is called 'pythai-1b': did you mean 'pythia-1b'"),
                ("m", "", "choose one, such as pythia-1b"),
                ("g", "H1000", "no GPU is called 'H1000': did you mean"),
            ):
                await type_into(pilot, key, text)
                assert said in message(pilot)
                assert ranking(pilot).query_one("#panels").has_class("-old")
                assert "Below is the last good answer: pythia-1b for $40,000" in message(pilot)
                await pilot.press("escape", "escape")
                ranking(pilot).session.inputs = ASKED
                ranking(pilot).show_question()
                await settled(pilot)
                assert not ranking(pilot).query_one("#panels").has_class("-old")
                assert counts(pilot).startswith("8 of ")

    async def test_a_size_alone_takes_no_model_until_one_is_chosen(self, store_path: Path) -> None:
        async with running(store_path) as pilot:
            await type_into(pilot, "m", "1b")
            await pilot.press("enter")
            await settled(pilot)
            assert "'1b' is a size and no model. ↓: one of the list; U:" in message(pilot)
            assert field(pilot, "model").value == "1b"
            await type_into(pilot, "m", "1b")
            await pilot.press("down", "enter")
            await settled(pilot)
            assert "-1b" in field(pilot, "model").value
            assert message(pilot).startswith("Buy ")
            await type_into(pilot, "m", "1b")
            await pilot.press("up", "enter")
            await settled(pilot)
            assert "-1b" in field(pilot, "model").value

    async def test_a_text_is_shown_from_its_beginning(self, paper_store: Path) -> None:
        async with running(paper_store, size=NARROW) as pilot:
            for key, name in (("m", "model"), ("g", "gpus")):
                await type_into(pilot, key, "x" * 60)
                await type_into(pilot, key, "h100, a100")
                assert field(pilot, name).render_line(0).text.startswith("h100, a100")

    async def test_time_limit_leaves_out_what_is_too_slow(self, paper_store: Path) -> None:
        async with running(paper_store) as pilot:
            await type_into(pilot, "t", "40")
            assert [row[2] for row in rows(pilot)] == ["34", "36", "40"]
            assert [row[4] for row in rows(pilot)] == ["100 %", "100 %", "50 %"]
            assert "5 too slow" in counts(pilot)
            assert "│40 d" in "".join(column.title for column in ranking(pilot).table.columns)

    async def test_gpu_filter_takes_names_and_parts_of_names(self, paper_store: Path) -> None:
        async with running(paper_store) as pilot:
            await type_into(pilot, "g", "h100, rtx 3090")
            assert builds(pilot) == ["1 × H100", "4 × RTX 3090", "1 × RTX 3090"]
            await type_into(pilot, "g", "3090")
            assert builds(pilot) == ["4 × RTX 3090", "1 × RTX 3090"]

    async def test_nothing_fits_says_why_and_which_key(self, paper_store: Path) -> None:
        async with running(paper_store) as pilot:
            await type_into(pilot, "b", "100")
            assert rows(pilot) == []
            empty = ranking(pilot).table.empty_message
            assert empty.startswith("What would help:\nPress b: ") and "$2,300" in empty
            await type_into(pilot, "b", "40k")
            await type_into(pilot, "t", "1")
            empty = ranking(pilot).table.empty_message
            assert "\nPress t: 1 × H100 in 34 days" in empty

    async def test_undo_and_restore(self, paper_store: Path) -> None:
        async with running(paper_store) as pilot:
            await type_into(pilot, "b", "9000")
            await type_into(pilot, "t", "100")
            await pilot.press("ctrl+z")
            assert (field(pilot, "max_days").value, field(pilot, "budget").value) == ("", "9000")
            await pilot.press("ctrl+z")
            assert field(pilot, "budget").value == "40000"
            assert counts(pilot).startswith("8 of ")
            await type_into(pilot, "b", "77")
            await pilot.press("escape", "ctrl+r")
            await settled(pilot)
            assert field(pilot, "budget").value == "40000"


class TestModel:
    async def test_typing_searches_and_answers_the_best_match(self, paper_store: Path) -> None:
        async with running(paper_store) as pilot:
            await type_into(pilot, "m", "2.8")
            picker = ranking(pilot).query_one(ModelPicker)
            assert picker.is_open
            assert ranking(pilot).table.border_subtitle == "Pythia 2.8B"
            await pilot.press("enter")
            assert not picker.is_open
            assert field(pilot, "model").value == "pythia-2.8b"
            assert ranking(pilot).focused is ranking(pilot).table

    async def test_a_model_of_one_s_own_is_there_while_the_program_runs(
        self, own_store: Path
    ) -> None:
        async with running(own_store, state=replace(ASKED, prices="latest")) as pilot:
            run = Ask(batch_size=512, tokens=3e10)
            own = own_model(target_of_size("x", "decoder", 1.1e9, run), "Ours")
            Store(own_store).keep_model(own)
            pilot.app.look_at_store()  # type: ignore[attr-defined]
            await settled(pilot)
            await settled(pilot)
            await type_into(pilot, "m", "ours")
            await pilot.press("enter")
            await settled(pilot)
            assert field(pilot, "model").value == "ours"
            assert ranking(pilot).table.border_subtitle == "Ours"
            assert len(builds(pilot)) > 10
            assert "predicted" in detail(pilot)

    async def test_fine_tuning_is_one_key_or_a_part_of_the_name(self, store_path: Path) -> None:
        state = replace(
            ASKED, prices="latest", budget="20k", model="llama-3.1-8b", evidence="sound"
        )
        async with running(store_path, state=state) as pilot:
            await pilot.press("f", "tab", *"32", "enter")
            said = pilot.app.screen.query_one("#said", Static)
            assert "Rank is of adapters" in str(said.content)
            await pilot.press("shift+tab", "space", "space", "enter")
            await settled(pilot)
            assert field(pilot, "model").value == "llama-3.1-8b+lora+rank=32"
            name = "Llama 3.1 8B, LoRA of rank 32 on 50M tokens"
            assert ranking(pilot).table.border_subtitle == name
            assert len(builds(pilot)) > 5
            await pilot.press("H")
            await settled(pilot)
            assert "(assumed; Days sets the limit)" in str(
                pilot.app.screen.query_one("#said", Static).content
            )
            said = str(pilot.app.screen.query_one("#said", Static).render())
            assert "(LoRA on 50M tokens) fine-tune" in " ".join(said.split())
            await pilot.press("escape")
            await type_into(pilot, "m", "llama 3.1 8+qlora+data=9M")
            await pilot.press("enter")
            await settled(pilot)
            assert field(pilot, "model").value == "llama-3.1-8b+qlora+data=9M"
            await type_into(pilot, "m", "llama-3.1-8b+lora+rank=0")
            assert "--rank '0' is not a whole number" in message(pilot)

    async def test_arrows_take_another_and_escape_closes_the_list_first(
        self, paper_store: Path
    ) -> None:
        async with running(paper_store) as pilot:
            await pilot.press("m", "down")
            await settled(pilot)
            picker = ranking(pilot).query_one(ModelPicker)
            assert picker.is_open
            assert field(pilot, "model").value != "pythia-1b"
            await pilot.press("up")
            await settled(pilot)
            assert field(pilot, "model").value == "pythia-1b"
            await pilot.press("escape")
            assert not picker.is_open
            assert ranking(pilot).focused is field(pilot, "model")
            await pilot.press("escape")
            assert ranking(pilot).focused is ranking(pilot).table

    async def test_a_click_takes_a_model(self, paper_store: Path) -> None:
        async with running(paper_store) as pilot:
            await type_into(pilot, "m", "roberta")
            await pilot.click("ModelPicker OptionList", offset=(4, 1))
            await settled(pilot)
            assert field(pilot, "model").value == "roberta"
            assert ranking(pilot).table.border_subtitle == "RoBERTa 350M"


class TestCost:
    async def test_ranking_rules_in_turn(self, paper_store: Path) -> None:
        async with running(paper_store) as pilot:
            screen = ranking(pilot)
            await pilot.press("o")
            assert builds(pilot)[0] == "1 × RTX 3090"
            assert screen.table.sorted_by == "cost"
            await pilot.press("o")
            assert builds(pilot)[0] == "2 × A6000"
            assert "experiment" in screen.picture.data.x_title
            assert screen.picture.data.budget_usd is None
            await pilot.press("o")
            assert screen.picture.data.budget_usd == 40_000

    async def test_a_click_on_a_header_ranks(self, paper_store: Path) -> None:
        async with running(paper_store) as pilot:
            table = ranking(pilot).table
            at = [column.key for column in table.columns].index("cost")
            await pilot.click(table, offset=(table._layout.starts[at] + 3, 1))  # in the frame
            await settled(pilot)
            assert table.sorted_by == "cost"

    async def test_prices_and_evidence_change(self, paper_store: Path) -> None:
        async with running(paper_store) as pilot:
            await pilot.press("l")
            pilot.app.screen.query_one("#evidence", Choice).action_step(1)
            await pilot.press("enter")
            await settled(pilot)
            assert builds(pilot)[0] == "8 × RTX 3090"
            await pilot.press("l")
            pilot.app.screen.query_one("#prices", Choice).action_step(1)
            await pilot.press("enter")
            await settled(pilot)
            assert ranking(pilot).session.inputs.prices == "latest"
            assert builds(pilot)[0] != "8 × RTX 3090"
            await pilot.press("ctrl+z", "ctrl+z")
            await settled(pilot)
            assert builds(pilot)[0] == "1 × H100"


class TestAssumptions:
    async def test_one_line_says_what_is_assumed_and_opens_the_page(self, store_path: Path) -> None:
        async with running(store_path, size=NARROW, state=State()) as pilot:
            screen = ranking(pilot)
            line = screen.query_one("#assumed", OpensPage)
            assert screen.query_one("#question").region.height == 3
            assert line.words == "life 5 years, use 100 %, power not counted"
            ours = rows(pilot)
            line.focus()
            await pilot.press("enter")
            form = pilot.app.screen
            assert isinstance(form, AssumptionsForm) and form.here == "lifetime"
            form.query_one("#software", Choice).action_step(1)
            form.query_one("#buy_in", Input).value = "US"
            await pilot.press("end", "ctrl+u", "4", "enter")
            await settled(pilot)
            assert line.words == (
                "life 4 years, use 100 %, power not counted, bought in US, plain software"
            )
            assert rows(pilot) != ours, "plain PyTorch takes longer"
            await pilot.press("ctrl+z")
            await settled(pilot)
            assert rows(pilot) == ours
            await pilot.resize_terminal(120, 40)
            question = screen.query_one("#question")
            await until(pilot, lambda: question.region.height == 2, "two lines")

    async def test_a_wrong_value_keeps_the_page(self, paper_store: Path) -> None:
        async with running(paper_store) as pilot:
            for text in ("", "1e400"):
                await pilot.press("l", "end", "ctrl+u", *text, "enter")
                assert isinstance(pilot.app.screen, AssumptionsForm)
                assert "⚠ the lifetime" in str(pilot.app.screen.query_one("#said", Static).content)
                await pilot.press("escape")
