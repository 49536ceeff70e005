"""Encoders after BERT and plain decoders as their config.json is published."""

from __future__ import annotations

from typing import Any

ELECTRA = {
    "model_type": "electra",
    "embedding_size": 128,
    "hidden_size": 256,
    "num_hidden_layers": 12,
    "num_attention_heads": 4,
    "intermediate_size": 1024,
    "vocab_size": 30522,
    "max_position_embeddings": 512,
    "type_vocab_size": 2,
}
ALBERT = {
    "model_type": "albert",
    "architectures": ["AlbertForMaskedLM"],
    "embedding_size": 128,
    "hidden_size": 768,
    "num_hidden_layers": 12,
    "num_hidden_groups": 1,
    "num_attention_heads": 12,
    "intermediate_size": 3072,
    "inner_group_num": 1,
    "net_structure_type": 0,
    "num_memory_blocks": 0,
    "down_scale_factor": 1,
    "gap_size": 0,
    "vocab_size": 30000,
    "max_position_embeddings": 512,
}
ESM_2 = {
    "model_type": "esm",
    "architectures": ["EsmForMaskedLM"],
    "emb_layer_norm_before": False,
    "esmfold_config": None,
    "hidden_size": 1280,
    "intermediate_size": 5120,
    "is_folding_model": False,
    "mask_token_id": 32,
    "max_position_embeddings": 1026,
    "num_attention_heads": 20,
    "num_hidden_layers": 33,
    "pad_token_id": 1,
    "position_embedding_type": "rotary",
    "token_dropout": True,
    "vocab_list": None,
    "vocab_size": 33,
}
EUROBERT = {
    "model_type": "eurobert",
    "architectures": ["EuroBertForMaskedLM"],
    "auto_map": {
        "AutoConfig": "configuration_eurobert.EuroBertConfig",
        "AutoModelForMaskedLM": "modeling_eurobert.EuroBertForMaskedLM",
    },
    "bos_token": "<|begin_of_text|>",
    "hidden_dropout": 0.0,
    "mask_token_id": 128002,
    "max_position_embeddings": 8192,
    "pretraining_tp": 1,
    "rope_theta": 250000,
    "tie_word_embeddings": False,
    "vocab_size": 128256,
}
NOMIC = {
    "model_type": "nomic_bert",
    "architectures": ["NomicBertForPreTraining"],
    "auto_map": {
        "AutoConfig": "configuration_hf_nomic_bert.NomicBertConfig",
        "AutoModelForMaskedLM": "modeling_hf_nomic_bert.NomicBertForPreTraining",
    },
    "activation_function": "swiglu",
    "causal": False,
    "dense_seq_output": True,
    "fused_bias_fc": True,
    "fused_dropout_add_ln": True,
    "mlp_fc1_bias": False,
    "mlp_fc2_bias": False,
    "n_embd": 768,
    "n_head": 12,
    "n_inner": 3072,
    "n_layer": 12,
    "n_positions": 2048,
    "pad_vocab_size_multiple": 64,
    "parallel_block": False,
    "prenorm": False,
    "qkv_proj_bias": False,
    "rotary_emb_base": 1000,
    "rotary_emb_fraction": 1.0,
    "type_vocab_size": 2,
    "use_flash_attn": True,
    "use_rms_norm": False,
    "use_xentropy": True,
    "vocab_size": 30528,
}
GRANITE_4 = {
    "model_type": "granitemoehybrid",
    "architectures": ["GraniteMoeHybridForCausalLM"],
    "attention_multiplier": 0.015625,
    "embedding_multiplier": 12.0,
    "hidden_size": 1024,
    "intermediate_size": 2048,
    "layer_types": ["attention"] * 28,
    "logits_scaling": 4.0,
    "mamba_n_heads": 32,
    "mamba_d_state": 256,
    "mamba_expand": 2,
    "max_position_embeddings": 32768,
    "num_attention_heads": 16,
    "num_experts_per_tok": 0,
    "num_hidden_layers": 28,
    "num_key_value_heads": 4,
    "num_local_experts": 0,
    "position_embedding_type": "rope",
    "residual_multiplier": 0.263,
    "shared_intermediate_size": 2048,
    "tie_word_embeddings": True,
    "vocab_size": 100352,
}
OPT_350M = {
    "model_type": "opt",
    "architectures": ["OPTForCausalLM"],
    "do_layer_norm_before": False,
    "ffn_dim": 4096,
    "hidden_size": 1024,
    "max_position_embeddings": 2048,
    "num_attention_heads": 16,
    "num_hidden_layers": 24,
    "vocab_size": 50272,
    "word_embed_proj_dim": 512,
}
FALCON_7B = {
    "model_type": "falcon",
    "alibi": False,
    "bias": False,
    "hidden_size": 4544,
    "multi_query": True,
    "new_decoder_architecture": False,
    "num_attention_heads": 71,
    "num_hidden_layers": 32,
    "parallel_attn": True,
    "vocab_size": 65024,
}
GPTJ_6B = {
    "model_type": "gptj",
    "n_embd": 4096,
    "n_head": 16,
    "n_inner": None,
    "n_layer": 28,
    "n_positions": 2048,
    "rotary_dim": 64,
    "vocab_size": 50400,
}
PUBLISHED: dict[str, dict[str, Any]] = {
    "electra-small": ELECTRA,
    "electra-base": ELECTRA
    | {"embedding_size": 768, "hidden_size": 768}
    | {"num_attention_heads": 12, "intermediate_size": 3072},
    # Its embeddings are wider than its layers.
    "electra-base-generator": ELECTRA | {"embedding_size": 768},
    "albert-base-v2": ALBERT,
    "albert-xxlarge-v2": ALBERT
    | {"hidden_size": 4096, "num_attention_heads": 64, "intermediate_size": 16384},
    "esm2-8m": ESM_2 | {"hidden_size": 320, "intermediate_size": 1280, "num_hidden_layers": 6},
    "esm2-650m": ESM_2,
    "esm2-3b": ESM_2
    | {"hidden_size": 2560, "intermediate_size": 10240}
    | {"num_attention_heads": 40, "num_hidden_layers": 36},
    "esm-1b": ESM_2 | {"emb_layer_norm_before": True, "position_embedding_type": "absolute"},
    "eurobert-210m": EUROBERT
    | {"hidden_size": 768, "intermediate_size": 3072, "num_hidden_layers": 12}
    | {"num_attention_heads": 12, "num_key_value_heads": 12},
    "eurobert-2.1b": EUROBERT
    | {"hidden_size": 2304, "intermediate_size": 6144, "num_hidden_layers": 32}
    | {"num_attention_heads": 18, "num_key_value_heads": 6},
    "nomic-bert-2048": NOMIC,
    "distilbert": {
        "model_type": "distilbert",
        "dim": 768,
        "hidden_dim": 3072,
        "n_heads": 12,
        "n_layers": 6,
        "vocab_size": 30522,
        "max_position_embeddings": 512,
        "sinusoidal_pos_embds": False,
        "tie_weights_": True,
    },
    "opt-350m": OPT_350M,
    "opt-1.3b": OPT_350M
    | {"hidden_size": 2048, "ffn_dim": 8192, "num_attention_heads": 32}
    | {"word_embed_proj_dim": 2048, "do_layer_norm_before": True},
    "bloom-560m": {
        "model_type": "bloom",
        "hidden_size": 1024,
        "n_head": 16,
        "n_inner": None,
        "n_layer": 24,
        "vocab_size": 250880,
        "seq_length": 2048,
    },
    "mpt-7b": {
        "model_type": "mpt",
        "attn_config": {"alibi": True, "attn_type": "multihead_attention", "qk_ln": False},
        "d_model": 4096,
        "expansion_ratio": 4,
        "learned_pos_emb": True,
        "max_seq_len": 2048,
        "n_heads": 32,
        "n_layers": 32,
        "no_bias": True,
        "vocab_size": 50432,
    },
    "falcon-7b": FALCON_7B,
    "falcon-40b": FALCON_7B
    | {"hidden_size": 8192, "num_attention_heads": 128, "num_hidden_layers": 60}
    | {"new_decoder_architecture": True, "num_kv_heads": 8},
    "falcon-rw-1b": FALCON_7B
    | {"hidden_size": 2048, "num_attention_heads": 32, "num_hidden_layers": 24}
    | {"alibi": True, "bias": True, "multi_query": False, "parallel_attn": False}
    | {"vocab_size": 50304},
    "gpt-j-6b": GPTJ_6B,
    "codegen-350m": GPTJ_6B
    | {"model_type": "codegen", "n_embd": 1024, "n_layer": 20, "rotary_dim": 32}
    | {"vocab_size": 51200},
    "phi-2": {
        "model_type": "phi",
        "hidden_size": 2560,
        "intermediate_size": 10240,
        "num_attention_heads": 32,
        "num_hidden_layers": 32,
        "num_key_value_heads": 32,
        "qk_layernorm": False,
        "vocab_size": 51200,
    },
    "apertus-8b": {
        "model_type": "apertus",
        "hidden_size": 4096,
        "intermediate_size": 21504,
        "num_hidden_layers": 32,
        "num_attention_heads": 32,
        "num_key_value_heads": 8,
        "max_position_embeddings": 65536,
        "qk_norm": True,
        "post_norm": False,
        "tie_word_embeddings": False,
        "vocab_size": 131072,
    },
    "minitron-4b": {
        "model_type": "nemotron",
        "hidden_size": 3072,
        "intermediate_size": 9216,
        "num_attention_heads": 24,
        "num_hidden_layers": 32,
        "num_key_value_heads": 8,
        "head_dim": 128,
        "vocab_size": 256000,
    },
    "hunyuan-7b": {
        "model_type": "hunyuan_v1_dense",
        "hidden_size": 4096,
        "intermediate_size": 14336,
        "num_attention_heads": 32,
        "num_hidden_layers": 32,
        "num_key_value_heads": 8,
        "head_dim": 128,
        "use_cla": False,
        "use_qk_norm": True,
        "vocab_size": 128167,
    },
    "granite-4.0-350m": GRANITE_4,
    "granite-4.0-micro": GRANITE_4
    | {"hidden_size": 2560, "intermediate_size": 8192, "shared_intermediate_size": 8192}
    | {"num_attention_heads": 40, "num_hidden_layers": 40, "num_key_value_heads": 8}
    | {"layer_types": ["attention"] * 40, "logits_scaling": 10.0},
}
