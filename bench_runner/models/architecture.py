"""What a model is made of: one typed architecture for each class whose operations are counted.

The fields have the keys and the defaults of Hugging Face's configuration classes, because what a
recipe leaves out is what the library builds; a field that is called otherwise there names its key.
`read_architecture` is the only way from a recipe or a config.json to one of them. FLOPs, memory
and predictions take it from there. Imports nothing heavy.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from bench_runner.models.architecture_base import (
    Architecture,
    TextTransformer,
    Transformer,
    called,
    read_architecture,
    whole,
)
from bench_runner.models.architecture_decoders import Bloom, CodeGen, Falcon, GptJ, Mpt, Opt, Phi
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
from bench_runner.models.architecture_experts import (
    DeepseekV2,
    DeepseekV3,
    Glm4Moe,
    GptOss,
    Mixtral,
    Olmoe,
    Qwen2Moe,
    Qwen3Moe,
)
from bench_runner.models.architecture_images import ResNet, Swin, Swinv2
from bench_runner.models.architecture_llama_kin import (
    Apertus,
    Arcee,
    Cohere,
    Cohere2,
    Exaone4,
    Gemma2,
    Gemma3,
    Glm,
    Glm4,
    GraniteDense,
    HunYuan,
    NanoChat,
    Nemotron,
    Olmo,
    Olmo2,
    Olmo3,
    SeedOss,
    StableLm,
)
from bench_runner.models.architecture_text import (
    Deberta,
    DebertaV2,
    Llama,
    ModernBert,
    ModernBertDecoder,
    Qwen2,
    Qwen3,
    Starcoder2,
)
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

__all__ = [
    "KINDS",
    "Architecture",
    "TextTransformer",
    "Transformer",
    "kind_of",
    "read_architecture",
    "whole",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class GptNeoX(TextTransformer):
    """Decoder of Black et al. 2022."""

    config_class = "GPTNeoXConfig"
    model_type = "gpt_neox"
    family = "decoder"
    causal = True
    hidden_size: int = 6144
    num_hidden_layers: int = 44
    num_attention_heads: int = 64
    intermediate_size: int = 24576
    vocab_size: int = 50432
    attention_bias: bool = True
    tie_word_embeddings: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Gpt2(TextTransformer):
    """Decoder of Radford et al. 2019; positions are learnt."""

    config_class = "GPT2Config"
    model_type = "gpt2"
    family = "decoder"
    causal = True
    hidden_size: int = called("n_embd", 768)
    num_hidden_layers: int = called("n_layer", 12)
    num_attention_heads: int = called("n_head", 12)
    intermediate_size: int = called("n_inner", 0)
    positions: int = called("n_positions", 1024)
    vocab_size: int = 50257

    def __post_init__(self) -> None:
        self._derive("intermediate_size", 4 * self.hidden_size)

    @property
    def longest(self) -> int:
        return self.positions

    @property
    def shared_size(self) -> int:
        """Elements of all keys of a token, and of all values."""
        return self.hidden_size


@dataclass(frozen=True, slots=True, kw_only=True)
class GptBigCode(Gpt2):
    """Li et al. 2023 (StarCoder): GPT-2's, all heads sharing one of keys and values."""

    config_class = "GPTBigCodeConfig"
    model_type = "gpt_bigcode"
    multi_query: bool = True

    @property
    def key_value_heads(self) -> int:
        return 1 if self.multi_query else self.num_attention_heads

    @property
    def shared_size(self) -> int:
        return self.head_size if self.multi_query else self.hidden_size


@dataclass(frozen=True, slots=True, kw_only=True)
class Mamba(Architecture):
    """State-space model of Gu and Dao 2023."""

    config_class = "MambaConfig"
    model_type = "mamba"
    family = "ssm"
    attention = None
    hidden_size: int = 768
    num_hidden_layers: int = 32
    state_size: int = 16
    conv_kernel: int = 4
    expand: int = 2
    vocab_size: int = 50280
    time_step_rank: int = field(default=0, metadata={"derived": "auto"})
    use_bias: bool = False
    use_conv_bias: bool = True
    tie_word_embeddings: bool = True

    def __post_init__(self) -> None:
        self._derive("time_step_rank", -(-self.hidden_size // 16))


@dataclass(frozen=True, slots=True, kw_only=True)
class ConvNext(Architecture):
    """Convolutional network of Liu et al. 2022, in stages that halve the image."""

    config_class = "ConvNextConfig"
    model_type = "convnext"
    family = "convnet"
    attention = None
    blocks = ("ConvNextStage",)
    depths: tuple[int, ...] = (3, 3, 9, 3)
    hidden_sizes: tuple[int, ...] = (96, 192, 384, 768)
    patch_size: int = 4
    num_channels: int = 3
    num_labels: int = 2
    layer_scale_init_value: float = 1e-6

    def contradiction(self) -> tuple[str, str] | None:
        if len(self.depths) != len(self.hidden_sizes):
            return "depths", "has not as many stages as hidden_sizes"
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class ConvNextV2(ConvNext):
    """Woo et al. 2023: responses are normalised, branches not scaled."""

    config_class = "ConvNextV2Config"
    model_type = "convnextv2"
    blocks = ("ConvNextV2Stage",)
    layer_scale_init_value: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Vit(Transformer):
    """Vision transformer of Dosovitskiy et al. 2021; one class token is read out."""

    config_class = "ViTConfig"
    model_type = "vit"
    family = "vit"
    hidden_size: int = 768
    num_hidden_layers: int = 12
    num_attention_heads: int = 12
    intermediate_size: int = 3072
    patch_size: int = 16
    num_channels: int = 3
    num_labels: int = 2
    qkv_bias: bool = True

    @property
    def gated_inner(self) -> int:
        """Elements of a gated feed-forward layer; 0: the plain one."""
        return 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Dinov2(Vit):
    """Oquab et al. 2023: scaled branches, gated in its largest; the class token and the patches'
    mean are read out."""

    config_class = "Dinov2Config"
    model_type = "dinov2"
    intermediate_size: int = 3072
    patch_size: int = 14
    mlp_ratio: int = 4
    use_swiglu_ffn: bool = False
    use_mask_token: bool = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "intermediate_size", self.mlp_ratio * self.hidden_size)

    @property
    def gated_inner(self) -> int:
        if not self.use_swiglu_ffn:
            return 0
        return (self.mlp_ratio * self.hidden_size * 2 // 3 + 7) // 8 * 8


KINDS: tuple[type[Architecture], ...] = (
    GptNeoX,
    Gpt2,
    GptBigCode,
    Llama,
    Bert,
    Roberta,
    DistilBert,
    Electra,
    Albert,
    Esm,
    NomicBert,
    EuroBert,
    Opt,
    Bloom,
    Mpt,
    Falcon,
    GptJ,
    CodeGen,
    Phi,
    Mamba,
    ConvNext,
    ConvNextV2,
    Vit,
    Dinov2,
    Qwen2,
    Qwen3,
    Olmo,
    Olmo2,
    Olmo3,
    StableLm,
    Exaone4,
    Arcee,
    Nemotron,
    Apertus,
    NanoChat,
    HunYuan,
    GraniteDense,
    Glm,
    Glm4,
    SeedOss,
    Gemma2,
    Gemma3,
    Cohere,
    Cohere2,
    Starcoder2,
    Mixtral,
    Qwen2Moe,
    Qwen3Moe,
    Olmoe,
    GptOss,
    Glm4Moe,
    DeepseekV2,
    DeepseekV3,
    T5,
    MT5,
    Bart,
    PLBart,
    MBart,
    M2M100,
    Pegasus,
    Marian,
    Blenderbot,
    ModernBert,
    ModernBertDecoder,
    Deberta,
    DebertaV2,
    Swin,
    Swinv2,
    ResNet,
)
_BY_NAME = {name: kind for kind in KINDS for name in (kind.config_class, kind.model_type)}


def kind_of(name: str) -> type[Architecture] | None:
    """The architecture of a configuration class or a ``model_type``; None where none is known."""
    return _BY_NAME.get(name)
