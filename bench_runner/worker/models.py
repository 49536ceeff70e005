"""A recipe as a model with random weights and random data on the device. No download, ever."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import torch
from torch import nn

from bench_runner.models.encoder_decoder import EncoderDecoder
from bench_runner.recipes import IMAGE_FAMILIES, MASKED_SHARE, Recipe
from bench_runner.records.measurement import Settings
from bench_runner.settings import configure
from bench_runner.settings.configure import model_arguments
from bench_runner.worker.exported.four_bit_weights import four_bit_weights
from bench_runner.worker.exported.half_weights import half_weights
from bench_runner.worker.exported.lean_loss import lean_model
from bench_runner.worker.exported.one_bias import one_bias
from bench_runner.worker.exported.timm_classifier import TimmClassifier

_IGNORED_LABEL = -100
_KERNEL_PACKAGES = {"ssm": ("mamba_ssm", "causal_conv1d")}


def hide_kernels(recipe: Recipe) -> None:
    """Make the fused kernels' packages unimportable, before transformers looks for them.

    Naive settings are those without any free-lunch method, and transformers takes these kernels
    of its own accord where they are installed.
    """
    for package in _KERNEL_PACKAGES.get(recipe.family, ()):
        sys.modules[package] = None  # type: ignore[assignment]


def missing_kernels(recipe: Recipe) -> list[str]:
    """Fused kernels that this recipe wants and the machine lacks."""
    packages = _KERNEL_PACKAGES.get(recipe.family, ())
    missing = [why for package in packages if (why := _why_not_imported(package)) is not None]
    if recipe.family == "ssm" and not missing:
        from transformers.models.mamba import modeling_mamba

        for name in ("mamba_inner_fn", "causal_conv1d_fn"):
            function = getattr(modeling_mamba, name)
            cells = dict(
                zip(
                    function.__code__.co_freevars,
                    (cell.cell_contents for cell in function.__closure__ or ()),
                    strict=False,
                )
            )
            if not cells.get("is_new_implementation", True):
                missing.append(f"{name} (transformers took its own slow path)")
    return missing


def _why_not_imported(package: str) -> str | None:
    """``mamba_ssm (ImportError: ...)``. A package built for another torch fails in ways of its own;
    transformers then falls back in silence, so the record has to say it."""
    try:
        __import__(package)
    except Exception as error:
        return f"{package} ({type(error).__name__}: {error})"
    return None


def build_model(recipe: Recipe, attention: str | None, dtype: str = "float32") -> nn.Module:
    """The model with random weights of a type, on the default device of the moment."""
    source = recipe.model
    kind: torch.dtype = getattr(torch, dtype)
    if source.timm is not None:
        classes = recipe.training.classes
        return TimmClassifier(source.timm, dict(source.arguments), classes).to(kind)
    keywords: dict[str, Any] = {"dtype": kind}
    if attention is not None:
        keywords["attn_implementation"] = attention
    model: nn.Module = _auto_class(recipe).from_config(_configuration(recipe), **keywords)
    try:
        model.get_input_embeddings()
    except NotImplementedError:
        # accelerate asks before it shards, and a convolutional network has none to give.
        model.get_input_embeddings = lambda: None
    return model


def _auto_class(recipe: Recipe) -> Any:
    """Which of the library's classes finds the model's own."""
    import transformers

    return getattr(transformers, configure.auto_class(recipe))


def _configuration(recipe: Recipe) -> Any:
    """The library's own configuration of a model that is none of timm's."""
    import transformers

    arguments, name = model_arguments(recipe), recipe.model.config_class
    if name is None:
        return transformers.AutoConfig.for_model(**arguments)
    config_class = getattr(transformers, name, None)
    if config_class is None:
        raise ValueError(
            f"transformers {transformers.__version__} has no {name}: "
            "correct architecture.config_class in the recipe"
        )
    return config_class(**arguments)


def checkpoint_by_hand(model: nn.Module, recipe: Recipe) -> bool:
    """Activation checkpointing for models whose library code offers none; True where applied."""
    if getattr(model, "supports_gradient_checkpointing", False) or hasattr(model, "model"):
        return False
    from torch.distributed.algorithms._checkpoint.checkpoint_wrapper import (
        apply_activation_checkpointing,
    )

    names = set(recipe.support.fsdp_wrap)
    if names.isdisjoint(type(module).__name__ for module in model.modules()):
        raise ValueError(
            "nothing to checkpoint: name the classes of the model's blocks in support.fsdp_wrap"
        )
    apply_activation_checkpointing(model, check_fn=lambda module: type(module).__name__ in names)
    return True


def parameter_count(model: nn.Module) -> int:
    """Parameters of the model; ZeRO-3 keeps their number beside the empty shards."""
    return sum(getattr(p, "ds_numel", p.numel()) for p in model.parameters())


class RandomBatches:
    """One optimiser step's random inputs on the device, handed out in micro-batches again and
    again.

    The Trainer fetches a step's batches before its first pass and holds them all, so the memory
    that they take is the same as in training, whatever the micro-batch size.
    """

    def __init__(
        self, recipe: Recipe, samples: int, passes: int, device: torch.device, seed: int
    ) -> None:
        generator = torch.Generator(device=device).manual_seed(seed)
        training, architecture = recipe.training, recipe.architecture
        self.micro_batch_size = 1
        self._samples = samples
        self._length = passes

        def drawn(largest: int, *shape: int) -> torch.Tensor:
            shape = (samples, *shape)
            return torch.randint(largest, shape, device=device, generator=generator)

        self._inputs: dict[str, torch.Tensor]
        if recipe.family in IMAGE_FAMILIES:
            size = training.image_size or 224
            shape = (samples, 3, size, size)
            pixels = torch.randn(shape, device=device, generator=generator)
            self._inputs = {"pixel_values": pixels, "labels": drawn(training.classes or 1)}
            return
        vocabulary = int(_configuration(recipe).vocab_size)
        length = training.sequence_length or 1
        tokens = labels = drawn(vocabulary, length)
        if isinstance(architecture, EncoderDecoder):
            # What it has to write; the library shifts it itself.
            labels = drawn(vocabulary, architecture.written(length))
        elif recipe.family == "encoder":
            masked = torch.rand(tokens.shape, device=device, generator=generator) < MASKED_SHARE
            labels = torch.where(masked, tokens, _IGNORED_LABEL)
        self._inputs = {"input_ids": tokens, "labels": labels}

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[dict[str, torch.Tensor]]:
        start = 0
        for _ in range(self._length):
            size = self.micro_batch_size
            if start + size > self._samples:
                start = 0
            yield {name: value[start : start + size] for name, value in self._inputs.items()}
            start += size


def flash_attention() -> str | None:
    """The fastest FlashAttention of this machine, as Hugging Face names it; None without any.

    Of those that are installed and import: the third is for Hopper alone, the second for any GPU.
    """
    hopper = torch.cuda.is_available() and torch.cuda.get_device_capability()[0] == 9
    for package, name, fits in (
        ("flash_attn_interface", "flash_attention_3", hopper),
        ("flash_attn", "flash_attention_2", True),
    ):
        if fits and _why_not_imported(package) is None:
            return name
    return None


def attention_here(recipe: Recipe, settings: Settings) -> str | None:
    """Hugging Face's name of the attention that these settings get on this machine.

    Raises ValueError for a FlashAttention that was asked for and cannot be had.
    """
    if settings.attention != "flash":
        return configure.attention(recipe, settings, flash=None)
    flash = flash_attention()
    if flash is None or not _has_code_for_flash(recipe):
        raise ValueError(
            f"no FlashAttention that imports here has code for {recipe.name}: leave out flash"
        )
    return configure.attention(recipe, settings, flash=flash)


def _has_code_for_flash(recipe: Recipe) -> bool:
    """Whether the library's own code of this model can call it: T5's and Swin's cannot."""
    if recipe.model.timm is not None:
        return False
    try:
        found = _auto_class(recipe)._model_mapping[type(_configuration(recipe))]
    except KeyError:
        return False
    kinds = found if isinstance(found, tuple | list) else (found,)
    return bool(kinds[0]._supports_flash_attn)


def optimizer(recipe: Recipe, device: torch.device) -> tuple[type, dict[str, Any]] | None:
    """The recipe's optimiser for the Trainer; None leaves SGD to the Trainer."""
    if recipe.training.optimizer == "sgd":
        return None
    kind, keywords = configure.optimizer(recipe, on_cpu=device.type != "cuda")
    return getattr(torch.optim, kind), keywords


def prepared_model(
    recipe: Recipe, settings: Settings, arguments: Any, device: torch.device
) -> nn.Module:
    """The model with random weights drawn on the device, and what no flag of the Trainer does.

    The arguments must be there before the model: with ZeRO-3 they make it be built in shards.
    """
    attention = attention_here(recipe, settings)
    if configure.built_whole(recipe, settings):
        from transformers.integrations.deepspeed import unset_hf_deepspeed_config

        unset_hf_deepspeed_config()
    with device:
        model = build_model(recipe, attention, configure.built_type(recipe, settings))
    if configure.means_a_micro_batch(recipe):
        model.accepts_loss_kwargs = False
    if configure.uses_fsdp(settings):
        model = one_bias(model)
    model = lean_model(model, loss=settings.loss, inputs=settings.inputs)
    half = configure.half_type(recipe, settings)
    if half is not None:
        model = half_weights(model, half)
    if recipe.training.adapter_rank is not None:
        from peft import LoraConfig, get_peft_model

        if recipe.training.weight_bits is not None:
            model = four_bit_weights(model)
        chosen = LoraConfig(**configure.adapters(recipe))
        model = get_peft_model(model, chosen, autocast_adapter_dtype=settings.weights != "pure")
    if (
        settings.activation_checkpointing
        and not configure.uses_fsdp(settings)
        and checkpoint_by_hand(model, recipe)
    ):
        arguments.gradient_checkpointing = False
    return model
