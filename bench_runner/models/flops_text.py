"""Parameters and operations of models of text; `flops` says what counts."""

from __future__ import annotations

from bench_runner.models.architecture_decoders import PlainDecoder
from bench_runner.models.architecture_experts import DeepseekV2, Experts
from bench_runner.models.architecture_text import (
    Deberta,
    DebertaV2,
    Llama,
    ModernBert,
    Starcoder2,
)
from bench_runner.models.architecture_two_sides import T5, Bart, EncoderDecoder
from bench_runner.models.model_count import ModelCount, causal_half, linear


def _llama_attention(config: Llama) -> tuple[int, int]:
    """Parameters and weights of products of a layer's attention."""
    hidden = config.hidden_size
    inner = config.num_attention_heads * config.head_dim
    shared = config.num_key_value_heads * config.head_dim
    weights = 2 * hidden * (inner + shared)
    read, written = config.biased
    biases = (inner + 2 * shared if read else 0) + (hidden if written else 0)
    return weights + biases + config.head_norms, weights


def count_llama(config: Llama, tokens: int) -> ModelCount:
    """Decoder of Touvron et al. 2023: gated feed-forward layer, grouped keys and values."""
    hidden, layers = config.hidden_size, config.num_hidden_layers
    inner, vocabulary = config.intermediate_size, config.vocab_size
    tables = 1 if config.tie_word_embeddings else 2
    attention, weights = _llama_attention(config)
    wide = 2 if config.gated else 1  # products into the inner size
    norm = config.norm_vectors * hidden
    layer = (
        attention
        + wide * linear(hidden, inner, bias=config.mlp_bias)
        + linear(inner, hidden, bias=config.mlp_bias)
        + config.norms_a_layer * norm
        + config.further
    )
    weights += (wide + 1) * hidden * inner
    square = layers * 4 * tokens**2 * config.num_attention_heads * config.head_dim
    return ModelCount(
        parameters=tables * vocabulary * hidden
        + layers * layer
        + norm
        + (vocabulary if config.output_bias else 0),
        matmul=2 * tokens * (layers * weights + hidden * vocabulary),
        attention_full=square,
        attention_lowest=causal_half(square) if config.causal else square,
    )


def count_starcoder2(config: Starcoder2, tokens: int) -> ModelCount:
    """Lozhkov et al. 2024; stands for other decoders with a plain feed-forward layer, too."""
    hidden, layers, inner = config.hidden_size, config.num_hidden_layers, config.intermediate_size
    vocabulary, bias = config.vocab_size, config.use_bias
    queries = config.num_attention_heads * config.head_dim
    shared = config.num_key_value_heads * config.head_dim
    tables = 1 if config.tie_word_embeddings else 2
    layer = (
        linear(hidden, queries + 2 * shared, bias=bias)
        + linear(queries, hidden, bias=bias)
        + linear(hidden, inner, bias=bias)
        + linear(inner, hidden, bias=bias)
        + 2 * 2 * hidden
    )
    weights = 2 * hidden * (queries + shared) + 2 * hidden * inner
    square = layers * 4 * tokens**2 * queries
    return ModelCount(
        parameters=tables * vocabulary * hidden + layers * layer + 2 * hidden,
        matmul=2 * tokens * (layers * weights + hidden * vocabulary),
        attention_full=square,
        attention_lowest=causal_half(square),
    )


def count_plain_decoder(config: PlainDecoder, tokens: int) -> ModelCount:
    """Decoders with a plain feed-forward layer; those whose tables are narrower than their layers
    project tokens to the hidden size and back."""
    hidden, layers, inner = config.hidden_size, config.num_hidden_layers, config.intermediate_size
    vocabulary, narrow = config.vocab_size, config.output_size
    tables = 1 if config.tie_word_embeddings else 2
    weights = layers * 2 * hidden * (hidden + config.shared_size + inner)
    weights += 2 * hidden * narrow if narrow != hidden else 0
    square = layers * 4 * tokens**2 * hidden
    return ModelCount(
        parameters=tables * vocabulary * narrow + weights + config.small_weights,
        matmul=2 * tokens * (weights + narrow * vocabulary),
        attention_full=square,
        attention_lowest=causal_half(square),
    )


def _latent_attention(config: DeepseekV2) -> tuple[int, int]:
    """The same of multi-head latent attention (DeepSeek-AI 2024, section 2.1)."""
    hidden, heads = config.hidden_size, config.num_attention_heads
    queries, narrow = heads * config.query_size, config.q_lora_rank
    keys = config.kv_lora_rank
    weights = hidden * narrow + narrow * queries if narrow else hidden * queries
    weights += hidden * (keys + config.qk_rope_head_dim)
    weights += keys * heads * (config.qk_nope_head_dim + config.v_head_dim)
    weights += heads * config.v_head_dim * hidden
    extra = narrow + keys  # norms
    if config.attention_bias:
        extra += narrow + keys + config.qk_rope_head_dim + hidden
    return weights + extra, weights


def count_experts(config: Experts, tokens: int) -> ModelCount:
    """Mixture of experts: every expert is held, a token passes through those chosen for it."""
    hidden, layers, vocabulary = config.hidden_size, config.num_hidden_layers, config.vocab_size
    tables = 1 if config.tie_word_embeddings else 2
    if isinstance(config, DeepseekV2):
        attention, weights = _latent_attention(config)
        scored = config.num_attention_heads * (config.query_size + config.v_head_dim)
    else:
        attention, weights = _llama_attention(config)
        scored = 2 * config.num_attention_heads * config.head_dim
    dense = config.dense_layers
    sparse = layers - dense
    one, gate = 3 * hidden * config.expert_size, hidden if config.shared_gate else 0
    always = 3 * hidden * config.shared_size + gate + hidden * config.experts  # and the router
    feed_forward = dense * 3 * hidden * config.intermediate_size + sparse * always
    held = feed_forward + sparse * config.experts * one
    used = feed_forward + sparse * config.num_experts_per_tok * one
    biases = sparse * (config.experts * config.expert_biases + config.further)
    layer = attention + 2 * hidden  # and its norms
    square = layers * 2 * tokens**2 * scored
    idle = config.experts - config.num_experts_per_tok
    return ModelCount(
        parameters=tables * vocabulary * hidden + layers * layer + held + biases + hidden,
        unused=sparse * idle * (one + config.expert_biases),
        matmul=2 * tokens * (layers * weights + used + hidden * vocabulary),
        attention_full=square,
        attention_lowest=causal_half(square),
    )


def count_t5(config: T5, tokens: int) -> ModelCount:
    """Encoder-decoder of Raffel et al. 2020."""
    hidden, heads = config.hidden_size, config.num_attention_heads
    encoders, decoders = config.num_hidden_layers, config.num_decoder_layers
    feed_forward = config.products * hidden * config.intermediate_size
    project = 4 * hidden * heads * config.head_dim
    positions = config.relative_attention_num_buckets * heads
    parameters = (
        config.vocab_size * hidden  # one table: whatever a file says, the library ties the output's
        + encoders * (project + feed_forward + 2 * hidden)
        + decoders * (2 * project + feed_forward + 3 * hidden)
        + 2 * (positions + hidden)  # of encoder and decoder, and their last norms
    )
    return _read_and_written(config, tokens, heads * config.head_dim, parameters)


def count_bart(config: Bart, tokens: int) -> ModelCount:
    """Encoder-decoder of Lewis et al. 2020 and its kin; the output has the input's table."""
    hidden, norm = config.hidden_size, 2 * config.hidden_size
    attention = 4 * linear(hidden, hidden) + norm

    def feed_forward(inner: int) -> int:
        return linear(hidden, inner) + linear(inner, hidden) + norm

    rows = config.max_position_embeddings + config.spare_positions if config.has_positions else 0
    parameters = (
        config.vocab_size * hidden
        + 2 * (rows * hidden + config.outer_norms * norm)
        + config.num_hidden_layers * (attention + feed_forward(config.intermediate_size))
        + config.num_decoder_layers * (2 * attention + feed_forward(config.decoder_inner))
    )
    return _read_and_written(config, tokens, hidden, parameters)


def _read_and_written(
    config: EncoderDecoder, tokens: int, inner: int, parameters: int
) -> ModelCount:
    """What both sides compute; ``inner`` elements have the heads of an attention together."""
    hidden, written = config.hidden_size, config.written(tokens)
    encoders, decoders = config.num_hidden_layers, config.num_decoder_layers
    project, wide = 4 * hidden * inner, config.products * hidden
    matmul = 2 * tokens * encoders * (project + wide * config.intermediate_size)
    matmul += 2 * written * decoders * (project + wide * config.decoder_inner + project // 2)
    matmul += 2 * tokens * decoders * (project // 2)  # keys and values of what was read
    matmul += 2 * written * hidden * config.vocab_size
    looks_back = decoders * 4 * written**2 * inner
    rest = 4 * tokens * inner * (encoders * tokens + decoders * written)
    return ModelCount(
        parameters=parameters,
        matmul=matmul,
        attention_full=rest + looks_back,
        attention_lowest=rest + causal_half(looks_back),
    )


def count_modernbert(config: ModernBert, tokens: int) -> ModelCount:
    """Encoder of Warner et al. 2024. `full` has every layer look at the whole sample, which is what
    scaled_dot_product_attention does under a window's mask; `lowest` has the window alone."""
    hidden, layers, inner = config.hidden_size, config.num_hidden_layers, config.intermediate_size
    vocabulary = config.vocab_size
    norm = hidden * (2 if config.norm_bias else 1)
    layer = (
        linear(hidden, 3 * hidden, bias=config.attention_bias)
        + linear(hidden, hidden, bias=config.attention_bias)
        + linear(hidden, 2 * inner, bias=config.mlp_bias)
        + linear(inner, hidden, bias=config.mlp_bias)
        + 2 * norm
    )
    head = linear(hidden, hidden, bias=config.classifier_bias) + norm
    head += vocabulary if config.decoder_bias else 0
    tables = 1 if config.tie_word_embeddings else 2
    weights = layers * (4 * hidden**2 + 3 * hidden * inner) + hidden**2 + hidden * vocabulary
    window = min(tokens, config.local_attention + 1)
    seen = config.global_layers * tokens + (layers - config.global_layers) * window
    # The first layer has no norm before its attention; the embeddings and the last layer have one.
    lowest = 4 * tokens * seen * hidden
    return ModelCount(
        parameters=tables * vocabulary * hidden + layers * layer + norm + head,
        matmul=2 * tokens * weights,
        attention_full=layers * 4 * tokens**2 * hidden,
        attention_lowest=causal_half(lowest) if config.causal else lowest,
    )


def count_deberta(config: Deberta, tokens: int) -> ModelCount:
    """Encoder of He et al. 2021: queries meet keys' relative positions, keys those of queries.

    What projects the positions is computed once for all samples of a pass and not counted.
    """
    hidden, layers, inner = config.hidden_size, config.num_hidden_layers, config.intermediate_size
    vocabulary, kinds = config.vocab_size, config.pos_att_type.split("|")
    second = isinstance(config, DebertaV2)
    relative = config.relative_attention
    project = 3 * linear(hidden, hidden) if second else 3 * hidden**2 + 2 * hidden
    if relative and not (isinstance(config, DebertaV2) and config.share_att_key):
        project += linear(hidden, hidden, bias=second) if "c2p" in kinds else 0
        project += linear(hidden, hidden) if "p2c" in kinds else 0
    layer = (
        project
        + linear(hidden, hidden)
        + linear(hidden, inner)
        + linear(inner, hidden)
        + 2 * 2 * hidden
    )
    rows = vocabulary + config.type_vocab_size
    rows += config.max_position_embeddings if config.position_biased_input else 0
    rows += 2 * config.relative_positions if relative else 0
    parameters = rows * hidden + 2 * hidden + layers * layer
    weights = layers * (4 * hidden**2 + 2 * hidden * inner) + hidden**2 + hidden * vocabulary
    convolution = 0
    if isinstance(config, DebertaV2):
        if relative and config.norm_rel_ebd == "layer_norm":
            parameters += 2 * hidden
        if config.conv_kernel_size:
            parameters += config.conv_kernel_size * hidden**2 + 3 * hidden
            convolution = 2 * tokens * config.conv_kernel_size * hidden**2
    parameters += linear(hidden, hidden) + 2 * hidden + vocabulary
    if not config.tie_word_embeddings:
        parameters += vocabulary * hidden + vocabulary  # the library then holds two biases
    span = config.relative_positions if second else min(tokens, config.relative_positions)
    products = 4 * tokens + config.kinds_of_position * 4 * span
    attention = layers * tokens * products * hidden
    return ModelCount(
        parameters=parameters,
        matmul=2 * tokens * weights,
        attention_full=attention,
        attention_lowest=attention,
        convolution=convolution,
    )
