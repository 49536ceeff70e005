"""What is dropped: what a file says of it, and what it costs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from advisor.prediction.model.targets import Run
from advisor.prediction.model.timed_keys import drops
from advisor.prediction.model.workload import workload_of
from bench_runner.models.model_types import model_types
from tests.prediction.configs_for_tests import PUBLISHED
from tests.prediction.small_models_for_tests import (
    BERT,
    COMPILED,
    LLAMA,
    NOT_COMPILED,
    OPT,
    changed,
    target,
    term,
)

ALBERT, ELECTRA = PUBLISHED["albert-base-v2"], PUBLISHED["electra-small"]
ESM_2 = PUBLISHED["esm2-650m"]


def test_bert_drops_behind_its_embeddings_and_twice_a_layer(tmp_path: Path) -> None:
    workload = target(tmp_path, BERT).workload
    assert workload.dropped_elements == 512 * 768 * 25
    assert workload.dropped_scores == 12 * 512**2 * 12


@pytest.mark.parametrize(
    ("content", "layers_and_one"),
    [
        (BERT | {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0}, 0),
        (ALBERT, 0),
        (ESM_2 | {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}, 0),
        (ALBERT | {"hidden_dropout_prob": 0.1}, 25),
        (ELECTRA, 25),
    ],
)
def test_a_file_says_whether_anything_is_dropped(
    content: dict[str, Any], layers_and_one: int, tmp_path: Path
) -> None:
    found = target(tmp_path, content)
    width = content["hidden_size"]
    assert found.workload.dropped_elements == 512 * width * layers_and_one


def test_what_the_file_says_of_dropout_is_what_is_measured(tmp_path: Path) -> None:
    """Else the runner builds the model with the library's own share."""
    recipe = target(tmp_path, BERT | {"hidden_dropout_prob": 0.0}).recipe
    assert recipe is not None
    assert recipe.model.arguments["hidden_dropout_prob"] == 0.0
    assert "attention_probs_dropout_prob" not in recipe.model.arguments
    plain = target(tmp_path, BERT).recipe
    assert plain is not None
    assert not any("dropout" in key for key in plain.model.arguments)


@pytest.mark.parametrize("value", [-0.1, 1.0, "a tenth", True, [0.1], 1e400])
def test_a_share_that_is_none_is_refused_in_one_line(value: object, tmp_path: Path) -> None:
    mend = r"key 'hidden_dropout_prob': is .*; write a number from 0 to below 1"
    with pytest.raises(ValueError, match=mend) as refused:
        target(tmp_path, BERT | {"hidden_dropout_prob": value})
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("value", ["0.1", [0.1], True, 1.0, -0.1])
def test_a_recipe_whose_share_is_none_is_refused_as_a_file_is(value: object) -> None:
    recipe = changed("bert-base", {"hidden_dropout_prob": value})
    with pytest.raises(ValueError, match=r"key 'hidden_dropout_prob': is .*; write a number"):
        workload_of(recipe)


@pytest.mark.parametrize("name", [n for n, kind in model_types().items() if kind.own_class])
def test_what_is_dropped_where_nothing_is_said_is_the_library_s(name: str) -> None:
    library, kind = pytest.importorskip("transformers"), model_types()[name]
    built = getattr(library, kind.config_class)()
    hidden = (
        *("hidden_dropout_prob", "hidden_dropout", "resid_pdrop", "residual_dropout"),
        *("dropout", "dropout_rate"),
    )
    scores = ("attention_probs_dropout_prob", "attention_dropout", "attn_pdrop", "dropout_rate")
    embeddings = ("embd_pdrop", "embedding_dropout")
    inner = ("activation_dropout", "mlp_dropout", "dropout_rate")

    def any_of(keys: tuple[str, ...]) -> bool:
        return any(getattr(built, key, 0.0) > 0 for key in keys)

    every = dict.fromkeys(("encoder_layerdrop", "decoder_layerdrop"), 0.0)
    found = drops(kind, every, where="here")
    assert (found.hidden, found.scores) == (any_of(hidden), any_of(scores))
    assert found.embeddings == any_of(embeddings if hasattr(built, "embd_pdrop") else hidden)
    assert found.inner == any_of(inner)


GPT2: dict[str, Any] = {
    "model_type": "gpt2",
    "n_embd": 768,
    "n_layer": 12,
    "n_head": 12,
    "vocab_size": 50257,
}
BART: dict[str, Any] = {
    "model_type": "bart",
    "d_model": 512,
    "encoder_layers": 2,
    "decoder_layers": 3,
    "encoder_attention_heads": 8,
    "decoder_attention_heads": 8,
    "encoder_ffn_dim": 2048,
    "decoder_ffn_dim": 1024,
    "vocab_size": 32000,
    "is_encoder_decoder": True,
}


def test_gpt_2_says_by_itself_what_is_dropped_behind_its_embeddings(tmp_path: Path) -> None:
    each = 512 * 768
    assert target(tmp_path, GPT2).workload.dropped_elements == 25 * each
    without = target(tmp_path, GPT2 | {"embd_pdrop": 0.0})
    assert without.workload.dropped_elements == 24 * each
    assert without.recipe is not None
    assert without.recipe.model.arguments["embd_pdrop"] == 0.0
    alone = target(tmp_path, GPT2 | {"resid_pdrop": 0, "attn_pdrop": 0})
    assert alone.workload.dropped_elements == each
    assert alone.workload.dropped_scores == 0.0
    none = {"resid_pdrop": 0, "attn_pdrop": 0, "embd_pdrop": 0}
    assert target(tmp_path, GPT2 | none).workload.dropped_elements == 0


def test_what_is_dropped_inside_the_feed_forward_layers_is_counted(tmp_path: Path) -> None:
    """As BART's own files have it, and ModernBERT's class calls mlp_dropout."""
    plain = target(tmp_path, BART).workload.dropped_elements
    inside = target(tmp_path, BART | {"activation_dropout": 0.1})
    assert inside.workload.dropped_elements - plain == 512 * (2 * 2048 + 3 * 1024)
    assert inside.recipe is not None
    assert inside.recipe.model.arguments["activation_dropout"] == 0.1
    modern = BERT | {"model_type": "modernbert"}
    found = target(tmp_path, modern | {"mlp_dropout": 0.1}).workload
    assert found.dropped_elements == 512 * 12 * 3072
    # OPT's code passes it over.
    opt = target(tmp_path, OPT | {"activation_dropout": 0.1}).workload
    assert opt.dropped_elements == 512 * 24 * 768


@pytest.mark.parametrize(
    ("content", "key"),
    [
        (OPT | {"layerdrop": 0.1}, "layerdrop"),
        (LLAMA | {"layerdrop": 0.1}, "layerdrop"),
        (BART | {"encoder_layerdrop": 0.05}, "encoder_layerdrop"),
        (BART | {"decoder_layerdrop": 0.05}, "decoder_layerdrop"),
        # Where the file says nothing this library leaves some out.
        (BART | {"model_type": "m2m_100", "encoder_layerdrop": 0}, "decoder_layerdrop"),
    ],
)
def test_layers_that_are_left_out_at_random_are_refused(
    content: dict[str, Any], key: str, tmp_path: Path
) -> None:
    with pytest.raises(ValueError, match=f"key '{key}': .*at random.*; write 0") as refused:
        target(tmp_path, content)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("value", ["0.1", True, -0.1, 1.0, [0]])
def test_a_share_of_layers_that_is_none_is_refused(value: object, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"key 'layerdrop': is .*; write a number from 0"):
        target(tmp_path, OPT | {"layerdrop": value})


def test_a_model_that_leaves_no_layer_out_is_built_so(tmp_path: Path) -> None:
    """The library's M2M100 takes 0.05 where a recipe says nothing."""
    none = {"encoder_layerdrop": 0.0, "decoder_layerdrop": 0}
    recipe = target(tmp_path, BART | {"model_type": "m2m_100"} | none).recipe
    assert recipe is not None
    assert recipe.model.arguments["encoder_layerdrop"] == 0.0
    assert recipe.model.arguments["decoder_layerdrop"] == 0.0
    opt = target(tmp_path, OPT | {"layerdrop": 0}).recipe
    assert opt is not None and "layerdrop" not in opt.model.arguments


def test_a_recipe_that_leaves_layers_out_is_refused() -> None:
    with pytest.raises(ValueError, match=r"'layerdrop': leaves out 0.1 of the layers at random"):
        workload_of(changed("opt-125m", {"layerdrop": 0.1}))


@pytest.mark.parametrize("key", ["hidden_dropout", "resid_pdrop", "dropout"])
def test_a_model_whose_code_drops_nothing_hidden_is_not_predicted_as_if_it_did(
    key: str, tmp_path: Path
) -> None:
    """The library's Llama passes the key over, and so it is measured without."""
    llama = target(tmp_path, LLAMA | {key: 0.1, "attention_dropout": 0.1})
    assert llama.workload.dropped_elements == 0.0
    assert llama.workload.dropped_scores > 0.0
    assert llama.recipe is not None
    assert "hidden_dropout" not in llama.recipe.model.arguments


def test_a_compiler_draws_a_number_for_each_element(tmp_path: Path) -> None:
    """On an H100 the difference was 54 ms of a step of 256 samples, by torch's own kernel 9 of 667
    (docs/measurements.md)."""
    bert = target(tmp_path, BERT, Run(batch_size=256, tokens=1e9, sequence_length=512))
    alone = term(bert, "dropout", COMPILED)
    without = target(
        tmp_path,
        BERT | {"attention_probs_dropout_prob": 0.0},
        Run(batch_size=256, tokens=1e9, sequence_length=512),
    )
    assert 0.045 < term(without, "dropout", COMPILED) < alone < 0.09
    assert term(without, "dropout", NOT_COMPILED) < 0.2 * alone
