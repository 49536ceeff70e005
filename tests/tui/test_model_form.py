"""A model of one's own as it is typed into the form."""

from __future__ import annotations

import pytest

from advisor.tui.pages.form import in_fields
from advisor.tui.pages.model_form import ModelForm, read_target
from advisor.tui.ranking.ranking_screen import with_remedy
from advisor.typed_input import InputError, no_such_model

TYPED = dict.fromkeys(
    ("model", "tokens", "images", "parameters", "batch", "sequence_length", "precision"), ""
) | {"model": "decoder", "parameters": "1.1B", "tokens": "300B"}


@pytest.mark.parametrize(
    ("field", "text", "words"),
    [
        ("batch", "1M tokens", "batch '1M tokens' is in tokens: write samples"),
        ("tokens", "3 epochs", "tokens '3 epochs' is in epochs: write what is seen in all"),
        ("precision", "fp12", "precision 'fp12' is not one of fp16, bf16, fp32"),
        ("sequence_length", "two", "sequence length 'two' is not a whole number"),
    ],
)
def test_numbers_of_something_else_are_one_line(field: str, text: str, words: str) -> None:
    with pytest.raises((InputError, ValueError), match=words):
        read_target(TYPED | {field: text})


def test_what_is_a_flag_on_the_command_line_is_a_field_here() -> None:
    with pytest.raises(ValueError, match="give the size: --model decoder --parameters 7B") as told:
        read_target(dict.fromkeys(TYPED, "") | {"model": "llama-7b"})
    assert in_fields(ModelForm.FIELDS, str(told.value)).endswith(
        "give the size: Model decoder Size 7B"
    )


@pytest.mark.parametrize("name", ["llama-7b", "gpt-oss", "7B"])
def test_where_a_command_would_keep_a_model_its_key_is_told(name: str) -> None:
    said = with_remedy("model", no_such_model(name, ["llama3.2-1b-shape", "mamba-790m"]))
    assert "advisor predict" not in said
    assert said.endswith("U: a model of your own.")
