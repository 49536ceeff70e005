"""Encoder-decoders: what the one reads, the other writes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from bench_runner.models.architecture_base import TextTransformer, called, one_of


@dataclass(frozen=True, slots=True, kw_only=True)
class EncoderDecoder(TextTransformer):
    """Layers that read a sample's tokens, and layers that write others, attending to both."""

    family = "encoder"
    num_decoder_layers: int

    @property
    def products(self) -> int:
        """Matrix products of a feed-forward layer."""
        return 2

    @property
    def decoder_inner(self) -> int:
        """Elements inside a feed-forward layer of the decoder."""
        return self.intermediate_size

    @property
    def decoder_heads(self) -> int:
        """Heads of the decoder's attention."""
        return self.num_attention_heads

    def written(self, tokens: int) -> int:
        """Tokens that the decoder writes for so many that the encoder reads."""
        return tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class T5(EncoderDecoder):
    """Encoder-decoder of Raffel et al. 2020, trained on corrupted spans.

    The encoder reads a sample's tokens, the decoder writes `target_length` of them.
    """

    config_class = "T5Config"
    model_type = "t5"
    blocks = ("T5Block",)
    hidden_size: int = called("d_model", 512)
    num_hidden_layers: int = called("num_layers", 6)
    num_decoder_layers: int = 0
    num_attention_heads: int = called("num_heads", 8)
    intermediate_size: int = called("d_ff", 2048)
    head_dim: int = called("d_kv", 64)
    vocab_size: int = 32128
    tie_word_embeddings: bool = True
    relative_attention_num_buckets: int = 32
    feed_forward_proj: str = one_of("relu", "gated-gelu", "gated-silu", "gelu", "silu")

    def __post_init__(self) -> None:
        self._derive("num_decoder_layers", self.num_hidden_layers)

    @property
    def head_size(self) -> int:
        return self.head_dim

    @property
    def products(self) -> int:
        return 3 if self.feed_forward_proj.startswith("gated") else 2

    def written(self, tokens: int) -> int:
        return target_length(tokens)

    def contradiction(self) -> tuple[str, str] | None:
        return None  # heads need not make up the hidden size


@dataclass(frozen=True, slots=True, kw_only=True)
class MT5(T5):
    """Xue et al. 2021."""

    config_class = "MT5Config"
    model_type = "mt5"
    blocks = ("MT5Block",)
    num_hidden_layers: int = called("num_layers", 8)
    num_attention_heads: int = called("num_heads", 6)
    intermediate_size: int = called("d_ff", 1024)
    vocab_size: int = 250112
    feed_forward_proj: str = one_of("gated-gelu", "relu", "gated-silu", "gelu", "silu")


def target_length(tokens: int) -> int:
    """Tokens that the decoder writes for ``tokens`` that the encoder reads: 114 for 512.

    Of the uncorrupted text 15 % is masked in spans of 3 on average; a mark stands for each span on
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Bart(EncoderDecoder):
    """Lewis et al. 2020: the decoder writes the whole text of which the encoder reads a corrupted
    one, here as many tokens."""

    config_class = "BartConfig"
    model_type = "bart"
    blocks = ("BartEncoderLayer", "BartDecoderLayer")
    spare_positions: ClassVar[int] = 2
    """Rows of the tables of positions beyond the longest sequence."""
    has_positions: ClassVar[bool] = True
    """Whether each side has a table of positions, learnt or not, which the library counts."""
    outer_norms: ClassVar[int] = 1
    """Norms of each side outside its layers: behind the embeddings, behind the last layer."""
    hidden_size: int = called("d_model", 1024)
    num_hidden_layers: int = called("encoder_layers", 12)
    num_decoder_layers: int = called("decoder_layers", 12)
    num_attention_heads: int = called("encoder_attention_heads", 16)
    decoder_attention_heads: int = 16
    intermediate_size: int = called("encoder_ffn_dim", 4096)
    decoder_ffn_dim: int = 4096
    vocab_size: int = 50265
    max_position_embeddings: int = 1024

    @property
    def decoder_inner(self) -> int:
        return self.decoder_ffn_dim

    @property
    def decoder_heads(self) -> int:
        return self.decoder_attention_heads

    @property
    def longest(self) -> int | None:
        return self.max_position_embeddings if self.has_positions else None

    def contradiction(self) -> tuple[str, str] | None:
        for name in ("num_attention_heads", "decoder_attention_heads"):
            heads = getattr(self, name)
            if self.hidden_size % heads:
                return name, f"is {heads}, which does not divide the width {self.hidden_size}"
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class PLBart(Bart):
    """Ahmad et al. 2021: BART of programs."""

    config_class = "PLBartConfig"
    model_type = "plbart"
    blocks = ("PLBartEncoderLayer", "PLBartDecoderLayer")
    hidden_size: int = called("d_model", 768)
    num_hidden_layers: int = called("encoder_layers", 6)
    num_decoder_layers: int = called("decoder_layers", 6)
    num_attention_heads: int = called("encoder_attention_heads", 12)
    decoder_attention_heads: int = 12
    intermediate_size: int = called("encoder_ffn_dim", 3072)
    decoder_ffn_dim: int = 3072
    vocab_size: int = 50005


@dataclass(frozen=True, slots=True, kw_only=True)
class MBart(Bart):
    """Liu et al. 2020: BART of many languages, with norms behind the last layers too."""

    config_class = "MBartConfig"
    model_type = "mbart"
    blocks = ("MBartEncoderLayer", "MBartDecoderLayer")
    outer_norms = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class M2M100(Bart):
    """Fan et al. 2021, and NLLB's dense models: positions without weights."""

    config_class = "M2M100Config"
    model_type = "m2m_100"
    blocks = ("M2M100EncoderLayer", "M2M100DecoderLayer")
    has_positions = False
    vocab_size: int = 128112


@dataclass(frozen=True, slots=True, kw_only=True)
class Pegasus(Bart):
    """Zhang et al. 2020: positions that are not learnt, norms behind the last layers."""

    config_class = "PegasusConfig"
    model_type = "pegasus"
    blocks = ("PegasusEncoderLayer", "PegasusDecoderLayer")
    spare_positions = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Marian(Bart):
    """Junczys-Dowmunt et al. 2018: Vaswani et al.'s transformer, positions that are not learnt."""

    config_class = "MarianConfig"
    model_type = "marian"
    blocks = ("MarianEncoderLayer", "MarianDecoderLayer")
    spare_positions = 0
    outer_norms = 0
    vocab_size: int = 58101


@dataclass(frozen=True, slots=True, kw_only=True)
class Blenderbot(Bart):
    """Roller et al. 2021: two layers that read, many that write."""

    config_class = "BlenderbotConfig"
    model_type = "blenderbot"
    blocks = ("BlenderbotEncoderLayer", "BlenderbotDecoderLayer")
    spare_positions = 0
    hidden_size: int = called("d_model", 2560)
    num_hidden_layers: int = called("encoder_layers", 2)
    num_decoder_layers: int = called("decoder_layers", 24)
    num_attention_heads: int = called("encoder_attention_heads", 32)
    decoder_attention_heads: int = 32
    intermediate_size: int = called("encoder_ffn_dim", 10240)
    decoder_ffn_dim: int = 10240
    vocab_size: int = 8008
    max_position_embeddings: int = 128
