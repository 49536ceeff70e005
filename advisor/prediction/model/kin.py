"""What is known of a model type's config.json: which architecture it says, and how."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from bench_runner.models.architecture import Architecture

SIZES = "hidden_size num_hidden_layers num_attention_heads intermediate_size vocab_size"
"""Keys that most model types have."""
WIDTH = "hidden_size n_embd d_model n_embed"
LAYERS = "num_hidden_layers n_layer n_layers num_layers"
HEADS = "num_attention_heads n_head n_heads num_heads"
INNER = "ffn_dim ffn_hidden_size intermediate_size n_inner"
POSITIONS = "max_position_embeddings n_positions max_seq_len seq_length"
"""How plain decoders call what all have, the first that a file has."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """A key whose value has to ``fit``, None where the file has no such key, or the model is
    refused in these words."""

    key: str
    fits: Callable[[Any], bool]
    words: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Kin:
    """How the files of some model types say the numbers of an architecture that stands for them.

    Keys are those of the architecture's configuration class, which is what a recipe keeps.
    """

    kind: type[Architecture]
    kept: str
    """The keys that a recipe is always told, separated by spaces."""
    spelling: Mapping[str, str] = field(default_factory=dict)
    """The file's own keys, the first that it has, separated by spaces."""
    required: str = ""
    """The keys that must be there, for their defaults are another model's."""
    defaults: Mapping[str, Any] = field(default_factory=dict)
    """What the files leave out, where it is not the architecture's own default."""
    fixed: Mapping[str, Any] = field(default_factory=dict)
    """What stands for the model, whatever the file says under this key."""
    longest: str = ""
    """The file's own keys of the longest sequence or the image's side; "": it cannot say."""
    usual: int = 2048
    """... and what they default to, in tokens or pixels."""
    idle: str = ""
    """The file's own keys that change nothing of what is built, or speak of layers it has not."""
    refuses: tuple[Refusal, ...] = ()
    """Values with which the library builds a model that is not the one counted."""
