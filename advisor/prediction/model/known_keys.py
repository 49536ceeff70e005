"""Which keys of a config.json are known to leave a training's work as it is.

Gathered from the configuration classes of transformers 5.17 of every model type that is counted,
and from what files of older versions and of training programs hold beside them. A key that is
neither counted nor named here is passed over only with a word.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

_LIBRARY = (
    "architectures attn_implementation auto_map bad_words_ids begin_suppress_tokens "
    "chunk_size_feed_forward do_sample dtype early_stopping exponential_decay_length_penalty "
    "finetuning_task gradient_checkpointing id2label is_encoder_decoder "
    "keys_to_ignore_at_inference label2id label_names length_penalty max_length min_length "
    "model_type name_or_path no_repeat_ngram_size num_beam_groups num_beams "
    "num_return_sequences output_attentions output_hidden_states prefix problem_type "
    "remove_invalid_values repetition_penalty return_dict return_dict_in_generate "
    "suppress_tokens task_specific_params temperature tf_legacy_loss tokenizer_class top_k "
    "top_p torch_dtype torchscript transformers_version typical_p use_bfloat16 use_cache "
    "diversity_penalty cache_implementation language use_flash_attn "
    "use_memory_efficient_attention ignore_index vocab_pad_to_multiple_of model_max_length "
    "max_sequence_length reference_compile repad_logits_with_grad is_llama_config tie_weights_ "
    "transformers.js_config inference_runner max_batch_size pad_key_length "
    "pre_allocate_kv_cache validate_runner_input directionality tokenizer_name "
    "tie_encoder_decoder sentence_transformers sbert_ce_default_activation_function chat_template "
    "generation_config base_model_tp_plan base_model_pp_plan base_model_ep_plan logits_to_keep "
    "num_logits_to_keep eos_token pad_token bos_token unk_token tensor_parallel use_fp16 "
    "use_flashattn use_flash_attention xla_device output_past max_input_length model_parallel "
    "pad_head_dim_to_multiple_of emb_pooler num_labels"
)
"""Of every file: how it is stored, named, started, and how text is generated from it."""
_ALIKE = (
    "activation activation_function attention_dropout attention_softmax_in_fp32 "
    "apply_residual_connection_post_layernorm attn_logit_softcapping clip_qkv dense_act_fn "
    "dropout dropout_rate embd_pdrop final_logit_softcapping hidden_act hidden_activation "
    "hidden_dropout is_gated_act legacy logit_scale logits_scaling max_position_embeddings "
    "max_seq_len n_positions n_ctx norm_type pretraining_tp query_pre_attn_scalar "
    "residual_in_fp32 rotary qk_head_dim rescale_prenorm_residual "
    "scale_attention_softmax_in_fp32 scale_attn_by_inverse_layer_idx scale_attn_weights "
    "reorder_and_upcast_attn scale_decoder_outputs slow_but_exact "
    "original_max_position_embeddings partial_rotary_factor position_embedding_type "
    "sinusoidal_pos_embds relative_attention_max_distance embedding_multiplier "
    "residual_multiplier attention_multiplier embedding_fraction use_logit_bias use_logit_scale "
    "local_rope_theta global_rope_theta no_rope_layers no_rope_layer_interval head_type "
    "classifier_pooling sparse_pred_ignore_index deterministic_flash_attn n_special "
    "predict_special_tokens afn masked_softmax_fusion offset_alibi seq_length "
    "bias_dropout_fusion layer_switch order_of_interleaved_layers use_parallel_block "
    "use_parallel_embedding use_embedding_sharing use_gated_activation full_attn_mod "
    "interpolate_factor ff_factor scale_embedding scalable_attention scale_emb scale_depth "
    "dim_model_base embedding_multiplier_scale output_multiplier_scale use_mup mup_width_scale "
    "causal_mask mup_denominator "
    "label_smoothing capacity_factor sliding_window_size alibi_starting_size multiple_of "
    "ffn_dim_multiplier gen_weight mlm_weight disc_weight log_scale"
)
"""Functions of single elements, scales and positions without weights: a step's time does not show
them."""
_SMALL = (
    "apply_layernorm qk_layernorm use_qk_norm qk_norm_type do_layer_norm_before enable_bias "
    "layer_norm_elementwise_affine _remove_final_layer_norm num_ln_in_parallel_attn "
    "parallel_attn use_parallel_residual learned_pos_emb no_bias bias use_task_id "
    "task_type_vocab_size use_mask_token use_absolute_position_embeddings "
    "use_relative_position_bias use_mean_pooling use_shared_relative_position_bias "
    "layer_scale_init_value layerscale_value relative_attention_num_buckets skip_bias_add "
    "skip_bias_add_qkv path_norm qk_norm use_post_norm qkv_bias use_qkv_bias attn_bias o_bias "
    "lm_head_bias use_lm_head_bias ffn_bias add_bias_linear add_qkv_bias use_rmsnorm use_rms_norm"
)
"""Norms, biases and the like, which are a few weights in ten thousand."""
_ELSEWHERE = (
    "add_cross_attention is_decoder layer_types layers_block_type attention_layers "
    "attention_types sliding_window sliding_window_pattern use_sliding_window max_window_layers "
    "window_size local_attention num_nextn_predict_layers num_mtp_layers moe_layer_freq "
    "mlp_layer_types attn_config layerdrop sparse_prediction alibi use_bidirectional_attention "
    "quantization_config compression_config image_size attn_type attn_type_list is_causal"
)
"""Looked at apart (`uncounted`, `hf_config`)."""
_EXPERTS = (
    "norm_topk_prob n_group topk_group topk_method scoring_func routed_scaling_factor seq_aux "
    "aux_loss_alpha ep_size num_experts_per_token experts_per_token swiglu_limit "
    "initial_context_length moe_router_activation_func moe_router_enable_expert_bias"
)
"""How experts are chosen and weighed, not how many."""
_PAIRS = (
    "num_hidden_layers num_attention_heads encoder_layerdrop decoder_layerdrop normalize_before "
    "normalize_embedding add_final_layer_norm add_bias_logits static_position_embeddings "
    "extra_pos_embeddings extra_layer_norm layernorm_variant do_blenderbot_90_layernorm "
    "share_encoder_decoder_embeddings decoder_vocab_size encoder_no_repeat_ngram_size "
    "force_bos_token_to_be_generated save_step classif_dropout scale_embedding"
)
"""Of BART's kin: norms, what follows from the others, and how text is generated."""
_MAMBA = (
    "use_associative_scan use_mambapy ssm_cfg rms_norm fused_add_norm intermediate_size "
    "pad_vocab_size_multiple"
)
_IMAGES = (
    "hidden_size num_layers num_stages encoder_stride out_features out_indices stage_names "
    "reshape_hidden_states pretrained_window_sizes semantic_loss_ignore_index pool_scales "
    "add_fpn use_auxiliary_head vocab_size pool_type class_token num_classes "
    "interpolate_pos_encoding"
)
"""Of models of images alone: what follows from the others, or belongs to another output."""
_ENDS = (
    *("_token_id", "_token_ids", "_token_index", "_dropout", "_pdrop", "_prob", "_drop", "_rate"),
    *("_eps", "_epsilon", "_std", "_version", "_act", "_activation", "_init", "_theta", "_coef"),
    *("_loss_weight", "_loss_coeff"),
)
_STARTS = (
    *("_", "summary_", "output_", "initializer_", "init_", "rope_", "rotary_", "router_"),
    *("time_step_", "auxiliary_", "classifier_", "pooler_", "unsloth_"),
)
_KNOWN = frozenset(" ".join((_LIBRARY, _ALIKE, _SMALL, _ELSEWHERE, _EXPERTS)).split())
_OF_FAMILY = {
    "ssm": frozenset(_MAMBA.split()),
    "vit": frozenset(_IMAGES.split()),
    "convnet": frozenset(_IMAGES.split()),
}


def unknown_keys(
    content: Mapping[str, Any], counted: Collection[str], *, family: str
) -> tuple[str, ...]:
    """Keys of the file that are neither counted nor known to change no work, and say something:
    what is false, null, 0 or empty is switched off."""
    known = _KNOWN | _OF_FAMILY.get(family, frozenset()) | implied(content)
    if content.get("is_encoder_decoder") is not False and "decoder_layers" in counted:
        known |= frozenset(_PAIRS.split())
    return tuple(
        key
        for key, value in content.items()
        if value
        and key not in counted
        and key not in known
        and key not in heads_of_later_tokens(content)
        and not key.startswith(_STARTS)
        and not key.endswith(_ENDS)
    )


_OF_LATER_TOKENS = ("mtp", "nextn", "future_tokens", "medusa")


def heads_of_later_tokens(content: Mapping[str, Any]) -> tuple[str, ...]:
    """Keys of layers that predict more than the next token, which the library does not train."""
    return tuple(key for key in content if any(word in key for word in _OF_LATER_TOKENS))


def implied(content: Mapping[str, Any]) -> frozenset[str]:
    """Keys whose value follows from the others, as some files spell it out."""

    def first(*keys: str) -> int:
        found = (content.get(key) for key in keys)
        return next((value for value in found if type(value) is int and value > 0), 0)

    hidden = first("hidden_size", "d_model", "n_embd", "dim")
    heads = first(
        "num_attention_heads", "n_head", "n_heads", "num_heads", "encoder_attention_heads"
    )
    shared = first("num_key_value_heads", "num_kv_heads") or heads
    size = first("head_dim") or (hidden // heads if heads else 0)
    values: dict[str, object] = {
        "num_key_value_groups": heads // shared if shared else 0,
        "num_key_value_heads": 1 if content.get("multi_query") else heads,
        "d_inner": 2 * hidden,
        "num_layers": first("num_hidden_layers", "n_layer"),
        "mlp_type": "default",
        "feed_forward_type": "original",
    }
    values |= dict.fromkeys(("attention_head_size", "head_size", "kv_channels", "v_head_dim"), size)
    values |= dict.fromkeys(
        (
            *("embedding_dim", "input_embedding_size", "output_embedding_size", "embedding_size"),
            *("hidden_size", "word_embed_proj_dim"),
        ),
        hidden,
    )
    inner = first("intermediate_size", "ffn_dim", "n_inner", "hidden_dim") or 4 * hidden
    values |= dict.fromkeys(("mlp_ratio", "expansion_ratio"), inner / hidden if hidden else 0)
    values["head_dim"] = content.get("qk_rope_head_dim", hidden // heads if heads else 0)
    if type(content.get("expand")) is int:
        values["d_inner"] = content["expand"] * hidden
    return frozenset(
        key for key, value in values.items() if content.get(key) == value and value is not None
    )
