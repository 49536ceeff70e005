"""The model of a recipe as its settings want it, ready for a Trainer."""

from __future__ import annotations

import torch
from torch import nn
from transformers import TrainingArguments
from transformers.integrations.deepspeed import unset_hf_deepspeed_config

from bench_runner.recipes import Recipe
from bench_runner.records.measurement import Settings
from bench_runner.settings import configure
from bench_runner.worker import models
from bench_runner.worker.exported.changed_training import fp8_products
from bench_runner.worker.exported.half_weights import half_weights
from bench_runner.worker.exported.lean_loss import lean_model
from bench_runner.worker.exported.one_bias import one_bias


def prepared_model(
    recipe: Recipe, settings: Settings, arguments: TrainingArguments, device: torch.device
) -> nn.Module:
    """The model with random weights drawn on the device, and what no flag of the Trainer does.

    The arguments must be there before the model: with ZeRO-3 they make it be built in shards.
    """
    attention = models.attention_here(recipe, settings)
    if configure.built_whole(recipe, settings):
        unset_hf_deepspeed_config()
    with device:
        model = models.build_model(recipe, attention)
    if configure.means_a_micro_batch(recipe):
        model.accepts_loss_kwargs = False
    if configure.uses_fsdp(settings):
        model = one_bias(model)
    model = lean_model(model, loss=settings.loss, inputs=settings.inputs)
    if settings.matmul == "fp8":
        model = fp8_products(model)
    half = configure.half_type(recipe, settings)
    if half is not None:
        model = half_weights(model, half)
    if (
        settings.activation_checkpointing
        and not configure.uses_fsdp(settings)
        and models.checkpoint_by_hand(model, recipe)
    ):
        arguments.gradient_checkpointing = False
    return model
