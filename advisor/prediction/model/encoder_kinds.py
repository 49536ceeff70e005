"""How the config.json of each kind of encoder, and of a pair of both, says its architecture."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from advisor.prediction.model.kin import HEADS, INNER, LAYERS, POSITIONS, SIZES, WIDTH, Kin, Refusal
from bench_runner.models.architecture_encoders import (
    Albert,
    Bert,
    DistilBert,
    Electra,
    Esm,
    EuroBert,
    NomicBert,
    Roberta,
)
from bench_runner.models.architecture_text import Deberta, DebertaV2, ModernBert
from bench_runner.models.architecture_two_sides import (
    M2M100,
    MT5,
    T5,
    Bart,
    Blenderbot,
    Marian,
    MBart,
    Pegasus,
    PLBart,
)

LONGEST_BERT = 512
"""Tokens."""
_BERT = Kin(
    kind=Bert,
    kept=f"{SIZES} max_position_embeddings",
    spelling={
        "hidden_size": "hidden_size dim",
        "num_hidden_layers": "num_hidden_layers n_layers",
        "num_attention_heads": "num_attention_heads n_heads",
        "intermediate_size": "intermediate_size hidden_dim",
    },
    longest="max_position_embeddings",
    usual=LONGEST_BERT,
)
_DISTILBERT = replace(
    _BERT,
    kind=DistilBert,
    kept="dim n_layers n_heads hidden_dim vocab_size max_position_embeddings",
    spelling={
        "dim": "dim hidden_size",
        "n_layers": "n_layers num_hidden_layers",
        "n_heads": "n_heads num_attention_heads",
        "hidden_dim": "hidden_dim intermediate_size",
    },
)
_ALBERT = replace(
    _BERT,
    kind=Albert,
    kept=f"{_BERT.kept} embedding_size num_hidden_groups",
    # Not their class's own defaults, which are those of the largest.
    required="hidden_size num_hidden_layers num_attention_heads intermediate_size",
    idle="gap_size net_structure_type num_memory_blocks down_scale_factor",
)
_ESM = replace(
    _BERT,
    kind=Esm,
    kept=f"{_BERT.kept} position_embedding_type emb_layer_norm_before pad_token_id",
    spelling={},
    # The library has none of its own; the alphabet of ESM-1b and ESM-2 has 33 letters.
    defaults={"vocab_size": 33},
    usual=1026,
    idle="esmfold_config vocab_list token_dropout",
    refuses=(
        Refusal(
            "is_folding_model",
            lambda value: not value,
            "a model that folds proteins (ESMFold) is not counted; remove the key to ask for its "
            "language model",
        ),
    ),
)
_NO_BIASES = "says biases, which the library's NomicBERT has not; remove the key for it"
_NOMIC = Kin(
    kind=NomicBert,
    kept=f"{SIZES} type_vocab_size",
    spelling={
        "hidden_size": WIDTH,
        "num_hidden_layers": LAYERS,
        "num_attention_heads": HEADS,
        "intermediate_size": INNER,
    },
    required="hidden_size num_hidden_layers num_attention_heads intermediate_size",
    longest=POSITIONS,
    idle="dense_seq_output fused_bias_fc fused_dropout_add_ln pad_vocab_size_multiple prenorm "
    "use_xentropy",
    refuses=(
        *(
            Refusal(key, lambda value: not value, _NO_BIASES)
            for key in ("qkv_proj_bias", "mlp_fc1_bias", "mlp_fc2_bias")
        ),
        Refusal(
            "img_size",
            lambda value: not value,
            "NomicBERT's model of images is not counted; write vit to ask for one",
        ),
        Refusal(
            "rotary_emb_fraction",
            lambda value: value is None or value == 1,
            "turns positions in a part of each head, and the library's NomicBERT in all of it; "
            "remove the key for that one",
        ),
        Refusal(
            "causal",
            lambda value: not value,
            "an encoder made a decoder is not counted; remove the key for the encoder",
        ),
        Refusal(
            "activation_function",
            lambda value: value is None or "glu" in str(value),
            "says no gate, which the library's NomicBERT has; write bert to ask for one without",
        ),
    ),
)
_EUROBERT = Kin(
    kind=EuroBert,
    kept=f"{SIZES} num_key_value_heads head_dim tie_word_embeddings",
    required="hidden_size num_hidden_layers num_attention_heads intermediate_size",
    longest="max_position_embeddings",
    usual=8192,
)
_DEBERTA = Kin(
    kind=DebertaV2,
    kept=f"{SIZES} max_position_embeddings type_vocab_size relative_attention "
    "max_relative_positions position_biased_input pos_att_type",
    longest="max_position_embeddings",
    usual=LONGEST_BERT,
)
_T5 = Kin(
    kind=T5,
    spelling={
        "d_model": "d_model hidden_size",
        "num_layers": "num_layers num_hidden_layers",
        "num_heads": "num_heads num_attention_heads",
    },
    kept="d_model num_layers num_decoder_layers num_heads d_ff d_kv vocab_size feed_forward_proj",
    longest="n_positions",
    usual=512,
)
_BART = Kin(
    kind=Bart,
    spelling={"d_model": "d_model hidden_size"},
    kept="d_model encoder_layers decoder_layers encoder_attention_heads decoder_attention_heads "
    "encoder_ffn_dim decoder_ffn_dim vocab_size max_position_embeddings",
    longest="max_position_embeddings",
    usual=1024,
    refuses=tuple(
        Refusal(
            key,
            lambda value: value in (None, True),
            "says a table of words for each of encoder, decoder and output, of which one alone is "
            "counted; remove the key for a model that shares it",
        )
        for key in ("tie_word_embeddings", "share_encoder_decoder_embeddings")
    ),
)
ENCODERS: Mapping[str, Kin] = {
    **dict.fromkeys(
        (
            *("bert", "xlm-roberta", "xlm-roberta-xl", "camembert", "ernie", "megatron-bert"),
            "data2vec-text",
        ),
        _BERT,
    ),
    **dict.fromkeys(
        ("roberta", "roberta-prelayernorm"),
        replace(_BERT, defaults={"vocab_size": Roberta().vocab_size}),
    ),
    "mpnet": replace(_BERT, defaults={"vocab_size": 30527}),
    "distilbert": _DISTILBERT,
    "electra": replace(_BERT, kind=Electra, kept=f"{_BERT.kept} embedding_size"),
    "albert": _ALBERT,
    "esm": _ESM,
    "nomic_bert": _NOMIC,
    "eurobert": _EUROBERT,
    "modernbert": Kin(
        kind=ModernBert,
        kept=f"{SIZES} local_attention global_attn_every_n_layers",
        longest="max_position_embeddings",
        usual=8192,
    ),
    "deberta": replace(_DEBERTA, kind=Deberta),
    "deberta-v2": replace(
        _DEBERTA,
        kept=f"{_DEBERTA.kept} position_buckets share_att_key norm_rel_ebd",
    ),
}
PAIRS: Mapping[str, Kin] = {
    "t5": _T5,
    **dict.fromkeys(("mt5", "umt5"), replace(_T5, kind=MT5)),
    **{
        kind.model_type: replace(_BART, kind=kind)
        for kind in (Bart, PLBart, MBart, M2M100, Pegasus, Marian)
    },
    "blenderbot": replace(_BART, kind=Blenderbot, usual=128),
}
