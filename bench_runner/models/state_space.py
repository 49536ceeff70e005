"""State-space models."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from bench_runner.models.architecture import Architecture, ModelCount, linear


@dataclass(frozen=True, slots=True, kw_only=True)
class Mamba(Architecture):
    """Gu and Dao 2023.

    Scan (section 3), for each of the inner channels and states: decay (exponent's product), input
    (product), h = decay x h + input (product, sum), y += C h (product, sum): 6 operations,
    exponentials not among them. torch's counter sees none of it in the fused kernel.
    """

    nullable: ClassVar = frozenset(("intermediate_size",))

    hidden_size: int
    num_hidden_layers: int
    state_size: int
    conv_kernel: int
    expand: int
    """Inner channels an element of the hidden size ..."""
    intermediate_size: int = 0
    """... where a file does not say how many there are."""
    vocab_size: int
    time_step_rank: int = 0
    """0 (``auto`` to the library): a sixteenth of the hidden size, rounded up."""
    use_bias: bool = False
    use_conv_bias: bool = True
    tie_word_embeddings: bool = True

    def __post_init__(self) -> None:
        self.derive("time_step_rank", -(-self.hidden_size // 16))
        self.derive("intermediate_size", self.expand * self.hidden_size)

    def contradiction(self) -> tuple[str, str] | None:
        inner, hidden = self.intermediate_size, self.hidden_size
        if inner % hidden:
            return "intermediate_size", f"{inner} is no multiple of the width {hidden}"
        return None

    def count(self, length: int) -> ModelCount:
        hidden, layers, inner = self.hidden_size, self.num_hidden_layers, self.intermediate_size
        states, kernel, rank = self.state_size, self.conv_kernel, self.time_step_rank
        tables = 1 if self.tie_word_embeddings else 2
        layer = (
            hidden  # norm
            + linear(hidden, 2 * inner, bias=self.use_bias)
            + inner * kernel
            + (inner if self.use_conv_bias else 0)
            + linear(inner, rank + 2 * states, bias=False)
            + linear(rank, inner)
            + inner * states  # A
            + inner  # D
            + linear(inner, hidden, bias=self.use_bias)
        )
        weights = 3 * hidden * inner + inner * (rank + 2 * states) + rank * inner
        return ModelCount(
            parameters=tables * self.vocab_size * hidden + layers * layer + hidden,
            matmul=2 * length * (layers * weights + hidden * self.vocab_size),
            convolution=layers * 2 * length * inner * kernel,
            scan=layers * 6 * length * inner * states,
        )
