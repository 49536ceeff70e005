"""What each description of a model has, what a count of one consists of, and a row of the table.

A description (`Transformer`, `ConvNext`, ...) has fields with one name for all models. What the
configuration classes of Hugging Face's transformers call them, and which values they take where a
file says nothing, is in the tables beside this module (`model_types.py` reads them).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCount:
    """Parameters of a model, and operations of one sample's forward pass.

    A multiply-add is two operations. Only matrix products, convolutions, attention and the
    state-space scan count: no element-wise work, normalisation, embedding look-up or optimiser.
    """

    parameters: int
    unused: int = 0
    """Parameters that one token does not pass through: the experts not chosen for it."""
    matmul: int
    """Linear layers, including the output layer."""
    attention_full: int = 0
    """Scores and the weighted sum of values, as torch's FlopCounterMode counts them: the whole
    square."""
    attention_lowest: int = 0
    """The lowest defensible count: a decoder looks back only, which is half of the square."""
    convolution: int = 0
    scan: int = 0
    """The recurrence of a state-space model."""

    @property
    def weights(self) -> int:
        """Operations but for attention's."""
        return self.matmul + self.convolution + self.scan


def causal_half(square: int) -> int:
    """Half of the square of scores, as FlashAttention counts a causal mask (Dao 2023, sec. 4.1)."""
    return square // 2


def linear(inputs: int, outputs: int, *, bias: bool = True) -> int:
    """Parameters of a linear layer."""
    return inputs * outputs + (outputs if bias else 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """Values of a key with which the library builds a model that is not the one counted."""

    key: str
    """A point leads into a table within the file."""
    words: str
    allowed: tuple[Any, ...] = ()
    """Besides false, 0, null and nothing, which are allowed where ``empty`` is."""
    empty: bool = True
    missing: bool = True
    """Whether a file may leave the key out, or say null."""
    listed: bool = False
    """Whether the values are a list, one a layer."""

    def refuses(self, content: Mapping[str, Any]) -> bool:
        """Whether a file's value is another one than those allowed."""
        value: Any = content
        for part in self.key.split("."):
            if value is None:
                break
            if not isinstance(value, Mapping):
                return True
            value = value.get(part)
        if value is None:
            return not self.missing
        if self.listed or isinstance(value, list):
            found = value if isinstance(value, list) else [None]
            return not all(each in self.allowed for each in found)
        # True is 1 to Python, and false 0.
        same = any(type(value) is type(each) and value == each for each in self.allowed)
        return not same and not (self.empty and not value)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelType:
    """One row of the table: a ``model_type`` of Hugging Face's transformers and its class."""

    name: str
    config_class: str
    """The configuration class; of a model that the library lacks, that of one with its layers."""
    own_class: bool = True
    """Whether ``config_class`` is the model type's own."""
    family: str
    """As of a recipe: ``decoder``, ``encoder``, ``ssm``, ``convnet`` or ``vit``."""
    description: str
    keys: Mapping[str, tuple[str, ...]]
    """By field: what the configuration class calls it, then what other files do."""
    defaults: Mapping[str, Any]
    """By field: the library's own default, or what is always so where a file has no key for it."""
    attention: str | None = "sdpa"
    """The fused attention that the library's code has; ``eager``: none, None: no attention."""
    blocks: tuple[str, ...] = ()
    """The library's layer classes, which FSDP wraps and checkpointing repeats one by one; empty
    where the library names them itself."""
    changes_logits: bool = False
    """Whether something changes the logits behind the last linear layer, so that the loss cannot
    be fused with it."""
    opens_attention: bool = False
    """Whether compiling the model as a whole opens its fused attention into products and a
    softmax (docs/measurements.md)."""
    compiles_whole: bool = False
    """Whether its layers cannot be compiled one by one."""
    mean_of_a_pass: bool = False
    """Whether the library's loss is the mean of a micro-batch, however many items a step has."""
    unused_weights: bool = False
    """Whether some weights get no gradient."""
    token_ids: Mapping[str, int] = field(default_factory=dict)
    """Special tokens of the library's own, too large for a small vocabulary."""
    longest: tuple[str, ...] = ("max_position_embeddings",)
    """Keys of the longest sequence or the image's side; empty: a file cannot say it."""
    usual_length: int = 2048
    """Tokens or pixels where it does not."""
    dropout: Mapping[str, Any] = field(default_factory=dict)
    """Keys of what is dropped (``hidden``, ``scores``, ``embeddings``, ``inner``) and the
    library's own shares (``usual``: of hidden elements and of scores)."""
    layerdrop: Mapping[str, float] = field(default_factory=dict)
    """Shares of whole layers that the library leaves out where a file says nothing."""
    window: Mapping[str, Any] = field(default_factory=dict)
    """The library's window of attention (``tokens``); each how many layers look at everything
    (``full_every``, 0: none), and whether a file can say that (``pattern``)."""
    activation: tuple[str, str] | None = None
    """The key and default of the activation, where it may be a ReLU or its square."""
    required: tuple[str, ...] = ()
    """Keys that must be in a file, because the library's own default is not known."""
    idle: tuple[str, ...] = ()
    """Keys that change nothing of what is built."""
    refuses: tuple[Refusal, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Architecture(ABC):
    """The numbers of one model."""

    choices: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    """Words that a field may have."""
    least: ClassVar[Mapping[str, int]] = {}
    """Fields that may be below 1."""
    nullable: ClassVar[frozenset[str]] = frozenset()
    """Fields of which null says that there is none, or that another number implies it: 0."""
    kind: ModelType = field(repr=False)

    @property
    def longest(self) -> int | None:
        """Tokens of the longest sequence where each position has weights of its own, else None."""
        return None

    @abstractmethod
    def count(self, length: int) -> ModelCount:
        """Count a sample of ``length`` tokens, or pixels a side."""

    def contradiction(self) -> tuple[str, str] | None:
        """A field whose value does not go with the others, and why; None where all is well."""
        return None

    def derive(self, name: str, value: int) -> None:
        """Set a number of 0 to what the library derives from the others."""
        if getattr(self, name) == 0:
            object.__setattr__(self, name, value)


def undivided(name: str, heads: int, width: int) -> tuple[str, str] | None:
    """What is wrong where heads do not share a width evenly."""
    if heads > width:
        return name, f"is {heads}, more than the hidden size {width}"
    return (name, f"is {heads}, which does not divide the width {width}") if width % heads else None
