"""Transformers of two sides: an encoder reads a sample's tokens, a decoder writes others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from bench_runner.models.architecture import (
    Architecture,
    ModelCount,
    causal_half,
    undivided,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class EncoderDecoder(Architecture):
    """T5 (Raffel et al. 2020), BART (Lewis et al. 2020) and the models like them.

    T5's are trained on corrupted spans: the decoder writes `target_length` tokens. The others
    write the whole text, here as many tokens as they read.
    """

    causal: ClassVar = False
    gated: ClassVar = False
    choices: ClassVar = {"feed_forward_proj": ("relu", "gated-gelu", "gated-silu", "gelu", "silu")}
    nullable: ClassVar = frozenset(("num_decoder_layers",))

    hidden_size: int
    num_hidden_layers: int
    """Of the encoder."""
    num_decoder_layers: int = 0
    """0: as many as the encoder has."""
    num_attention_heads: int
    decoder_heads: int = 0
    head_dim: int = 0
    """0: what each head has of the hidden size, which the heads must divide."""
    intermediate_size: int
    decoder_inner: int = 0
    vocab_size: int
    feed_forward_proj: str = "relu"
    """T5's word for a gate."""
    relative_positions: int = 0
    """Buckets of a learnt bias by distance (T5); 0: biases of layers, and norms with shifts."""
    positions_of_each_layer: bool = False
    """Whether each layer has such a bias of its own."""
    positions: int = 0
    """Rows of each side's table of positions, learnt or not; 0: the table is not counted."""
    extra_positions: int = 0
    """Rows of it that a file does not count."""
    outer_norms: int = 1
    """Norms of each side outside its layers."""

    def __post_init__(self) -> None:
        self.derive("num_decoder_layers", self.num_hidden_layers)
        self.derive("decoder_heads", self.num_attention_heads)
        self.derive("decoder_inner", self.intermediate_size)
        self.derive("head_dim", max(1, self.hidden_size // self.num_attention_heads))

    @property
    def products(self) -> int:
        """Matrix products of a feed-forward layer."""
        return 3 if self.feed_forward_proj.startswith("gated") else 2

    @property
    def embedding_size(self) -> int:
        """Elements of a token in the tables."""
        return self.hidden_size

    @property
    def longest(self) -> int | None:
        return self.positions or None

    def written(self, tokens: int) -> int:
        """Tokens that the decoder writes where the encoder reads ``tokens``."""
        return target_length(tokens) if self.relative_positions else tokens

    def contradiction(self) -> tuple[str, str] | None:
        if self.relative_positions:
            return None  # the heads need not make up the hidden size
        return undivided(
            "num_attention_heads", self.num_attention_heads, self.hidden_size
        ) or undivided("decoder_heads", self.decoder_heads, self.hidden_size)

    def count(self, length: int) -> ModelCount:
        hidden, inner = self.hidden_size, self.num_attention_heads * self.head_dim
        encoders, decoders, written = (
            self.num_hidden_layers,
            self.num_decoder_layers,
            self.written(length),
        )
        plain = self.relative_positions > 0  # neither biases nor shifts
        norm = hidden if plain else 2 * hidden
        project = 4 * hidden * inner
        attention = project + norm + (0 if plain else 3 * inner + hidden)

        def network(wide: int) -> int:
            biases = 0 if plain else wide + hidden
            return self.products * hidden * wide + biases + norm

        biased = encoders + decoders if self.positions_of_each_layer else 2
        rows = self.positions + self.extra_positions if self.positions else 0
        parameters = (
            self.vocab_size * hidden  # one table: the library ties the output's, come what may
            + encoders * (attention + network(self.intermediate_size))
            + decoders * (2 * attention + network(self.decoder_inner))
            + biased * self.relative_positions * self.num_attention_heads
            + 2 * (rows * hidden + self.outer_norms * norm)
        )
        wide = self.products * hidden
        matmul = 2 * length * encoders * (project + wide * self.intermediate_size)
        matmul += 2 * written * decoders * (project + wide * self.decoder_inner + project // 2)
        matmul += 2 * length * decoders * (project // 2)  # keys and values of what was read
        matmul += 2 * written * hidden * self.vocab_size
        looks_back = decoders * 4 * written**2 * inner
        rest = 4 * length * inner * (encoders * length + decoders * written)
        return ModelCount(
            parameters=parameters,
            matmul=matmul,
            attention_full=rest + looks_back,
            attention_lowest=rest + causal_half(looks_back),
        )


def target_length(tokens: int) -> int:
    """Tokens that the decoder writes for ``tokens`` that the encoder reads: 114 for 512.

    Of the uncorrupted text 15 % is masked in spans of 3 on average; a mark replaces each span on
    both sides, an end on each (Raffel et al. 2020, section 3.1.4; T5's own arithmetic).
    """

    def lengths(text: int) -> tuple[int, int]:
        noise = round(text * 0.15)
        spans = round(noise / 3)
        return text - noise + spans + 1, noise + spans + 1

    text = max(1, int(tokens / 0.9))
    while text > 1 and lengths(text)[0] > tokens:
        text -= 1
    while lengths(text + 1)[0] <= tokens:
        text += 1
    return lengths(text)[1]
