"""The winner as files: TrainingArguments, DeepSpeed or FSDP configuration, train.py, the command.

What is written is what was measured, from the same functions. Imports nothing heavy.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
from pathlib import Path
from typing import Any

from bench_runner.models.encoder_decoder import EncoderDecoder
from bench_runner.recipes import IMAGE_FAMILIES, MASKED_SHARE, Recipe
from bench_runner.records.measurement import Measurement, Settings
from bench_runner.settings import configure, paper_space

_COPIED = Path(__file__).parent / "worker" / "exported"

_TRAIN = '''"""Trains {name} with the settings that {where} was measured with.

Put your own data in the place of RandomData; it only shows that everything runs.
Start it with launch.sh; a number after it ends the training after so many steps.{remark}
"""

import json
import sys
from pathlib import Path

import torch
import transformers
from torch.utils.data import Dataset

HERE = Path(__file__).parent


class RandomData(Dataset):
    """Stands in for your own data, which must have the same keys."""

    def __len__(self):
        return 1_000_000

    def __getitem__(self, index):
{item}


def main(max_steps=None, folder=HERE, use_cpu=None):
    arguments = json.loads((Path(folder) / "training_arguments.json").read_text())
{sharding}    if max_steps is not None:
        arguments["max_steps"] = max_steps
    if use_cpu is not None:
        arguments["use_cpu"] = use_cpu
    # The arguments come first: with ZeRO-3 they make the model be built in shards.
    arguments = transformers.TrainingArguments(**arguments)
{model}
    trainer = transformers.Trainer(
        model=model,
        args=arguments,
        train_dataset=RandomData(),{optimizer}
    )
    return trainer, trainer.train()


if __name__ == "__main__":
    main(max_steps=int(sys.argv[1]) if len(sys.argv) > 1 else None)
    if torch.distributed.is_initialized():
        # A process that leaves while others still talk to it can take them down.
        torch.distributed.barrier()
        torch.distributed.destroy_process_group()
'''

_SHARDING = """    arguments[{key!r}] = str(Path(folder) / {name!r})
"""
_SHARDED_BY = (("deepspeed", "deepspeed.json"), ("fsdp_config", "fsdp.json"))
_WHOLE = """    # transformers cannot initialise it in shards; DeepSpeed cuts it up afterwards.
    from transformers.integrations.deepspeed import unset_hf_deepspeed_config

    unset_hf_deepspeed_config()
"""
_HALF_STATES = """
    # Changes the training; see the head of that file.
    from changed_training import HalfStateAdam
"""
_BY_HAND = """
    if not model.supports_gradient_checkpointing:
        # The library offers none for this model.
        from torch.distributed.algorithms._checkpoint.checkpoint_wrapper import (
            apply_activation_checkpointing,
        )

        blocks = {blocks!r}
        apply_activation_checkpointing(
            model, check_fn=lambda module: type(module).__name__ in blocks
        )
        arguments.gradient_checkpointing = False"""
_MEAN = """
    # Its loss is the mean of a micro-batch, which the Trainer would else add up.
    model.accepts_loss_kwargs = False"""
_NOT_SHARDED = """

On CPUs accelerate shards nothing by fsdp.json: several processes train as plain ones (DDP). The
measurement itself was sharded."""
_LOADED = """    # To fine-tune, load the weights in its place:
    # transformers.{auto}.from_pretrained(NAME, dtype=torch.{kind}{keyword})
"""
_ADAPTERS = """
    import peft

    chosen = peft.LoraConfig({chosen})
    model = peft.get_peft_model(model, chosen{keyword})"""
_NO_EMBEDDINGS = """
    try:
        model.get_input_embeddings()
    except NotImplementedError:
        # accelerate asks before it shards, and a convolutional network has none to give.
        model.get_input_embeddings = lambda: None"""
_TEXT_ITEM = """        tokens = torch.randint({vocabulary}, ({length},))
        return {{"input_ids": tokens, "labels": tokens}}"""
_MASKED_ITEM = """        tokens = torch.randint({vocabulary}, ({length},))
        # Such tokens alone are predicted; your own data says where, with -100 everywhere else.
        masked = torch.rand({length}) < {share}
        return {{"input_ids": tokens, "labels": torch.where(masked, tokens, -100)}}"""
_PAIR_ITEM = """        return {{
            "input_ids": torch.randint({vocabulary}, ({length},)),
            "labels": torch.randint({vocabulary}, ({target},)),
        }}"""
_IMAGE_ITEM = """        return {{
            "pixel_values": torch.randn(3, {size}, {size}),
            "labels": torch.randint({classes}, ()),
        }}"""


def write(recipe: Recipe, winner: Measurement, folder: Path) -> list[Path]:
    """Write the files of a record that has a time; their paths, the launch command last. A folder
    that was made for them goes again where one cannot be written."""
    settings = winner.settings
    if winner.status != "ok" or settings is None or settings.micro_batch_size is None:
        raise ValueError(
            f"record {winner.measurement_id} is {winner.status} and has no settings to train "
            "with: choose one that has a time"
        )
    assert settings.gradient_accumulation_steps is not None
    about = winner.environment.get("about") or {}
    capability = about.get("capability")
    arguments = configure.training_arguments(
        recipe,
        settings,
        micro_batch_size=settings.micro_batch_size,
        accumulation_steps=settings.gradient_accumulation_steps,
        device="cpu" if winner.gpu == "cpu" else "cuda",
        compute_capability=tuple(capability) if capability else None,
    )
    # What a measurement switches off and a training wants.
    for name in ("disable_tqdm", "save_strategy", "logging_strategy", "remove_unused_columns"):
        arguments.pop(name, None)
    files = {name: _json(arguments.pop(key)) for key, name in _SHARDED_BY if key in arguments}
    files["training_arguments.json"] = _json(arguments)
    files["train.py"] = _train_script(recipe, settings, winner, about.get("attention"))
    modules = {module for module, _, _ in _model_changes(recipe, settings)}
    if settings.states == "half":
        modules.add("changed_training")
    if recipe.model.timm is not None:
        modules.add("timm_classifier")
    for module in sorted(modules):
        files[f"{module}.py"] = (_COPIED / f"{module}.py").read_text(encoding="utf-8")
    files["launch.sh"] = _launch_script(settings, winner.gpu_count, capability)
    made = not folder.exists()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in files.items():
            (folder / name).write_text(content, encoding="utf-8")
        os.chmod(folder / "launch.sh", 0o755)
    except OSError:
        if made:
            shutil.rmtree(folder, ignore_errors=True)
        raise
    return [folder / name for name in files]


def _told(text: str) -> str:
    """``text`` for the head of a script: somebody else's name must not end it and go on as code."""
    return text.replace("\\", "/").replace('"', "'")


def _model_changes(recipe: Recipe, settings: Settings) -> list[tuple[str, str, str]]:
    """What no flag of the Trainer switches on: the module that is copied beside the script, the
    call that changes the model, and why."""
    changes = []
    if recipe.family == "encoder" and configure.uses_fsdp(settings):
        changes.append(("one_bias", "one_bias(model)", "FSDP would leave a bias untrained"))
    if settings.loss != "plain" or settings.inputs != "full":
        call = f"lean_model(model, loss={settings.loss!r}, inputs={settings.inputs!r})"
        changes.append(("lean_loss", call, "The same loss for less"))
    if settings.matmul == "fp8":
        changes.append(("changed_training", "fp8_products(model)", "Changes the training"))
    if recipe.training.weight_bits is not None:
        changes.append(("four_bit_weights", "four_bit_weights(model)", "Weights that stay"))
    if (half := configure.half_type(recipe, settings)) is not None:
        call = f"half_weights(model, {half!r})"
        changes.append(("half_weights", call, "Passes in half precision, FP32 masters"))
    return changes


def _sharded_lines(recipe: Recipe, settings: Settings) -> str:
    """What the worker does by hand for a model whose library code leaves it out: of images, and
    ALBERT."""
    architecture = recipe.architecture
    albert = architecture is not None and architecture.kind.name == "albert"
    if recipe.model.timm is not None or not (recipe.family in IMAGE_FAMILIES or albert):
        return ""
    if configure.uses_fsdp(settings):
        return "" if albert else _NO_EMBEDDINGS
    if settings.activation_checkpointing and recipe.support.fsdp_wrap:
        return _BY_HAND.format(blocks=sorted(recipe.support.fsdp_wrap))
    return ""


def _launch_script(settings: Settings, gpu_count: int, capability: list[int] | None) -> str:
    """Starts the training, one process a GPU, in the environment that was measured in."""
    architecture = ".".join(map(str, capability)) if capability else None
    variables = configure.environment(settings, architecture)
    exports = "".join(f"export {name}={shlex.quote(value)}\n" for name, value in variables.items())
    command = f'torchrun --standalone --nproc-per-node={gpu_count} "$(dirname "$0")/train.py" "$@"'
    return f"#!/bin/sh\n{exports}{command}\n"


def _json(value: Any) -> str:
    return json.dumps(value, indent=2) + "\n"


def _train_script(
    recipe: Recipe, settings: Settings, winner: Measurement, attention: str | None
) -> str:
    training = recipe.training
    if recipe.family in IMAGE_FAMILIES:
        item = _IMAGE_ITEM.format(size=training.image_size, classes=training.classes)
    else:
        architecture = recipe.architecture
        vocabulary: object = f"{_configuration(recipe)}.vocab_size"
        if architecture is not None:
            vocabulary = getattr(architecture, "vocab_size", vocabulary)
        form, more = _TEXT_ITEM, dict[str, float]()
        if isinstance(architecture, EncoderDecoder):
            form = _PAIR_ITEM
            more = {"target": architecture.written(training.sequence_length or 1)}
        elif recipe.family == "encoder":
            form, more = _MASKED_ITEM, {"share": MASKED_SHARE}
        item = form.format(vocabulary=vocabulary, length=training.sequence_length, **more)
    return _TRAIN.format(
        name=_told(recipe.name),
        where=_told(f"{paper_space.label(settings)} on {winner.gpu_count} x {winner.gpu}"),
        remark=_NOT_SHARDED if winner.gpu == "cpu" and configure.uses_fsdp(settings) else "",
        item=item,
        # By name: another export into this folder may have left a file that shards.
        sharding="".join(
            _SHARDING.format(key=key, name=name)
            for key, name in _SHARDED_BY
            if (configure.uses_fsdp(settings) and key == "fsdp_config")
            or (configure.zero_stage(settings) is not None and key == "deepspeed")
        ),
        model=(_WHOLE if configure.built_whole(recipe, settings) else "")
        + _model_lines(recipe, settings, attention)
        + (_MEAN if configure.means_a_micro_batch(recipe) else "")
        + "".join(
            f"\n    # {why}; see the head of that file.\n"
            f"    from {module} import {call.partition('(')[0]}\n\n    model = {call}"
            for module, call, why in _model_changes(recipe, settings)
        )
        + (_adapter_lines(recipe, settings) if training.adapter_rank is not None else "")
        + _sharded_lines(recipe, settings)
        + (_HALF_STATES if settings.states == "half" else ""),
        optimizer=_optimizer_line(recipe, settings, on_cpu=winner.gpu == "cpu"),
    )


def _model_lines(recipe: Recipe, settings: Settings, attention: str | None) -> str:
    source = recipe.model
    kind = configure.built_type(recipe, settings)
    if source.timm is not None:
        return (
            "    from timm_classifier import TimmClassifier\n\n"
            f"    model = TimmClassifier({source.timm!r}, {dict(source.arguments)!r}, "
            f"{recipe.training.classes})" + ("" if kind == "float32" else f".to(torch.{kind})")
        )
    auto = configure.auto_class(recipe)
    keyword = "" if attention is None else f", attn_implementation={attention!r}"
    tuned = "" if kind == "float32" else _LOADED.format(auto=auto, kind=kind, keyword=keyword)
    return (
        f"    config = {_configuration(recipe)}\n{tuned}"
        f"    model = transformers.{auto}.from_config(config, dtype=torch.{kind}{keyword})"
    )


def _adapter_lines(recipe: Recipe, settings: Settings) -> str:
    keyword = ", autocast_adapter_dtype=False" if settings.weights == "pure" else ""
    chosen = ", ".join(f"{name}={value!r}" for name, value in configure.adapters(recipe).items())
    return _ADAPTERS.format(chosen=chosen, keyword=keyword)


def _configuration(recipe: Recipe) -> str:
    """The expression that makes the library's configuration of the model."""
    name = recipe.model.config_class or "AutoConfig.for_model"
    return f"transformers.{name}(**{configure.model_arguments(recipe)!r})"


def _optimizer_line(recipe: Recipe, settings: Settings, *, on_cpu: bool) -> str:
    if recipe.training.optimizer == "sgd":
        return ""
    kind, keywords = configure.optimizer(recipe, settings, on_cpu=on_cpu)
    place = "" if kind == "HalfStateAdam" else "torch.optim."
    return f"\n        optimizer_cls_and_kwargs=({place}{kind}, {keywords!r}),"
