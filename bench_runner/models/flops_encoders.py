"""Parameters and operations of BERT's kin and of later encoders; `flops` says what counts."""

from __future__ import annotations

from bench_runner.models.architecture_encoders import Bert, Esm, NomicBert
from bench_runner.models.model_count import ModelCount, linear


def count_bert(config: Bert, tokens: int) -> ModelCount:
    """Encoder of Devlin et al. 2019 with its masked-language head at every position.

    The head could do with the masked positions alone, but the code that is timed does not.
    """
    hidden, layers, inner = config.hidden_size, config.num_hidden_layers, config.intermediate_size
    vocabulary, narrow = config.vocab_size, config.output_size
    layer = (
        4 * linear(hidden, hidden) + linear(hidden, inner) + linear(inner, hidden) + 2 * 2 * hidden
    )
    rows = vocabulary + config.max_position_embeddings + config.kinds_of_token
    head = linear(hidden, narrow) + 2 * narrow + vocabulary  # output table tied, its bias not
    if not config.tie_word_embeddings:
        head += vocabulary * narrow + (config.biases_apart - 1) * vocabulary
    widening = linear(narrow, hidden) if config.projects else 0
    weights = layers * (4 * hidden**2 + 2 * hidden * inner) + hidden * narrow + narrow * vocabulary
    weights += narrow * hidden if config.projects else 0
    square = layers * 4 * tokens**2 * hidden
    return ModelCount(
        parameters=rows * narrow + 2 * narrow + widening + config.layers_held * layer + head,
        matmul=2 * tokens * weights,
        attention_full=square,
        attention_lowest=square,
    )


def count_esm(config: Esm, tokens: int) -> ModelCount:
    """Encoder of Lin et al. 2023; what tells contacts from attention is held, and not trained on
    words."""
    hidden, layers, inner = config.hidden_size, config.num_hidden_layers, config.intermediate_size
    vocabulary = config.vocab_size
    layer = (
        4 * linear(hidden, hidden) + linear(hidden, inner) + linear(inner, hidden) + 2 * 2 * hidden
    )
    rows = vocabulary + (0 if config.longest is None else config.max_position_embeddings)
    norms = 2 if config.emb_layer_norm_before else 1
    head = linear(hidden, hidden) + 2 * hidden + vocabulary
    if not config.tie_word_embeddings:
        head += vocabulary * hidden
    contacts = linear(layers * config.num_attention_heads, 1)
    square = layers * 4 * tokens**2 * hidden
    weights = layers * (4 * hidden**2 + 2 * hidden * inner) + hidden**2 + hidden * vocabulary
    return ModelCount(
        parameters=rows * hidden + norms * 2 * hidden + layers * layer + head + contacts,
        matmul=2 * tokens * weights,
        attention_full=square,
        attention_lowest=square,
    )


def count_nomic_bert(config: NomicBert, tokens: int) -> ModelCount:
    """Encoder of Nussbaum et al. 2024. The library holds a pooler that the head does not read."""
    hidden, layers, inner = config.hidden_size, config.num_hidden_layers, config.intermediate_size
    vocabulary = config.vocab_size
    weights = 4 * hidden**2 + 3 * hidden * inner
    head = linear(hidden, hidden) + 2 * hidden + vocabulary
    if not config.tie_word_embeddings:
        head += vocabulary * hidden + vocabulary  # the library then holds two biases
    square = layers * 4 * tokens**2 * hidden
    return ModelCount(
        parameters=(vocabulary + config.type_vocab_size) * hidden
        + 2 * hidden
        + layers * (weights + 2 * 2 * hidden)
        + head,
        matmul=2 * tokens * (layers * weights + hidden**2 + hidden * vocabulary),
        attention_full=square,
        attention_lowest=square,
    )
