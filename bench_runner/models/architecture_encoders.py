"""BERT and its kin, and the encoders of proteins and of long texts that came after it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from bench_runner.models.architecture_base import TextTransformer, called, counted_from_0, one_of
from bench_runner.models.architecture_text import Llama


@dataclass(frozen=True, slots=True, kw_only=True)
class Bert(TextTransformer):
    """Encoder of Devlin et al. 2019."""

    config_class = "BertConfig"
    model_type = "bert"
    family = "encoder"
    biases_apart: ClassVar[int] = 2
    """Biases of the output where it does not have the input's table."""
    hidden_size: int = 768
    num_hidden_layers: int = 12
    num_attention_heads: int = 12
    intermediate_size: int = 3072
    vocab_size: int = 30522
    max_position_embeddings: int = 512
    type_vocab_size: int = 2

    @property
    def longest(self) -> int | None:
        return self.max_position_embeddings

    @property
    def kinds_of_token(self) -> int:
        """Rows of the table that tells a first sentence from a second."""
        return self.type_vocab_size

    @property
    def projects(self) -> bool:
        """Whether a layer of its own widens the embeddings to the hidden size."""
        return False

    @property
    def layers_held(self) -> int:
        """Layers with weights of their own."""
        return self.num_hidden_layers


@dataclass(frozen=True, slots=True, kw_only=True)
class Roberta(Bert):
    """Encoder of Liu et al. 2019: BERT's, with another vocabulary."""

    config_class = "RobertaConfig"
    model_type = "roberta"
    vocab_size: int = 50265

    @property
    def longest(self) -> int | None:
        """Its positions are counted from 2; the table has two rows more than a sample tokens."""
        return self.max_position_embeddings - 2


@dataclass(frozen=True, slots=True, kw_only=True)
class DistilBert(Bert):
    """Sanh et al. 2019: BERT's layers, half as many, without kinds of tokens."""

    config_class = "DistilBertConfig"
    model_type = "distilbert"
    biases_apart = 1
    hidden_size: int = called("dim", 768)
    num_hidden_layers: int = called("n_layers", 6)
    num_attention_heads: int = called("n_heads", 12)
    intermediate_size: int = called("hidden_dim", 3072)

    @property
    def kinds_of_token(self) -> int:
        return 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Electra(Bert):
    """Clark et al. 2020: embeddings that may be narrower than the layers, on either end."""

    config_class = "ElectraConfig"
    model_type = "electra"
    biases_apart = 1
    embedding_size: int = 128
    hidden_size: int = 256
    num_attention_heads: int = 4
    intermediate_size: int = 1024

    @property
    def output_size(self) -> int:
        return self.embedding_size

    @property
    def projects(self) -> bool:
        return self.embedding_size != self.hidden_size


@dataclass(frozen=True, slots=True, kw_only=True)
class Albert(Electra):
    """Lan et al. 2020: every layer of a group has the same weights."""

    config_class = "AlbertConfig"
    model_type = "albert"
    biases_apart = 2
    blocks = ("AlbertLayer",)
    hidden_size: int = 4096
    num_attention_heads: int = 64
    intermediate_size: int = 16384
    vocab_size: int = 30000
    num_hidden_groups: int = 1
    inner_group_num: int = 1

    @property
    def projects(self) -> bool:
        return True

    @property
    def layers_held(self) -> int:
        return self.num_hidden_groups

    def contradiction(self) -> tuple[str, str] | None:
        if self.num_hidden_groups > self.num_hidden_layers:
            return (
                "num_hidden_groups",
                f"is {self.num_hidden_groups}, more than the {self.num_hidden_layers} layers",
            )
        if self.inner_group_num != 1:
            return (
                "inner_group_num",
                f"is {self.inner_group_num}, and layers repeated within their group are not "
                "counted; write more num_hidden_layers",
            )
        return super(Albert, self).contradiction()


@dataclass(frozen=True, slots=True, kw_only=True)
class Esm(Bert):
    """Lin et al. 2023 (ESM-2, of proteins): norms before each block, positions turned or learnt."""

    config_class = "EsmConfig"
    model_type = "esm"
    # It adds its output's bias behind the linear layer, where a fused loss has no place for it.
    changes_logits = True
    vocab_size: int = 33
    max_position_embeddings: int = 1026
    position_embedding_type: str = one_of("absolute", "rotary")
    emb_layer_norm_before: bool = False
    pad_token_id: int = counted_from_0(1)

    @property
    def longest(self) -> int | None:
        """Positions are counted from the one behind the padding's number."""
        if self.position_embedding_type == "rotary":
            return None
        return self.max_position_embeddings - self.pad_token_id - 1

    @property
    def kinds_of_token(self) -> int:
        return 0

    def contradiction(self) -> tuple[str, str] | None:
        if self.pad_token_id >= self.vocab_size:
            return (
                "pad_token_id",
                f"is {self.pad_token_id}, none of the vocabulary's {self.vocab_size} tokens",
            )
        if self.position_embedding_type == "rotary" and self.head_size % 2:
            return (
                "num_attention_heads",
                f"leaves heads of {self.head_size} elements, and turned positions need even ones",
            )
        return super(Esm, self).contradiction()


@dataclass(frozen=True, slots=True, kw_only=True)
class NomicBert(TextTransformer):
    """Nussbaum et al. 2024: BERT with gates and turned positions, without biases."""

    config_class = "NomicBertConfig"
    model_type = "nomic_bert"
    family = "encoder"
    gated = True
    hidden_size: int = 768
    num_hidden_layers: int = 12
    num_attention_heads: int = 12
    intermediate_size: int = 3072
    vocab_size: int = 30528
    type_vocab_size: int = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class EuroBert(Llama):
    """Boizard et al. 2025: Llama's layers, which look both ways."""

    config_class = "EuroBertConfig"
    model_type = "eurobert"
    family = "encoder"
    causal = False
    hidden_size: int = 768
    num_hidden_layers: int = 12
    num_attention_heads: int = 12
    intermediate_size: int = 3072
    vocab_size: int = 128256

    @property
    def output_bias(self) -> bool:
        return self.mlp_bias
