"""A recipe and settings as TrainingArguments, DeepSpeed and FSDP configuration: plain JSON.

The worker measures with exactly what export writes out. Imports nothing heavy.
"""

from __future__ import annotations

from typing import Any

from bench_runner.models.encoder_decoder import EncoderDecoder
from bench_runner.models.transformer import Transformer
from bench_runner.recipes import IMAGE_FAMILIES, Recipe
from bench_runner.records.measurement import Compilation, Settings
from bench_runner.settings.batch_and_sharding import STAGES

_TF32_SINCE = (8, 0)
_LEARNING_RATE = 5e-5
"""What TrainingArguments takes where nobody says one."""


def zero_stage(settings: Settings) -> int | None:
    """DeepSpeed's stage, or None without ZeRO."""
    sharding = settings.sharding
    return STAGES[sharding] if sharding and sharding.startswith("zero-") else None


def uses_fsdp(settings: Settings) -> bool:
    """Whether PyTorch's FSDP shards the model."""
    return (settings.sharding or "").startswith("fsdp-")


def compilation(recipe: Recipe, settings: Settings) -> Compilation:
    """What torch.compile is given: nothing, the whole model, or its layers one by one.

    Where the settings do not say, it is a free-lunch method as in the paper: the whole model, but
    not with DeepSpeed, which did not work with it then, nor where the recipe says it fails.
    """
    if not settings.free_lunch or not recipe.support.compile:
        return "none"
    if settings.compilation is not None:
        return settings.compilation
    return "none" if zero_stage(settings) is not None else "whole"


def model_arguments(recipe: Recipe) -> dict[str, Any]:
    """What the model's configuration is made from: the recipe's, and what its training implies."""
    if recipe.family not in IMAGE_FAMILIES:
        # Of DeepSeek's models, those that do not narrow their queries say null, which a recipe
        # file cannot.
        given = recipe.model.arguments
        none = {"q_lora_rank": None} if given.get("q_lora_rank") == 0 else {}
        return {"use_cache": False, **_needed_to_build(recipe), **given, **none}
    implied = {
        "num_labels": recipe.training.classes,
        "problem_type": "single_label_classification",
        "image_size": recipe.training.image_size,
    }
    return implied | dict(recipe.model.arguments)


def _needed_to_build(recipe: Recipe) -> dict[str, Any]:
    """What the library has to be told to build this recipe's model: an encoder-decoder's first
    token, special tokens of its own for which the vocabulary is too small, and which of Granite 4's
    layers there are."""
    architecture = recipe.architecture
    if isinstance(architecture, EncoderDecoder):
        return {"decoder_start_token_id": 0, "pad_token_id": 0}
    if not isinstance(architecture, Transformer):
        return {}
    tokens = architecture.kind.token_ids
    small = max(tokens.values(), default=-1) >= architecture.vocab_size
    needed: dict[str, Any] = dict.fromkeys(tokens, 0) if small else {}
    if architecture.kind.name == "granitemoehybrid":
        needed["layer_types"] = ["full_attention"] * architecture.num_hidden_layers
        # The library checks the sizes of Mamba's layers where there are none, too.
        needed |= {"num_local_experts": 0, "num_experts_per_tok": 0, "mamba_n_heads": 1}
    return needed


def built_whole(recipe: Recipe, settings: Settings) -> bool:
    """Whether a model that ZeRO-3 shards has to be built whole on each GPU first.

    transformers builds in shards and gathers each module's own weights to initialise them; the
    mixer of a state space model sets those of the modules inside it too, which fails.
    """
    return zero_stage(settings) == 3 and recipe.family == "ssm"


def means_a_micro_batch(recipe: Recipe) -> bool:
    """Whether the library's loss is the mean of a micro-batch, however many items a step has.

    The Trainer of transformers 5.17 takes it for a share of the step's mean wherever the forward
    pass takes further keywords, and would add up gradients that are as many times too large as
    passes are accumulated. To be told to a model by ``accepts_loss_kwargs = False``.
    """
    if recipe.architecture is None:
        return recipe.family == "encoder"
    return recipe.architecture.kind.mean_of_a_pass


def attention(recipe: Recipe, settings: Settings, *, flash: str | None) -> str | None:
    """Hugging Face's ``attn_implementation``; naive settings take none of the fused kernels.

    ``flash`` is FlashAttention's, as this machine has it (bench_runner.worker.models), for settings
    that ask for it: where none is asked for, PyTorch's own attention is as fast as FlashAttention 2
    on Ampere, whose kernels it calls, and faster on Hopper (docs/measurements.md, Attention). None
    where the model has no attention: mamba and convolutional networks.
    """
    if recipe.family in ("ssm", "convnet") or recipe.model.timm is not None:
        return None
    if settings.attention is not None:
        return flash if settings.attention == "flash" else settings.attention
    if not settings.free_lunch and recipe.training.adapter_rank is None:
        return "eager"  # adapters: naive is what peft and the library do where nothing is said
    return recipe.support.attention or "sdpa"


def auto_class(recipe: Recipe) -> str:
    """The class of transformers that finds the model's own."""
    if recipe.family in IMAGE_FAMILIES:
        return "AutoModelForImageClassification"
    if isinstance(recipe.architecture, EncoderDecoder):
        return "AutoModelForSeq2SeqLM"
    return "AutoModelForMaskedLM" if recipe.family == "encoder" else "AutoModelForCausalLM"


def optimizer(recipe: Recipe, *, on_cpu: bool) -> tuple[str, dict[str, Any]]:
    """The recipe's optimiser as a class of torch.optim and its keywords; fused, as is the Trainer's
    default. Not for SGD, which is the Trainer's own."""
    training = recipe.training
    keywords: dict[str, Any] = {"fused": not on_cpu}
    if training.learning_rate is not None:
        keywords["lr"] = training.learning_rate
    if training.beta1 is not None and training.beta2 is not None:
        keywords["betas"] = (training.beta1, training.beta2)
    if training.epsilon is not None:
        keywords["eps"] = training.epsilon
    return "Adam" if training.optimizer == "adam" else "AdamW", keywords


def half_type(recipe: Recipe, settings: Settings) -> str | None:
    """The type of half-precision weights as torch names it; None where autocast rounds them."""
    if settings.weights != "half":
        return None
    return {"fp16": "float16", "bf16": "bfloat16"}[recipe.training.precision]


def built_type(recipe: Recipe, settings: Settings) -> str:
    """The type that the weights are built in, as torch names it: FP32, but what adapters leave as
    it is, and what has no FP32 masters, in half precision."""
    if recipe.training.adapter_rank is None and settings.weights != "pure":
        return "float32"
    return {"fp16": "float16", "bf16": "bfloat16"}.get(recipe.training.precision, "float32")


def adapters(recipe: Recipe) -> dict[str, Any]:
    """Keywords of peft's LoraConfig: the recipe's rank at all linear layers, else its defaults."""
    keywords = {"r": recipe.training.adapter_rank, "target_modules": "all-linear"}
    return keywords | ({"task_type": "CAUSAL_LM"} if recipe.family == "decoder" else {})


def training_arguments(
    recipe: Recipe,
    settings: Settings,
    *,
    micro_batch_size: int,
    accumulation_steps: int,
    device: str,
    compute_capability: tuple[int, int] | None,
) -> dict[str, Any]:
    """Keyword arguments of transformers.TrainingArguments, all of them JSON."""
    training = recipe.training
    arguments: dict[str, Any] = {
        "output_dir": "output",
        "per_device_train_batch_size": micro_batch_size,
        "gradient_accumulation_steps": accumulation_steps,
        "max_steps": training.training_steps,
        "fp16": training.precision == "fp16" and device != "cpu",
        "bf16": training.precision == "bf16",
        "torch_compile": compilation(recipe, settings) != "none",
        "save_strategy": "no",
        "eval_strategy": "no",
        "logging_strategy": "no",
        "report_to": "none",
        "disable_tqdm": True,
        "remove_unused_columns": False,
        # DINOv2's mask token, which a classifier is not fed, has no gradient to wait for.
        "ddp_find_unused_parameters": recipe.architecture is not None
        and recipe.architecture.kind.unused_weights,
        "use_cpu": device == "cpu",
    }
    optional = {
        "learning_rate": training.learning_rate,
        "adam_beta1": training.beta1,
        "adam_beta2": training.beta2,
        "adam_epsilon": training.epsilon,
        "weight_decay": training.weight_decay,
        "max_grad_norm": training.max_grad_norm,
        "warmup_steps": training.warmup_steps,
    }
    arguments |= {name: value for name, value in optional.items() if value is not None}
    if training.optimizer == "sgd":
        arguments["optim"] = "sgd"
    arguments |= _schedule(recipe)
    if compute_capability is not None and compute_capability >= _TF32_SINCE:
        arguments["tf32"] = settings.free_lunch
    if settings.activation_checkpointing and not uses_fsdp(settings):
        arguments["gradient_checkpointing"] = True
        arguments["gradient_checkpointing_kwargs"] = {"use_reentrant": False}
    if zero_stage(settings) is not None:
        arguments["deepspeed"] = deepspeed_config(recipe, settings)
    if uses_fsdp(settings):
        arguments["fsdp"] = True
        arguments["fsdp_config"] = fsdp_config(recipe, settings)
    return arguments


def _schedule(recipe: Recipe) -> dict[str, Any]:
    training = recipe.training
    if training.scheduler is None:
        return {}
    share = training.min_lr_rate
    if training.min_lr is not None:
        # As a share: transformers asks the optimiser for its peak, which DeepSpeed's does not tell.
        share = training.min_lr / (training.learning_rate or _LEARNING_RATE)
    if training.scheduler == "cosine" and share is not None:
        floor = {"min_lr_rate": share}
        return {"lr_scheduler_type": "cosine_with_min_lr", "lr_scheduler_kwargs": floor}
    return {
        "lr_scheduler_type": training.scheduler
        if training.scheduler != "constant" or not training.warmup_steps
        else "constant_with_warmup"
    }


def deepspeed_config(recipe: Recipe, settings: Settings) -> dict[str, Any]:
    """DeepSpeed's configuration; ``auto`` is filled in by the Trainer.

    Stages 1 and 2 offload the optimiser's states, stage 3 the parameters too (Appendix F).
    Offloaded states are updated by DeepSpeed's own CPU optimiser.
    """
    stage = zero_stage(settings)
    zero: dict[str, Any] = {"stage": stage, "overlap_comm": True, "contiguous_gradients": True}
    if settings.offloading:
        zero["offload_optimizer"] = {"device": "cpu", "pin_memory": True}
        if stage == 3:
            zero["offload_param"] = {"device": "cpu", "pin_memory": True}
    if stage == 3:
        zero["stage3_gather_16bit_weights_on_model_save"] = True
    config: dict[str, Any] = {
        "zero_optimization": zero,
        "fp16": {"enabled": "auto"},
        "bf16": {"enabled": "auto"},
        "gradient_clipping": "auto",
        "train_batch_size": "auto",
        "train_micro_batch_size_per_gpu": "auto",
        "gradient_accumulation_steps": "auto",
    }
    if settings.offloading and recipe.training.optimizer in ("adam", "adamw"):
        config["optimizer"] = {
            "type": "AdamW",
            "params": {"lr": "auto", "betas": "auto", "eps": "auto", "weight_decay": "auto"},
        }
        if recipe.training.optimizer == "adam":
            config["optimizer"]["params"]["adam_w_mode"] = False
    else:
        # torch's fused optimiser, as without sharding, instead of a kernel compiled on first use
        config["zero_allow_untested_optimizer"] = True
    return config


def fsdp_config(recipe: Recipe, settings: Settings) -> dict[str, Any]:
    """FSDP's configuration. Offloading moves parameters, gradients and optimiser states alike:
    PyTorch's FSDP offers no offloading of the optimiser alone."""
    config: dict[str, Any] = {
        "version": 2,
        "reshard_after_forward": settings.sharding == "fsdp-full-shard",
        "cpu_offload": settings.offloading,
        "activation_checkpointing": settings.activation_checkpointing,
        "auto_wrap_policy": "TRANSFORMER_BASED_WRAP",
    }
    if recipe.support.fsdp_wrap:
        config["transformer_layer_cls_to_wrap"] = list(recipe.support.fsdp_wrap)
    return config


def environment(settings: Settings, compute_capability: str | None) -> dict[str, str]:
    """What the processes must find in their environment; ``compute_capability`` as ``9.0``."""
    variables: dict[str, str] = {}
    if settings.compilation == "regional":
        variables["ACCELERATE_DYNAMO_USE_REGIONAL_COMPILATION"] = "true"
    if uses_fsdp(settings) and settings.offloading:
        # Offloaded gradients are clipped in host memory, whose exchange is not NCCL's: by these,
        # which `accelerate launch` sets too, the group has a backend for each device.
        variables |= {"ACCELERATE_USE_FSDP": "true", "FSDP_OFFLOAD_PARAMS": "true"}
    if compute_capability and zero_stage(settings) is not None and settings.offloading:
        # DeepSpeed compiles its optimiser on first use, for these architectures; an image's own
        # list may hold some that the compiler does not know.
        variables["TORCH_CUDA_ARCH_LIST"] = compute_capability
    return variables
