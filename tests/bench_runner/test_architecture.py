from __future__ import annotations

from typing import Any

import pytest

from bench_runner.models.architecture import (
    KINDS,
    Architecture,
    ConvNext,
    Gpt2,
    GptNeoX,
    Llama,
    Mamba,
    Vit,
    kind_of,
    read_architecture,
)

WHERE = "recipe 'own', architecture key"


@pytest.mark.parametrize("kind", KINDS)
def test_a_name_finds_its_kind_and_its_own_arguments_read_back(kind: type[Architecture]) -> None:
    assert kind_of(kind.config_class) is kind_of(kind.model_type) is kind
    architecture = kind()
    assert read_architecture(kind, {}, where=WHERE) == architecture
    assert read_architecture(kind, architecture.arguments(), where=WHERE) == architecture
    # Of some keys null says that there is none, which is another model.
    meant = {key for key in architecture.arguments() if key in ("q_lora_rank", "n_shared_experts")}
    nothing = dict.fromkeys(set(architecture.arguments()) - meant - {"first_k_dense_replace"})
    assert read_architecture(kind, {**nothing, "else": "x"}, where=WHERE) == architecture


def test_what_is_left_out_is_what_the_library_derives() -> None:
    assert Gpt2(hidden_size=64).intermediate_size == 256
    assert Mamba(hidden_size=40).time_step_rank == 3
    assert read_architecture(Mamba, {"time_step_rank": "auto"}, where=WHERE) == Mamba()
    llama = Llama(hidden_size=64, num_attention_heads=4)
    assert (llama.key_value_heads, llama.head_size) == (4, 16)


@pytest.mark.parametrize(
    ("kind", "key", "value", "problem"),
    [
        *((GptNeoX, "hidden_size", value, "whole number") for value in ("64", 1.5, 0, -1, True)),
        (GptNeoX, "hidden_size", 10**30, "from 1 to 1,000,000"),
        (GptNeoX, "hidden_size", [64], "whole number"),
        (GptNeoX, "num_attention_heads", 7000, "more than the hidden size 6144"),
        (GptNeoX, "attention_bias", 1, "true or false"),
        (Gpt2, "n_embd", "x" * 1000, "whole number"),
        (Gpt2, "n_head", 1000, "more than the hidden size 768"),
        (Llama, "num_key_value_heads", 5, "does not divide 32"),
        (ConvNext, "depths", [3, 3], "not as many stages as hidden_sizes"),
        (ConvNext, "depths", [3, 3, 0, 3], "whole number from 1"),
        (ConvNext, "depths", [], "a list of one to 8"),
        (ConvNext, "layer_scale_init_value", float("nan"), "a number of 0 or more"),
        (Vit, "patch_size", None, "is missing"),
    ],
)
def test_a_wrong_or_missing_number_is_one_line_that_names_its_key(
    kind: type[Architecture], key: str, value: Any, problem: str
) -> None:
    with pytest.raises(ValueError, match=problem) as caught:
        read_architecture(kind, {key: value}, where=WHERE, required=(key,) if value is None else ())
    message = str(caught.value)
    assert message.startswith(f"{WHERE} '{key}': ")
    assert "\n" not in message
    assert len(message) < 200


def test_an_error_names_the_key_as_the_file_spells_it() -> None:
    with pytest.raises(ValueError, match=r"config\.json, key 'd_model': is 0; write"):
        read_architecture(
            Gpt2, {"n_embd": 0}, where="config.json, key", spelling={"n_embd": "d_model"}
        )
