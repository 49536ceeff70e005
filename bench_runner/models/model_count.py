"""What a count of a model consists of."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ForwardFlops:
    """Operations of one sample's forward pass, by kind."""

    matmul: int
    """Linear layers, the output layer among them."""
    attention: int
    """Scores and the weighted sum of values."""
    convolution: int
    scan: int
    """The recurrence of a state-space model."""

    @property
    def total(self) -> int:
        return self.matmul + self.attention + self.convolution + self.scan


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCount:
    """Parameters of a model, and operations of one sample's forward pass."""

    parameters: int
    unused: int = 0
    """Parameters that one token does not pass through: the experts not chosen for it."""
    matmul: int
    attention_full: int = 0
    attention_lowest: int = 0
    convolution: int = 0
    scan: int = 0

    def forward(self, attention: int) -> ForwardFlops:
        """By kind, with this count of attention."""
        return ForwardFlops(
            matmul=self.matmul, attention=attention, convolution=self.convolution, scan=self.scan
        )


def causal_half(square: int) -> int:
    """Half of the square of scores, as FlashAttention counts a causal mask (Dao 2023, sec. 4.1)."""
    return square // 2


def linear(inputs: int, outputs: int, *, bias: bool = True) -> int:
    """Parameters of a linear layer."""
    return inputs * outputs + (outputs if bias else 0)
