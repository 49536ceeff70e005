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
from bench_runner.settings import batch_and_sharding, configure

_COPIED = Path(__file__).parent / "worker" / "exported"
_SHARDED_BY = (("deepspeed", "deepspeed.json"), ("fsdp_config", "fsdp.json"))


def write(recipe: Recipe, winner: Measurement, folder: Path) -> list[Path]:
    """Write the files of a record that has a time; their paths, the launch command last. A folder
    that was made for them goes again where one cannot be written."""
    settings = winner.settings
    if winner.status != "ok" or settings is None or settings.micro_batch_size is None:
        raise ValueError(
            f"record {winner.measurement_id} is {winner.status} and has no settings to train "
            "with: choose one that has a time"
        )
    if settings.matmul == "fp8" or settings.states == "half":
        raise ValueError("fp8 products and half-precision states are not exported: choose another")
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
    modules = [module for module, _, _ in _model_changes(recipe, settings)]
    modules += ["timm_classifier"] if recipe.model.timm is not None else []
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


def _json(value: Any) -> str:
    return json.dumps(value, indent=2) + "\n"


def _launch_script(settings: Settings, gpu_count: int, capability: list[int] | None) -> str:
    """Starts the training, one process a GPU, in the environment that was measured in."""
    architecture = ".".join(map(str, capability)) if capability else None
    variables = configure.environment(settings, architecture)
    exports = "".join(f"export {name}={shlex.quote(value)}\n" for name, value in variables.items())
    command = f'torchrun --standalone --nproc-per-node={gpu_count} "$(dirname "$0")/train.py" "$@"'
    return f"#!/bin/sh\n{exports}{command}\n"


def _model_changes(recipe: Recipe, settings: Settings) -> list[tuple[str, str, str]]:
    """What no flag of the Trainer switches on: the module that is copied beside the script, the
    call that changes the model, and why."""
    changes = []
    if recipe.family == "encoder" and configure.uses_fsdp(settings):
        changes.append(("one_bias", "one_bias(model)", "FSDP would leave a bias untrained"))
    if settings.loss != "plain" or settings.inputs != "full":
        call = f"lean_model(model, loss={settings.loss!r}, inputs={settings.inputs!r})"
        changes.append(("lean_loss", call, "The same loss for less"))
    if recipe.training.weight_bits is not None:
        changes.append(("four_bit_weights", "four_bit_weights(model)", "Weights that stay"))
    if (half := configure.half_type(recipe, settings)) is not None:
        call = f"half_weights(model, {half!r})"
        changes.append(("half_weights", call, "Passes in half precision, FP32 masters"))
    return changes


def _train_script(
    recipe: Recipe, settings: Settings, winner: Measurement, attention: str | None
) -> str:
    """train.py, by the template; names of somebody else's must not end its head and go on as
    code, and values are written as Python writes them."""
    import jinja2

    training, model, architecture = recipe.training, recipe.model, recipe.architecture
    kind = configure.built_type(recipe, settings)
    sharded, on_cpu = configure.uses_fsdp(settings), winner.gpu == "cpu"
    config = f"transformers.{model.config_class or 'AutoConfig.for_model'}"
    configuration = f"{config}(**{configure.model_arguments(recipe)!r})"
    text = recipe.family not in IMAGE_FAMILIES
    # By hand, for models whose library code leaves it out: of images, and ALBERT.
    albert = architecture is not None and architecture.kind.name == "albert"
    by_hand = model.timm is None and (not text or albert)
    checkpointed = settings.activation_checkpointing and not sharded and by_hand
    in_half = kind != "float32"
    adapters = configure.adapters(recipe) if training.adapter_rank is not None else {}
    used = {"deepspeed": configure.zero_stage(settings) is not None, "fsdp_config": sharded}
    values = {
        "name": recipe.name,
        "where": f"{batch_and_sharding.label(settings)} on {winner.gpu_count} x {winner.gpu}",
    }
    values = {name: value.replace("\\", "/").replace('"', "'") for name, value in values.items()}
    template = (_COPIED / "train.py.jinja").read_text(encoding="utf-8")
    script: str = jinja2.Template(template, keep_trailing_newline=True).render(
        **values,
        training=training,
        not_sharded=on_cpu and sharded,
        vocabulary=getattr(architecture, "vocab_size", f"{configuration}.vocab_size"),
        written=architecture.written(training.sequence_length or 1)
        if isinstance(architecture, EncoderDecoder)
        else None,
        masked_share=MASKED_SHARE if recipe.family == "encoder" else None,
        # By name: another export into this folder may have left a file that shards.
        sharded_by=[tuple(map(repr, pair)) for pair in _SHARDED_BY if used[pair[0]]],
        in_shards=settings.sharding is not None,
        built_whole=configure.built_whole(recipe, settings),
        timm=repr(model.timm) if model.timm else None,
        timm_arguments=dict(model.arguments),
        in_half=f".to(torch.{kind})" if in_half else "",
        configuration=configuration,
        auto=configure.auto_class(recipe),
        kind=kind,
        attention="" if attention is None else f", attn_implementation={attention!r}",
        mean_of_a_pass=configure.means_a_micro_batch(recipe),
        changes=_model_changes(recipe, settings),
        adapters=", ".join(f"{name}={value!r}" for name, value in adapters.items()),
        adapter_type=", autocast_adapter_dtype=False" if settings.weights == "pure" else "",
        no_embeddings=sharded and by_hand and not albert,
        checkpointed_blocks=sorted(recipe.support.fsdp_wrap) if checkpointed else None,
        optimizer=configure.optimizer(recipe, on_cpu=on_cpu)
        if training.optimizer != "sgd"
        else None,
    )
    return script
