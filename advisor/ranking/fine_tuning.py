"""Fine-tuning that somebody asks about. It is a part of the model's name, so that whatever takes a
model takes it: ``llama-3.1-8b+lora``, ``llama-3.1-8b+qlora+rank=32+data=52000x512+epochs=3``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, get_args

from advisor.typed_input import (
    InputError,
    parse_choice,
    parse_count,
    parse_positive,
    parse_whole,
    shown,
)
from bench_runner.typed_numbers import count_words, plain

Train = Literal["pretrain", "full", "lora", "qlora"]
TRAINS: tuple[Train, ...] = get_args(Train)
"""From nothing, or fine-tuning: of every weight, of adapters, of adapters at weights of 4 bits."""
TRAIN_WORDS = {"full": "full fine-tuning", "lora": "LoRA", "qlora": "QLoRA"}
USUAL_RANK = 16
USUAL_TOKENS = 50e6
"""Of the data where nobody says: some 100,000 answers of 500 tokens."""
USUAL_IMAGES = 1e6
MOST_DATA = 1e15
_EXAMPLES = re.compile(r"(?P<examples>.+?)\s*[x\u00d7*]\s*(?P<length>[\d,]+)(\s*tokens)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class FineTuning:
    """Which weights are trained, and on how much. What is None is usual, and said so."""

    train: Train
    rank: int | None = None
    """Of adapters."""
    data: float | None = None
    """Tokens, or images, of the data set; where `length` is given, its examples."""
    length: int | None = None
    """Tokens of an example of text."""
    epochs: float = 1.0

    @property
    def adapters(self) -> bool:
        """Whether adapters alone are trained."""
        return self.train in ("lora", "qlora")

    @property
    def adapter_rank(self) -> int | None:
        """Of what is trained; None where that is every weight."""
        return (self.rank or USUAL_RANK) if self.adapters else None

    def seen(self, *, text: bool) -> float:
        """Tokens or images of the whole run; an image is an example of any length."""
        data = self.data
        if data is None:
            data = USUAL_TOKENS if text else USUAL_IMAGES
        return data * (self.length or 1 if text else 1) * self.epochs

    def of(self, model: str) -> str:
        """The name of a model fine-tuned so."""
        parts = [model, self.train]
        parts += [] if self.rank is None else [f"rank={self.rank}"]
        if self.data is not None:
            length = "" if self.length is None else f"x{self.length}"
            parts.append(f"data={_compact(self.data)}{length}")
        parts += [] if self.epochs == 1.0 else [f"epochs={self.epochs:.15g}"]
        return "+".join(parts)

    def as_object(self, *, text: bool) -> dict[str, object]:
        """For a script: nothing is left to assume."""
        return {
            "train": self.train,
            "adapter_rank": self.adapter_rank,
            "frozen_weights": {"lora": "bf16", "qlora": "nf4"}.get(self.train),
            "data_tokens" if text else "data_images": self.seen(text=text) / self.epochs,
            "example_tokens": self.length if text else None,
            "epochs": self.epochs,
        }

    def flags(self) -> str:
        """The same as flags of a command."""
        _, train, *parts = self.of("").split("+")
        named = (part.partition("=") for part in parts)
        return f" --train {train}" + "".join(f" --{key} {value}" for key, _, value in named)

    def words(self, *, text: bool) -> str:
        """``LoRA of rank 32 on 50M tokens, 3 epochs``: what stands behind the model's name."""
        words = TRAIN_WORDS[self.train]
        words += "" if self.rank is None else f" of rank {self.rank}"
        seen = self.seen(text=text) / self.epochs
        words += f" on {count_words(seen)} {'tokens' if text else 'images'}"
        return words if self.epochs == 1.0 else f"{words}, {plain(self.epochs, 6)} epochs"


def read_fine_tuning(
    train: str, rank: str | None = None, data: str | None = None, epochs: str | None = None
) -> FineTuning | None:
    """From what was typed; None where nothing is fine-tuned. Raises InputError."""
    kind = parse_choice(train, TRAINS, "--train")
    if rank is not None and kind not in ("lora", "qlora"):
        raise InputError("--rank is of adapters: add --train lora or qlora")
    if kind == "pretrain":
        for flag, text in (("--data", data), ("--epochs", epochs)):
            if text is not None:
                raise InputError(f"{flag} is of fine-tuning: add --train full, lora or qlora")
        return None
    amount, length = (None, None) if data is None else read_data(data)
    return FineTuning(
        train=kind,
        rank=None if rank is None else parse_whole(rank, "--rank"),
        data=amount,
        length=length,
        epochs=1.0 if epochs is None else parse_positive(epochs, "number of epochs", "epochs", 1e4),
    )


def read_data(text: str) -> tuple[float, int | None]:
    """``50M`` (tokens or images), or ``52000x512``: 52,000 examples of 512 tokens each. Raises
    InputError."""
    if (found := _EXAMPLES.fullmatch(text.strip())) is None:
        amount, length = parse_count(text, "--data", "50M or 52000x512", ("tokens", "images")), None
    else:
        amount = parse_count(found["examples"], "--data", "52000x512", ("examples",))
        length = parse_whole(found["length"], "--data")
    if amount * (length or 1) > MOST_DATA:
        raise InputError(f"--data {shown(text)} is more than there is: give at most 1,000T tokens")
    return amount, length


def parted(name: str) -> tuple[str, FineTuning | None]:
    """A model's name, and how it is fine-tuned where the name says so. Raises InputError."""
    model, plus, rest = name.partition("+")
    if not plus or name.endswith((".toml", ".json")):  # a file may be called c++.toml
        return name, None
    train, *parts = (part.strip() for part in rest.split("+"))
    if train.casefold() not in TRAIN_WORDS:
        raise InputError(
            f"{shown(name, 60)}: what stands behind the + says how a model is fine-tuned: write "
            f"{model.strip()[:40]}+lora, +qlora or +full"
        )
    given: dict[str, str] = {}
    for part in parts:
        key, equals, value = (each.strip() for each in part.partition("="))
        if key not in ("rank", "data", "epochs") or not equals or key in given:
            raise InputError(
                f"{shown(name, 60)}: {shown(part)} is not understood: behind +{train} write "
                "+rank=16, +data=50M or +epochs=3, each once"
            )
        given[key] = value
    return model.strip(), read_fine_tuning(train, **given)


def _compact(amount: float) -> str:
    """``50M``, exact."""
    for suffix, scale in (("T", 1e12), ("B", 1e9), ("M", 1e6), ("k", 1e3)):
        if amount >= scale and amount * 1000 % scale == 0:
            return f"{amount / scale:.15g}{suffix}"
    return f"{amount:.15g}"
